//! `POST /v1/chat/completions`: accepts the message, follows its turn, and answers whole or in
//! pieces.

use axum::Json;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

use super::answering::Answering;
use super::follow::{Ears, Follow, Next};
use super::read::{AnswerableRequest, CONVERSATION};
use super::refusal::V1Refusal;
use super::stream;
use crate::http::visitor::Owner;
use crate::memory;
use crate::store::ShownAccepted;
use crate::wire::v1::{AssistantMessage, Choice, Completion, Level3Part, MODEL};

pub(super) async fn complete(Owner(doors): Owner, asked: AnswerableRequest) -> Result<Response, V1Refusal> {
    // The handler listens before it accepts anything, so that it misses no event between.
    let ears = Ears::open(&doors);
    let AnswerableRequest { shown, stream, include_usage, bytes } = asked;
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

async fn whole(mut answering: Answering) -> Result<Json<Completion>, V1Refusal> {
    let ending = loop {
        match answering.follow.next().await? {
            // The pieces add up in the text of `Telling`.
            Next::Piece(_) => {}
            Next::End(ending) => break ending,
            Next::Away => return Err(V1Refusal::away()),
        }
    };
    let end = answering.end(ending).await?;
    let level3 = Level3Part { approval: end.approval, ..answering.progress() };
    let (id, created) = (answering.id(), answering.created());
    let telling = answering.follow.telling();
    let message = AssistantMessage { role: "assistant", content: telling.text().to_owned(), refusal: None };
    let choice = Choice { index: 0, message, logprobs: None, finish_reason: end.finish_reason };
    let usage = telling.usage();
    Ok(Json(Completion { id, object: "chat.completion", created, model: MODEL, choices: [choice], usage, level3 }))
}
