//! The tour plays Lea and Law: a small grammar with a plain sentence for each of the twenty
//! functions. It says only what results say.

use chrono::{NaiveDateTime, NaiveTime, TimeDelta};
use serde_json::{Value, json};

use super::look::{Scene, timed};
use super::script::TourAnswer;
use crate::domain::RefusalCode;
use crate::domain::todo::TodoFunction;

/// Stands before words that a person said into a turn.
const SAID_INTO: &str = "[said while you work on this] ";

/// The sentences that it understands, at least one for each function.
const SENTENCES: [&str; 21] = [
    "add buy milk",
    "done buy milk",
    "tick shop in dinner",
    "rename milk to oat milk",
    "rename step shop to buy food",
    "add step lay the table to dinner",
    "remove step shop from dinner",
    "delete milk",
    "clear completed",
    "remind me of milk at 18:00",
    "no reminder for milk",
    "repeat milk weekly",
    "stop repeating milk",
    "timer 25 minutes for dinner",
    "pause",
    "resume",
    "stop",
    "how long",
    "list",
    "show dinner",
    "what's next",
];

/// The next thing that Lea or Law says or does.
pub(super) fn say(scene: &Scene) -> TourAnswer {
    if let Some(done) = scene.done.last() {
        let text = done.result.map_or_else(|| "Nothing is recorded of that.".to_owned(), |result| about(result, done.refusal));
        return TourAnswer { text, calls: Vec::new() };
    }
    let input = scene.input.strip_prefix(SAID_INTO).map_or(scene.input, |said| timed(said).map_or(said, |(_, said)| said));
    match understood(input.trim(), scene.system()) {
        Some((function, arguments)) => {
            TourAnswer { text: String::new(), calls: vec![scene.call(0, function.as_str(), &arguments)] }
        }
        None => TourAnswer { text: known(scene), calls: Vec::new() },
    }
}

/// The words about a result.
fn about(result: &str, refusal: Option<RefusalCode>) -> String {
    match refusal {
        Some(RefusalCode::Denied) => return "All right, I leave it as it is.".to_owned(),
        Some(RefusalCode::Expired) => return "Nobody answered, so I left it as it is.".to_owned(),
        _ => {}
    }
    let told = serde_json::from_str::<Value>(result).unwrap_or_default();
    told["message"].as_str().unwrap_or(result).to_owned()
}

/// The sentences it knows.
fn known(scene: &Scene) -> String {
    let name = if scene.system().contains("You are Law") { "Law" } else { "Lea" };
    format!(
        "I am the built-in tour and play {name}: no language model, but all that I do is real. I know these sentences, with names of your \
         own: {}.",
        SENTENCES.join("; ")
    )
}

/// The rest of a text that begins with one of these, whatever the case.
fn after<'t>(text: &'t str, beginnings: &[&str]) -> Option<&'t str> {
    let rest = |beginning: &&str| {
        let head = text.get(..beginning.len())?;
        head.eq_ignore_ascii_case(beginning).then(|| text[beginning.len()..].trim())
    };
    beginnings.iter().find_map(rest).filter(|rest| !rest.is_empty())
}

/// Both sides of the last such word, whatever the case.
fn split<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
    let at = text.to_ascii_lowercase().rfind(word)?;
    let (one, other) = (text[..at].trim(), text[at + word.len()..].trim());
    (!one.is_empty() && !other.is_empty()).then_some((one, other))
}

/// True if the text is one of these, whatever the case.
fn is(text: &str, sentences: &[&str]) -> bool {
    sentences.iter().any(|sentence| text.eq_ignore_ascii_case(sentence))
}

/// The function that a sentence means, with its arguments.
fn understood(input: &str, system: &str) -> Option<(TodoFunction, Value)> {
    let input = input.trim_end_matches(['.', '!', '?', ' ']);
    steps(input).or_else(|| timers(input)).or_else(|| times(input, system)).or_else(|| tasks(input))
}

/// Sentences about subtasks.
fn steps(input: &str) -> Option<(TodoFunction, Value)> {
    use TodoFunction as F;
    let within = |rest: &str, words: [&str; 2]| {
        let found = words.iter().find_map(|word| split(rest, word));
        match found {
            Some((step, task)) => json!({ "subtaskName": step, "taskName": task }),
            None => json!({ "subtaskName": rest }),
        }
    };
    if let Some(rest) = after(input, &["add step ", "add a step "]) {
        let (step, task) = split(rest, " to ")?;
        return Some((F::AddSubtask, json!({ "taskName": task, "subtaskName": step })));
    }
    if let Some(rest) = after(input, &["rename step "]) {
        let (step, name) = split(rest, " to ")?;
        return Some((F::RenameSubtask, json!({ "subtaskName": step, "newName": name })));
    }
    if let Some(rest) = after(input, &["remove step "]) {
        return Some((F::RemoveSubtask, within(rest, [" from ", " in "])));
    }
    let rest = after(input, &["tick off ", "tick ", "done step ", "check off "])?;
    Some((F::CompleteSubtask, within(rest, [" in ", " of "])))
}

