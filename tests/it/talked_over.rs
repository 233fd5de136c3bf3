//! A person says something else while a question waits: it is declined and heard, in one
//! transaction. Nobody else's words do that.

use level3::domain::{Profile, TurnId};
use level3::model::Entry;
use level3::profiles::Profiles;
use serde_json::{Value, json};

use crate::support::{Client, ModelServer, Server, TestApp, call, kinds, of_type, results, text};

const DROP: &str = "DROP FUNCTION IF EXISTS notes()";

fn drops() -> crate::support::Reply {
    call("execute_sql", json!({ "query": DROP }))
}

fn says(content: &str, id: &str) -> Value {
    json!({"type": "message", "content": content, "id": id})
}

/// The last result of a call that the model saw, and the person's words after it.
fn seen(app: &TestApp) -> (String, String) {
    let entries = app.script.requests().pop().unwrap().entries;
    let [.., Entry::Tool { content: result, .. }, Entry::User(said)] = &entries[..] else { panic!("{entries:#?}") };
    (result.clone(), said.clone())
}

#[tokio::test]
async fn what_else_is_said_declines_the_question_and_is_heard_in_the_same_turn() {
    let app = TestApp::start().await;
    app.script([drops(), text("The other one, then.")]);
    let mut client = app.connect().await;
    client.say("tidy up").await;
    let asking = client.asked().await;
    assert_eq!(asking["words"]["others_decline"], true, "the question says so");
    client.send(says("no, the other table", "m2")).await;
    let frames = client.turn().await;
    let expected =
        ["approval", "turn queued", "turn queued", "turn running", "tool_result", "shown", "assistant", "turn completed"];
    assert_eq!(kinds(&frames), expected);
    assert_eq!((&frames[0]["state"], &frames[0]["channel"]), (&json!("denied"), &json!("instead")));
    let told = &frames[2];
    assert_eq!((&told["id"], &told["content"], &told["turn"]), (&json!("m2"), &json!("no, the other table"), &asking["turn"]));
    assert_eq!(of_type(&frames, "shown")["messages"], json!([told["message"]]));
    assert!(!results(&frames)[0].0);
    let (result, said) = seen(&app);
    assert_eq!(result, "The user refused this: they said something else instead, which follows.");
    assert!(said.ends_with("] no, the other table"), "{said}");
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 1, "nothing waits behind the approval");

    // Sent again it is the same message, whatever question waits by then.
    app.script([drops()]);
    client.say("tidy up again").await;
    client.asked().await;
    client.send(says("no, the other table", "m2")).await;
    assert_eq!(&client.until(|frame| frame["id"] == "m2").await.pop().unwrap(), told);
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1);
    app.script([text("Left.")]);
    client.send(says("no", "m3")).await;
    client.turn().await;
    // The same is true of a word that decided.
    app.script([drops()]);
    client.say("and again").await;
    client.asked().await;
    client.send(says("no", "m3")).await;
    client.until(|frame| frame["id"] == "m3").await;
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1);
    client.stop().await;
    client.turn().await;
    let log = level3::replay::turn(&app.store().owners(), TurnId(told["turn"].as_i64().unwrap())).await.unwrap().unwrap();
    let kinds: Vec<_> = log.events.iter().map(|event| event.event.kind()).collect();
    assert_eq!(kinds[5..9], ["approval_decided", "turn_resumed", "turn_steered", "turn_started"]);
    app.check_replay().await;
}

#[tokio::test]
async fn a_word_with_an_image_is_something_else_and_the_image_is_kept() {
    let app = TestApp::start().await;
    app.script([drops(), text("That table, then.")]);
    let mut client = app.connect().await;
    client.say("tidy up").await;
    client.asked().await;
    let image = json!({"media_type": "image/png", "data": crate::images::PNG});
    client.send(json!({"type": "message", "content": "CONFIRMAR", "id": "m2", "images": [image]})).await;
    let frames = client.turn().await;
    assert_eq!((&frames[0]["state"], &frames[0]["channel"]), (&json!("denied"), &json!("instead")));
    assert_eq!((&frames[2]["content"], frames[2]["images"].as_array().unwrap().len()), (&json!("CONFIRMAR"), 1));
    assert!(!results(&frames)[0].0, "nothing was dropped");
    assert_eq!(app.count("SELECT count(*) FROM attachments").await, 1);
}

