//! The command `relay` as a person or another program runs it: its folder, its daemon, what it asks the server and how it ends. The server
//! is a small script where supervision is tried, and answers that are written down here where commands are; two stories start the real one.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything here may take before the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(300);
/// A server that becomes ready, and ends in good order when it is asked to.
const STEADY: &str = "trap 'exit 0' TERM\necho ready >\"$LEVEL3_READY_FILE\"\nwhile :; do sleep 0.05; done";

/// A folder of Relay with a stand-in for the server.
struct Bench {
    place: TempDir,
    program: Option<PathBuf>,
}

impl Bench {
    /// A folder whose server is a script with this body. `$n` counts its starts, from 1.
    fn with(body: &str) -> Self {
        let place = TempDir::new().unwrap();
        let (program, count) = (place.path().join("server"), place.path().join("count"));
        let count = count.display();
        let counted = format!("n=$(( $(cat '{count}' 2>/dev/null || echo 0) + 1 ))\necho $n >'{count}'");
        fs::write(&program, format!("#!/usr/bin/env bash\n{counted}\n{body}\n")).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let bench = Self { place, program: Some(program) };
        bench.done(&["init"]);
        bench
    }

    /// A folder whose commands ask this address.
    fn at(address: &str) -> Self {
        let bench = Self { place: TempDir::new().unwrap(), program: None };
        bench.done(&["init", "--listen", address]);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join("home").join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relay"));
        #[expect(clippy::disallowed_methods, reason = "a program needs PATH")]
        let path = std::env::var("PATH").unwrap_or_default();
        command.args(arguments).env_clear().env("PATH", path).env("RELAY_HOME", self.path(""));
        command.envs(self.program.as_ref().map(|program| ("LEVEL3_BIN", program)));
        command.current_dir(self.place.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().unwrap().into()
    }

    /// The output of a command that does it.
    fn done(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}: {ran:?}");
        ran.out
    }

    /// The words of a command that ends with this code.
    fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}: {ran:?}");
        ran.err
    }

    fn starts(&self) -> u32 {
        fs::read_to_string(self.place.path().join("count")).ok().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("daemon.log")).unwrap_or_default()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if self.path("daemon.pid").exists() {
            drop(self.command(&["stop"]).output());
        }
    }
}

/// The output of a command, and its exit code.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing tells of files of other processes")]
fn until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "in vain waited for {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn init_makes_a_closed_folder_and_keeps_what_is_there() {
    let bench = Bench::with(STEADY);
    assert_eq!((mode(&bench.path("")), mode(&bench.path("token")), mode(&bench.path("config.json"))), (0o700, 0o600, 0o600));
    let token = fs::read_to_string(bench.path("token")).unwrap();
    let mut keyed = bench.command(&["--json", "init", "--provider", "groq", "--model", "m", "--key"]);
    let mut child = keyed.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"canary-key\n").unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    let said: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&said["new"], &said["channel"], ran.out.contains("canary")), (&json!(false), &json!("loopback"), false));
    assert_eq!(fs::read_to_string(bench.path("token")).unwrap(), token);
    assert_eq!(
        (fs::read_to_string(bench.path("model-key")).unwrap().as_str(), mode(&bench.path("model-key"))),
        ("canary-key\n", 0o600)
    );
    let config = fs::read_to_string(bench.path("config.json")).unwrap();
    assert!(config.contains("groq") && !config.contains("canary"), "{config}");
    let consent = bench.refused(1, &["init", "--channel", "whatsapp"]);
    assert!(consent.contains("needs your consent") && consent.contains("--consent"), "{consent}");
    let program = bench.run(&["init", "--channel", "whatsapp", "--consent"]);
    assert!(program.code == 2 && program.err.contains("--whatsapp-program"), "{program:?}");
}

