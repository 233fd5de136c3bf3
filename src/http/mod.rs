//! The server's doors: the page, the websocket, the HTTP interface, the health checks. Every request passes the same guard first.

mod access;
mod api;
mod chat;
mod images;
mod mcp;
mod metrics;
mod page;
mod v1;

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::trace::TraceLayer;

use crate::clock::Clock;
use crate::mcp::Mcp;
use crate::model::choice::ModelSource;
use crate::sandbox::Sandbox;
use crate::secrets::Vault;
use crate::store::Store;
use crate::telemetry::Metrics;
use crate::wire::ServerFrame;

pub use access::Access;

/// What the doors lead to. Cheap to clone.
#[derive(Clone)]
pub struct Doors {
    /// The database.
    pub store: Store,
    /// The secrets.
    pub vault: Vault,
    /// Where capabilities run.
    pub sandbox: Sandbox,
    /// The way to external MCP servers.
    pub mcp: Mcp,
    /// True when one may be added that is a program.
    pub mcp_commands: bool,
    /// Which model answers.
    pub models: Arc<ModelSource>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Pieces of answers being written.
    pub deltas: broadcast::Sender<ServerFrame>,
    /// Who may come in.
    pub access: Arc<Access>,
    /// True when capabilities were left out at the start.
    pub safe_mode: bool,
    /// Cancelled when the process is about to end.
    pub shutdown: CancellationToken,
    /// True in it when the server comes back by itself.
    pub restart: CancellationToken,
    metrics: Metrics,
    sockets: TaskTracker,
}

impl Doors {
    /// Puts the parts together.
    #[expect(clippy::too_many_arguments, reason = "built once, in app")]
    pub fn new(
        store: Store,
        vault: Vault,
        sandbox: Sandbox,
        (mcp, mcp_commands): (Mcp, bool),
        models: Arc<ModelSource>,
        clock: Arc<dyn Clock>,
        deltas: broadcast::Sender<ServerFrame>,
        access: Access,
        safe_mode: bool,
        shutdown: CancellationToken,
        restart: CancellationToken,
        metrics: Metrics,
    ) -> Self {
        let (access, sockets) = (Arc::new(access), TaskTracker::new());
        Self {
            store,
            vault,
            sandbox,
            mcp,
            mcp_commands,
            models,
            clock,
            deltas,
            access,
            safe_mode,
            shutdown,
            restart,
            metrics,
            sockets,
        }
    }

    /// Serves until `shutdown`, then ends open requests and closes the sockets; `grace` is how long that may take, in real time: it guards
    /// against what hangs.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn serve(self, listener: TcpListener, grace: Duration) -> std::io::Result<()> {
        // Without this, small frames wait for the peer's delayed acknowledgement, 40 ms of it.
        let listener = listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "could not set TCP_NODELAY");
            }
        });
        let (shutdown, sockets) = (self.shutdown.clone(), self.sockets.clone());
        let serving = axum::serve(listener, self.router()).with_graceful_shutdown(shutdown.clone().cancelled_owned());
        let mut serving = std::pin::pin!(serving.into_future());
        tokio::select! {
            ended = &mut serving => return ended,
            () = shutdown.cancelled() => {}
        }
        sockets.close();
        let ending = async { tokio::join!(serving, sockets.wait()).0 };
        tokio::time::timeout(grace, ending).await.unwrap_or(Ok(()))
    }

    fn router(self) -> Router {
        Router::new()
            .route("/chat", get(chat::open))
            .nest("/api", api::routes())
            .route_service("/mcp", mcp::service(self.clone()))
            .nest("/v1", v1::routes())
            .route("/healthz", get(healthz))
            .route("/readyz", get(readyz))
            .route("/metrics", get(metrics::metrics))
            .fallback(page::file)
            .layer(TraceLayer::new_for_http())
            .layer(middleware::from_fn_with_state(Arc::clone(&self.access), access::guard))
            .with_state(self)
    }
}

/// The process is up.
async fn healthz() -> &'static str {
    "ok"
}

/// The process can do its work: the database answers.
async fn readyz(State(doors): State<Doors>) -> impl IntoResponse {
    match doors.store.ping().await {
        Ok(()) => (StatusCode::OK, "ready"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer")
        }
    }
}