#[tokio::test]
async fn said_to_another_server_it_declines_as_well_and_after_a_decision_it_is_a_message_like_any_other() {
    let app = TestApp::start().await;
    app.script([drops(), text("The other one, then."), drops()]);
    let mut here = app.connect().await;
    here.say("tidy up").await;
    here.asked().await;
    let other = app.beside().await;
    let mut there = other.connect().await;
    there.send(says("no, the other table", "m2")).await;
    let frames = here.turn().await;
    assert_eq!(of_type(&frames, "approval")["channel"], "instead");
    assert_eq!(seen(&app).0, "The user refused this: they said something else instead, which follows.");

    here.say("again").await;
    let asking = here.asked().await;
    app.script([text("Gone."), text("As you say.")]);
    here.approve(&asking).await;
    here.until(|frame| frame["type"] == "approval" && frame["state"] == "approved").await;
    there.send(says("no, the other table", "m4")).await;
    let frames = here.turn().await;
    assert!(results(&frames)[0].0, "it was allowed before: {frames:#?}");
    assert_eq!(of_type(&here.turn().await, "assistant")["content"], "As you say.");
    app.check_replay().await;
}

#[tokio::test]
async fn a_profile_that_is_not_talked_over_lets_messages_queue() {
    let builder = Profiles::default().get("builder").unwrap();
    let operator = Profile { name: "operator", talked_over: false, ..(*builder).clone() };
    let app = TestApp::with_profile(operator).await;
    app.script([drops()]);
    let mut client = app.connect().await;
    client.send(json!({"type": "message", "content": "tidy up", "profile": "operator"})).await;
    let asking = client.asked().await;
    assert_eq!(asking["words"].get("others_decline"), None);
    client.send(json!({"type": "message", "content": "and then wash up", "profile": "operator"})).await;
    let queued = client.until(|frame| frame["type"] == "turn").await.pop().unwrap();
    assert_eq!((&queued["state"], &queued["origin"]), (&json!("queued"), &json!("message")));
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1);
    app.script([text("Tidy."), text("Washed up.")]);
    client.send(json!({"type": "message", "content": "CONFIRMAR", "profile": "operator"})).await;
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "approval")["channel"], "words");
    assert_eq!(of_type(&client.turn().await, "assistant")["content"], "Washed up.");
    app.check_replay().await;
}

/// A model that asks for a statement, and answers once it knows the outcome.
async fn model() -> ModelServer {
    ModelServer::start(|number, _| match number {
        0 => json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {
            "name": "execute_sql", "arguments": json!({ "query": DROP }).to_string(),
        }}]}),
        _ => json!({"role": "assistant", "content": "The other one, then."}),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_or_after_the_commit_both_have_happened_or_neither() {
    for (point, decided) in [("mid-decision:abort", false), ("after-steer:abort", true)] {
        let model = model().await;
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let base_url = model.base_url();
        let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
        let dying: Vec<_> = settings.iter().copied().chain([("LEVEL3_FAILPOINT", point)]).collect();
        let mut server = Server::start(&data, &dying).await;
        let mut client = Client::connect(server.address).await;
        client.say("tidy up").await;
        let asking = client.asked().await;
        client.send(says("no, the other table", "m2")).await;
        assert_eq!(server.exit_code().await, None, "killed by a signal");

        let server = Server::start(&data, &settings).await;
        let mut client = Client::connect(server.address).await;
        client.resume(&asking["seq"]).await;
        if decided {
            let frames = client.until(|frame| frame["state"] == "completed").await;
            assert_eq!(of_type(&frames, "approval")["channel"], "instead", "it was true before the server died");
            client.send(says("no, the other table", "m2")).await;
            client.until(|frame| frame["id"] == "m2").await;
        } else {
            client.send(says("no, the other table", "m2")).await;
            let frames = client.until(|frame| frame["state"] == "completed").await;
            assert_eq!(of_type(&frames, "approval")["channel"], "instead", "the question was still there");
        }
        let requests = model.requests.lock().unwrap().clone();
        assert_eq!(requests.len(), 2, "{point}");
        let heard = requests[1]["messages"].to_string().matches("no, the other table").count();
        assert_eq!(heard, 1, "{point}");
        assert_eq!(server.terminate().await, Some(0));
    }
}
