//! The client against a real model that nobody here wrote. `LEVEL3_REAL_MODEL` is its address, like
//! `http://127.0.0.1:18080/v1`.

use std::sync::Arc;

use level3::clock::{SystemClock, SystemRandom};
use level3::model::client::{ChatClient, Endpoint, ModelLimits, Target};
use level3::model::{Answer, Entry, Model, ModelErrorKind};
use serde_json::Value;

use crate::{ask, request};

#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that depends on what the machine offers, and says so"
)]
fn real_model() -> Option<ChatClient> {
    let Ok(base_url) = std::env::var("LEVEL3_REAL_MODEL") else {
        eprintln!(
            "SKIPPED: no real model was asked. Set LEVEL3_REAL_MODEL to the address of one, like http://127.0.0.1:18080/v1."
        );
        return None;
    };
    let endpoint = Endpoint::new(&base_url, None).unwrap();
    let target = Target { endpoint, model: None, provider: "custom".into(), kind: "configured" };
    Some(ChatClient::new(target, ModelLimits::default(), Arc::new(SystemClock), Arc::new(SystemRandom)).unwrap())
}

async fn says(model: &ChatClient, entries: Vec<Entry>) -> (Answer, String) {
    let (outcome, heard) = ask(model, level3::model::Request { entries, ..request() }).await;
    (outcome.unwrap(), heard)
}

#[tokio::test]
async fn a_real_model_calls_a_tool_and_goes_on_from_its_result() {
    let Some(model) = real_model() else { return };
    let mut entries = vec![
        Entry::System("You answer questions about a Postgres database. Use the tool execute_sql.".into()),
        Entry::User("How many rows has the table users? Call execute_sql.".into()),
    ];
    let (answer, _) = says(&model, entries.clone()).await;
    assert_eq!(answer.calls.len(), 1, "{answer:?}");
    let arguments: Value = serde_json::from_str(&answer.calls[0].arguments).unwrap();
    assert!(arguments["query"].as_str().unwrap().to_lowercase().contains("users"), "{answer:?}");
    assert!(answer.usage.is_some() && !model.info().name.is_empty());
    let call_id = answer.calls[0].id.clone();
    entries.push(Entry::Assistant { content: answer.content, calls: answer.calls });
    entries.push(Entry::Tool { call_id, content: r#"[{"count": 4711}]"#.into(), refusal: None });
    // A small model likes to repeat its call; what counts here is that the server takes the
    // history.
    says(&model, entries.clone()).await;
    // Without tools there is nothing left but to answer.
    let (outcome, heard) = ask(&model, level3::model::Request { entries, ..Default::default() }).await;
    let answer = outcome.unwrap();
    assert!(answer.content.replace([',', '.'], "").contains("4711"), "{answer:?}");
    assert_eq!(heard, answer.content);
}

#[tokio::test]
async fn a_real_model_tells_when_the_conversation_is_too_long() {
    let Some(model) = real_model() else { return };
    let entries = vec![Entry::User("word ".repeat(100_000))];
    let (outcome, _) = ask(&model, level3::model::Request { entries, ..request() }).await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::ContextOverflow, "{error}");
}