#[test]
fn a_daemon_is_started_found_running_and_stopped() {
    let bench = Bench::with(STEADY);
    let said = bench.done(&["start"]);
    assert!(said.starts_with("The Relay daemon runs: pid "), "{said}");
    let again: Value = serde_json::from_str(&bench.done(&["--json", "start"])).unwrap();
    assert_eq!((&again["already"], bench.starts()), (&json!(true), 1));
    assert!(said.contains(&format!("pid {},", again["pid"])), "{said}");
    assert!(bench.done(&["start"]).starts_with("The Relay daemon already runs: pid "));
    assert_eq!(bench.done(&["stop"]), "The Relay daemon has stopped.\n");
    assert!(!bench.path("daemon.pid").exists() && !bench.path("daemon.ready").exists());
    assert_eq!(bench.refused(3, &["stop"]), "relay: the Relay daemon is not running; start it with: relay start\n");
}

#[test]
fn a_start_that_fails_says_why_and_leaves_nothing() {
    let bench =
        Bench::with("mkdir -p \"$LEVEL3_DATA_DIR\"\necho '2026-11-23T09:00:00Z ERROR 127.0.0.1:3214 is taken' >&2\nexit 78");
    let why = bench.refused(1, &["start"]);
    assert_eq!(why, "relay: the Relay daemon cannot start: 127.0.0.1:3214 is taken\n");
    for name in ["daemon.pid", "daemon.ready", "data"] {
        assert!(!bench.path(name).exists(), "{name} is left");
    }
    assert_eq!(bench.starts(), 1);
    let silent = Bench::with("kill -9 $$");
    assert!(silent.refused(1, &["start"]).contains("ended by a signal and said nothing"));
    let mut missing = Bench::with(STEADY);
    missing.program = Some("/nowhere/level3".into());
    assert!(missing.refused(1, &["start"]).contains("set LEVEL3_BIN"));
}

#[test]
fn a_server_that_asks_for_it_is_started_again_and_so_is_one_that_crashes() {
    let bench = Bench::with(&format!(
        "[ $n -eq 1 ] && {{ echo ready >\"$LEVEL3_READY_FILE\"; exit 42; }}\n[ $n -eq 2 ] && exit 1\n{STEADY}"
    ));
    bench.done(&["start"]);
    until("the third start", || bench.starts() == 3);
    until("the mark of the third", || fs::metadata(bench.path("daemon.ready")).is_ok_and(|mark| mark.len() > 0));
    let log = bench.log();
    assert!(log.contains("ended with exit code 42; starting it again in 0 s"), "{log}");
    assert!(log.contains("ended with exit code 1; starting it again in 1 s"), "{log}");
    bench.done(&["stop"]);
}

#[test]
fn a_server_that_cannot_start_any_more_ends_the_daemon() {
    let bench = Bench::with("[ $n -eq 1 ] && { echo ready >\"$LEVEL3_READY_FILE\"; exit 42; }\nexit 78");
    bench.done(&["start"]);
    until("the end of the daemon", || !bench.path("daemon.pid").exists());
    assert!(bench.log().contains("ended with exit code 78; it is not started again"), "{}", bench.log());
    assert!(bench.refused(3, &["stop"]).contains("relay start"));
}

#[test]
fn a_daemon_that_is_killed_takes_its_server_along_and_can_be_started_again() {
    let bench = Bench::with(STEADY);
    let started: Value = serde_json::from_str(&bench.done(&["--json", "start"])).unwrap();
    let killed = Command::new("kill").args(["-9", &started["pid"].to_string()]).status().unwrap();
    assert!(killed.success());
    assert!(bench.refused(3, &["stop"]).contains("relay start"), "its lock is free, so it does not run");
    let said = bench.done(&["start"]);
    assert!(said.starts_with("The Relay daemon runs: pid "), "{said}");
    bench.done(&["stop"]);
}

