//! The socket's manners.

use level3::model::Entry;
use serde_json::json;

use crate::support::{TestApp, call, of_type, text};

#[tokio::test]
async fn what_is_no_frame_is_answered_with_what_is_wrong() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for (frame, expected) in [
        (json!({"type": "dance"}), "unknown variant `dance`, expected one of `message`, `stop`, `approve`, `deny`, `resume`"),
        (json!({"type": "message"}), "missing field `content`"),
        (json!([1]), "not a frame of the protocol"),
    ] {
        client.send(frame).await;
        let answer = client.frame().await;
        assert_eq!(answer["type"], "error");
        assert!(answer["content"].as_str().unwrap().contains(expected), "{answer}");
    }
    app.script([text("still here")]);
    client.ask("hello?").await;
}

#[tokio::test]
async fn a_message_that_cannot_be_accepted_is_refused_under_its_id() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let long = "x".repeat(level3::wire::MAX_MESSAGE_BYTES + 1);
    for (content, conversation, expected) in
        [(" ", None, "empty"), (long.as_str(), None, "is the most"), ("hi", Some(99), "there is no conversation 99")]
    {
        client.send(json!({"type": "message", "content": content, "id": "m", "conversation": conversation})).await;
        let answer = client.frame().await;
        assert_eq!((&answer["type"], &answer["id"]), (&json!("error"), &json!("m")));
        assert!(answer["content"].as_str().unwrap().contains(expected), "{answer}");
    }
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 0);
}

#[tokio::test]
async fn the_longest_message_is_kept_and_reaches_the_model_whole() {
    let app = TestApp::start().await;
    let long = "é".repeat(level3::wire::MAX_MESSAGE_BYTES / 2);
    app.script([text("Read.")]);
    let frames = app.connect().await.ask(&long).await;
    assert_eq!(of_type(&frames, "assistant")["content"], "Read.");
    let told = match app.script.requests()[0].entries.last() {
        Some(Entry::User(told)) => told.clone(),
        other => panic!("{other:?}"),
    };
    assert!(told.ends_with(&long), "{} bytes", told.len());
    let mut later = app.connect().await;
    later.resume(0).await;
    assert!(later.turn().await.iter().any(|frame| frame["content"] == long.as_str()), "it comes back after a reload");
}

#[tokio::test]
async fn hello_says_who_answers() {
    let app = TestApp::start().await;
    let client = app.connect().await;
    assert_eq!(client.hello["model"], json!({"kind": "configured", "provider": "script", "name": "scripted"}));
    assert_eq!(client.hello["images"], false);
    app.script.sees();
    assert_eq!(app.connect().await.hello["images"], true, "as the model is now");
    assert_eq!((&client.hello["safe_mode"], &client.hello["last_seq"]), (&json!(false), &json!(0)));
}

#[tokio::test]
async fn sockets_are_closed_when_the_server_stops() {
    let mut app = TestApp::start().await;
    let mut client = app.connect().await;
    app.stop().await;
    assert_eq!(client.closed().await, Some(1001));
}

#[tokio::test]
async fn a_zero_character_in_a_message_is_no_obstacle() {
    let app = TestApp::start().await;
    app.script([text("a\u{0}b")]);
    let mut client = app.connect().await;
    let frames = client.ask("zero \u{0} here").await;
    assert!(frames.iter().any(|frame| frame["content"] == "a\u{FFFD}b"), "{frames:#?}");
    app.script([call("manage_tasks", json!({"action": "create", "title": "zero \u{0}"})), text("made")]);
    let frames = client.ask("a task").await;
    assert!(frames.iter().any(|frame| frame["task"]["title"] == "zero \u{FFFD}"), "{frames:#?}");
    client.send(json!({"type": "message", "content": "hi", "id": "\u{0}"})).await;
    assert!(client.frame().await["content"].as_str().unwrap().contains("zero character"));
}
