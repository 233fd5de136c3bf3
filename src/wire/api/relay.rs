//! The JSON of `/api/relay`: conversations with outside people, as the server writes it and the command `relay` reads it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An instance: one conversation between the agent and one contact, with its own objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayInstance {
    /// Its number.
    pub id: i64,
    /// Its state, such as `WAITING_FOR_REPLY`.
    pub state: String,
    /// The state that a resume leads back to, if it is paused.
    pub paused_from: Option<String>,
    /// Why it is in this state, if that was said.
    pub reason: Option<String>,
    /// What the agent is to reach.
    pub objective: String,
    /// The contact's address.
    pub contact: String,
    /// The channel it runs over.
    pub channel: String,
    /// The contact's time zone; `None`: the machine's.
    pub time_zone: Option<String>,
    /// What is to be done in it.
    pub todos: Vec<RelayTodo>,
    /// How long the contact may be silent before a follow-up.
    pub heartbeat_seconds: i64,
    /// How many follow-ups there may be.
    pub max_follow_ups: i64,
    /// How many there were since the last reply.
    pub follow_ups: i64,
    /// When the next one is due.
    pub next_heartbeat_at: Option<DateTime<Utc>>,
    /// The conversation that holds it.
    pub conversation: i64,
    /// The key it was made with.
    pub key: Option<String>,
    /// How many of its messages have an unknown outcome.
    pub unknown: i64,
    /// How many of its messages wait to be sent.
    pub queued_messages: i64,
    /// The tokens it has used.
    pub tokens: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it changed last.
    pub updated_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// True if the key was known, so that nothing was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// A to-do of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayTodo {
    /// Its number within the instance.
    pub id: i64,
    /// What is to be done.
    pub text: String,
    /// `pending`, `in_progress`, `done` or `skipped`.
    pub status: String,
}

/// A message of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayMessage {
    /// Its number.
    pub id: i64,
    /// The instance, if the answer is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<i64>,
    /// Its place within the instance, from 1.
    pub seq: i64,
    /// When it was accepted.
    pub at: DateTime<Utc>,
    /// `agent`, `operator` or `contact`.
    pub said_by: String,
    /// What was said.
    pub text: String,
    /// True for what the contact said.
    pub untrusted: bool,
    /// How far it got; `None` for the contact's.
    pub delivery: Option<String>,
    /// True if it is a follow-up.
    #[serde(default)]
    pub follow_up: bool,
    /// Why it failed, or why its outcome is unknown.
    pub reason: Option<String>,
    /// When the peer's server acknowledged it.
    pub sent_at: Option<DateTime<Utc>>,
    /// When it reached the contact.
    pub delivered_at: Option<DateTime<Utc>>,
    /// When the contact read it.
    pub read_at: Option<DateTime<Utc>>,
    /// The file that came with it.
    pub media: Option<RelayMedia>,
    /// True if the text was too long and was cut.
    #[serde(default)]
    pub cut: bool,
}

/// A file that came with a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayMedia {
    /// Its name in the folder of media; `None` if it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its size.
    pub bytes: i64,
    /// True if it was too large and was not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
}

/// A channel with its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayChannel {
    /// `loopback` or `whatsapp`.
    pub name: String,
    /// `loopback` or `program`.
    pub kind: String,
    /// Its state, such as `needs_scan`.
    pub state: String,
    /// The text of the QR code, while one is to be scanned.
    pub qr: Option<String>,
    /// Our own address, if it is known.
    pub address: Option<String>,
    /// Why it is in this state.
    pub reason: Option<String>,
    /// The end of a lock, if it is known.
    pub until: Option<DateTime<Utc>>,
    /// How much of the pace is used up.
    pub used: RelayUsed,
    /// What was dropped, by kind.
    pub dropped: BTreeMap<String, i64>,
    /// Senders without an open instance.
    pub strangers: i64,
}

/// How much of a channel's pace is used up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RelayUsed {
    /// Messages of the last minute.
    pub minute: i64,
    /// The most of a minute.
    pub minute_limit: i64,
    /// Messages of the last day.
    pub day: i64,
    /// The most of a day.
    pub day_limit: i64,
    /// First contacts of the last day.
    pub first_contacts_day: i64,
    /// The most of a day.
    pub first_contacts_limit: i64,
}

