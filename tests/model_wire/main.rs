//! The client of models against a real TCP peer that plays what real servers send, good and bad.

mod chains;
mod cuts;
mod dialects;
mod failures;
mod kept;
mod local;
mod nonsense;
#[path = "../it/support/patience.rs"]
mod patience;
#[path = "../it/support/ports.rs"]
mod ports;
mod quirks;
mod real;
mod server;
mod shapes;
mod slow;
mod table;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use level3::clock::{SeededRandom, SystemClock};
use level3::domain::ToolSpec;
use level3::model::client::{ChatClient, Endpoint, ModelLimits, Target};
use level3::model::{Answer, Entry, Model, ModelError, Request};
use serde_json::json;

use patience::in_time;

/// A key that must never be seen in a message.
pub const KEY: &str = "sk-very-secret-0123456789";

/// ModelLimits under which nothing takes long. A test of a deadline makes that one small.
pub fn limits() -> ModelLimits {
    ModelLimits { retry_base: Duration::from_millis(1), look: patience::PATIENCE, ..ModelLimits::default() }
}

/// A client with [`KEY`].
pub fn client(base_url: &str, limits: ModelLimits) -> ChatClient {
    let endpoint = Endpoint::new(base_url, Some(KEY)).unwrap();
    let target = Target { endpoint, model: Some("m".into()), provider: "custom".into(), kind: "configured" };
    ChatClient::new(target, limits, Arc::new(SystemClock), Arc::new(SeededRandom::new(7))).unwrap()
}

/// A client of a model of this provider, as if it were there.
pub fn client_of(provider: &str, model: &str, base_url: &str) -> ChatClient {
    let endpoint = Endpoint::new(base_url, Some(KEY)).unwrap();
    let target = Target { endpoint, model: Some(model.into()), provider: provider.into(), kind: "configured" };
    ChatClient::new(target, limits(), Arc::new(SystemClock), Arc::new(SeededRandom::new(7))).unwrap()
}

/// A question, with one tool offered.
pub fn request() -> Request {
    let parameters = json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] });
    let tool = ToolSpec { name: "execute_sql".into(), description: "Runs one SQL statement.".into(), parameters };
    Request { entries: vec![Entry::System("s".into()), Entry::User("u".into())], tools: vec![tool.into()], ..Request::default() }
}

/// Asks once; gives the outcome and the text that was streamed.
pub async fn ask(client: &dyn Model, request: Request) -> (Result<Answer, ModelError>, String) {
    let heard = Mutex::new(String::new());
    let on_delta = |piece: &str| heard.lock().unwrap().push_str(piece);
    let outcome = client.answer(request, &on_delta).await;
    if let Err(error) = &outcome {
        assert!(!error.message.contains(KEY), "the key is in: {error}");
        assert!(!error.message.contains('\n'), "more than one line: {error}");
    }
    (outcome, heard.into_inner().unwrap())
}
