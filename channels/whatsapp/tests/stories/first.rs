//! From the first QR code to the first words, and the protocol with level3.

use serde_json::json;
use whatsapp_rust::chrono::{DateTime, SecondsFormat, Utc};

use crate::contact::{Contact, THEIRS};
use crate::mock::Mock;
use crate::program::{DEVICE, Home, OURS, Program, id_of, soon, start};

#[tokio::test]
async fn a_phone_scans_the_code_and_text_goes_both_ways() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    let states: Vec<_> = program.said.iter().filter(|line| line["kind"] == "status").map(|line| line["state"].clone()).collect();
    assert_eq!(states, ["connecting", "needs_scan", "connecting", "online"]);
    let qr = program.said.iter().find(|line| line["kind"] == "qr").unwrap();
    assert!(qr["text"].as_str().unwrap().starts_with("2@mock-ref-0,") && qr["until"].as_str().unwrap().ends_with('Z'), "{qr}");
    assert_eq!(program.said.last().unwrap()["address"], "+4915100000001");

    let id = contact.say("hola, ¿quién eres?").await;
    let message = program.message("hola, ¿quién eres?").await;
    assert_eq!((&message["from"], &message["id"]), (&json!("+4915200000002"), &json!(id)));
    assert_eq!((&message["chat"], &message["own"], &message["name"]), (&json!("direct"), &json!(false), &json!("Mock")));
    // Not before level3 has it.
    program.listens().await;
    assert_eq!(mock.unacknowledged(DEVICE), 1);
    program.accept(&message).await;
    soon("the message is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;

    program.order(json!({"kind": "typing", "to": format!("+{THEIRS}"), "on": true})).await;
    program.send(0xABC, THEIRS, "soy **Relay**").await;
    assert_eq!(program.answer(0xABC).await["kind"], "sent");
    assert_eq!(contact.hears_text("soy *Relay*").await, "00000000000000000000000000000ABC");
    soon("typing was shown", || mock.seen("<chatstate") == 1).await;
    let receipt = program.ever(|line| line["kind"] == "receipt").await;
    assert_eq!((&receipt["id"], &receipt["state"]), (&json!(id_of(0xABC)), &json!("delivered")));
    assert!(program.close().await.success());
}

#[tokio::test]
async fn without_consent_nothing_is_connected() {
    let (mock, home) = (Mock::start().await, Home::without_consent());
    let mut program = Program::start(&mock, &home).await;
    let status = program.status("logged_out").await;
    assert_eq!(status["code"], "consent");
    assert!(status["reason"].as_str().unwrap().contains("level3-whatsapp consent --folder"));
    program.send(1, THEIRS, "hello").await;
    let answer = program.answer(1).await;
    assert_eq!((&answer["kind"], &answer["code"], &answer["left"]), (&json!("refused"), &json!("offline"), &json!(false)));
    assert!(program.close().await.success());
    assert_eq!(mock.log(), "");
}

#[tokio::test]
async fn a_pairing_code_is_shown_beside_the_qr_code() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::mute(&mock, &home);
    let mut first = start(&home.path());
    first["pair"] = json!("+4915100000001");
    program.order(first).await;
    let status = program.until(|line| line["pairing_code"].is_string()).await;
    assert_eq!(status["state"], "needs_scan");
    let code = status["pairing_code"].as_str().unwrap();
    assert!(code.len() == 9 && code.as_bytes()[4] == b'-', "{code}");
    assert!(program.said.iter().any(|line| line["kind"] == "qr"));
}

