//! Tools of external MCP servers. What a server says of a tool is looked at anew before each call, so that nobody decides about a
//! definition that is not there any more; the call itself is in the ledger before it is sent, and is never sent twice.

use chrono::SecondsFormat;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Tools;
use super::prepare::{Action, Prepared, Unprepared};
use crate::domain::{Effect, EffectClass, MCP_SEPARATOR, OperationKind, OperationState, Outcome, ToolSpec};
use crate::failpoint::{self, Point};
use crate::governor::{Permit, Proposal};
use crate::mcp;
use crate::store::{Earlier, Lease, McpServer, McpTool, NewOperation, StoreError};

const MAY_HAVE_HAPPENED: &str = "Nobody knows whether this call arrived: the server was interrupted in the middle of it. It is not sent again by \
     itself. Look at the other side, or let the user decide.";
const ANOTHER: &str = "This call was interrupted and run again with other content; nothing was repeated.";

/// A tool of an external server, ready to be called.
pub(super) struct External {
    pub(super) server: McpServer,
    pub(super) tool: McpTool,
}

fn hit(point: Point) -> Result<(), StoreError> {
    failpoint::hit(point).map_err(StoreError::broken)
}

fn refused(error: &str, message: impl Into<String>) -> Unprepared {
    Unprepared::Refused(json!({ "error": error, "message": message.into() }).to_string())
}

impl Tools {
    /// The tools of external servers as a model is offered them, as they were last listed; none in safe mode.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn external(&self) -> Result<Vec<ToolSpec>, StoreError> {
        if self.safe_mode {
            return Ok(Vec::new());
        }
        let spec = |tool: McpTool| ToolSpec { name: tool.tool, description: tool.description, parameters: tool.parameters };
        Ok(self.store.mcp_tools().await?.into_iter().map(spec).collect())
    }

    /// The external tool of this name, where a server lists it.
    pub(super) async fn find_external(&self, tool: &str) -> Result<Option<McpTool>, StoreError> {
        if self.safe_mode || !tool.contains(MCP_SEPARATOR) { Ok(None) } else { self.store.mcp_tool(tool).await }
    }

    /// Looks at the server's own word for the tool, and at the arguments.
    pub(super) async fn prepare_external(&self, known: McpTool, given: Value) -> Result<Prepared, Unprepared> {
        let gone = || refused("gone", format!("the MCP server `{}` does not list `{}` any more", known.server, known.tool));
        let server = self.store.mcp_server(&known.server).await?.ok_or_else(gone)?;
        let listed = self.hands.mcp.list(&server.name, &server.transport).await;
        let listed = listed.map_err(|error| refused("mcp_server", error.to_string()))?;
        let changed = self.store.list_mcp_tools(&server.name, &listed.tools, self.clock.now()).await?;
        if !changed.is_empty() {
            tracing::warn!(server = server.name, ?changed, "an MCP server changed the definitions of tools");
        }
        let tool = self.store.mcp_tool(&known.tool).await?.ok_or_else(gone)?;
        mcp::fits(&tool.parameters, &given).map_err(|wrong| refused("invalid_arguments", wrong))?;
        let version = Some(tool.version);
        let action = Action::External(Box::new(External { server, tool }));
        Ok(Prepared { action, effects: [Effect::External].into(), version, arguments: None })
    }

    /// Calls the tool, once.
    pub(super) async fn call_external(
        &self,
        lease: &Lease,
        proposal: &Proposal,
        called: External,
        permit: &Permit,
    ) -> Result<Outcome, StoreError> {
        let External { server, tool } = called;
        let content = proposal.arguments.to_string();
        let request = json!({
            "server": server.name,
            "tool": tool.name,
            "definition": tool.version,
            "sha256": hex::encode(&Sha256::digest(&content)[..8]),
        });
        let operation = NewOperation {
            call: permit.call(),
            ordinal: 1,
            kind: OperationKind::Mcp,
            class: EffectClass::Neither,
            request: &request,
            request_sha256: Sha256::digest(json!([request, content]).to_string()).into(),
        };
        let outcome = match self.store.earlier_operation(&operation).await? {
            Earlier::Done(answer) => answer.map_or_else(Outcome::failed, Outcome::ok),
            Earlier::Different => Outcome::failed(ANOTHER),
            Earlier::Intended => {
                let end = self.store.end_operation(
                    lease,
                    &operation,
                    OperationState::Unknown,
                    Some(MAY_HAVE_HAPPENED),
                    self.clock.now(),
                );
                match end.await {
                    // It may be known as unknown already.
                    Ok(()) | Err(StoreError::LostLease) => Outcome::failed(MAY_HAVE_HAPPENED),
                    Err(error) => return Err(error),
                }
            }
            Earlier::New => {
                hit(Point::BeforeIntent)?;
                self.store.intend_operation(lease, &operation, self.clock.now()).await?;
                hit(Point::AfterIntent)?;
                let answered =
                    self.hands.mcp.call(permit, &server.name, &server.transport, &tool.name, proposal.arguments.clone());
                let (state, outcome) = told(answered.await);
                hit(Point::AfterSend)?;
                self.store.end_operation(lease, &operation, state, Some(&outcome.result), self.clock.now()).await?;
                hit(Point::AfterOperation)?;
                outcome
            }
        };
        self.with_uncertain(permit.call(), outcome).await
    }
}

fn told(answered: Result<mcp::Answer, mcp::McpError>) -> (OperationState, Outcome) {
    match answered {
        Ok(mcp::Answer { ok: true, text }) => (OperationState::Done, Outcome::ok(text)),
        Ok(mcp::Answer { ok: false, text }) => (OperationState::Failed, Outcome::failed(text)),
        Err(error) => {
            let state = if error.may_have_happened() { OperationState::Unknown } else { OperationState::Failed };
            (state, Outcome::failed(json!({ "error": "mcp_server", "message": error.to_string() }).to_string()))
        }
    }
}

/// What a call comes to, for the person who decides.
pub(super) fn in_words(External { server, tool }: &External) -> Vec<String> {
    let mut what = vec![
        format!(
            "Calls `{}` of the external MCP server `{}` ({}). What it does there, level3 cannot see and not undo.",
            tool.name,
            server.name,
            server.transport.in_words()
        ),
        format!("The server says of it: {}", tool.description),
    ];
    if let Some(at) = tool.changed_at {
        let at = at.to_rfc3339_opts(SecondsFormat::Secs, true);
        what.push(format!("The server changed the definition of this tool since it was added, last at {at}: look at it anew."));
    }
    what
}
