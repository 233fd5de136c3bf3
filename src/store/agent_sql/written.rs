//! Values as SQL writes them where the agent may have changed the settings of the session: no
//! quote, no backslash, and no letter that an encoding could read in another way.

use chrono::{DateTime, SecondsFormat, Utc};

/// Bytes.
pub(super) fn bytes(bytes: &[u8]) -> String {
    format!("pg_catalog.decode('{}', 'hex')", hex::encode(bytes))
}

/// A text.
pub(super) fn text(text: &str) -> String {
    format!("pg_catalog.convert_from({}, 'UTF8')", bytes(text.as_bytes()))
}

/// A time, as exact as Postgres keeps it.
pub(super) fn time(at: DateTime<Utc>) -> String {
    format!("'{}'::pg_catalog.timestamptz", at.to_rfc3339_opts(SecondsFormat::Micros, true))
}

#[cfg(test)]
mod tests;
