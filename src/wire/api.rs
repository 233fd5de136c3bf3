//! What `/api` says and is told, as the server writes it and the command line reads it. `docs/api.md` describes it.

mod mcp;

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::{
    ApprovalId, ApprovalState, Budgets, Channel, ConversationId, Event, Mode, Rule, Shown, TestCase, ToolCallId, TurnId,
    TurnState,
};

pub use mcp::{McpServerEntry, McpServers, McpToolEntry, McpTools};

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// One sentence.
    pub error: String,
    /// The powers that have to be confirmed first, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants_in_words: Vec<String>,
}

/// `GET /api/approvals`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approvals {
    /// The newest first.
    pub approvals: Vec<Approval>,
}

/// `GET /api/approvals/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Its number.
    pub id: ApprovalId,
    /// Where it was asked.
    pub conversation: ConversationId,
    /// The turn that waits.
    pub turn: TurnId,
    /// The call.
    pub call: ToolCallId,
    /// Where it stands.
    pub state: ApprovalState,
    /// What the person who decides is shown.
    pub shown: Shown,
    /// The person's reason.
    pub reason: Option<String>,
    /// The way the decision came in.
    pub channel: Option<Channel>,
    /// When it was asked.
    pub created_at: DateTime<Utc>,
    /// When it becomes, or became, a refusal by itself.
    pub expires_at: DateTime<Utc>,
    /// When it was decided.
    pub decided_at: Option<DateTime<Utc>>,
    /// When what it allowed was done.
    pub used_at: Option<DateTime<Utc>>,
}

/// Body of `POST /api/approvals/{id}/approve`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// Calls of this capability need no approval from now on.
    #[serde(default)]
    pub always: bool,
}

/// Body of `POST /api/approvals/{id}/deny`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deny {
    /// Why, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// `GET /api/secrets`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Secrets {
    /// By name.
    pub secrets: Vec<Secret>,
}

/// A secret; its value is never said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Secret {
    /// Its name.
    pub name: String,
    /// When it was first set.
    pub created_at: DateTime<Utc>,
    /// When it was last set.
    pub updated_at: DateTime<Utc>,
    /// Capabilities that may use it.
    pub used_by: Vec<String>,
    /// False when the key in the data folder does not open it.
    pub readable: bool,
}

/// `GET /api/capabilities`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capabilities {
    /// By name.
    pub capabilities: Vec<CapabilityEntry>,
}

/// A capability among others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapabilityEntry {
    /// Its name.
    pub name: String,
    /// The live version.
    pub version: i32,
    /// `installed` or `disabled`.
    pub state: String,
    /// What it does.
    pub description: String,
    /// The powers of the live version, as written.
    pub grants: Value,
    /// The same in words; empty when it reaches nothing outside its sandbox.
    pub grants_in_words: Vec<String>,
    /// How many versions are kept.
    pub versions: i64,
    /// When what is live last changed.
    pub updated_at: DateTime<Utc>,
}

/// `GET /api/capabilities/{name}`: one version, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capability {
    /// Its name.
    pub name: String,
    /// This version.
    pub version: i32,
    /// The live version.
    pub live: i32,
    /// `installed` or `disabled`.
    pub state: String,
    /// What it does.
    pub description: String,
    /// What it is written in.
    pub language: String,
    /// Its source; base64 for `wasm`.
    pub source: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// Its powers, as written.
    pub grants: Value,
    /// The same in words.
    pub grants_in_words: Vec<String>,
    /// The tests kept with it.
    pub tests: Vec<TestCase>,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// sha256 of its component, in hexadecimal.
    pub sha256: String,
    /// All versions, oldest first.
    pub versions: Vec<Version>,
}

/// A kept version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Its number.
    pub version: i32,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// sha256 of its component, in hexadecimal.
    pub sha256: String,
}

/// `GET /api/capabilities/{name}/diff`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Its name.
    pub name: String,
    /// The version compared with.
    pub from: i32,
    /// The version looked at.
    pub to: i32,
    /// Of the source, then of grants, parameters and description where they differ, as one unified diff; empty when nothing differs.
    pub diff: String,
}

/// Body of `POST /api/capabilities/{name}/rollback`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollBack {
    /// The one before the live one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// True when the person has seen that the version may do more than the live one.
    #[serde(default)]
    pub confirm_grants: bool,
}

/// What is live after `rollback`, `disable` and `enable`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The capability.
    pub name: String,
    /// The live version.
    pub version: i32,
    /// `installed` or `disabled`.
    pub state: String,
}

/// `POST /api/capabilities/{name}/test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The capability.
    pub name: String,
    /// The version whose tests were run.
    pub version: i32,
    /// How many of its tests hold.
    pub passed: usize,
    /// How many do not.
    pub failed: usize,
    /// Each test as it came out: `params`, `ok`, and what there was of `expected`, `result`, `error`, `logs`.
    pub results: Vec<Value>,
}

/// A capability as a folder: file name → its text; `capability.json` as the object it holds.
pub type Folder = Map<String, Value>;

