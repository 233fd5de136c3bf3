//! Relay: conversations with contacts over the test channel and over a scripted program, with a
//! scripted model, judged by what the interface shows.

mod agent;
mod conversation;
mod day;
mod hostile;
mod many;
mod media;
mod moved;
mod orders;
mod program;
mod sequences;
mod silence;
mod weather;
mod webhooks;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Reply, TestApp, api::ask, call, in_time, text};

/// The contact of most stories.
pub const ANNA: &str = "+491701234567";

/// The commits of a server, and those of others that it hears of.
struct Changes {
    here: tokio::sync::broadcast::Receiver<level3::store::Announced<level3::facts::EventRecord>>,
    elsewhere: level3::store::Elsewhere,
}

impl Changes {
    fn of(app: &TestApp) -> Self {
        let signals = app.store().signals();
        Self { here: signals.events(), elsewhere: signals.elsewhere() }
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.here.recv() => {}
            _ = self.elsewhere.next() => {}
        }
    }
}

/// A server, and the operator before it.
pub struct Desk {
    pub app: TestApp,
}

impl Desk {
    pub async fn start() -> Self {
        Self { app: TestApp::start().await }
    }

    /// A request to the interface; its status and answer.
    pub async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        ask(&self.app, method, &format!("/api/relay{path}"), body).await
    }

    /// A request that is done.
    pub async fn done(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let (status, answer) = self.ask(method, path, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// A request that is refused with this status; its sentence.
    pub async fn refused(&self, status: u16, method: Method, path: &str, body: Option<Value>) -> String {
        let (is, answer) = self.ask(method, path, body).await;
        assert_eq!(is, status, "{path}: {answer}");
        answer["error"].as_str().unwrap().to_owned()
    }

    /// Orders an instance with one to-do; gives its number.
    pub async fn order(&self, contact: &str) -> i64 {
        let order =
            json!({"objective": "Arrange a viewing", "contact": contact, "todos": ["Ask for a time"], "max_follow_ups": 2});
        self.done(Method::POST, "/instances", Some(order)).await["id"].as_i64().unwrap()
    }

    /// The same, with the first message written and delivered.
    pub async fn begun(&self, contact: &str) -> i64 {
        self.app.script([writes("Is Friday fine?"), text("")]);
        let id = self.order(contact).await;
        self.until(id, "WAITING_FOR_REPLY").await;
        self.delivered(id, 1).await;
        id
    }

    pub async fn instance(&self, id: i64) -> Value {
        self.done(Method::GET, &format!("/instances/{id}"), None).await
    }

    pub async fn transcript(&self, id: i64) -> Vec<Value> {
        let shown = self.done(Method::GET, &format!("/instances/{id}/transcript"), None).await;
        shown["messages"].as_array().unwrap().clone()
    }

    /// Waits until an instance is in a state.
    pub async fn until(&self, id: i64, state: &str) -> Value {
        let mut changes = Changes::of(&self.app);
        loop {
            let shown = self.instance(id).await;
            if shown["state"] == state {
                return shown;
            }
            in_time(&format!("{state} of {shown}"), changes.next()).await;
        }
    }

    /// Waits until a message of a transcript has this delivery.
    pub async fn until_delivery(&self, id: i64, seq: usize, delivery: &str) -> Value {
        let mut changes = Changes::of(&self.app);
        loop {
            let messages = self.transcript(id).await;
            if let Some(message) = messages.get(seq - 1)
                && message["delivery"] == delivery
            {
                return message.clone();
            }
            in_time(&format!("{delivery} of message {seq} in {messages:?}"), changes.next()).await;
        }
    }

    pub async fn delivered(&self, id: i64, seq: usize) -> Value {
        self.until_delivery(id, seq, "delivered").await
    }

    /// A contact says something; gives how it came.
    pub async fn say(&self, contact: &str, words: &str) -> String {
        let said = json!({"address": contact, "text": words});
        self.done(Method::POST, "/loopback", Some(said)).await["came"].as_str().unwrap().to_owned()
    }

    pub async fn post(&self, id: i64, order: &str) -> Value {
        self.done(Method::POST, &format!("/instances/{id}/{order}"), Some(json!({}))).await
    }
}

/// The model writes to the contact.
pub fn writes(words: &str) -> Reply {
    call("send_message", json!({ "text": words }))
}
