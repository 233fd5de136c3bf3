//! One call of another agent: a turn is queued or found again, and the call waits for it.

use std::time::Duration;

use chrono::TimeDelta;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResult, ProgressNotificationParam};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep_until};

use super::{Door, broken, words};
use crate::domain::{ApprovalId, CallRequest, Machine, TurnId};
use crate::profiles;
use crate::store::{McpCall, McpTurn, StoreError};

/// How long a call waits, in real time: the usual client gives up after a minute.
const PATIENCE: Duration = Duration::from_secs(50);

/// How long a person gets to decide before the client is told that the call waits for them. It
/// holds if the client can be told of progress meanwhile.
const DECISION: TimeDelta = TimeDelta::seconds(30);

/// The field of a request's `_meta` that names a call. Another name means another call; the same
/// name means the same call, answered or not.
const KEY: &str = "level3/key";
/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 255;

/// How a wait ended.
enum Waited {
    /// The turn is over, or the call waits no longer.
    Answer(CallToolResult),
    /// The client took the call back.
    Cancelled,
}

impl Door {
    /// Carries out a client's call.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if self.doors.safe_mode {
            return Ok(words::failed(words::SAFE_MODE));
        }
        let tool = request.name.as_ref();
        let offered = self.offered().await.map_err(|error| broken(&error))?;
        if !offered.iter().any(|spec| spec.name == tool) {
            let names: Vec<_> = offered.iter().map(|spec| spec.name.as_str()).collect();
            return Err(ErrorData::invalid_params(words::unknown(tool, &names), None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let client = words::client(context.client_info().map(|info| info.name).as_deref())?;
        let key = fingerprint(tool, &arguments, context.meta.get(KEY)).map_err(|wrong| ErrorData::invalid_params(wrong, None))?;
        let mcp = self.queued(&client, tool, &arguments, key).await.map_err(|error| broken(&error))?;
        let Some(McpTurn { turn, joined }) = mcp else { return Ok(words::failed(words::TOO_MANY_WAIT)) };
        tracing::info!(%turn, tool, client, joined, "an MCP client calls");
        let keyed = context.meta.get(KEY).is_some_and(Value::is_string);
        match self.wait(turn, tool, keyed, &context).await.map_err(|error| broken(&error))? {
            Waited::Answer(result) => Ok(words::about(result, turn, joined)),
            Waited::Cancelled => Err(ErrorData::new(words::UNANSWERED, "cancelled by the client", None)),
        }
    }

    async fn queued(&self, client: &str, tool: &str, arguments: &Value, key: [u8; 32]) -> Result<Option<McpTurn>, StoreError> {
        let content = format!("The MCP client “{client}” calls {tool}.");
        let request = CallRequest { id: "mcp".into(), name: tool.to_owned(), arguments: arguments.to_string() };
        self.doors
            .store
            .mcp_call(McpCall { profile: profiles::mcp::NAME, client, key, content: &content, request }, self.doors.clock.now())
            .await
    }

    /// Waits until the turn is over, or the client has to be told something else. Without a key,
    /// the outcome counts as given once the client is told. With a key, the client may ask for it
    /// again.
    async fn wait(
        &self,
        turn: TurnId,
        tool: &str,
        keyed: bool,
        context: &RequestContext<RoleServer>,
    ) -> Result<Waited, StoreError> {
        let doors = &self.doors;
        // The wait subscribes before it first looks, so that it misses no event between.
        let mut events = doors.store.signals().events();
        let mut elsewhere = doors.store.signals().elsewhere();
        let until = Instant::now() + PATIENCE;
        let began = doors.clock.now();
        let mut decision = None;
        loop {
            let report = doors.store.owners().turn_report(turn).await?;
            let Some(report) = report else { return Ok(Waited::Answer(words::failed(words::GONE))) };
            if report.state.is_over() {
                let limit = doors.store.limit_told(turn).await?;
                if !keyed {
                    doors.store.mcp_delivered(turn, doors.clock.now()).await?;
                }
                return Ok(Waited::Answer(words::outcome(report, limit)));
            }
            // After the decision the call waits as for any other turn.
            decision = decision.filter(|_| report.approval.is_some());
            if let Some(approval) = report.approval {
                let now = doors.clock.now();
                let asked_until = match decision {
                    Some(until) => until,
                    // A person's time begins with the question, or with the call that finds it
                    // asked, not with this look.
                    None if self.tells_of(approval, tool, context).await => {
                        let asked = doors.store.owners().approval(approval).await?.map_or(now, |approval| approval.created_at);
                        asked.max(began) + DECISION
                    }
                    None => now,
                };
                decision = Some(asked_until);
                if now >= asked_until {
                    return Ok(Waited::Answer(self.waiting(approval, tool, context).await?));
                }
            }
            let patience = async {
                match decision {
                    Some(at) => doors.clock.sleep_until(at).await,
                    None => sleep_until(until).await,
                }
            };
            tokio::select! {
                // After any event, or a missed one, it looks again.
                _ = events.recv() => {}
                _ = elsewhere.next() => {}
                () = patience => {
                    if decision.is_none() {
                        return Ok(Waited::Answer(words::still_at_work(tool)));
                    }
                }
                () = context.ct.cancelled() => return self.cancelled(turn).await,
                () = doors.shutdown.cancelled() => return Ok(Waited::Answer(words::failed(words::RESTARTS))),
            }
        }
    }

    /// Tells a client why its call waits; false for a client that takes no progress.
    async fn tells_of(&self, approval: ApprovalId, tool: &str, context: &RequestContext<RoleServer>) -> bool {
        let Some(token) = context.meta.get_progress_token() else { return false };
        let message = format!("`{tool}` waits for a person: approval {approval}");
        context.peer.notify_progress(ProgressNotificationParam::new(token, 0.0).with_message(message)).await.is_ok()
    }

    async fn waiting(
        &self,
        approval: ApprovalId,
        tool: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, StoreError> {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let host = parts.and_then(|parts| parts.headers.get("host")?.to_str().ok()).unwrap_or("level3");
        Ok(match self.doors.store.owners().approval(approval).await? {
            Some(approval) => words::waits(&approval, tool, host),
            None => words::still_at_work(tool),
        })
    }

    /// A server that ends cancels its requests too; those turns go on after the restart.
    async fn cancelled(&self, turn: TurnId) -> Result<Waited, StoreError> {
        let doors = &self.doors;
        if doors.shutdown.is_cancelled() {
            return Ok(Waited::Answer(words::failed(words::RESTARTS)));
        }
        doors.store.stop_turn(turn, doors.clock.now()).await?;
        doors.store.mcp_delivered(turn, doors.clock.now()).await?;
        Ok(Waited::Cancelled)
    }
}

/// The fingerprint by which a call is found again. The id of the JSON-RPC request is no part of it:
/// a client that asks again, since the answer was lost, uses another id, and the next connection
/// uses the same ids again.
fn fingerprint(tool: &str, arguments: &Value, key: Option<&Value>) -> Result<[u8; 32], String> {
    // Keys of objects are sorted, so the same arguments are the same text.
    let asked = match key {
        None | Some(Value::Null) => json!([tool, arguments]),
        Some(Value::String(key)) if (1..=MAX_KEY_BYTES).contains(&key.len()) => json!([tool, arguments, key]),
        Some(_) => return Err(format!("`{KEY}` in `_meta` must be a text of 1 to {MAX_KEY_BYTES} bytes")),
    };
    Ok(Sha256::digest(asked.to_string()).into())
}

#[cfg(test)]
mod tests;
