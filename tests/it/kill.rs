//! kill -9 of the real process, with an embedded Postgres of its own.

use std::path::Path;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, PgConnection, raw_sql};

use crate::support::api::ask_at;
use crate::support::{Client, ModelServer, Peer, Server, administrator, asks_for, kinds, results};

fn sql(id: &str, query: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "execute_sql", "arguments": json!({"query": query}).to_string()}})
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_in_the_middle_of_three_tool_calls_loses_nothing_and_repeats_nothing() {
    // The second call takes long enough to be killed in. It does not matter whether it had begun
    // when the signal came.
    let model = ModelServer::start(|_, body| {
        let results = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
        match results {
            0 => json!({"role": "assistant", "tool_calls": [sql("a", "CREATE TABLE log (n int)")]}),
            1 => json!({"role": "assistant", "tool_calls": [
                sql("b", "INSERT INTO log VALUES (1)"),
                sql("c", "INSERT INTO log SELECT 2 WHERE (SELECT count(*) FROM generate_series(1, 2000) a, generate_series(1, 2000) b) > 0"),
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
    client.resume(&before.last().unwrap()["seq"]).await;
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
    let closed = client.closed().await;
    let code = server.exit_code().await;
    assert_eq!((closed, code), (Some(1012), Some(42)), "{}", server.log.lock().unwrap());
    let server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.resume(0).await;
    let frames = client.turn().await;
    assert!(frames.iter().any(|frame| frame["content"] == "I am back."), "{frames:#?}");
    assert_eq!(server.terminate().await, Some(0));
    assert_eq!(model.requests.lock().unwrap().len(), 2, "no request was made twice");
}

/// A model that writes capabilities one after the other and calls each. A person has to approve
/// each. Then a peer is told.
async fn writing(names: &[&str], peer: &Peer) -> ModelServer {
    let mut steps = Vec::new();
    for name in names {
        let code = format!(
            "export default async function {name}() {{ return (await fetch('{}/effect/{name}', {{method: 'POST'}})).status; }}",
            peer.host()
        );
        let written = json!({
            "name": name, "description": "Tells the peer.", "code": code, "grants": {"http": {"hosts": [peer.host()]}},
            "parameters_schema": {"type": "object", "properties": {}},
        });
        steps.extend([asks_for("write_capability", &written), asks_for(name, &json!({}))]);
    }
    let last = json!({"role": "assistant", "content": "all done"});
    ModelServer::start(move |number, _| steps.get(number).unwrap_or(&last).clone()).await
}

/// The program on this data folder, with this model and this peer.
async fn started(data: &Path, model: &ModelServer, peer: &Peer) -> Server {
    let (base_url, allowed) = (model.base_url(), peer.address.to_string());
    Server::start(data, &[("LLM_BASE_URL", &base_url), ("LLM_MODEL", "scripted"), ("LEVEL3_EGRESS_ALLOW", &allowed)]).await
}

async fn api(server: &Server, method: Method, path: &str) -> (u16, Value) {
    let body = (method == Method::POST).then(|| json!({}));
    ask_at(&format!("http://{}/api/{path}", server.address), method, body).await
}

/// The one approval that waits, as the HTTP interface lists it.
async fn waiting(server: &Server) -> Value {
    let (status, listed) = api(server, Method::GET, "approvals?state=pending").await;
    assert_eq!((status, listed["approvals"].as_array().unwrap().len()), (200, 1), "{listed}");
    listed["approvals"][0].clone()
}

/// Frames from the beginning up to the one that asks for the `number`th time, from 1.
async fn asked_again(client: &mut Client, number: usize) -> Value {
    client.resume(0).await;
    let mut asking = Value::Null;
    for _ in 0..number {
        asking = client.asked().await;
    }
    asking
}

/// All frames of the conversation, up to the end of its one turn.
async fn whole(server: &Server) -> Vec<Value> {
    let mut client = Client::connect(server.address).await;
    client.resume(0).await;
    client.turn().await
}

/// Every capability was installed once and called once, and the model was asked once for each step.
async fn each_happened_once(names: &[&str], server: &Server, model: &ModelServer, peer: &Peer) {
    let told = results(&whole(server).await);
    assert!(told.len() == 2 * names.len() && told.iter().all(|(ok, _)| *ok), "{told:#?}");
    let paths: Vec<_> = peer.arrived().into_iter().map(|arrived| arrived.path).collect();
    assert_eq!(paths, names.iter().map(|name| format!("/effect/{name}")).collect::<Vec<_>>());
    let (_, listed) = api(server, Method::GET, "capabilities").await;
    let versions: Vec<_> = listed["capabilities"].as_array().unwrap().iter().map(|one| (&one["name"], &one["version"])).collect();
    let wanted: Vec<_> = names.iter().map(|name| (json!(name), json!(1))).collect();
    assert_eq!(versions, wanted.iter().map(|(name, version)| (name, version)).collect::<Vec<_>>());
    assert_eq!(model.requests.lock().unwrap().len(), 2 * names.len() + 1, "no step was paid for twice");
    let (_, listed) = api(server, Method::GET, "approvals").await;
    for approval in listed["approvals"].as_array().unwrap() {
        assert!(approval["state"] == "approved" && approval["used_at"].is_string(), "{approval}");
        let (status, refused) = api(server, Method::POST, &format!("approvals/{}/approve", approval["id"])).await;
        assert_eq!(status, 409, "an approval is good for one decision: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_person_survives_kill_9_and_is_decided_afterwards_by_a_request_or_a_word() {
    let (names, peer) = (["first", "second"], Peer::start().await);
    let model = writing(&names, &peer).await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");

    let server = started(&data, &model, &peer).await;
    let mut client = Client::connect(server.address).await;
    client.say("tell the peer twice").await;
    let shown = asked_again(&mut client, 1).await;
    let before = waiting(&server).await;
    server.kill().await;

    let server = started(&data, &model, &peer).await;
    assert_eq!(waiting(&server).await, before, "nothing about it has changed");
    let mut client = Client::connect(server.address).await;
    assert_eq!(asked_again(&mut client, 1).await, shown, "and it is shown as it was");
    assert_eq!((&shown["id"], shown["tool"].as_str()), (&before["id"], Some("write_capability")));
    let (_, listed) = api(&server, Method::GET, "capabilities").await;
    assert!(listed["capabilities"] == json!([]) && peer.arrived().is_empty(), "nothing happened yet: {listed}");
    let (status, decided) = api(&server, Method::POST, &format!("approvals/{}/approve", before["id"])).await;
    assert_eq!((status, &decided["state"], &decided["channel"]), (200, &json!("approved"), &json!("api")));
    // The turn goes on up to its next question.
    let shown = client.asked().await;
    assert_eq!(peer.arrived().len(), 1);
    server.kill().await;

    let server = started(&data, &model, &peer).await;
    assert_eq!(waiting(&server).await["id"], shown["id"]);
    let mut client = Client::connect(server.address).await;
    assert_eq!(asked_again(&mut client, 2).await, shown);
    client.say("CONFIRMAR").await;
    let frames = client.turn().await;
    let decided = frames.iter().find(|frame| frame["type"] == "approval").unwrap();
    assert_eq!((&decided["id"], &decided["state"], &decided["channel"]), (&shown["id"], &json!("approved"), &json!("words")));
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    each_happened_once(&names, &server, &model, &peer).await;
    assert_eq!(server.terminate().await, Some(0));
}

/// A lock that allows every read and no installing, for as long as the connection lives.
async fn hold_back_installing(data: &Path) -> PgConnection {
    let mut holding = administrator(data, "level3").connect().await.unwrap();
    raw_sql("BEGIN; LOCK TABLE level3.capability_versions IN SHARE MODE").execute(&mut holding).await.unwrap();
    holding
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_approved_a_moment_before_kill_9_happens_after_it_and_once() {
    let (names, peer) = (["only"], Peer::start().await);
    let model = writing(&names, &peer).await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");

    let server = started(&data, &model, &peer).await;
    let mut client = Client::connect(server.address).await;
    client.say("tell the peer").await;
    asked_again(&mut client, 1).await;
    let approval = waiting(&server).await;
    let holding = hold_back_installing(&data).await;
    let (status, decided) = api(&server, Method::POST, &format!("approvals/{}/approve", approval["id"])).await;
    assert_eq!((status, &decided["state"], &decided["used_at"]), (200, &json!("approved"), &Value::Null));
    server.kill().await;
    drop(holding);

    let server = started(&data, &model, &peer).await;
    assert_eq!(kinds(&whole(&server).await).last().unwrap(), "turn completed");
    each_happened_once(&names, &server, &model, &peer).await;
    assert_eq!(server.terminate().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_in_the_middle_of_a_call_keeps_its_minutes_and_its_question() {
    const NOBODY: &str = "http://127.0.0.1:9";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    // The tour plays Law.
    let settings = [("OLLAMA_BASE_URL", NOBODY), ("LMSTUDIO_BASE_URL", NOBODY), ("LLAMACPP_BASE_URL", NOBODY)];
    let ask = async |server: &Server, method: Method, path: &str, body: Value| {
        ask_at(&format!("http://{}/api/voice{path}", server.address), method, Some(body)).await
    };
    let begin = async |server: &Server| {
        let (status, begun) = ask(server, Method::POST, "/calls", json!({"adapter": "browser"})).await;
        assert_eq!(status, 200, "{begun}");
        let call = begun["call"].as_i64().unwrap();
        assert_eq!(ask(server, Method::POST, &format!("/calls/{call}/beat"), json!({})).await.1["state"], "active");
        (call, begun["conversation"].clone())
    };
    let say = |words: &str, call: i64| json!({"type": "message", "content": words, "profile": "law", "call": call});

    let server = Server::start(&data, &settings).await;
    let began = Instant::now();
    let (mut talking, law) = begin(&server).await;
    let connected = Instant::now();
    let mut client = Client::connect(server.address).await;
    client.send(say("add buy milk", talking)).await;
    assert_eq!(client.asked().await["tool"], "createTask");
    assert_eq!(ask(&server, Method::POST, &format!("/calls/{talking}/beat"), json!({})).await.0, 200);
    let heard_of = connected.elapsed();
    server.kill().await;

    let server = Server::start(&data, &settings).await;
    // The page beats again: the call goes on, or it was silent for too long and the page begins it
    // anew, once.
    let (status, told) = ask(&server, Method::POST, &format!("/calls/{talking}/beat"), json!({})).await;
    if status != 200 {
        assert_eq!((status, &told["error"]), (410, &json!("Call ended")));
        (talking, _) = begin(&server).await;
    }
    let mut client = Client::connect(server.address).await;
    client.send(json!({"type": "resume", "after": 0, "conversation": law})).await;
    client.asked().await;
    client.send(say("go ahead", talking)).await;
    client.turn().await;
    let (_, waiting) = ask_at(&format!("http://{}/api/approvals", server.address), Method::GET, None).await;
    let milk = waiting["approvals"]
        .as_array()
        .unwrap()
        .iter()
        .find(|approval| approval["shown"]["tool"] == "createTask")
        .unwrap()
        .clone();
    assert_eq!((&milk["state"], &milk["channel"]), (&json!("approved"), &json!("voice")), "{milk}");
    ask(&server, Method::DELETE, &format!("/calls/{talking}"), json!({})).await;
    let (_, line) = ask(&server, Method::GET, "", Value::Null).await;
    let counted = Duration::from_secs(3600 - line["seconds_left"].as_u64().unwrap());
    assert!(
        counted + Duration::from_secs(10) >= heard_of && counted <= began.elapsed() + Duration::from_secs(1),
        "{counted:?} of {heard_of:?}"
    );
    assert_eq!(server.terminate().await, Some(0));
}
