//! Puts the pieces of an answer together, as leniently as real servers need, and gives nothing when
//! the end is missing.

use std::collections::HashSet;

use serde_json::Value;

use super::aside::Aside;
use super::rescue::repetition::{self, Repetition};
use super::{Answer, ModelError, ModelErrorKind};
use crate::domain::{CallRequest, Usage};

/// The most tool calls one answer may ask for; with more, all of it is thrown away.
pub(super) const MAX_CALLS: usize = 1024;
/// The longest id and name of a call, name of a model and reason to end that are kept, in bytes.
const WORD_BYTES: usize = 256;
/// More tokens than this nobody counts in one answer: a number above it is a mistake, and is not
/// believed.
const MAX_TOKENS: f64 = 1e9;

/// An answer in the making.
#[derive(Debug)]
pub(super) struct Assembly {
    content: String,
    aside: Aside,
    calls: Vec<PartialCall>,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    model: Option<String>,
    started: bool,
    max_bytes: usize,
    bytes: usize,
    /// Bytes of what it thought, which are not kept.
    thought: usize,
    repetition: Repetition,
    cut_short: bool,
    wants_call: bool,
}

/// How much text may come before the first call if a call was demanded, in bytes. A server that
/// holds its model to a call by forbidding the end of the answer, and not the text, would let it
/// talk for ever.
const TALK: usize = 1024;
/// The reason recorded for an answer that this side ended, because the model talked although a call
/// was demanded.
pub(super) const NO_CALL: &str = "no_call";
/// Why an answer ended that this side ended, because it only repeated itself.
pub const REPETITION: &str = "repetition";

/// A tool call in the making.
#[derive(Debug)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    balance: Balance,
    repetition: Repetition,
}

impl PartialCall {
    fn new(index: Option<u64>) -> Self {
        let (id, name, arguments) = (String::new(), String::new(), String::new());
        Self { index, id, name, arguments, balance: Balance::default(), repetition: Repetition::in_arguments() }
    }
}

/// Tells whether the arguments are a whole object, without reading them again for each piece.
#[derive(Debug, Default)]
struct Balance {
    depth: usize,
    began: bool,
    in_string: bool,
    escaped: bool,
}

impl Balance {
    fn take(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' => {
                    self.depth += 1;
                    self.began = true;
                }
                b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn closed(&self) -> bool {
        self.began && self.depth == 0 && !self.in_string
    }
}

