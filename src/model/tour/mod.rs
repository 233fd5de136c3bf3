//! The tour: a small deterministic model, built in, that shows a newcomer the real thing with no
//! key and no network.
//!
//! It is a pure function of the request. It asks for real tools and says only what their recorded
//! results say.

mod contact;
mod look;
mod rows;
mod script;
mod stage;
mod talk;
#[cfg(test)]
mod walks;
mod wish;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{Abilities, Answer, Model, ModelError, OnDelta, Request};
use crate::domain::todo::{BREAKDOWN_PROMPT, TodoFunction};
use crate::domain::{END_CONVERSATION, ModelInfo};

/// The built-in model that is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tour;

impl Model for Tour {
    fn answer<'a>(&'a self, request: Request, on_delta: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let answer = reply(&request);
        pieces(&answer.content).for_each(on_delta);
        Box::pin(std::future::ready(Ok(answer)))
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "tour".into(), provider: "level3".into(), name: "tour".into() }
    }

    /// Nothing is too long for it, so nobody asks it for a summary, which it could not write.
    fn abilities(&self) -> Abilities {
        Abilities { context_tokens: u32::MAX, ..Abilities::default() }
    }
}

/// The answer of the tour to a request.
pub fn reply(request: &Request) -> Answer {
    let scene = look::Scene::of(request);
    let said = match scene.system() {
        BREAKDOWN_PROMPT => script::TourAnswer { text: broken_down(scene.input), calls: Vec::new() },
        _ if scene.offers(TodoFunction::CreateTask.as_str()) => talk::say(&scene),
        _ if scene.offers(END_CONVERSATION) => contact::say(&scene),
        _ => script::say(&scene),
    };
    Answer {
        finish_reason: if said.calls.is_empty() { "stop" } else { "tool_calls" }.into(),
        content: said.text,
        calls: said.calls,
        usage: None,
        estimate: None,
        model: "tour".into(),
    }
}

/// The longest title that a step repeats, in letters.
const REPEATED: usize = 80;

/// A task broken down: the same steps for each.
fn broken_down(asked: &str) -> String {
    let asked: Value = serde_json::from_str(asked).unwrap_or_default();
    let title: String = asked["task"].as_str().unwrap_or_default().chars().take(REPEATED).collect();
    let steps =
        [format!("Gather what is needed: {title}"), "Do the first part".into(), "Do the rest".into(), "Look over it".into()];
    json!({ "subtasks": steps }).to_string()
}

/// A text in pieces of a few words, as a model would write it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.match_indices(' ').map(|(at, _)| at + 1).find(|end| *end >= 40).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests;
