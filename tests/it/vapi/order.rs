//! Messages of Vapi's in another order than things happened in: an older one changes nothing that a
//! newer one has said.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Made, SECONDS, Vapi};
use crate::support::{api, call, text};
use crate::todo::breakdown;

const ACTIVE: &str = "SELECT count(*) FROM voice_calls WHERE state = 'active'";
const PENDING: &str = "SELECT count(*) FROM approvals WHERE state = 'pending'";

fn status(status: &str) -> Value {
    json!({"type": "status-update", "status": status})
}

fn heard(words: &str) -> Value {
    json!({"type": "transcript", "role": "user", "transcriptType": "final", "transcript": words})
}

/// Tells it, and is let in.
async fn tells(vapi: &Vapi, made: &Made, message: Value) {
    let shown = message.to_string();
    assert_eq!(vapi.tells(made, message).await, (200, "{}".into()), "{shown}");
}

#[tokio::test]
async fn a_word_before_the_call_is_in_progress_decides_and_a_report_before_the_end_counts() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.rings().await;
    vapi.app.script([call("createTask", json!({"description": "milk", "confirmed": false}))]);
    vapi.asks(&made, &["add buy milk"]).await;
    vapi.app.script([breakdown(&["Go to the shop", "Find the milk", "Carry it home"]), text("Done!")]);
    tells(&vapi, &made, heard("Go ahead.")).await;
    vapi.app.run_until_idle().await;
    assert_eq!(vapi.app.count("SELECT count(*) FROM approvals WHERE channel = 'voice' AND state = 'approved'").await, 1);
    assert_eq!(vapi.app.count(ACTIVE).await, 0);
    tells(&vapi, &made, status("in-progress")).await;
    assert_eq!(vapi.app.count(ACTIVE).await, 1);
    // These were sent before it.
    for older in ["scheduled", "queued", "ringing"] {
        tells(&vapi, &made, status(older)).await;
    }
    assert_eq!(vapi.app.count(ACTIVE).await, 1);
    vapi.app.advance(10);
    assert_eq!(vapi.beat(made.call).await.0, 200);
    vapi.app.advance(10);
    let report = |seconds: u32| {
        let ended = format!("2026-11-20T08:00:{seconds}Z");
        json!({"type": "end-of-call-report", "startedAt": "2026-11-20T08:00:00Z", "endedAt": ended})
    };
    tells(&vapi, &made, report(25)).await;
    let over = "SELECT count(*) FROM voice_calls WHERE state = 'idle' AND reason = 'hung_up'";
    assert_eq!((vapi.app.count(SECONDS).await, vapi.app.count(over).await), (25, 1));
    // The end that it reports comes behind it, and so does what came before that; another report is
    // no second one.
    vapi.app.advance(5);
    for late in [status("ended"), status("in-progress"), heard("No."), report(40)] {
        tells(&vapi, &made, late).await;
        assert_eq!((vapi.app.count(SECONDS).await, vapi.app.count(over).await), (25, 1));
    }
    assert_eq!(vapi.beat(made.call).await.0, 410);
    assert_eq!(vapi.app.count("SELECT count(*) FROM tasks").await, 1);
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn the_transcript_of_an_older_yes_decides_no_newer_question() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    vapi.app.script([call("createTask", json!({"description": "milk", "confirmed": false}))]);
    vapi.asks(&made, &["add buy milk"]).await;
    let bread = call("createTask", json!({"description": "bread", "confirmed": false}));
    vapi.app.script([breakdown(&["Go to the shop", "Find the milk", "Carry it home"]), bread]);
    let question = vapi.asks(&made, &["add buy milk", "Go ahead."]).await;
    assert!(question.contains("bread"), "{question}");
    // Vapi's transcripts of both come behind what they brought about.
    for older in ["Go ahead.", "go ahead"] {
        tells(&vapi, &made, heard(older)).await;
        assert_eq!(vapi.app.count(PENDING).await, 1, "{older}");
    }
    vapi.app.script([text("All right.")]);
    assert_eq!(vapi.asks(&made, &["add buy milk", "Go ahead.", "No."]).await, "All right.");
    assert_eq!((vapi.app.count(PENDING).await, vapi.app.count("SELECT count(*) FROM tasks").await), (0, 1));
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn a_call_of_a_function_that_comes_again_has_the_outcome_it_has_by_then() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    let order = json!({"id": "a", "name": "createTask", "parameters": {"description": "milk", "confirmed": false}});
    let message = json!({"type": "tool-calls", "toolCallList": [order, {"id": "b", "name": "launchRockets", "parameters": {}}]});
    let results = async || {
        // The same signature is taken once.
        vapi.app.advance(1);
        let (status, answer) = vapi.tells(&made, message.clone()).await;
        assert_eq!(status, 200);
        serde_json::from_str::<Value>(&answer).unwrap()["results"].clone()
    };
    let first = results().await;
    assert_eq!(first[0]["error"], "it waits for a yes: say “go ahead” to do it, or “no”");
    assert_eq!(first[1]["error"], "there is no function `launchRockets`");
    assert_eq!(results().await, first, "it waits still");
    vapi.app.script([breakdown(&["Go to the shop", "Find the milk", "Carry it home"])]);
    tells(&vapi, &made, heard("Go ahead.")).await;
    vapi.app.run_until_idle().await;
    let done = results().await;
    assert!(done[0]["result"].as_str().is_some_and(|result| result.contains("milk")), "{done}");
    assert_eq!(done[1], first[1]);
    let made_of_it = ["SELECT count(*) FROM turns", "SELECT count(*) FROM tasks"];
    assert_eq!((vapi.app.count(made_of_it[0]).await, vapi.app.count(made_of_it[1]).await), (1, 1));
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}
