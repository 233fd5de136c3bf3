//! Broken connections, programs that are killed, messages that come twice or late.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use wacore::download::MediaType;
use whatsapp_rust::UploadOptions;
use whatsapp_rust::media::{ImageOptions, image_message};

use crate::contact::{Contact, THEIRS};
use crate::mock::Mock;
use crate::program::{DEVICE, Home, OURS, Program, soon};

#[tokio::test]
async fn a_broken_connection_comes_back_with_the_short_handshake() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    let short = mock.seen("noise IK");
    mock.cut(DEVICE);
    // The library does not always tell that the connection is gone before it is back.
    program.status("online").await;
    assert_eq!(mock.seen("noise IK"), short + 1);
    contact.say("¿sigues ahí?").await;
    program.message("¿sigues ahí?").await;
}

#[tokio::test]
async fn the_session_is_kept_and_what_came_meanwhile_comes_at_the_start() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    contact.say("before").await;
    let message = program.message("before").await;
    program.accept(&message).await;
    soon("it is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    assert!(program.close().await.success());
    soon("it is gone", || mock.seen(&format!("{DEVICE} is gone")) >= 1).await;
    contact.say("while you slept").await;
    contact.say("and this").await;
    let uploaded = contact.client.upload(vec![9; 70_000], MediaType::Image, UploadOptions::default()).await.unwrap();
    contact.send(image_message(uploaded, ImageOptions { caption: Some("and a picture".into()), ..Default::default() })).await;

    let mut program = Program::start(&mock, &home).await;
    for said in ["while you slept", "and this", "and a picture"] {
        let message = program.message(said).await;
        program.accept(&message).await;
    }
    assert_eq!(program.said.last().unwrap()["media"]["bytes"], 70_000);
    soon("all is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    assert!(!program.said.iter().any(|line| line["kind"] == "qr"), "a QR code although there is a session");
    // Nobody else reads the session, the files that SQLite lays beside it included.
    let session = home.path().join("whatsapp-session");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&session), 0o700);
    let files: Vec<_> = std::fs::read_dir(&session).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 1 && files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[tokio::test]
async fn a_session_that_cannot_be_read_is_told_and_kept() {
    let (mock, home) = (Mock::start().await, Home::new());
    std::fs::create_dir_all(home.path().join("whatsapp-session")).unwrap();
    let file = home.path().join("whatsapp-session/session.db");
    std::fs::write(&file, "this is no database, and longer than a header of one".repeat(100)).unwrap();
    let mut program = Program::start(&mock, &home).await;
    let status = program.until(|line| line["code"] == "session").await;
    assert!(status["reason"].as_str().unwrap().contains("link again"), "{status}");
    assert!(program.close().await.success());
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("this is no database"));
}

#[tokio::test]
async fn killed_before_it_was_accepted_a_message_comes_again_and_then_never() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    let id = contact.say("only once, please").await;
    program.message("only once, please").await;
    program.listens().await;
    program.kill().await;
    assert_eq!(mock.unacknowledged(DEVICE), 1);

    let mut program = Program::start(&mock, &home).await;
    let message = program.message("only once, please").await;
    assert_eq!(message["id"], id);
    program.accept(&message).await;
    soon("it is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    assert!(program.close().await.success());

    let mut program = Program::start(&mock, &home).await;
    program.status("online").await;
    contact.say("something else").await;
    program.message("something else").await;
    assert!(!program.said.iter().any(|line| line["text"] == "only once, please"));
}

#[tokio::test]
async fn what_the_server_delivers_twice_goes_on_once() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    let id = contact.say("twice").await;
    let message = program.message("twice").await;
    mock.deliver_again(DEVICE, &id);
    program.accept(&message).await;
    soon("it is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    contact.say("next").await;
    let message = program.message("next").await;
    program.accept(&message).await;
    assert_eq!(program.said.iter().filter(|line| line["text"] == "twice").count(), 1);
}

#[tokio::test]
async fn a_message_whose_acknowledgement_was_lost_comes_again_and_goes_on_once() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    mock.be_deaf_to(DEVICE, true);
    let id = contact.say("once and for all").await;
    let message = program.message("once and for all").await;
    program.accept(&message).await;
    soon("the acknowledgement is lost", || mock.seen(&format!("lost what {DEVICE} said of {id}")) > 0).await;
    assert!(program.close().await.success());
    mock.be_deaf_to(DEVICE, false);
    assert_eq!(mock.unacknowledged(DEVICE), 1);

    let mut program = Program::start(&mock, &home).await;
    program.status("online").await;
    soon("it is acknowledged once more", || mock.unacknowledged(DEVICE) == 0).await;
    contact.say("next").await;
    program.message("next").await;
    assert!(!program.said.iter().any(|line| line["text"] == "once and for all"), "{:#?}", program.said);
}

#[tokio::test]
async fn killed_while_sending_it_sends_nothing_by_itself() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    mock.be_silent(OURS);
    program.send(1, THEIRS, "did you get this?").await;
    contact.hears_text("did you get this?").await;
    program.kill().await;

    let mut program = Program::start(&mock, &home).await;
    program.status("online").await;
    program.listens().await;
    assert_eq!(contact.texts(), ["did you get this?"]);
    assert!(!program.has_said("sent"), "nobody knows");
}
