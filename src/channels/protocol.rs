//! The lines between level3 and a channel program; docs/channel-programs.md describes them.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::relay::ChannelState;
use crate::store::storable_json;

/// The version of the protocol.
pub(super) const VERSION: u32 = 1;
/// The longest line, in bytes.
pub(super) const MOST_LINE: usize = 1 << 20;

/// A line to the program.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum ToProgram<'a> {
    /// The first one.
    Start {
        version: u32,
        folder: &'a Path,
        media: &'a Path,
        name: &'static str,
        /// A pairing code for this number is wanted beside the QR codes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pair: Option<&'a str>,
    },
    /// One attempt to send one text, perhaps with a file.
    Send {
        id: &'a str,
        to: &'a str,
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        media: Option<SentMedia<'a>>,
    },
    /// Something is being written, or no longer.
    Typing { to: &'a str, on: bool },
    /// A message is kept, or dropped for good.
    Accepted { from: &'a str, id: &'a str },
    /// End the session at the service.
    Logout,
}

/// A file that goes with a text.
#[derive(Debug, Serialize)]
pub(super) struct SentMedia<'a> {
    /// Below the program's folder.
    pub(super) path: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
}

impl ToProgram<'_> {
    /// As it is written.
    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// A line of the program. Fields that are not known are passed over; a kind that is not known is
/// refused.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum FromProgram {
    /// How it stands.
    Status {
        state: ChannelState,
        #[serde(default)]
        address: Option<String>,
        #[serde(default)]
        reason: Option<String>,
        #[serde(default)]
        code: Option<String>,
        #[serde(default)]
        until: Option<DateTime<Utc>>,
        #[serde(default)]
        pairing_code: Option<String>,
    },
    /// The text to show as a QR code.
    Qr { text: String },
    /// Somebody wrote.
    Message {
        id: String,
        from: String,
        #[serde(default)]
        text: String,
        /// When it was written.
        #[serde(default)]
        at: Option<DateTime<Utc>>,
        #[serde(default = "direct")]
        chat: String,
        #[serde(default)]
        own: bool,
        #[serde(default)]
        media: Option<ProgramMedia>,
        /// The other side of a chat in which our own account wrote.
        #[serde(default)]
        to: Option<String>,
        /// `edited` or `deleted`: the text tells of another message.
        #[serde(default)]
        note: Option<String>,
        /// The text of the message that it answers.
        #[serde(default)]
        quoted: Option<String>,
    },
    /// The service's server has a message of ours.
    Sent {
        id: String,
        #[serde(default)]
        peer_id: Option<String>,
    },
    /// The service refused it.
    Refused {
        id: String,
        #[serde(default)]
        code: Option<String>,
        #[serde(default)]
        reason: Option<String>,
        #[serde(default = "yes")]
        left: bool,
    },
    /// The contact's device has it, or the contact has seen it.
    Receipt { id: String, state: ReceiptState },
}

impl FromProgram {
    /// Reads a line. Zero characters are replaced before any string of it is an id, a reason or a
    /// text: the database holds none, and a line that cannot be kept would stop the channel.
    pub(super) fn read(line: &[u8]) -> serde_json::Result<Self> {
        let said: serde_json::Value = serde_json::from_slice(line)?;
        serde_json::from_value(storable_json(&said))
    }
}

/// The word of a receipt.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReceiptState {
    Delivered,
    Read,
}

/// A file that came with a message.
#[derive(Debug, Deserialize)]
pub(super) struct ProgramMedia {
    #[serde(default)]
    pub(super) path: Option<String>,
    #[serde(default)]
    pub(super) bytes: i64,
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) omitted: bool,
}

fn direct() -> String {
    "direct".to_owned()
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests;
