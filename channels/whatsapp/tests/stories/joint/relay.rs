//! Relay, whole: `relay` sets itself up with this program, writes to a contact who has a real
//! client, follows up when they fall silent, gives up, and does not know what became of a message
//! if the program dies while it sends it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::model::{Model, asks_for, says};
use super::terminal::Terminal;
use super::{binary, free_address, kill_program, program, script};
use crate::contact::{Contact, THEIRS};
use crate::mock::Mock;
use crate::program::{DEVICE, OURS, comes, soon};

/// The agent's words, one for each turn.
const WORDS: [&str; 3] = ["Hello, when could I see the flat?", "Friday is fine. And the address?", "Are you still there?"];

/// A folder of Relay, whose server believes in the time that the story sets.
struct Office {
    folder: TempDir,
    server: PathBuf,
    model: Model,
}

impl Office {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shift = folder.path().join("shift");
        std::fs::write(&shift, "0").unwrap();
        let body = format!("LEVEL3_CLOCK_SHIFT=$(cat '{}') exec '{}' \"$@\"", shift.display(), binary("level3").display());
        let server = script(folder.path().join("level3"), &body);
        let turns = AtomicUsize::new(0);
        let decide = move |messages: &[Value]| {
            if messages.last().is_some_and(|message| message["role"] == "tool") {
                return says("");
            }
            asks_for("send_message", &json!({"text": WORDS[turns.fetch_add(1, Ordering::SeqCst)]}))
        };
        Self { folder, server, model: Model::start(decide).await }
    }

    fn settings(&self) -> [(&'static str, String); 2] {
        let home = self.folder.path().join("relay");
        [("RELAY_HOME", home.display().to_string()), ("LEVEL3_BIN", self.server.display().to_string())]
    }

    fn relay(&self, arguments: &[&str]) -> std::process::Output {
        let mut command = Command::new(binary("relay"));
        command.args(arguments).env_clear().env("PATH", std::env::var("PATH").unwrap_or_default()).envs(self.settings());
        command.current_dir(self.folder.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// The words of a command that does it.
    fn done(&self, arguments: &[&str]) -> String {
        let ran = self.relay(arguments);
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    }

    fn json_of(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[&["--json"], arguments].concat())).unwrap()
    }

    /// Sets it up with the program, and scans the code.
    async fn linked(&self, mock: &Mock) {
        let program = program(self.folder.path(), mock);
        let init = format!(
            "{} init --channel whatsapp --whatsapp-program {} --listen {} --base-url {} --model scripted \
             --pace quiet_from=00:00 --pace quiet_until=00:00 --i-know",
            binary("relay").display(),
            program.display(),
            free_address(),
            self.model.base_url()
        );
        let settings = self.settings();
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut terminal = Terminal::run(&init, self.folder.path(), &settings);
        terminal.prints("Type `yes`").await;
        terminal.types("yes\n").await;
        mock.scan(&terminal.scans().await, OURS, 1);
        assert_eq!(terminal.ends().await.code(), Some(0), "{}", terminal.text());
    }

    /// The id of a new instance for the contact.
    fn created(&self) -> String {
        let number = format!("+{THEIRS}");
        let about: [&[&str]; 3] = [
            &["create", "--contact", &number],
            &["--objective", "Arrange a viewing of the flat", "--todo", "Ask for a time"],
            &["--heartbeat", "1h", "--max-follow-ups", "1"],
        ];
        self.done(&about.concat()).trim().to_owned()
    }

    /// Waits until so many messages of the transcript are with the contact.
    async fn delivered(&self, id: &str, many: usize) {
        self.has(id, many, "delivered").await;
    }

    /// Waits until so many messages of the transcript have come to this.
    async fn has(&self, id: &str, many: usize, delivery: &str) {
        let mut transcript = Value::Null;
        let all = comes(|| {
            transcript = self.json_of(&["transcript", id]);
            transcript["messages"].as_array().unwrap().iter().filter(|message| message["delivery"] == delivery).count() == many
        });
        assert!(all.await, "{many} messages {delivery} of {transcript:#}");
    }

    /// The daemon stops, so many seconds of the story go by, and it starts again.
    fn later(&self, seconds: u32) {
        self.done(&["stop"]);
        std::fs::write(self.folder.path().join("shift"), seconds.to_string()).unwrap();
        self.done(&["start"]);
    }
}

impl Drop for Office {
    fn drop(&mut self) {
        // A story that failed leaves no daemon behind.
        let _ = self.relay(&["stop"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn relay_writes_to_a_contact_follows_up_and_gives_up() {
    let (mock, office) = (Mock::start().await, Office::new().await);
    office.linked(&mock).await;
    let contact = Contact::paired(&mock).await;
    let id = office.created();
    let id = id.as_str();
    contact.hears_text(WORDS[0]).await;
    contact.say("Friday at three would be fine.").await;
    contact.hears_text(WORDS[1]).await;
    office.delivered(id, 2).await;
    let transcript = office.json_of(&["transcript", id]).to_string();
    assert!(transcript.contains("Friday at three would be fine."), "{transcript}");

    // Silence: one follow-up, and at last the end. The session stays, so no code is shown any more.
    office.later(3_700);
    contact.hears_text(WORDS[2]).await;
    office.delivered(id, 3).await;
    assert_eq!(office.json_of(&["get", id])["follow_ups"], 1);
    office.later(7_600);
    soon("it gives up", || office.json_of(&["get", id])["state"] == "ABANDONED").await;
    assert_eq!(contact.texts(), WORDS);
    assert_eq!(mock.seen("a device wants to be paired"), 2, "the program's and the contact's");
    office.done(&["stop"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_unknown_if_the_program_dies_while_it_sends_and_is_not_sent_again() {
    let (mock, office) = (Mock::start().await, Office::new().await);
    office.linked(&mock).await;
    let contact = Contact::paired(&mock).await;
    // Neither WhatsApp nor the contact's phone says that it came.
    mock.be_silent(OURS);
    mock.be_deaf_to(&format!("{THEIRS}:1"), true);
    let id = office.created();
    contact.hears_text(WORDS[0]).await;
    let logins = mock.seen(&format!("login of {DEVICE}"));
    kill_program(&office.folder.path().join("relay/data/channels/whatsapp"));
    office.has(&id, 1, "unknown").await;

    soon("the program is online again", || mock.seen(&format!("login of {DEVICE}")) > logins).await;
    contact.listens().await;
    assert_eq!(contact.texts(), [WORDS[0]]);
    office.has(&id, 1, "unknown").await;
    office.done(&["stop"]);
}
