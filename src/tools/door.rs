//! The one way in which a call is carried out: prepare, authorize, then ask a person, or execute
//! and record. So every call ends in exactly one outcome.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;
use tracing::Instrument;

use super::recorder::Recording;
use super::tool::{Doing, Executed, Prepared, Preparing, ToolError, ToolsOf};
use super::{Tools, arguments};
use crate::domain::{
    CallAccount, Coaching, Effect, FailureWords, Finding, Grade, Origin, Outcome, Profile, Refusal, RefusalCode, Shown, Words,
};
use crate::failpoint::{self, Point};
use crate::governor::{self, Evidence, Opinion, Policy, Proposal, Recorded, Verdict};
use crate::store::{
    Along, CallEnd, Catalogue, CatalogueVersion, InterruptedCall, Judgement, Lease, NewApproval, OpenCall, SeenAtEnd, StoreError,
    Wanted,
};
use crate::wire::api::Approval;

/// The end of a call's run.
#[derive(Debug, PartialEq)]
pub enum AfterCall {
    /// It has its outcome; the turn goes on. With what the statement has read that recorded the
    /// outcome.
    Ended(SeenAtEnd),
    /// It has its outcome, and the process restarts before the turn goes on.
    Restart,
    /// A person has to decide; the turn waits, and this server holds it no longer.
    Waiting,
}

/// The end of one try of a call.
enum Tried {
    Ran(AfterCall),
    /// The call would do more than it was allowed to, so nothing of it was kept.
    Found(Finding),
    /// Somebody else changed in this moment what it was decided by, so nothing of it was kept.
    Overtaken,
}

/// A call is decided so often, as long as others change what it is decided by.
const TRIES: usize = 5;

/// The law's refusal in the words that the profile's person hears, and with its lesson only if its
/// model gets all the help there is. A person's own no is none of the law's.
fn in_words_of(profile: &Profile, refusal: Refusal) -> Refusal {
    match (profile.failures, refusal.code) {
        (FailureWords::Short, RefusalCode::Forbidden) => Refusal::new(RefusalCode::Forbidden, FailureWords::FORBIDDEN),
        _ if profile.coaching == Coaching::Full => refusal,
        _ => refusal.without_lesson(),
    }
}

/// The outcome of a call that began before the process ended and cannot go on: why, and the end of
/// what it had done.
fn cannot_go_on(interrupted: &InterruptedCall, why: &Refusal) -> Outcome {
    let (message, ledger) = (why.message.trim_end_matches('.'), &interrupted.ledger);
    let result =
        format!("Interrupted: the server ended in the middle of this call, and it is not run again: {message}. {ledger}");
    Outcome { result, ..Outcome::refused(why) }
}

/// The knowledge of a call from before a try.
struct KnownOfCall {
    /// The last question about it and the person's decision, if one was asked.
    approval: Option<Approval>,
    /// More than its tool said, found out by trying.
    finding: Finding,
}

/// A call that a person has to decide about.
struct OpenQuestion<'a> {
    proposal: Proposal,
    prepared: Prepared,
    /// More than its tool said, found out by trying.
    finding: &'a Finding,
    /// The law's reason.
    why: String,
}

