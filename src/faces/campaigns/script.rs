//! The run of a script: what a person is shown of it, and how it is carried out. All that comes of
//! it here is one transaction; what it sends to hosts of its approval stands in the ledger before.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use similar::TextDiff;

use crate::domain::campaign::CampaignProposal;
use crate::domain::campaign::judge::Presence;
use crate::domain::campaign::script::{ScriptLanguage, ScriptPlan};
use crate::domain::{CampaignId, HttpGrant, Outcome, Refusal, RefusalCode};
use crate::facts::ScriptRan;
use crate::sandbox::{ScriptEnd, ScriptText};
use crate::store::{CampaignError, DoneOutside, Lease, Store, StoreError};
use crate::telemetry::chain;
use crate::tools::{Act, CallCard, Doing, Executed, Kit, ScriptReach, ToolError};

/// The words if a script is not run for want of a person.
const NOBODY: &str = "not run: nobody is there";
/// The same if the server went away in the middle of a run that may reach hosts.
const CUT_OFF: &str = "not run to its end: the server was interrupted, so a run before this one may have been cut off, and nobody is there; what \
                       it sent stands in the audit";
/// The end of a run that was cut, as it is recorded then.
const CUT: &str = "the run was cut off before its end, and nothing is known of its result";
/// The limits, as a person is shown them.
const LIMITS: &str = "It has 30 s, 256 MiB of memory and 64 KiB of output, and 16 MiB for files of its own, which end with it. It reaches no secrets, no \
                      database and no tools.";

/// The word on hosts, as a person is shown it.
const HOSTS: &str =
    "A name is reached only if its address is public, or the operator has named that address in LEVEL3_EGRESS_ALLOW.";

/// The way to see if somebody is there.
pub(super) struct PresenceOf {
    pub(super) campaign: CampaignId,
}

impl PresenceOf {
    /// True if nobody is there now.
    pub(super) fn is_away(&self, kit: &Kit) -> bool {
        kit.store.signals().presences().of(self.campaign, kit.clock.now()) == Presence::Away
    }
}

/// A run that may be carried out.
pub(super) struct ReadScript {
    proposal: CampaignProposal,
    plan: ScriptPlan,
    card: Vec<String>,
    presence: PresenceOf,
}

impl ReadScript {
    /// The run of a plan, and the arguments that its approval is bound to.
    ///
    /// # Errors
    /// [`ToolError::Refused`] if its language is not installed or knows no hosts, the way out
    /// refuses a host, or the script or a file is another version than the approved one.
    pub(super) async fn of(
        proposal: CampaignProposal,
        plan: ScriptPlan,
        card: Vec<String>,
        presence: PresenceOf,
        kit: &Kit,
        lease: &Lease,
    ) -> Result<(Self, Value), ToolError> {
        let refused = |why: String| ToolError::Refused(Refusal::new(RefusalCode::Gone, why));
        let ready = kit.hands.sandbox.ready_for(plan.language, &plan.hosts).await;
        ready.map_err(|error| refused(format!("not run: {}", chain(&error))))?;
        if let Some(why) = plan.hosts.iter().find_map(|host| kit.hands.egress.refuses(host)) {
            return Err(Refusal::arguments(format!("arguments.hosts: {why}")).into());
        }
        let CampaignProposal::ExecuteTool(run) = &proposal else { return Err(refused("this runs no script".to_owned())) };
        let bound = plan.bound(run);
        if let Some(approved) = kit.store.approved_in_cycle(lease).await?
            && plan.was_changed(&approved)
        {
            return Err(refused(format!(
                "not run: the script {} or a file of it was changed after the approval, which holds for the versions that were shown; \
                 propose it again",
                plan.script.key
            )));
        }
        let mut card = card;
        card.extend(shown(&plan));
        card.extend(difference(&plan, presence.campaign, &kit.store).await?);
        Ok((Self { proposal, plan, card, presence }, bound))
    }

    fn ran(&self, doing: Doing<'_>, end: ScriptEnd) -> ScriptRan {
        let ScriptEnd { result, logs } = end;
        let (ok, output) = match result {
            Ok(output) => (true, output),
            Err(why) => (false, why),
        };
        let ScriptPlan { script, input, files, hosts, .. } = self.plan.clone();
        let hosts = hosts.iter().map(HttpGrant::in_words).collect();
        ScriptRan { turn: doing.lease.turn, call: doing.permit.call(), script, input, files, hosts, ok, output, logs }
    }
}

