//! `POST /v1/chat/completions`: accepts the message, follows its turn, and answers whole or in
//! pieces.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::follow::{Ears, Follow, Next};
use super::history::link;
use super::read::{Asked, CONVERSATION};
use super::refusal::Refusal;
use super::stream;
use super::telling::{Ending, Telling};
use crate::domain::{ApprovalId, Failure, Shown};
use crate::http::Doors;
use crate::memory;
use crate::store::{Fingerprint, ShownAccepted};
use crate::wire::v1::{Choice, Completion, MODEL, Progress, Said};

pub(super) async fn complete(State(doors): State<Doors>, asked: Asked) -> Result<Response, Refusal> {
    // The handler listens before it accepts anything, so that it misses no event between.
    let ears = Ears::open(&doors);
    let Asked { shown, stream, include_usage, bytes } = asked;
    let fingerprint = shown.asked;
    let (store, now) = (doors.store.clone(), doors.clock.now());
    // A client that goes away now must not cut the commit off from its announcement.
    let accepting = tokio::spawn(async move {
        let accepted = store.accept_shown(&shown, now).await;
        drop(shown);
        if bytes > LARGE_BYTES {
            memory::give_back();
        }
        accepted
    });
    let accepted = accepting.await.expect("accepting does not panic")?;
    let follow = Follow::begin(doors.clone(), ears, accepted).await?;
    let telling = Answering { follow, doors, asked: fingerprint };
    let response = if stream { stream::response(telling, include_usage).await? } else { whole(telling).await?.into_response() };
    Ok(with_headers(response, &accepted))
}

fn with_headers(mut response: Response, accepted: &ShownAccepted) -> Response {
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static(CONVERSATION), HeaderValue::from(accepted.conversation.0));
    headers.insert("x-level3-turn", HeaderValue::from(accepted.turn.0));
    if let Ok(id) = HeaderValue::from_str(&format!("turn-{}", accepted.turn)) {
        headers.insert("x-request-id", id);
    }
    response
}

/// A body of more bytes had images; the memory it leaves is worth giving back.
const LARGE_BYTES: usize = 1 << 20;

/// A request on its way to its answer.
pub(super) struct Answering {
    pub(super) follow: Follow,
    doors: Doors,
    asked: Fingerprint,
}

/// How an answer ends.
pub(super) struct End {
    /// Text that the client has not been told yet.
    pub(super) text: String,
    pub(super) finish_reason: &'static str,
    pub(super) approval: Option<ApprovalId>,
}

impl Answering {
    /// The id of the answer: a client that asks again gets the same.
    pub(super) fn id(&self) -> String {
        format!("chatcmpl-{}", self.follow.shown().request)
    }

    /// The time at which the request was accepted, in seconds since 1970.
    pub(super) fn created(&self) -> i64 {
        self.follow.shown().at.timestamp()
    }

    pub(super) fn progress(&self) -> Progress {
        let ShownAccepted { conversation, turn, .. } = *self.follow.shown();
        Progress { conversation, turn, approval: None, tool_call: None, tool_result: None }
    }

    /// Ends the answer, and keeps the history that the client will send if it goes on.
    pub(super) async fn end(&mut self, ending: Ending) -> Result<End, Refusal> {
        let telling = self.follow.telling();
        let end = ended(telling, ending)?;
        let told = link(&self.asked, "assistant", telling.text());
        self.doors.store.keep_told(self.follow.shown().request, &told).await?;
        Ok(end)
    }
}

/// The last words, or the reason why there are none.
fn ended(telling: &mut Telling, ending: Ending) -> Result<End, Refusal> {
    let end = |text, approval| End { text, finish_reason: "stop", approval };
    Ok(match ending {
        Ending::Answered(cut) => End { finish_reason: if cut { "length" } else { "stop" }, ..end(String::new(), None) },
        Ending::Stopped => end(telling.add("*(stopped)*"), None),
        Ending::Waiting(approval, shown) => end(telling.add(&waiting(approval, &shown)), Some(approval)),
        Ending::Behind(approval) => end(telling.add(&behind(approval)), Some(approval)),
        Ending::Busy(reason, wait) => return Err(Refusal::busy(reason, wait)),
        Ending::Failed(Some(Failure::Model), reason) => {
            return Err(Refusal::failed(StatusCode::BAD_GATEWAY, reason, "model_failed"));
        }
        Ending::Failed(Some(Failure::Server) | None, reason) => {
            return Err(Refusal::failed(StatusCode::SERVICE_UNAVAILABLE, reason, "turn_failed"));
        }
    })
}

fn waiting(id: ApprovalId, shown: &Shown) -> String {
    let what: String = shown.what.iter().map(|what| format!("\n* {what}")).collect();
    format!(
        "**Approval {id} waits for you** (`{}`):{what}\n\n{}\n\nDecide on level3's page, where everything about it is shown, or with \
         `level3 approvals approve {id}` or `level3 approvals deny {id}`. Nothing that is said here decides it.",
        shown.tool, shown.why
    )
}

fn behind(id: ApprovalId) -> String {
    format!(
        "Your message is kept, and its turn comes once approval {id} is decided, for which an earlier one of this conversation waits: on \
         level3's page, or with `level3 approvals show {id}`. Send the same request again, with the same Idempotency-Key, for the answer."
    )
}

async fn whole(mut answering: Answering) -> Result<Json<Completion>, Refusal> {
    let ending = loop {
        match answering.follow.next().await? {
            // The pieces add up in the text of `Telling`.
            Next::Piece(_) => {}
            Next::End(ending) => break ending,
            Next::Away => return Err(Refusal::away()),
        }
    };
    let end = answering.end(ending).await?;
    let level3 = Progress { approval: end.approval, ..answering.progress() };
    let (id, created) = (answering.id(), answering.created());
    let telling = answering.follow.telling();
    let message = Said { role: "assistant", content: telling.text().to_owned(), refusal: None };
    let choice = Choice { index: 0, message, logprobs: None, finish_reason: end.finish_reason };
    let usage = telling.usage();
    Ok(Json(Completion { id, object: "chat.completion", created, model: MODEL, choices: [choice], usage, level3 }))
}
