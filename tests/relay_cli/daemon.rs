//! Stories of `init`, `start` and `stop`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::answers::{Answers, instance};
use crate::bench::{Bench, Ran, STEADY, mode, until};

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
        ("canary-key\nfor groq\n", 0o600)
    );
    let config = fs::read_to_string(bench.path("config.json")).unwrap();
    assert!(config.contains("groq") && !config.contains("canary"), "{config}");
    for (arguments, said) in [
        (["init", "--provider", "nonsense"], "`model.provider` is \"nonsense\"; write one of anthropic"),
        (["init", "--base-url", "http://u:sekret@127.0.0.1:8080/v1"], "`model.base_url` carries a user name or a password"),
    ] {
        let refused = bench.refused(2, &arguments);
        assert!(refused.contains(said) && !refused.contains("sekret"), "{arguments:?}: {refused}");
    }
    assert_eq!(fs::read_to_string(bench.path("config.json")).unwrap(), config);
    let consent = bench.refused(1, &["init", "--channel", "whatsapp", "--whatsapp-program", "/bin/sh"]);
    assert!(consent.contains("needs your consent") && consent.contains("--consent"), "{consent}");
    let program = bench.refused(2, &["init", "--channel", "whatsapp", "--consent", "--whatsapp-program", "/nowhere"]);
    assert!(program.contains("there is no program /nowhere"), "{program}");
}

#[test]
fn another_provider_gets_nothing_that_was_for_the_one_before() {
    let bench = Bench::with(STEADY);
    let keyed = |arguments: &[&str]| {
        let mut child = bench.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"sk-canary\n").unwrap();
        Ran::from(child.wait_with_output().unwrap())
    };
    let of_first = ["init", "--key", "--provider", "openai", "--model", "m1", "--base-url", "http://127.0.0.1:21306/v1"];
    assert_eq!(keyed(&of_first).code, 0);
    // The same provider, and another address.
    let moved = bench.done(&["init", "--base-url", "http://127.0.0.1:21307/v1"]);
    assert!(moved.contains("it was for openai at http://127.0.0.1:21306/v1: the key."), "{moved}");
    assert!(!bench.path("model-key").exists());
    assert_eq!(keyed(&of_first).code, 0);
    let other = bench.done(&["init", "--provider", "ollama"]);
    assert!(other.contains("the model m1, the address http://127.0.0.1:21306/v1, the key."), "{other}");
    assert!(!bench.path("model-key").exists());
    let config: Value = serde_json::from_slice(&fs::read(bench.path("config.json")).unwrap()).unwrap();
    assert_eq!(config["model"], json!({"provider": "ollama", "name": null, "base_url": null}));
    // Settings that a person has changed by hand move no key either.
    assert_eq!(keyed(&of_first).code, 0);
    let written = fs::read_to_string(bench.path("config.json")).unwrap().replace(":21306/", ":21307/");
    fs::write(bench.path("config.json"), written).unwrap();
    let refused = bench.refused(1, &["start"]);
    assert!(refused.contains("was given for openai at http://127.0.0.1:21306/v1") && !refused.contains("canary"), "{refused}");
    assert_eq!(bench.starts(), 0);
}

#[test]
fn a_token_that_keeps_nobody_out_starts_no_daemon() {
    let bench = Bench::with(STEADY);
    for (token, said) in [("\n", "is empty and keeps nobody out"), ("a\n", "has fewer than 32 characters")] {
        fs::write(bench.path("token"), token).unwrap();
        assert!(bench.refused(1, &["start"]).contains(said), "{token:?}");
    }
    assert_eq!(bench.starts(), 0);
    fs::write(bench.path("token"), "").unwrap();
    bench.done(&["init"]);
    bench.done(&["start"]);
    bench.done(&["stop"]);
}

#[test]
fn a_daemon_is_asked_at_its_own_address_and_not_at_the_one_of_later_settings() {
    let (own, foreign) = (Answers::serve(|_| (200, instance(7, "ACTIVE"))), Answers::serve(|_| (200, json!({}))));
    let bench = Bench::asking(&own.address);
    assert!(bench.done(&["init", "--listen", &foreign.address]).contains("relay stop, then relay start"));
    assert!(bench.done(&["get", "7"]).starts_with("Instance 7: ACTIVE"));
    let again = bench.done(&["start"]);
    assert!(again.contains(&own.address) && again.contains("relay stop, then relay start"), "{again}");
    assert_eq!((own.asked().len(), foreign.asked()), (1, Vec::<String>::new()));
}

