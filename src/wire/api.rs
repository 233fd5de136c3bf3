//! The JSON of `/api`, as the server writes it and the command line reads it. `docs/api.md`
//! describes it.

mod activity;
mod assistant;
mod campaign_export;
mod campaigns;
mod capabilities;
mod conversations;
mod keys;
mod law;
mod mcp;
mod operator;
mod relay;
mod replay;
mod site;
mod undo;
mod users;
mod voice;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{ApprovalId, ApprovalState, Channel, ConversationId, Shown, ToolCallId, TurnId, TurnState};

pub use activity::{Events, HeartbeatReport, ListedEvent, NextWakeUp};
pub use assistant::{Allowances, AssistantState, ChatCall, ChatMessage, NamedTier, StoredChat, Tiers};
pub use campaign_export::{CampaignExport, ExportedCampaign};
pub use campaigns::{
    AllowNext, AnswerQuestion, ArtifactVersions, CampaignInfo, CampaignLeads, CampaignList, CampaignLogKinds, CampaignLogLine,
    CampaignMade, CampaignOrderForm, CampaignStateInfo, CampaignTaskDeed, CampaignTaskOrder, CampaignTold, CampaignVerified,
    CampaignVocabulary, ChangeCampaignTask, ImportLeads, KeepArtifact, SetLead, ShownCampaignTask, ShownCondition,
    SteeredCampaign,
};
pub use capabilities::{
    Capabilities, Capability, CapabilityCall, CapabilityDiff, CapabilityEntry, CapabilityFolder, CapabilityUse, Changed,
    DescribedCapability, ExportedFolder, LastError, RollBack, Shipped, ShippedEntry, Tested, TestedCase, Version,
};
pub use conversations::{
    BranchPoint, ChangedConversation, ConversationChange, ConversationExport, Conversations, Deleted, Frames, ListedConversation,
    MadeConversation, NewConversation, Piece, SearchHit, SearchResults, TaskOrder, Tasks,
};
pub use law::{CallCounts, Day, ModelUsage, NamedPolicy, PolicyChange, Rates, Requests, RuleChange, Span, UsageReport};
pub use mcp::{McpServerEntry, McpServers, McpToolEntry, McpTools, RemovedMcpServer};
pub use operator::{
    OperatorContextInfo, OperatorInfo, OperatorRecordings, OperatorStranger, OperatorTaskInfo, OperatorTasks, RecordingInfo,
    SetOperatorContext,
};
pub use relay::{
    ChannelInfo, ChannelList, ChannelUse, InstanceInfo, InstanceOrder, Instances, LoopbackCame, LoopbackPhone, LoopbackSay,
    NewWebhook, PaceInForce, PhoneMessage, RelayExport, RelaySettingsInfo, RelayStatus, RemovedWebhook, SaidAsAgent, SayAsAgent,
    SettleMessage, SettledAs, Transcript, TranscriptMessage, TranscriptMessages, WebhookInfo, WebhookList, WebhookTried,
};
pub use replay::{BrokenLink, ReplayCheck, ReplayedEvent, ReplayedTurn, RowDifference};
pub use site::{FoundModels, MadeBackup, ModelCheck, ModelProvider, ModelTested, ModelToTest, SettingStates};
pub use undo::{KeptCall, KeptCalls, Undone};
pub use users::{
    AddUser, ChangeMe, ChangeUser, EndedSession, FirstPassword, Invited, ListedUser, MadeToken, Me, OpenSession, OpenSessions,
    PasswordSet, RemovedUser, RevokedTokens, SetPassword, SignIn, SignedIn, SignedOut, UserInfo, Users,
};
pub use voice::{
    BeginCall, EndedCall, SpeechPlaces, SpeechTrial, SpokenText, Transcription, TriedSpeech, VapiRoom, VoiceCall, VoiceLine,
};

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiError {
    /// One sentence.
    pub error: String,
    /// The powers that have to be confirmed first, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants_in_words: Vec<String>,
    /// The field at fault, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<FieldFault>,
}

/// A field of a body that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldFault {
    /// Its name.
    pub field: String,
    /// A sentence for a person who sees the field and no name.
    pub says: String,
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
    /// The conversation in which it was asked.
    pub conversation: ConversationId,
    /// The turn that waits.
    pub turn: TurnId,
    /// The call.
    pub call: ToolCallId,
    /// Its state.
    pub state: ApprovalState,
    /// The proposal, as it is shown to the person who decides.
    pub shown: Shown,
    /// Fingerprint of the proposal; it stays inside the server.
    #[serde(skip)]
    pub proposal_sha256: Vec<u8>,
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

/// `DELETE /api/secrets/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedSecret {
    /// Its name.
    pub removed: String,
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
pub struct TurnReport {
    /// The turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// Its state.
    pub state: TurnState,
    /// The reason for its end, if it did not simply complete.
    pub reason: Option<String>,
    /// The approval it waits for.
    pub approval: Option<ApprovalId>,
    /// The approval that an earlier turn of the conversation waits for, if this one is queued
    /// behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<ApprovalId>,
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
    /// The outcome, as a model reads it.
    pub result: String,
}
