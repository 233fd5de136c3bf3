//! The JSON of `/api/relay`: instances, their transcripts, channels and webhooks.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::relay::{ChannelState, DeliveryState, HeldBack, MediaNote, Pace, RelayTodo, SaidBy};
use crate::domain::{ConversationId, InstanceId, InstanceState, RelayMessageId};

/// An instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceInfo {
    /// Its number.
    pub id: InstanceId,
    /// Its state.
    pub state: InstanceState,
    /// The state to which `resume` leads, if it is paused.
    pub paused_from: Option<InstanceState>,
    /// Why it ended, or waits for a person.
    pub reason: Option<String>,
    /// The aim.
    pub objective: String,
    /// The contact's address.
    pub contact: String,
    /// The channel.
    pub channel: String,
    /// The contact's time zone, if it was given.
    pub time_zone: Option<String>,
    /// Its to-dos.
    pub todos: Vec<RelayTodo>,
    /// How long the contact may be silent before a follow-up.
    pub heartbeat_seconds: i32,
    /// The most follow-ups in a row.
    pub max_follow_ups: i32,
    /// Follow-ups since the contact last wrote.
    pub follow_ups: i32,
    /// The next follow-up, if the contact stays silent.
    pub next_heartbeat_at: Option<DateTime<Utc>>,
    /// Its conversation, whose events are its record.
    pub conversation: ConversationId,
    /// The orderer's own id.
    pub key: Option<String>,
    /// Messages of which nobody knows whether they arrived.
    pub unknown: i64,
    /// Messages that wait in the outbox.
    pub queued_messages: i64,
    /// Why, and until when; only of one instance by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<HeldBack>,
    /// Tokens of its turns.
    pub tokens: i64,
    /// When it was ordered.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// True if an order of this key had made it before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// Body of `POST /api/relay/instances`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceOrder {
    /// The aim.
    #[serde(default)]
    pub objective: String,
    /// The contact's address.
    #[serde(default)]
    pub contact: String,
    /// The to-dos, in their order.
    #[serde(default)]
    pub todos: Vec<String>,
    /// The channel; WhatsApp if it is set up, else the test channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// How long the contact may be silent before a follow-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_seconds: Option<i64>,
    /// The most follow-ups in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_follow_ups: Option<i64>,
    /// The contact's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// The orderer's own id: the same one again is the same instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// `GET /api/relay/instances`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instances {
    /// The newest first.
    pub instances: Vec<InstanceInfo>,
    /// True if there are more.
    pub more: bool,
}

/// A message of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptMessage {
    /// Its number.
    pub id: RelayMessageId,
    /// Its instance; absent if the operator says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// Its place in the transcript, from 1.
    pub seq: i32,
    /// When it was accepted.
    pub at: DateTime<Utc>,
    /// Its author.
    pub said_by: SaidBy,
    /// Its words.
    pub text: String,
    /// True if a stranger wrote it: no instruction for anybody.
    pub untrusted: bool,
    /// How far it is, if it is ours.
    pub delivery: Option<DeliveryState>,
    /// Why it waits in the outbox, and until when; only in a transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<HeldBack>,
    /// True if it is a follow-up.
    pub follow_up: bool,
    /// Why it failed, or why nobody knows.
    pub reason: Option<String>,
    /// When the peer acknowledged it.
    pub sent_at: Option<DateTime<Utc>>,
    /// When the contact's device had it.
    pub delivered_at: Option<DateTime<Utc>>,
    /// When the contact saw it.
    pub read_at: Option<DateTime<Utc>>,
    /// The file that came with it.
    pub media: Option<MediaNote>,
    /// True if the text was longer than is kept.
    pub cut: bool,
}

/// `GET /api/relay/instances/{id}/transcript`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The instance.
    pub instance: InstanceId,
    /// Its state.
    pub state: InstanceState,
    /// The oldest first.
    pub messages: Vec<TranscriptMessage>,
    /// True if there are more.
    pub more: bool,
}

/// Messages of several transcripts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptMessages {
    /// The oldest first.
    pub messages: Vec<TranscriptMessage>,
}

/// Body of `POST /api/relay/instances/{id}/send`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SayAsAgent {
    /// The words.
    pub text: String,
    /// The client's own id of it: the same one again is the same message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SaidAsAgent {
    /// The message.
    pub message: TranscriptMessage,
    /// Its instance.
    pub instance: InstanceInfo,
}

/// Body of `POST /api/relay/messages/{id}/settle`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettleMessage {
    /// The word of a person on it.
    #[serde(rename = "as")]
    pub settled: SettledAs,
}

