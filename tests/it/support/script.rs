//! A model that gives the answers of a test, and keeps its requests.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use level3::domain::{CallRequest, ModelInfo, Usage};
use level3::model::{Abilities, Answer, Model, ModelError, ModelErrorKind, OnDelta, Request};
use serde_json::Value;
use tokio::sync::Notify;

/// The model's reaction to one request.
pub enum Reply {
    /// Answers with text, in two deltas, and perhaps tool calls.
    Answer(String, Vec<CallRequest>),
    /// Waits for the signal, then answers.
    After(Arc<Notify>, Box<Reply>),
    /// Writes this much and then nothing more, until it is dropped.
    Hang(String),
    /// Answers, and says the cost: tokens read and written.
    Costs(u64, u64, Box<Reply>),
    /// Asks another model, such as a client of a server that misbehaves.
    Ask(Arc<dyn Model>),
    /// Answers by what it was asked.
    By(fn(&Request) -> Reply),
    /// Fails.
    Fail(ModelErrorKind, String),
}

/// An answer of text alone.
pub fn text(text: &str) -> Reply {
    Reply::Answer(text.to_owned(), Vec::new())
}

/// An answer that asks for one tool.
pub fn call(name: &str, arguments: Value) -> Reply {
    calls(&[(name, arguments)])
}

/// An answer that asks for several tools.
pub fn calls(wanted: &[(&str, Value)]) -> Reply {
    let request = |(n, (name, arguments)): (usize, &(&str, Value))| CallRequest {
        id: format!("call_{n}"),
        name: (*name).to_owned(),
        arguments: arguments.to_string(),
    };
    Reply::Answer(String::new(), wanted.iter().enumerate().map(request).collect())
}

/// The scripted model. Its script outlives restarts of the server.
#[derive(Default)]
pub struct Script {
    replies: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<Request>>,
    asked: Notify,
    sees: AtomicBool,
    context_tokens: Mutex<Option<u32>>,
}

impl Script {
    pub fn add(&self, replies: impl IntoIterator<Item = Reply>) {
        self.replies.lock().unwrap().extend(replies);
    }

    /// From now on it can see images.
    pub fn sees(&self) {
        self.sees.store(true, Ordering::Relaxed);
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub fn left(&self) -> usize {
        self.replies.lock().unwrap().len()
    }

    /// Says how long its context is, in tokens.
    pub fn has_context(&self, tokens: u32) {
        *self.context_tokens.lock().unwrap() = Some(tokens);
    }

    /// Drops the rest of the script, for a story that ends before it.
    pub fn forget(&self) {
        self.replies.lock().unwrap().clear();
    }

    /// Completes when the model has been asked `count` times in all.
    pub async fn asked(&self, count: usize) {
        loop {
            let next = self.asked.notified();
            if self.requests.lock().unwrap().len() >= count {
                return;
            }
            next.await;
        }
    }
}

impl Model for Script {
    fn answer<'a>(&'a self, request: Request, on_delta: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.requests.lock().unwrap().push(request.clone());
        let reply = self.replies.lock().unwrap().pop_front();
        self.asked.notify_waiters();
        let missing = || Reply::Fail(ModelErrorKind::Malformed, "the script has no further reply".to_owned());
        Box::pin(play(reply.unwrap_or_else(missing), request, on_delta))
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "configured".into(), provider: "script".into(), name: "scripted".into() }
    }

    fn abilities(&self) -> Abilities {
        let context_tokens = self.context_tokens.lock().unwrap().unwrap_or(Abilities::default().context_tokens);
        Abilities { context_tokens, images: self.sees.load(Ordering::Relaxed) }
    }
}

fn play<'a>(reply: Reply, request: Request, on_delta: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
    Box::pin(async move {
        match reply {
            Reply::Answer(content, calls) => {
                let middle = content.floor_char_boundary(content.len() / 2);
                for piece in [&content[..middle], &content[middle..]] {
                    if !piece.is_empty() {
                        on_delta(piece);
                    }
                }
                let finish_reason = if calls.is_empty() { "stop" } else { "tool_calls" }.to_owned();
                Ok(Answer { content, calls, finish_reason, usage: None, estimate: None, model: "scripted".into() })
            }
            Reply::After(signal, reply) => {
                signal.notified().await;
                play(*reply, request, on_delta).await
            }
            Reply::Hang(started) => {
                on_delta(&started);
                std::future::pending().await
            }
            Reply::Costs(input, output, reply) => {
                let answer = play(*reply, request, on_delta).await?;
                Ok(Answer { usage: Some(Usage { input, output }), ..answer })
            }
            Reply::Ask(model) => model.answer(request, on_delta).await,
            Reply::By(decide) => play(decide(&request), request, on_delta).await,
            Reply::Fail(kind, message) => Err(ModelError::new(kind, message)),
        }
    })
}
