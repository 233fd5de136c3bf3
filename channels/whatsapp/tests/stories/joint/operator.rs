//! The operator, whole: `level3 operator` at a terminal, a phone that scans what stands there, and
//! orders from another client.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::model::{Model, asks_for, says};
use super::terminal::Terminal;
use super::{binary, free_address, kill_program, program};
use crate::contact::{Contact, THEIRS};
use crate::mock::Mock;
use crate::program::{DEVICE, OURS, soon};

/// A display without a screen, for pictures of it.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    async fn start() -> Self {
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"]);
        server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().expect("this story needs Xvfb: apt-get install xvfb");
        let mut out = std::io::BufReader::new(server.stdout.take().unwrap());
        let number = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut out, &mut line).unwrap();
            line.trim().to_owned()
        });
        Self { server, name: format!(":{}", number.await.unwrap()) }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The planner takes a picture, lists the scripts, or says what day it is; the governor wants a
/// list of scripts confirmed.
fn decide(messages: &[Value]) -> Value {
    if messages[0]["content"].as_str().is_some_and(|prompt| prompt.starts_with("You review one tool call")) {
        let reaches = if messages.iter().any(|message| message["content"].to_string().contains("list_scripts")) {
            "systemic"
        } else {
            "local"
        };
        let judged = json!({"complexity": "low", "risk": "low", "impact": reaches, "requires_confirmation": false});
        return says(&judged.to_string());
    }
    let order = messages.iter().rev().find(|message| message["role"] == "user").map(|message| message["content"].to_string());
    let order = order.unwrap_or_default();
    let done = messages.last().is_some_and(|message| message["role"] == "tool");
    match (order.contains("screen"), order.contains("scripts"), done) {
        (true, _, false) => asks_for("take_screenshot", &json!({"caption": "Your screen."})),
        (true, _, true) => says("The picture is sent."),
        (_, true, false) => asks_for("list_scripts", &json!({})),
        (_, true, true) => says("There is no script yet."),
        (false, false, _) => says("It is Friday."),
    }
}

/// The whole answer to an order that needs no action: behind the model's words level3 says that
/// none was taken, and what can be ordered.
const FRIDAY: &str = "It is Friday.\n\nNo action was taken for this order; I can run a script (none yet), write a new script, \
     take a screenshot or remember a fact.";

/// A home of the operator, whose orders come from the contact's number.
struct Zeta {
    home: PathBuf,
    program: String,
    model: Model,
    display: Display,
}

impl Zeta {
    async fn new(folder: &Path, mock: &Mock) -> Self {
        let home = folder.join("zeta");
        std::fs::create_dir(&home).unwrap();
        let config = json!({"number": format!("+{THEIRS}"), "listen": free_address()});
        std::fs::write(home.join("config.json"), config.to_string()).unwrap();
        let program = program(folder, mock).display().to_string();
        Self { home, program, model: Model::start(decide).await, display: Display::start().await }
    }

    fn start(&self) -> Terminal {
        self.start_with("")
    }

    /// The same, with a point at which the server dies.
    fn start_with(&self, failpoint: &str) -> Terminal {
        self.start_in(100, failpoint)
    }

    /// The same in a terminal of so many columns.
    fn start_in(&self, columns: u16, failpoint: &str) -> Terminal {
        self.runs(columns, failpoint, "operator")
    }

    /// Runs level3 with these arguments.
    fn runs(&self, columns: u16, failpoint: &str, arguments: &str) -> Terminal {
        let (base_url, home) = (self.model.base_url(), self.home.to_str().unwrap());
        let settings = [
            ("LEVEL3_FAILPOINT", failpoint),
            ("ZETA_HOME", home),
            ("LEVEL3_WHATSAPP", &*self.program),
            ("LLM_BASE_URL", &*base_url),
            ("LLM_MODEL", "scripted"),
            ("DISPLAY", &*self.display.name),
        ];
        let command = format!("{} {arguments}", binary("level3").display());
        Terminal::run_in(columns, &command, self.home.parent().unwrap(), &settings)
    }

    /// Starts it for the first time, agrees, and scans its code.
    async fn linked(&self, mock: &Mock, failpoint: &str) -> Terminal {
        let mut terminal = self.start_with(failpoint);
        terminal.prints("Type `yes`").await;
        terminal.types("yes\n").await;
        mock.scan(&terminal.scans().await, OURS, 1);
        terminal.prints(&format!("The channel is online as +{OURS}")).await;
        terminal
    }

