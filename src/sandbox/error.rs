//! Errors, in words a model can act on.

use serde::Serialize;
use serde_json::Value;

use crate::domain::{CallFault, Refusal, RefusalCode, SourcePlace, WRITE_CAPABILITY};

/// The sandbox could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// wasmtime refused its settings or the machine.
    #[error("this machine cannot run WebAssembly")]
    Engine(#[source] wasmtime::Error),
    /// The thread that counts time could not be started.
    #[error("the sandbox could not start a thread")]
    Thread(#[source] std::io::Error),
}

/// Why a draft is not accepted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CheckError {
    /// The kind of fault.
    pub kind: RefusalCode,
    /// The fault, and how to put it right.
    pub message: String,
    /// The place of the fault in the source.
    pub place: Option<SourcePlace>,
    /// The text of the source around that place.
    pub near: Option<String>,
    /// The test that failed.
    pub test: Option<Box<FailedTest>>,
}

/// Which test failed and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedTest {
    /// Counts from 1.
    pub case: usize,
    /// The result that the author expected; absent if success was enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// The result; absent if the call failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<Value>,
    /// The lines the capability logged until then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
}

impl CheckError {
    pub(super) fn new(kind: RefusalCode, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: None, near: None, test: None }
    }

    pub(super) fn at(mut self, place: Option<SourcePlace>) -> Self {
        self.place = place;
        self
    }

    /// The refusal that its author reads, a model or a person.
    pub fn refusal(&self) -> Refusal {
        let Self { kind, message, place, near, test } = self;
        let fault = CallFault { message: message.clone(), line: place.map(|place| place.line) };
        let mut refusal = Refusal::new(*kind, message).at(*place).with_fault(fault);
        if let Some(near) = near {
            refusal = refusal.with("near", near.as_str());
        }
        if let Some(Ok(Value::Object(test))) = test.as_ref().map(serde_json::to_value) {
            refusal.more.extend(test);
        }
        refusal
    }
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The arguments do not fit the parameters schema; the capability was not run.
    #[error("{fault}{advice}")]
    InvalidArguments {
        /// Each wrong one, and the value expected.
        fault: String,
        /// The schema, behind it for a model alone.
        advice: String,
    },
    /// The code threw.
    #[error("{name}: {message}")]
    Threw {
        /// The error's name; `Error` if the code threw something else.
        name: String,
        /// Its message.
        message: String,
        /// The place in the source that threw it.
        place: Option<SourcePlace>,
    },
    /// It ran into one of [`super::SandboxLimits`].
    #[error("{fault}{advice}")]
    Limit {
        /// The limit, and how the call met it.
        fault: String,
        /// A way on, behind it for the code's author alone; may be empty.
        advice: &'static str,
    },
    /// The component cannot be loaded, or broke.
    #[error("the capability cannot be used: {0}")]
    Unusable(String),
}

/// Errors that are the code's own fault, and not of the things it met.
const FAULTS: [&str; 4] = ["TypeError", "ReferenceError", "SyntaxError", "RangeError"];

impl CallError {
    /// The refusal that the model reads, with the fault as a person is told it.
    pub fn refusal(&self) -> Refusal {
        let of = |code| Refusal::new(code, self.to_string());
        let told = |fault: &str| CallFault { message: format!("{fault}."), line: None };
        match self {
            Self::InvalidArguments { fault, .. } => of(RefusalCode::InvalidArguments).with_fault(told(fault)),
            Self::Threw { name, message, place } => {
                let fault = FAULTS.contains(&name.as_str());
                let code = if fault { RefusalCode::CapabilityFault } else { RefusalCode::CapabilityFailed };
                let thrown = CallFault { message: Refusal::thrown_on(message), line: place.map(|place| place.line) };
                let refusal = Refusal::new(code, message).at(*place).with("name", name.as_str()).with_fault(thrown);
                let hint =
                    format!("a fault in the code: correct it with {WRITE_CAPABILITY} under the same name, then call it again");
                if fault { refusal.with("hint", hint) } else { refusal }
            }
            Self::Limit { fault, .. } => of(RefusalCode::LimitExceeded).with_fault(told(fault)),
            Self::Unusable(_) => of(RefusalCode::CapabilityUnusable),
        }
    }

    pub(super) fn place(&self) -> Option<SourcePlace> {
        match self {
            Self::Threw { place, .. } => *place,
            Self::InvalidArguments { .. } | Self::Limit { .. } | Self::Unusable(_) => None,
        }
    }
}
