//! The four tools every agent begins with, and the capabilities it wrote. A call goes through named phases: prepare, authorize, then
//! either ask a person, or execute and record in one transaction; so every call ends in exactly one outcome.

mod arguments;
mod external;
mod manage_tasks;
mod marks;
mod plain_schema;
mod prepare;
mod reach;
mod readdress;
mod shown;
mod trial;
mod write_capability;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::clock::Clock;
use crate::domain::{Classification, Effect, Finding, MCP_SEPARATOR, Outcome, Profile, Shown, ToolSpec};
use crate::egress::Egress;
use crate::failpoint::{self, Point};
use crate::governor::{self, Known, Permit, Policy, Proposal, Recorded, Verdict, sql};
use crate::mcp::Mcp;
use crate::sandbox::Sandbox;
use crate::secrets::Vault;
use crate::store::{
    AgentLogin, AgentSql, CallEnd, CapabilitySummary, Crash, Lease, NewApproval, OpenCall, ProfilePolicy, RowLimits, SqlEnd,
    Store, StoreError,
};

use crate::telemetry::Metrics;

pub use arguments::can_be_put_right;
pub use marks::Marks;
pub use prepare::{changes, may_send};
pub use readdress::readdressed;

use prepare::{Action, ExecuteSql, Found, Restart, RestartMode, Unprepared};

/// The names of the tools that cannot be replaced by a capability.
pub const BUILT_IN: [&str; 4] = ["execute_sql", "write_capability", "manage_tasks", "restart"];

/// What tools reach the outside with. Cheap to clone.
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

/// Everything a tool needs. Cheap to clone.
#[derive(Clone)]
pub struct Tools {
    store: Store,
    hands: Hands,
    clock: Arc<dyn Clock>,
    restart: CancellationToken,
    approval_expiry: TimeDelta,
    safe_mode: bool,
    metrics: Metrics,
}

/// What came of running a call.
#[derive(Debug, PartialEq)]
pub enum Ran {
    /// It has its outcome; the turn goes on.
    Ended,
    /// It has its outcome, and the process is to be restarted before the turn goes on.
    Restart,
    /// A person has to decide; the turn waits and is not held any more.
    Waiting,
}

/// What came of trying a call once.
enum Tried {
    Ran(Ran),
    /// Nothing was kept: it would do more than it was let to.
    Found(Finding),
}

impl Tools {
    /// `restart` is cancelled when the agent asks for a full restart; `approval_expiry` is how long a person has to decide. In safe
    /// mode no capability is offered or called.
    pub fn new(
        store: Store,
        hands: Hands,
        clock: Arc<dyn Clock>,
        restart: CancellationToken,
        approval_expiry: TimeDelta,
        safe_mode: bool,
    ) -> Self {
        Self { store, hands, clock, restart, approval_expiry, safe_mode, metrics: Metrics::default() }
    }

