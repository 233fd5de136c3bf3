//! The operator: whose orders its tasks are, what state a task is in for a person, what lasts
//! between tasks, and the words that go back.

use std::borrow::Cow;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::relay::{DeliveryState, MOST_TEXT_IN, hides, plain_text};
use super::turn::text_enum;
use super::{ApprovalState, DecidingWords, MessageDoor, Shown, TurnState, Words};

/// The most bytes of the global context, as compact JSON.
pub const MOST_CONTEXT: usize = 8 << 10;
/// The most characters of an answer, or of the arguments of a question, that a channel is given:
/// five messages of WhatsApp.
const MOST_SENT: usize = 20_000;

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

/// The source of an order. The id of its message says it, so that an order that comes twice is one
/// task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSource {
    /// The channel.
    pub channel: String,
    /// The number, as E.164.
    pub address: String,
    /// The peer's id of the message.
    pub peer_id: String,
}

impl OrderSource {
    /// The id of the message.
    pub fn client_id(&self) -> String {
        MessageDoor::Channel.id(format_args!("{}/{}/{}", self.channel, self.address, self.peer_id))
    }

    /// The source that an id says; `None` if the message came in another way, such as the page.
    pub fn of(client_id: &str) -> Option<Self> {
        let mut parts = MessageDoor::Channel.own(client_id)?.splitn(3, '/').map(str::to_owned);
        Some(Self { channel: parts.next()?, address: parts.next()?, peer_id: parts.next()? })
    }
}

text_enum! {
    /// The subject of a message about a task.
    Subject {
        /// A question that waits for the person.
        Question = "question",
        /// A picture of the screen.
        Picture = "picture",
        /// Something that befell it: a script of it is disabled.
        Notice = "notice",
        /// The outcome of the task.
        Answer = "answer",
    }
}

impl Subject {
    /// The key of the question in an approval, of a picture, of a notice and of the outcome;
    /// [`Self::of`] reads them.
    pub fn key(self, number: i64) -> String {
        let begins = match self {
            Self::Question => "ask",
            Self::Picture => "shot",
            Self::Notice => "told",
            Self::Answer => "end",
        };
        format!("{begins}-{number}")
    }

    /// The subject of the message of this key.
    pub fn of(key: &str) -> Self {
        match key.split_once('-') {
            Some(("ask", _)) => Self::Question,
            Some(("shot", _)) => Self::Picture,
            Some(("told", _)) => Self::Notice,
            _ => Self::Answer,
        }
    }
}

/// A message about a task that did not arrive, or of which nobody knows whether it did. As text it
/// says so to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undelivered {
    /// Its subject.
    pub about: Subject,
    /// `failed` or `unknown`.
    pub state: DeliveryState,
    /// Why, as the channel says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Undelivered {
    /// A message in this state; `None` if it is on its way or has arrived.
    pub fn of(about: Subject, state: Option<DeliveryState>, reason: Option<String>) -> Option<Self> {
        let state = state.filter(|state| [DeliveryState::Failed, DeliveryState::Unknown].contains(state))?;
        Some(Self { about, state, reason })
    }
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { about, state, reason } = self;
        let how = if *state == DeliveryState::Failed { "did not arrive" } else { "may not have arrived" };
        write!(f, "the {about} {how}")?;
        if let Some(reason) = reason {
            write!(f, " ({})", plain_text(reason).replace('\n', " "))?;
        }
        match (about, state) {
            (Subject::Question, _) => f.write_str("; decide in the page's place Operator, or with level3 approvals"),
            (_, DeliveryState::Unknown) => f.write_str("; the page's place Relay sends it again"),
            _ => Ok(()),
        }
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
    /// It has another version: somebody else changed it meanwhile, or it never had this one.
    #[error("{} It is now {}", not_version(*given, now), .now.document)]
    Overtaken {
        /// The version that the change is about.
        given: i32,
        /// The document as it is.
        now: Box<GlobalContext>,
    },
}

/// The reason why a change from this version is not about the document as it is.
fn not_version(given: i32, now: &GlobalContext) -> String {
    match now.version {
        version if (0..version).contains(&given) => format!("it was changed meanwhile: it has version {version}, not {given}."),
        version => format!("version {given} was never there; it has version {version}."),
    }
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

/// The note behind the answer of a task in which no call was carried out: it says so, and names the
/// `offers`, which are the things that the person can order.
pub fn no_action(offers: &[String]) -> String {
    const NONE: &str = "No action was taken for this order";
    match offers {
        [] => format!("{NONE}."),
        [one] => format!("{NONE}; I can {one}."),
        [first @ .., last] => format!("{NONE}; I can {} or {last}.", first.join(", ")),
    }
}

/// The answer of a task as its person reads it: behind the model's words the note, if there is one.
pub fn with_note<'a>(answer: &'a str, note: Option<&str>) -> Cow<'a, str> {
    let behind = if answer.is_empty() { "" } else { "\n\n" };
    note.map_or(Cow::Borrowed(answer), |note| Cow::Owned(format!("{answer}{behind}{note}")))
}

