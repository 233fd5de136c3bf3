//! `/mcp`: level3 as a server of the Model Context Protocol. It offers other agents the live
//! capabilities and `write_capability`, and each call is a turn under the same law as any other.
//! `docs/mcp.md` describes it; the crate `rmcp` has the protocol.

mod call;
mod errors;
mod words;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on_service};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Doors;
use super::visitor::Closed;
use crate::domain::{SharedSpec, ToolSpec, WRITE_CAPABILITY};
use crate::facts::{Event, EventRecord};
use crate::profiles;
use crate::store::{Announced, Elsewhere, StoreError};
use crate::wire::MAX_MCP_BYTES;

/// How many clients may be connected at the same time.
const MOST_SESSIONS: usize = 256;

/// How long a client that says nothing stays connected, in real time: it guards against clients
/// that left without a word.
const IDLE: Duration = Duration::from_secs(30 * 60);

fn instructions() -> String {
    format!(
        "Tools are capabilities that level3 keeps and runs in a sandbox; {WRITE_CAPABILITY} makes a new one. A call that has to be \
         approved by a person is answered with an error that says so: call again with the same arguments once it is decided, and you \
         get the outcome of that same call."
    )
}

/// The route of the interface. The guard of the doors has checked Host, Origin and token before a
/// request gets here.
pub(super) fn route(doors: Doors) -> MethodRouter<Closed> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(MAX_MCP_BYTES)
        .with_cancellation_token(doors.shutdown.child_token());
    let open = Arc::new(AtomicUsize::new(0));
    let make = move || Door::open(&doors, &open).ok_or_else(|| std::io::Error::other(words::FULL));
    let service = StreamableHttpService::new(make, Arc::new(sessions), config);
    on_service(MethodFilter::GET.or(MethodFilter::POST).or(MethodFilter::DELETE), service)
        .layer::<_, Infallible>(middleware::from_fn(errors::in_json_rpc))
        .layer(DefaultBodyLimit::max(MAX_MCP_BYTES))
}

/// One client's connection; for a client without a connection, one request.
#[derive(Clone)]
pub(super) struct Door {
    doors: Doors,
    connection: Arc<Connection>,
}

/// One more connection, for as long as it lives.
struct Connection {
    open: Arc<AtomicUsize>,
    gone: CancellationToken,
    _guard: DropGuard,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Door {
    fn open(doors: &Doors, open: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |count| (count < MOST_SESSIONS).then_some(count + 1);
        open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        let gone = CancellationToken::new();
        let connection = Connection { open: Arc::clone(open), _guard: gone.clone().drop_guard(), gone };
        Some(Self { doors: doors.clone(), connection: Arc::new(connection) })
    }

    /// The tools that can be ordered here now; none in safe mode.
    async fn offered(&self) -> Result<Vec<SharedSpec>, StoreError> {
        let Ok(profile) = self.doors.profiles.get(profiles::mcp::NAME) else { return Ok(Vec::new()) };
        if self.doors.safe_mode {
            return Ok(Vec::new());
        }
        let catalogue = self.doors.store.catalogue(None).await?;
        Ok(self.doors.tools.offered_by_hand(&profile, &catalogue).all().cloned().collect())
    }
}

fn tool(spec: &ToolSpec) -> Tool {
    let schema = match &spec.parameters {
        Value::Object(schema) => schema.clone(),
        // A schema that was checked is an object; any other schema accepts anything.
        _ => serde_json::Map::from_iter([("type".to_owned(), Value::from("object"))]),
    };
    Tool::new(spec.name.clone(), spec.description.clone(), schema)
}

/// Words for a client if the database does not answer; the log has the rest.
fn broken(error: &StoreError) -> ErrorData {
    tracing::warn!(error = error as &dyn std::error::Error, "an MCP client could not be answered");
    ErrorData::new(words::UNANSWERED, error.for_caller(), None)
}

/// The events of this server and the hints of others, for a client that wants to hear of changes.
struct HeardChanges {
    events: Receiver<Announced<EventRecord>>,
    elsewhere: Elsewhere,
}

impl HeardChanges {
    /// Those from now on.
    fn of(doors: &Doors) -> Self {
        Self { events: doors.store.signals().events(), elsewhere: doors.store.signals().elsewhere() }
    }

    /// Completes when the offered tools may have changed; `false` if the server ends.
    async fn next(&mut self, doors: &Doors) -> bool {
        loop {
            let received = tokio::select! {
                received = self.events.recv() => received,
                hint = self.elsewhere.next() => match hint {
                    Some(hint) if !matches!(hint.kind.as_str(), "capability_installed" | "capability_changed") => continue,
                    Some(_) | None => return true,
                },
                () = doors.shutdown.cancelled() => return false,
            };
            match received {
                Ok(record) if matches!(record.event, Event::CapabilityInstalled(_) | Event::CapabilityChanged(_)) => {
                    return true;
                }
                Ok(_) => {}
                // The change may be among the events that were missed.
                Err(RecvError::Lagged(_)) => return true,
                Err(RecvError::Closed) => return false,
            }
        }
    }
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
            .with_server_info(Implementation::new("level3", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offered = self.offered().await.map_err(|error| broken(&error))?;
        Ok(ListToolsResult::with_all_items(offered.iter().map(|spec| tool(spec)).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await.map(CallToolResponse::from)
    }

    /// Requests that fit none of the protocol's come here, with methods that are not there or with
    /// parameters that are none.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(words::unread(&request))
    }

    /// Tells a client of changes for as long as it keeps its connection.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (doors, gone) = (self.doors.clone(), self.connection.gone.clone());
        self.doors.sockets.spawn(async move {
            let mut changes = HeardChanges::of(&doors);
            loop {
                tokio::select! {
                    more = changes.next(&doors) => {
                        if !more || context.peer.notify_tool_list_changed().await.is_err() {
                            return;
                        }
                    }
                    () = gone.cancelled() => return,
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    /// The same for a client that asks for it in a request of its own.
    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = HeardChanges::of(&self.doors);
        loop {
            tokio::select! {
                more = changes.next(&self.doors) => {
                    if !more || subscription.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
                () = subscription.cancelled() => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests;
