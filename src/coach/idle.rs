//! Answers that do nothing: empty ones, those that only repeat the question or a tool's result,
//! those that go on in the person's place, and the text of a call that no server made a call of.
//! The coach asks the model again; how often follows from what is stored.

use super::unknown;
use crate::domain::{CallRequest, Exchange, HistoryEntry, Refusal, seen_name};
use crate::model::written_call;

/// The words for the model after an answer that says nothing.
const ASK_AGAIN: &str = "[controller] Your last answer says nothing. Make the next tool call if one is needed; otherwise answer \
     the user in a sentence or two, from the results above if there are any.";
/// The words for the model after an answer in the person's place.
const NOT_THE_PERSON: &str = "[controller] Your last answer is written as the person's messages are, with the time in front, so nobody \
     has got it. Make the next tool call if one is needed; otherwise answer the person's own last message, in your words and without a time.";
/// The last words of the turn after the second one.
pub(super) const TWICE: &str =
    "The model gave an empty answer twice, so there is nothing to show. Ask again, or choose another model (LLM_MODEL).";
/// The texts of calls in a row that are asked about. A further one may be the answer that the
/// person wants, and is shown.
const TEXTS: usize = 2;

/// The way an answer does nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Idle {
    /// It is empty, or the question.
    Empty,
    /// It begins with a time as the person's messages do, and goes on as the person might. It may
    /// be an answer all the same, so it is asked about once.
    AsPerson,
    /// It is the text of a call, of a tool that may not exist.
    Written(CallRequest),
}

/// The answers without calls at the end of the running turn, as far as they do nothing, the last
/// one first.
#[derive(Debug)]
pub(super) struct Idling<'a> {
    asked: &'a str,
    answers: Vec<Idle>,
}

impl<'a> Idling<'a> {
    /// Looks at the running turn; without one nothing is idle.
    pub(super) fn of(turn: Option<&'a Exchange>) -> Self {
        let asked = turn.and_then(Exchange::input).unwrap_or_default();
        let answers = turn.into_iter().flat_map(|turn| turn.entries.iter().rev()).map_while(|entry| match entry {
            HistoryEntry::Assistant(text, calls) if calls.is_empty() => idle(text, asked),
            _ => None,
        });
        Self { asked, answers: answers.collect() }
    }

    /// True if the model says nothing for the second time.
    pub(super) fn twice_empty(&self) -> bool {
        self.answers.starts_with(&[Idle::Empty, Idle::Empty])
    }

    /// The words for the model after its last answer, if that did nothing. The text of a call is
    /// answered as a call is, see [`refusal`]; if it comes again, a model that `makes` its own
    /// tools is told to make this one.
    pub(super) fn words_for_model(&self, makes: bool) -> Option<String> {
        match &*self.answers {
            [Idle::Empty, ..] => Some(ASK_AGAIN.to_owned()),
            [Idle::AsPerson, ..] => Some(NOT_THE_PERSON.to_owned()),
            [Idle::Written(written), Idle::Written(_), ..] if makes => Some(format!(
                "[controller] Writing down the call of `{0}` once more does nothing. If there is no `{0}` yet, call `write_capability` \
                 first: what you know of `{0}` is its code.",
                written.name
            )),
            _ => None,
        }
    }

    /// True if the next answer does nothing either, so that the model is asked again.
    pub(super) fn again(&self, answer: &str) -> bool {
        match idle(answer, self.asked) {
            None => false,
            Some(Idle::Empty) => true,
            Some(Idle::AsPerson) => self.answers.is_empty(),
            Some(Idle::Written(_)) => self.answers.len() < TEXTS,
        }
    }
}

/// The words in the place of a call's result, if an answer was only the text of that call; `last`
/// if nothing came after it.
pub(super) fn refusal(written: &CallRequest, tools: &[&str], last: bool) -> String {
    let how = match (tools.contains(&&*written.name), last) {
        (true, true) => format!(" Call `{}` itself, with arguments that fit its parameters.", written.name),
        // A tool that was missing then may be there by now.
        (true, false) => String::new(),
        (false, _) => {
            let lesson = unknown::lesson(tools, &written.name, &written.arguments).map(|lesson| format!(" {lesson}"));
            format!(" {}{}", Refusal::unknown_tool(&written.name, tools).message, lesson.unwrap_or_default())
        }
    };
    format!("This was the text of a call, and nothing was called.{how}")
}

/// The way that an answer to `asked` does nothing, if it does.
pub(super) fn idle(answer: &str, asked: &str) -> Option<Idle> {
    // If an answer repeats the question and goes on in a new line, the rest is judged.
    let (whole, asked) = (answer.trim(), asked.trim());
    let answer = without_time(whole);
    let rest = answer.strip_prefix(asked).filter(|rest| rest.starts_with('\n')).unwrap_or(answer).trim();
    // The templates of Qwen and Hermes begin a tool's result so. A model may say back two words.
    let repeats = rest == asked && asked.split_whitespace().count() > 2;
    if seen_name(rest).is_empty() || rest.starts_with("<tool_response>") || repeats {
        return Some(Idle::Empty);
    }
    // The words behind a repeated question are the model's own.
    let timed = answer.len() < whole.len() && rest.len() == answer.len();
    written_call(rest).map(Idle::Written).or(timed.then_some(Idle::AsPerson))
}

/// An answer without the time it begins with: models repeat the time along with the words behind
/// it.
fn without_time(answer: &str) -> &str {
    match answer.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((time, rest)) if chrono::DateTime::parse_from_rfc3339(time).is_ok() => rest.trim_start(),
        _ => answer,
    }
}

#[cfg(test)]
mod tests;
