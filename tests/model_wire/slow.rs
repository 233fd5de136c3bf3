//! Servers that are slow but alive, that never stop talking and say nothing, and that say very much
//! in very small pieces.

use std::time::Duration;

use level3::model::ModelErrorKind as Kind;
use level3::model::client::ModelLimits;

use crate::server::{Do, Server, events, finish, piece, response};
use crate::{ask, client, limits, request};

const PAUSE: Duration = Duration::from_millis(8);

/// Shorter than any of the pieces below takes to come.
fn impatient() -> ModelLimits {
    let patience = Duration::from_secs(3);
    ModelLimits { first_token: patience, silence: patience, ..limits() }
}

#[tokio::test]
async fn one_byte_after_the_other_is_slow_and_not_silent() {
    let text = "slow but alive ".repeat(30);
    let whole = serde_json::json!({ "choices": [{ "message": { "content": text }, "finish_reason": "stop" }] }).to_string();
    for body in [piece(&text) + &finish(), whole] {
        let server = Server::playing(vec![vec![Do::Send(events("")), Do::Drip(body.into_bytes(), PAUSE)]]).await;
        let answer = ask(&client(&server.base_url(), impatient()), request()).await.0.unwrap();
        assert_eq!((answer.content, server.requests()), (text.clone(), 1));
    }
}

#[tokio::test]
async fn a_slow_answer_has_an_end_all_the_same() {
    let text = "slow ".repeat(2000);
    let drip = Do::Drip(piece(&text).into_bytes(), PAUSE);
    let server = Server::playing(vec![vec![Do::Send(events(piece("half"))), drip]]).await;
    let limits = ModelLimits { whole: Duration::from_secs(2), ..limits() };
    let error = ask(&client(&server.base_url(), limits), request()).await.0.unwrap_err();
    assert_eq!((error.kind, server.requests()), (Kind::Timeout, 1));
    assert!(error.message.contains("had no end after 2 seconds"), "{error}");
}

#[tokio::test]
async fn a_stream_of_comments_without_a_pause_is_a_silence() {
    // There is always something to read, so a deadline that is only looked at while waiting would
    // never be seen.
    let limits = ModelLimits { first_token: Duration::from_millis(100), wire_bytes: usize::MAX, retries: 0, ..limits() };
    let comments = Do::Flood(": still here\n\n".repeat(1000).into_bytes());
    let reply = vec![Do::Send(events("")), comments];
    let server = Server::playing(vec![reply]).await;
    let error = ask(&client(&server.base_url(), limits), request()).await.0.unwrap_err();
    assert_eq!(error.kind, Kind::Timeout, "{error}");
}

#[tokio::test]
async fn a_flood_of_blanks_before_the_answer_takes_no_memory_and_has_an_end() {
    let small = ModelLimits { wire_bytes: 1 << 20, answer_bytes: 1000, ..limits() };
    let within = response("200 OK", "", " \n".repeat(100_000) + &piece("a") + &finish());
    let server = Server::playing(vec![vec![Do::Send(within)]]).await;
    assert_eq!(ask(&client(&server.base_url(), small), request()).await.0.unwrap().content, "a");
    let server = Server::playing(vec![vec![Do::Send(response("200 OK", "", " ".repeat(2 << 20)))]]).await;
    let error = ask(&client(&server.base_url(), small), request()).await.0.unwrap_err();
    assert!(error.kind == Kind::Malformed && error.message.contains("does not end"), "{error}");
}

#[tokio::test]
async fn ten_thousand_tiny_pieces_are_heard_in_order() {
    let words: Vec<_> = (0..10_000).map(|number| format!("{number} ")).collect();
    let body: String = words.iter().map(|word| piece(word)).collect();
    let server = Server::playing(vec![vec![Do::Send(events(body + &finish()))]]).await;
    let (outcome, heard) = ask(&client(&server.base_url(), limits()), request()).await;
    assert_eq!((outcome.unwrap().content, heard), (words.concat(), words.concat()));
}

#[tokio::test]
async fn a_server_that_never_reads_the_request_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let limits = ModelLimits { first_token: Duration::from_millis(100), ..limits() };
    let mut long = request();
    long.entries.push(level3::model::Entry::User("word ".repeat(2 << 20)));
    let error = ask(&client(&base_url, limits), long).await.0.unwrap_err();
    assert_eq!(error.kind, Kind::Timeout, "{error}");
}
