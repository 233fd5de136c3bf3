//! The operator over a channel program, and the command `level3 operator` as a process in a
//! terminal's place.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::ptr;
use std::sync::{Arc, Mutex};

use level3::cli::operator::{Terminal, code_to_scan};
use level3::domain::relay::ChannelState;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::{Desk, OWNER, harmless, write_program};
use crate::support::{ModelServer, asks_for, call, in_time, text};

/// A program that shows a code, goes online, brings one order, and keeps all that it is told; a
/// file that it is to send is copied away.
pub fn program(folder: &Path, order: &str) -> PathBuf {
    let script = format!(
        r#"#!/bin/sh
if [ "$1" = consent ]; then touch "$3/consent.json"; exit 0; fi
echo '{{"kind":"qr","text":"2@abcdefghijklmnopqrstuvwxyz0123456789,ABCDEFGHIJKLMNOPQRSTUVWXYZ"}}'
read -r start
echo "$start" >> lines
sleep 1
echo '{{"kind":"status","state":"online","address":"+491711111111"}}'
echo '{{"kind":"message","id":"M1","from":"{OWNER}","text":"{order}","at":"2026-11-20T08:00:00Z","chat":"direct","own":false}}'
while read -r line; do
  printf '%s\n' "$line" >> lines
  case "$line" in
    *'"kind":"send"'*)
      id=$(printf '%s\n' "$line" | sed 's/.*"id":"\([0-9A-F]*\)".*/\1/')
      case "$line" in *'"media"'*) cp media/out/"$id".png sent.png ;; esac
      echo "{{\"kind\":\"sent\",\"id\":\"$id\"}}" ;;
  esac
done
"#
    );
    write_program(folder, &script)
}

/// A picture that was asked for and sent by a channel program: the fingerprint in the database, and
/// the bytes that the program read.
pub async fn picture_by_program(display: &str, folder: &Path) -> (String, Vec<u8>) {
    let path = program(folder, "show me the screen");
    let desk = Desk::over(&path, &[("DISPLAY", display)]).await;
    desk.app.script([call("take_screenshot", json!({})), harmless(), text("Sent.")]);
    let sent = desk.home().join("channels/whatsapp/sent.png");
    let seen = async {
        while !sent.exists() || desk.states().await != ["COMPLETED"] {
            desk.app.clock.advance(chrono::TimeDelta::milliseconds(1));
            tokio::task::yield_now().await;
        }
    };
    in_time("the picture", seen).await;
    let name = fs::read_dir(desk.home().join("media")).unwrap().next().unwrap().unwrap().file_name();
    let bytes = fs::read(sent).unwrap();
    // The answer leaves as well, before the story ends.
    let lines = desk.home().join("channels/whatsapp/lines");
    let answered = async {
        while !fs::read_to_string(&lines).unwrap_or_default().contains("\"text\":\"Sent.\"") {
            desk.app.clock.advance(chrono::TimeDelta::milliseconds(1));
            tokio::task::yield_now().await;
        }
    };
    in_time("the answer", answered).await;
    (name.into_string().unwrap(), bytes)
}

/// `level3 operator` as a process, with its output.
pub struct Operator {
    child: Child,
    pub out: Arc<Mutex<String>>,
    home: PathBuf,
    /// The keys of its terminal, if it has one.
    keys: Option<File>,
}

/// The command with these settings alone. It ends with its `Operator`.
fn command(level3: &Path, home: &Path, model: &ModelServer, arguments: &[&str], settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(level3);
    command.arg("operator").args(arguments).arg("--home").arg(home);
    command.env_clear().env("PATH", std::env::var("PATH").unwrap_or_default()).envs(settings.iter().copied());
    command.env("LLM_BASE_URL", model.base_url()).env("LLM_MODEL", "scripted").env("LEVEL3_SHUTDOWN_SECONDS", "8");
    command.current_dir(home.parent().unwrap()).kill_on_drop(true);
    command
}

