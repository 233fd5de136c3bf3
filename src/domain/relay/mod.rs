//! Relay: a conversation with a person outside, as an instance with its objective, its to-dos and
//! its transcript. No I/O.

mod address;
mod briefing;
mod outbox;
mod pace;
mod silence;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::instance::{InstanceInput, InstanceState};
use super::machine::{InvalidTransition, Machine};
use super::todo::zone_named;
use super::turn::text_enum;
use super::{ConversationId, InstanceAction, InstanceId, RelayMessageId, TurnId};

pub use address::{ADDRESS_RULE, ContactAddress};
pub use briefing::{ContactBriefing, MOST_DIGESTED, MOST_SHOWN, TurnWords, nothing_done};
pub use outbox::{DeliveryAction, DeliveryInput, DeliveryState};
pub use pace::{HeldBack, Hold, NextMessage, Pace, PastMessage, WallTime};
pub use silence::{hears_from, silence_ends};

/// The name of the profile of contacts.
pub const CONTACT_PROFILE: &str = "contact";
/// The name of the test channel.
pub const LOOPBACK: &str = "loopback";
/// The name of the channel of the operator's WhatsApp program.
pub const WHATSAPP: &str = "whatsapp";
/// The most bytes of a contact's text that are kept.
pub const MOST_TEXT_IN: usize = 16 << 10;
/// The most characters of a message of ours.
pub const MOST_TEXT_OUT: usize = 4_096;

/// The settings of Relay that its transitions need. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RelaySettings {
    /// When messages may leave.
    pub pace: Pace,
    /// The clock of contacts for whom no zone is given.
    pub zone: chrono_tz::Tz,
    /// The channel of an order that names none.
    pub channel: &'static str,
    /// The channel and the numbers whose messages are orders to the operator: none of these is a
    /// contact there, since its answer would be an order.
    pub orders_from: Arc<[(String, ContactAddress)]>,
}

impl Default for RelaySettings {
    fn default() -> Self {
        Self { pace: Pace::default(), zone: chrono_tz::Tz::UTC, channel: LOOPBACK, orders_from: Arc::default() }
    }
}

text_enum! {
    /// The state of a to-do of an instance.
    RelayTodoStatus {
        /// Not begun.
        Pending = "pending",
        /// Under way.
        InProgress = "in_progress",
        /// Done.
        Done = "done",
        /// Given up.
        Skipped = "skipped",
    }
}

text_enum! {
    /// The state of a channel.
    ChannelState {
        /// It is not set up, or the server ends.
        Off = "off",
        /// A person has to scan a code with the phone of the account.
        NeedsScan = "needs_scan",
        /// It looks for the service.
        Connecting = "connecting",
        /// Messages go and come.
        Online = "online",
        /// The account was signed out.
        LoggedOut = "logged_out",
        /// The service has locked the account.
        Locked = "locked",
        /// The program speaks another version, or breaks the rules.
        Outdated = "outdated",
    }
}

text_enum! {
    /// The author of a message of a transcript.
    SaidBy {
        /// The model.
        Agent = "agent",
        /// A person of ours, as the agent.
        Operator = "operator",
        /// The person outside.
        Contact = "contact",
    }
}

/// A to-do of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayTodo {
    /// Its number within the instance, from 1.
    pub id: i64,
    /// Its words.
    pub text: String,
    /// How far it is.
    pub status: RelayTodoStatus,
}

/// The part of an instance that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceProgress {
    /// Its state.
    pub state: InstanceState,
    /// The state to which `resume` leads, if it is paused.
    pub paused_from: Option<InstanceState>,
    /// Why it ended, or waits for a person.
    pub reason: Option<String>,
    /// Its to-dos, in their order.
    pub todos: Vec<RelayTodo>,
    /// Follow-ups since the contact last wrote.
    pub follow_ups: i32,
    /// The next follow-up, if the contact stays silent.
    pub heartbeat_at: Option<DateTime<Utc>>,
    /// The agent's wish for the next one, in seconds.
    pub delay_seconds: Option<i32>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
}

/// A conversation with a contact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Its number.
    pub id: InstanceId,
    /// Its conversation, in which its turns run.
    pub conversation: ConversationId,
    /// The id that its orderer gave it.
    pub key: Option<String>,
    /// The channel.
    pub channel: String,
    /// The contact's address.
    pub contact: String,
    /// The aim.
    pub objective: String,
    /// The contact's time zone, if it was given.
    pub time_zone: Option<String>,
    /// How long the contact may be silent before a follow-up.
    pub heartbeat_seconds: i32,
    /// The most follow-ups in a row.
    pub max_follow_ups: i32,
    /// When it was ordered.
    pub created_at: DateTime<Utc>,
    /// The part that changes.
    #[serde(flatten)]
    pub progress: InstanceProgress,
}

impl InstanceProgress {
    /// The progress at the beginning.
    pub fn new(state: InstanceState, todos: Vec<RelayTodo>, now: DateTime<Utc>) -> Self {
        let (paused_from, reason, follow_ups, heartbeat_at, delay_seconds, ended_at) = (None, None, 0, None, None, None);
        Self { state, paused_from, reason, todos, follow_ups, heartbeat_at, delay_seconds, updated_at: now, ended_at }
    }

