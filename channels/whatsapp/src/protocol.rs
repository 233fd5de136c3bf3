//! The lines between level3 and this program: one JSON object each, version 1.
//! docs/channel-programs.md of level3 describes them.

use serde::{Deserialize, Serialize};

/// The version of the protocol that this program speaks.
pub const VERSION: u32 = 1;

/// The longest line in either direction, in bytes.
pub const LONGEST_LINE: usize = 1 << 20;

/// A line from level3.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Order {
    /// The first line.
    Start(Start),
    /// One attempt to send one message.
    Send(Outgoing),
    /// Show, or no longer show, that something is being written.
    Typing {
        /// The contact who sees it.
        to: String,
        /// True while something is being written.
        on: bool,
    },
    /// level3 has committed a message, or dropped it for good.
    Accepted {
        /// Its writer.
        from: String,
        /// Its id at WhatsApp.
        id: String,
    },
    /// End the session at WhatsApp and delete its credentials.
    Logout,
}

/// How the program is started.
#[derive(Debug, Deserialize)]
pub struct Start {
    /// The version that level3 speaks.
    pub version: u32,
    /// The program's own folder.
    pub folder: String,
    /// The folder for files that come in, inside `folder`.
    pub media: String,
    /// The name under which the phone lists this device.
    pub name: String,
    /// A number for which a pairing code is wanted beside the QR codes.
    pub pair: Option<String>,
}

/// A message to send.
#[derive(Debug, Deserialize)]
pub struct Outgoing {
    /// The id that level3 chose: 32 hex digits.
    pub id: String,
    /// The contact's number.
    pub to: String,
    /// The text, in Markdown; the caption if there is a file.
    #[serde(default)]
    pub text: String,
    /// A file to send.
    pub media: Option<OutgoingFile>,
}

/// A file to send.
#[derive(Debug, Deserialize)]
pub struct OutgoingFile {
    /// Its path, relative to the program's folder and inside the media folder.
    pub path: String,
    /// Its media type; `image/…` goes out as a picture, all else as a document.
    #[serde(rename = "type")]
    pub media_type: String,
    /// The name that a document is shown with.
    pub name: Option<String>,
}

/// The state of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No connection yet, or none just now.
    Connecting,
    /// A phone has to scan the QR code.
    NeedsScan,
    /// Messages go both ways.
    Online,
    /// There is no session.
    LoggedOut,
    /// WhatsApp has locked the account.
    Locked,
    /// WhatsApp, or level3, wants another release of this program.
    Outdated,
}

/// A change of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The state.
    pub state: State,
    /// Our number, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// A sentence for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// WhatsApp's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The end of a lock, or of a pairing code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// A code to be typed on the phone instead of a scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairing_code: Option<String>,
}

impl Status {
    /// A state without any detail.
    pub fn plain(state: State) -> Self {
        Self { state, address: None, reason: None, code: None, until: None, pairing_code: None }
    }

    /// A state with a code and a sentence.
    pub fn because(state: State, code: &str, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), code: Some(code.to_owned()), ..Self::plain(state) }
    }

    /// The same with a time at which it ends.
    pub fn until(self, until: String) -> Self {
        Self { until: Some(until), ..self }
    }
}

/// A line to level3.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Report {
    /// The state changed.
    Status(Status),
    /// A QR code to show.
    Qr {
        /// Its text.
        text: String,
        /// When it ends.
        until: String,
    },
    /// Somebody wrote.
    Message(Incoming),
    /// WhatsApp's server acknowledged a message of ours.
    Sent {
        /// The id that level3 chose.
        id: String,
    },
    /// A message of ours will not arrive.
    Refused {
        /// The id that level3 chose.
        id: String,
        /// WhatsApp's code, or a word of ours.
        code: String,
        /// A sentence for a person.
        reason: String,
        /// False if nothing left this machine and a later attempt may work; absent if no attempt is
        /// worth it.
        #[serde(skip_serializing_if = "Option::is_none")]
        left: Option<bool>,
    },
    /// A message of ours arrived or was read.
    Receipt {
        /// The id that level3 chose.
        id: String,
        /// `delivered` or `read`.
        state: &'static str,
    },
}

/// A message that came in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Incoming {
    /// Its id at WhatsApp.
    pub id: String,
    /// Its writer's number.
    pub from: String,
    /// When it was written, RFC 3339.
    pub at: String,
    /// `direct`, `group`, `broadcast` or `status`.
    pub chat: &'static str,
    /// True if our own account wrote it, on whatever device.
    pub own: bool,
    /// The other side of the chat, for what our own account wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The text; absent for a file alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The name that the writer gave themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The id of the message that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotes: Option<String>,
    /// The beginning of the message that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quoted: Option<String>,
    /// `edited` or `deleted`: this is a note about another message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// The message that the note is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The file that came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<IncomingFile>,
}

/// A file that came in.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum IncomingFile {
    /// It lies in the media folder.
    Kept {
        /// Its path, relative to the program's folder.
        path: String,
        /// Its size.
        bytes: u64,
        /// The media type that its sender claims.
        #[serde(rename = "type")]
        media_type: String,
    },
    /// It was not downloaded.
    Omitted {
        /// Always true.
        omitted: bool,
        /// The size that its sender claims.
        bytes: u64,
        /// The media type that its sender claims.
        #[serde(rename = "type")]
        media_type: String,
    },
}

/// Reads a line from level3.
///
/// # Errors
/// The line is no order that this version knows.
pub fn read(line: &str) -> Result<Order, String> {
    serde_json::from_str(line).map_err(|error| format!("this line is no order of version {VERSION}: {error}"))
}

#[cfg(test)]
mod tests;
