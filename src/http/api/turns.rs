//! Orders of a person: the turn that carries one out, and its state, for a client that waits.

use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::reply::{ApiRefusal, At, QueryString, Reply};
use crate::domain::{CallRequest, ConversationId, Machine, TurnId};
use crate::http::visitor::Visitor;
use crate::wire::api::{Queued, TurnReport};

/// How long one request waits, in real time: the client asks again.
const PATIENCE: Duration = Duration::from_secs(20);

/// The answer to an order.
pub(super) type Ordered = Result<(StatusCode, Json<Queued>), ApiRefusal>;

/// Queues a call as an order of a person: the same law and the same record as for a call of the
/// agent. Without a conversation it is the visitor's main one; it shows `content` as the order.
pub(super) async fn order(
    visitor: &Visitor,
    conversation: Option<ConversationId>,
    content: &str,
    tool: &str,
    arguments: &Value,
) -> Ordered {
    let (theirs, now) = (visitor.theirs(), visitor.now());
    let conversation = match conversation {
        Some(conversation) => conversation,
        None => theirs.main_conversation_of(visitor.default_profile(), now).await?,
    };
    let request = CallRequest { id: "command".into(), name: tool.to_owned(), arguments: arguments.to_string() };
    let turn = theirs.queue_command(conversation, content, request, now).await?;
    Ok((StatusCode::ACCEPTED, Json(Queued { turn, conversation })))
}

#[derive(Deserialize)]
pub(super) struct Waiting {
    /// Answer when the turn is over or waits for a person, or after 20 seconds.
    #[serde(default)]
    wait: bool,
}

pub(super) async fn show(
    visitor: Visitor,
    At(turn): At<TurnId>,
    QueryString(Waiting { wait }): QueryString<Waiting>,
) -> Reply<TurnReport> {
    // The handler subscribes before it first looks, so that it misses no event between.
    let theirs = visitor.theirs();
    let (mut events, mut elsewhere) = (theirs.events(), theirs.elsewhere());
    let until = Instant::now() + PATIENCE;
    loop {
        let report = theirs.turn_report(turn).await?;
        let report = report.ok_or_else(|| ApiRefusal::unknown(format!("there is no turn {turn}")))?;
        let settled = report.state.is_over() || report.approval.is_some();
        if settled || !wait || visitor.shutdown().is_cancelled() || Instant::now() >= until {
            return Ok(Json(report));
        }
        tokio::select! {
            () = visitor.shutdown().cancelled() => {}
            // After any event, a missed one, or the end of the patience it looks again.
            _ = timeout_at(until, events.recv()) => {}
            _ = elsewhere.recv() => {}
        }
    }
}
