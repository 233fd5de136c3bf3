//! The words that a person says while a turn runs: the model sees them at its next step, and they
//! are never lost.

use std::sync::Arc;

use level3::model::{Entry, ModelErrorKind};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Client, ModelServer, Reply, Server, TestApp, call, calls, kinds, of_type, text};

fn hold(reply: Reply) -> (Arc<Notify>, Reply) {
    let signal = Arc::new(Notify::new());
    (Arc::clone(&signal), Reply::After(signal, Box::new(reply)))
}

fn steer(content: &str, id: &str) -> Value {
    json!({"type": "message", "content": content, "id": id, "steer": true})
}

/// The entries of a request, each as its kind and the end of its text.
fn shown(entries: &[Entry]) -> Vec<String> {
    let told = |entry: &Entry| match entry {
        Entry::System(_) => "system".to_owned(),
        Entry::User(text) | Entry::UserWithImages { content: text, .. } => {
            format!("user {}", text.rsplit("] ").next().unwrap_or_default())
        }
        Entry::Assistant { content, calls } if calls.is_empty() => format!("assistant {content}"),
        Entry::Assistant { calls, .. } => format!("calls {}", calls.len()),
        Entry::Tool { content, .. } => format!("tool {content}"),
    };
    entries.iter().map(told).collect()
}

#[tokio::test]
async fn what_is_said_into_a_turn_is_seen_at_its_next_step_and_stands_behind_the_one_it_came_during() {
    let app = TestApp::start().await;
    let select = |n: i32| ("execute_sql", json!({"query": format!("SELECT {n} AS n")}));
    let (signal, held) = hold(calls(&[select(1), select(2)]));
    app.script([held, text("As you wish.")]);
    let mut client = app.connect().await;
    client.say("count").await;
    app.script.asked(1).await;
    client.send(steer("in German please", "s1")).await;
    let frames = client.until(|frame| frame["id"] == "s1").await;
    let told = frames.last().unwrap();
    assert_eq!(
        (&told["type"], &told["state"], &told["content"], &told["turn"]),
        (&json!("turn"), &json!("running"), &json!("in German please"), &frames[0]["turn"])
    );
    let message = told["message"].clone();
    signal.notify_one();
    let frames = client.turn().await;
    let expected =
        ["tool_call", "tool_call", "tool_result", "tool_result", "shown", "assistant", "turn completed"].map(str::to_owned);
    assert_eq!(kinds(&frames), expected);
    assert_eq!((&of_type(&frames, "shown")["step"], &of_type(&frames, "shown")["messages"]), (&json!(2), &json!([message])));
    let requests = app.script.requests();
    let wanted = ["system", "user count", "calls 2", r#"tool [{"n":1}]"#, r#"tool [{"n":2}]"#, "user in German please"];
    assert_eq!(shown(&requests[1].entries), wanted);
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 1);

    // The message stays at its place when the next turn looks back.
    app.script([text("Yes.")]);
    client.ask("and now?").await;
    let before = shown(&app.script.requests()[2].entries);
    assert_eq!(before[..6], wanted);
    assert_eq!(before[6..], ["assistant As you wish.", "user and now?"]);
    app.check_replay().await;
}

#[tokio::test]
async fn an_answer_that_was_to_be_the_last_is_not_while_something_waits_to_be_seen() {
    let app = TestApp::start().await;
    let (signal, held) = hold(text("Done, I think."));
    app.script([held, text("Now with that.")]);
    let mut client = app.connect().await;
    client.say("do it").await;
    app.script.asked(1).await;
    client.send(steer("one more thing", "s1")).await;
    client.send(steer("and another", "s2")).await;
    client.until(|frame| frame["id"] == "s2").await;
    signal.notify_one();
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["assistant", "shown", "assistant", "turn completed"]);
    assert_eq!((&frames[0]["final"], &frames[2]["final"]), (&json!(false), &json!(true)));
    let wanted = ["system", "user do it", "assistant Done, I think.", "user one more thing", "user and another"];
    assert_eq!(shown(&app.script.requests()[1].entries), wanted);
    app.check_replay().await;
}

#[tokio::test]
async fn the_same_message_said_again_into_a_turn_is_the_same_message() {
    let app = TestApp::start().await;
    let (signal, held) = hold(text("First."));
    app.script([held, text("Second.")]);
    let mut client = app.connect().await;
    client.say("go").await;
    app.script.asked(1).await;
    client.send(steer("look here", "s1")).await;
    let first = client.until(|frame| frame["id"] == "s1").await.pop().unwrap();
    client.send(steer("look here", "s1")).await;
    let again = client.until(|frame| frame["id"] == "s1").await.pop().unwrap();
    assert_eq!(first, again);
    signal.notify_one();
    client.turn().await;
    // The same holds when the turn is long over, and when it is sent as an ordinary message.
    client.send(json!({"type": "message", "content": "look here", "id": "s1"})).await;
    assert_eq!(client.until(|frame| frame["id"] == "s1").await.pop().unwrap(), first);
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE role = 'user'").await, 2);
    app.check_replay().await;
}