impl Assembly {
    /// Refuses answers longer than `max_bytes`.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            content: String::new(),
            aside: Aside::default(),
            calls: Vec::new(),
            finish_reason: None,
            usage: None,
            model: None,
            started: false,
            max_bytes,
            bytes: 0,
            thought: 0,
            repetition: Repetition::in_text(),
            cut_short: false,
            wants_call: false,
        }
    }

    /// The same for an answer from which a call was demanded.
    pub(super) fn wanting_call(self, wants_call: bool) -> Self {
        Self { wants_call, ..self }
    }

    /// True once the model has said anything, thinking included.
    pub(super) fn started(&self) -> bool {
        self.started
    }

    /// True when the end of the answer has been seen.
    pub(super) fn finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// True when the answer was ended from this side: what is still to come is not wanted.
    pub(super) fn cut_short(&self) -> bool {
        self.cut_short
    }

    /// How many bytes of it have come, thinking included.
    pub(super) fn received(&self) -> usize {
        self.bytes + self.thought
    }

    /// The tokens it cost, as far as the provider has said.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Takes one chunk of a stream, or a whole reply; gives the text that is new.
    pub(super) fn add(&mut self, chunk: &Value) -> Result<Option<String>, ModelError> {
        if let Some(model) = chunk["model"].as_str().filter(|model| !model.is_empty()) {
            self.model = Some(start_of(model).to_owned());
        }
        // One provider counts in a field of its own.
        self.usage = usage(&chunk["usage"]).or_else(|| usage(&chunk["x_groq"]["usage"])).or(self.usage);
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(choice) = choices.iter().find(|choice| choice["index"].as_u64().unwrap_or(0) == 0) else { return Ok(None) };
        let said = [&choice["delta"], &choice["message"]].into_iter().find(|said| said.is_object()).unwrap_or(&Value::Null);
        let thought =
            ["reasoning_content", "reasoning"].iter().find_map(|field| said[*field].as_str().filter(|text| !text.is_empty()));
        self.thought += thought.map_or(0, str::len);
        self.started |= thought.is_some();
        let text = match text(&said["content"]).or_else(|| text(&said["refusal"])) {
            Some(piece) => {
                self.grow(piece.len())?;
                self.started = true;
                Some(self.aside.take(&piece)).filter(|text| !text.is_empty())
            }
            None => None,
        };
        if let Some(text) = &text {
            self.content.push_str(text);
            if let Some(kept) = repetition::blank_end(&self.content) {
                // The model has said all it had to say.
                self.content.truncate(kept);
                self.cut_short_as("stop");
            } else if let Some(kept) = self.repetition.look(&self.content) {
                self.content.truncate(kept);
                self.cut_short_as(REPETITION);
            } else if self.wants_call && self.calls.is_empty() && self.content.len() >= TALK {
                self.cut_short_as(NO_CALL);
            }
        }
        // Calls of a whole reply are not in pieces.
        let whole = !choice["delta"].is_object();
        match &said["tool_calls"] {
            Value::Array(calls) => calls.iter().try_for_each(|call| self.add_call(call, whole))?,
            one @ Value::Object(_) => self.add_call(one, whole)?,
            _ => {}
        }
        let ended = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty());
        if let Some(reason) = ended.filter(|_| !self.cut_short()) {
            self.finish_reason = Some(start_of(reason).to_owned());
        }
        Ok(text)
    }

    fn add_call(&mut self, call: &Value, whole: bool) -> Result<(), ModelError> {
        let function = if call["function"].is_object() { &call["function"] } else { call };
        let index = call["index"].as_u64();
        // An id too long to be one is as good as none.
        let id = call["id"].as_str().filter(|id| id.len() <= WORD_BYTES).unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let arguments = &function["arguments"];
        if index.is_none() && id.is_empty() && name.is_empty() && arguments.is_null() {
            return Ok(());
        }
        self.started = true;
        self.grow(id.len() + name.len() + arguments.as_str().map_or(0, str::len))?;
        let place = match self.place(index, id, name, arguments).filter(|_| !whole) {
            Some(place) => place,
            None if self.calls.len() == MAX_CALLS => {
                return Err(malformed(format!(
                    "The model asked for more than {MAX_CALLS} tool calls at once; none of them was run."
                )));
            }
            None => {
                self.calls.push(PartialCall::new(index));
                self.calls.len() - 1
            }
        };
        let piece = &mut self.calls[place];
        if piece.id.is_empty() {
            piece.id = id.to_owned();
        }
        // Some servers repeat the name in every piece.
        if piece.name != name {
            piece.name.push_str(name);
        }
        match arguments {
            Value::Null => {}
            Value::String(text) => {
                piece.balance.take(text);
                piece.arguments.push_str(text);
                if let Some(kept) = piece.repetition.look(&piece.arguments).filter(|_| !piece.balance.closed()) {
                    piece.arguments.truncate(kept);
                    self.cut_short_as(REPETITION);
                }
            }
            whole => {
                piece.arguments = whole.to_string();
                piece.balance = Balance::default();
                piece.balance.take(&piece.arguments);
                let bytes = piece.arguments.len();
                self.grow(bytes)?;
            }
        }
        Ok(())
    }

    /// Which call a piece belongs to: by index, else by id, else the last one. `None` begins a new
    /// call.
    fn place(&self, index: Option<u64>, id: &str, name: &str, arguments: &Value) -> Option<usize> {
        let begins = |piece: &PartialCall| {
            // Some servers give every call the index 0, or the same id: a name after complete
            // arguments is another call if the id is another one, or if arguments begin again.
            let other = !id.is_empty() && !piece.id.is_empty() && piece.id != id;
            let again = arguments.is_object() || arguments.as_str().is_some_and(|text| text.trim_start().starts_with('{'));
            let none = !piece.balance.began;
            !name.is_empty() && (other && (none || piece.balance.closed()) || again && piece.balance.closed())
        };
        if let Some(index) = index {
            let place = self.calls.iter().rposition(|piece| piece.index == Some(index))?;
            if !begins(&self.calls[place]) {
                return Some(place);
            }
            return self.calls.iter().rposition(|piece| piece.id == id && !begins(piece));
        }
        if !id.is_empty() {
            return self.calls.iter().rposition(|piece| piece.id == id).filter(|place| !begins(&self.calls[*place]));
        }
        let last = self.calls.len().checked_sub(1)?;
        (name.is_empty() || self.calls[last].name.is_empty()).then_some(last)
    }

    fn grow(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.bytes += bytes;
        if self.bytes > self.max_bytes {
            return Err(malformed(format!("The model's answer is longer than {} bytes; it was thrown away.", self.max_bytes)));
        }
        Ok(())
    }

    /// Ends the answer from this side.
    fn cut_short_as(&mut self, reason: &str) {
        tracing::debug!(target: "level3::help", rule = "cut", reason);
        self.cut_short = true;
        self.finish_as(reason);
    }

    /// Marks the end of a complete reply that names no reason of its own.
    pub(super) fn finish_as(&mut self, reason: &str) {
        self.finish_reason = Some(reason.to_owned());
    }

    /// The answer, or `None` when its end was never seen.
    pub(super) fn finish(self, asked_for: &str) -> Option<Answer> {
        let finish_reason = self.finish_reason?;
        let mut taken = HashSet::new();
        let mut calls: Vec<CallRequest> = Vec::new();
        for (number, piece) in self.calls.into_iter().enumerate() {
            let mut id = piece.id;
            let mut next = number + 1;
            while id.is_empty() || taken.contains(&id) {
                id = format!("call_{next}");
                next += 1;
            }
            taken.insert(id.clone());
            calls.push(CallRequest { id, name: start_of(&piece.name).to_owned(), arguments: arguments(piece.arguments) });
        }
        let model = self.model.unwrap_or_else(|| asked_for.to_owned());
        let content = self.content + &self.aside.rest();
        Some(Answer { content, calls, finish_reason, usage: self.usage, estimate: None, model })
    }
}

fn malformed(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, message)
}

fn start_of(word: &str) -> &str {
    &word[..word.floor_char_boundary(WORD_BYTES)]
}

/// Content is a string, or a list of parts.
fn text(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str().or(part.as_str())).collect(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn usage(usage: &Value) -> Option<Usage> {
    // Counts come as floats, too; a negative or a boundless one says nothing.
    let count = |field: &str| usage[field].as_f64().filter(|count| (0.0..=MAX_TOKENS).contains(count)).map(|count| count as u64);
    let [input, output] = ["prompt_tokens", "completion_tokens"].map(|field| count(field).unwrap_or(0));
    // Every request has tokens: a server that says zero of both does not count.
    (input + output > 0).then_some(Usage { input, output })
}

/// JSON text of the arguments: nothing means none, and text in text is opened.
fn arguments(text: String) -> String {
    if matches!(text.trim(), "" | "null" | "\"\"") {
        return "{}".into();
    }
    match serde_json::from_str::<String>(&text) {
        Ok(inner) if matches!(serde_json::from_str(&inner), Ok(Value::Object(_))) => inner,
        _ => text,
    }
}

#[cfg(test)]
mod tests;
