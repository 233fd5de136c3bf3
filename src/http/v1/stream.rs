//! An answer in pieces, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::answering::Answering;
use super::follow::Next;
use super::refusal::V1Refusal;
use super::telling::{Ending, StreamPiece};
use crate::wire::v1::{Chunk, ChunkChoice, Delta, Level3Part, MODEL};

/// After so much silence the server sends a line without meaning, so that no proxy takes the
/// connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) async fn response(mut answering: Answering, include_usage: bool) -> Result<Response, V1Refusal> {
    let hold = answering.doors.limits.first_event;
    let first = answering.follow.next_within(hold).await?;
    let first = match first {
        Some(Next::End(ending @ (Ending::Failed(..) | Ending::Busy(..)))) if answering.follow.telling().text().is_empty() => {
            return Err(answering.end(ending).await.err().unwrap_or_else(V1Refusal::away));
        }
        Some(Next::Away) => return Err(V1Refusal::away()),
        first => first,
    };
    let mut stream = Stream { answering, include_usage, first, ready: VecDeque::new(), over: false };
    stream.chunk(Delta { role: Some("assistant"), content: Some(String::new()) }, None, stream.answering.progress());
    let events = futures::stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    // A proxy that buffers would turn the stream into one late answer.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

struct Stream {
    answering: Answering,
    include_usage: bool,
    /// The event that came before the head was sent.
    first: Option<Next>,
    ready: VecDeque<Event>,
    over: bool,
}

impl Stream {
    /// The next event; `None` behind the last.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            let next = match self.first.take() {
                Some(first) => Ok(first),
                None => self.answering.follow.next().await,
            };
            match next {
                Ok(Next::Piece(piece)) => self.piece(piece),
                Ok(Next::End(ending)) => self.end(ending).await,
                Ok(Next::Away) => self.fail(V1Refusal::away()),
                Err(error) => self.fail(error.into()),
            }
        }
    }

    fn piece(&mut self, piece: StreamPiece) {
        let progress = self.answering.progress();
        match piece {
            StreamPiece::Text(text) => self.chunk(Delta { role: None, content: Some(text) }, None, progress),
            StreamPiece::Calls(called) => self.chunk(Delta::default(), None, Level3Part { tool_call: Some(called), ..progress }),
            StreamPiece::Called(called) => {
                self.chunk(Delta::default(), None, Level3Part { tool_result: Some(called), ..progress })
            }
        }
    }

    async fn end(&mut self, ending: Ending) {
        let end = match self.answering.end(ending).await {
            Ok(end) => end,
            Err(refusal) => return self.fail(refusal),
        };
        let progress = Level3Part { approval: end.approval, ..self.answering.progress() };
        if !end.text.is_empty() {
            self.chunk(Delta { role: None, content: Some(end.text) }, None, progress.clone());
        }
        self.chunk(Delta::default(), Some(end.finish_reason), progress.clone());
        if self.include_usage {
            let usage = Some(self.answering.follow.telling().usage());
            let chunk = Chunk { choices: Vec::new(), usage, ..self.empty(progress) };
            self.put(&chunk);
        }
        self.ready.push_back(Event::default().data("[DONE]"));
        self.over = true;
    }

    /// The words sent so far stay; the error comes behind them, and no end.
    fn fail(&mut self, refusal: V1Refusal) {
        self.put(&refusal.into_event());
        self.over = true;
    }

    fn chunk(&mut self, delta: Delta, finish_reason: Option<&'static str>, level3: Level3Part) {
        let choices = vec![ChunkChoice { index: 0, delta, logprobs: None, finish_reason }];
        let chunk = Chunk { choices, ..self.empty(level3) };
        self.put(&chunk);
    }

    fn empty(&self, level3: Level3Part) -> Chunk {
        Chunk {
            id: self.answering.id(),
            object: "chat.completion.chunk",
            created: self.answering.created(),
            model: MODEL,
            choices: Vec::new(),
            usage: self.include_usage.then_some(None),
            level3,
        }
    }

    fn put(&mut self, data: &impl Serialize) {
        let text = serde_json::to_string(data).expect("chunks are plain data");
        self.ready.push_back(Event::default().data(text));
    }
}
