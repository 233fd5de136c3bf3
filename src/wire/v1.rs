//! The JSON of `/v1`: as much of OpenAI's interface for chat completions as an agent can keep.
//! `docs/openai.md` describes it. Fields of our own stand under `level3`, which other clients let
//! pass.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::{ApprovalId, ConversationId, ToolCallId, TurnId};

/// The model there is: the agent.
pub const MODEL: &str = "level3";

/// `POST /v1/chat/completions`.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "an object with `model` and `messages`")]
pub struct CompletionRequest {
    /// Must be [`MODEL`].
    pub model: String,
    /// The whole history, and the input at its end.
    pub messages: Vec<GivenMessage>,
    /// Answer in pieces.
    #[serde(default)]
    pub stream: Option<bool>,
    /// The options for a stream.
    #[serde(default)]
    pub stream_options: Option<StreamOptions>,
    /// Of it, only `conversation` counts here.
    #[serde(default)]
    pub metadata: Option<Map<String, Value>>,
    /// All the rest: refused or ignored, see `docs/openai.md`.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// One entry of the history.
#[derive(Clone, Debug, Deserialize)]
#[serde(expecting = "a message, which is an object with `role` and `content`")]
pub struct GivenMessage {
    /// `system`, `developer`, `user`, `assistant`, `tool` or `function`.
    pub role: String,
    /// Text, or a list of parts.
    #[serde(default)]
    pub content: Value,
}

/// The options for a stream.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(expecting = "an object")]
pub struct StreamOptions {
    /// A last chunk with the usage.
    #[serde(default)]
    pub include_usage: Option<bool>,
}

/// A whole answer.
#[derive(Clone, Debug, Serialize)]
pub struct Completion {
    /// Made from the turn.
    pub id: String,
    /// `chat.completion`.
    pub object: &'static str,
    /// When the request was accepted, in seconds since 1970.
    pub created: i64,
    /// [`MODEL`].
    pub model: &'static str,
    /// One.
    pub choices: [Choice; 1],
    /// Of the steps made for this answer; `null` if no provider said.
    pub usage: Option<CompletionUsage>,
    /// The facts that OpenAI has no field for.
    pub level3: Level3Part,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// 0.
    pub index: u32,
    /// The answer.
    pub message: AssistantMessage,
    /// Always `null`.
    pub logprobs: Option<()>,
    /// `stop`, or `length` if a limit of tokens cut it.
    pub finish_reason: &'static str,
}

/// The words of the assistant.
#[derive(Clone, Debug, Serialize)]
pub struct AssistantMessage {
    /// `assistant`.
    pub role: &'static str,
    /// The text.
    pub content: String,
    /// Always `null`.
    pub refusal: Option<()>,
}

/// A piece of an answer.
#[derive(Clone, Debug, Serialize)]
pub struct Chunk {
    /// Made from the turn.
    pub id: String,
    /// `chat.completion.chunk`.
    pub object: &'static str,
    /// When the request was accepted, in seconds since 1970.
    pub created: i64,
    /// [`MODEL`].
    pub model: &'static str,
    /// One; none in the chunk that has the usage.
    pub choices: Vec<ChunkChoice>,
    /// There if it was asked for; `null` but in the last chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Option<CompletionUsage>>,
    /// The facts that OpenAI has no field for.
    pub level3: Level3Part,
}

/// A piece.
#[derive(Clone, Debug, Serialize)]
pub struct ChunkChoice {
    /// 0.
    pub index: u32,
    /// The words that are new.
    pub delta: Delta,
    /// Always `null`.
    pub logprobs: Option<()>,
    /// In the last one only.
    pub finish_reason: Option<&'static str>,
}

/// The piece of an answer that is new.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Delta {
    /// In the first one only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// Text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// The tokens that the answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CompletionUsage {
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Both.
    pub total_tokens: u64,
}

/// The facts that OpenAI has no field for: how to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Level3Part {
    /// The conversation to go on in.
    pub conversation: ConversationId,
    /// The turn that answers.
    pub turn: TurnId,
    /// The approval that it waits for; in the last piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// A tool is about to be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<Called>,
    /// A tool was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result: Option<Called>,
}

/// A tool call of the agent's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Called {
    /// Its number.
    pub call: ToolCallId,
    /// The tool.
    pub name: String,
    /// How it went; with its result only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
}

/// `GET /v1/models`.
#[derive(Clone, Debug, Serialize)]
pub struct Models {
    /// `list`.
    pub object: &'static str,
    /// One.
    pub data: [ModelEntry; 1],
}

/// `GET /v1/models/level3`.
#[derive(Clone, Debug, Serialize)]
pub struct ModelEntry {
    /// [`MODEL`].
    pub id: &'static str,
    /// `model`.
    pub object: &'static str,
    /// 0: it is made anew all the time.
    pub created: i64,
    /// [`MODEL`].
    pub owned_by: &'static str,
}

/// Why a request was refused or failed.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorBody {
    /// The error.
    pub error: Fault,
}

/// An error in OpenAI's form.
#[derive(Clone, Debug, Serialize)]
pub struct Fault {
    /// A sentence.
    pub message: String,
    /// Its kind: `invalid_request_error`, `authentication_error`, `permission_error`,
    /// `rate_limit_error`, `server_error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The field that is wrong.
    pub param: Option<String>,
    /// The exact fault, as OpenAI's code for it.
    pub code: Option<&'static str>,
}
