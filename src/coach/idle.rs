//! Answers that do nothing: empty ones, those that only repeat the question or a tool's result, the
//! text of a call that no server made a call of, and code that is shown after calls that failed.
//! The coach asks the model again; how often follows from what is stored.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::unknown;
use crate::domain::{CallRequest, EXECUTE_SQL, Exchange, HistoryEntry, Refusal, RefusalCode, WRITE_CAPABILITY};
use crate::model::{helps, is_on, written_call};

/// The words for the model after an answer that says nothing.
const ASK_AGAIN: &str = "[controller] Your last answer says nothing. Make the next tool call if one is needed; otherwise answer \
     the user in a sentence or two, from the results above if there are any.";
/// The last words of the turn after the second one.
pub(super) const TWICE: &str =
    "The model gave an empty answer twice, so there is nothing to show. Ask again, or choose another model (LLM_MODEL).";
/// The answers in a row that are asked about although they say something. A further one may be the
/// answer that the person wants, and is shown.
const TEXTS: usize = 2;

/// The way an answer does nothing.
#[derive(Clone, Debug, PartialEq)]
enum Idle {
    /// It is empty, or the question.
    Empty,
    /// It is the text of a call, of a tool that may not exist.
    Written(CallRequest),
    /// It looks like the text of a call, and cannot be read.
    Broken,
    /// It shows the code that this tool would run, with these arguments.
    Shows(&'static str, Value),
}

/// The answers without calls at the end of the running turn, as far as they do nothing, the last
/// one first.
#[derive(Debug)]
pub(super) struct Idling<'a> {
    asked: &'a str,
    answers: Vec<Idle>,
    /// True if the model tried to act in this turn and made only mistakes that it can put right.
    failed: bool,
}

impl<'a> Idling<'a> {
    /// Looks at the running turn; without one nothing is idle.
    pub(super) fn of(turn: Option<&'a Exchange>) -> Self {
        let Some(turn) = turn else { return Self { asked: "", answers: Vec::new(), failed: false } };
        let asked = turn.input().unwrap_or_default();
        let answers = turn.entries.iter().rev().map_while(|entry| match entry {
            HistoryEntry::Assistant(text, calls) if calls.is_empty() => idle(text, asked),
            _ => None,
        });
        let answers: Vec<_> = answers.collect();
        let mut results = turn.entries.iter().filter_map(|entry| match entry {
            HistoryEntry::Tool(.., refusal) => Some(refusal.is_some_and(RefusalCode::can_be_put_right)),
            _ => None,
        });
        let tried =
            results.clone().next().is_some() || answers.iter().any(|answer| matches!(answer, Idle::Written(_) | Idle::Broken));
        let failed = tried && results.all(|mistake| mistake);
        Self { asked, answers, failed }
    }

    /// True if the model says nothing for the second time.
    pub(super) fn twice_empty(&self) -> bool {
        self.answers.starts_with(&[Idle::Empty, Idle::Empty])
    }

    /// The words for the model after its last answer, if that did nothing. The text of a call is
    /// answered as a call is, see [`refusal`]. `runs` names the tools that the model may be told to
    /// use.
    pub(super) fn told(&self, runs: &[&str]) -> Option<String> {
        match self.answers.first()? {
            Idle::Empty => Some(ASK_AGAIN.to_owned()),
            Idle::Written(written) => matches!(self.answers.get(1), Some(Idle::Written(_))).then(|| {
                format!(
                    "[controller] Writing down the call of `{0}` once more does nothing. If there is no `{0}` yet, call `write_capability` \
                     first: what you know of `{0}` is its code.",
                    written.name
                )
            }),
            Idle::Broken => Some(
                "[controller] Your last answer looks like the text of a call, but cannot be read, and nothing was called. Call the tool \
                 itself. Its arguments are JSON: strings stand between double quotes, with \\n for a new line and \\\" for a quote."
                    .to_owned(),
            ),
            Idle::Shows(tool, arguments) => runs.contains(tool).then(|| {
                format!(
                    "[controller] Your last answer only showed code, and nothing ran it. Your next answer is a call of `{tool}` with \
                     {arguments}, unless the user wants to read it and no more."
                )
            }),
        }
    }