/// A terminal of 100 columns: the side of a program, and that of its person.
fn terminal() -> (OwnedFd, File) {
    let (mut person, mut program) = (0, 0);
    let mut size = libc::winsize { ws_row: 60, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the first two places are written, the size is read, and the rest may be null.
    let made = unsafe { libc::openpty(&raw mut person, &raw mut program, ptr::null_mut(), ptr::null_mut(), &raw mut size) };
    assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both are open, and nobody else has them.
    unsafe { (OwnedFd::from_raw_fd(program), File::from_raw_fd(person)) }
}

impl Operator {
    pub fn start(home: &Path, model: &ModelServer, arguments: &[&str], settings: &[(&str, &str)]) -> Self {
        let mut command = command(Path::new(env!("CARGO_BIN_EXE_level3")), home, model, arguments, settings);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out: Arc<Mutex<String>> = Arc::default();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        for mut lines in [reader(stdout), reader(stderr)] {
            let out = Arc::clone(&out);
            tokio::spawn(async move {
                while let Some(line) = lines.recv().await {
                    *out.lock().unwrap() += &(line + "\n");
                }
            });
        }
        Self { child, out, home: home.to_owned(), keys: None }
    }

    /// The same in a real terminal, of a program that may be a copy of ours.
    pub fn in_terminal(level3: &Path, home: &Path, model: &ModelServer, arguments: &[&str], settings: &[(&str, &str)]) -> Self {
        let (theirs, keys) = terminal();
        let mut command = command(level3, home, model, arguments, settings);
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let child = command.spawn().unwrap();
        let out: Arc<Mutex<String>> = Arc::default();
        let (to, mut screen) = (Arc::clone(&out), keys.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(many @ 1..) = screen.read(&mut some) {
                *to.lock().unwrap() += &String::from_utf8_lossy(&some[..many]);
            }
        });
        Self { child, out, home: home.to_owned(), keys: Some(keys) }
    }

    /// Types a line, once it has printed this question.
    pub async fn answers(&mut self, question: &str, line: &str) {
        self.printed(question).await;
        self.keys.as_mut().expect("it has a terminal").write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits until it has printed these words.
    pub async fn printed(&mut self, words: &str) {
        let seen = async {
            while !self.out.lock().unwrap().contains(words) {
                if let Ok(Some(status)) = self.child.try_wait() {
                    panic!("it ended ({status}) without `{words}`:\n{}", self.out.lock().unwrap());
                }
                tokio::task::yield_now().await;
            }
        };
        in_time(words, seen).await;
    }

    /// Waits until it has printed these words so often.
    pub async fn printed_again(&mut self, words: &str, times: usize) {
        let out = Arc::clone(&self.out);
        let seen = async {
            while out.lock().unwrap().matches(words).count() < times {
                tokio::task::yield_now().await;
            }
        };
        in_time(words, seen).await;
    }

    pub async fn ends_by(self, signal: i32) {
        self.signal(signal);
        self.ends().await;
    }

    pub fn signal(&self, signal: i32) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        // SAFETY: kill only sends a signal, to a child that has not been waited for.
        unsafe { libc::kill(pid, signal) };
    }

    /// Waits for its end, which is one in good order.
    pub async fn ends(self) {
        self.ends_with(0).await;
    }

    /// Waits for its end with this exit code.
    pub async fn ends_with(mut self, code: i32) {
        let status = in_time("its end", self.child.wait()).await.unwrap();
        assert_eq!(status.code(), Some(code), "{}", self.out.lock().unwrap());
    }
}

fn reader(stream: impl tokio::io::AsyncRead + Send + Unpin + 'static) -> tokio::sync::mpsc::UnboundedReceiver<String> {
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut lines = BufReader::new(stream).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    told
}

/// A free port for the page, in the settings of a home.
pub fn home_with(folder: &Path) -> PathBuf {
    let home = folder.join("zeta");
    fs::create_dir(&home).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    fs::write(home.join("config.json"), json!({"number": OWNER, "listen": port.to_string()}).to_string()).unwrap();
    home
}

// Phase 1