    /// Takes an input: the new state with all that follows from it, and the actions that go with
    /// it. Pausing what is paused keeps the recorded state.
    ///
    /// # Errors
    /// If the state does not take the input, by name.
    pub fn take(&mut self, input: InstanceInput, now: DateTime<Utc>) -> Result<Vec<InstanceAction>, InvalidTransition> {
        let (state, actions) = self.state.next(input)?;
        match (self.state, state) {
            (InstanceState::Paused, InstanceState::Paused) => {}
            (from, InstanceState::Paused) => self.paused_from = Some(from),
            _ => self.paused_from = None,
        }
        if state == InstanceState::Active {
            // The reason for which it waited for a person is over.
            self.reason = None;
        }
        (self.state, self.updated_at) = (state, now);
        self.ended_at = state.is_over().then_some(now);
        Ok(actions)
    }
}

impl Instance {
    /// True if it is over.
    pub fn is_over(&self) -> bool {
        self.progress.state.is_over()
    }

    /// True if no turn has anything to do in it: it is over, or waits for somebody else than the
    /// agent and the contact.
    pub fn rests(&self) -> bool {
        let others = [InstanceState::Paused, InstanceState::Queued, InstanceState::NeedsHumanIntervention];
        self.is_over() || others.contains(&self.progress.state)
    }

    /// True if its contact is open to no other instance.
    pub fn has_place(&self) -> bool {
        self.progress.state.has_place(self.progress.paused_from)
    }

    /// The clock of the contact, or of the server if none was given.
    pub fn zone(&self, servers: chrono_tz::Tz) -> chrono_tz::Tz {
        self.time_zone.as_deref().and_then(|name| zone_named(name).ok()).unwrap_or(servers)
    }
}

/// A file that came with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaNote {
    /// Its fingerprint, and its name in the media folder; `None` if it is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its kind, read from its bytes.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its size.
    pub bytes: i64,
    /// True if it was not kept: it was too large, no plain file, or not to be had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
}

/// How far a message of ours is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Its state; `None` of the contact's.
    pub state: Option<DeliveryState>,
    /// The peer's id of it.
    pub peer_id: Option<String>,
    /// Why it failed, or why nobody knows.
    pub reason: Option<String>,
    /// The server that sends it.
    pub sender: Option<String>,
    /// Not before this.
    pub not_before: Option<DateTime<Utc>>,
    /// When the attempt began.
    pub sending_at: Option<DateTime<Utc>>,
    /// When the peer acknowledged it.
    pub sent_at: Option<DateTime<Utc>>,
    /// When the contact's device had it.
    pub delivered_at: Option<DateTime<Utc>>,
    /// When the contact saw it.
    pub read_at: Option<DateTime<Utc>>,
}

impl Delivery {
    /// Takes an input; the new state with the times that follow from it.
    ///
    /// # Errors
    /// If the state does not take the input, by name. A message of the contact takes none.
    pub fn take(&mut self, input: DeliveryInput, now: DateTime<Utc>) -> Result<Vec<DeliveryAction>, InvalidTransition> {
        let from = self.state.ok_or_else(|| InvalidTransition::of(DeliveryState::Read, input))?;
        let (state, actions) = from.next(input)?;
        self.state = Some(state);
        match input {
            DeliveryInput::Claim => self.sending_at = Some(now),
            DeliveryInput::Return => self.sending_at = None,
            DeliveryInput::Acknowledge => self.sent_at = Some(now),
            // A receipt may come before the acknowledgement.
            DeliveryInput::Deliver => (self.sent_at, self.delivered_at) = (self.sent_at.or(Some(now)), Some(now)),
            DeliveryInput::Read => (self.sent_at, self.read_at) = (self.sent_at.or(Some(now)), Some(now)),
            DeliveryInput::Resend => (self.reason, self.not_before) = (None, None),
            DeliveryInput::Refuse | DeliveryInput::Lose | DeliveryInput::Withdraw => {}
        }
        Ok(actions)
    }

    /// Takes it out of the outbox, because its instance was cancelled.
    ///
    /// # Errors
    /// If it does not wait there.
    pub fn withdraw(&mut self, now: DateTime<Utc>) -> Result<(), InvalidTransition> {
        self.take(DeliveryInput::Withdraw, now)?;
        self.reason = Some("cancelled before it was sent".to_owned());
        Ok(())
    }
}

/// A message of a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayMessage {
    /// Its number.
    pub id: RelayMessageId,
    /// Its instance; `None` if the operator says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// The conversation, if it has no instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationId>,
    /// The channel.
    pub channel: String,
    /// The contact, or the operator's person.
    pub contact: String,
    /// Its place in the transcript, from 1.
    pub number: i32,
    /// Its author.
    pub said_by: SaidBy,
    /// Its words.
    pub text: String,
    /// The turn that wrote it, or that was the first to be shown it.
    pub turn: Option<TurnId>,
    /// True if the contact was not known when it was written: no message had gone to them, and they
    /// had not written.
    pub first_contact: bool,
    /// True if it is a follow-up.
    pub follow_up: bool,
    /// The id that a person's client gave it.
    pub key: Option<String>,
    /// The file that came with it.
    pub media: Option<MediaNote>,
    /// True if the text was longer.
    pub cut: bool,
    /// How far it is, if it is ours.
    #[serde(flatten)]
    pub delivery: Delivery,
    /// When it was accepted.
    pub created_at: DateTime<Utc>,
}

/// A text with what [`hides`] text left out.
pub fn plain_text(text: &str) -> String {
    text.chars().filter(|c| !hides(*c)).collect()
}

/// True for what hides or turns text: controls but line breaks and tabs, zero-width characters, and
/// marks of direction.
pub fn hides(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{00AD}')
        || ('\u{E0000}'..='\u{E007F}').contains(&c)
}

#[cfg(test)]
mod tests;
