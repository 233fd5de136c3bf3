//! The door at which Vapi asks for the next words. The person's words are a message of their
//! conversation with Law, and the words are those of its turn. A request that is broken off,
//! because the person spoke, ends the speaking and not the turn.

use std::convert::Infallible;
use std::sync::LazyLock;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::asked::{AskedWords, folded};
use super::follow::{CallEars, HeardTurn, NextWords};
use super::words::{away, behind, limit, moment, too_long};
use super::{AtCall, MAX_BODY_BYTES, unauthorized, unavailable};
use crate::domain::VoiceCallId;
use crate::domain::voice::VoiceLanguage;
use crate::http::said::{self, Misfit};
use crate::http::v1::telling::Ending;
use crate::http::visitor::{Stranger, Visitor};
use crate::store::{NewMessage, StoreError, VapiCall};

/// After so long without a word the person hears that Law is at it.
const FIRST_WORD: TimeDelta = TimeDelta::seconds(3);
/// A person who hummed gets so long to go on, before the question is said once more.
const REPEATED_AFTER: TimeDelta = TimeDelta::seconds(3);
/// Sounds that say nothing, from the page's file of them, whose one text in quotes they are; a
/// letter that is drawn out stands there once.
static HESITATIONS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let file = include_str!("../../../static/voice/hesitations.js");
    file.split('"').nth(1).unwrap_or_default().split_whitespace().collect()
});

pub(super) async fn complete(stranger: Stranger, AtCall(call): AtCall, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let known = match stranger.vapi().by_bearer(VoiceCallId(call), |name| super::header(&parts.headers, name)).await {
        Ok(Some(known)) => known,
        Ok(None) => return unauthorized(),
        Err(error) => return unavailable(&error),
    };
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let Ok((asked, language)) = AskedWords::read(&body) else {
        return (StatusCode::BAD_REQUEST, "the body is no request for a completion: `messages` is missing").into_response();
    };
    let visitor = stranger.visitor_in(&known);
    let begun = visitor.now();
    let speech = match asked {
        // Nobody has said anything: Vapi's first message is all there is.
        None => Speech::of(&visitor, "", call),
        Some(asked) => match said_in(&visitor, known.call(), asked, language).await {
            Ok(speech) => speech,
            Err(error) => return unavailable(&error),
        },
    };
    stream(Speech { begun, language, ..speech })
}

/// Takes what was said, and follows its turn. A message that is not taken is answered with the
/// reason.
async fn said_in(visitor: &Visitor, call: &VapiCall, asked: AskedWords, language: VoiceLanguage) -> Result<Speech, StoreError> {
    let id = asked.id(call.call);
    let begun = visitor.now();
    match said::fits(visitor, call.conversation, &asked.text, false).await {
        Ok(()) => {}
        Err(Misfit::Long(long)) => return Ok(Speech::of(visitor, &too_long(long, language), call.call.0)),
        Err(misfit) => return Ok(Speech::of(visitor, &misfit.to_string(), call.call.0)),
    }
    visitor.theirs().keep_vapi_heard(call.call, asked.count, &asked.text).await?;
    if is_unclear(&asked.text) && visitor.theirs().question(call.conversation, begun).await?.is_some() {
        let question = asked_again(visitor, call, begun + REPEATED_AFTER).await?;
        return Ok(Speech::of(visitor, &question, call.call.0));
    }
    // The handler listens before it accepts anything, so that it misses no event between.
    let ears = CallEars::open(visitor);
    let counted = visitor.counted();
    let message =
        NewMessage { content: &asked.text, client_id: Some(&id), steer: true, images: &[], counted: &counted, spoken: true };
    let accepted = match said::take(visitor, call.conversation, message).await {
        Ok(accepted) => accepted,
        Err(StoreError::Quota(reached)) => return Ok(Speech::of(visitor, &limit(reached, language), call.call.0)),
        Err(error) => return Err(error),
    };
    let turn = HeardTurn::begin(visitor, ears, &accepted, &id).await?;
    Ok(Speech { turn: Some(turn), id: format!("chatcmpl-{id}"), ..Speech::of(visitor, "", call.call.0) })
}

/// True if nobody can tell what was meant: no word, or nothing but hesitation.
fn is_unclear(text: &str) -> bool {
    folded(text).split_whitespace().all(|word| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.dedup();
        HESITATIONS.contains(&&*String::from_iter(letters))
    })
}