/// The body of `POST /api/relay/instances`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRelayInstance {
    /// What the agent is to reach.
    pub objective: String,
    /// The contact's address.
    pub contact: String,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<String>,
    /// The channel; without it, the one that is set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// How long the contact may be silent before a follow-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_seconds: Option<i64>,
    /// How many follow-ups there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_follow_ups: Option<i64>,
    /// The contact's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// The same key gives the same instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// `GET /api/relay/instances`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayInstances {
    /// The newest first.
    pub instances: Vec<RelayInstance>,
    /// True if there are more.
    pub more: bool,
}

/// `GET /api/relay/instances/{id}/transcript`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayTranscript {
    /// The instance.
    pub instance: i64,
    /// Its state.
    pub state: String,
    /// The oldest first.
    pub messages: Vec<RelayMessage>,
    /// True if there are more.
    pub more: bool,
}

/// The body of `POST /api/relay/instances/{id}/send`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelaySend {
    /// What is said as the agent.
    pub text: String,
    /// The same id is the same message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelaySaid {
    /// The message.
    pub message: RelayMessage,
    /// The instance after it.
    pub instance: RelayInstance,
}

/// The body of `POST /api/relay/messages/{id}/settle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelaySettle {
    /// `sent` or `lost`.
    #[serde(rename = "as")]
    pub outcome: String,
}

/// `GET /api/relay/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayStatus {
    /// The process that serves.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// How long it has been running.
    pub uptime_seconds: u64,
    /// Open instances that are not queued.
    pub active: i64,
    /// Queued instances.
    pub queued: i64,
    /// Paused ones.
    pub paused: i64,
    /// Those that wait for a person.
    pub needs_human: i64,
    /// Messages with an unknown outcome.
    pub unknown: i64,
    /// Every channel.
    pub channels: Vec<RelayChannel>,
}

/// `GET /api/relay/channels`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayChannels {
    /// Every channel.
    pub channels: Vec<RelayChannel>,
}

/// `GET /api/relay/unknown`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayUnknown {
    /// Every message with an unknown outcome.
    pub messages: Vec<RelayMessage>,
}

/// The body of `POST /api/relay/loopback`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopbackSay {
    /// The address that says it.
    pub address: String,
    /// What it says.
    pub text: String,
    /// The same id is the same message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopbackCame {
    /// `kept`, `again` or `stranger`.
    pub came: String,
    /// The instance it belongs to.
    #[serde(default)]
    pub instance: Option<i64>,
}

/// `GET /api/relay/loopback`: what the phones of the test channel hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopbackPhones {
    /// The oldest first.
    pub messages: Vec<LoopbackMessage>,
}

/// A message on a phone of the test channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopbackMessage {
    /// Its number.
    pub n: i64,
    /// The phone.
    pub address: String,
    /// True if the phone said it.
    pub mine: bool,
    /// What was said.
    pub text: String,
    /// When.
    pub at: DateTime<Utc>,
    /// Its id at the peer.
    pub id: String,
}

/// `GET /api/relay/webhooks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayWebhooks {
    /// The oldest first.
    pub webhooks: Vec<RelayWebhook>,
}

/// An address that hears of changes of state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayWebhook {
    /// Its number.
    pub id: i64,
    /// The address.
    pub url: String,
    /// True if the contact's text is sent along.
    pub with_text: bool,
    /// When it was added.
    pub created_at: DateTime<Utc>,
    /// How many deliveries were given up.
    #[serde(default)]
    pub failed: i64,
    /// How many wait to be tried, or tried again.
    #[serde(default)]
    pub waiting: i64,
    /// Why the last delivery failed.
    #[serde(default)]
    pub last_error: Option<String>,
    /// The key of its signatures; said once, when it is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// The body of `POST /api/relay/webhooks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRelayWebhook {
    /// The address.
    pub url: String,
    /// True if the contact's text is to be sent along.
    #[serde(default)]
    pub with_text: bool,
}

/// The answer of `POST /api/relay/webhooks/{id}/test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayWebhookTested {
    /// True if the peer took it.
    pub ok: bool,
    /// The peer's status.
    pub status: Option<u16>,
    /// Why it failed.
    pub error: Option<String>,
}

/// `GET /api/relay/export`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayExport {
    /// The instances.
    pub instances: Vec<RelayInstance>,
    /// Their messages, by the instance's number.
    pub transcripts: BTreeMap<String, Vec<RelayMessage>>,
    /// Pace and channels.
    pub settings: Value,
}
