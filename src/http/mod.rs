//! The server's doors: the page, the websocket, the HTTP interface, the health checks. Every
//! request passes the same guard first, which finds out who asks; `visitor` has what they get.

mod access;
mod api;
mod chat;
mod images;
mod listen;
mod mcp;
mod metrics;
mod page;
mod passwords;
mod said;
mod sign_in;
mod site;
mod v1;
mod vapi;
mod visitor;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Router, middleware};
use chrono::{DateTime, Utc};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::trace::TraceLayer;

use crate::channels::Channels;
use crate::clock::Clock;
use crate::faces::campaigns::Campaigns;
use crate::faces::voice::{SpeechServers, Vapi};
use crate::mcp::Mcp;
use crate::model::choice::ModelSource;
use crate::profiles::Profiles;
use crate::runner::Webhooks;
use crate::sandbox::Sandbox;
use crate::secrets::Vault;
use crate::store::Store;
use crate::telemetry::Metrics;
use crate::tools::Tools;
use access::Guard;
use passwords::Passwords;
use visitor::{Closed, owners_alone};

pub use access::Access;
pub use listen::ConnectionLimits;
pub use site::{BackupMaker, Site};

/// The parts behind the doors. Cheap to clone.
#[derive(Clone)]
pub struct Doors {
    /// The database.
    pub store: Store,
    /// The secrets.
    pub vault: Vault,
    /// The sandbox that runs capabilities.
    pub sandbox: Sandbox,
    /// The way to external MCP servers.
    pub mcp: Mcp,
    /// True if the operator may add an MCP server that is a program.
    pub mcp_commands: bool,
    /// The profiles there are.
    pub profiles: Profiles,
    /// The tools there are.
    pub tools: Tools,
    /// The source that says which model answers.
    pub models: Arc<ModelSource>,
    /// The channels to contacts.
    pub channels: Channels,
    /// The channel by which orders to the operator come, and how many numbers give them.
    pub orders_from: Option<(String, usize)>,
    /// Tells webhooks.
    pub webhooks: Webhooks,
    /// The campaigns.
    pub campaigns: Campaigns,
    /// The servers for speech.
    pub speech: SpeechServers,
    /// Calls by Vapi.
    pub vapi: Vapi,
    /// When the server was started.
    pub started_at: DateTime<Utc>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The rules of which requests may come in.
    pub access: Arc<Access>,
    /// How long connections may take, and how many there may be.
    pub limits: ConnectionLimits,
    /// True if the start left the capabilities out.
    pub safe_mode: bool,
    /// Cancelled when the process is about to end.
    pub shutdown: CancellationToken,
    /// Cancelled together with `shutdown` if the server comes back by itself.
    pub restart: CancellationToken,
    /// The numbers for `/metrics`.
    pub metrics: Metrics,
    /// The server itself, for its operator.
    pub site: Arc<Site>,
    /// The open sockets of `/chat`.
    pub sockets: TaskTracker,
}

impl Doors {
    /// Serves until `shutdown`, then ends open requests and closes the sockets. `grace` is how long
    /// that may take, in real time: it guards against peers that hang.
    pub async fn serve(self, listener: TcpListener, grace: Duration) {
        let (limits, shutdown, sockets) = (self.limits, self.shutdown.clone(), self.sockets.clone());
        let mut serving = std::pin::pin!(async {
            listen::serve(listener, self.router(), limits, shutdown.clone()).await;
            // The sockets end after their listener: they have left it, and it may end before they
            // do.
            sockets.close();
            sockets.wait().await;
        });
        tokio::select! {
            () = &mut serving => {}
            () = shutdown.cancelled() => {
                // Requests that have not ended by then are cut off.
                let _ = tokio::time::timeout(grace, serving).await;
            }
        }
    }

    fn router(self) -> Router {
        let guard = Guard::new(Arc::clone(&self.access), self.store.clone(), Arc::clone(&self.clock), self.metrics.clone());
        let (body, mcp) = (self.limits.body, mcp::route(self.clone()));
        let closed = Closed::new(self, guard.clone());
        let mcp = mcp.layer(middleware::from_fn_with_state(closed.clone(), owners_alone));
        Router::new()
            .route("/chat", get(chat::open))
            .nest("/api", api::routes())
            .route("/mcp", mcp)
            .nest("/v1", v1::routes())
            .nest("/voice/vapi", vapi::routes())
            .nest("/sign-in", sign_in::routes())
            .route("/healthz", get(healthz))
            .route("/readyz", get(readyz))
            .route("/metrics", get(metrics::metrics))
            .fallback(page::file)
            .layer(TraceLayer::new_for_http())
            .layer(middleware::from_fn_with_state(body, listen::in_time))
            .layer(middleware::from_fn_with_state(guard, access::guard))
            .with_state(closed)
    }
}

/// The process is up.
async fn healthz() -> &'static str {
    "ok"
}

/// The process can do its work: the database answers, and the disk has room for what happens.
async fn readyz(State(closed): State<Closed>) -> impl IntoResponse {
    match closed.unready().await {
        None => (StatusCode::OK, "ready".to_owned()),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    }
}