/// The word of a person on a message of which nobody knows whether it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledAs {
    /// It arrived.
    Sent,
    /// It did not.
    Lost,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelInfo {
    /// Its name.
    pub name: String,
    /// `loopback` or `program`.
    pub kind: String,
    /// Its state.
    pub state: ChannelState,
    /// The text to show as a QR code.
    pub qr: Option<String>,
    /// Our own address.
    pub address: Option<String>,
    /// Why, in a sentence.
    pub reason: Option<String>,
    /// Until when it is locked, if that is known.
    pub until: Option<DateTime<Utc>>,
    /// Why no first contacts are made, if they are not, and what to do.
    pub no_first_contacts: Option<String>,
    /// How much of the pace is used up.
    pub used: ChannelUse,
    /// How many messages were dropped since the start, by why.
    pub dropped: BTreeMap<String, u64>,
    /// How many people without an open instance wrote within 30 days.
    pub strangers: i64,
}

/// How much of the pace is used up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelUse {
    /// Messages within the last minute, and the most.
    pub minute: usize,
    /// The most of them.
    pub minute_limit: u32,
    /// Messages within 24 hours.
    pub day: usize,
    /// The most of them.
    pub day_limit: u32,
    /// First contacts within 24 hours.
    pub first_contacts_day: usize,
    /// The most of them.
    pub first_contacts_limit: u32,
}

/// `GET /api/relay/channels`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelList {
    /// All of them.
    pub channels: Vec<ChannelInfo>,
}

/// `GET /api/relay/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayStatus {
    /// The number of the server's process.
    pub pid: u32,
    /// The server's version.
    pub version: String,
    /// How long it has been up.
    pub uptime_seconds: i64,
    /// Instances that are open, but for those that wait for their contact.
    pub active: i64,
    /// Instances that wait for their contact.
    pub queued: i64,
    /// Instances that rest.
    pub paused: i64,
    /// Instances that wait for a person.
    pub needs_human: i64,
    /// Messages of which nobody knows whether they arrived.
    pub unknown: usize,
    /// The channels.
    pub channels: Vec<ChannelInfo>,
}

/// Body of `POST /api/relay/loopback`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopbackSay {
    /// The phone.
    pub address: String,
    /// The words of its person.
    pub text: String,
    /// An id, so that the same words again are one message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `direct` unless it says something else, such as `group`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// True if the words tell of an edit or a deletion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub note: bool,
    /// True if our own account wrote it, to itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// The text of the message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted: Option<String>,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopbackCame {
    /// `kept`, `again`, `stranger` if no instance is open for the phone, `order` if it is the
    /// operator's, `dropped` if it is no direct message.
    pub came: String,
    /// The instance that has it.
    pub instance: Option<InstanceId>,
}

/// `GET /api/relay/loopback`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopbackPhone {
    /// The oldest first.
    pub messages: Vec<PhoneMessage>,
    /// Why a message that is meant for it has not come yet, and until when; only if one phone is
    /// asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<HeldBack>,
}

/// A message on a phone of the test channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhoneMessage {
    /// Its place.
    pub n: i64,
    /// The phone.
    pub address: String,
    /// True if its person said it.
    pub mine: bool,
    /// Its id.
    pub id: String,
    /// Its words.
    pub text: String,
    /// The file that came with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaNote>,
    /// How often it came.
    pub arrivals: i32,
    /// When.
    pub at: DateTime<Utc>,
}

/// `GET /api/relay/export`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayExport {
    /// The instances.
    pub instances: Vec<InstanceInfo>,
    /// The transcript of each, by its number.
    pub transcripts: BTreeMap<InstanceId, Vec<TranscriptMessage>>,
    /// The settings, without a secret.
    pub settings: RelaySettingsInfo,
}

/// `GET /api/relay/pace`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaceInForce {
    /// When messages may leave.
    pub pace: Pace,
}

/// The settings of Relay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelaySettingsInfo {
    /// When messages may leave.
    pub pace: Pace,
    /// The clock of contacts for whom no zone is given.
    pub time_zone: String,
    /// The channels.
    pub channels: Vec<ChannelInfo>,
}

/// Body of `POST /api/relay/webhooks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewWebhook {
    /// The address at which transitions are told.
    #[serde(default)]
    pub url: String,
    /// True if reasons are told too, which may hold words of the conversation.
    #[serde(default)]
    pub with_text: bool,
}

/// A webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebhookInfo {
    /// Its number.
    pub id: i64,
    /// The address at which transitions are told.
    pub url: String,
    /// True if reasons are told too.
    pub with_text: bool,
    /// When it was set up.
    pub created_at: DateTime<Utc>,
    /// How many transitions are still to be told.
    pub waiting: i64,
    /// How many were given up.
    pub failed: i64,
    /// The last error.
    pub last_error: Option<String>,
    /// The key of its signatures; said once, when it is set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// `GET /api/relay/webhooks`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebhookList {
    /// The oldest first.
    pub webhooks: Vec<WebhookInfo>,
}

/// `DELETE /api/relay/webhooks/{id}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedWebhook {}

/// `POST /api/relay/webhooks/{id}/test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebhookTried {
    /// True if the peer has it.
    pub ok: bool,
    /// The status of its answer.
    pub status: Option<u16>,
    /// Why it does not have it.
    pub error: Option<String>,
}
