//! The words of the house: types, ids and state machines. No I/O, no async, no clock.

mod account;
mod approval;
mod budget;
pub mod campaign;
mod capability;
mod door;
mod exact;
mod grants;
mod halves;
mod history;
mod http;
mod ids;
mod image;
mod instance;
mod machine;
mod mcp;
mod misfit;
mod model;
mod names;
mod operation;
pub mod operator;
mod policy;
mod profile;
mod refusal;
pub mod relay;
mod task;
pub mod todo;
mod tool;
mod turn;
mod unseen;
pub mod users;
pub mod voice;
mod wake_up;
mod words;
mod written;

pub use account::{CallAccount, CallFault, Requests, ShownColumn};
pub use approval::{ApprovalState, Channel, CountedLosses, Decision, Finding, RowLoss, Shown, ShownCapability};
pub use budget::{Budget, Budgets, Spent, TaskBudget, Used};
pub use capability::{CapabilityVersion, Draft, NAME_RULE, SourceLanguage, TestCase, valid_name};
pub use door::MessageDoor;
pub use exact::{as_written, exact, exact_text, faithful, held, numbers, undoubled};
pub use grants::{
    GrantError, Grants, HttpGrant, METHODS, Power, SECRET_NAME_RULE, Scheme, SqlAccess, binding_matches, valid_secret_name,
};
pub use halves::without_halves;
pub use history::{Exchange, History, HistoryEntry};
pub use http::{HttpRequest, HttpResponse};
pub use ids::{
    ApprovalId, ArtifactId, CampaignId, CampaignTaskId, ConversationId, InstanceId, LeadId, MessageId, RelayMessageId, StepId,
    SubtaskId, TaskId, ToolCallId, TurnId, VoiceCallId,
};
pub use image::{Image, ImageType};
pub use instance::{InstanceAction, InstanceInput, InstanceState};
pub use machine::{
    ApprovalAction, ApprovalInput, CallAction, CallInput, CallState, InvalidTransition, Machine, OperationInput, TimerAction,
    TimerInput, TimerState, TurnAction, TurnInput, VoiceAction, VoiceInput, VoiceState,
};
pub use mcp::{
    MCP_NAME_RULE, MCP_SEPARATOR, McpDefinition, McpFault, McpListing, McpTransport, mcp_tool_name, secrets_in, valid_mcp_name,
};
pub use misfit::misfit;
pub use model::{ModelInfo, Rate};
pub use names::{
    CREATE_SCRIPT, END_CONVERSATION, EXECUTE_SCRIPT, EXECUTE_SQL, IMPORT_LEADS, LIST_SCRIPTS, MANAGE_TASKS, MARK_TODO_ITEM,
    PLACE_CALL, RELAY, REQUEST_HUMAN_INTERVENTION, RESTART, RUN_SCRIPT, SCHEDULE_NEXT_HEARTBEAT, SCORE_LEADS, SEND_MESSAGE,
    TAKE_SCREENSHOT, UPDATE_GLOBAL_CONTEXT, UPDATE_SCRIPT, WRITE_CAPABILITY,
};
pub use operation::OperationKind;
pub use policy::{Classification, Effect, Grade, Impact, Mode, ProfilePolicy, Rule};
pub use profile::{
    AnswersTo, Audience, CallsPerStep, Coaching, Context, DEFAULT_PROFILE, FailureWords, Moment, Profile, TasksShown, Toolset,
    TurnLimits,
};
#[cfg(debug_assertions)]
pub use refusal::reword;
pub use refusal::{Denial, Refusal, RefusalCode, SourcePlace, worded};
pub use task::{Apart, DueTasks, Subtask, Task, TaskRecurrence, TaskStatus};
pub use tool::{
    CallRequest, EffectClass, MOST_RESULT, OperationState, Outcome, SchemaForm, SharedSpec, ToolSpec, Usage, shortened,
    without_middle,
};
pub use turn::{Failure, Origin, Role, TurnState};
pub use unseen::{invisible, seen_name, unturned};
pub use users::{Tier, UserId, UserRole, user_key, valid_display_name, valid_password, valid_user_name};
pub use wake_up::WakeUpKind;
pub use words::{DecidingWords, Heard, Words, asks};
pub use written::unmarked;
