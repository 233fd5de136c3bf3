//! The JSON of `/api/relay` as far as the command reads or writes it. States are texts here: a server that knows more of them than this command
//! is still understood.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An instance: one conversation between the agent and one contact, with its own objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldInstance {
    /// Its number.
    pub(super) id: i64,
    /// Its state, such as `WAITING_FOR_REPLY`.
    pub(super) state: String,
    /// The state that a resume leads back to, if it is paused.
    pub(super) paused_from: Option<String>,
    /// Why it is in this state, if that was said.
    pub(super) reason: Option<String>,
    /// What the agent is to reach.
    pub(super) objective: String,
    /// The contact's address.
    pub(super) contact: String,
    /// The channel it runs over.
    pub(super) channel: String,
    /// The contact's time zone; `None`: the machine's.
    pub(super) time_zone: Option<String>,
    /// What is to be done in it.
    pub(super) todos: Vec<ToldTodo>,
    /// How long the contact may be silent before a follow-up.
    pub(super) heartbeat_seconds: i64,
    /// How many follow-ups there may be.
    pub(super) max_follow_ups: i64,
    /// How many there were since the last reply.
    pub(super) follow_ups: i64,
    /// When the next one is due.
    pub(super) next_heartbeat_at: Option<DateTime<Utc>>,
    /// The conversation that holds it.
    pub(super) conversation: i64,
    /// The key it was made with.
    pub(super) key: Option<String>,
    /// How many of its messages have an unknown outcome.
    pub(super) unknown: i64,
    /// How many of its messages wait to be sent.
    pub(super) queued_messages: i64,
    /// The tokens it has used.
    pub(super) tokens: i64,
    /// When it was made.
    pub(super) created_at: DateTime<Utc>,
    /// When it changed last.
    pub(super) updated_at: DateTime<Utc>,
    /// When it ended.
    pub(super) ended_at: Option<DateTime<Utc>>,
    /// True if the key was known, so that nothing was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) again: bool,
}

/// A to-do of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldTodo {
    /// Its number within the instance.
    pub(super) id: i64,
    /// What is to be done.
    pub(super) text: String,
    /// `pending`, `in_progress`, `done` or `skipped`.
    pub(super) status: String,
}

/// A message of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldMessage {
    /// Its number.
    pub(super) id: i64,
    /// The instance, if the answer is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) instance: Option<i64>,
    /// Its place within the instance, from 1.
    pub(super) seq: i64,
    /// When it was accepted.
    pub(super) at: DateTime<Utc>,
    /// `agent`, `operator` or `contact`.
    pub(super) said_by: String,
    /// What was said.
    pub(super) text: String,
    /// True for what the contact said.
    pub(super) untrusted: bool,
    /// How far it got; `None` for the contact's.
    pub(super) delivery: Option<String>,
    /// True if it is a follow-up.
    #[serde(default)]
    pub(super) follow_up: bool,
    /// Why it failed, or why its outcome is unknown.
    pub(super) reason: Option<String>,
    /// When the peer's server acknowledged it.
    pub(super) sent_at: Option<DateTime<Utc>>,
    /// When it reached the contact.
    pub(super) delivered_at: Option<DateTime<Utc>>,
    /// When the contact read it.
    pub(super) read_at: Option<DateTime<Utc>>,
    /// The file that came with it.
    pub(super) media: Option<ToldMedia>,
    /// True if the text was too long and was cut.
    #[serde(default)]
    pub(super) cut: bool,
}

/// A file that came with a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldMedia {
    /// Its name in the folder of media; `None` if it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
    /// Its kind.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Its size.
    pub(super) bytes: i64,
    /// True if it was too large and was not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) omitted: bool,
}

/// A channel with its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldChannel {
    /// `loopback` or `whatsapp`.
    pub(super) name: String,
    /// `loopback` or `program`.
    pub(super) kind: String,
    /// Its state, such as `needs_scan`.
    pub(super) state: String,
    /// The text of the QR code, while one is to be scanned.
    pub(super) qr: Option<String>,
    /// Our own address, if it is known.
    pub(super) address: Option<String>,
    /// Why it is in this state.
    pub(super) reason: Option<String>,
    /// The end of a lock, if it is known.
    pub(super) until: Option<DateTime<Utc>>,
    /// How much of the pace is used up.
    pub(super) used: ToldUse,
    /// What was dropped, by kind.
    pub(super) dropped: BTreeMap<String, i64>,
    /// Senders without an open instance.
    pub(super) strangers: i64,
}

/// How much of a channel's pace is used up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldUse {
    /// Messages of the last minute.
    pub(super) minute: i64,
    /// The most of a minute.
    pub(super) minute_limit: i64,
    /// Messages of the last day.
    pub(super) day: i64,
    /// The most of a day.
    pub(super) day_limit: i64,
    /// First contacts of the last day.
    pub(super) first_contacts_day: i64,
    /// The most of a day.
    pub(super) first_contacts_limit: i64,
}

