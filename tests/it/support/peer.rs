//! A peer outside the house: an HTTP server on loopback that keeps its requests, and answers as a
//! test wants.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::in_time;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    pub method: String,
    pub path: String,
    pub headers: HeaderMap,
    pub body: String,
}

impl Arrived {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Status, content type and body.
type Answer = (u16, &'static str, Vec<u8>);

/// Answers `/echo…` with the whole request, `/hang…` only after [`Peer::release`], `/to?URL` with a
/// redirect there, `/big` with 2 MiB, and anything else with `{"ok": true}`.
#[derive(Clone)]
pub struct Peer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    arrived: Mutex<Vec<Arrived>>,
    came: Notify,
    release: Notify,
    /// The next answers, in place of what the path says; `None` hangs.
    answers: Mutex<VecDeque<Option<Answer>>>,
    /// The answer to every request that has none of its own.
    always: Mutex<Option<Answer>>,
}

impl Peer {
    pub async fn start() -> Self {
        Self::on(tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    /// Listens at an address of the test's choice.
    pub fn on(listener: tokio::net::TcpListener) -> Self {
        let shared: Arc<Shared> = Arc::default();
        let router = axum::Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, shared }
    }

    /// The grant that names it.
    pub fn host(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers one of the next requests so, each in its turn, in place of what the path says.
    pub fn will_answer(&self, status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) {
        self.shared.answers.lock().unwrap().push_back(Some((status, content_type, body.into())));
    }

    /// Answers every request so that has no answer of its own.
    pub fn always_answers(&self, status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) {
        *self.shared.always.lock().unwrap() = Some((status, content_type, body.into()));
    }

    /// Answers one of the next requests only after [`Peer::release`].
    pub fn hang_next(&self) {
        self.shared.answers.lock().unwrap().push_back(None);
    }

    pub fn arrived(&self) -> Vec<Arrived> {
        self.shared.arrived.lock().unwrap().clone()
    }

    /// Completes when so many requests have come in altogether.
    pub async fn has(&self, count: usize) {
        loop {
            let next = self.shared.came.notified();
            if self.arrived().len() >= count {
                return;
            }
            in_time("a request at the peer", next).await;
        }
    }

    /// Answers the requests that hang.
    pub fn release(&self) {
        self.shared.release.notify_waiters();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8_lossy(&body).into_owned();
    let path = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let arrived = Arrived { method: method.to_string(), path: path.clone(), headers: headers.clone(), body: body.clone() };
    let released = shared.release.notified();
    shared.arrived.lock().unwrap().push(arrived);
    shared.came.notify_waiters();
    let next = shared.answers.lock().unwrap().pop_front();
    let next = next.or_else(|| shared.always.lock().unwrap().clone().map(Some));
    match next {
        Some(Some((status, content_type, body))) => {
            return (StatusCode::from_u16(status).unwrap(), [("content-type", content_type)], body).into_response();
        }
        Some(None) => released.await,
        None if path.starts_with("/hang") => released.await,
        None => {}
    }
    if let Some(target) = path.strip_prefix("/to?") {
        return (StatusCode::TEMPORARY_REDIRECT, [("location", target.to_owned())]).into_response();
    }
    if path.starts_with("/echo") {
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())])).collect();
        return axum::Json(json!({ "path": path, "headers": headers, "body": body })).into_response();
    }
    if path.starts_with("/big") {
        return "x".repeat(2 << 20).into_response();
    }
    axum::Json::<Value>(json!({ "ok": true })).into_response()
}
