//! `/api/operator`: the tasks of the operator, and what it remembers between them.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::operator::{OperatorTaskState, Undelivered};
use crate::domain::{ApprovalId, ConversationId, ToolCallId, TurnId};

/// `GET /api/operator`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorInfo {
    /// Its one conversation, once something was said to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationId>,
    /// The channel by which orders come; absent if none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// How many numbers may order.
    pub numbers: usize,
    /// The tasks, the newest first.
    pub tasks: Vec<OperatorTaskInfo>,
    /// The numbers that may not order and wrote all the same.
    #[serde(default)]
    pub strangers: Vec<OperatorStranger>,
}

/// `GET /api/operator/tasks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorTasks {
    /// The newest first.
    pub tasks: Vec<OperatorTaskInfo>,
    /// The numbers that may not order and wrote all the same.
    #[serde(default)]
    pub strangers: Vec<OperatorStranger>,
}

/// A number that may not order, and wrote within 30 days. It got no answer, and no word of it is
/// kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorStranger {
    /// The number, masked.
    pub from: String,
    /// How many messages came.
    pub messages: i64,
    /// The day of the last one, UTC.
    pub last_on: NaiveDate,
}

/// A task of the operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorTaskInfo {
    /// Its number, which is that of its turn.
    pub id: TurnId,
    /// `QUEUED`, `RUNNING`, `AWAITING_CONFIRMATION`, `COMPLETED` or `ABORTED`.
    pub state: OperatorTaskState,
    /// The order.
    pub goal: String,
    /// The number that gave it, as a list shows it; absent if it came by the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The question that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// Why it was aborted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// True if the answer says that something was done, and nothing recorded in the task shows it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unproven: bool,
    /// Its messages that did not arrive or of which nobody knows, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered: Vec<Undelivered>,
    /// When it came.
    pub created_at: DateTime<Utc>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
}

/// `GET /api/operator/tasks/{id}/recordings`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorRecordings {
    /// The actions with a high risk that are over, the oldest first.
    pub recordings: Vec<RecordingInfo>,
}

/// The recording of an action with a high risk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordingInfo {
    /// The call.
    pub call: ToolCallId,
    /// Its tool.
    pub name: String,
    /// `done` or `failed`.
    pub state: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// The whole result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The lines that it logged.
    pub logs: Value,
    /// Each operation with request and answer.
    pub operations: Value,
    /// The pictures of the screen that are there: `before`, `after`.
    pub pictures: Vec<String>,
    /// When it was proposed.
    pub proposed_at: DateTime<Utc>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
}

/// `GET /api/operator/context`, and the answer to its `PUT`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorContextInfo {
    /// Counts its changes; 0: nothing was ever written.
    pub version: i32,
    /// The document.
    pub document: Value,
    /// Its size as compact JSON.
    pub bytes: usize,
    /// The most that is taken.
    pub most_bytes: usize,
    /// When it was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

/// Body of `PUT /api/operator/context`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetOperatorContext {
    /// The version that was read.
    pub version: i32,
    /// The whole new document.
    pub document: Value,
}
