//! The client of models against a real TCP peer that plays what real servers send, good and bad.

mod chains;
mod cuts;
mod dialects;
mod failures;
mod kept;
mod local;
mod nonsense;
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
use level3::model::client::{ChatClient, Endpoint, Limits, Target};
use level3::model::{Answer, Entry, Model, ModelError, Request};
use serde_json::json;

/// A key that must never be seen in a message.
pub const KEY: &str = "sk-very-secret-0123456789";

/// Limits under which nothing takes long. A test of a deadline makes that one small.
pub fn limits() -> Limits {
    Limits { retry_base: Duration::from_millis(1), look: Duration::from_secs(10), ..Limits::default() }
}

/// A client with [`KEY`].
pub fn client(base_url: &str, limits: Limits) -> ChatClient {
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
    Request { entries: vec![Entry::System("s".into()), Entry::User("u".into())], tools: vec![tool], ..Request::default() }
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
