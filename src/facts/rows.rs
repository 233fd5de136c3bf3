//! Rows that follow from events: the tables they stand in, what is compared of these, and how an
//! event changes them.

use chrono::{DateTime, SubsecRound, Utc};
use serde_json::{Map, Value};

use crate::domain::ConversationId;

/// A column of a conversation, if it is that of a campaign: of others no event says it.
macro_rules! of_campaign {
    ($column:literal) => {
        concat!(
            "CASE WHEN EXISTS (SELECT FROM campaigns c WHERE c.conversation_id = conversations.conversation_id) THEN ",
            $column,
            " END"
        )
    };
}

/// How far each stream goes, and how the conversations of campaigns were made.
pub(super) static CONVERSATIONS: Table = Table {
    unsaid: &["is_main", "title", "pinned_at", "archived_at", "deleted_at", "branch_of", "branch_sequence", "branch_turn"],
    instead: &[
        ("user_id", of_campaign!("user_id")),
        ("profile", of_campaign!("profile")),
        ("created_at", of_campaign!("created_at")),
    ],
    rows: "last_sequence > 0",
    ..Table::all("conversations", "conversation_id::text")
};

/// A table that follows from events. Every column is compared, a new one as well, but for those
/// named here.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Names a row, as the keys of changes do: an expression over its columns.
    pub key: &'static str,
    /// The columns that no event says.
    pub unsaid: &'static [&'static str],
    /// Expressions that are compared in place of columns, by name: fingerprints, if events have no
    /// more than those.
    pub instead: &'static [(&'static str, &'static str)],
    /// The rows that events say anything of: a condition.
    pub rows: &'static str,
}

impl Table {
    /// A table of which everything is compared.
    pub(super) const fn all(name: &'static str, key: &'static str) -> Self {
        Self { name, key, unsaid: &[], instead: &[], rows: "TRUE" }
    }

    /// Sets columns of a row; others stay as they are.
    pub(super) fn set(&'static self, key: impl ToString, row: Value) -> Change {
        Change { table: self, key: key.to_string(), row: Some(fields(row)) }
    }

    /// Takes a row away.
    pub(super) fn gone(&'static self, key: impl ToString) -> Change {
        Change { table: self, key: key.to_string(), row: None }
    }
}

/// An event's effect on one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The table.
    pub table: &'static Table,
    /// The row's name; unique in its table, and shown to people.
    pub key: String,
    /// The columns it sets, others staying as they are; `created_at` is set by the first change of
    /// a row only. `None`: the row is gone.
    pub row: Option<Map<String, Value>>,
}

/// The conversation, the time and the number of an event, as rows have them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) conversation: ConversationId,
    pub(super) time: DateTime<Utc>,
    pub(super) sequence: i64,
}

/// A time as Postgres keeps it.
pub(super) fn time(at: DateTime<Utc>) -> DateTime<Utc> {
    at.trunc_subsecs(6)
}

/// The fields of a JSON object.
pub(super) fn fields(row: Value) -> Map<String, Value> {
    match row {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