#[test]
fn qr_appears() {
    let text = "2@abcdefghijklmnopqrstuvwxyz0123456789,ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let shown = code_to_scan(Some(text), None, Terminal { columns: Some(80) });
    assert!(shown.words[0].contains("Scan this code") && !shown.code.is_empty());
    assert!(shown.code.iter().all(|line| line.contains('█') || line.contains('▄')), "half blocks: {shown:?}");
}

#[tokio::test]
async fn whatsapp_connects() {
    let folder = tempfile::tempdir().unwrap();
    let path = program(folder.path(), "hello");
    let desk = Desk::over(&path, &[]).await;
    desk.app.script([text("Hello.")]);
    let shown = async {
        loop {
            let shown = desk.done(reqwest::Method::GET, "/api/relay/channels", None).await;
            if shown["channels"][0]["state"] == json!(ChannelState::Online) {
                return shown["channels"][0].clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let online = in_time("the channel to be online", shown).await;
    assert_eq!(online["address"], "+491711111111");
    desk.until(&["COMPLETED"]).await;
    let lines = desk.home().join("channels/whatsapp/lines");
    // The clock stands still: an answer to the owner waits for no typing.
    let answered = async {
        while !fs::read_to_string(&lines).unwrap_or_default().contains("\"text\":\"Hello.") {
            tokio::task::yield_now().await;
        }
    };
    in_time("the answer", answered).await;
    let lines = fs::read_to_string(&lines).unwrap();
    assert!(lines.contains(r#""kind":"accepted""#) && lines.contains(r#""kind":"typing""#), "{lines}");
}

#[tokio::test]
async fn message_received_in_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let path = program(folder.path(), "what day is it?");
    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "It is Friday."})).await;
    let settings = [("LEVEL3_WHATSAPP", path.to_str().unwrap())];
    let mut operator = Operator::start(&home, &model, &[], &settings);
    operator.printed("A QR code waits").await;
    operator.printed("The channel is online as +491711111111").await;
    operator.printed("message received from +491701234567: what day is it?").await;
    operator.printed("planner_output: It is Friday.").await;
    operator.printed("no_action: No action was taken for this order; I can run a script (none yet)").await;
    operator.printed("task_completed").await;
    assert!(!operator.out.lock().unwrap().contains('\u{1b}'), "colours only on a terminal");
    let (home, sent) = (operator.home.clone(), operator.home.join("channels/whatsapp/lines"));
    let answered = async {
        while !fs::read_to_string(&sent).unwrap_or_default().contains("\"text\":\"It is Friday.") {
            tokio::task::yield_now().await;
        }
    };
    in_time("the answer", answered).await;
    let ran = Command::new(env!("CARGO_BIN_EXE_level3"))
        .args(["operator", "tasks", "--json", "--home"])
        .arg(&home)
        .output()
        .await
        .unwrap();
    let tasks: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(tasks["tasks"][0]["state"], "COMPLETED");
    operator.ends_by(libc::SIGHUP).await;
    let ran =
        Command::new(env!("CARGO_BIN_EXE_level3")).args(["operator", "log", "1", "--home"]).arg(&home).output().await.unwrap();
    let log = String::from_utf8(ran.stdout).unwrap();
    assert!(log.contains("task_started") && log.contains("It is Friday."), "{log}");
    let config = fs::read_to_string(home.join("config.json")).unwrap();
    assert!(config.contains("max_tokens_per_session") && home.join("whatsapp-session").symlink_metadata().is_ok(), "{config}");
}

/// The planner lists the scripts, which its governor lets it, and then answers.
fn lists_and_answers(_: usize, body: &Value) -> Value {
    let messages = body["messages"].as_array().unwrap();
    if messages[0]["content"].as_str().is_some_and(|prompt| prompt.starts_with("You review one tool call")) {
        let judged = json!({"complexity": "low", "risk": "low", "impact": "local", "requires_confirmation": false});
        return json!({"role": "assistant", "content": judged.to_string()});
    }
    match messages.last().unwrap()["role"].as_str() {
        Some("tool") => json!({"role": "assistant", "content": "There are none."}),
        _ => asks_for("list_scripts", &json!({})),
    }
}

#[tokio::test]
async fn a_terminal_shows_plan_verdict_decision_and_result_in_colour_and_the_phone_typing_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let path = program(folder.path(), "list the scripts");
    let model = ModelServer::start(lists_and_answers).await;
    model.hold("messages");
    let settings = [("LEVEL3_WHATSAPP", path.to_str().unwrap())];
    let level3 = Path::new(env!("CARGO_BIN_EXE_level3"));
    let mut operator = Operator::in_terminal(level3, &home, &model, &[], &settings);
    let told = home.join("channels/whatsapp/lines");
    let typing = || -> Vec<Value> {
        let text = fs::read_to_string(&told).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["kind"] == "typing").map(|line| line["on"].clone()).collect()
    };
    let begun = async {
        while typing().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    in_time("typing", begun).await;
    assert!(typing().iter().all(|on| *on == true), "{:?}", typing());
    model.hold("");
    for words in [
        "message received from +491701234567: list the scripts",
        "planner_output: list_scripts {}",
        "governor_output: {\"complexity\":\"low\"",
        "decision: list_scripts: allow",
        "execution_result: list_scripts: ",
        "task_completed",
    ] {
        operator.printed(words).await;
        let out = operator.out.lock().unwrap().clone();
        assert!(out.lines().any(|line| line.contains(words) && line.contains("\u{1b}[")), "{words}: {out:?}");
    }
    let over = async {
        while typing().last() != Some(&json!(false)) {
            tokio::task::yield_now().await;
        }
    };
    in_time("the end of the typing", over).await;
    assert_eq!(typing().iter().filter(|on| **on == false).count(), 1, "{:?}", typing());
    operator.ends_by(libc::SIGTERM).await;
}

