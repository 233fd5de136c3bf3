//! kill -9 of the real process, with an embedded Postgres of its own.

use serde_json::{Value, json};

use crate::support::{Client, ModelServer, Server, kinds};

fn sql(id: &str, query: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "execute_sql", "arguments": json!({"query": query}).to_string()}})
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_in_the_middle_of_three_tool_calls_loses_nothing_and_repeats_nothing() {
    // The second call takes long enough to be killed in; whether it had begun when the signal came does not matter.
    let model = ModelServer::start(|_, body| {
        let results = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
        match results {
            0 => json!({"role": "assistant", "tool_calls": [sql("a", "CREATE TABLE log (n int)")]}),
            1 => json!({"role": "assistant", "tool_calls": [
                sql("b", "INSERT INTO log VALUES (1)"),
                sql("c", "INSERT INTO log SELECT 2 FROM (SELECT count(*) FROM generate_series(1, 4000000)) AS slow"),
                sql("d", "INSERT INTO log VALUES (3)"),
            ]}),
            4 => json!({"role": "assistant", "tool_calls": [sql("e", "SELECT n FROM log ORDER BY n")]}),
            _ => json!({"role": "assistant", "content": "all three are there"}),
        }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];

    let server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.send(json!({"type": "message", "content": "write three", "id": "m1"})).await;
    let before = client.until(|frame| frame["type"] == "tool_result" && frame["call"] == 2).await;
    server.kill().await;

    let server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.send(json!({"type": "resume", "after": before.last().unwrap()["seq"]})).await;
    let after = client.turn().await;
    assert_eq!(kinds(&after).last().unwrap(), "turn completed");
    let all: Vec<_> = before.iter().chain(&after).filter(|frame| frame.get("seq").is_some()).collect();
    let numbers: Vec<_> = all.iter().map(|frame| frame["seq"].as_i64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "no frame twice, none out of order: {numbers:?}");
    let results: Vec<_> = all.iter().filter(|frame| frame["type"] == "tool_result").map(|frame| &frame["result"]).collect();
    assert_eq!(results.len(), 5);
    assert_eq!(results[4], r#"[{"n":1},{"n":2},{"n":3}]"#);
    // A message sent again after the crash is still the same turn.
    client.send(json!({"type": "message", "content": "write three", "id": "m1"})).await;
    assert_eq!(client.frame().await["turn"], before[0]["turn"]);
    assert_eq!(server.terminate().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_restart_exits_with_42_and_the_next_process_ends_the_turn() {
    let model = ModelServer::start(|_, body| match body["messages"].as_array().unwrap().last().unwrap()["role"].as_str() {
        Some("tool") => json!({"role": "assistant", "content": "I am back."}),
        _ => json!({"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "restart", "arguments": "{\"mode\":\"full\"}"}}]}),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
    let mut server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.say("restart").await;
    assert_eq!(client.closed().await, Some(1012));
    assert_eq!(server.exit_code().await, Some(42));
    let server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.send(json!({"type": "resume", "after": 0})).await;
    let frames = client.turn().await;
    assert!(frames.iter().any(|frame| frame["content"] == "I am back."), "{frames:#?}");
    assert_eq!(server.terminate().await, Some(0));
    assert_eq!(model.requests.lock().unwrap().len(), 2, "no request was made twice");
}