/// Source, input, files and limits.
fn shown(plan: &ScriptPlan) -> Vec<String> {
    let ScriptPlan { script, language, source, input, files, hosts, .. } = plan;
    let mut read = String::new();
    for file in files {
        let _ = write!(read, "\n{} {} version {}, sha256 {}", file.kind, file.key, file.version, file.sha256);
    }
    let read = if read.is_empty() { " none".to_owned() } else { read };
    let reached: Vec<_> = hosts.iter().map(HttpGrant::in_words).collect();
    let reached = match reached.is_empty() {
        true => "It reaches no network.".to_owned(),
        false => format!("It may: {} {HOSTS}", reached.join(" ")),
    };
    vec![
        format!("Runs the {} {} version {}, sha256 {}.", words(*language), script.key, script.version, script.sha256),
        source.clone(),
        format!("Input: {input}"),
        format!("Files that it may read:{read}"),
        LIMITS.to_owned(),
        reached,
    ]
}

/// The name of a script's kind.
fn words(language: ScriptLanguage) -> &'static str {
    match language {
        ScriptLanguage::JavaScript => "script",
        ScriptLanguage::Python => "Python script",
    }
}

/// The difference to the version before, if there is one.
async fn difference(plan: &ScriptPlan, id: CampaignId, store: &Store) -> Result<Option<String>, ToolError> {
    let versions = match store.artifact_versions(id, plan.script.kind, &plan.script.key).await {
        Ok(versions) => versions,
        Err(CampaignError::Store(error)) => return Err(error.into()),
        Err(other) => return Err(ToolError::Refused(Refusal::new(RefusalCode::Gone, other.to_string()))),
    };
    let before = versions.iter().rev().find(|kept| kept.version < plan.script.version);
    Ok(before.map(|before| {
        let (old, new) = (format!("version {}", before.version), format!("version {}", plan.script.version));
        TextDiff::from_lines(&before.content, &plan.source).unified_diff().context_radius(3).header(&old, &new).to_string()
    }))
}

/// The end of a run that is not begun for want of a person. If it `sends`, a run before a crash may
/// have sent something.
pub(super) async fn not_run(doing: Doing<'_>, sends: bool) -> Result<Executed, StoreError> {
    let cut_off = doing.lease.fence > 1 && sends;
    let outcome = Outcome { refusal: Some(RefusalCode::Gone), ..Outcome::failed(if cut_off { CUT_OFF } else { NOBODY }) };
    if !cut_off {
        return Ok(Executed::Outcome(outcome));
    }
    let kit = doing.kit();
    kit.store.give_up_operations(doing.lease, doing.permit, kit.clock.now()).await?;
    let reach = ScriptReach::new(doing, BTreeSet::new());
    Ok(Executed::Outcome(reach.ended(outcome).await?))
}

impl Act for ReadScript {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        std::future::ready(Ok(CallCard::of(self.card.clone()))).boxed()
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let kit = doing.kit();
            let slot = kit.hands.sandbox.script_slot().await;
            // It may have waited for others: somebody has to be there now.
            if self.presence.is_away(kit) {
                return not_run(doing, !self.plan.hosts.is_empty()).await;
            }
            let cut = self.ran(doing, ScriptEnd { result: Err(CUT.to_owned()), logs: Vec::new() });
            kit.store.begin_deed(doing.lease, doing.permit, &doing.proposal.tool, Some(cut), kit.clock.now()).await?;
            let reach = ScriptReach::new(doing, self.plan.hosts.clone());
            let script = ScriptText { language: self.plan.language, source: &self.plan.source };
            let slot = slot.reaching(self.plan.hosts.clone(), reach.reach());
            let end = slot.run(doing.permit, script, &self.plan.input, &self.plan.contents).await;
            // Empty, or a word on requests of which nobody knows.
            let Outcome { result: uncertain, account, .. } = reach.ended(Outcome::ok(String::new())).await?;
            let ran = self.ran(doing, end);
            let why = if ran.ok {
                let mut unit = kit.store.begin(kit.clock.now()).await?;
                match unit.carry_out_proposal(doing.permit, doing.lease, &self.proposal, Some(DoneOutside::Script(&ran))).await? {
                    Ok(told) => {
                        return Ok(Executed::Within(unit, Outcome { account, ..Outcome::ok(told + &uncertain) }).begun());
                    }
                    Err(why) => why,
                }
            } else {
                ran.output.clone()
            };
            let mut unit = kit.store.begin(kit.clock.now()).await?;
            let failed = ScriptRan { ok: false, output: why.clone(), ..ran };
            unit.record_failed_script(doing.permit, doing.lease, &failed).await?;
            let told = format!("The script {} failed: {why}{uncertain}", failed.script.key);
            Ok(Executed::Within(unit, Outcome { account, ..Outcome::failed(told) }).begun())
        }
        .boxed()
    }
}
