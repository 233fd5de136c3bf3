//! `host.call`: a tool called from inside a capability, under the same law. What would have to be asked is refused here, since a
//! capability's call cannot wait for a person.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::manage_tasks;
use super::super::prepare::{Action, Found, Prepared, Unprepared};
use super::{Entry, Failed, Inner, Reaching};
use crate::domain::{CapabilityVersion, Effect, EffectClass, OperationKind};
use crate::governor::{self, Known, Permit, Proposal, Verdict};
use crate::sandbox::DEPTHS;
use crate::store::AgentLogin;

impl Reaching {
    pub(super) async fn nested(&self, ordinal: i32, tool: String, params: Value) -> Result<String, Failed> {
        let Inner { tools, policy, permit, depth, .. } = &*self.0;
        if matches!(tool.as_str(), "write_capability" | "restart") {
            return Err(Failed::Refused(format!("`{tool}` is for the agent itself, not for capabilities")));
        }
        let Some(found) = tools.find(&tool).await? else {
            return Err(Failed::Refused(format!("there is no tool `{tool}`")));
        };
        if let Found::External(_) = found {
            let why =
                format!("`{tool}` is a tool of an external server, and those are for the agent itself, not for capabilities");
            return Err(Failed::Refused(why));
        }
        let Prepared { action, effects, version, .. } = match tools.prepare(&tool, found, params.clone()).await {
            Ok(prepared) => prepared,
            Err(Unprepared::Refused(why)) => return Err(Failed::Refused(why)),
            Err(Unprepared::Store(error)) => return Err(error.into()),
        };
        let only_reads = effects.iter().all(|effect| *effect == Effect::Read);
        let proposal = Proposal { call: permit.call(), tool, arguments: params, effects, version };
        let mut policy = (**policy).clone();
        policy.tools.insert(proposal.tool.clone()); // it is there: it was prepared
        let permit = match governor::authorize(&policy, &proposal, Known::default()) {
            Verdict::Allow(permit) => permit,
            Verdict::Deny(why) => return Err(Failed::Refused(why)),
            Verdict::Ask(why) => {
                let why = format!(
                    "{why} A person has to decide about this, and a capability cannot wait for that: let the agent call `{}` itself.",
                    proposal.tool
                );
                return Err(Failed::Refused(why));
            }
        };
        match action {
            // As much as the agent itself may; what only reads is found out there.
            Action::Sql(request) => self.sql(ordinal, &request.query, &request.params, AgentLogin::Full).await,
            Action::Tasks(request) => self.nested_tasks(ordinal, request, only_reads, proposal.arguments).await,
            Action::Call(_) if depth + 1 >= DEPTHS => Err(Failed::Refused(format!(
                "capabilities call each other {DEPTHS} deep and no deeper; let the agent call `{}` itself",
                proposal.tool
            ))),
            Action::Call(capability) => self.nested_capability(ordinal, capability, &proposal.arguments, permit).await,
            Action::Write(_) | Action::Restart(_) | Action::External(_) => {
                Err(Failed::Refused("this is for the agent itself".to_owned()))
            }
        }
    }

    async fn nested_tasks(
        &self,
        ordinal: i32,
        request: manage_tasks::ManageTasks,
        only_reads: bool,
        arguments: Value,
    ) -> Result<String, Failed> {
        let Inner { tools, lease, permit, .. } = &*self.0;
        let shown = json!({ "tool": "manage_tasks", "arguments": arguments });
        let entry = Entry::new(ordinal, OperationKind::Tools, EffectClass::Transactional, shown);
        if !only_reads && let Some(answer) = self.earlier(&entry).await? {
            return answer;
        }
        let operation = (!only_reads).then(|| entry.of(permit.call()));
        let done = manage_tasks::run_nested(&tools.store, lease, request, operation, tools.clock.now()).await?;
        done.map_err(Failed::Refused)
    }

    /// Its operations are numbered with ours, so they are in the ledger of the one call that the agent made.
    async fn nested_capability(
        &self,
        ordinal: i32,
        capability: Box<CapabilityVersion>,
        arguments: &Value,
        permit: Permit,
    ) -> Result<String, Failed> {
        let Inner { tools, lease, policy, broken, depth, .. } = &*self.0;
        let nested = Reaching(Arc::new(Inner {
            tools: tools.clone(),
            lease: lease.clone(),
            policy: Arc::clone(policy),
            secrets: tools.secrets_of(&capability, permit.call()).await,
            permit,
            capability,
            broken: Arc::clone(broken),
            parent: ordinal,
            depth: depth + 1,
        }));
        let outcome = Box::pin(nested.call(arguments)).await;
        if outcome.ok { Ok(outcome.result) } else { Err(Failed::Refused(outcome.result)) }
    }
}
