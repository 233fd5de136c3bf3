//! The session of WhatsApp, put aside by `level3 operator --reset-whatsapp`: once, and never under an operator that runs.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::Command;

use super::terminal::{Operator, home_with, program};
use crate::support::{Client, ModelServer, asks_for, in_time};

/// The model restarts the server if it is told to, and otherwise says that it is there.
fn decide(_: usize, body: &Value) -> Value {
    let last = body["messages"].as_array().unwrap().last().unwrap();
    match last["role"] == "user" && last["content"].to_string().contains("restart now") {
        true => asks_for("restart", &json!({"mode": "full"})),
        false => json!({"role": "assistant", "content": "I am here."}),
    }
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
    assert!(ran.status.code() == Some(1) && told.contains("end it; or write another") && told.contains("config.json"), "{told}");

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
