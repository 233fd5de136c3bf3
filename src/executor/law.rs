//! The law for a turn between its steps: budgets, the same call over and over, and the governor's
//! second opinion.

use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::Value;

use super::{Executor, RunningTurn, review};
use crate::domain::{
    Audience, Budget, Budgets, Context, EXECUTE_SCRIPT, Effect, Grade, Impact, Origin, Profile, Spent, TurnLimits, UPDATE_SCRIPT,
    Usage, Used,
};
use crate::governor::{self, RepeatedCall, Scope};
use crate::model::Answer;
use crate::store::{Beginning, CatalogueVersion, Lease, NewReview, OpenCall, Standing, StoreError};

/// The law as it holds for a turn, and what the turn has done so far. The parts that come from the
/// policy are those of the catalogue's last number that the turn was given.
#[derive(Clone, Debug)]
pub struct Law {
    /// The profile that the turn belongs to.
    pub profile: Arc<Profile>,
    /// True if a second model classifies its proposals.
    pub governor: bool,
    /// The most that may be used up.
    pub budgets: Budgets,
    /// The amounts used up so far.
    pub used: Used,
    /// The model that the turn's task names, or its profile wants, and those that its policy has.
    pub models: (Option<String>, Vec<String>),
    /// The most tokens of each step, if the profile or the client that asked for the turn limits
    /// them.
    pub answer_tokens: Option<u32>,
    /// True if earlier turns are shown at all.
    pub remembers: bool,
    /// True if a model sums up earlier turns.
    pub summaries: bool,
    /// The number of the catalogue that the policy is from; `None` before the first.
    catalogue: Option<CatalogueVersion>,
    /// The model that the turn's task names.
    task_model: Option<String>,
    /// The most steps, if the budget does not say otherwise.
    steps: u32,
    /// Tool and arguments of the calls that have their outcome.
    made: Vec<(String, String)>,
}

impl Law {
    /// The limit that lets no call be run any more, in words for the person.
    pub(super) fn stops_any(&self) -> Option<String> {
        // The other limits stop the next model request: calls that were asked for within them are
        // made. The operator does nothing over a limit; only the last of its requests may have its
        // calls made, and no limit that is lower by now makes another one the last.
        let calls = |budget: Budget, spent: Spent| match self.profile.operates {
            true => Budget { steps: budget.steps.filter(|most| spent.steps > *most), ..budget },
            false => Budget { tool_calls: budget.tool_calls, ..Budget::default() },
        };
        let (Budgets { turn, conversation, day, tasks }, used) = (self.budgets, &self.used);
        let (turn, conversation) = (calls(turn, used.turn), calls(conversation, used.conversation));
        let calls = Budgets { turn, conversation, day: calls(day, used.day), tasks };
        self.reached(&calls)
    }

    /// The reason not to make the model request with this number, in words for the person.
    pub fn used_up(&self, number: i32) -> Option<String> {
        if self.budgets.turn.steps.is_none() && i64::from(number) > i64::from(self.steps) {
            let whose = if self.profile.steps.is_some() { "of this profile" } else { "(MAX_TOOL_ITERATIONS)" };
            let go_on = ways_on(self.profile.audience).map(|ways| format!("; {} to continue", ways.go_on));
            return Some(format!(
                "I stopped here: this turn has made {} model request{}, which is the limit {whose}. What was done so far \
                 is kept{}.",
                self.steps,
                if self.steps == 1 { "" } else { "s" },
                go_on.unwrap_or_default()
            ));
        }
        self.reached(&self.budgets)
    }

    /// The first of these limits that is reached, in words for the person.
    fn reached(&self, budgets: &Budgets) -> Option<String> {
        governor::check(budgets, &self.used).map(|exceeded| stopped_at(exceeded, &self.profile))
    }

    /// The tokens of an answer. The limit of the operator holds with a provider that counts none,
    /// too.
    pub fn counted(&self, answer: &Answer) -> Option<Usage> {
        answer.usage.or(answer.estimate.filter(|_| self.profile.operates))
    }

    /// Counts a call that has its outcome.
    pub(super) fn made(&mut self, open: &OpenCall) {
        self.made.push((open.request.name.clone(), open.request.arguments.clone()));
        let Used { turn, conversation, day, tasks } = &mut self.used;
        for span in [turn, conversation, day].into_iter().chain(tasks) {
            span.tool_calls += 1;
        }
    }
}

/// The words for the person if a turn of this profile may work for so many `seconds`, and has
/// `worked` for so long.
pub(super) fn out_of_time(seconds: u64, worked: TimeDelta, profile: &Profile) -> String {
    let used = worked.num_seconds().unsigned_abs();
    stopped_at(governor::Exceeded { scope: Scope::Turn, what: governor::What::WallSeconds, limit: seconds, used }, profile)
}

/// The orders with which a person lets an agent go on that has stopped.
struct WaysOn {
    /// As before.
    go_on: &'static str,
    /// In another way.
    otherwise: &'static str,
}

/// The orders of those who read that an agent with this audience has stopped; `None` if only a
/// program does.
fn ways_on(audience: Audience) -> Option<WaysOn> {
    match audience {
        Audience::Owner => Some(WaysOn { go_on: "say “go on”", otherwise: "say what I should do differently" }),
        // Words that are said in the conversation go to the contact.
        Audience::Contact => {
            let resume = "resume the instance (`relay resume`)";
            Some(WaysOn { go_on: resume, otherwise: resume })
        }
        Audience::Machine => None,
    }
}

/// The name of the capability that a call would run; that of its tool if it would run none.
fn run_by(tool: &str, arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let script = arguments["name"].as_str().filter(|_| tool == EXECUTE_SCRIPT);
    script.unwrap_or(tool).to_owned()
}

