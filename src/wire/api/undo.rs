//! The JSON of `/api/kept` and `/api/calls/{call}/undo`: changes that can be put back.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{ConversationId, ToolCallId};

/// `GET /api/kept`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptCalls {
    /// The newest first.
    pub kept: Vec<KeptCall>,
}

/// A call that deleted or overwrote something that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptCall {
    /// The call.
    pub call: ToolCallId,
    /// The conversation in which it was made.
    pub conversation: ConversationId,
    /// Its tool.
    pub tool: String,
    /// When.
    pub at: DateTime<Utc>,
    /// How many rows can be put back.
    pub rows: i64,
    /// How many bytes they take.
    pub bytes: i64,
    /// Of which tables they are.
    pub tables: Vec<String>,
}

/// `POST /api/calls/{call}/undo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    /// The call.
    pub call: ToolCallId,
    /// How many rows were put back.
    pub rows: i64,
}
