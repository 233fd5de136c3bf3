//! The things that tools work with.

use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::marks::Marks;
use super::recorder::Recorder;
use crate::clock::Clock;
use crate::domain::{CallAccount, Outcome, ToolCallId, shortened};
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

/// How many operations of a failed call are named.
const MOST_NAMED: usize = 10;
/// The most bytes of one that is named.
const LONGEST_NAME: usize = 200;

impl Kit {
    /// A failed outcome with a word on what was done before it failed: the failure takes nothing of
    /// it back, and a model that calls again would do it twice.
    pub(super) async fn with_done(&self, call: ToolCallId, outcome: Outcome) -> Result<Outcome, StoreError> {
        let done = self.store.done_operations(call).await?;
        let reads = |request: &Value| matches!(request["method"].as_str(), Some("GET" | "HEAD" | "OPTIONS"));
        let mut names = done.iter().filter(|(request, _)| !reads(request)).map(|(request, status)| {
            let name = named(request);
            let answered = status.as_ref().map(|status| format!(" (answered {status})")).unwrap_or_default();
            format!("{}{answered}", shortened(&name, LONGEST_NAME))
        });
        let mut shown: Vec<_> = names.by_ref().take(MOST_NAMED).collect();
        let more = names.count();
        if shown.is_empty() {
            return Ok(outcome);
        }
        if more > 0 {
            shown.push(format!("and {more} more"));
        }
        let result = format!(
            "{}\n[controller] Done before it failed, and not taken back: {}. Another call does it again.",
            outcome.result,
            shown.join("; ")
        );
        Ok(Outcome { result, ..outcome })
    }
}

/// The request of an operation in words.
fn named(request: &Value) -> String {
    match ["method", "url", "server", "tool", "sql", "set"].map(|field| request[field].as_str()) {
        [Some(method), Some(url), ..] => format!("{method} {url}"),
        [_, _, Some(server), Some(tool), ..] => format!("{tool} of the MCP server {server}"),
        [.., Some(sql), None] => sql.to_owned(),
        [.., Some(key)] => format!("the value {key} was set"),
        _ => request.to_string(),
    }
}