#[tokio::test]
async fn where_no_turn_runs_a_message_that_steers_is_one_like_any_other() {
    let app = TestApp::start().await;
    app.script([text("Hello.")]);
    let mut client = app.connect().await;
    client.send(steer("hi", "s1")).await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["turn queued", "turn running", "assistant", "turn completed"]);
    assert_eq!((&frames[0]["id"], frames[0].get("message")), (&json!("s1"), None));
}

#[tokio::test]
async fn without_steer_a_message_waits_its_turn_as_ever() {
    let app = TestApp::start().await;
    let (signal, held) = hold(text("First."));
    app.script([held, text("Second.")]);
    let mut client = app.connect().await;
    client.say("one").await;
    app.script.asked(1).await;
    client.send(json!({"type": "message", "content": "two", "id": "m2"})).await;
    let queued = client.until(|frame| frame["id"] == "m2").await.pop().unwrap();
    assert_eq!((&queued["state"], &queued["origin"]), (&json!("queued"), &json!("message")));
    signal.notify_one();
    client.turn().await;
    client.turn().await;
    assert_eq!(shown(&app.script.requests()[1].entries), ["system", "user one", "assistant First.", "user two"]);
}

#[tokio::test]
async fn what_a_turn_never_saw_becomes_a_turn_of_its_own_when_the_limit_ends_it() {
    let app = TestApp::with(&[("MAX_TOOL_ITERATIONS", "1")]).await;
    let (signal, held) = hold(call("execute_sql", json!({"query": "SELECT 1"})));
    app.script([held, text("That I can do.")]);
    let mut client = app.connect().await;
    client.say("loop").await;
    app.script.asked(1).await;
    client.send(steer("stop looping", "s1")).await;
    let steered = client.until(|frame| frame["id"] == "s1").await.pop().unwrap();
    signal.notify_one();
    let frames = client.turn().await;
    assert!(of_type(&frames, "assistant")["content"].as_str().unwrap().contains("MAX_TOOL_ITERATIONS"), "{frames:#?}");
    let queued = frames.iter().find(|frame| frame["state"] == "queued").expect("a turn of its own");
    assert_eq!(
        (&queued["id"], &queued["moved"], &queued["content"]),
        (&json!("s1"), &steered["message"], &json!("stop looping"))
    );
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], "That I can do.");
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE content = 'stop looping'").await, 1);
    // The client sends it again: the server still knows it.
    client.send(steer("stop looping", "s1")).await;
    assert_eq!(client.until(|frame| frame["id"] == "s1").await.pop().unwrap()["turn"], queued["turn"]);
    app.check_replay().await;
}

#[tokio::test]
async fn what_a_failed_turn_did_not_answer_becomes_a_turn_of_its_own() {
    let app = TestApp::start().await;
    let (signal, held) = hold(text("Wait."));
    let down = Reply::Fail(ModelErrorKind::Unreachable, "nobody answers".into());
    // The second request shows the message, and fails.
    app.script([held, down, text("Here I am.")]);
    let mut client = app.connect().await;
    client.say("go").await;
    app.script.asked(1).await;
    client.send(steer("hurry", "s1")).await;
    client.until(|frame| frame["id"] == "s1").await;
    signal.notify_one();
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["assistant", "shown", "turn queued", "error"]);
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], "Here I am.");
    let last = shown(&app.script.requests()[2].entries).pop();
    assert_eq!(last.as_deref(), Some("user hurry"));
    app.check_replay().await;
}

#[tokio::test]
async fn stop_drops_what_was_said_into_the_turn_like_what_waits_but_keeps_it_on_record() {
    let app = TestApp::start().await;
    app.script([Reply::Hang("I am thinking about".into())]);
    let mut client = app.connect().await;
    client.say("think").await;
    client.until(|frame| frame["type"] == "delta").await;
    client.send(steer("faster", "s1")).await;
    client.until(|frame| frame["id"] == "s1").await;
    client.stop().await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["assistant", "turn aborted"]);
    assert_eq!(app.store().open_turns().await.unwrap(), 0);
    app.script([text("fresh")]);
    client.ask("again").await;
    let wanted = ["system", "user think", "assistant I am thinking about", "user faster"];
    let seen = shown(&app.script.requests()[1].entries);
    assert_eq!(seen[..4], wanted);
    app.check_replay().await;
}

