//! Refusals, locks, bans, logouts: what WhatsApp does to a client, and what the client does then.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use whatsapp_rust::chrono::{SecondsFormat, Utc};

use crate::contact::{Contact, THEIRS};
use crate::mock::Mock;
use crate::program::{DEVICE, Home, OURS, Program, soon};

#[tokio::test]
async fn a_refused_message_is_never_tried_again() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, _contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    for (id, code) in [(1, "463"), (2, "479")] {
        mock.refuse(THEIRS, code);
        program.send(id, THEIRS, "hello stranger").await;
        let answer = program.answer(id).await;
        assert_eq!((&answer["kind"], &answer["code"], &answer["left"]), (&json!("refused"), &json!(code), &json!(true)));
    }
    program.listens().await;
    assert!(!program.has_said("sent"));
    assert_eq!(mock.seen("refused 0000000000000000000000000000000"), 2);
    program.send(3, "49", "hello").await;
    let answer = program.answer(3).await;
    assert!(
        answer["code"] == "address" && answer["left"].is_null() && answer["reason"].as_str().unwrap().contains("+491701234567")
    );
}

#[tokio::test]
async fn sent_is_said_when_the_server_says_so_and_not_before() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    mock.be_silent(OURS);
    program.send(0xF00, THEIRS, "are you there?").await;
    contact.hears_text("are you there?").await;
    program.listens().await;
    assert!(!program.has_said("sent"), "nobody knows yet");
    mock.speak(OURS);
    assert_eq!(program.answer(0xF00).await["kind"], "sent");
}

#[tokio::test]
async fn a_device_that_the_phone_removed_shows_a_new_code_without_a_restart() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::paired(&mock, &home).await;
    mock.remove(DEVICE);
    assert_eq!(program.status("logged_out").await["code"], "401");
    let qr = program.until(|line| line["kind"] == "qr").await;
    let aside = std::fs::read_dir(home.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("whatsapp-session."));
    assert_eq!(aside.count(), 1);
    mock.scan(qr["text"].as_str().unwrap(), OURS, 1);
    program.status("online").await;
}

#[tokio::test]
async fn a_device_that_was_removed_while_it_was_away_shows_a_new_code_too() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::paired(&mock, &home).await;
    mock.fail(DEVICE, Some(vec![("reason", "401".into())]));
    mock.cut(DEVICE);
    assert_eq!(program.status("logged_out").await["code"], "401");
    let qr = program.until(|line| line["kind"] == "qr").await;
    assert_eq!(mock.seen("was turned away"), 1);
    mock.fail(DEVICE, None);
    mock.scan(qr["text"].as_str().unwrap(), OURS, 1);
    program.status("online").await;
}

#[tokio::test]
async fn a_locked_account_is_left_alone_and_then_tried_again() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::paired(&mock, &home).await;
    mock.fail(DEVICE, Some(vec![("reason", "403".into()), ("location", "lo".into())]));
    mock.cut(DEVICE);
    // Twice: 5 minutes, then 15; a minute takes 100 ms here.
    for _ in 0..2 {
        let status = program.status("locked").await;
        assert!(status["code"] == "403" && status["until"].is_string() && status["reason"].as_str().unwrap().contains("locked"));
    }
    program.send(1, THEIRS, "hello").await;
    assert_eq!(program.answer(1).await["left"], false);
    mock.fail(DEVICE, None);
    program.status("online").await;
    assert_eq!(mock.seen("a device wants to be paired"), 1, "the session was kept");
}

#[tokio::test]
async fn a_ban_is_waited_for_until_its_end() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::paired(&mock, &home).await;
    mock.fail(DEVICE, Some(vec![("reason", "402".into()), ("code", "101".into()), ("expire", "600".into())]));
    mock.cut(DEVICE);
    let status = program.status("locked").await;
    assert!(
        status["code"] == "402"
            && status["until"].is_string()
            && status["reason"].as_str().unwrap().contains("too many messages")
    );
    mock.fail(DEVICE, None);
    program.status("online").await;
    assert_eq!(mock.seen("was turned away"), 1);
}

#[tokio::test]
async fn a_ban_is_waited_for_by_a_program_that_was_killed_and_started_again_too() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::paired(&mock, &home).await;
    // 200 minutes, which take 20 s here.
    mock.fail(DEVICE, Some(vec![("reason", "402".into()), ("code", "101".into()), ("expire", "12000".into())]));
    mock.cut(DEVICE);
    let told = program.status("locked").await;
    program.kill().await;
    mock.fail(DEVICE, None);
    let kept = home.path().join("whatsapp-session/ban.json").metadata().unwrap();
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);

    let connections = mock.seen("noise ");
    let mut program = Program::start(&mock, &home).await;
    assert_eq!(program.status("locked").await, told);
    program.send(1, THEIRS, "hello").await;
    assert_eq!(program.answer(1).await["left"], false);
    program.listens().await;
    assert_eq!((program.said.len(), mock.seen("noise ")), (2, connections), "{:#?}", program.said);
    program.status("online").await;
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
    assert!(now.as_str() >= told["until"].as_str().unwrap(), "it connected at {now}, before the end of the ban: {told}");
    assert!(program.close().await.success());

    // It is over, and the next start does not wait.
    let mut program = Program::start(&mock, &home).await;
    program.status("online").await;
    assert!(!program.said.iter().any(|line| line["state"] == "locked"), "{:#?}", program.said);
}

#[tokio::test]
async fn a_ban_that_names_no_end_is_no_broken_connection() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::paired(&mock, &home).await;
    mock.fail(DEVICE, Some(vec![("reason", "402".into())]));
    mock.cut(DEVICE);
    let status = program.status("locked").await;
    assert!(status["code"] == "402" && status["reason"].as_str().unwrap().contains("until when"), "{status}");
    // A broken connection would be tried again after 5 minutes, which take half a second here.
    program.listens().await;
    assert_eq!(mock.seen("was turned away"), 1);
    assert!(program.close().await.success());
}

#[tokio::test]
async fn an_outdated_client_says_which_release_to_take_and_rests() {
    for code in ["405", "409"] {
        let (mock, home) = (Mock::start().await, Home::new());
        let mut program = Program::paired(&mock, &home).await;
        mock.fail(DEVICE, Some(vec![("reason", code.into())]));
        mock.cut(DEVICE);
        let status = program.status("outdated").await;
        assert_eq!(status["code"], code);
        // Its own version, its library's, the one that it claims to WhatsApp, and the release that
        // has another.
        let reason = status["reason"].as_str().unwrap();
        for named in ["level3-whatsapp 0.1.0", "whatsapp-rust 0.7.0", "WhatsApp Web 2.3000.0", "a release of level3"] {
            assert!(reason.contains(named), "{named}: {reason}");
        }
        program.send(1, THEIRS, "hello").await;
        assert_eq!(program.answer(1).await["left"], false);
        program.listens().await;
        assert_eq!(mock.seen("was turned away"), 1);
        assert!(program.close().await.success());
    }
}

#[tokio::test]
async fn a_logout_ends_the_session_there_and_here() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::paired(&mock, &home).await;
    program.order(json!({"kind": "logout"})).await;
    assert_eq!(program.status("logged_out").await["code"], "logout");
    soon("the credentials are deleted", || !home.path().join("whatsapp-session").exists()).await;
    assert_eq!(mock.seen("remove-companion-device"), 1);
    assert!(program.close().await.success());
    let mut program = Program::start(&mock, &home).await;
    program.until(|line| line["kind"] == "qr").await;
}
