//! Events of all conversations, in words, and things that are due.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::reply::{QueryString, Reply};
use crate::domain::{ConversationId, shortened};
use crate::facts::EventRecord;
use crate::http::Doors;
use crate::store::EventFilter;
use crate::wire::ServerFrame;
use crate::wire::api::{Events, HeartbeatReport, ListedEvent};

/// Events on a page.
const PAGE: i64 = 100;
/// The most entries of each list about the heartbeat.
const BEATS: i64 = 50;
/// The most bytes that an entry shows of a text.
const MOST_TEXT: usize = 2000;

/// How a call or a turn ended.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ended {
    Done,
    Failed,
}

#[derive(Deserialize)]
pub(super) struct EventQuery {
    kind: Option<String>,
    tool: Option<String>,
    outcome: Option<Ended>,
    conversation: Option<ConversationId>,
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
    before: Option<i64>,
}

pub(super) async fn events(State(doors): State<Doors>, QueryString(asked): QueryString<EventQuery>) -> Reply<Events> {
    let EventQuery { kind, tool, outcome, conversation, from, to, before } = asked;
    let well = outcome.map(|outcome| outcome == Ended::Done);
    let filter = EventFilter { kind, tool, well, conversation, from, to, before };
    let mut found = doors.store.find_events(&filter, PAGE + 1).await?;
    let more = found.len() > PAGE as usize;
    found.truncate(PAGE as usize);
    let next = found.last().filter(|_| more).map(|(position, _)| *position);
    Ok(Json(Events { events: found.iter().map(listed).collect(), next }))
}

pub(super) async fn heartbeat(State(doors): State<Doors>) -> Reply<HeartbeatReport> {
    let (next, did) = tokio::try_join!(doors.store.next_wake_ups(BEATS), doors.store.heartbeat_events(BEATS))?;
    Ok(Json(HeartbeatReport { next, did: did.iter().map(listed).collect() }))
}

fn listed((position, record): &(i64, EventRecord)) -> ListedEvent {
    let (heading, text) = record.event.headline();
    // A frame has the better sentence if it has one, and then the text for a model is not needed.
    let (said, text) = match record.frame().map(|sequenced| sequenced.frame) {
        Some(ServerFrame::ToolResult { name, said, .. }) => (said, name),
        Some(ServerFrame::Fired { content, .. } | ServerFrame::Held { content, .. }) => (content, String::new()),
        _ => (heading, text),
    };
    ListedEvent {
        position: *position,
        conversation: record.conversation,
        seq: record.sequence,
        at: record.at,
        kind: record.event.kind().to_owned(),
        turn: record.event.about().turn,
        said,
        text: shortened(&text, MOST_TEXT).into_owned(),
    }
}