impl Tools {
    /// The effects of a call, as far as its arguments can be read, and none if they cannot; and the
    /// arguments as the law will judge them.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn proposed(
        &self,
        lease: &Lease,
        profile: &Profile,
        open: &OpenCall,
    ) -> Result<(BTreeSet<Effect>, String), StoreError> {
        let written = open.request.arguments.clone();
        let catalogue = self.registry.kit.store.catalogue(None).await?;
        let (_, prepared) = self.prepared(&catalogue, lease, profile, open).await?;
        Ok(match prepared {
            Ok(Prepared { effects, arguments, .. }) => (effects, arguments.map_or(written, |completed| completed.to_string())),
            Err(_refused) => (BTreeSet::new(), written),
        })
    }

    /// Runs one call to its outcome, or lets its turn wait for a person. `seen` is the number of
    /// the catalogue if a statement has read it in this moment; `wanted`, what its end is to tell
    /// of the turn.
    ///
    /// # Errors
    /// [`StoreError::LostLease`] if the turn is not ours any more, or an error if the database does
    /// not answer. Then the call has no outcome yet and may be run again.
    pub async fn run(
        &self,
        lease: &Lease,
        profile: &Profile,
        open: &OpenCall,
        seen: Option<CatalogueVersion>,
        wanted: Option<Wanted>,
    ) -> Result<AfterCall, StoreError> {
        let tool = &open.request.name;
        let span = tracing::info_span!("call", call = %open.call, tool);
        let begun = Instant::now();
        let ran = self.run_judged(lease, profile, open, seen, wanted).instrument(span).await?;
        if ran != AfterCall::Waiting {
            self.registry.kit.metrics.tool(self.registry.counted_as(tool), begun.elapsed());
        }
        Ok(ran)
    }

    /// Tries a call until it has its outcome or waits. Each time it would do more than it was
    /// allowed to, nothing of it is kept, and the law judges it anew.
    async fn run_judged(
        &self,
        lease: &Lease,
        profile: &Profile,
        open: &OpenCall,
        mut seen: Option<CatalogueVersion>,
        wanted: Option<Wanted>,
    ) -> Result<AfterCall, StoreError> {
        let (store, mut tries) = (&self.registry.kit.store, 0);
        // A turn that waited begins with the effects that the person was shown.
        let approval = if lease.fence > 1 { store.approval_of_call(open.call).await? } else { None };
        let finding = approval.as_ref().and_then(|approval| approval.shown.finding.clone()).unwrap_or_default();
        let mut known = KnownOfCall { approval, finding };
        loop {
            let catalogue = store.catalogue(seen.take()).await?;
            match self.try_once(lease, profile, open, &known, &catalogue, wanted).await? {
                Tried::Ran(ran) => return Ok(ran),
                Tried::Overtaken if tries == TRIES => return Err(StoreError::TodosChanged),
                Tried::Overtaken => tries += 1,
                Tried::Found(more) => {
                    let before = (known.finding.effects.clone(), known.finding.losses().to_vec());
                    known.finding.unite(more);
                    if known.finding.effects == before.0 && known.finding.losses() == before.1 {
                        // It was allowed this already, and still would do more.
                        known.finding.effects.insert(Effect::Opaque);
                    }
                }
            }
        }
    }

    /// Tries it once, by the catalogue as it was read in this moment.
    async fn try_once(
        &self,
        lease: &Lease,
        profile: &Profile,
        open: &OpenCall,
        KnownOfCall { approval, finding }: &KnownOfCall,
        catalogue: &Catalogue,
        wanted: Option<Wanted>,
    ) -> Result<Tried, StoreError> {
        let mut policy = catalogue.policy(&lease.profile)?;
        let (given, prepared) = self.prepared(catalogue, lease, profile, open).await?;
        let mut proposal = Proposal {
            call: open.call,
            tool: open.request.name.clone(),
            arguments: given,
            effects: finding.effects.clone(),
            version: None,
            losses: finding.losses().to_vec(),
        };
        let prepared = match prepared {
            // A call that cannot be carried out is refused before the law: nobody has to decide
            // about it.
            Err(refusal) => return self.refuse(lease, &proposal, &refusal, wanted).await,
            Ok(prepared) => prepared,
        };
        if prepared.effects.iter().any(|effect| matches!(effect, Effect::External | Effect::Install | Effect::Grant)) {
            // Meanwhile its server was asked, and rules for the tool as it was before are gone; or
            // a draft was built and tried, which takes its time.
            policy = self.registry.kit.store.catalogue(None).await?.policy(&lease.profile)?;
        }
        proposal.effects.extend(&prepared.effects);
        proposal.version = prepared.version;
        if let Some(completed) = &prepared.arguments {
            proposal.arguments = completed.clone();
        }
        // A person who decided about this very call saw the approval's own finding, and no other.
        let decided = approval.as_ref().is_some_and(|approval| approval.proposal_sha256 == proposal.sha256());
        let foreseen = prepared.act.foreseen();
        let finding = if finding.is_empty() && !decided { &foreseen } else { finding };
        proposal.losses = finding.losses().to_vec();
        let (mode, governor, rules) = (policy.mode, policy.governor || profile.operates, policy.rules);
        let policy = Arc::new(Policy { mode, governor, rules, tools: profile.tools_of(lease.origin) });
        // Each call of the operator is reviewed, but for a person's own order, and for one that was
        // refused as it was read for the review.
        let reviewed = profile.operates && lease.origin != Origin::Command;
        // With a finding it passed for a read, so nobody reviewed it, and it does more.
        let strict = reviewed || !finding.is_empty();
        match self.judge(&policy, &proposal, strict, prepared.context, approval.as_ref()).await? {
            Verdict::Deny(refusal) => self.refuse(lease, &proposal, &in_words_of(profile, refusal), wanted).await,
            Verdict::Ask(why) if profile.is_relays() => {
                let told = format!("Nobody can be asked here, so it is not done. {why}");
                self.refuse(lease, &proposal, &Refusal::new(RefusalCode::Forbidden, told), wanted).await
            }
            Verdict::Ask(why) => self.ask(lease, profile, OpenQuestion { proposal, prepared, finding, why }).await,
            Verdict::Allow(permit) => {
                let permit = match profile.operates {
                    true => {
                        let (store, now) = (&self.registry.kit.store, self.registry.kit.clock.now());
                        store.begin_call(lease, &permit, &proposal.tool, now).await?;
                        permit.begun()
                    }
                    false => permit,
                };
                let recording = self.recording_of(lease, profile, open).await?;
                let doing = Doing {
                    tools: &self.registry,
                    policy: &policy,
                    lease,
                    permit: &Arc::new(permit),
                    proposal: &proposal,
                    promised: finding.kept,
                    shown: if approval.is_some() { finding.losses() } else { &[] },
                    recording: recording.as_ref(),
                    now: self.registry.kit.clock.now(),
                };
                if let Some(recording) = &recording {
                    recording.picture("before").await;
                }
                let tried = self.execute(prepared, doing, wanted).await;
                if let (Some(recording), Ok(Tried::Ran(AfterCall::Ended(_)))) = (&recording, &tried) {
                    recording.picture("after").await;
                }
                tried
            }
        }
    }

    /// The recording of a call of the operator, if the governor called its risk high.
    async fn recording_of(&self, lease: &Lease, profile: &Profile, open: &OpenCall) -> Result<Option<Recording>, StoreError> {
        let kit = &self.registry.kit;
        let Some(recorder) = kit.recorder.as_ref().filter(|_| profile.operates) else { return Ok(None) };
        let classified = kit.store.classification_of_call(open.call).await?;
        let is_risky = classified.is_some_and(|classified| classified.risk == Grade::High);
        Ok(is_risky.then(|| recorder.of(lease.turn, open.call)))
    }

    /// Finds the tool, and lets it read the call. Returns the arguments, too, as far as they can be
    /// read.
    async fn prepared(
        &self,
        catalogue: &Catalogue,
        lease: &Lease,
        profile: &Profile,
        open: &OpenCall,
    ) -> Result<(Value, Result<Prepared, Refusal>), StoreError> {
        let of = ToolsOf { toolset: profile.tools_of(lease.origin), profile: profile.name };
        let (name, written) = (&open.request.name, &open.request.arguments);
        let given = arguments::parse(written);
        let arguments = given.clone().unwrap_or_else(|_| Value::from(written.as_str()));
        let Some(tool) = self.registry.find(catalogue, of, name).await? else {
            let unknown = || Refusal::unknown_tool(name, &self.registry.offered(catalogue, of).names());
            return Ok((arguments, Err(self.registry.disabled(catalogue, of, name).unwrap_or_else(unknown))));
        };
        let given = match given {
            Ok(given) => given,
            Err(refusal) => return Ok((arguments, Err(refusal))),
        };
        match tool.prepare(Preparing { tools: &self.registry, catalogue, lease, arguments: given }).await {
            Ok(prepared) => Ok((arguments, Ok(prepared))),
            Err(ToolError::Refused(refusal)) => Ok((arguments, Err(refusal.among(of.toolset)))),
            Err(ToolError::Store(error)) => Err(error),
        }
    }

    /// Lets the turn wait for a person.
    async fn ask(&self, lease: &Lease, profile: &Profile, asking: OpenQuestion<'_>) -> Result<Tried, StoreError> {
        let OpenQuestion { proposal, prepared, finding, why } = asking;
        let kit = &self.registry.kit;
        let (sha256, now) = (proposal.sha256(), kit.clock.now());
        let mut card = prepared.act.card(kit).await?;
        card.what.extend(finding.sentences().cloned());
        let words = profile.words_about(&proposal.effects, kit.store.asked_beside(lease).await?);
        let by_channel = profile.operates && kit.store.source_of(lease.turn).await?.is_some();
        let (words, channel_words) = if by_channel { (Words::none(), Some(words)) } else { (words, None) };
        let shown = Shown {
            words,
            channel_words,
            tool: proposal.tool,
            arguments: proposal.arguments,
            what: card.what,
            question: card.question,
            why,
            can_always: card.can_always,
            aborts: profile.operates,
            capability: card.capability,
            finding: (!finding.is_empty()).then(|| finding.clone()),
        };
        let expires_at = now + profile.approval_expiry.unwrap_or(kit.approval_expiry);
        kit.store.ask(lease, NewApproval { call: proposal.call, proposal_sha256: &sha256, shown, expires_at }, now).await?;
        Ok(Tried::Ran(AfterCall::Waiting))
    }

    /// Ends a call that is not to be run with a refusal: `why`.
    ///
    /// # Errors
    /// As [`Tools::run`].
    pub async fn turn_away(&self, lease: &Lease, open: &OpenCall, why: &Refusal) -> Result<(), StoreError> {
        let (name, arguments) = (&open.request.name, &open.request.arguments);
        let arguments = arguments::parse(arguments).unwrap_or_else(|_| Value::from(arguments.as_str()));
        let (tool, effects) = (name.clone(), BTreeSet::new());
        let proposal = Proposal { call: open.call, tool, arguments, effects, version: None, losses: Vec::new() };
        self.refuse(lease, &proposal, why, None).await.map(|_ended| ())
    }

    /// Records that a proposal was not carried out, and why. One that began before the process
    /// ended was allowed, and may have done a part: its outcome says so.
    async fn refuse(
        &self,
        lease: &Lease,
        proposal: &Proposal,
        why: &Refusal,
        wanted: Option<Wanted>,
    ) -> Result<Tried, StoreError> {
        let (kit, call, sha256) = (&self.registry.kit, proposal.call, proposal.sha256());
        // A cycle of a campaign settles a deed of its own that was cut.
        let interrupted = match lease.fence > 1 && lease.origin != Origin::Cycle {
            true => kit.store.interrupted(lease, call, sha256).await?,
            false => None,
        };
        let (judged, outcome) = match &interrupted {
            Some(interrupted) => (Judgement::Interrupted(interrupted), cannot_go_on(interrupted, why)),
            None => (Judgement::Refused { call, proposal_sha256: &sha256 }, Outcome::refused(why)),
        };
        // An earlier run of the call may have begun something that it cannot do now.
        let outcome = if lease.fence > 1 { kit.with_uncertain(call, outcome).await? } else { outcome };
        let end = CallEnd { judged, tool: &proposal.tool, outcome };
        let seen = kit.store.end_call_with(lease, end, Along { todos: None, wanted }, kit.clock.now()).await?;
        Ok(Tried::Ran(AfterCall::Ended(seen)))
    }

    /// Judges a proposal with the governor's opinion and the person's decision. If it is `strict`,
    /// nothing goes on that the governor did not review.
    async fn judge(
        &self,
        policy: &Policy,
        proposal: &Proposal,
        strict: bool,
        context: Option<i64>,
        approval: Option<&Approval>,
    ) -> Result<Verdict, StoreError> {
        let store = &self.registry.kit.store;
        let opinion = if policy.governor { store.opinion_of_call(proposal.call).await? } else { None };
        let opinion = opinion.or((policy.governor && strict).then_some(Opinion::NotAsked));
        let decision = approval.map(|approval| Recorded {
            approval: approval.id,
            state: approval.state,
            proposal_sha256: approval.proposal_sha256.clone(),
            used: approval.used_at.is_some(),
            reason: approval.reason.clone(),
        });
        let judged = governor::authorize(policy, proposal, Evidence { opinion, decision: decision.as_ref(), context });
        tracing::info!(verdict = judged.word(), ?opinion, "judged");
        Ok(judged)
    }

    /// Carries a call out, and records its outcome.
    async fn execute(&self, prepared: Prepared, doing: Doing<'_>, wanted: Option<Wanted>) -> Result<Tried, StoreError> {
        let kit = &self.registry.kit;
        let Doing { lease, permit, proposal, .. } = doing;
        let (begun, version) = (Instant::now(), proposal.version.filter(|_| proposal.effects.contains(&Effect::Call)));
        let end = |outcome: Outcome| {
            let account = CallAccount { version, ..outcome.account }.took(begun.elapsed());
            CallEnd { judged: Judgement::Permitted(permit), tool: &proposal.tool, outcome: Outcome { account, ..outcome } }
        };
        let alone = || Along { todos: None, wanted };
        let seen = match prepared.act.execute(doing).await? {
            Executed::Recorded => SeenAtEnd::default(),
            Executed::Found(finding) => return Ok(Tried::Found(finding)),
            Executed::Overtaken => return Ok(Tried::Overtaken),
            Executed::Within(mut unit, outcome) => {
                unit.end_call(lease, end(outcome)).await?;
                unit.commit().await?;
                SeenAtEnd::default()
            }
            Executed::Deed(deed, outcome) => match kit.store.end_call_with_deed(lease, end(outcome), *deed).await {
                Err(StoreError::CampaignChanged) => return Ok(Tried::Overtaken),
                ended => ended?,
            },
            Executed::Outcome(outcome) => kit.store.end_call_with(lease, end(outcome), alone(), kit.clock.now()).await?,
            Executed::Changing { todos, outcome, refused } => {
                let now = todos.now();
                let ended = kit.store.end_call_with(lease, end(outcome), Along { todos: Some(todos), wanted }, now).await;
                match (ended, refused) {
                    (Err(StoreError::TodosChanged), _) => return Ok(Tried::Overtaken),
                    (Err(StoreError::TooMany(full)), _) => {
                        let refused = Outcome::refused(&Refusal::new(RefusalCode::TooMany, full.to_string()));
                        kit.store.end_call_with(lease, end(refused), alone(), kit.clock.now()).await?
                    }
                    (Err(StoreError::Database(error)), Some(refused)) => {
                        tracing::warn!(%error, "changes of to-dos failed");
                        kit.store.end_call_with(lease, end(refused), alone(), kit.clock.now()).await?
                    }
                    (ended, _) => ended?,
                }
            }
            Executed::Restart(outcome) => {
                kit.store.end_call(lease, end(outcome), kit.clock.now()).await?;
                failpoint::hit(Point::MidRestart).map_err(StoreError::broken)?;
                kit.restart.cancel();
                return Ok(Tried::Ran(AfterCall::Restart));
            }
        };
        Ok(Tried::Ran(AfterCall::Ended(seen)))
    }
}
