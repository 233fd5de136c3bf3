//! The things that tools work with.

use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::marks::Marks;
use super::recorder::Recorder;
use crate::clock::Clock;
use crate::domain::{CallAccount, Outcome, ToolCallId};
use crate::egress::Egress;
use crate::mcp::Mcp;
use crate::sandbox::Sandbox;
use crate::secrets::Vault;
use crate::store::{CapabilitySummary, Store, StoreError};
use crate::telemetry::Metrics;

/// The ways by which tools reach the outside. Cheap to clone.
#[derive(Clone)]
pub struct Hands {
    /// Runs capabilities.
    pub sandbox: Sandbox,
    /// The one way out.
    pub egress: Egress,
    /// The way to other people's tools.
    pub mcp: Mcp,
    /// Keeps secrets.
    pub vault: Vault,
    /// Knows which calls are under way.
    pub marks: Marks,
}

/// All that a tool works with. Cheap to clone.
#[derive(Clone)]
pub struct Kit {
    /// The database.
    pub store: Store,
    /// The ways out of the process.
    pub hands: Hands,
    /// The time.
    pub clock: Arc<dyn Clock>,
    pub(super) restart: CancellationToken,
    pub(super) approval_expiry: TimeDelta,
    /// True if no capability and no external tool is offered or called.
    pub(super) safe_mode: bool,
    pub(super) metrics: Metrics,
    /// Takes pictures of the screen around risky actions of the operator.
    pub(super) recorder: Option<Recorder>,
}

impl Kit {
    /// The live capabilities; none in safe mode.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn capabilities(&self) -> Result<Vec<CapabilitySummary>, StoreError> {
        if self.safe_mode { Ok(Vec::new()) } else { self.store.capabilities().await }
    }

    /// The outcome, with a word on the part of it that is uncertain. A capability that its deadline
    /// ended could not say so itself, and one that caught the error did not.
    pub(super) async fn with_uncertain(&self, call: ToolCallId, outcome: Outcome) -> Result<Outcome, StoreError> {
        let uncertain = self.store.uncertain_operations(call).await?;
        // This is said whatever the result says: the capability writes its result, and could say
        // this of something else.
        if uncertain.is_empty() {
            return Ok(outcome);
        }
        let named = |request: &Value| match ["method", "url", "server", "tool"].map(|field| request[field].as_str()) {
            [Some(method), Some(url), ..] => format!("{method} {url}"),
            [.., Some(server), Some(tool)] => format!("{tool} of the MCP server {server}"),
            _ => request.to_string(),
        };
        let named: Vec<_> = uncertain.iter().map(named).collect();
        let result = format!(
            "{}\n[controller] Nobody knows whether this arrived, and it is not sent again by itself: {}. Look at the peer's side, or let the \
             user decide.",
            outcome.result,
            named.join(", ")
        );
        let account = CallAccount { uncertain: true, ..outcome.account };
        Ok(Outcome { result, account, ..outcome })
    }
}
