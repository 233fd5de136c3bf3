//! The operator: whose orders its tasks are, what state a task is in for a person, what lasts between tasks, and the words that go back.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::relay::{hides, plain_text};
use super::turn::text_enum;
use super::{ApprovalState, DecidingWords, Shown, TurnState, Words};

/// The most bytes of the global context, as compact JSON.
pub const MOST_CONTEXT: usize = 8 << 10;
/// The most characters of the arguments that a question shows: five messages of WhatsApp.
const MOST_ARGUMENTS: usize = 20_000;

text_enum! {
    /// The state of a task of the operator, as its person reads it.
    OperatorTaskState {
        /// It waits for those before it.
        Queued = "QUEUED",
        /// It is worked on.
        Running = "RUNNING",
        /// It waits for CONFIRMAR or CANCELAR.
        AwaitingConfirmation = "AWAITING_CONFIRMATION",
        /// It was answered.
        Completed = "COMPLETED",
        /// It was refused, stopped, or reached a limit, or something failed.
        Aborted = "ABORTED",
    }
}

impl From<TurnState> for OperatorTaskState {
    fn from(state: TurnState) -> Self {
        match state {
            TurnState::Queued => Self::Queued,
            TurnState::Running => Self::Running,
            TurnState::AwaitingApproval => Self::AwaitingConfirmation,
            TurnState::Completed => Self::Completed,
            TurnState::Aborted | TurnState::Failed => Self::Aborted,
        }
    }
}

/// The source of an order. The id of its message says it, so that an order that comes twice is one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSource {
    /// The channel.
    pub channel: String,
    /// The number, as E.164.
    pub address: String,
    /// The peer's id of the message.
    pub peer_id: String,
}

/// Begins the ids of messages that came by a channel.
const SOURCE: &str = "operator/";

impl OrderSource {
    /// The id of the message.
    pub fn client_id(&self) -> String {
        format!("{SOURCE}{}/{}/{}", self.channel, self.address, self.peer_id)
    }

    /// The source that an id says; `None` if the message came in another way, such as the page.
    pub fn of(client_id: &str) -> Option<Self> {
        let mut parts = client_id.strip_prefix(SOURCE)?.splitn(3, '/').map(str::to_owned);
        Some(Self { channel: parts.next()?, address: parts.next()?, peer_id: parts.next()? })
    }
}

/// The operator's memory between tasks: one document, apart from its conversations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlobalContext {
    /// Counts its changes; 0: nothing was ever written.
    pub version: i32,
    /// The document.
    pub document: Value,
    /// When it was changed.
    pub updated_at: Option<DateTime<Utc>>,
}

impl Default for GlobalContext {
    fn default() -> Self {
        Self { version: 0, document: json!({}), updated_at: None }
    }
}

/// The reason why the global context is not changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ContextRefused {
    /// It is no object.
    #[error("the global context is one JSON object, such as {{\"project\": \"shop\"}}")]
    NoObject,
    /// It is too large.
    #[error(
        "the global context has {0} bytes as compact JSON; {MOST_CONTEXT} is the most. Keep what a later task needs and leave the rest out"
    )]
    TooLarge(usize),
    /// Somebody else changed it meanwhile.
    #[error("it was changed meanwhile: it has version {}, not {given}. It is now {}", .now.version, .now.document)]
    Overtaken {
        /// The version that the change is about.
        given: i32,
        /// The document as it is.
        now: Box<GlobalContext>,
    },
}

/// Looks whether a document may be the global context.
///
/// # Errors
/// If it is no object, or too large.
pub fn fits(document: &Value) -> Result<(), ContextRefused> {
    if !document.is_object() {
        return Err(ContextRefused::NoObject);
    }
    match document.to_string().len() {
        bytes if bytes > MOST_CONTEXT => Err(ContextRefused::TooLarge(bytes)),
        _ => Ok(()),
    }
}

/// The end of the prompt: the names of the scripts, and the global context.
pub fn known<'a>(scripts: impl Iterator<Item = &'a str>, context: &GlobalContext) -> String {
    let names: Vec<_> = scripts.collect();
    let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
    format!("Scripts there are: {names}.\nGlobal context, version {}: {}", context.version, context.document)
}

