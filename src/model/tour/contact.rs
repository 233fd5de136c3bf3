//! The tour plays the agent of Relay, so that a conversation can be tried without a model: it
//! greets, takes each answer for one to-do done, and ends when none is open. The contact's words
//! decide nothing.

use serde_json::{Value, json};

use super::look::Scene;
use super::script::TourAnswer;
use crate::domain::{END_CONVERSATION, MARK_TODO_ITEM, SEND_MESSAGE};

/// The next thing that the agent does.
pub(super) fn say(scene: &Scene) -> TourAnswer {
    if !scene.done.is_empty() {
        // Nobody reads it; it ends the turn.
        return TourAnswer { text: "That is done.".into(), calls: Vec::new() };
    }
    let open = open_todos(scene.system());
    let acts = match scene.input {
        words if words.starts_with("[relay] The contact has written") => answered(&open),
        words if words.starts_with("[relay] The contact has not answered") => {
            vec![(SEND_MESSAGE, json!({ "text": "A short reminder: I would be glad of an answer." }))]
        }
        _ => {
            let first = open.first().map(|(_, words)| format!(" First: {words}")).unwrap_or_default();
            let objective = objective(scene.system());
            vec![(SEND_MESSAGE, json!({ "text": format!("Hello! I write to you about this: {objective}.{first}") }))]
        }
    };
    let calls = acts.iter().enumerate().map(|(nth, (tool, arguments))| scene.call(nth, tool, arguments)).collect();
    TourAnswer { text: String::new(), calls }
}

/// An answer ticks the first open to-do off; after the last one the conversation ends.
fn answered(open: &[(i64, &str)]) -> Vec<(&'static str, Value)> {
    let mut acts = Vec::new();
    if let Some((id, _)) = open.first() {
        acts.push((MARK_TODO_ITEM, json!({ "todo_id": id, "status": "done" })));
    }
    match open.get(1) {
        Some((_, next)) => acts.push((SEND_MESSAGE, json!({ "text": format!("Thank you. Next: {next}") }))),
        None => {
            acts.push((SEND_MESSAGE, json!({ "text": "Thank you, that is all. Goodbye!" })));
            acts.push((END_CONVERSATION, json!({ "reason": "every to-do is done" })));
        }
    }
    acts
}

/// The to-dos that are neither done nor skipped, as the system text lists them:
/// `1 [pending] Ask for a time`.
fn open_todos(system: &str) -> Vec<(i64, &str)> {
    let lines = system.lines().filter_map(|line| {
        let (id, rest) = line.split_once(" [")?;
        let (status, words) = rest.split_once("] ")?;
        ["pending", "in_progress"].contains(&status).then_some((id.parse().ok()?, words))
    });
    lines.collect()
}

/// The first line of the objective.
fn objective(system: &str) -> &str {
    let behind = system.split_once("ordered this conversation:\n").map_or("", |(_, behind)| behind);
    behind.lines().next().unwrap_or_default().trim_end_matches('.')
}

#[cfg(test)]
mod tests;