#[tokio::test]
async fn said_into_a_turn_that_waits_for_a_person_a_word_decides_and_anything_else_declines() {
    let app = TestApp::start().await;
    let written = json!({
        "name": "peek", "description": "Looks.", "code": "export default function peek() { return 1; }",
        "parameters_schema": {"type": "object", "properties": {}}, "grants": {"http": {"hosts": ["api.example.com"]}},
    });
    app.script([call("write_capability", written.clone()), call("write_capability", written), text("As you like.")]);
    let mut client = app.connect().await;
    client.say("write it").await;
    let asks = |frame: &Value| frame["type"] == "approval" && frame["state"] == "pending";
    client.until(asks).await;
    client.send(steer("call it peek", "s1")).await;
    let frames = client.until(asks).await;
    let decided = of_type(&frames, "approval");
    assert_eq!((&decided["state"], &decided["channel"]), (&json!("denied"), &json!("instead")));
    assert_eq!(shown(&app.script.requests()[1].entries).last().unwrap(), "user call it peek");
    client.send(steer("CONFIRMAR", "s2")).await;
    let frames = client.turn().await;
    let decided = of_type(&frames, "approval");
    assert_eq!((&decided["state"], &decided["channel"]), (&json!("approved"), &json!("words")));
    app.check_replay().await;
}

#[tokio::test]
async fn the_log_of_the_turn_and_its_replay_tell_what_was_said_into_it() {
    let app = TestApp::start().await;
    let (signal, held) = hold(text("First."));
    app.script([held, text("Second.")]);
    let mut client = app.connect().await;
    client.say("go").await;
    app.script.asked(1).await;
    client.send(steer("look here", "s1")).await;
    client.until(|frame| frame["id"] == "s1").await;
    signal.notify_one();
    let frames = client.turn().await;
    let turn = level3::domain::TurnId(frames[0]["turn"].as_i64().unwrap());
    let replayed = level3::replay::turn(&app.store().owners(), turn).await.unwrap().unwrap();
    let told: Vec<_> = replayed.events.iter().map(|event| event.event.kind()).collect();
    let wanted =
        ["turn_queued", "turn_started", "turn_steered", "step_answered", "steering_shown", "step_answered", "turn_ended"];
    assert_eq!(told, wanted);
}

#[tokio::test]
async fn a_secret_that_is_said_into_a_turn_is_not_kept() {
    let app = TestApp::start().await;
    let (status, _) =
        crate::support::api::ask(&app, reqwest::Method::PUT, "/api/secrets/KEY", Some(json!({"value": "sk-hush-1234"}))).await;
    assert!((200..300).contains(&status));
    let (signal, held) = hold(text("First."));
    app.script([held, text("Second.")]);
    let mut client = app.connect().await;
    client.say("go").await;
    app.script.asked(1).await;
    client.send(steer("it is sk-hush-1234", "s1")).await;
    let told = client.until(|frame| frame["id"] == "s1").await.pop().unwrap();
    assert!(!told["content"].as_str().unwrap().contains("sk-hush-1234"), "{told}");
    signal.notify_one();
    client.turn().await;
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE content LIKE '%hush%'").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_accepting_and_the_next_step_it_is_seen_after_the_restart() {
    let model = ModelServer::start(|number, _| match number {
        0 => json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {
            "name": "execute_sql",
            "arguments": json!({"query": "SELECT count(*) FROM generate_series(1, 4000) a, generate_series(1, 4000) b"}).to_string(),
        }}]}),
        _ => json!({"role": "assistant", "content": "I have seen it."}),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
    // The process dies right after the commit, before it tells anybody.
    let dying: Vec<_> = settings.iter().copied().chain([("LEVEL3_FAILPOINT", "after-steer:abort")]).collect();
    let mut server = Server::start(&data, &dying).await;
    let mut client = Client::connect(server.address).await;
    client.say("count").await;
    let before = client.until(|frame| frame["type"] == "tool_call").await;
    client.send(steer("be quick", "s1")).await;
    assert_eq!(server.exit_code().await, None, "killed by a signal");

    let server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.resume(&before.last().unwrap()["seq"]).await;
    client.send(steer("be quick", "s1")).await;
    let mut frames = client.turn().await;
    if frames.iter().filter(|frame| frame["id"] == "s1").count() < 2 {
        frames.extend(client.until(|frame| frame["id"] == "s1").await);
    }
    let turns: Vec<_> =
        frames.iter().filter(|frame| frame["id"] == "s1").map(|frame| (&frame["turn"], &frame["message"])).collect();
    assert!(turns.windows(2).all(|pair| pair[0] == pair[1]) && turns[0].0 == &before[0]["turn"], "{turns:?}");
    let requests = model.requests.lock().unwrap().clone();
    assert_eq!(requests.len(), 2);
    let last = requests[1]["messages"].as_array().unwrap().last().unwrap();
    assert!(last["content"].as_str().unwrap().ends_with("be quick"), "{last}");
    assert_eq!(server.terminate().await, Some(0));
}