#[tokio::test]
async fn texts_of_the_channel_do_not_act_on_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let says = [
        r#"{"kind":"status","state":"needs_scan","pairing_code":"AB\u001b[31mCD"}"#,
        r#"{"kind":"status","state":"logged_out","reason":"gone\u001b]0;evil\u0007","address":"\u202e+49"}"#,
    ];
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = consent ]; then exit 0; fi\nread -r start\nprintf '%s\\n' '{}'\nsleep 1\nprintf '%s\\n' '{}'\ncat > lines\n",
        says[0], says[1]
    );
    let path = write_program(folder.path(), &script);
    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "Hello."})).await;
    let mut operator = Operator::start(&home, &model, &[], &[("LEVEL3_WHATSAPP", path.to_str().unwrap())]);
    operator.printed(r"    AB\u{1b}[31mCD").await;
    operator.printed(r"The channel is logged_out as \u{202e}+49: gone\u{1b}]0;evil\u{7}").await;
    assert!(!operator.out.lock().unwrap().contains(['\u{1b}', '\u{7}', '\u{202e}']));
    operator.ends_by(libc::SIGTERM).await;
}

#[tokio::test]
async fn a_ban_is_told_with_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let banned = json!({"kind": "status", "state": "locked", "code": "402", "reason": "a ban", "until": "2027-01-02T03:04:05Z"});
    let script = format!("#!/bin/sh\nif [ \"$1\" = consent ]; then exit 0; fi\necho '{banned}'\ncat > lines\n");
    let path = write_program(folder.path(), &script);
    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "Hello."})).await;
    let mut operator = Operator::start(&home, &model, &[], &[("LEVEL3_WHATSAPP", path.to_str().unwrap())]);
    operator.printed("The channel is locked until 2027-01-02 03:04 UTC: 402: a ban").await;
    operator.ends_by(libc::SIGTERM).await;
}

#[tokio::test]
async fn a_program_that_is_named_from_the_folder_of_the_start_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    program(folder.path(), "hello");
    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "Hello."})).await;
    let mut operator = Operator::start(&home, &model, &[], &[("LEVEL3_WHATSAPP", "./program.sh")]);
    operator.printed("The channel is online as +491711111111").await;
    operator.printed("task_completed").await;
    operator.ends_by(libc::SIGTERM).await;
}