/// The body of `POST /api/relay/instances`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OrderedInstance {
    /// What the agent is to reach.
    pub(super) objective: String,
    /// The contact's address.
    pub(super) contact: String,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) todos: Vec<String>,
    /// The channel; without it, the one that is set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<String>,
    /// How long the contact may be silent before a follow-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) heartbeat_seconds: Option<i64>,
    /// How many follow-ups there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max_follow_ups: Option<i64>,
    /// The contact's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time_zone: Option<String>,
    /// The same key gives the same instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

/// `GET /api/relay/instances`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldInstances {
    /// The newest first.
    pub(super) instances: Vec<ToldInstance>,
    /// True if there are more.
    pub(super) more: bool,
}

/// `GET /api/relay/instances/{id}/transcript`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldTranscript {
    /// The instance.
    pub(super) instance: i64,
    /// Its state.
    pub(super) state: String,
    /// The oldest first.
    pub(super) messages: Vec<ToldMessage>,
    /// True if there are more.
    pub(super) more: bool,
}

/// The body of `POST /api/relay/instances/{id}/send`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OrderedMessage {
    /// What is said as the agent.
    pub(super) text: String,
    /// The same id is the same message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldMessageSent {
    /// The message.
    pub(super) message: ToldMessage,
    /// The instance after it.
    pub(super) instance: ToldInstance,
}

/// The body of `POST /api/relay/messages/{id}/settle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OrderedOutcome {
    /// `sent` or `lost`.
    #[serde(rename = "as")]
    pub(super) outcome: String,
}

/// `GET /api/relay/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldStatus {
    /// The process that serves.
    pub(super) pid: u32,
    /// Its version.
    pub(super) version: String,
    /// How long it has been running.
    pub(super) uptime_seconds: u64,
    /// Open instances that are not queued.
    pub(super) active: i64,
    /// Queued instances.
    pub(super) queued: i64,
    /// Paused ones.
    pub(super) paused: i64,
    /// Those that wait for a person.
    pub(super) needs_human: i64,
    /// Messages with an unknown outcome.
    pub(super) unknown: i64,
    /// Every channel.
    pub(super) channels: Vec<ToldChannel>,
}

/// `GET /api/relay/channels`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldChannels {
    /// Every channel.
    pub(super) channels: Vec<ToldChannel>,
}

/// The body of `POST /api/relay/loopback`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OrderedWords {
    /// The address that says it.
    pub(super) address: String,
    /// What it says.
    pub(super) text: String,
    /// The same id is the same message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldArrival {
    /// `kept`, `again` or `stranger`.
    pub(super) came: String,
    /// The instance it belongs to.
    #[serde(default)]
    pub(super) instance: Option<i64>,
}

/// `GET /api/relay/loopback`: what the phones of the test channel hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldPhone {
    /// The oldest first.
    pub(super) messages: Vec<ToldPhoneMessage>,
}

/// A message on a phone of the test channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldPhoneMessage {
    /// Its number.
    pub(super) n: i64,
    /// The phone.
    pub(super) address: String,
    /// True if the phone said it.
    pub(super) mine: bool,
    /// What was said.
    pub(super) text: String,
    /// When.
    pub(super) at: DateTime<Utc>,
    /// Its id at the peer.
    pub(super) id: String,
}

/// `GET /api/relay/webhooks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldWebhooks {
    /// The oldest first.
    pub(super) webhooks: Vec<ToldWebhook>,
}

/// An address that hears of changes of state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldWebhook {
    /// Its number.
    pub(super) id: i64,
    /// The address.
    pub(super) url: String,
    /// True if the contact's text is sent along.
    pub(super) with_text: bool,
    /// When it was added.
    pub(super) created_at: DateTime<Utc>,
    /// How many deliveries were given up.
    #[serde(default)]
    pub(super) failed: i64,
    /// How many wait to be tried, or tried again.
    #[serde(default)]
    pub(super) waiting: i64,
    /// Why the last delivery failed.
    #[serde(default)]
    pub(super) last_error: Option<String>,
    /// The key of its signatures; said once, when it is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<String>,
}

/// The body of `POST /api/relay/webhooks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OrderedWebhook {
    /// The address.
    pub(super) url: String,
    /// True if the contact's text is to be sent along.
    #[serde(default)]
    pub(super) with_text: bool,
}

/// The answer of `POST /api/relay/webhooks/{id}/test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldTrial {
    /// True if the peer took it.
    pub(super) ok: bool,
    /// The peer's status.
    pub(super) status: Option<u16>,
    /// Why it failed.
    pub(super) error: Option<String>,
}

/// `GET /api/relay/export`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldExport {
    /// The instances.
    pub(super) instances: Vec<ToldInstance>,
    /// Their messages, by the instance's number.
    pub(super) transcripts: BTreeMap<String, Vec<ToldMessage>>,
    /// Pace and channels.
    pub(super) settings: Value,
}
