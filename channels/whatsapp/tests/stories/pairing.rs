//! A program that is linked by a code that a person types on the phone.

use std::time::Instant;

use serde_json::json;

use crate::contact::Contact;
use crate::mock::Mock;
use crate::program::{Home, OURS, Program, soon, start};

/// The words of the log about a device that asks for a code, or answers to a typed one; it
/// acknowledges the server's words with others.
const ASKED: &str = "[\"link_code_companion_reg\"]";

/// A program that also wants a pairing code.
async fn started(mock: &Mock, home: &Home) -> Program {
    let mut program = Program::mute(mock, home);
    let mut first = start(&home.path());
    first["pair"] = json!(format!("+{OURS}"));
    program.order(first).await;
    program
}

/// The next code that it shows.
async fn code(program: &mut Program) -> String {
    let status = program.until(|line| line["pairing_code"].is_string()).await;
    assert_eq!(status["state"], "needs_scan");
    status["pairing_code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_code_that_is_typed_on_the_phone_links_the_program_and_a_mistyped_one_does_not() {
    let (mock, home) = (Mock::start().await, Home::new());
    let begun = Instant::now();
    let mut program = started(&mock, &home).await;
    let shown = code(&mut program).await;
    let took = begun.elapsed();
    mock.types(OURS, "ZZZZ-ZZZZ", 1).await;
    soon("the phone refuses it", || mock.seen("says that the code is wrong") == 1).await;
    program.listens().await;
    assert!(!program.said.iter().any(|line| line["state"] == "online"), "{:#?}", program.said);
    mock.types(OURS, &shown, 1).await;
    assert_eq!(program.status("online").await["address"], "+4915100000001");
    let contact = Contact::paired(&mock).await;
    contact.say("hello").await;
    let message = program.message("hello").await;
    program.accept(&message).await;
    assert!(program.close().await.success());

    // It is linked, so it asks for no code: the phone would offer to link one more device.
    let asked = mock.seen(ASKED);
    let mut program = started(&mock, &home).await;
    program.status("online").await;
    program.listens_for(took).await;
    assert_eq!(mock.seen(ASKED), asked);
    assert!(!program.said.iter().any(|line| line["state"] == "needs_scan"), "{:#?}", program.said);
}

#[tokio::test]
async fn a_code_that_is_no_good_any_more_is_followed_by_another() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = started(&mock, &home).await;
    let first = code(&mut program).await;
    mock.ends_code(OURS, false);
    let second = code(&mut program).await;
    // A broken connection takes its code along.
    mock.cut_unpaired(OURS);
    program.status("connecting").await;
    let third = code(&mut program).await;
    assert!(first != second && second != third && first != third);
    mock.types(OURS, &third, 1).await;
    program.status("online").await;
}

#[tokio::test]
async fn a_code_that_a_person_has_to_ask_for_does_not_come_by_itself() {
    let (mock, home) = (Mock::start().await, Home::new());
    let begun = Instant::now();
    let mut program = started(&mock, &home).await;
    code(&mut program).await;
    let took = begun.elapsed();
    mock.ends_code(OURS, true);
    program.listens_for(took).await;
    assert_eq!(mock.seen(ASKED), 1);
    // The QR code is still good.
    let qr = program.ever(|line| line["kind"] == "qr").await;
    mock.scan(qr["text"].as_str().unwrap(), OURS, 1);
    program.status("online").await;
}
