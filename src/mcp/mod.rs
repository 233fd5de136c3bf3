//! Other people's tools, by the Model Context Protocol. A server is connected to when it is needed
//! and let go when it is not; what it says of itself is a stranger's word, and is bounded and
//! cleaned before anybody reads it. The protocol itself is the crate `rmcp`'s.

mod bounded;
mod clean;
mod connection;
mod definition;
mod error;
mod schema;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::ServiceError;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until, timeout};

use crate::domain::{McpListing, McpTransport, secrets_in};
use crate::governor::Permit;
use crate::secrets::Vault;
use crate::telemetry::Scrubber;

use connection::McpConnection;

pub use error::McpError;
pub use schema::fits;

/// How long things may take, and how much a server may send. Real time: it guards against servers
/// that hang.
#[derive(Clone, Copy, Debug)]
pub struct McpLimits {
    /// To be there and to greet.
    pub connect: Duration,
    /// To list the tools.
    pub list: Duration,
    /// To answer a call.
    pub call: Duration,
    /// How long a connection is kept that nobody uses.
    pub idle: Duration,
}

impl Default for McpLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(20), list: seconds(20), call: seconds(60), idle: seconds(600) }
    }
}

/// The answer of a server to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct McpAnswer {
    /// False when the tool says that it failed.
    pub ok: bool,
    /// The text of the answer, bounded.
    pub text: String,
}

/// The way to servers of other people's tools. Cheap to clone.
#[derive(Clone)]
pub struct Mcp(Arc<Inner>);

struct Inner {
    vault: Vault,
    scrubber: Scrubber,
    limits: McpLimits,
    /// The environment of every program that the server starts.
    environment: BTreeMap<String, String>,
    slots: Mutex<HashMap<String, Arc<Slot>>>,
}

/// One server's connection, while there is one. A task that connects holds it, so that others wait
/// for this server and for no other.
type Slot = Mutex<Option<Arc<McpConnection>>>;

impl Mcp {
    /// `environment` is what every program that is started finds in its environment: of level3's
    /// own it gets nothing else.
    pub fn new(vault: Vault, scrubber: Scrubber, environment: BTreeMap<String, String>, limits: McpLimits) -> Self {
        Self(Arc::new(Inner { vault, scrubber, limits, environment, slots: Mutex::default() }))
    }

    /// Asks a server which tools it has now.
    ///
    /// # Errors
    /// [`McpError`]; it is words for the operator and for the model.
    pub async fn list(&self, server: &str, transport: &McpTransport) -> Result<McpListing, McpError> {
        let connection = self.connected(server, transport).await?;
        let listing = timeout(self.0.limits.list, definition::list(connection.peer(), server)).await;
        let listed = match listing {
            Ok(listed) => listed,
            Err(_) => Err(McpError::slow(server, "list its tools", self.0.limits.list)),
        };
        match listed {
            Ok(listed) => Ok(listed),
            Err(error) => {
                self.forget(server).await;
                Err(self.clean(error))
            }
        }
    }

    /// Calls a tool, once. `name` is the server's own.
    ///
    /// # Errors
    /// [`McpError`]; [`McpError::may_have_happened`] says whether the call may have arrived.
    pub async fn call(
        &self,
        _permit: &Permit,
        server: &str,
        transport: &McpTransport,
        name: &str,
        arguments: Value,
    ) -> Result<McpAnswer, McpError> {
        let connection = self.connected(server, transport).await?;
        let Value::Object(arguments) = arguments else { return Err(McpError::refused(server, "arguments must be an object")) };
        let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let limit = self.0.limits.call;
        let answered = timeout(limit, connection.peer().call_tool_once(request)).await;
        connection.used();
        let error = match answered {
            Ok(Ok(CallToolResponse::Complete(result))) => {
                let answer = definition::answer(result);
                return Ok(McpAnswer { text: self.0.scrubber.clean(&answer.text).into_owned(), ..answer });
            }
            Ok(Ok(_)) => return Err(McpError::refused(server, "it asks back before it answers, which level3 does not do")),
            // It said so itself: it is there, and did not do it.
            Ok(Err(ServiceError::McpError(error))) => {
                return Err(self.clean(McpError::refused(server, &error::error_words(&error.message))));
            }
            Ok(Err(ServiceError::UnexpectedResponse)) => {
                return Ok(McpAnswer { ok: true, text: definition::UNREADABLE.to_owned() });
            }
            Ok(Err(error)) => McpError::lost(server, &error::request_words(&error)),
            Err(_) => McpError::late(server, limit),
        };
        self.forget(server).await;
        Err(self.clean(error))
    }

