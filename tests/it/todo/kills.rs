//! The server dies in the middle: nothing is paid for, made or told twice.

use chrono::{SecondsFormat, TimeDelta, Utc};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::ConnectOptions;

use super::{STEPS, Talk, breakdown, message, result};
use crate::support::api::ask_at;
use crate::support::{Client, ModelServer, Reply, Server, administrator, asks_for, text};

#[tokio::test]
async fn a_breakdown_is_asked_for_once_although_the_server_dies_before_the_task_is_made() {
    let mut talk = Talk::start().await;
    talk.asks("createTask", json!({"description": "dinner", "confirmed": false})).await;
    talk.app.script([breakdown(&STEPS), Reply::Hang(String::new())]);
    talk.say("yes").await;
    // The task is made, and the server dies while the model is about to tell of it.
    talk.app.script.asked(3).await;
    talk.app.crash().await;
    talk.app.script.forget();
    talk.app.script([text("I see.")]);
    talk.app.start_again().await;
    talk.app.run_until_idle().await;
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 1);
    assert_eq!(talk.count("SELECT count(*) FROM reviews").await, 1);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_yes_survives_a_crash_and_runs_once() {
    let mut talk = Talk::start().await;
    talk.asks("createTask", json!({"description": "dinner", "confirmed": false})).await;
    talk.app.script([Reply::Hang(String::new())]);
    talk.say("yes").await;
    // The model is breaking it down.
    talk.app.script.asked(2).await;
    talk.app.crash().await;
    talk.app.script.forget();
    talk.app.script([breakdown(&STEPS), text("I see.")]);
    talk.app.start_again().await;
    talk.app.run_until_idle().await;
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 1);
    assert_eq!(talk.count("SELECT count(*) FROM approvals WHERE used_at IS NOT NULL").await, 1);
    talk.app.check_replay().await;
}

/// The end of a story with real processes: all follows from events, and the last one ends in good
/// order.
async fn is_clean(server: Server) {
    let (_, checked) = ask_at(&format!("http://{}/api/replay/check", server.address), Method::GET, None).await;
    assert_eq!(checked["clean"], true, "{checked}");
    assert_eq!(server.terminate().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_a_breakdown_and_its_task_it_pays_for_one_and_makes_one() {
    let model = ModelServer::start(|_, body| {
        let messages = body["messages"].as_array().unwrap();
        if body["tools"].as_array().is_none_or(Vec::is_empty) {
            return json!({"role": "assistant", "content": json!({ "subtasks": STEPS }).to_string()});
        }
        if messages.iter().any(|message| message["role"] == "tool") {
            return json!({"role": "assistant", "content": "I see."});
        }
        asks_for("createTask", &json!({"description": "dinner", "confirmed": true}))
    })
    .await;
    let place = tempfile::tempdir().unwrap();
    let (data, base_url) = (place.path().join("data"), model.base_url());
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
    let dying = [settings[0], settings[1], ("LEVEL3_FAILPOINT", "after-breakdown:abort")];

    let mut server = Server::start(&data, &dying).await;
    let mut client = Client::connect(server.address).await;
    client.send(json!({"type": "message", "content": "add dinner", "profile": "lea"})).await;
    let question = client.asked().await;
    client.send(json!({"type": "message", "content": "yes", "profile": "lea"})).await;
    assert_eq!(server.exit_code().await, None, "killed by a signal");

    let server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.send(json!({"type": "resume", "after": question["seq"], "conversation": question["conversation"]})).await;
    let made = result(&client.turn().await);
    assert_eq!(message(&made), "Created the task “dinner” with 3 subtasks: invite, shop, cook.");
    let broken_down = |body: &&Value| body["tools"].as_array().is_none_or(Vec::is_empty);
    assert_eq!(model.requests.lock().unwrap().iter().filter(broken_down).count(), 1);
    let mut behind = administrator(&data, "level3").connect().await.unwrap();
    let tasks =
        "SELECT (SELECT count(*) FROM level3.tasks) * 10 + (SELECT count(*) FROM level3.approvals WHERE used_at IS NOT NULL)";
    assert_eq!(sqlx::query_scalar::<_, i64>(tasks).fetch_one(&mut behind).await.unwrap(), 11);
    drop(behind);
    is_clean(server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_reminds_it_reminds_after_the_restart_and_once() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let mut server = Server::start(&data, &[("LEVEL3_FAILPOINT", "mid-reminder:abort")]).await;
    let mut client = Client::connect(server.address).await;
    client.follow().await;
    let order = async |path: &str, body: Value| {
        let (status, queued) = ask_at(&format!("http://{}{path}", server.address), Method::POST, Some(body)).await;
        assert_eq!(status, 202, "{queued}");
    };
    order("/api/tasks", json!({"title": "Dinner"})).await;
    let before = client.turn().await.pop().unwrap();
    // The process dies at that time by its own clock.
    let at = (Utc::now() + TimeDelta::seconds(4)).to_rfc3339_opts(SecondsFormat::Secs, true);
    order("/api/assistant/functions/setReminder", json!({"taskName": "dinner", "at": at})).await;
    assert_eq!(server.exit_code().await, None, "killed by a signal");

    let server = Server::start(&data, &[]).await;
    let mut client = Client::connect(server.address).await;
    client.resume(&before["seq"]).await;
    let given = client.until(|frame| frame["type"] == "reminder").await.pop().unwrap();
    assert!(given["content"].as_str().unwrap().ends_with(": Dinner"), "{given}");
    let mut behind = administrator(&data, "level3").connect().await.unwrap();
    let given = "SELECT count(*) FROM level3.events WHERE kind = 'reminder_given'";
    assert_eq!(sqlx::query_scalar::<_, i64>(given).fetch_one(&mut behind).await.unwrap(), 1);
    drop(behind);
    is_clean(server).await;
}