    /// True if the next answer does nothing either, so that the model is asked again.
    pub(super) fn again(&self, answer: &str, runs: &[&str]) -> bool {
        let again = self.is_asked(answer, runs);
        if again {
            helps(idle(answer, self.asked).as_ref().map_or("idle", name));
        }
        again
    }

    fn is_asked(&self, answer: &str, runs: &[&str]) -> bool {
        match idle(answer, self.asked) {
            None => false,
            Some(Idle::Empty) => true,
            Some(Idle::Written(_)) => self.answers.len() < TEXTS,
            Some(Idle::Broken) => self.answers.len() < TEXTS && !self.answers.contains(&Idle::Broken),
            // If no attempt came before it, the code may be all that the person asked for.
            Some(Idle::Shows(tool, _)) => {
                let before = self.answers.iter().any(|answer| matches!(answer, Idle::Shows(..)));
                self.failed && self.answers.len() < TEXTS && !before && runs.contains(&tool)
            }
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
            let lesson = unknown::lesson(tools, &written.name, &written.arguments).filter(|_| helps("unknown")).map(|lesson| format!(" {lesson}"));
            format!(" {}{}", Refusal::unknown_tool(&written.name, tools).message, lesson.unwrap_or_default())
        }
    };
    format!("This was the text of a call, and nothing was called.{how}")
}

fn name(idle: &Idle) -> &'static str {
    match idle {
        Idle::Empty => "idle.empty",
        Idle::Written(_) => "idle.written",
        Idle::Broken => "idle.broken",
        Idle::Shows(..) => "idle.shows",
    }
}

fn idle(answer: &str, asked: &str) -> Option<Idle> {
    kind(answer, asked).filter(|idle| is_on(name(idle)))
}

fn kind(answer: &str, asked: &str) -> Option<Idle> {
    // If an answer repeats the question and goes on in a new line, the rest is judged.
    let answer = without_time(answer.trim()).strip_prefix(asked.trim()).filter(|rest| rest.starts_with('\n')).unwrap_or(answer);
    if says_nothing(answer, asked) {
        return Some(Idle::Empty);
    }
    if let Some(written) = written_call(answer) {
        return Some(Idle::Written(written));
    }
    if looks_like_a_call(answer) {
        return Some(Idle::Broken);
    }
    shown_code(answer).map(|(tool, arguments)| Idle::Shows(tool, arguments))
}

/// True if an answer is left out of later requests, once the model was asked again: a model that
/// reads its own words goes on with them. The text of a call is not left out, see [`refusal`].
pub(super) fn is_left_out(answer: &str, asked: &str) -> bool {
    matches!(idle(answer, asked), Some(Idle::Empty | Idle::Broken | Idle::Shows(..)))
}

/// The call that would run the first block of SQL, or the first source of a capability, in an
/// answer.
fn shown_code(answer: &str) -> Option<(&'static str, Value)> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"function\s+(\w+)").expect("a constant, tried by a test"));
    answer.split("```").skip(1).step_by(2).find_map(|block| {
        let (language, code) = block.split_once('\n')?;
        let code = code.trim();
        match &*language.trim().to_lowercase() {
            "sql" | "postgresql" | "postgres" => Some((EXECUTE_SQL, json!({ "query": code }))),
            "js" | "javascript" if code.contains("export default") => {
                let name = NAME.captures(code).map_or("...", |found| found.get(1).map_or("...", |name| name.as_str()));
                Some((WRITE_CAPABILITY, json!({ "name": name, "code": code, "description": "..." })))
            }
            _ => None,
        }
    })
}

/// True if an answer begins as the text of a call does, although it cannot be read as one.
fn looks_like_a_call(answer: &str) -> bool {
    static BEGINNING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^(?:<tool_call>|```(?:json)?)?\s*\{\s*"name"\s*:\s*"\w+"\s*,\s*"(?:arguments|parameters)"\s*:\s*\{"#)
            .expect("a constant, tried by a test")
    });
    BEGINNING.is_match(answer.trim_start())
}

/// True if an answer to `asked` is empty, is no more than the same words, or begins as a result of
/// a tool does in the templates of Qwen and Hermes. A model may well say back a word or two.
fn says_nothing(answer: &str, asked: &str) -> bool {
    let (answer, asked) = (answer.trim(), asked.trim());
    answer.is_empty()
        || answer.starts_with("<tool_response>")
        || (without_time(answer) == asked && asked.split_whitespace().count() > 2)
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
