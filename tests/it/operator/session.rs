//! The session of WhatsApp, put aside by `level3 operator --reset-whatsapp`: once, and never under
//! an operator that runs. And a message that cannot be kept: the program that brings it is started
//! again.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::Command;

use super::terminal::{Operator, home_with, program};
use super::{Desk, OWNER, write_program};
use crate::support::{Client, ModelServer, asks_for, in_time, text};

/// The model restarts the server if it is told to, and otherwise says that it is there.
fn decide(_: usize, body: &Value) -> Value {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    match last["role"] == "user" && last["content"].to_string().contains("restart now") {
        true => asks_for("restart", &json!({"mode": "full"})),
        false => json!({"role": "assistant", "content": "I am here."}),
    }
}

#[tokio::test]
async fn a_start_without_the_program_leaves_the_session_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let session = home.join("channels/whatsapp/whatsapp-session");
    fs::create_dir_all(&session).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_level3"));
    command.args(["operator", "--reset-whatsapp", "--home"]).arg(&home).env_clear().env("LEVEL3_WHATSAPP", "/nowhere");
    let ran = in_time("its end", command.stdin(Stdio::null()).output()).await.unwrap();
    assert!(ran.status.code() == Some(2) && session.is_dir(), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_put_aside_once_and_never_under_an_operator_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let channel = home.join("channels/whatsapp");
    let session = channel.join("whatsapp-session");
    fs::create_dir_all(&session).unwrap();
    fs::write(session.join("session.db"), "the old one").unwrap();
    let path = program(folder.path(), "hello");
    let model = ModelServer::start(decide).await;
    let settings = [("LEVEL3_WHATSAPP", path.to_str().unwrap())];
    let mut operator = Operator::start(&home, &model, &["--reset-whatsapp"], &settings);
    operator.printed("The WhatsApp session is put aside").await;
    operator.printed("The channel is online").await;
    assert_eq!(fs::read_to_string(channel.join("whatsapp-session.1/session.db")).unwrap(), "the old one");
    fs::create_dir(&session).unwrap();
    fs::write(session.join("session.db"), "the new one").unwrap();

    let mut second = Command::new(env!("CARGO_BIN_EXE_level3"));
    second.args(["operator", "--reset-whatsapp", "--home"]).arg(&home).env_clear().envs(settings).stdin(Stdio::null());
    let ran = in_time("the end of the second", second.output()).await.unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(1) && told.contains("an operator runs on") && told.contains("end it first"), "{told}");

    // Nor at another address.
    let kept = fs::read_to_string(home.join("config.json")).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let elsewhere = json!({"number": OWNER, "listen": free.to_string()}).to_string();
    fs::write(home.join("config.json"), elsewhere).unwrap();
    let mut third = Command::new(env!("CARGO_BIN_EXE_level3"));
    third.args(["operator", "--reset-whatsapp", "--home"]).arg(&home).env_clear().envs(settings).stdin(Stdio::null());
    let ran = in_time("the end of the third", third.output()).await.unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(1) && told.contains("an operator runs on") && told.contains("end it first"), "{told}");
    assert_eq!(fs::read_to_string(session.join("session.db")).unwrap(), "the new one");
    // Nor does a second one run there at all; and the one that runs is not found at that address.
    for (arguments, words) in [
        (&["--channel", "whatsapp"][..], "already: end it first, or name another home with --home"),
        (&["tasks"], "or \"listen\" in"),
    ] {
        let mut fourth = Command::new(env!("CARGO_BIN_EXE_level3"));
        fourth.arg("operator").args(arguments).arg("--home").arg(&home).env_clear().envs(settings).stdin(Stdio::null());
        let ran = in_time("the end of the fourth", fourth.output()).await.unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(1) && told.contains(words), "{told}");
    }
    fs::write(home.join("config.json"), kept).unwrap();

    // Started again by a restart, it has the same arguments and keeps the session.
    let config: Value = serde_json::from_str(&fs::read_to_string(home.join("config.json")).unwrap()).unwrap();
    let mut client = Client::connect(config["listen"].as_str().unwrap().parse().unwrap()).await;
    client.say("restart now").await;
    operator.printed_again("The channel is online", 2).await;
    assert_eq!(operator.out.lock().unwrap().matches("put aside").count(), 1);
    assert_eq!(fs::read_to_string(session.join("session.db")).unwrap(), "the new one");
    operator.ends_by(libc::SIGTERM).await;

    for (arguments, code, words) in [
        (&["tasks"][..], 1, "the operator is not running"),
        (&["--channel", "loopback", "--reset-whatsapp"], 2, "--reset-whatsapp is about WhatsApp"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_level3"));
        command.arg("operator").args(arguments).arg("--home").arg(&home).env_clear().stdin(Stdio::null());
        let ran = in_time("its end", command.output()).await.unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(code) && told.contains(words), "{told}");
    }
}

