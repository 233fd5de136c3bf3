//! Tools as models see them, the calls that models ask for, and the outcomes of calls.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::turn::text_enum;
use super::{CallAccount, Refusal, RefusalCode};

/// A tool as a model is offered it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name by which the model calls it.
    pub name: String,
    /// Its description, for the model.
    pub description: String,
    /// JSON Schema of its arguments, an object schema.
    pub parameters: Value,
}

/// How much of JSON Schema a provider takes for parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaForm {
    /// All of it.
    Full,
    /// One type for each value, no `$ref`, no `additionalProperties`, and no object without
    /// properties.
    Plain,
}

/// A tool as request after request offers it: shared by all of them, measured once, and written
/// once for each form.
#[derive(Clone, Debug)]
pub struct SharedSpec(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    spec: ToolSpec,
    bytes: usize,
    /// Its JSON in requests, by the form of its schema.
    sent: [OnceLock<Box<RawValue>>; 2],
}

impl SharedSpec {
    /// The bytes of its name, its description and its schema.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Its JSON in a request. The first one `writes` it.
    pub fn sent(&self, form: SchemaForm, writes: impl FnOnce(&ToolSpec) -> Box<RawValue>) -> &RawValue {
        self.0.sent[form as usize].get_or_init(|| writes(&self.0.spec))
    }
}

impl PartialEq for SharedSpec {
    fn eq(&self, other: &Self) -> bool {
        self.0.spec == other.0.spec
    }
}

impl From<ToolSpec> for SharedSpec {
    fn from(spec: ToolSpec) -> Self {
        let bytes = spec.name.len() + spec.description.len() + spec.parameters.to_string().len();
        Self(Arc::new(Shared { spec, bytes, sent: Default::default() }))
    }
}

impl Deref for SharedSpec {
    type Target = ToolSpec;

    fn deref(&self) -> &ToolSpec {
        &self.0.spec
    }
}

/// A tool call as a model asked for it: a proposal, nothing more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRequest {
    /// The model's own id for the call; unique within its step.
    pub id: String,
    /// The tool's name, unchecked.
    pub name: String,
    /// The arguments as JSON text, unchecked.
    pub arguments: String,
}

/// Tokens that one model request cost, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
}

text_enum! {
    /// How often an effect can have happened if the process dies in the middle.
    EffectClass {
        /// In this database: effect and outcome commit together, exactly once.
        Transactional = "T",
        /// At a peer that honours an idempotency key: the server sends it again with the same key.
        Keyed = "K",
        /// Neither: the server never sends it again by itself, and shows it as unknown.
        Neither = "N",
    }
}

text_enum! {
    /// The state of an operation of a capability's call.
    OperationState {
        /// About to be sent; its end is not known yet.
        Intended = "intended",
        /// It happened.
        Done = "done",
        /// It did not happen, or the peer refused it.
        Failed = "failed",
        /// The process died in the middle, so it may have happened. The server never repeats it by
        /// itself.
        Unknown = "unknown",
    }
}

/// The most bytes of a recorded result. Tools have smaller limits of their own, with better words;
/// this one is for all.
pub const MOST_RESULT: usize = 512 << 10;
/// The most bytes of a logged line: all that one call of a capability may log.
const MOST_LINE: usize = 16 << 10;
/// The most bytes of all logged lines.
const MOST_LOGS: usize = 64 << 10;

/// The text, or if it is longer than `most` bytes, its beginning and a word that it was cut.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let shown = &text[..text.floor_char_boundary(most)];
    Cow::Owned(format!("{shown}… (cut: it has {} bytes)", text.len()))
}

/// The text, or if it is longer than `most` bytes, its beginning and its end, with a word between
/// them about what is left out.
pub fn without_middle(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let head = text.floor_char_boundary(most * 2 / 3);
    let tail = text.ceil_char_boundary(text.len() - most / 3);
    format!("{}\n[… {} bytes left out here …]\n{}", &text[..head], tail - head, &text[tail..])
}

/// The outcome of a tool call; every call ends in exactly one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// False if the tool refused or failed; `result` then says why.
    pub ok: bool,
    /// The text for the model.
    pub result: String,
    /// The lines that a capability logged, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
    /// The kind of refusal, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<RefusalCode>,
    /// The facts for a person that no model reads.
    #[serde(default, skip_serializing_if = "CallAccount::is_empty")]
    pub account: CallAccount,
}

impl Outcome {
    /// A call that did its work.
    pub fn ok(result: impl Into<String>) -> Self {
        Self { ok: true, result: result.into(), logs: Vec::new(), refusal: None, account: CallAccount::default() }
    }

    /// The same in the form that is recorded: no longer than any of its readers can take.
    pub fn bounded(mut self) -> Self {
        if let Cow::Owned(result) = shortened(&self.result, MOST_RESULT) {
            self.result = result;
        }
        let (lines, mut bytes) = (self.logs.len(), 0);
        for line in &mut self.logs {
            if let Cow::Owned(shown) = shortened(line, MOST_LINE) {
                *line = shown;
            }
        }
        if let Some(fault) = &mut self.account.fault
            && let Cow::Owned(shown) = shortened(&fault.message, MOST_LINE)
        {
            fault.message = shown;
        }
        self.logs.retain(|line| {
            bytes += line.len() + 1;
            bytes <= MOST_LOGS
        });
        if self.logs.len() < lines {
            self.logs.push(format!("… (cut: {lines} lines were logged)"));
        }
        self
    }

    /// A call that was not carried out.
    pub fn refused(refusal: &Refusal) -> Self {
        let account = CallAccount { fault: refusal.fault.clone(), ..CallAccount::default() };
        Self { refusal: Some(refusal.code), account, ..Self::failed(refusal.for_model()) }
    }

    /// A call that failed; `result` tells the model what to do.
    pub fn failed(result: impl Into<String>) -> Self {
        Self { ok: false, result: result.into(), logs: Vec::new(), refusal: None, account: CallAccount::default() }
    }
}

#[cfg(test)]
mod tests;
