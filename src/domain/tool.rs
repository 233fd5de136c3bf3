//! Tools as the model sees them, the calls it asks for, and what comes of a call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::turn::text_enum;

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments, an object schema.
    pub parameters: Value,
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
    /// How often an effect can have happened when the process dies in the middle.
    EffectClass {
        /// In this database: effect and outcome commit together, exactly once.
        Transactional = "T",
        /// At a peer that honours an idempotency key: resent with the same key.
        Keyed = "K",
        /// Neither: never resent by itself; shown as unknown.
        Neither = "N",
    }
}

text_enum! {
    /// Where an operation of a capability's call stands.
    OperationState {
        /// About to be sent; what came of it is not known yet.
        Intended = "intended",
        /// It happened.
        Done = "done",
        /// It did not happen, or the peer refused it.
        Failed = "failed",
        /// The process died in the middle; it may have happened. Never repeated by itself.
        Unknown = "unknown",
    }
}

/// What came of a tool call; every call ends in exactly one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// False when the tool refused or failed; `result` then says why.
    pub ok: bool,
    /// What the model reads.
    pub result: String,
    /// What a capability logged, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
}

impl Outcome {
    /// A call that did what was asked.
    pub fn ok(result: impl Into<String>) -> Self {
        Self { ok: true, result: result.into(), logs: Vec::new() }
    }

    /// A call that did not; `result` is written for the model to act on.
    pub fn failed(result: impl Into<String>) -> Self {
        Self { ok: false, result: result.into(), logs: Vec::new() }
    }
}