    /// The same tools, whose calls `metrics` counts from now on.
    pub fn counted(self, metrics: Metrics) -> Self {
        Self { metrics, ..self }
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
            write_capability::spec(),
            spec::<manage_tasks::ManageTasks>("manage_tasks", manage_tasks::DESCRIPTION),
            spec::<Restart>("restart", RESTART),
        ];
        let capability = |summary: &CapabilitySummary| {
            let mut parameters = summary.parameters.clone();
            arguments::spelled_out(&mut parameters);
            ToolSpec { name: summary.name.clone(), description: summary.description.clone(), parameters }
        };
        built_in.into_iter().chain(capabilities.iter().map(capability)).collect()
    }

    /// What a call would do, as far as its arguments can be read, nothing when they cannot; and the arguments as they will be judged.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn proposed(&self, open: &OpenCall) -> Result<(BTreeSet<Effect>, String), StoreError> {
        let (tool, written) = (open.request.name.as_str(), open.request.arguments.clone());
        let (Ok(given), Some(found)) = (arguments::parse(&written), self.find(tool).await?) else {
            return Ok((BTreeSet::new(), written));
        };
        match self.prepare(tool, found, given).await {
            Ok(prepared) => Ok((prepared.effects, prepared.arguments.map_or(written, |completed| completed.to_string()))),
            Err(Unprepared::Refused(_)) => Ok((BTreeSet::new(), written)),
            Err(Unprepared::Store(error)) => Err(error),
        }
    }

    /// Runs one call to its outcome, or lets its turn wait for a person.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] when the turn is not ours any more, or when the database is not there; then the call has no outcome
    /// yet and may be run again.
    pub async fn run(&self, lease: &Lease, profile: &Profile, open: &OpenCall) -> Result<Ran, StoreError> {
        let span = tracing::info_span!("call", call = %open.call, tool = open.request.name);
        let begun = Instant::now();
        let ran = self.run_judged(lease, profile, open).instrument(span).await?;
        if ran != Ran::Waiting {
            let other = if open.request.name.contains(MCP_SEPARATOR) { "external" } else { "capability" };
            let tool = BUILT_IN.into_iter().find(|tool| *tool == open.request.name).unwrap_or(other);
            self.metrics.tool(tool, begun.elapsed());
        }
        Ok(ran)
    }

    /// Tries a call until it has its outcome or waits: each time it turns out to do more than it was let to, nothing of it is kept, and
    /// the law judges it anew.
    async fn run_judged(&self, lease: &Lease, profile: &Profile, open: &OpenCall) -> Result<Ran, StoreError> {
        // A turn that waited begins with what the person was shown.
        let shown = if lease.fence > 1 { self.store.approval_of_call(open.call).await? } else { None };
        let mut finding = shown.and_then(|approval| approval.shown.finding).unwrap_or_default();
        loop {
            match self.try_once(lease, profile, open, &finding).await? {
                Tried::Ran(ran) => return Ok(ran),
                Tried::Found(more) => {
                    let before = finding.effects.clone();
                    finding.unite(more);
                    if finding.effects == before {
                        // It was let to do this already and still would do more.
                        finding.effects.insert(Effect::Opaque);
                    }
                }
            }
        }
    }

    async fn try_once(&self, lease: &Lease, profile: &Profile, open: &OpenCall, finding: &Finding) -> Result<Tried, StoreError> {
        let tool = open.request.name.as_str();
        let (found, mut stored) = tokio::try_join!(self.find(tool), self.store.policy_of(lease.conversation))?;
        let (there, external) = (found.is_some(), matches!(found, Some(Found::External(_))));
        let given = arguments::parse(&open.request.arguments);
        let prepared = match (found, &given) {
            (Some(found), Ok(given)) => Some(self.prepare(tool, found, given.clone()).await),
            (Some(_), Err(refusal)) => Some(Err(Unprepared::Refused(refusal.clone()))),
            (None, _) => None,
        };
        if external {
            // Its server was asked meanwhile: rules for what the tool was before are gone.
            stored = self.store.policy_of(lease.conversation).await?;
        }
        let policy = self.policy(stored, tool, there).await?;
        let arguments = given.unwrap_or_else(|_| Value::from(open.request.arguments.as_str()));
        let (mut effects, version, arguments) = match &prepared {
            Some(Ok(prepared)) => (prepared.effects.clone(), prepared.version, prepared.arguments.clone().unwrap_or(arguments)),
            _ => (BTreeSet::new(), None, arguments),
        };
        effects.extend(&finding.effects);
        let proposal = Proposal { call: open.call, tool: tool.to_owned(), arguments, effects, version };
        // What cannot be done is told before the law is asked: nobody has to decide about it.
        let prepared = match prepared {
            Some(Ok(prepared)) => Some(prepared),
            Some(Err(unprepared)) => return self.refuse(lease, &proposal, unprepared.outcome()?).await.map(Tried::Ran),
            None => None,
        };
        match (self.judge(&policy, &proposal, finding).await?, prepared) {
            (Verdict::Deny(reason), _) => self.refuse(lease, &proposal, Outcome::failed(reason)).await.map(Tried::Ran),
            (Verdict::Allow(permit), Some(prepared)) => {
                self.execute(lease, policy, prepared.action, proposal, (permit, finding.kept)).await
            }
            (Verdict::Ask(why), Some(prepared)) => {
                let (sha256, now) = (proposal.sha256(), self.clock.now());
                let words = profile.words_about(&proposal.effects, self.store.asked_beside(lease).await?);
                let mut shown = Shown { words, ..self.shown(tool, proposal.arguments, &prepared, why).await? };
                if !finding.is_empty() {
                    shown.what.extend(finding.why.iter().cloned());
                    shown.finding = Some(finding.clone());
                }
                let expires_at = now + profile.approval_expiry.unwrap_or(self.approval_expiry);
                self.store.ask(lease, NewApproval { call: open.call, proposal_sha256: &sha256, shown, expires_at }, now).await?;
                Ok(Tried::Ran(Ran::Waiting))
            }
            (Verdict::Allow(_) | Verdict::Ask(_), None) => {
                self.refuse(lease, &proposal, Outcome::failed(prepare::gone(tool))).await.map(Tried::Ran)
            }
        }
    }

    /// Gives a call that is not to be run its outcome: `why`.
    ///
    /// # Errors
    /// As [`Tools::run`].
    pub async fn turn_away(&self, lease: &Lease, open: &OpenCall, why: &str) -> Result<(), StoreError> {
        let (name, arguments) = (&open.request.name, &open.request.arguments);
        let arguments = arguments::parse(arguments).unwrap_or_else(|_| Value::from(arguments.as_str()));
        let proposal = Proposal { call: open.call, tool: name.clone(), arguments, effects: BTreeSet::new(), version: None };
        self.refuse(lease, &proposal, Outcome::failed(why)).await.map(|_ended| ())
    }

    /// Records that a proposal was not carried out, and why.
    async fn refuse(&self, lease: &Lease, proposal: &Proposal, outcome: Outcome) -> Result<Ran, StoreError> {
        let (call, tool, sha256) = (proposal.call, &*proposal.tool, proposal.sha256());
        // A call that is run again may have begun something before: what can be done now may be less than what could be done then.
        let outcome = if lease.fence > 1 { self.with_uncertain(call, outcome).await? } else { outcome };
        let end = CallEnd { call, tool, outcome, proposal_sha256: &sha256, verdict: "deny" };
        self.store.end_call(lease, end, self.clock.now()).await?;
        Ok(Ran::Ended)
    }

    /// The tool of this name, where there is one to be called.
    async fn find(&self, tool: &str) -> Result<Option<Found>, StoreError> {
        if BUILT_IN.contains(&tool) {
            return Ok(Some(Found::BuiltIn));
        }
        if self.safe_mode {
            return Ok(None);
        }
        if let Some(live) = self.store.capability(tool).await? {
            return Ok(Some(Found::Capability(Box::new(live))));
        }
        Ok(self.find_external(tool).await?.map(|tool| Found::External(Box::new(tool))))
    }

    /// What this call's profile may do. All its tools are listed only where the one asked for is not among them, to be told so.
    async fn policy(&self, profile: ProfilePolicy, tool: &str, there: bool) -> Result<Policy, StoreError> {
        let mut tools: BTreeSet<_> = BUILT_IN.into_iter().map(str::to_owned).collect();
        if there {
            tools.insert(tool.to_owned());
        } else {
            tools.extend(self.capabilities().await?.into_iter().map(|summary| summary.name));
            tools.extend(self.external().await?.into_iter().map(|spec| spec.name));
        }
        let ProfilePolicy { mode, governor, rules, budgets: _, models: _ } = profile;
        Ok(Policy { mode, governor, rules, tools })
    }

    /// Judges a proposal, with what the governor said of it, and what a person decided about it where the law asks.
    async fn judge(&self, policy: &Policy, proposal: &Proposal, finding: &Finding) -> Result<Verdict, StoreError> {
        let mut classification = if policy.governor { self.store.classification_of_call(proposal.call).await? } else { None };
        if policy.governor && !finding.is_empty() {
            // It was taken for a read and not reviewed, and does more.
            classification.get_or_insert(Classification::STRICTEST);
        }
        let known = Known { classification: classification.as_ref(), decision: None };
        let judged = governor::authorize(policy, proposal, known);
        tracing::info!(verdict = judged.word(), ?classification, "judged");
        if !matches!(judged, Verdict::Ask(_)) {
            return Ok(judged);
        }
        let Some(approval) = self.store.approval_of_call(proposal.call).await? else { return Ok(judged) };
        let decision = Recorded {
            approval: approval.id,
            state: approval.state,
            proposal_sha256: approval.proposal_sha256,
            used: approval.used_at.is_some(),
            reason: approval.reason,
        };
        Ok(governor::authorize(policy, proposal, Known { decision: Some(&decision), ..known }))
    }

    async fn execute(
        &self,
        lease: &Lease,
        policy: Policy,
        action: Action,
        proposal: Proposal,
        (permit, promised): (Permit, bool),
    ) -> Result<Tried, StoreError> {
        let record = Recorder { store: &self.store, lease, tool: &proposal.tool, permit: &permit, now: self.clock.now() };
        match action {
            Action::Sql(ExecuteSql { query, params }) => {
                let end = record.end(Outcome::ok(""));
                // Postgres lets it do what it was judged to do, and nothing else.
                let login = AgentLogin::of(&proposal.effects);
                let statements = sql::statements(&query);
                let sql = AgentSql { statements: &statements, params: &params, limits: RowLimits::default(), login, promised };
                if let SqlEnd::Asks(finding) = self.store.run_agent_sql(lease, sql, end, record.now).await? {
                    return Ok(Tried::Found(finding));
                }
            }
            Action::Tasks(request) => manage_tasks::run(&record, request).await?,
            Action::Write(written) => write_capability::run(self, &record, *written).await?,
            Action::Restart(RestartMode::Reload) => record.outcome(self.reload().await?).await?,
            Action::Restart(RestartMode::Full) => {
                record.outcome(Outcome::ok("The restart was begun. This turn goes on after it.")).await?;
                failpoint::hit(Point::MidRestart).map_err(StoreError::broken)?;
                self.restart.cancel();
                return Ok(Tried::Ran(Ran::Restart));
            }
            Action::External(called) => {
                let outcome = self.call_external(lease, &proposal, *called, &permit).await?;
                record.outcome(outcome).await?;
            }
            Action::Call(capability) => {
                let under_way =
                    Crash { call: proposal.call, fence: lease.fence, name: capability.name.clone(), version: capability.version };
                let _mark = self.hands.marks.set(&under_way);
                let verdict = permit.verdict();
                let sha256 = *permit.proposal_sha256();
                let outcome = self.call_capability(lease, policy, capability, proposal.arguments, permit).await?;
                self.metrics.capability_call(outcome.ok);
                let (call, tool) = (proposal.call, &*proposal.tool);
                let end = CallEnd { call, tool, outcome, proposal_sha256: &sha256, verdict };
                self.store.end_call(lease, end, self.clock.now()).await?;
            }
        }
        Ok(Tried::Ran(Ran::Ended))
    }

    /// Loads every live capability afresh. One that cannot be loaded is named, and the others stay.
    async fn reload(&self) -> Result<Outcome, StoreError> {
        self.hands.sandbox.forget();
        let (mut loaded, mut broken) = (Vec::new(), Vec::new());
        for summary in self.capabilities().await? {
            let Some(capability) = self.store.capability(&summary.name).await? else { continue };
            match self.hands.sandbox.load(&capability).await {
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
        CallEnd { call: self.permit.call(), tool: self.tool, outcome, proposal_sha256, verdict: self.permit.verdict() }
    }

    /// Records an outcome that has no effect beside it.
    async fn outcome(&self, outcome: Outcome) -> Result<(), StoreError> {
        self.store.end_call(self.lease, self.end(outcome), self.now).await
    }
}

const EXECUTE_SQL: &str = "Execute SQL (PostgreSQL) and return rows as JSON, or the row count for changes; several statements succeed together or not at \
     all. Your tables live in the schema `agent`, where you may create, change and drop anything. Readable besides: the views tasks, conversations, \
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
            assert!(!text.contains("\"items\":true"), "{text}");
            assert!(!text.contains("$ref") && !text.contains("$schema") && !text.contains("$defs"), "{text}");
        }
    }
}
