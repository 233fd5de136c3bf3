//! The numbers that the server counts of itself.

use chrono::TimeDelta;
use level3::clock::SystemRandom;
use level3::model::ModelErrorKind;
use level3::store::Store;
use serde_json::json;

use crate::support::api::client;
use crate::support::{Reply, TestApp, call, text};

/// The numbers as Prometheus reads them.
async fn metrics(app: &TestApp) -> String {
    let response = client().get(format!("http://{}/metrics", app.address())).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    response.text().await.unwrap()
}

/// The value of one line.
fn value(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

const ADDER: &str = "export default function adder({a, b}) { if (a === 0) throw new Error('no'); return a + b; }";

#[tokio::test]
async fn a_turn_leaves_its_traces_in_the_numbers() {
    let app = TestApp::start().await;
    let parameters = json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}});
    let written = json!({"name": "adder", "description": "Adds.", "code": ADDER, "parameters_schema": parameters});
    app.script([
        call("write_capability", written),
        call("adder", json!({"a": 1, "b": 2})),
        call("adder", json!({"a": 0, "b": 2})),
        Reply::Costs(50_000, 7, Box::new(text("Done."))),
        Reply::Fail(ModelErrorKind::RateLimited, "too many".into()),
    ]);
    let mut socket = app.connect().await;
    socket.ask("add").await;
    socket.ask("again").await;
    let text = metrics(&app).await;
    for (name, wanted) in [
        ("level3_turns_ended_total{state=\"completed\"}", 1.0),
        ("level3_turns_ended_total{state=\"failed\"}", 1.0),
        ("level3_turns{state=\"queued\"}", 0.0),
        ("level3_turns{state=\"running\"}", 0.0),
        ("level3_queue_age_seconds", 0.0),
        ("level3_step_duration_seconds_count{result=\"answered\"}", 4.0),
        ("level3_step_duration_seconds_count{result=\"failed\"}", 1.0),
        ("level3_tool_call_duration_seconds_count{tool=\"write_capability\"}", 1.0),
        ("level3_tool_call_duration_seconds_count{tool=\"capability\"}", 2.0),
        ("level3_capability_calls_total{outcome=\"done\"}", 1.0),
        ("level3_capability_calls_total{outcome=\"failed\"}", 1.0),
        ("level3_model_errors_total{kind=\"rate_limited\"}", 1.0),
        ("level3_day_tokens{direction=\"input\"}", 50_000.0),
        ("level3_day_calls{kind=\"tool_calls\"}", 3.0),
        ("level3_day_budget_used_ratio{kind=\"input_tokens\"}", 0.01),
        ("level3_open_sockets", 1.0),
        ("level3_database_up", 1.0),
    ] {
        assert_eq!(value(&text, name), Some(wanted), "{name} in:\n{text}");
    }
    assert!(value(&text, "level3_pool_connections{pool=\"app\",state=\"idle\"}").unwrap() >= 1.0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.starts_with("level3_"), "{line}");
        let name = line.split(['{', ' ']).next().unwrap();
        let plain = ["_total", "_bucket", "_sum", "_count"].iter().fold(name, |name, end| name.strip_suffix(end).unwrap_or(name));
        assert!(text.contains(&format!("# HELP {plain} ")), "{name} has no help");
    }
    for word in ["adder", "again", "too many"] {
        assert!(!text.contains(word), "no word from outside is in a label: {word}");
    }
}

#[tokio::test]
async fn the_age_of_the_queue_is_that_of_the_oldest_turn_that_could_be_taken_up() {
    let mut app = TestApp::start().await;
    app.leaves("it is about turns that wait");
    // The first turn waits for a person; the one behind it waits for as long as that takes.
    app.script([call("restart", json!({"mode": "full"}))]);
    let rule = client().put(format!("http://{}/api/policy/builder/rules/restart", app.address()));
    assert_eq!(rule.json(&json!({"rule": "ask"})).send().await.unwrap().status(), 200);
    let mut socket = app.connect().await;
    socket.say("restart").await;
    socket.asked().await;
    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    app.store().owners().accept_message(main, None, "and then?", app.now()).await.unwrap();
    app.advance(90);
    let text = metrics(&app).await;
    assert_eq!(value(&text, "level3_turns{state=\"awaiting_approval\"}"), Some(1.0));
    assert_eq!(value(&text, "level3_turns{state=\"queued\"}"), Some(1.0));
    assert_eq!(value(&text, "level3_queue_age_seconds"), Some(0.0));
    // A turn that nobody takes up counts with its full age.
    app.stop().await;
    let store = Store::open(&app.database_behind(), &SystemRandom).await.unwrap();
    let other = store.owners().create_conversation(app.now()).await.unwrap();
    store.owners().accept_message(other, None, "hello", app.now()).await.unwrap();
    let measured = store.measures("builder", app.now() + TimeDelta::seconds(70)).await.unwrap();
    assert_eq!((measured.queue_age_seconds, &measured.turns[0]), (70.0, &("queued", 2)));
    store.close().await;
}

#[tokio::test]
async fn the_numbers_pass_the_same_guard_as_everything() {
    let app = TestApp::with(&[("LEVEL3_TOKEN", "a-long-random-text")]).await;
    let url = format!("http://{}/metrics", app.address());
    assert_eq!(client().get(&url).send().await.unwrap().status(), 401);
    assert_eq!(client().get(&url).bearer_auth("a-long-random-text").send().await.unwrap().status(), 200);
    assert_eq!(
        client().get(&url).bearer_auth("a-long-random-text").header("host", "evil.example").send().await.unwrap().status(),
        421
    );
}
