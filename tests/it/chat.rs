//! The socket's manners.

use futures::future::join_all;
use level3::model::Entry;
use serde_json::json;

use crate::support::{TestApp, call, kinds, of_type, text};

/// The frames of a turn with nothing but an answer.
const ANSWERED: [&str; 4] = ["turn queued", "turn running", "assistant", "turn completed"];

#[tokio::test]
async fn what_is_no_frame_is_answered_with_what_is_wrong() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for (frame, expected) in [
        (json!({"type": "dance"}), "`type` is \"dance\"; it is one of: message, stop, approve, deny, resume"),
        (json!({"type": "message"}), "missing field `content`"),
        (json!([1]), "not a frame of the protocol"),
    ] {
        client.send(frame).await;
        let answer = client.frame().await;
        assert_eq!(answer["type"], "error");
        assert!(answer["content"].as_str().unwrap().contains(expected) && answer["id"].is_null(), "{answer}");
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
    for wrong in [json!({"content": 5}), json!({"content": "hi", "conversation": "5"}), json!({"content": "hi", "images": [{}]})]
    {
        let mut message = json!({"type": "message", "id": "lost1"});
        message.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        client.send(message).await;
        let answer = client.frame().await;
        assert_eq!((&answer["type"], &answer["id"]), (&json!("error"), &json!("lost1")), "{wrong}");
    }
    client.send(json!({"type": "message", "id": "v1-0123", "content": 5})).await;
    assert!(client.frame().await["id"].is_null(), "an id that no message may have does not come back");
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 0);
}

#[tokio::test]
async fn a_stop_in_a_conversation_that_is_not_there_is_refused() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for frame in [json!({"type": "stop", "conversation": 9999}), json!({"type": "resume", "after": 0, "conversation": 9999})] {
        client.send(frame).await;
        let answer = client.frame().await;
        assert_eq!((&answer["type"], &answer["content"]), (&json!("error"), &json!("there is no conversation 9999")));
    }
}

#[tokio::test]
async fn each_frame_comes_once_to_a_fresh_socket_that_sends_the_id_of_a_finished_turn() {
    let app = TestApp::start().await;
    app.script([text("Hello.")]);
    let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
    let message = json!({"type": "message", "content": "hi", "id": "m1", "conversation": conversation});
    for _ in 0..2 {
        let mut fresh = app.connect().await;
        fresh.send(message.clone()).await;
        assert_eq!(kinds(&fresh.turn().await), ANSWERED);
    }
}

#[tokio::test]
async fn each_frame_comes_once_to_each_of_six_sockets_that_send_one_id_at_once() {
    let app = TestApp::start().await;
    app.script([text("Hello."), text("Hello.")]);
    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    for (id, conversation) in [("m1", main), ("m2", other)] {
        let message = json!({"type": "message", "content": "hi", "id": id, "conversation": conversation});
        let mut clients = join_all((0..6).map(|_| app.connect())).await;
        join_all(clients.iter_mut().map(|client| client.send(message.clone()))).await;
        for client in &mut clients {
            assert_eq!(kinds(&client.turn().await), ANSWERED);
        }
    }
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 2);
}

#[tokio::test]
async fn a_client_gives_its_message_no_id_of_another_door() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for id in ["operator/loopback/+491701234567/m1", "vapi-1-1-0123456789abcdef", "v1-0123456789abcdef"] {
        client.send(json!({"type": "message", "content": "hi", "id": id})).await;
        let told = client.until(|frame| frame["type"] == "error").await.pop().unwrap();
        assert!(told["content"].as_str().unwrap().contains("those of messages that come by another door"), "{id}: {told}");
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
