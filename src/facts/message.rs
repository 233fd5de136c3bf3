//! Messages and the images that come with them. No event is about a message alone: turns, steps and
//! calls say them.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::rows::{Change, Stamp, Table, fields};
use crate::domain::{Image, MessageId, Role, TurnId, UserId};

/// The words of persons and models, and what models are told of their calls.
pub(super) static MESSAGES: Table = Table {
    unsaid: &["message_id"],
    ..Table::all(
        "messages",
        "CASE WHEN steered THEN 'steered/' || message_id ELSE concat_ws('/', role, coalesce(tool_call_id, step_id, turn_id)) END",
    )
};

/// How many messages each person has sent on each day, of those that count.
pub(super) static MESSAGE_COUNTS: Table = Table::all("message_counts", "user_id || '/' || day");

/// A message that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedMessage {
    /// Whose.
    pub user: UserId,
    /// The day by the clock of the person's zone.
    pub day: NaiveDate,
    /// Its place among the messages of that day, from 1.
    pub messages: i32,
}

impl CountedMessage {
    /// The count that it makes.
    pub(super) fn row(self) -> Change {
        let Self { user, day, messages } = self;
        MESSAGE_COUNTS.set(format!("{user}/{day}"), json!({ "user_id": user, "day": day, "messages": messages }))
    }
}

/// The images that came with messages, and the pictures that calls took.
pub(super) static ATTACHMENTS: Table = Table {
    unsaid: &["bytes", "created_at"],
    instead: &[("size", "octet_length(bytes)"), ("bytes_sha256", "encode(sha256(bytes), 'hex')")],
    ..Table::all("attachments", "sha256")
};

/// The row of a message; `also` has the columns that not every message has.
pub(super) fn message_row(at: Stamp, key: String, turn: TurnId, role: Role, content: &str, also: Value) -> Change {
    let mut row = fields(json!({
        "conversation_id": at.conversation, "turn_id": turn, "role": role, "content": content, "steered": false, "images": [],
        "created_at": at.time,
    }));
    row.extend(fields(also));
    Change { table: &MESSAGES, key, row: Some(row) }
}

/// The key of a message that was said into a turn.
pub(super) fn steered(message: MessageId) -> String {
    format!("steered/{message}")
}

/// The rows of the images of a message. The bytes are in no event; their sha256 is.
pub(super) fn attachments(images: &[Image]) -> impl Iterator<Item = Change> {
    images.iter().map(|Image { sha256, media_type, size }| {
        let row = json!({ "sha256": sha256, "media_type": media_type, "size": size, "bytes_sha256": sha256 });
        ATTACHMENTS.set(sha256, row)
    })
}

/// A message for the command line.
pub(super) fn with_images(content: &str, images: &[Image]) -> String {
    let lines: String = images.iter().map(|image| format!("\nwith an image: {}, {}", image.words(), image.sha256)).collect();
    format!("{content}{lines}")
}
