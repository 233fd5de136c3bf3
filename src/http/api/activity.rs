//! Events of all conversations, in words, and things that are due.

use axum::Json;
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::reply::{ApiRefusal, QueryString, Reply};
use crate::domain::{ConversationId, shortened};
use crate::facts::EventRecord;
use crate::http::visitor::Visitor;
use crate::store::{EventFilter, Theirs};
use crate::wire::api::{Events, HeartbeatReport, ListedEvent};

/// Events on a page.
const PAGE: i64 = 100;
/// The most entries of each list about the heartbeat.
const BEATS: i64 = 50;
/// The most bytes that an entry shows of a text.
const MOST_TEXT: usize = 2000;
/// The most bytes of each text among an event's own fields.
const MOST_FIELD: usize = 500;

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

pub(super) async fn events(visitor: Visitor, QueryString(asked): QueryString<EventQuery>) -> Reply<Events> {
    let EventQuery { kind, tool, outcome, conversation, from, to, before } = asked;
    let well = outcome.map(|outcome| outcome == Ended::Done);
    let filter = EventFilter { kind, tool, well, conversation, from, to, before };
    let theirs = visitor.theirs();
    let mut found = theirs.find_events(&filter, PAGE + 1).await?;
    let more = found.len() > PAGE as usize;
    found.truncate(PAGE as usize);
    let next = found.last().filter(|_| more).map(|(position, _)| *position);
    Ok(Json(Events { events: listed(&theirs, &found).await?, next }))
}

pub(super) async fn heartbeat(visitor: Visitor) -> Reply<HeartbeatReport> {
    let theirs = visitor.theirs();
    let (next, did) = tokio::try_join!(theirs.next_wake_ups(BEATS), theirs.heartbeat_events(BEATS))?;
    Ok(Json(HeartbeatReport { next, did: listed(&theirs, &did).await? }))
}

/// Events as a person is told them.
async fn listed(theirs: &Theirs, found: &[(i64, EventRecord)]) -> Result<Vec<ListedEvent>, ApiRefusal> {
    let mut events = Vec::with_capacity(found.len());
    for (position, record) in found {
        let (said, text) = record.sentence_and_words();
        events.push(ListedEvent {
            position: *position,
            conversation: record.conversation,
            profile: theirs.profile_of(record.conversation).await?,
            instance: theirs.instance_of(record.conversation).await?,
            seq: record.sequence,
            at: record.at,
            kind: record.event.kind().to_owned(),
            turn: record.event.about().turn,
            said,
            text: shortened(&text, MOST_TEXT).into_owned(),
            event: record.event.in_brief(MOST_FIELD),
        });
    }
    Ok(events)
}
