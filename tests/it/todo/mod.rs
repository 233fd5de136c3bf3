//! To-dos by talking: what Lea does with a scripted model, judged by what is in the database
//! afterwards.

mod accurate;
mod anew;
mod chats;
mod failures;
mod functions;
mod kills;
mod people;
mod properties;
mod questions;
mod quota;
mod random;
mod times;
mod tour;
mod twice;

use serde_json::{Value, json};

use crate::support::{Client, TestApp, call, of_type, text};

/// The steps into which the scripted model breaks a task down.
const STEPS: [&str; 3] = ["invite", "shop", "cook"];

/// A person and Lea.
pub struct Talk {
    pub app: TestApp,
    pub client: Client,
}

impl Talk {
    pub async fn start() -> Self {
        Self::on(TestApp::start().await).await
    }

    pub async fn on(app: TestApp) -> Self {
        let client = app.connect().await;
        Self { app, client }
    }

    /// The person says something to Lea.
    pub async fn say(&mut self, words: &str) {
        self.client.send(json!({"type": "message", "content": words, "profile": "lea"})).await;
    }

    /// The person says something, and the model has nothing to do; gives the frames of the turn.
    pub async fn small_talk(&mut self, words: &str) -> Vec<Value> {
        self.app.script([text("I see.")]);
        self.say(words).await;
        self.client.turn().await
    }

    /// The model calls a function in a turn of its own; gives the function's result.
    pub async fn call(&mut self, function: &str, arguments: Value) -> Value {
        self.app.script([call(function, arguments), text("I see.")]);
        self.say("go on").await;
        result(&self.client.turn().await)
    }

    /// The model calls a function that asks; gives the question. The turn waits.
    pub async fn asks(&mut self, function: &str, arguments: Value) -> Value {
        self.app.script([call(function, arguments)]);
        self.say("go on").await;
        self.client.asked().await
    }

    /// A task is made, with three steps; the person says yes. Gives the result.
    pub async fn create(&mut self, title: &str) -> Value {
        self.asks("createTask", json!({"description": title, "confirmed": false})).await;
        self.app.script([breakdown(&STEPS), text("I see.")]);
        self.say("yes").await;
        result(&self.client.turn().await)
    }

    /// A number of the database.
    pub async fn count(&self, query: &'static str) -> i64 {
        self.app.count(query).await
    }
}

/// A model's answer that breaks a task down.
pub fn breakdown(steps: &[&str]) -> crate::support::Reply {
    text(&json!({ "subtasks": steps }).to_string())
}

/// The result of the first function that was called.
pub fn result(frames: &[Value]) -> Value {
    let result = of_type(frames, "tool_result")["result"].as_str().unwrap();
    serde_json::from_str(result).unwrap_or_else(|_| panic!("{result}"))
}

/// The sentence of a result.
pub fn message(result: &Value) -> &str {
    result["message"].as_str().unwrap_or_else(|| panic!("{result}"))
}