/// The reason why a task ends without an answer of the model: a person said no to a call of `tool`,
/// or said nothing in time.
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

/// A question, as its person reads it on the phone. One that messages cannot show whole is allowed
/// elsewhere.
pub fn question(task: i64, shown: &Shown, until: DateTime<Utc>) -> String {
    let Shown { tool, what, question, why, .. } = shown;
    let arguments = arguments_of(shown);
    let cut = beginning(&arguments);
    let (what, why) = (plain_text(&question.clone().unwrap_or_else(|| what.join(" "))), plain_text(why));
    let Words { approve, deny, .. } = shown.words_of_sender();
    let (yes, no) = (approve.first().map_or("CONFIRMAR", String::as_str), deny.first().map_or("CANCELAR", String::as_str));
    let decide = match cut {
        None => format!("Answer {yes} to allow exactly this, or {no} to abort the task."),
        Some(_) => format!(
            "Messages cannot show all of it, so no word here allows it: read it and decide in the page's place Operator, or with \
             level3 approvals. Answer {no} to abort the task."
        ),
    };
    let arguments = cut.unwrap_or(arguments);
    format!(
        "Task {task} asks before it goes on.\n\n{what}\n\n{why}\n\n{tool} {arguments}\n\n{decide} After {} (UTC) it is aborted.",
        until.format("%Y-%m-%d %H:%M")
    )
}

/// True if messages of a channel show all of a question, so that a word there may allow it.
pub fn fits_messages(shown: &Shown) -> bool {
    beginning(&arguments_of(shown)).is_none()
}

/// The beginning of a text that is too long for messages, up to the end of a word, and a line that
/// says so. `None` if all of it can be sent.
pub fn beginning(text: &str) -> Option<String> {
    let (end, _) = text.char_indices().nth(MOST_SENT)?;
    let head = &text[..end];
    // A word that takes half of it, such as code in one line, is cut.
    let head = head.rfind(char::is_whitespace).filter(|place| *place > end / 2).map_or(head, |place| &head[..place]);
    Some(format!("{}\n… (cut: the page shows all of it)", head.trim_end()))
}

fn arguments_of(shown: &Shown) -> String {
    written_out(&serde_json::to_string_pretty(&shown.arguments).unwrap_or_default())
}

/// A text on which everything that hides or turns text stands as its number, as JSON writes it, so
/// that a person sees it. JSON means the same then.
pub fn written_out(json: &str) -> String {
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
/// The answer to a word that allows, if the channel did not take the question.
pub const NOT_SHOWN: &str = "The question did not reach this chat, so CONFIRMAR does not allow it. Read it on the page (#operator) or with \
     `level3 approvals`, and decide it there; CANCELAR aborts the task.";
/// The answer to a word that came from another number than the order.
pub const ANOTHERS: &str =
    "The question that waits belongs to another number's task; only that number, the page or the command line decides.";
/// The answer to a word that came from a number, if the order came from the page.
pub const PAGES: &str = "The question that waits is about an order of the page; only the page or the command line decides.";
/// The answer to a plain yes, if the question that waits wants more.
pub const NOT_ENOUGH: &str =
    "A plain yes is not enough for this one. Answer CONFIRMAR to allow it, or CANCELAR to abort the task.";
/// The answer to a word that allows, if messages could not show all of the question.
pub const TOO_LONG: &str = "Messages cannot show all of what waits, so no word here allows it, and nothing was done. Read it and decide in \
     the page's place Operator, or with level3 approvals; CANCELAR aborts the task.";
/// The answer to a message that has more bytes of text than an order may have.
pub fn too_long(bytes: usize) -> String {
    format!(
        "That message is too long for an order, so nothing was done: its text has {bytes} bytes, and {MOST_TEXT_IN} are the most. Send it \
         shorter, or as several orders that each stand alone."
    )
}

/// The answer to an edited or deleted message.
pub const NO_EDITS: &str = "Edited and deleted messages are not orders, and they decide nothing. Send a new message.";

/// True if a message is nothing but words made to decide: they are never an order.
pub fn only_decides(message: &str) -> bool {
    words(&["CONFIRMAR", "CONFIRM"], &["CANCELAR", "CANCEL"]).heard(message).is_some()
}

/// True if a message is nothing but a plain yes. It allows what has little effect; while something
/// waits it is never an order.
pub fn plain_yes(message: &str) -> bool {
    words(DecidingWords::HOUSE.yes, &[]).heard(message).is_some()
}

fn words(approve: &[&str], deny: &[&str]) -> Words {
    let owned = |words: &[&str]| words.iter().copied().map(str::to_owned).collect();
    Words { approve: owned(approve), deny: owned(deny), fillers: Vec::new(), others_decline: false }
}

#[cfg(test)]
mod tests;