#[tokio::test]
async fn a_message_that_cannot_be_kept_comes_again_from_a_program_that_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    // A file stands in the way of the folder for media in its first run, and is gone in the second.
    let script = format!(
        r#"#!/bin/sh
echo run >> runs
rm -rf ../../media
if [ "$(wc -l < runs)" -eq 1 ]; then echo wrong > ../../media; fi
echo word > media/word.bin
echo '{{"kind":"status","state":"online","address":"+491711111111"}}'
echo '{{"kind":"message","id":"M1","from":"{OWNER}","text":"look","media":{{"path":"media/word.bin","bytes":5,"type":"text/plain"}}}}'
while read -r line; do echo "$line" >> lines; done
"#
    );
    let desk = Desk::over(&write_program(folder.path(), &script), &[]).await;
    desk.app.script([text("Hello.")]);
    let done = async {
        while desk.states().await != ["COMPLETED"] {
            desk.app.clock.advance(chrono::TimeDelta::milliseconds(10));
            tokio::task::yield_now().await;
        }
    };
    in_time("the task", done).await;
    let own = desk.home().join("channels/whatsapp");
    assert_eq!(fs::read_to_string(own.join("runs")).unwrap(), "run\nrun\n");
    let accepted = async {
        while !fs::read_to_string(own.join("lines")).unwrap_or_default().contains(r#""kind":"accepted""#) {
            tokio::task::yield_now().await;
        }
    };
    in_time("the acknowledgement", accepted).await;
    assert_eq!(fs::read_dir(desk.home().join("media")).unwrap().count(), 1);
}

#[tokio::test]
async fn the_file_of_an_edit_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let message = json!({
        "kind": "message", "id": "M2", "from": OWNER, "text": "look", "note": "edited", "of": "M1",
        "media": {"path": "media/word.bin", "bytes": 5, "type": "text/plain"},
    });
    let script = format!("#!/bin/sh\necho word > media/word.bin\necho '{message}'\ncat > lines\n");
    let desk = Desk::over(&write_program(folder.path(), &script), &[]).await;
    let lines = desk.home().join("channels/whatsapp/lines");
    let accepted = async {
        while !fs::read_to_string(&lines).unwrap_or_default().contains(r#""kind":"accepted""#) {
            tokio::task::yield_now().await;
        }
    };
    in_time("the acknowledgement", accepted).await;
    assert_eq!(fs::read_dir(desk.home().join("media")).map_or(0, Iterator::count), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_went_out_is_taken_away_after_the_answer_and_all_others_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let path = program(folder.path(), "hello");
    // The program finds a file of this message, and one of a message whose end nobody heard.
    let script = fs::read_to_string(&path).unwrap();
    let answer = r#"      echo "{\"kind\":\"sent\""#;
    let files = r#"      mkdir -p media/out; touch media/out/"$id".png media/out/OTHER.png"#;
    let leaves = script.replace(answer, &format!("{files}\n{answer}"));
    assert_ne!(script, leaves);
    fs::write(&path, leaves).unwrap();
    let model = ModelServer::start(decide).await;
    let settings = [("LEVEL3_WHATSAPP", path.to_str().unwrap())];
    let mut operator = Operator::start(&home, &model, &[], &settings);
    operator.printed("task_completed").await;
    let out = home.join("channels/whatsapp/media/out");
    let left = async {
        loop {
            let files = fs::read_dir(&out).into_iter().flatten().filter_map(Result::ok);
            if files.map(|file| file.file_name()).collect::<Vec<_>>() == ["OTHER.png"] {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    in_time("the file of the answer to go", left).await;
    operator.ends_by(libc::SIGTERM).await;
    let mut operator = Operator::start(&home, &model, &[], &settings);
    operator.printed("The channel is online").await;
    assert!(!out.exists(), "nobody waits for the end of that one any more");
    operator.ends_by(libc::SIGTERM).await;
}
