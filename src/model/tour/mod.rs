//! The tour: a small deterministic model, built in, that shows a newcomer the real thing with no key and no network.
//!
//! It is a pure function of the request. It asks for real tools and says only what their recorded results say.

mod look;
mod script;
mod stage;
#[cfg(test)]
mod walks;

use futures::future::BoxFuture;

use super::{Abilities, Answer, Model, ModelError, OnDelta, Request};
use crate::domain::ModelInfo;

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
    let said = script::say(&look::Scene::of(request));
    Answer {
        finish_reason: if said.calls.is_empty() { "stop" } else { "tool_calls" }.into(),
        content: said.text,
        calls: said.calls,
        usage: None,
        model: "tour".into(),
    }
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
