//! The JSON of `/api/replay`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{ConversationId, TurnId};

/// `GET /api/replay/check`: whether events are what was written, and everything else is what they
/// say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayCheck {
    /// True when nothing was found.
    pub clean: bool,
    /// How many events were replayed.
    pub events: u64,
    /// The places in which a stream is not what was written, in order.
    pub broken: Vec<BrokenLink>,
    /// The rows that are not what the events say.
    pub differences: Vec<RowDifference>,
    /// True when there are more differences than are named.
    pub more: bool,
}

/// An event that is not what was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenLink {
    /// The conversation whose stream it is.
    pub conversation: ConversationId,
    /// Which event.
    pub sequence: i64,
    /// The fault, as the end of a sentence that begins with the event.
    pub what: String,
}

/// Something in a table that is not what events say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowDifference {
    /// The table.
    pub table: String,
    /// The row, by its id or ids.
    pub row: String,
    /// The column; `None` when the whole row is on one side only.
    pub column: Option<String>,
    /// The table's words, shortened; `None` for nothing.
    pub live: Option<String>,
    /// The events' words, likewise.
    pub events: Option<String>,
}

/// `GET /api/replay/turns/{id}`: a turn as it was recorded. `E` is an event of `facts`, which stand
/// above this module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayedTurn<E> {
    /// The turn.
    pub turn: TurnId,
    /// The profile of its conversation.
    #[serde(default)]
    pub profile: String,
    /// Its events, oldest first.
    pub events: Vec<ReplayedEvent<E>>,
}

/// A recorded event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayedEvent<E> {
    /// Its number in the stream.
    pub sequence: i64,
    /// When it happened.
    pub at: DateTime<Utc>,
    /// The event in a sentence for a person.
    pub said: String,
    /// The event itself.
    #[serde(flatten)]
    pub event: E,
}