/// The question that got no clear answer, to be said once more; nothing the next time.
async fn asked_again(visitor: &Visitor, call: &VapiCall, at: DateTime<Utc>) -> Result<String, StoreError> {
    // A person who speaks on breaks the request off, and the question has not been repeated then.
    tokio::select! {
        () = visitor.shutdown().cancelled() => return Ok(String::new()),
        () = visitor.clock().sleep_until(at) => {}
    }
    let theirs = visitor.theirs();
    // Somebody may have decided by a button meanwhile.
    let Some(question) = theirs.question(call.conversation, visitor.now()).await? else { return Ok(String::new()) };
    if !theirs.comes_first(call.call, &format!("question {} again", question.approval)).await? {
        return Ok(String::new());
    }
    Ok(theirs.approval(question.approval).await?.map(|asked| asked.shown.in_words().to_owned()).unwrap_or_default())
}

fn stream(speech: Speech) -> Response {
    let events = futures::stream::unfold(speech, |mut speech| async move {
        let event = speech.next().await?;
        Some((Ok::<_, Infallible>(Event::default().data(event)), speech))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new()).into_response();
    // A proxy that buffers would turn the stream into one late answer.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// How far an answer is.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Words,
    Stop,
    Done,
    Over,
}

/// An answer on its way.
struct Speech {
    visitor: Visitor,
    turn: Option<HeardTurn>,
    /// Said first.
    words: String,
    id: String,
    begun: DateTime<Utc>,
    language: VoiceLanguage,
    spoke: bool,
    stage: Stage,
}

impl Speech {
    /// An answer with these words and no turn.
    fn of(visitor: &Visitor, words: &str, call: i64) -> Self {
        let (visitor, begun) = (visitor.clone(), visitor.now());
        let id = format!("chatcmpl-vapi-{call}-0");
        let language = VoiceLanguage::default();
        Self { visitor, turn: None, words: words.to_owned(), id, begun, language, spoke: false, stage: Stage::Words }
    }

    /// The next line; `None` behind the last.
    async fn next(&mut self) -> Option<String> {
        match self.stage {
            Stage::Words => match self.more().await {
                Some(text) => Some(self.chunk(&json!({ "content": text }), None)),
                None => {
                    self.stage = Stage::Stop;
                    Box::pin(self.next()).await
                }
            },
            Stage::Stop => {
                self.stage = Stage::Done;
                Some(self.chunk(&json!({}), Some("stop")))
            }
            Stage::Done => {
                self.stage = Stage::Over;
                Some("[DONE]".to_owned())
            }
            Stage::Over => None,
        }
    }

    /// More to say; `None` at the end.
    async fn more(&mut self) -> Option<String> {
        if !self.words.is_empty() {
            return Some(std::mem::take(&mut self.words));
        }
        let turn = self.turn.as_mut()?;
        let next = if self.spoke {
            turn.next().await
        } else {
            self.spoke = true;
            let late = self.visitor.clock().sleep_until(self.begun + FIRST_WORD);
            tokio::select! {
                next = turn.next() => next,
                () = late => return Some(moment(self.language).to_owned()),
            }
        };
        match next {
            Ok(NextWords::Text(text)) => return Some(text),
            Ok(NextWords::End(ending)) => self.words = last_words(ending, self.language),
            Ok(NextWords::Away) => away(self.language).clone_into(&mut self.words),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "an answer in a call broke off");
                away(self.language).clone_into(&mut self.words);
            }
        }
        self.turn = None;
        Some(std::mem::take(&mut self.words)).filter(|words| !words.is_empty())
    }

    fn chunk(&self, delta: &serde_json::Value, finish_reason: Option<&str>) -> String {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
        json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.begun.timestamp(), "model": "law", "choices": [choice],
        })
        .to_string()
    }
}

/// The words with which a turn ends for now. A question is the end of an answer.
fn last_words(ending: Ending, language: VoiceLanguage) -> String {
    match ending {
        Ending::Answered(_) | Ending::Stopped => String::new(),
        Ending::Waiting(_, shown) => format!(" {}", shown.in_words()),
        Ending::Behind(_) => behind(language).to_owned(),
        Ending::Failed(_, reason) | Ending::Busy(reason, _) => format!(" {reason}"),
    }
}
