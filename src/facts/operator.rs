//! The operator: what it remembers between tasks, and the pictures of the screen that it took.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, Reading};
use super::message::{MESSAGES, attachments};
use super::rows::Table;
use crate::domain::{Image, ToolCallId, TurnId};

/// The one document.
pub(super) static OPERATOR_CONTEXT: Table = Table::all("operator_context", "context_id::text");

/// The global context was written anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlobalContextChanged {
    /// Its version from now on.
    pub version: i32,
    /// The whole document.
    pub document: Value,
}

impl Fact for GlobalContextChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { version, document } = self;
        to.rows(|at| {
            let row = json!({ "context_id": 1, "version": version, "document": document, "updated_at": at.time });
            [OPERATOR_CONTEXT.set(1, row)]
        })
        .print(|| (format!("the global context is at version {version}"), document.to_string()));
    }
}

/// A call took a picture of the screen, which is an attachment of its result. It comes behind the
/// end of the call, in the same transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScreenPictured {
    /// The turn.
    pub turn: TurnId,
    /// The tool call.
    pub call: ToolCallId,
    /// The picture.
    pub image: Image,
}

impl Fact for ScreenPictured {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, call, image } = self;
        to.rows(|_| {
            let result = MESSAGES.set(format!("tool/{call}"), json!({ "images": [image] }));
            attachments(std::slice::from_ref(image)).chain([result]).collect::<Vec<_>>()
        })
        .print(|| (format!("call {call} took a picture of the screen"), format!("{}, {}", image.words(), image.sha256)));
    }
}