    /// The states of its tasks, the newest first.
    fn states(&self) -> Vec<Value> {
        let mut command = Command::new(binary("level3"));
        command.args(["operator", "tasks", "--json", "--home"]).arg(&self.home).stdin(Stdio::null());
        let ran = command.output().unwrap();
        let told: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
        told["tasks"].as_array().map(|tasks| tasks.iter().map(|task| task["state"].clone()).collect()).unwrap_or_default()
    }

    /// The files that it keeps for the person.
    fn media(&self) -> Vec<Vec<u8>> {
        let files = std::fs::read_dir(self.home.join("media")).unwrap();
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_is_linked_by_the_code_in_the_terminal_answers_and_sends_its_screen_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let mock = Mock::start().await;
    let zeta = Zeta::new(folder.path(), &mock).await;
    let terminal = zeta.linked(&mock, "").await;

    let owner = Contact::paired(&mock).await;
    owner.say("what day is it?").await;
    terminal.prints(&format!("message received from +{THEIRS}: what day is it?")).await;
    owner.hears_text(FRIDAY).await;

    owner.say("show me the screen").await;
    let (_, image) = owner.hears("a picture", |message| message.image_message.as_option().cloned()).await;
    assert_eq!(image.caption.as_deref(), Some("Your screen."));
    let picture = owner.client.download(&image).await.unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(zeta.media() == [picture], "bit for bit");
    owner.hears_text("The picture is sent.").await;

    owner.say("which scripts are there?").await;
    soon("the question", || owner.texts().iter().any(|text| text.contains("CONFIRMAR"))).await;
    owner.say("CONFIRMAR").await;
    owner.hears_text("There is no script yet.").await;

    // Another number says the same, and hears nothing.
    let stranger = Contact::of(&mock, "4915300000003").await;
    stranger.say("show me the screen").await;
    soon("the message is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    assert_eq!(terminal.interrupts().await.code(), Some(0));

    let terminal = zeta.start();
    terminal.prints(&format!("The channel is online as +{OURS}")).await;
    let before = owner.texts().len();
    owner.say("and what day is it now?").await;
    soon("another answer", || owner.texts().len() == before + 1).await;
    assert!(!terminal.text().contains("Scan this code"), "{}", terminal.text());
    assert_eq!((mock.seen("a device wants to be paired"), stranger.texts().len()), (3, 0));
    assert_eq!(terminal.interrupts().await.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_one_task_and_its_answer_goes_once_if_level3_dies_and_if_the_program_dies() {
    let folder = tempfile::tempdir().unwrap();
    let mock = Mock::start().await;
    let zeta = Zeta::new(folder.path(), &mock).await;
    let mut terminal = zeta.linked(&mock, "after-accept:abort").await;
    let owner = Contact::paired(&mock).await;
    // level3 keeps the order and dies before it says `accepted`, and the program with it.
    owner.say("what day is it?").await;
    assert_ne!(terminal.ends().await.code(), Some(0));
    assert_eq!(mock.unacknowledged(DEVICE), 1, "{}", terminal.text());
    let terminal = zeta.start();
    owner.hears_text(FRIDAY).await;
    soon("the order that came again is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    soon("one task", || zeta.states() == ["COMPLETED"]).await;

    // The program dies while it sends: the answer is with the owner, and nobody here knows.
    mock.be_silent(OURS);
    owner.say("what day is it now?").await;
    soon("the second answer", || owner.texts().len() == 2).await;
    kill_program(&zeta.home.join("channels/whatsapp"));
    let again = format!("The channel is online as +{OURS}");
    soon("it is started again", || terminal.text().matches(&again).count() == 2).await;
    mock.speak(OURS);
    owner.say("which scripts are there?").await;
    soon("the question", || owner.texts().iter().any(|text| text.contains("CONFIRMAR"))).await;
    assert_eq!(owner.texts().iter().filter(|text| *text == FRIDAY).count(), 2, "{:?}", owner.texts());
    assert_eq!(zeta.states(), ["AWAITING_CONFIRMATION", "COMPLETED", "COMPLETED"]);
    assert_eq!(terminal.interrupts().await.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_terminal_too_narrow_for_the_code_an_operator_is_linked_by_the_pairing_code() {
    let folder = tempfile::tempdir().unwrap();
    let mock = Mock::start().await;
    let zeta = Zeta::new(folder.path(), &mock).await;
    let mut terminal = zeta.start_in(40, "");
    terminal.prints("Type `yes`").await;
    terminal.types("yes\n").await;
    terminal.prints("The number that is to be linked").await;
    terminal.types(&format!("+{OURS}\n")).await;
    mock.types(OURS, &terminal.reads_code().await, 1).await;
    terminal.prints(&format!("The channel is online as +{OURS}")).await;
    let owner = Contact::paired(&mock).await;
    owner.say("what day is it?").await;
    owner.hears_text(FRIDAY).await;
    assert_eq!(terminal.interrupts().await.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_asks_for_number_and_model_and_reset_whatsapp_shows_a_new_code() {
    let folder = tempfile::tempdir().unwrap();
    let mock = Mock::start().await;
    let zeta = Zeta::new(folder.path(), &mock).await;
    let (file, key_file) = (zeta.home.join("config.json"), zeta.home.join("model-key"));
    std::fs::remove_file(&file).unwrap();
    let (number, key) = (format!("+{THEIRS}"), "canary-key");
    let mut terminal = zeta.start();
    for (question, answer) in [
        ("The number that may give orders", &*number),
        ("Provider of the model", "openai"),
        ("Model, as the provider names it", "scripted"),
        ("The key for openai", key),
    ] {
        terminal.prints(question).await;
        terminal.types(&format!("{answer}\n")).await;
    }
    // It ends before WhatsApp: by a no to the risk, or because the page's usual address is taken.
    let (asks, taken) = ("Type `yes`", "cannot have the address");
    soon("the settings are kept", || terminal.text().contains(asks) || terminal.text().contains(taken)).await;
    if terminal.text().contains(asks) {
        terminal.types("no\n").await;
    }
    assert_ne!(terminal.ends().await.code(), Some(0));
    let mut config: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let model = json!({"provider": "openai", "name": "scripted", "base_url": null});
    assert_eq!((&config["number"], &config["model"]), (&json!(number), &model));
    assert!(std::fs::read_to_string(&key_file).unwrap().contains(key));
    assert!(!terminal.text().contains(key), "{}", terminal.text());

    // From here on with the scripted model, and at an address that is free.
    config["listen"] = json!(free_address());
    config.as_object_mut().unwrap().remove("model");
    std::fs::write(&file, config.to_string()).unwrap();
    std::fs::remove_file(&key_file).unwrap();
    let terminal = zeta.linked(&mock, "").await;
    assert_eq!(terminal.interrupts().await.code(), Some(0));

    let terminal = zeta.runs(100, "", "operator --reset-whatsapp");
    terminal.prints("The WhatsApp session is put aside").await;
    mock.scan(&terminal.scans().await, OURS, 1);
    terminal.prints(&format!("The channel is online as +{OURS}")).await;
    assert_eq!(mock.seen("a device wants to be paired"), 2);
    assert_eq!(terminal.interrupts().await.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it measures, and proves nothing"]
async fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let mock = Mock::start().await;
    let zeta = Zeta::new(folder.path(), &mock).await;
    let mut terminal = zeta.start();
    terminal.prints("Type `yes`").await;
    let begun = Instant::now();
    terminal.types("yes\n").await;
    mock.scan(&terminal.scans().await, OURS, 1);
    println!("QR code after the consent, with a new database: {} ms", begun.elapsed().as_millis());
    let owner = Contact::paired(&mock).await;
    let mut took = Vec::new();
    for round in 1..=21 {
        let begun = Instant::now();
        owner.say("what day is it?").await;
        soon("an answer", || owner.texts().len() == round).await;
        took.push(begun.elapsed().as_millis());
    }
    took.sort_unstable();
    println!("order to answer at the client: p50 {} ms, p95 {} ms", took[10], took[19]);
    let mut took = Vec::new();
    for round in 1..=11 {
        let begun = Instant::now();
        owner.say("show me the screen").await;
        soon("a picture", || owner.pictures() == round).await;
        took.push(begun.elapsed().as_millis());
        // Its last words come before the next order.
        soon("the answer", || owner.texts().iter().filter(|text| *text == "The picture is sent.").count() == round).await;
    }
    took.sort_unstable();
    println!("order to picture at the client: p50 {} ms, slowest {} ms", took[5], took[10]);
    assert_eq!(terminal.interrupts().await.code(), Some(0));
}
