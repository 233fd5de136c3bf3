//! The reach of a capability outside the sandbox: operations that its caller does for it. The
//! sandbox compares each with the grants before it hands it on; the caller decides how it is done,
//! recorded and limited.

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{HttpRequest, Refusal, RefusalCode, SourcePlace};

/// Does the operations of one call outside the sandbox, under the permit of that call.
pub trait Reach: Send + Sync {
    /// Does one operation. The answer is JSON text for the guest, in the form that
    /// [`OperationRequest`] says. The sandbox polls the future only while the call lives, and drops
    /// it at the call's deadline.
    fn perform(&self, operation: Operation) -> BoxFuture<'static, Result<String, OperationRefused>>;

    /// A placeholder that stands for a secret's value until a request leaves.
    ///
    /// # Errors
    /// If there is no such secret, in words for the capability's author.
    fn secret(&self, name: &str) -> Result<String, OperationRefused>;

    /// Hears of an operation that the sandbox refused: its request is none, or no grant allows it.
    /// It is not done.
    fn refused(&self, _: RefusedOperation) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }

    /// How deep the call is nested in calls of other capabilities: 0 for a turn's own call. Calls
    /// of each depth have room of their own, so that calls which wait for others cannot keep those
    /// from running.
    fn depth(&self) -> usize {
        0
    }
}

/// One operation of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Counts from 1 in the order in which the call started its operations; the same code with the
    /// same arguments starts them in the same order.
    pub ordinal: u32,
    /// The operation itself.
    pub request: OperationRequest,
}

/// An operation that the sandbox refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedOperation {
    /// Its number, counted with the others.
    pub ordinal: u32,
    /// The request, as the code wrote it.
    pub request: String,
    /// The reason.
    pub why: String,
}

/// The kinds of operation, and the answer to each.
#[derive(Clone, Debug, PartialEq)]
pub enum OperationRequest {
    /// `fetch`: the method is in capitals, the address in the one form that the `url` crate gives
    /// it, and a grant allows it. Answers [`crate::domain::HttpResponse::to_json`], whatever the
    /// status.
    Http(HttpRequest),
    /// `host.sql`. Answers an array of row objects, or `{"row_count": n}` for a change.
    Sql {
        /// One statement, with `$1`, `$2` … for the parameters.
        text: String,
        /// The parameters.
        params: Vec<Value>,
    },
    /// `host.kv`. Answers as [`KvRequest`] says.
    Kv(KvRequest),
    /// `host.call`. Answers the tool's result in the text for a model, JSON or not; a failed
    /// outcome is [`OperationRefused`] with its text.
    Tool {
        /// The tool's name.
        name: String,
        /// Its arguments.
        params: Value,
    },
}

/// One use of a capability's own values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum KvRequest {
    /// Answers the value, or `null`.
    Get {
        /// The key.
        key: String,
    },
    /// Keeps a value; answers `null`.
    Set {
        /// The key.
        key: String,
        /// The value, in place of any before.
        #[serde(default)]
        value: Value,
    },
    /// Forgets a key; answers whether it had a value: `true` or `false`.
    Delete {
        /// The key.
        key: String,
    },
    /// Answers the keys with this beginning, in their order, as an array.
    List {
        /// Their beginning; empty for all.
        #[serde(default)]
        prefix: String,
    },
}

/// The reason why an operation was not done; the guest gets an Error with this message.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct OperationRefused {
    /// The fault, and the way to do it instead.
    pub message: String,
    /// The grants that the capability lacks for it.
    pub missing: Option<Box<Missing>>,
}

impl OperationRefused {
    /// A refusal in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), missing: None }
    }
}

impl From<Missing> for OperationRefused {
    fn from(missing: Missing) -> Self {
        let Missing { lacks, grants, after, .. } = &missing;
        let message = format!("{lacks}, write it again with grants {grants}{after}");
        Self { message, missing: Some(Box::new(missing)) }
    }
}

/// Grants that a capability lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// The power that the capability lacks, and its purpose.
    pub lacks: String,
    /// The grants to ask for, as an author writes them.
    pub grants: Value,
    /// The words behind the grants.
    pub after: &'static str,
    /// True if the author has nothing left to fill in in them.
    pub whole: bool,
}

impl Missing {
    /// The same as a refusal of the code. The grants stand beside the message and not in it: if a
    /// text is escaped twice, a small model copies it with the backslashes.
    pub fn refusal(&self, place: Option<SourcePlace>) -> Refusal {
        let message = format!("{}, write it again with these grants{}", self.lacks, self.after);
        Refusal::new(RefusalCode::MissingGrant, message).at(place).asking_for(self.grants.clone())
    }
}

/// Reaches nothing: every operation is refused. For calls that must have no effect.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Nothing {
    fn refused() -> OperationRefused {
        OperationRefused::new(
            "nothing outside the sandbox is reached here: this is a check or a trial, which must have no effects",
        )
    }
}

impl Reach for Nothing {
    fn perform(&self, _: Operation) -> BoxFuture<'static, Result<String, OperationRefused>> {
        std::future::ready(Err(Self::refused())).boxed()
    }

    fn secret(&self, _: &str) -> Result<String, OperationRefused> {
        Err(Self::refused())
    }
}
