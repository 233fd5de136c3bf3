//! Answers that say nothing: empty ones, those that only repeat what was asked, and those that are the text of a call. The model is asked
//! again, once.

use serde_json::Value;

use super::context::Offer;
use super::truth::input;
use super::{Exchange, HistoryEntry};
use crate::domain::CallRequest;
use crate::governor;
use crate::model::written_call;

/// What the model is told after an answer that says nothing.
const ASK_AGAIN: &str = "[controller] Your last answer says nothing. Make the next tool call if one is needed; otherwise answer \
     the user in a sentence or two, from the results above if there are any.";
/// How the turn ends after the second one.
pub(super) const TWICE: &str =
    "The model gave an empty answer twice, so there is nothing to show. Ask again, or choose another model (LLM_MODEL).";

/// How many answers that say nothing a turn ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    No,
    Once,
    Twice,
}

impl Empty {
    /// Looks at the running turn, the last one.
    pub(super) fn of(history: &[Exchange]) -> Self {
        let Some(turn) = history.last() else { return Self::No };
        let asked = input(turn).unwrap_or_default();
        let empty = |entry: &&HistoryEntry| {
            let HistoryEntry::Assistant(text, calls) = entry else { return false };
            calls.is_empty() && (says_nothing(text, asked) || written_call(text).is_some())
        };
        match turn.entries.iter().rev().take_while(empty).count() {
            0 => Self::No,
            1 => Self::Once,
            _ => Self::Twice,
        }
    }

    /// What the model is told after its last answer, where that said nothing.
    pub(super) fn told(self, written: Option<&CallRequest>, offer: &Offer) -> Option<String> {
        let tools: Vec<_> = offer.tools.iter().map(|tool| tool.name.as_str()).collect();
        match (self, written) {
            (Self::Once, Some(written)) => Some(call_it(written, offer.has(&written.name), &tools)),
            (Self::Once, None) => Some(ASK_AGAIN.to_owned()),
            (Self::No | Self::Twice, _) => None,
        }
    }

    /// Whether the next answer to `asked` says nothing. The text of a call may be what is wanted: the second one is shown.
    pub(super) fn again(self, answer: &str, asked: &str) -> bool {
        says_nothing(answer, asked) || (self == Self::No && written_call(answer).is_some())
    }
}

/// The call that the running turn's last answer is the text of. No server made a call of it, and it may name what is not there.
pub(super) fn only_written(history: &[Exchange]) -> Option<CallRequest> {
    match history.last()?.entries.last()? {
        HistoryEntry::Assistant(text, calls) if calls.is_empty() => written_call(text),
        _ => None,
    }
}

fn call_it(written: &CallRequest, there: bool, tools: &[&str]) -> String {
    let arguments: Value = serde_json::from_str(&written.arguments).unwrap_or_default();
    let how = match there {
        true => format!("Call `{}` itself.", written.name),
        false => governor::unknown_tool(tools, &written.name, &arguments),
    };
    format!("[controller] Your last answer is the text of a call, and nothing was called. {how}")
}

/// Whether an answer to `asked` is empty, or no more than the same words. A word or two may well be said back.
fn says_nothing(answer: &str, asked: &str) -> bool {
    let (answer, asked) = (answer.trim(), asked.trim());
    answer.is_empty() || (without_time(answer) == asked && asked.split_whitespace().count() > 2)
}

/// Models repeat the time along with the words it stands before.
fn without_time(answer: &str) -> &str {
    match answer.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((time, rest)) if chrono::DateTime::parse_from_rfc3339(time).is_ok() => rest.trim_start(),
        _ => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_nothing_when_it_is_empty_or_the_question() {
        let asked = "Make a table `shopping`, and add eggs.";
        for answer in ["", " \n", asked, "[2026-11-20T16:32:00Z] Make a table `shopping`, and add eggs."] {
            assert!(says_nothing(answer, asked), "{answer:?}");
        }
        for answer in ["Done.", "[1] Make a table `shopping`, and add eggs.", "Make a table `shopping`, and add eggs. Done."] {
            assert!(!says_nothing(answer, asked), "{answer:?}");
        }
        assert!(!says_nothing("Good morning", "Good morning"), "that is an answer");
        assert!(!says_nothing("Good morning", ""), "a turn may begin without words");
    }
}
