//! The governor's opinion: a second model request that classifies a proposal. Its answer can only
//! make a verdict stricter, and an answer that cannot be read counts as the strictest there is.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::domain::{Classification, Effect};
use crate::model::{Entry, Model, ModelErrorKind, Request};
use crate::store::{Meter, RequestCost};

const PROMPT: &str = include_str!("governor.md");
/// Bytes of the task and of the arguments that are shown; of more, the beginning and the end.
const SHOWN_BYTES: usize = 16 * 1024;
/// The requests for one opinion: an answer that cannot be read is asked for once more.
const ATTEMPTS: usize = 2;

/// A proposal as the second model sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reviewing<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments as the law will judge them: as the model wrote them, but for the parts put in.
    pub arguments: &'a str,
    /// The effects that its tool declares.
    pub effects: &'a BTreeSet<Effect>,
    /// The input that the turn reacts to.
    pub task: &'a str,
    /// True if tokens that no provider counted are estimated.
    pub estimates: bool,
}

/// The outcome of a review.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reviewed {
    /// The classification; the strictest there is if the model gave none.
    pub classification: Classification,
    /// True if an answer could be read.
    pub answered: bool,
    /// The kind of the model's error, if the model gave no answer at all.
    pub failed: Option<ModelErrorKind>,
    /// The requests that were answered and have to be paid for.
    pub asked: Vec<RequestCost>,
}

/// Asks the model about a proposal. If an answer breaks the schema, it is rejected and asked for
/// once more.
pub(crate) async fn classify(model: &dyn Model, proposal: Reviewing<'_>, meter: &Meter) -> Reviewed {
    let mut entries = vec![Entry::System(PROMPT.to_owned()), Entry::User(described(proposal))];
    let (mut asked, mut failed) = (Vec::new(), None);
    for _ in 0..ATTEMPTS {
        let request = Request { entries: entries.clone(), meter: meter.clone(), ..Request::default() };
        let answer = match model.answer(request, &|_| {}).await {
            Ok(answer) => answer,
            Err(error) => {
                // The model has used up its own retries.
                tracing::warn!(kind = ?error.kind, %error, "the governor's model gave no answer; taking the strictest classification");
                failed = Some(error.kind);
                break;
            }
        };
        let usage = answer.usage.or(answer.estimate.filter(|_| proposal.estimates));
        asked.push(RequestCost { rate: model.rate(&answer.model), model: answer.model, usage });
        match read(&answer.content) {
            Ok(classification) => return Reviewed { classification, answered: true, failed, asked },
            Err(problem) => {
                tracing::info!(problem, "the governor's answer was rejected");
                let again = format!("[controller] Rejected: {problem}. Answer with exactly one JSON object of the form given.");
                entries.extend([Entry::Assistant { content: answer.content, calls: Vec::new() }, Entry::User(again)]);
            }
        }
    }
    Reviewed { classification: Classification::STRICTEST, answered: false, failed, asked }
}

/// The proposal as one JSON value: whatever the arguments say, it stays inside a JSON string.
fn described(proposal: Reviewing<'_>) -> String {
    let effects: Vec<_> = proposal.effects.iter().map(|effect| effect.as_str()).collect();
    let arguments =
        serde_json::from_str::<Value>(proposal.arguments).map_or_else(|_| proposal.arguments.to_owned(), |v| v.to_string());
    json!({
        "tool": proposal.tool,
        "declared_effects": effects,
        "arguments_as_text": shortened(&arguments),
        "the_user_asked": shortened(proposal.task),
    })
    .to_string()
}

fn shortened(text: &str) -> String {
    if text.len() <= SHOWN_BYTES {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(SHOWN_BYTES / 2), text.ceil_char_boundary(text.len() - SHOWN_BYTES / 2));
    format!("{} [{} bytes left out] {}", &text[..head], tail - head, &text[tail..])
}

/// Reads the one JSON object that an answer is. White space may stand around it, and one code fence
/// around the whole, which small models write unasked. Words beside it are refused: then the object
/// may be quoted from the arguments, and the words say the opposite.
fn read(answer: &str) -> Result<Classification, String> {
    // The object asked for has a hundred bytes. An endless answer would take endless time here.
    if answer.len() > SHOWN_BYTES {
        return Err("the answer is far too long".to_owned());
    }
    let answer = answer.trim();
    let fenced = answer.strip_prefix("```json").or(answer.strip_prefix("```")).and_then(|inner| inner.strip_suffix("```"));
    let object = fenced.unwrap_or(answer).trim();
    // A list of the four values would be read as one, too.
    if !object.starts_with('{') {
        return Err("the answer is not one JSON object and nothing else".to_owned());
    }
    serde_json::from_str(object).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
