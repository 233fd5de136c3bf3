//! Bodies that come in time.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep_until};

/// How many bytes give a body another second.
const PER_SECOND: u64 = 16 << 10;

/// Gives up on a body that takes too long, and says so, whatever the handler made of the cut body.
pub(in crate::http) async fn in_time(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let late = Arc::new(AtomicBool::new(false));
    let timed = |body| {
        let until = tokio::time::Instant::now() + limit;
        Body::new(InTime { body, until: Box::pin(sleep_until(until)), late: Arc::clone(&late) })
    };
    let response = next.run(request.map(timed)).await;
    if !late.load(Ordering::Relaxed) {
        return response;
    }
    let mut told = (StatusCode::REQUEST_TIMEOUT, "the body did not come in time").into_response();
    told.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    told
}

struct InTime {
    body: Body,
    until: Pin<Box<Sleep>>,
    late: Arc<AtomicBool>,
}

impl HttpBody for InTime {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
            let until = self.until.deadline() + Duration::from_micros(bytes * 1_000_000 / PER_SECOND);
            self.until.as_mut().reset(until);
        }
        if frame.is_pending() && self.until.as_mut().poll(cx).is_ready() {
            self.late.store(true, Ordering::Relaxed);
            return Poll::Ready(Some(Err(axum::Error::new("the body did not come in time"))));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