#[tokio::test]
async fn after_codes_that_nobody_scanned_it_rests_and_the_next_start_shows_new_ones() {
    let (mock, home) = (Mock::start().await, Home::new());
    // No code, so that nobody has to wait for the end of the last.
    mock.codes(0);
    let mut program = Program::start(&mock, &home).await;
    let status = program.status("logged_out").await;
    assert_eq!(status["code"], "unscanned");
    assert!(status["reason"].as_str().unwrap().contains("start the channel again for new ones"), "{status}");
    program.send(1, THEIRS, "hello").await;
    let answer = program.answer(1).await;
    assert_eq!((&answer["code"], &answer["left"]), (&json!("offline"), &json!(false)));
    program.listens().await;
    assert_eq!(mock.seen("a device wants to be paired"), 1);
    assert!(program.close().await.success());

    mock.codes(6);
    let mut program = Program::start(&mock, &home).await;
    let qr = program.until(|line| line["kind"] == "qr").await;
    mock.scan(qr["text"].as_str().unwrap(), OURS, 1);
    program.status("online").await;
}

/// Three minutes: the codes live as long as they do, and nobody can turn the library's clock.
#[tokio::test]
async fn six_codes_are_shown_and_a_pairing_code_is_waited_for_to_its_end() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::mute(&mock, &home);
    let mut first = start(&home.path());
    first["pair"] = json!("+4915100000001");
    program.order(first).await;
    let shown = |line: &serde_json::Value| line["kind"] == "qr" || line["state"] == "logged_out";
    // With the seconds that each lives from its arrival on.
    let mut codes: Vec<(String, i64)> = Vec::new();
    let end = loop {
        let line = program.until(shown).await;
        let Some(text) = line["text"].as_str() else { break line };
        let until = DateTime::parse_from_rfc3339(line["until"].as_str().unwrap()).unwrap();
        codes.push((text.split(',').next().unwrap().to_owned(), until.timestamp() - Utc::now().timestamp()));
    };
    // A code may be drawn anew.
    codes.dedup_by(|later, earlier| later.0 == earlier.0);
    assert_eq!(codes.len(), 6, "{codes:?}");
    for (n, (code, lives)) in codes.iter().enumerate() {
        let wanted = if n == 0 { 60 } else { 20 };
        // A busy machine reads the line late, and never early.
        assert!(*code == format!("2@mock-ref-{n}") && (wanted - 5..=wanted).contains(lives), "{codes:?}");
    }
    assert_eq!(end["code"], "unscanned");
    let pairing = program.ever(|line| line["pairing_code"].is_string()).await;
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
    assert!(now.as_str() >= pairing["until"].as_str().unwrap(), "it ended at {now}, before the pairing code: {pairing}");
    program.listens().await;
    assert_eq!(mock.seen("a device wants to be paired"), 1);
    assert!(program.close().await.success());
}

#[tokio::test]
async fn what_is_no_order_ends_the_program_with_code_2() {
    let mock = Mock::start().await;
    for line in ["hello\n", "{\"kind\":\"logout\"}\n", "{\"kind\":\"dance\"}\n"] {
        let home = Home::new();
        let mut program = Program::mute(&mock, &home);
        program.raw(line).await;
        assert_eq!(program.end().await.code(), Some(2), "{line}");
    }
    let home = Home::new();
    let mut program = Program::start(&mock, &home).await;
    program.until(|line| line["kind"] == "qr").await;
    program.raw("{\"kind\":\"dance\"}\n").await;
    assert_eq!(program.end().await.code(), Some(2));
}

#[test]
fn only_this_machine_stands_for_whatsapps_server() {
    for server in ["ws://10.0.0.1:8080/ws/chat", "wss://web.whatsapp.com/ws/chat", "ws://127.0.0.1:80@10.0.0.1/"] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_level3-whatsapp"));
        program.env_clear().env("LEVEL3_WHATSAPP_SERVER", server).stdin(std::process::Stdio::null());
        let ended = program.output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{server}");
        assert!(String::from_utf8_lossy(&ended.stderr).contains("expected ws://127.0.0.1:PORT"), "{ended:?}");
    }
}

#[tokio::test]
async fn another_version_of_the_protocol_is_outdated() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::mute(&mock, &home);
    let mut first = start(&home.path());
    first["version"] = json!(2);
    program.order(first).await;
    assert_eq!(program.status("outdated").await["code"], "version");
    assert!(program.end().await.success());
}