    /// Lets go of a server; the next call connects anew.
    pub async fn forget(&self, server: &str) {
        let slot = self.0.slots.lock().await.remove(server);
        let Some(slot) = slot else { return };
        let connection = slot.lock().await.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// Lets go of all, and ends the programs that were started.
    pub async fn close(&self) {
        let slots: Vec<_> = self.0.slots.lock().await.drain().map(|(_, slot)| slot).collect();
        for slot in slots {
            if let Some(connection) = slot.lock().await.take() {
                connection.close().await;
            }
        }
    }

    async fn connected(&self, server: &str, transport: &McpTransport) -> Result<Arc<McpConnection>, McpError> {
        let filled = self.filled(server, transport).await?;
        let slot = Arc::clone(self.0.slots.lock().await.entry(server.to_owned()).or_default());
        let mut held = slot.lock().await;
        if let Some(connection) = &*held
            && connection.fits(&filled)
        {
            connection.used();
            return Ok(Arc::clone(connection));
        }
        if let Some(old) = held.take() {
            old.close().await;
        }
        let limit = self.0.limits.connect;
        let connecting = timeout(limit, McpConnection::open(server, filled, &self.0.environment)).await;
        let connection = connecting.unwrap_or_else(|_| Err(McpError::slow(server, "answer a greeting", limit)));
        let connection = Arc::new(connection.map_err(|error| self.clean(error))?);
        *held = Some(Arc::clone(&connection));
        self.let_go_when_idle(server.to_owned(), &connection);
        Ok(connection)
    }

    /// A connection that nobody uses costs nothing: after a while it is closed.
    fn let_go_when_idle(&self, server: String, connection: &Arc<McpConnection>) {
        let (all, connection, idle) = (Arc::downgrade(&self.0), Arc::downgrade(connection), self.0.limits.idle);
        tokio::spawn(async move {
            loop {
                let Some(until) = connection.upgrade().map(|connection| connection.last_use() + idle) else { return };
                sleep_until(until).await;
                let (Some(all), Some(connection)) = (all.upgrade(), connection.upgrade()) else { return };
                if connection.last_use() + idle <= Instant::now() {
                    drop(connection);
                    Self(all).forget(&server).await;
                    return;
                }
            }
        });
    }

    /// The transport with values where names of secrets stand.
    async fn filled(&self, server: &str, transport: &McpTransport) -> Result<Filled, McpError> {
        let texts = match transport {
            McpTransport::Http { headers, .. } => headers,
            McpTransport::Command { env, .. } => env,
        };
        let mut values = BTreeMap::new();
        for (name, text) in texts {
            let mut value = text.clone();
            for secret in secrets_in(text).map_err(|error| McpError::refused(server, &error))? {
                let found = self.0.vault.get(secret).await.map_err(|error| McpError::secret(server, secret, &error))?;
                let found = found.ok_or_else(|| McpError::no_secret(server, secret))?;
                value = value.replace(&format!("{{{{{secret}}}}}"), found.expose_secret());
            }
            values.insert(name.clone(), SecretString::from(value));
        }
        Ok(Filled { transport: transport.clone(), values })
    }

    fn clean(&self, error: McpError) -> McpError {
        error.reworded(|text| self.0.scrubber.clean(text).into_owned())
    }
}

/// How a server is reached, with the values of secrets.
struct Filled {
    transport: McpTransport,
    /// Of headers or variables, by their names.
    values: BTreeMap<String, SecretString>,
}

impl Filled {
    fn same(&self, other: &Self) -> bool {
        let values = |filled: &Self| -> Vec<_> {
            filled.values.iter().map(|(name, value)| (name.clone(), value.expose_secret().to_owned())).collect()
        };
        self.transport == other.transport && values(self) == values(other)
    }
}
