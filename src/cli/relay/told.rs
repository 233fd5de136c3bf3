//! The answers of `/api/relay` as far as the command shows them to a person; for machines they are
//! printed as they came. States are texts here: a server that knows more of them than this command
//! is still understood.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::screen::time;

/// An answer: whole, and what is read of it.
pub(super) struct Told<T> {
    /// As it came.
    pub(super) whole: Value,
    /// As it is understood.
    pub(super) said: T,
}

/// An instance.
#[derive(Debug, Deserialize)]
pub(super) struct ToldInstance {
    pub(super) id: i64,
    pub(super) state: String,
    pub(super) paused_from: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) objective: String,
    pub(super) contact: String,
    pub(super) channel: String,
    pub(super) time_zone: Option<String>,
    pub(super) todos: Vec<ToldTodo>,
    pub(super) heartbeat_seconds: i64,
    pub(super) max_follow_ups: i64,
    pub(super) follow_ups: i64,
    pub(super) next_heartbeat_at: Option<DateTime<Utc>>,
    pub(super) key: Option<String>,
    pub(super) unknown: i64,
    pub(super) queued_messages: i64,
    #[serde(default)]
    pub(super) waits: Option<ToldWait>,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
    pub(super) ended_at: Option<DateTime<Utc>>,
}

/// Why a message waits in the outbox, and until when.
#[derive(Debug, Deserialize)]
pub(super) struct ToldWait {
    pub(super) why: String,
    pub(super) until: Option<DateTime<Utc>>,
}

impl ToldWait {
    /// For a person. A reason that is unknown here is shown as it came.
    pub(super) fn words(&self) -> String {
        let why = match self.why.as_str() {
            "quiet_hours" => "the contact's quiet hours",
            "contact_gap" => "the gap between messages to one contact",
            "contact_limit" => "the limit of messages to one contact",
            "channel_minute" => "the channel's limit of messages in a minute",
            "channel_day" => "the channel's limit of messages in a day",
            "first_contacts" => "the limit of first messages to new contacts in a day",
            "returned" => "it was tried, and is tried again",
            "paused" => "its instance rests",
            "no_first_contacts" => "the service refused a message to a new contact; relay status says more",
            "not_online" => "its channel is not online; relay status says more",
            other => other,
        };
        let until = self.until.map(|at| format!(", until {}", time(at))).unwrap_or_default();
        format!("{why}{until}")
    }
}

/// A to-do of an instance.
#[derive(Debug, Deserialize)]
pub(super) struct ToldTodo {
    pub(super) id: i64,
    pub(super) text: String,
    pub(super) status: String,
}

/// `GET /instances`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldInstances {
    pub(super) instances: Vec<ToldInstance>,
    pub(super) more: bool,
}

/// A message of a transcript.
#[derive(Debug, Deserialize)]
pub(super) struct ToldMessage {
    pub(super) id: i64,
    pub(super) seq: i64,
    pub(super) at: DateTime<Utc>,
    /// `agent`, `operator` or `contact`.
    pub(super) said_by: String,
    pub(super) text: String,
    /// `None` for the contact's.
    pub(super) delivery: Option<String>,
    #[serde(default)]
    pub(super) waits: Option<ToldWait>,
    #[serde(default)]
    pub(super) follow_up: bool,
    pub(super) reason: Option<String>,
    pub(super) media: Option<ToldMedia>,
    #[serde(default)]
    pub(super) cut: bool,
}

/// A file that came with a message.
#[derive(Debug, Deserialize)]
pub(super) struct ToldMedia {
    /// Its name in the folder of media; `None` if it was not kept.
    pub(super) sha256: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) bytes: i64,
}

/// `GET /instances/{id}/transcript`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldTranscript {
    pub(super) state: String,
    pub(super) messages: Vec<Value>,
    pub(super) more: bool,
}

/// The answer of `POST /instances/{id}/send`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldMessageSent {
    pub(super) message: ToldMessage,
    pub(super) instance: ToldInstance,
}

/// A channel with its state.
#[derive(Debug, Deserialize)]
pub(super) struct ToldChannel {
    pub(super) name: String,
    pub(super) state: String,
    /// The text of the code, while one is to be scanned.
    pub(super) qr: Option<String>,
    pub(super) address: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) until: Option<DateTime<Utc>>,
    /// Why nobody new is written to, if so.
    #[serde(default)]
    pub(super) no_first_contacts: Option<String>,
    pub(super) used: ToldUse,
    pub(super) dropped: BTreeMap<String, i64>,
    pub(super) strangers: i64,
}

/// How much of a channel's pace is used up.
#[derive(Debug, Deserialize)]
pub(super) struct ToldUse {
    pub(super) minute: i64,
    pub(super) minute_limit: i64,
    pub(super) day: i64,
    pub(super) day_limit: i64,
    pub(super) first_contacts_day: i64,
    pub(super) first_contacts_limit: i64,
}

/// `GET /channels`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldChannels {
    pub(super) channels: Vec<ToldChannel>,
}

/// `GET /status`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldStatus {
    pub(super) pid: u32,
    pub(super) uptime_seconds: u64,
    pub(super) active: i64,
    pub(super) queued: i64,
    pub(super) paused: i64,
    pub(super) needs_human: i64,
    pub(super) unknown: i64,
    pub(super) channels: Vec<ToldChannel>,
}

/// The answer of `POST /loopback`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldArrival {
    pub(super) instance: Option<i64>,
}

/// `GET /loopback`: what a phone of the test channel holds.
#[derive(Debug, Deserialize)]
pub(super) struct ToldPhone {
    pub(super) messages: Vec<ToldPhoneMessage>,
    #[serde(default)]
    pub(super) waits: Option<ToldWait>,
}

/// A message on such a phone.
#[derive(Debug, Deserialize)]
pub(super) struct ToldPhoneMessage {
    /// True if its person said it.
    pub(super) mine: bool,
    pub(super) text: String,
    pub(super) at: DateTime<Utc>,
}

/// `GET /webhooks`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldWebhooks {
    pub(super) webhooks: Vec<ToldWebhook>,
}

/// An address that hears of changes of state.
#[derive(Debug, Deserialize)]
pub(super) struct ToldWebhook {
    pub(super) id: i64,
    pub(super) url: String,
    pub(super) with_text: bool,
    pub(super) created_at: DateTime<Utc>,
    #[serde(default)]
    pub(super) failed: i64,
    #[serde(default)]
    pub(super) waiting: i64,
    pub(super) last_error: Option<String>,
    /// Said once, when it is added.
    pub(super) secret: Option<String>,
}

/// The answer of `POST /webhooks/{id}/test`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldTrial {
    pub(super) ok: bool,
    pub(super) status: Option<u16>,
    pub(super) error: Option<String>,
}

/// `GET /export`.
#[derive(Debug, Deserialize)]
pub(super) struct ToldExport {
    pub(super) instances: Vec<Value>,
    /// By the number of the instance.
    pub(super) transcripts: BTreeMap<String, Value>,
    pub(super) settings: Value,
}

/// The body of `POST /instances`.
#[derive(Debug, Serialize)]
pub(super) struct OrderedInstance {
    pub(super) objective: String,
    pub(super) contact: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) todos: Vec<String>,
    pub(super) channel: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) heartbeat_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_follow_ups: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time_zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}
