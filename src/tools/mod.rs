//! The four tools every agent begins with, and the capabilities it wrote. A call goes through named phases: prepare, authorize,
//! execute, record; execute and record are one transaction, so every call ends in exactly one outcome.

mod arguments;
mod manage_tasks;
mod write_capability;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::domain::{Outcome, ToolSpec};
use crate::governor::{self, Permit, Policy, Proposal, Verdict};
use crate::sandbox::{Nothing, Sandbox};
use crate::store::{CallEnd, CapabilitySummary, Lease, OpenCall, RowLimits, Store, StoreError};

/// The names of the tools that cannot be replaced by a capability.
pub const BUILT_IN: [&str; 4] = ["execute_sql", "write_capability", "manage_tasks", "restart"];

/// Everything a tool needs. Cheap to clone.
#[derive(Clone)]
pub struct Tools {
    store: Store,
    sandbox: Sandbox,
    clock: Arc<dyn Clock>,
    restart: CancellationToken,
    safe_mode: bool,
}

/// What came of running a call.
#[derive(Debug, PartialEq)]
pub enum Ran {
    /// It has its outcome; the turn goes on.
    Ended,
    /// It has its outcome, and the process is to be restarted before the turn goes on.
    Restart,
}

#[derive(Deserialize, JsonSchema)]
struct ExecuteSql {
    /// SQL query to execute
    query: String,
}

#[derive(Deserialize, JsonSchema)]
struct Restart {
    /// 'reload' to hot-reload capabilities, 'full' to restart the process
    #[serde(default)]
    mode: RestartMode,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RestartMode {
    #[default]
    Reload,
    Full,
}

impl Tools {
    /// `restart` is cancelled when the agent asks for a full restart. In safe mode no capability is offered or called.
    pub fn new(store: Store, sandbox: Sandbox, clock: Arc<dyn Clock>, restart: CancellationToken, safe_mode: bool) -> Self {
        Self { store, sandbox, clock, restart, safe_mode }
    }

    /// The live capabilities; none in safe mode.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn capabilities(&self) -> Result<Vec<CapabilitySummary>, StoreError> {
        if self.safe_mode { Ok(Vec::new()) } else { self.store.capabilities().await }
    }

    /// What a model is offered: the four tools, then the capabilities.
    pub fn specs(capabilities: &[CapabilitySummary]) -> Vec<ToolSpec> {
        let built_in = [
            spec::<ExecuteSql>("execute_sql", EXECUTE_SQL),
            spec::<write_capability::WriteCapability>("write_capability", write_capability::DESCRIPTION),
            spec::<manage_tasks::ManageTasks>("manage_tasks", manage_tasks::DESCRIPTION),
            spec::<Restart>("restart", RESTART),
        ];
        let capability = |summary: &CapabilitySummary| ToolSpec {
            name: summary.name.clone(),
            description: summary.description.clone(),
            parameters: summary.parameters.clone(),
        };
        built_in.into_iter().chain(capabilities.iter().map(capability)).collect()
    }

    /// Runs one call to its outcome.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is not ours any more, or when the database is not there; then the call has no outcome
    /// yet and may be run again.
    pub async fn run(&self, lease: &Lease, open: &OpenCall) -> Result<Ran, StoreError> {
        let mut policy = Policy { tools: BUILT_IN.into_iter().map(str::to_owned).collect() };
        if !policy.tools.contains(&open.request.name) {
            policy.tools.extend(self.capabilities().await?.into_iter().map(|summary| summary.name));
        }
        let prepared = arguments::parse(&open.request.arguments);
        let judged = prepared.as_ref().cloned().unwrap_or_else(|_| Value::from(open.request.arguments.as_str()));
        let proposal = Proposal { call: open.call, tool: open.request.name.clone(), arguments: judged };
        let sha256 = proposal.sha256();
        let end =
            |outcome, verdict| CallEnd { call: open.call, tool: &open.request.name, outcome, proposal_sha256: &sha256, verdict };
        let permit = match governor::authorize(&policy, &proposal) {
            Verdict::Deny(reason) => {
                self.store.end_call(lease, end(Outcome::failed(reason), "deny"), self.clock.now()).await?;
                return Ok(Ran::Ended);
            }
            Verdict::Allow(permit) => permit,
        };
        let arguments = match prepared {
            Ok(arguments) => arguments,
            Err(refusal) => {
                self.store.end_call(lease, end(Outcome::failed(refusal), "allow"), self.clock.now()).await?;
                return Ok(Ran::Ended);
            }
        };
        self.execute(lease, &open.request.name, arguments, &permit).await
    }

