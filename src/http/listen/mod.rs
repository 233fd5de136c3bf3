//! The listener: takes as many connections as there is room for, each for as long as it keeps to
//! its limits, and ends them in good order.

mod body;
mod limits;
mod line;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::access::{HEALTH, Peer};

pub(super) use body::in_time;
pub use limits::ConnectionLimits;
use line::ClientStream;

/// How long to wait if no connection can be taken: the machine has no file left, or no memory.
const PAUSE: Duration = Duration::from_millis(200);
/// The head of a request has this many bytes at most.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Serves until `shutdown`, then lets open requests end. Dropping it cuts them off.
pub(super) async fn serve(listener: TcpListener, router: Router, limits: ConnectionLimits, shutdown: CancellationToken) {
    let room = Arc::new(Semaphore::new(limits.connections));
    let reserve = Arc::new(Semaphore::new(limits.reserve));
    let mut connections = JoinSet::new();
    let mut full = false;
    loop {
        let (stream, peer) = tokio::select! {
            accepted = accept(&listener) => accepted,
            Some(_) = connections.join_next() => continue,
            () = shutdown.cancelled() => break,
        };
        let (permit, all) = match Arc::clone(&room).try_acquire_owned() {
            Ok(permit) => (permit, true),
            Err(_) => tokio::select! {
                permit = Arc::clone(&reserve).acquire_owned() => (permit.expect("it is never closed"), false),
                () = shutdown.cancelled() => break,
            },
        };
        if !all && !full {
            tracing::warn!(
                connections = limits.connections,
                "no room for more connections; further ones may only ask for the health"
            );
        }
        full = !all;
        let line = ClientStream::new(stream, permit, limits.write);
        connections.spawn(connection(line, peer, all, router.clone(), limits, shutdown.clone()));
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// The next connection.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // A connection that was gone before it was taken is not worth a line.
            Err(error) if error.raw_os_error() == Some(libc::ECONNABORTED) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be taken; trying again");
                #[expect(clippy::disallowed_methods, reason = "nothing tells when there is a file again")]
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// One connection, until its end; `all` is false if it is beyond the limit and may only ask for the
/// health.
async fn connection(
    line: ClientStream,
    peer: SocketAddr,
    all: bool,
    router: Router,
    limits: ConnectionLimits,
    shutdown: CancellationToken,
) {
    let service = service_fn(move |request| answer(router.clone(), request, peer, all));
    let mut http = http1::Builder::new();
    // The limit for the head holds between two requests as well.
    http.timer(TokioTimer::new()).header_read_timeout(if all { limits.head } else { limits.reserve_head });
    let connection = http.max_buf_size(MAX_HEAD_BYTES).keep_alive(all).serve_connection(TokioIo::new(line), service);
    let mut connection = std::pin::pin!(connection.with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, error = &error as &dyn std::error::Error, "a connection broke");
    }
}

async fn answer(router: Router, request: Request<Incoming>, peer: SocketAddr, all: bool) -> Result<Response, Infallible> {
    if !all && !HEALTH.contains(&request.uri().path()) {
        let told = "too many connections are open; try again";
        return Ok((StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "1")], told).into_response());
    }
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(Peer(peer));
    router.oneshot(request).await
}

#[cfg(test)]
mod tests;
