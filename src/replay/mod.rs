//! Replay: rebuilds the projections from events alone and compares them with what the server works
//! with; checks the chain of events; shows a turn as it was recorded. It changes nothing.

use serde_json::{Map, Value};

use crate::domain::{ConversationId, TurnId};
use crate::facts::{Event, TABLES, Table};
use crate::store::{Break, DifferingRow, Store, StoreError, Theirs};
use crate::wire::api::{BrokenLink, ReplayCheck, ReplayedEvent, ReplayedTurn, RowDifference};

/// Events that are applied in one go.
const BATCH: i64 = 2_000;
/// Rows of one projection that are named; one more tells that there are more.
const NAMED: usize = 200;
/// Characters of a value that are shown.
const SHOWN: usize = 200;

/// Checks that events are what was written, and that every projection is what they say. The server
/// may go on meanwhile: all of it is looked at as it was in one moment.
///
/// # Errors
/// If the database does not answer.
pub async fn check(store: &Store) -> Result<ReplayCheck, StoreError> {
    let mut rebuild = store.rebuild().await?;
    let mut found = ReplayCheck::default();
    found.broken.extend(rebuild.broken_links().await?.into_iter().map(named));
    let mut position = 0;
    loop {
        let batch = rebuild.events(position, BATCH).await?;
        let Some((last, ..)) = batch.last() else { break };
        position = *last;
        let mut changes = Vec::new();
        for (_, conversation, sequence, record) in batch {
            found.events += 1;
            match record {
                Ok(record) => changes.extend(record.changes()),
                Err(error) => found.broken.push(link(conversation, sequence, format!("cannot be read: {error}"))),
            }
        }
        rebuild.write(changes).await?;
    }
    for table in TABLES {
        let limit = i64::try_from(NAMED).unwrap_or(i64::MAX) + 1;
        let rows = rebuild.differences(table, limit).await?;
        found.more |= rows.len() > NAMED;
        found.differences.extend(rows.into_iter().take(NAMED).flat_map(|row| row_differences(table, row)));
    }
    rebuild.end().await?;
    found.clean = found.broken.is_empty() && found.differences.is_empty();
    Ok(found)
}

/// A user's turn as it was recorded; `None` when they have none of this number.
///
/// # Errors
/// If the database does not answer, or holds an event that cannot be read.
pub async fn turn(theirs: &Theirs, turn: TurnId) -> Result<Option<ReplayedTurn<Event>>, StoreError> {
    let Some(events) = theirs.events_of_turn(turn).await? else { return Ok(None) };
    let profile = match events.first() {
        Some(first) => theirs.profile_of(first.conversation).await?,
        None => String::new(),
    };
    let events = events.into_iter().map(|record| {
        let (said, _) = record.sentence_and_words();
        ReplayedEvent { sequence: record.sequence, at: record.at, said, event: record.event }
    });
    Ok(Some(ReplayedTurn { turn, profile, events: events.collect() }))
}

fn named(broken: Break) -> BrokenLink {
    match broken {
        Break::Changed { conversation, sequence } => {
            let what = "does not fit its hash: it, or the event before it, was changed after it was written";
            link(conversation, sequence, what.to_owned())
        }
        Break::Missing { conversation, from, to } if from == to => link(conversation, from, "is missing".to_owned()),
        Break::Missing { conversation, from, to } => link(conversation, from, format!("to {to} are missing")),
        Break::End { conversation, found, expected } if found < expected => {
            let what = format!("was cut off, with everything up to {expected}");
            link(conversation, found + 1, what)
        }
        Break::End { conversation, found, expected } => {
            let what = format!("is the newest there is, but the conversation says that its stream ends with {expected}");
            link(conversation, found, what)
        }
    }
}

fn link(conversation: ConversationId, sequence: i64, what: String) -> BrokenLink {
    BrokenLink { conversation, sequence, what }
}

/// One row's difference, column by column; a row that is there on one side only is one difference.
fn row_differences(table: &Table, row: DifferingRow) -> Vec<RowDifference> {
    let DifferingRow { key, live, rebuilt } = row;
    let difference = |column: Option<&str>, live: Option<Value>, events: Option<Value>| RowDifference {
        table: table.name.to_owned(),
        row: key.clone(),
        column: column.map(str::to_owned),
        live: live.map(short),
        events: events.map(short),
    };
    let (live, rebuilt) = match (live, rebuilt) {
        (Some(live), Some(rebuilt)) => (live, rebuilt),
        (live, rebuilt) => return vec![difference(None, live.map(Value::Object), rebuilt.map(Value::Object))],
    };
    let of_column = |row: &Map<String, Value>, column: &str| row.get(column).filter(|value| !value.is_null()).cloned();
    live.keys()
        .filter(|column| live.get(*column) != rebuilt.get(*column))
        .map(|column| difference(Some(column), of_column(&live, column), of_column(&rebuilt, column)))
        .collect()
}

/// A value as it is shown: text as it is, other things as JSON, not too long.
fn short(value: Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