/// `GET /api/shipped`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shipped {
    /// By name.
    pub shipped: Vec<ShippedEntry>,
}

/// A capability that comes with the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShippedEntry {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it would be allowed.
    pub grants_in_words: Vec<String>,
    /// The live version of this name, if there is one.
    pub installed: Option<i32>,
}

/// An order that was taken; a turn sees to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// The turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: ConversationId,
}

/// `GET /api/turns/{id}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// Where it stands.
    pub state: TurnState,
    /// Why it ended, where it did not simply complete.
    pub reason: Option<String>,
    /// The approval it waits for.
    pub approval: Option<ApprovalId>,
    /// The calls that have an outcome, in order.
    pub results: Vec<CallResult>,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call.
    pub call: ToolCallId,
    /// Its tool.
    pub tool: String,
    /// False when it was refused or failed.
    pub ok: bool,
    /// What came of it, as a model reads it.
    pub result: String,
}

/// `GET /api/policy/{profile}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The profile.
    pub profile: String,
    /// How much happens without a person.
    pub mode: Mode,
    /// Whether a second model classifies proposals.
    pub governor: bool,
    /// How much may be used up.
    pub budgets: Budgets,
    /// What was set for single tools.
    pub rules: BTreeMap<String, Rule>,
    /// The models that work for it, as `provider/model`, in the order they are asked; none means those set for all.
    #[serde(default)]
    pub models: Vec<String>,
}

/// Body of `PUT /api/policy/{profile}`; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyChange {
    /// The mode from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Whether a second model classifies proposals from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<bool>,
    /// All budgets from now on; a limit not mentioned gets its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<Budgets>,
    /// The models that work for it from now on; an empty list means those set for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
}

/// Body of `PUT /api/policy/{profile}/rules/{tool}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleChange {
    /// The rule; `null`, which must be written, takes it away.
    #[serde(deserialize_with = "Option::deserialize")]
    pub rule: Option<Rule>,
}

/// `GET /api/rates`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Model → what it costs. What is not here costs an unknown amount.
    pub rates: BTreeMap<String, Rate>,
}

/// What a model costs, in millionths of a dollar for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// For tokens read.
    pub input_micros: u64,
    /// For tokens written.
    pub output_micros: u64,
}

/// `GET /api/usage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Since midnight, UTC.
    pub today: Span,
    /// The last 30 days on which anything was used, the newest first.
    pub days: Vec<Day>,
    /// Each model of these days, the most asked first.
    pub models: Vec<ModelUsage>,
    /// Since the beginning.
    pub total: Span,
}

/// What was used up in one span of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Of models.
    #[serde(flatten)]
    pub model: Requests,
    /// Of tools.
    pub tool_calls: CallCounts,
}

/// What was asked of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// How often.
    pub requests: u64,
    /// Tokens read, as the providers counted.
    pub input_tokens: u64,
    /// Tokens written, likewise.
    pub output_tokens: u64,
    /// Millionths of a dollar; `None` where the price of a request is not known.
    pub cost_micros: Option<u64>,
}

/// Tool calls by what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCounts {
    /// Those that succeeded.
    pub done: u64,
    /// Those that were refused or failed.
    pub failed: u64,
    /// Those without an outcome yet.
    pub open: u64,
}

/// One day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Day {
    /// The day, UTC.
    pub day: NaiveDate,
    /// What was used on it.
    #[serde(flatten)]
    pub usage: Span,
}

/// One model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelUsage {
    /// Its name.
    pub model: String,
    /// What was asked of it.
    #[serde(flatten)]
    pub usage: Requests,
}

/// `GET /api/replay/check`: whether events are what was written, and everything else is what they say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayCheck {
    /// True when nothing was found.
    pub clean: bool,
    /// How many events were replayed.
    pub events: u64,
    /// Where a stream is not what was written, in order.
    pub broken: Vec<BrokenLink>,
    /// Where a table is not what events say.
    pub differences: Vec<RowDifference>,
    /// True when there are more differences than are named.
    pub more: bool,
}

/// An event that is not what was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenLink {
    /// Whose stream.
    pub conversation: ConversationId,
    /// Which event.
    pub sequence: i64,
    /// What is wrong with it, the end of a sentence that begins with the event.
    pub what: String,
}

/// Something in a table that is not what events say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowDifference {
    /// The table.
    pub table: String,
    /// The row, by its id or ids.
    pub row: String,
    /// The column; `None` when the whole row is on one side only.
    pub column: Option<String>,
    /// What the table says, shortened; `None` for nothing.
    pub live: Option<String>,
    /// What events say, likewise.
    pub events: Option<String>,
}

/// `GET /api/replay/turns/{id}`: a turn as it was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayedTurn {
    /// The turn.
    pub turn: TurnId,
    /// Its events, oldest first.
    pub events: Vec<ReplayedEvent>,
}

/// A recorded event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayedEvent {
    /// Its number in the stream.
    pub sequence: i64,
    /// When it happened.
    pub at: DateTime<Utc>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}