/// Sentences about the timer.
fn timers(input: &str) -> Option<(TodoFunction, Value)> {
    use TodoFunction as F;
    if is(input, &["pause", "pause timer", "pause the timer"]) {
        return Some((F::PauseTimer, json!({})));
    }
    if is(input, &["resume", "go on", "resume timer", "resume the timer"]) {
        return Some((F::ResumeTimer, json!({})));
    }
    if is(input, &["stop", "stop timer", "stop the timer"]) {
        return Some((F::StopTimer, json!({})));
    }
    if is(input, &["how long", "timer", "how much time is left"]) {
        return Some((F::GetTimerStatus, json!({})));
    }
    let rest = after(input, &["timer ", "start timer ", "start a timer of ", "focus "])?;
    let (length, task) = split(rest, " for ").map_or((rest, None), |(length, task)| (length, Some(task)));
    let minutes: i64 = length.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()?;
    let mut arguments = json!({ "minutes": minutes });
    if let Some(task) = task {
        arguments["taskName"] = task.into();
    }
    Some((F::StartTimer, arguments))
}

/// Sentences about reminders and recurrence.
fn times(input: &str, system: &str) -> Option<(TodoFunction, Value)> {
    use TodoFunction as F;
    if let Some(task) = after(input, &["no reminder for ", "remove the reminder of ", "remove reminder of "]) {
        return Some((F::RemoveReminder, json!({ "taskName": task })));
    }
    if let Some(rest) = after(input, &["remind me of ", "remind me about ", "remind me to "]) {
        let (task, at) = split(rest, " at ")?;
        return Some((F::SetReminder, json!({ "taskName": task, "at": moment(at, system) })));
    }
    if let Some(task) = after(input, &["stop repeating ", "no longer repeat ", "don't repeat ", "don’t repeat "]) {
        return Some((F::SetRecurrence, json!({ "taskName": task, "rule": "none" })));
    }
    let rest = after(input, &["repeat "])?;
    let (task, rule) = rest.rsplit_once(' ')?;
    Some((F::SetRecurrence, json!({ "taskName": task.trim(), "rule": rule })))
}

/// A time of day as the next such moment, by the time that the prompt tells; anything else as it
/// is.
fn moment(at: &str, system: &str) -> String {
    let now = system.split("It is ").nth(1).and_then(|rest| rest.split(", ").nth(1)).and_then(|rest| rest.get(..16));
    let now = now.and_then(|now| NaiveDateTime::parse_from_str(now, "%Y-%m-%dT%H:%M").ok());
    let (Some(now), Ok(time)) = (now, NaiveTime::parse_from_str(at, "%H:%M")) else { return at.to_owned() };
    let today = now.date().and_time(time);
    let next = if today > now { today } else { today + TimeDelta::days(1) };
    next.format("%Y-%m-%dT%H:%M").to_string()
}

/// Sentences about tasks.
fn tasks(input: &str) -> Option<(TodoFunction, Value)> {
    use TodoFunction as F;
    let named = |function: F, task: &str| Some((function, json!({ "taskName": task })));
    if is(input, &["clear", "clear completed", "clear completed tasks", "clear the completed tasks"]) {
        return Some((F::ClearCompletedTasks, json!({ "confirmed": false })));
    }
    if is(input, &["what's next", "what’s next", "whats next", "next", "what is next"]) {
        return Some((F::GetNextSubtask, json!({})));
    }
    if is(input, &["list", "tasks", "list tasks", "my tasks", "what are my tasks"]) {
        return Some((F::ListTasks, json!({})));
    }
    if let Some(filter) = after(input, &["list "]).filter(|filter| is(filter, &["active", "completed", "all"])) {
        return Some((F::ListTasks, json!({ "filter": filter.to_ascii_lowercase() })));
    }
    if let Some(rest) = after(input, &["rename "]) {
        let (task, name) = split(rest, " to ")?;
        return Some((F::RenameTask, json!({ "taskName": task, "newName": name })));
    }
    if let Some(task) = after(input, &["delete "]) {
        return Some((F::DeleteTask, json!({ "taskName": task, "confirmed": false })));
    }
    if let Some(task) = after(input, &["done ", "complete ", "finish ", "i did "]) {
        return named(F::CompleteTask, task);
    }
    if let Some(task) = after(input, &["show ", "details of "]) {
        return named(F::GetTaskDetails, task);
    }
    let title = after(input, &["add ", "create ", "new task "])?;
    Some((F::CreateTask, json!({ "description": title, "confirmed": false })))
}

#[cfg(test)]
mod tests;
