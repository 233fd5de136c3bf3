//! Figures, run by name:
//!
//! ```sh
//! cargo test --manifest-path channels/whatsapp/Cargo.toml --features test-server --test stories -- --ignored --nocapture
//! ```

use std::time::{Duration, Instant};

use crate::contact::{Contact, THEIRS};
use crate::mock::Mock;
use crate::program::{Home, OURS, Program};

const ROUNDS: u32 = 50;

#[tokio::test]
#[ignore = "it measures, and proves nothing"]
async fn measure() {
    let (mock, home) = (Mock::start().await, Home::new());
    let begun = Instant::now();
    let mut program = Program::start(&mock, &home).await;
    let qr = program.until(|line| line["kind"] == "qr").await;
    println!("QR code after {} ms", begun.elapsed().as_millis());
    mock.scan(qr["text"].as_str().unwrap(), OURS, 1);
    program.status("online").await;
    let contact = Contact::paired(&mock).await;
    let mut took: Vec<Duration> = Vec::new();
    for round in 0..ROUNDS {
        let begun = Instant::now();
        contact.say(&format!("order {round}")).await;
        let message = program.message(&format!("order {round}")).await;
        program.accept(&message).await;
        program.send(round, THEIRS, &format!("answer {round}")).await;
        program.answer(round).await;
        took.push(begun.elapsed());
    }
    took.sort();
    println!("order to acknowledged answer: p50 {} ms, p95 {} ms", took[25].as_millis(), took[47].as_millis());
    println!("memory: {}", program.memory());
}