/// The reason why a task ends without an answer of the model: a person said no to a call of `tool`, or said nothing in time.
pub fn ended_by(state: ApprovalState, tool: &str) -> Option<String> {
    match state {
        ApprovalState::Denied => {
            Some(format!("You said no to `{tool}`, so the task is aborted. Nothing of that action was done."))
        }
        ApprovalState::Expired => {
            Some(format!("Nobody confirmed `{tool}` in time, so the task is aborted. Nothing of that action was done."))
        }
        ApprovalState::Pending | ApprovalState::Approved | ApprovalState::Void => None,
    }
}

/// A question, as its person reads it on the phone.
pub fn question(task: i64, shown: &Shown, until: DateTime<Utc>) -> String {
    let Shown { tool, what, question, why, arguments, words, .. } = shown;
    let arguments = written_out(&serde_json::to_string_pretty(arguments).unwrap_or_default());
    let cut = arguments.chars().count() > MOST_ARGUMENTS;
    let mut arguments: String = arguments.chars().take(MOST_ARGUMENTS).collect();
    if cut {
        arguments.push_str("\n… (cut: the page shows all of it)");
    }
    let (what, why) = (plain_text(&question.clone().unwrap_or_else(|| what.join(" "))), plain_text(why));
    let Words { approve, deny, .. } = words;
    let (yes, no) = (approve.first().map_or("CONFIRMAR", String::as_str), deny.first().map_or("CANCELAR", String::as_str));
    format!(
        "Task {task} asks before it goes on.\n\n{what}\n\n{why}\n\n{tool} {arguments}\n\nAnswer {yes} to allow exactly this, or {no} to abort the task. After {} \
         (UTC) it is aborted.",
        until.format("%Y-%m-%d %H:%M")
    )
}

/// JSON on which everything that hides or turns text stands as its number: it means the same, and a person sees it.
fn written_out(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for letter in json.chars() {
        match hides(letter) {
            true => letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| shown += &format!("\\u{unit:04x}")),
            false => shown.push(letter),
        }
    }
    shown
}

/// The answer to a second order: how many are before it.
pub fn place(task: i64, before: i64) -> String {
    let many = if before == 1 { "1 task is".to_owned() } else { format!("{before} tasks are") };
    format!("Task {task} is queued: {many} before it.")
}

/// The answer to a word that decides, if nothing waits for one.
pub const NOTHING_WAITS: &str = "Nothing waits for a confirmation now, so nothing was done.";
/// The answer to a word that decides, if its sender cannot have read the question that waits.
pub const WRITTEN_BEFORE: &str =
    "That was written before the question was sent, so nothing was done. The question still waits for CONFIRMAR or CANCELAR.";
/// The answer to a word that came from another number than the order.
pub const ANOTHERS: &str =
    "The question that waits belongs to another number's task; only that number, the page or the command line decides.";
/// The answer to a plain yes, if the question that waits wants more.
pub const NOT_ENOUGH: &str =
    "A plain yes is not enough for this one. Answer CONFIRMAR to allow it, or CANCELAR to abort the task.";
/// The answer to an edited or deleted message.
pub const NO_EDITS: &str = "Edited and deleted messages are not orders, and they decide nothing. Send a new message.";

/// True if a message is nothing but words made to decide: they are never an order.
pub fn only_decides(message: &str) -> bool {
    words(&["CONFIRMAR", "CONFIRM"], &["CANCELAR", "CANCEL"]).heard(message).is_some()
}

/// True if a message is nothing but a plain yes. It allows what has little effect; while something waits it is never an order.
pub fn plain_yes(message: &str) -> bool {
    words(DecidingWords::HOUSE.yes, &[]).heard(message).is_some()
}

fn words(approve: &[&str], deny: &[&str]) -> Words {
    let owned = |words: &[&str]| words.iter().copied().map(str::to_owned).collect();
    Words { approve: owned(approve), deny: owned(deny), fillers: Vec::new(), others_decline: false }
}

#[cfg(test)]
mod tests;