    async fn execute(&self, lease: &Lease, tool: &str, arguments: Value, permit: &Permit) -> Result<Ran, StoreError> {
        let record = Recorder { store: &self.store, lease, tool, permit, now: self.clock.now() };
        match tool {
            "execute_sql" => match arguments::read::<ExecuteSql>(arguments) {
                Ok(ExecuteSql { query }) => {
                    let end = record.end(Outcome::ok(""));
                    self.store.run_agent_sql(lease, &query, RowLimits::default(), end, record.now).await?;
                }
                Err(refusal) => record.outcome(Outcome::failed(refusal)).await?,
            },
            "manage_tasks" => match arguments::read(arguments) {
                Ok(request) => manage_tasks::run(&record, request).await?,
                Err(refusal) => record.outcome(Outcome::failed(refusal)).await?,
            },
            "write_capability" => match arguments::read(arguments) {
                Ok(request) => write_capability::run(&record, &self.sandbox, request).await?,
                Err(refusal) => record.outcome(Outcome::failed(refusal)).await?,
            },
            "restart" => match arguments::read(arguments) {
                Ok(Restart { mode: RestartMode::Reload }) => record.outcome(self.reload().await?).await?,
                Ok(Restart { mode: RestartMode::Full }) => {
                    record.outcome(Outcome::ok("The restart was begun. This turn goes on after it.")).await?;
                    self.restart.cancel();
                    return Ok(Ran::Restart);
                }
                Err(refusal) => record.outcome(Outcome::failed(refusal)).await?,
            },
            capability => self.call_capability(&record, capability, &arguments).await?,
        }
        Ok(Ran::Ended)
    }

    async fn call_capability(&self, record: &Recorder<'_>, name: &str, arguments: &Value) -> Result<(), StoreError> {
        let outcome = match self.store.capability(name).await? {
            Some(capability) => self.sandbox.call(record.permit, &capability, arguments, Arc::new(Nothing)).await,
            None => Outcome::failed(format!("The capability `{name}` was removed a moment ago.")),
        };
        record.outcome(outcome).await
    }

    /// Loads every live capability afresh. One that cannot be loaded is named, and the others stay.
    async fn reload(&self) -> Result<Outcome, StoreError> {
        self.sandbox.forget();
        let (mut loaded, mut broken) = (Vec::new(), Vec::new());
        for summary in self.capabilities().await? {
            let Some(capability) = self.store.capability(&summary.name).await? else { continue };
            match self.sandbox.load(&capability).await {
                Ok(()) => loaded.push(summary.name),
                Err(error) => broken.push(json!({ "name": summary.name, "message": error.to_string() })),
            }
        }
        let mut told = json!({ "reloaded": loaded });
        if !broken.is_empty() {
            told["broken"] = Value::from(broken);
            told["message"] = json!("The broken ones are skipped; write them again with write_capability.");
        }
        if self.safe_mode {
            told["message"] = json!("Safe mode: capabilities stay off until the server is started without LEVEL3_SAFE_MODE.");
        }
        Ok(Outcome::ok(told.to_string()))
    }
}

/// What a tool needs to record its outcome.
struct Recorder<'a> {
    store: &'a Store,
    lease: &'a Lease,
    tool: &'a str,
    permit: &'a Permit,
    now: DateTime<Utc>,
}

impl<'a> Recorder<'a> {
    fn end(&self, outcome: Outcome) -> CallEnd<'a> {
        let proposal_sha256 = self.permit.proposal_sha256();
        CallEnd { call: self.permit.call(), tool: self.tool, outcome, proposal_sha256, verdict: "allow" }
    }

    /// Records an outcome that has no effect beside it.
    async fn outcome(&self, outcome: Outcome) -> Result<(), StoreError> {
        self.store.end_call(self.lease, self.end(outcome), self.now).await
    }
}

const EXECUTE_SQL: &str = "Execute one SQL statement (PostgreSQL) and return rows as JSON, or the row count for changes. Your tables \
     live in the schema `agent`, where you may create, change and drop anything. Readable besides: the views tasks, conversations, \
     messages, capabilities, audit_entries.";
const RESTART: &str = "Reload capabilities (mode='reload') or restart the entire process (mode='full'). Turns survive a restart.";

fn spec<T: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters: arguments::schema::<T>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_tools_have_the_parameters_of_the_requirements() {
        let specs = Tools::specs(&[]);
        let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, BUILT_IN);
        let of = |name: &str| &specs.iter().find(|spec| spec.name == name).unwrap().parameters;
        assert_eq!(of("execute_sql")["required"], json!(["query"]));
        assert_eq!(of("execute_sql")["properties"]["query"]["type"], "string");
        for field in ["name", "description", "code", "parameters_schema"] {
            assert!(of("write_capability")["required"].as_array().unwrap().contains(&json!(field)), "{field}");
        }
        assert_eq!(of("manage_tasks")["required"], json!(["action"]));
        for field in ["action", "id", "title", "details", "status", "due_at"] {
            assert!(of("manage_tasks")["properties"].get(field).is_some(), "{field}");
        }
        assert!(of("restart").get("required").is_none());
    }

    #[test]
    fn schemas_carry_no_references_that_small_models_stumble_over() {
        for spec in Tools::specs(&[]) {
            let text = spec.parameters.to_string();
            assert!(!text.contains("$ref") && !text.contains("$schema") && !text.contains("$defs"), "{text}");
        }
    }
}
