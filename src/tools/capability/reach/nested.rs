//! `host.call`: a capability calls a tool, under the same law. A call that a person would have to
//! decide about is refused here, since a capability's call cannot wait for a person.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::json;

use super::super::super::tool::{self, Act, Doing, Executed, Inside, Prepared, Preparing, ToolsOf, more_than_reading};
use super::{Inner, LedgerEntry, OperationError, Reaching, secrets_of};
use crate::domain::{CapabilityVersion, EffectClass, OperationKind, OperationState, Outcome};
use crate::governor::{self, Evidence, Permit, Proposal, Verdict};
use crate::sandbox::DEPTHS;
use crate::store::{AgentLogin, StoreError};

impl Reaching {
    pub(super) async fn nested(&self, ordinal: i32, name: String, params: serde_json::Value) -> Result<String, OperationError> {
        let Inner { tools, lease, policy, permit, depth, .. } = &*self.0;
        // The call may have run for long: what it calls is looked up as it is now.
        let catalogue = tools.kit.store.catalogue(None).await?;
        let of = ToolsOf { toolset: policy.tools.inside(), profile: &lease.profile };
        let Some(tool) = tools.find(&catalogue, of, &name).await? else {
            let unknown = || format!("there is no tool `{name}`");
            let disabled = tools.disabled(&catalogue, of, &name).map(|refusal| refusal.message);
            return Err(OperationError::Refused(disabled.unwrap_or_else(unknown)));
        };
        if !tool.for_capabilities() {
            return Err(OperationError::Refused(format!("`{name}` is for the agent itself, not for capabilities")));
        }
        let asked = Preparing { tools, catalogue: &catalogue, lease, arguments: params.clone() };
        let Prepared { act, effects, version, .. } = match tool.prepare(asked).await {
            Ok(prepared) => prepared,
            Err(tool::ToolError::Refused(refusal)) => return Err(OperationError::Refused(refusal.for_model())),
            Err(tool::ToolError::Store(error)) => return Err(error.into()),
        };
        let proposal = Proposal { call: permit.call(), tool: name, arguments: params, effects, version, losses: Vec::new() };
        let permit = match governor::authorize(policy, &proposal, Evidence::default()) {
            Verdict::Allow(permit) => Arc::new(permit),
            Verdict::Deny(why) => return Err(OperationError::Refused(why.for_model())),
            Verdict::Ask(why) => {
                let why = format!(
                    "{why} A person has to decide about this, and a capability cannot wait for that: let the agent call `{}` itself.",
                    proposal.tool
                );
                return Err(OperationError::Refused(why));
            }
        };
        match act.inside() {
            // The capability may do as much as the law allowed the agent itself, and no more; `sql`
            // finds out whether it only reads.
            Inside::Sql(query, params) => self.sql(ordinal, query, params, AgentLogin::of(&proposal.effects)).await,
            Inside::Capability(_) if depth + 1 >= DEPTHS => Err(OperationError::Refused(format!(
                "capabilities call each other {DEPTHS} deep and no deeper; let the agent call `{}` itself",
                proposal.tool
            ))),
            Inside::Capability(capability) => self.nested_capability(ordinal, capability, &proposal, permit).await,
            Inside::Same => self.same(ordinal, act, &proposal, permit).await,
        }
    }

    /// Carries the call out as for the agent. If it does more than read, the ledger has its
    /// outcome, in the transaction of its effect.
    async fn same(
        &self,
        ordinal: i32,
        act: Box<dyn Act>,
        proposal: &Proposal,
        permit: Arc<Permit>,
    ) -> Result<String, OperationError> {
        let Inner { tools, lease, policy, .. } = &*self.0;
        let shown = json!({ "tool": proposal.tool, "arguments": proposal.arguments });
        let entry = LedgerEntry::new(ordinal, OperationKind::Tools, EffectClass::Transactional, shown);
        let changes = more_than_reading(&proposal.effects);
        if changes && let Some(answer) = self.earlier(&entry).await? {
            return answer;
        }
        let operation = changes.then(|| entry.of(&permit));
        let ended = |outcome: &Outcome| if outcome.ok { OperationState::Done } else { OperationState::Failed };
        let now = tools.kit.clock.now();
        let recording = self.0.recording.as_ref();
        let doing = Doing { tools, policy, lease, permit: &permit, proposal, promised: false, shown: &[], recording, now };
        let outcome = match act.execute(doing).await? {
            Executed::Within(mut unit, outcome) => {
                if let Some(operation) = &operation {
                    unit.end_operation(lease, operation, ended(&outcome), Some(&outcome.result)).await?;
                }
                unit.commit().await?;
                outcome
            }
            Executed::Changing { todos, outcome, refused: _ } => {
                let mut unit = tools.kit.store.begin(todos.now()).await?;
                match unit.change_todos_in(lease, todos).await {
                    Err(StoreError::TodosChanged) => {
                        let told = "somebody else changed the task in this very moment: nothing was done, so try again";
                        return Err(OperationError::Refused(told.to_owned()));
                    }
                    Err(StoreError::TooMany(full)) => return Err(OperationError::Refused(full.to_string())),
                    changed => changed?,
                }
                if let Some(operation) = &operation {
                    unit.end_operation(lease, operation, ended(&outcome), Some(&outcome.result)).await?;
                }
                unit.commit().await?;
                outcome
            }
            Executed::Outcome(outcome) => {
                if let Some(operation) = &operation {
                    tools.kit.store.end_operation(lease, operation, ended(&outcome), Some(&outcome.result), now).await?;
                }
                outcome
            }
            Executed::Deed(..) | Executed::Recorded | Executed::Found(_) | Executed::Overtaken | Executed::Restart(_) => {
                Outcome::failed("this is for the agent itself")
            }
        };
        if outcome.ok { Ok(outcome.result) } else { Err(OperationError::Refused(outcome.result)) }
    }

    /// Its operations are numbered with ours, so they are in the ledger of the one call that the
    /// agent made.
    async fn nested_capability(
        &self,
        ordinal: i32,
        capability: &CapabilityVersion,
        proposal: &Proposal,
        permit: Arc<Permit>,
    ) -> Result<String, OperationError> {
        let Inner { tools, lease, policy, broken, recording, depth, .. } = &*self.0;
        let nested = Reaching(Arc::new(Inner {
            tools: tools.clone(),
            lease: lease.clone(),
            policy: Arc::clone(policy),
            secrets: secrets_of(&tools.kit, capability, permit.call()).await,
            permit,
            name: capability.name.clone(),
            grants: capability.grants.clone(),
            broken: Arc::clone(broken),
            begun: AtomicBool::new(false),
            recording: recording.clone(),
            parent: ordinal,
            depth: depth + 1,
        }));
        let outcome = Box::pin(nested.call(capability, &proposal.arguments)).await;
        if outcome.ok { Ok(outcome.result) } else { Err(OperationError::Refused(outcome.result)) }
    }
}