#[tokio::test]
async fn tokens_that_a_provider_does_not_count_are_estimated_for_the_limit_of_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let mut config: Value = serde_json::from_str(&fs::read_to_string(home.join("config.json")).unwrap()).unwrap();
    config["limits"] = json!({"max_tokens_per_session": 50});
    fs::write(home.join("config.json"), config.to_string()).unwrap();
    let path = program(folder.path(), "list the scripts");
    let model = ModelServer::start(|_, _| asks_for("list_scripts", &json!({}))).await;
    let mut operator = Operator::start(&home, &model, &[], &[("LEVEL3_WHATSAPP", path.to_str().unwrap())]);
    operator.printed("limit_exceeded").await;
    operator.printed("`limits.max_tokens_per_session`").await;
    operator.printed("task_aborted").await;
    assert_eq!(model.requests.lock().unwrap().len(), 1, "the plan was not judged");
    operator.ends_by(libc::SIGTERM).await;
}

#[tokio::test]
async fn a_message_whose_id_is_none_is_told_of_in_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let message = json!({"kind": "message", "id": "", "from": OWNER, "text": "hello"});
    let script = format!("#!/bin/sh\nif [ \"$1\" = consent ]; then exit 0; fi\necho '{message}'\ncat > lines\n");
    let path = write_program(folder.path(), &script);
    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "Hello."})).await;
    let mut operator = Operator::start(&home, &model, &[], &[("LEVEL3_WHATSAPP", path.to_str().unwrap())]);
    operator.printed("a message was dropped, since its id has not 1 to 200 bytes").await;
    operator.ends_by(libc::SIGTERM).await;
}

#[tokio::test]
async fn loopback_runs_without_whatsapp_in_a_home_that_is_closed_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "It is Friday."})).await;
    let mut operator = Operator::start(&home, &model, &["--channel", "loopback"], &[]);
    operator.printed("takes orders from one number over loopback").await;
    let config: Value = serde_json::from_str(&fs::read_to_string(home.join("config.json")).unwrap()).unwrap();
    let url = format!("http://{}/api/relay/loopback", config["listen"].as_str().unwrap());
    let said = json!({"address": OWNER, "text": "what day is it?"});
    let came: Value = crate::support::api::client().post(url).json(&said).send().await.unwrap().json().await.unwrap();
    assert_eq!(came["came"], "order");
    operator.printed("planner_output: It is Friday.").await;
    operator.printed("task_completed").await;
    for name in ["logs", "scripts", "media", "recordings"] {
        assert_eq!(fs::metadata(home.join(name)).unwrap().permissions().mode() & 0o777, 0o700, "{name}");
    }
    // A server of root's has its Postgres run under another account, which has to pass through.
    // SAFETY: geteuid takes nothing and cannot fail.
    let mode = if unsafe { libc::geteuid() } == 0 { 0o711 } else { 0o700 };
    assert_eq!(fs::metadata(&home).unwrap().permissions().mode() & 0o777, mode, "nobody else may look into it");
    assert!(home.join("whatsapp-session").symlink_metadata().is_err());
    let copied = async {
        while !home.join("global_context.json").is_file() {
            tokio::task::yield_now().await;
        }
    };
    in_time("the copy of the global context", copied).await;
    operator.ends_by(libc::SIGINT).await;
}

#[tokio::test]
async fn a_start_that_lacks_something_says_what() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("zeta");
    let run = async |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_level3"));
        command.arg("operator").args(arguments).arg("--home").arg(&home).env_clear().env("HOME", folder.path());
        let ran = in_time("its end", command.current_dir(folder.path()).stdin(Stdio::null()).output()).await.unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    let (code, told) = run(&[]).await;
    assert!(code == Some(2) && told.contains("--number +491701234567"), "{told}");
    let (code, told) = run(&["--number", "0049 170 1234567"]).await;
    assert!(code == Some(2) && told.contains("+491701234567"), "{told}");
    fs::write(home.join("config.json"), r#"{"number": "+491701234567", "limits": {"max_iterations": 0}}"#).unwrap();
    let (code, told) = run(&[]).await;
    assert!(code == Some(2) && told.contains("limits.max_iterations") && told.contains("such as 40"), "{told}");
    let (_, told) = run(&["log", "7"]).await;
    assert!(told.contains("no log of task 7"), "{told}");
}