#[test]
fn without_a_daemon_every_command_says_what_to_start() {
    let bench = Bench::with(STEADY);
    for arguments in
        [&["status"][..], &["list"], &["get", "7"], &["transcript", "7"], &["send", "7", "hello"], &["webhooks", "list"]]
    {
        assert_eq!(bench.refused(3, arguments), "relay: the Relay daemon is not running; start it with: relay start\n");
    }
    let said: Value = serde_json::from_str(&bench.refused(3, &["--json", "list"])).unwrap();
    assert_eq!(said, json!({"error": "the Relay daemon is not running; start it with: relay start", "exit_code": 3}));
    fs::remove_file(bench.path("config.json")).unwrap();
    assert!(bench.refused(3, &["list"]).contains("set it up with: relay init"));
}

/// What a stand-in for the server was asked, and what it answers: status and body, by method and path.
struct Answers {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Answers {
    fn serve(answer: impl Fn(&str) -> (u16, Value) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap().to_string(), Arc::new(Mutex::new(Vec::new())));
        let heard = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                let (mut first, mut length, mut token) = (String::new(), 0, false);
                lines.read_line(&mut first).unwrap();
                loop {
                    let mut line = String::new();
                    lines.read_line(&mut line).unwrap();
                    let line = line.trim().to_ascii_lowercase();
                    if line.is_empty() {
                        break;
                    }
                    length = line.strip_prefix("content-length: ").map_or(length, |length| length.parse().unwrap());
                    token |= line.starts_with("authorization: bearer ");
                }
                let mut body = vec![0; length];
                lines.read_exact(&mut body).unwrap();
                let what = first.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
                let (status, said) = if token { answer(&what) } else { (401, json!({"error": "no token"})) };
                let said = said.to_string();
                heard.lock().unwrap().push(format!("{what} {}", String::from_utf8_lossy(&body)).trim_end().to_owned());
                let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n");
                write!(stream, "{head}content-length: {}\r\n\r\n{said}", said.len()).unwrap();
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn instance(id: i64, state: &str) -> Value {
    json!({"id": id, "state": state, "paused_from": null, "reason": null, "objective": "Arrange a viewing", "contact": "+491701234567",
        "channel": "loopback", "time_zone": null, "todos": [{"id": 1, "text": "Ask for a time", "status": "done"}], "heartbeat_seconds": 1800,
        "max_follow_ups": 5, "follow_ups": 0, "next_heartbeat_at": null, "conversation": 12, "key": null, "unknown": 0, "queued_messages": 0,
        "tokens": 0, "created_at": "2026-11-23T09:00:00Z", "updated_at": "2026-11-23T09:00:00Z", "ended_at": null})
}

fn message(id: i64, said_by: &str, text: &str, delivery: Option<&str>) -> Value {
    json!({"id": id, "seq": id - 30, "at": "2026-11-23T09:00:00Z", "said_by": said_by, "text": text, "untrusted": said_by == "contact",
        "delivery": delivery, "follow_up": false, "reason": null, "sent_at": null, "delivered_at": null, "read_at": null, "media": null,
        "cut": false})
}

#[test]
fn create_prints_the_id_and_nothing_else() {
    let server = Answers::serve(|_| (200, instance(7, "CREATED")));
    let bench = Bench::at(&server.address);
    let todos = bench.path("todos.txt");
    fs::write(&todos, "Confirm it\n").unwrap();
    let todos = todos.to_str().unwrap();
    let create = ["create", "--contact", "+491701234567", "--objective", "Arrange a viewing", "--todo", "Ask", "--todos", todos];
    let more = ["--heartbeat", "30m", "--max-follow-ups", "3", "--time-zone", "Europe/Berlin", "--key", "viewing-1"];
    assert_eq!(bench.done(&[&create[..], &more].concat()), "7\n");
    let asked = server.asked();
    let (what, body) = asked[0].split_once(" {").unwrap();
    assert_eq!(what, "POST /api/relay/instances");
    let body: Value = serde_json::from_str(&format!("{{{body}")).unwrap();
    let expected = json!({"objective": "Arrange a viewing", "contact": "+491701234567", "todos": ["Ask", "Confirm it"], "channel": "loopback",
        "heartbeat_seconds": 1800, "max_follow_ups": 3, "time_zone": "Europe/Berlin", "key": "viewing-1"});
    assert_eq!(body, expected);
    bench.done(&["templates", "add", "viewing", "--objective", "Ask {{who}}", "--todo", "Greet {{who}}", "--heartbeat", "1h"]);
    assert_eq!(bench.done(&["create", "--contact", "+491701234567", "--template", "viewing", "--var", "who=Ana"]), "7\n");
    let from_template = &server.asked()[0];
    assert!(
        from_template.contains("\"Ask Ana\"") && from_template.contains("\"Greet Ana\"") && from_template.contains("3600"),
        "{from_template}"
    );
    assert!(bench.refused(2, &["create", "--contact", "+491701234567"]).contains("objective is missing"));
    let nobody = bench.refused(1, &["create", "--contact", "+491701234567", "--template", "viewin"]);
    assert!(nobody.contains("there is no template viewin; the nearest is viewing"), "{nobody}");
    assert!(bench.done(&["templates", "list"]).contains("who"));
    assert_eq!(bench.done(&["templates", "remove", "viewing"]), "Removed the template viewing.\n");
    assert_eq!(server.asked(), Vec::<String>::new(), "what is wrong is not asked, and templates need no server");
}

#[test]
fn every_command_asks_what_the_document_says() {
    let server = Answers::serve(|what| {
        let path = what.split(' ').nth(1).unwrap();
        (
            200,
            match path.trim_start_matches("/api/relay") {
                path if path.starts_with("/instances?") => json!({"instances": [instance(7, "PAUSED")], "more": false}),
                "/instances/7/send" => {
                    json!({"message": message(31, "operator", "hello", Some("queued")), "instance": instance(7, "ACTIVE")})
                }
                path if path.starts_with("/messages/") => message(31, "agent", "hello", Some("sent")),
                "/loopback" => json!({"came": "kept", "instance": 7}),
                "/webhooks/1/test" => json!({"ok": false, "status": 500, "error": "it is broken"}),
                path if path.starts_with("/instances/7/transcript") => json!({"instance": 7, "state": "COMPLETED", "messages": [
                message(31, "agent", "Hello", Some("delivered")), message(32, "contact", "\u{1b}[2JIgnore that", None)], "more": false}),
                _ => instance(7, "FAILED"),
            },
        )
    });
    let bench = Bench::at(&server.address);
    for (arguments, asked, said) in [
        (
            &["list", "--state", "active,paused", "--contact", "+491701234567"][..],
            "GET /api/relay/instances?limit=1000&state=ACTIVE%2CPAUSED&contact=%2B491701234567",
            "PAUSED",
        ),
        (&["get", "7"], "GET /api/relay/instances/7", "[done] Ask for a time"),
        (&["pause", "7"], "POST /api/relay/instances/7/pause {}", "Instance 7 is FAILED."),
        (&["resume", "7"], "POST /api/relay/instances/7/resume {}", "Instance 7 is"),
        (&["cancel", "7"], "POST /api/relay/instances/7/cancel {}", "Instance 7 is"),
        (
            &["send", "7", "hello"],
            "POST /api/relay/instances/7/send {\"text\":\"hello\"}",
            "Message 31 is queued; instance 7 is ACTIVE.",
        ),
        (&["resend", "31"], "POST /api/relay/messages/31/resend {}", "Message 31 is sent."),
        (&["settle", "31", "sent"], "POST /api/relay/messages/31/settle {\"as\":\"sent\"}", "Message 31 is sent."),
        (
            &["loopback", "say", "+491701234567", "hi"],
            "POST /api/relay/loopback {\"address\":\"+491701234567\",\"text\":\"hi\"}",
            "Instance 7 has it.",
        ),
        (&["transcript", "7"], "GET /api/relay/instances/7/transcript?limit=500", "delivered  [message 31]"),
        (&["transcript", "7", "--follow"], "GET /api/relay/instances/7/transcript?limit=500", "-- instance 7 is COMPLETED"),
    ] {
        let printed = bench.done(arguments);
        assert!(printed.contains(said) && !printed.contains('\u{1b}'), "{arguments:?}: {printed}");
        assert_eq!(server.asked(), [asked], "{arguments:?}");
    }
    assert!(bench.refused(1, &["webhooks", "test", "1"]).contains("webhook 1 did not take it (500): it is broken"));
}

#[test]
fn a_refusal_of_the_server_decides_the_exit_code() {
    let server = Answers::serve(|what| match what {
        what if what.contains("/instances/9") => (404, json!({"error": "there is no instance 9; the nearest is 7"})),
        what if what.contains("/pause") => (409, json!({"error": "instance 7 is COMPLETED; only open ones can be paused"})),
        _ => (400, json!({"error": "contact is `49`: expected an address like +491701234567"})),
    });
    let bench = Bench::at(&server.address);
    assert_eq!(bench.refused(1, &["get", "9"]), "relay: there is no instance 9; the nearest is 7\n");
    assert_eq!(bench.refused(1, &["pause", "7"]), "relay: instance 7 is COMPLETED; only open ones can be paused\n");
    assert!(bench.refused(2, &["create", "--contact", "49", "--objective", "x"]).contains("like +491701234567"));
    fs::write(bench.path("token"), "").unwrap();
    assert!(bench.refused(1, &["get", "7"]).contains("does not take the token"));
}

#[test]
fn an_export_is_written_once_and_for_nobody_else() {
    let server = Answers::serve(|_| {
        let transcripts = json!({"7": [message(31, "agent", "Hello", Some("sent"))]});
        (200, json!({"instances": [instance(7, "COMPLETED")], "transcripts": transcripts, "settings": {"pace": {}}}))
    });
    let bench = Bench::at(&server.address);
    let out = bench.path("export");
    let name = out.to_str().unwrap();
    assert_eq!(bench.done(&["export", "7", "--out", name]), format!("Wrote 1 instance into {name}.\n"));
    assert_eq!(server.asked(), ["GET /api/relay/export?instance=7"]);
    let read = |file: &str| serde_json::from_slice::<Value>(&fs::read(out.join(file)).unwrap()).unwrap();
    assert_eq!((&read("instances.json")[0]["id"], &read("transcripts/7.json")[0]["text"]), (&json!(7), &json!("Hello")));
    let config = fs::read_to_string(out.join("config.json")).unwrap();
    assert!(!config.contains(fs::read_to_string(bench.path("token")).unwrap().trim()), "{config}");
    assert_eq!((mode(&out), mode(&out.join("config.json"))), (0o700, 0o600));
    assert!(bench.refused(2, &["export", "--out", name]).contains("is there already"));
}

#[test]
fn the_real_server_is_started_answers_with_its_token_and_stops() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bench = Bench::at(&port.to_string());
    let begun = Instant::now();
    bench.done(&["start"]);
    println!("the first start, with a new database: {:?}", begun.elapsed());
    assert!(bench.path("data/server-id").exists());
    let strange = Bench::at(&port.to_string());
    assert!(strange.refused(1, &["list"]).contains("does not take the token"));
    let taken = strange.refused(1, &["start"]);
    assert!(taken.contains(&port.to_string()) && !strange.path("data").exists(), "{taken}");
    bench.done(&["stop"]);
    let begun = Instant::now();
    bench.done(&["start"]);
    println!("a later start: {:?}", begun.elapsed());
    bench.done(&["stop"]);
    assert!(bench.refused(3, &["list"]).contains("relay start"));
}
