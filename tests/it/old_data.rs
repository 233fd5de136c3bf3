//! Data of an older version: its backup is restored, the migrations meet its rows, and the server
//! goes on with it. The file was made by commit `106a0f0`, before profiles, wake-ups and typed
//! refusals: two capabilities, one of them with a power that a person approved; a statement whose
//! row can be put back, a failed one, one that was denied and one that waits; tasks, a secret, 76
//! events.

use std::path::Path;

use chrono::{DateTime, Utc};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::{ask_at, level3_with};
use crate::support::{Client, ModelServer, Server, asks_for, kinds, results};

const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/old_data/2026-11-22.l3");

async fn run(settings: &[(&str, &str)], arguments: &[&str]) {
    let ran = level3_with(settings, arguments, "").await;
    assert_eq!(ran.code, 0, "{ran:?}");
}

async fn api(server: &Server, method: Method, path: &str) -> Value {
    let body = (method == Method::POST).then(|| json!({}));
    let (status, told) = ask_at(&format!("http://{}/api/{path}", server.address), method, body).await;
    assert_eq!(status, 200, "{path}: {told}");
    told
}

/// Every table is what the events say.
async fn is_clean(server: &Server) {
    run(&[("LEVEL3_LISTEN", &server.address.to_string())], &["replay", "--check"]).await;
}

/// The old version's data on a server whose clock shows the afternoon they were made in: a question
/// of theirs waits for a day.
#[expect(clippy::disallowed_methods, reason = "the server's clock is turned from what it shows")]
async fn started(data: &Path, model: &ModelServer) -> Server {
    run(&[("LEVEL3_DATA_DIR", data.to_str().unwrap())], &["restore", OLD]).await;
    let made: DateTime<Utc> = "2026-11-22T16:00:00Z".parse().unwrap();
    let shift = (made - Utc::now()).num_seconds().to_string();
    let settings = [("LLM_BASE_URL", &*model.base_url()), ("LLM_MODEL", "scripted"), ("LEVEL3_CLOCK_SHIFT", &shift)];
    Server::start(data, &settings).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_older_version_left_is_all_there_and_goes_on() {
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let steps = [
        said("The notes are gone."),
        asks_for("adder", &json!({"a": 20, "b": 3})),
        asks_for("counter", &json!({"word": "drei"})),
        asks_for("execute_sql", &json!({"query": "SELECT count(*)::int AS n FROM notes"})),
        said("All is there."),
    ];
    let model = ModelServer::start(move |number, _| steps[number].clone()).await;
    let place = tempfile::tempdir().unwrap();
    let server = started(&place.path().join("data"), &model).await;
    is_clean(&server).await;
    assert_eq!(api(&server, Method::GET, "secrets").await["secrets"][0]["readable"], true);

    // Rows that the old version kept are put back now.
    let kept = api(&server, Method::GET, "kept").await;
    assert_eq!((&kept["kept"][0]["call"], &kept["kept"][0]["rows"]), (&json!(5), &json!(1)));
    assert_eq!(api(&server, Method::POST, "calls/5/undo").await["rows"], 1);

    // A person decides now what the old version asked, and its turn goes on.
    let waiting = api(&server, Method::GET, "approvals?state=pending").await;
    let [question] = waiting["approvals"].as_array().unwrap().as_slice() else { panic!("{waiting}") };
    assert_eq!(question["shown"]["arguments"]["query"], "TRUNCATE notes");
    api(&server, Method::POST, &format!("approvals/{}/approve", question["id"])).await;
    let turn = api(&server, Method::GET, &format!("turns/{}?wait=true", question["turn"])).await;
    assert_eq!(turn["state"], "completed", "{turn}");

    let frames = Client::connect(server.address).await.ask("go on").await;
    let told = ["23", r#"[{"n":3}]"#, r#"[{"n":0}]"#].map(|result| (true, result.to_owned()));
    assert_eq!(results(&frames), told);
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    is_clean(&server).await;
    assert_eq!(server.terminate().await, Some(0));
}