#[test]
fn a_command_waits_for_a_server_that_is_on_its_way_back() {
    let server = Answers::serve(|_| (200, instance(7, "ACTIVE")));
    let bench = Bench::with(&format!(
        "[ $n -eq 1 ] && {{ echo \"$LEVEL3_LISTEN\" >\"$LEVEL3_READY_FILE\"; exit 42; }}\n\
         while [ ! -e \"$(dirname \"$0\")/go\" ]; do sleep 0.05; done\n{STEADY}"
    ));
    bench.done(&["init", "--listen", &server.address]);
    bench.done(&["start"]);
    until("the second start", || bench.starts() == 2);
    let mut asking = bench.command(&["get", "7"]).spawn().unwrap();
    let mut word = String::new();
    BufReader::new(asking.stderr.take().unwrap()).read_line(&mut word).unwrap();
    assert!(word.contains("its server is on its way back"), "{word}");
    assert_eq!(server.asked(), Vec::<String>::new(), "nobody is asked before the server says where it is");
    fs::write(bench.place.path().join("go"), "").unwrap();
    let ran = Ran::from(asking.wait_with_output().unwrap());
    assert!(ran.code == 0 && ran.out.starts_with("Instance 7: ACTIVE"), "{ran:?}");
    bench.done(&["stop"]);
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
fn several_starts_at_once_make_one_daemon_and_none_takes_its_data_away() {
    let bench = Bench::with(&format!("mkdir -p \"$LEVEL3_DATA_DIR\"\necho kept >\"$LEVEL3_DATA_DIR/row\"\n{STEADY}"));
    let starts: Vec<_> = (0..6).map(|_| bench.command(&["--json", "start"]).stdout(Stdio::piped()).spawn().unwrap()).collect();
    let said: Vec<_> = starts.into_iter().map(|start| Ran::from(start.wait_with_output().unwrap())).collect();
    let said: Vec<Value> = said.iter().map(|ran| serde_json::from_str(&ran.out).unwrap()).collect();
    assert!(said.iter().all(|one| one["pid"] == said[0]["pid"]), "{said:?}");
    assert_eq!(said.iter().filter(|said| said["already"] == json!(false)).count(), 1, "{said:?}");
    assert_eq!((bench.starts(), fs::read_to_string(bench.path("data/row")).unwrap().as_str()), (1, "kept\n"));
    bench.done(&["stop"]);
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
    // It dies in its own time.
    until("the end of its lock", || fs::File::open(bench.path("daemon.lock")).is_ok_and(|lock| lock.try_lock().is_ok()));
    assert!(bench.refused(3, &["stop"]).contains("relay start"), "its lock is free, so it does not run");
    let said = bench.done(&["start"]);
    assert!(said.starts_with("The Relay daemon runs: pid "), "{said}");
    bench.done(&["stop"]);
}

#[test]
fn a_start_waits_for_the_server_of_a_daemon_that_was_killed() {
    let bench = Bench::with(STEADY);
    fs::create_dir(bench.path("data")).unwrap();
    let lock = fs::File::create(bench.path("data/server.lock")).unwrap();
    lock.lock().unwrap();
    let starting = bench.command(&["start"]).stdout(Stdio::piped()).spawn().unwrap();
    until("the new daemon", || bench.path("daemon.pid").exists());
    assert_eq!(bench.starts(), 0, "the data have a server");
    drop(lock);
    let ran = Ran::from(starting.wait_with_output().unwrap());
    assert!(ran.code == 0 && ran.out.starts_with("The Relay daemon runs: pid "), "{ran:?}");
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
    // Wrong use is JSON as well, and for a person it is not.
    let wrong: Value = serde_json::from_str(&bench.refused(2, &["get", "seven", "--json"])).unwrap();
    assert_eq!(wrong["exit_code"], 2);
    assert!(
        wrong["error"].as_str().is_some_and(|said| said.starts_with("invalid value 'seven'") && !said.contains("--help")),
        "{wrong}"
    );
    assert!(bench.refused(2, &["get", "seven"]).contains("--help"));
    fs::remove_file(bench.path("config.json")).unwrap();
    assert!(bench.refused(3, &["list"]).contains("set it up with: relay init"));
}

#[test]
fn a_token_goes_to_no_program_that_merely_listens_at_the_address() {
    let foreign = Answers::serve(|_| (200, json!({})));
    let bench = Bench::at(&foreign.address);
    for arguments in [
        &["status"][..],
        &["list"],
        &["create", "--contact", "+491701234567", "--objective", "Arrange a viewing"],
        &["webhooks", "remove", "1"],
    ] {
        assert!(bench.refused(3, arguments).contains("the Relay daemon is not running"), "{arguments:?}");
    }
    assert_eq!(foreign.asked(), Vec::<String>::new());
}

#[test]
fn the_real_server_is_started_answers_with_its_token_and_stops() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bench = Bench::at(&port.to_string());
    bench.done(&["start"]);
    assert!(bench.path("data/server-id").exists());
    let strange = Bench::at(&port.to_string());
    assert!(strange.refused(3, &["list"]).contains("relay start"), "that server is another folder's");
    let taken = strange.refused(1, &["start"]);
    assert!(taken.contains(&format!("`listen` of config.json is {port}")) && !strange.path("data").exists(), "{taken}");
    bench.done(&["stop"]);
    bench.done(&["start"]);
    bench.done(&["stop"]);
    assert!(bench.refused(3, &["list"]).contains("relay start"));
}