/// The words for the person if the same call was about to be made for the fifth time.
fn leads_nowhere(tool: &str, times: usize, audience: Audience) -> String {
    let otherwise = ways_on(audience).map(|ways| format!("; {}", ways.otherwise)).unwrap_or_default();
    format!(
        "I stopped here: I was about to call `{tool}` with the same arguments for the {times}th time in this turn, which leads nowhere. \
         What was done so far is kept{otherwise}."
    )
}

/// The words for the person if a limit ends a turn of this profile.
fn stopped_at(exceeded: governor::Exceeded, profile: &Profile) -> String {
    // A new turn has a limit of its own, but one of nothing stays one.
    let ways = ways_on(profile.audience).filter(|_| exceeded.scope == Scope::Turn && exceeded.limit > 0);
    let go_on = ways.map(|ways| format!(" Or {} to continue in a new turn.", ways.go_on)).unwrap_or_default();
    let told = if profile.operates { exceeded.for_operator() } else { exceeded.to_string() };
    format!("I stopped here: {told}.{go_on} What was done so far is kept.")
}

/// The number of messages of earlier turns that a profile is shown, whether it is shown any, and
/// whether a model sums them up.
pub(super) fn shown_to(profile: &Profile, limits: TurnLimits) -> (usize, bool, bool) {
    match profile.context {
        Context::Conversation { history, summaries } => (history.unwrap_or(limits.history), true, summaries),
        Context::Snapshot(_) | Context::Transcript | Context::Worker => (0, false, false),
    }
}

impl Executor {
    /// The law for a turn that was just taken up and stands here.
    pub(super) async fn law(&self, lease: &Lease, profile: Arc<Profile>, standing: &mut Standing) -> Result<Law, StoreError> {
        let Beginning { made, task_model, answer_tokens } = std::mem::take(&mut standing.beginning);
        let (_, remembers, summaries) = shown_to(&profile, self.limits);
        let mut law = Law {
            governor: false,
            budgets: Budgets::default(),
            used: standing.used,
            models: (None, Vec::new()),
            answer_tokens: [profile.answer_tokens, answer_tokens].into_iter().flatten().min(),
            remembers,
            summaries,
            catalogue: None,
            task_model,
            steps: profile.steps.unwrap_or(self.limits.steps),
            made,
            profile,
        };
        self.renew(lease, &mut law, standing.catalogue).await?;
        Ok(law)
    }

    /// Takes what comes from the policy anew, if the catalogue has another number by now.
    pub(super) async fn renew(&self, lease: &Lease, law: &mut Law, seen: CatalogueVersion) -> Result<(), StoreError> {
        if law.catalogue == Some(seen) {
            return Ok(());
        }
        let policy = self.store.catalogue(Some(seen)).await?.policy(&lease.profile)?;
        let profile = &law.profile;
        // A person's order is not reviewed; an order of another agent is.
        law.governor =
            (policy.governor || profile.operates) && (lease.origin != Origin::Command || !profile.audience.may_decide());
        let preferred = || self.models.preferred(profile.model, &policy.models).map(str::to_owned);
        let model = law.task_model.clone().or_else(preferred);
        (law.models, law.budgets, law.catalogue) = ((model, policy.models), policy.budgets, Some(seen));
        Ok(())
    }

    /// The reason not to run a call any more, in words for the person; the turn ends with them.
    pub(super) async fn stops(&self, lease: &Lease, law: &Law, open: &OpenCall) -> Result<Option<String>, StoreError> {
        let (tool, arguments) = (&open.request.name, &open.request.arguments);
        if matches!(governor::repeated_call(&law.made, tool, arguments), RepeatedCall::Stop(_)) {
            // The same arguments may come to something else in a new version.
            let made = self.store.made_since_version(lease, &run_by(tool, arguments)).await?;
            if let RepeatedCall::Stop(times) = governor::repeated_call(&made, tool, arguments) {
                return Ok(Some(leads_nowhere(tool, times, law.profile.audience)));
            }
        }
        Ok(law.stops_any())
    }

    /// Has a second model request classify a call, if the call would do more than read, or is the
    /// operator's, and has no classification yet.
    pub(super) async fn review(&self, turn: &RunningTurn<'_>, open: &OpenCall) -> Result<(), StoreError> {
        let (lease, law, meter) = (turn.lease, &turn.law, turn.meter());
        let (effects, arguments) = self.tools.proposed(lease, &law.profile, open).await?;
        // A call that cannot be read is refused before anybody judges it.
        let only_reads = effects.iter().all(|effect| *effect == Effect::Read) && (effects.is_empty() || !law.profile.operates);
        if only_reads || self.store.classification_of_call(open.call).await?.is_some() {
            return Ok(());
        }
        let task = self.store.task_of(lease.turn).await?;
        let model = self.models.chosen(law.models.0.as_deref(), &law.models.1).await;
        let tool = &open.request.name;
        let estimates = law.profile.operates;
        let proposal = review::Reviewing { tool, arguments: &arguments, effects: &effects, task: &task, estimates };
        let reviewed = review::classify(&*model, proposal, meter).await;
        self.store.count_broken(lease, &meter.take(), self.clock.now()).await?;
        if let Some(kind) = reviewed.failed {
            self.metrics.model_error(kind);
        }
        let mut classification = reviewed.classification;
        if tool == UPDATE_SCRIPT {
            classification.impact = Impact::Systemic;
        }
        let (classification, answered) = (&classification, reviewed.answered);
        tracing::info!(call = %open.call, tool, ?classification, answered, "the governor classified a proposal");
        let recorded = law.profile.operates && classification.risk == Grade::High;
        let review = NewReview { classification, answered, recorded, asked: &reviewed.asked };
        self.store.classify_call(lease, open.call, review, self.clock.now()).await
    }
}
