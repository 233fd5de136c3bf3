//! All that is decided about a campaign, as pure functions of its state and the time: which tasks
//! may be worked on, whether a proposal may be carried out, which effects are proven, and how it
//! goes on.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::artifact::{ArtifactType, check_content, check_key};
use super::conditions::{check_tasks, leads_in};
use super::page::{BROWSER_TOOLS, is_browser_tool};
use super::proposal::{
    AnalyzeLeads, CampaignProposal, ExecuteTool, GenerateMessage, PersistArtifact, ProposalKind, ProposeTask, RequestUserInput,
};
use super::script::{ScriptLanguage, ScriptPlan, script_named};
use super::sought::is_run_of;
use super::state::{CampaignState, MadeCall};
use super::visit::PagePlan;
use super::{Campaign, CampaignStatus, CampaignTask, CampaignTaskStatus, MOST_TASKS, ProvenEffect, Requirement, TaskMetadata};
use crate::domain::{CallState, IMPORT_LEADS, LeadId, RUN_SCRIPT, SCORE_LEADS, seen_name};

/// After so many cycles in a row that brought nothing, a person is told what is missing.
const STUCK: i32 = 3;

/// The tools that `execute_tool` may name, with a line for the model.
pub const TOOLS: &[(&str, &str)] = &[
    (SCORE_LEADS, "{} scores all leads anew by the newest lead_scoring_config"),
    (IMPORT_LEADS, "{\"file\": KEY} imports the leads of a file artifact (CSV with full_name and profile_url)"),
    (
        RUN_SCRIPT,
        "{\"script\": KEY, \"input\": JSON, \"files\": [KEY]} runs a js_script or python_script: the body of a JavaScript \
         or Python function that has input, files (key → text) and log(…), reaches nothing else, and returns its result; with \
         \"hosts\": [HOST] it may fetch from them, in Python by fetch(url, method, headers, body), whose answer has ok, status, \
         headers, text() and json()",
    ),
];

/// The tools that a state has a use for: without a script, and without a task that needs one,
/// nothing is said of scripts; without a host, nothing of the browser.
pub fn tools_of(state: &CampaignState) -> impl Iterator<Item = &'static str> {
    let needs = |wanted: &Requirement| match wanted {
        Requirement::ScriptSucceeded { .. } => true,
        Requirement::ToolSucceeded { tool, .. } => tool == RUN_SCRIPT,
        _ => false,
    };
    let scripts = state.artifacts.iter().any(|artifact| ScriptLanguage::of(artifact.kind).is_some())
        || state.tasks.iter().any(|task| task.metadata.requires.iter().any(needs));
    let pages = if state.environment().hosts.is_empty() { &[] } else { BROWSER_TOOLS };
    let tools = TOOLS.iter().filter(move |(name, _)| scripts || *name != RUN_SCRIPT).chain(pages);
    tools.map(|(name, _)| *name)
}

/// The capabilities that a person has named in the environment, as tools; one with the name of the
/// program's own is none.
pub fn capabilities_of(state: &CampaignState) -> BTreeSet<String> {
    state.environment().capabilities.into_iter().filter(|name| !is_own_tool(name)).collect()
}

/// True if a tool of `execute_tool` is one of the program's own.
pub fn is_own_tool(name: &str) -> bool {
    TOOLS.iter().chain(BROWSER_TOOLS).any(|(own, _)| *own == name)
}

/// The most leads of one `analyze_leads`.
const MOST_LEADS: usize = 50;
/// The most characters of a text for a person.
const MOST_TEXT: usize = 2_000;

/// True or not: somebody watches over a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A page or a terminal shows it.
    There,
    /// Nobody.
    Away,
}

/// How a campaign goes on after a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextCycle {
    /// With another cycle, now.
    Cycle,
    /// It waits, for this, and if it is a time, until then.
    Waits(String, Option<DateTime<Utc>>),
    /// All its tasks are done.
    Completed,
}

/// The events and the calls that show something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownBy {
    /// Numbers of events in the campaign's stream.
    pub events: Vec<i64>,
    /// Numbers of calls.
    pub calls: Vec<i64>,
}

/// The events and calls that show that a required effect of a task holds; `None` if it does not
/// hold. Calls, readings and answers count from the begin of the task on.
pub fn holds(state: &CampaignState, task: &CampaignTask, wanted: &Requirement, now: DateTime<Utc>) -> Option<ShownBy> {
    shown_by(state, std::slice::from_ref(task), task.metadata.begun_at, wanted, now)
}

/// The first precondition of a task that does not hold. A task is begun only once all hold, so the
/// calls, readings and answers of the whole campaign count.
pub fn unmet<'a>(state: &CampaignState, task: &'a CampaignTask, now: DateTime<Utc>) -> Option<&'a Requirement> {
    task.metadata.preconditions.iter().find(|wanted| !is_met(state, wanted, now))
}

/// True if a precondition holds, by all that the campaign has done.
pub fn is_met(state: &CampaignState, wanted: &Requirement, now: DateTime<Utc>) -> bool {
    shown_by(state, &state.tasks, Some(DateTime::UNIX_EPOCH), wanted, now).is_some()
}

/// The events and calls that show that something holds: the questions of these tasks count, and
/// calls and readings `since` that time.
fn shown_by(
    state: &CampaignState,
    asking: &[CampaignTask],
    since: Option<DateTime<Utc>>,
    wanted: &Requirement,
    now: DateTime<Utc>,
) -> Option<ShownBy> {
    let late = |at: DateTime<Utc>| since.is_some_and(|begun| at >= begun);
    let event = |number: Option<i64>| number.map(|number| ShownBy { events: vec![number], calls: Vec::new() });
    let calls = |from: DateTime<Utc>, fits: &dyn Fn(&ExecuteTool) -> bool| {
        let counts = |call: &MadeCall| call.ended_at.is_some_and(|ended| late(ended) && ended >= from);
        let made = state.calls.iter().filter(|call| call.state == CallState::Done && counts(call));
        let fitting = made.filter(|call| call.run().is_some_and(fits));
        let calls: Vec<_> = fitting.map(|call| call.tool_call_id.0).collect();
        (!calls.is_empty()).then_some(ShownBy { events: Vec::new(), calls })
    };
    match wanted {
        Requirement::TaskDone { task } => {
            event(state.task(task.0).filter(|other| other.status == CampaignTaskStatus::Done).map(|other| other.sequence))
        }
        Requirement::ArtifactExists { kind_of, key, min_version } => {
            let kept = state.artifact(*kind_of, key).filter(|artifact| artifact.version >= *min_version);
            event(kept.map(|artifact| artifact.sequence))
        }
        Requirement::LeadsAtLeast { status, count } => {
            let there = state.leads.counts.get(status).copied().unwrap_or_default() >= *count;
            event(state.leads.newest.get(status).copied().filter(|_| there))
        }
        Requirement::LeadStatus { lead, status } => {
            let named = state.leads.named.iter().find(|there| there.id == *lead && there.status == *status);
            event(named.map(|lead| lead.sequence))
        }
        Requirement::ToolSucceeded { tool, arguments } => calls(DateTime::UNIX_EPOCH, &|made| is_run_of(made, tool, arguments)),
        Requirement::ScriptSucceeded { artifact } => {
            let script = script_named(state, artifact)?;
            let named = |made: &ExecuteTool| script_named(state, made.arguments.get("script")?.as_str()?);
            let same = |made: &ExecuteTool| named(made).is_some_and(|ran| (ran.kind, &ran.key) == (script.kind, &script.key));
            calls(script.created_at, &|made| made.tool == RUN_SCRIPT && same(made))
        }
        Requirement::PageRead { host, contains } => {
            let shown = state.pages.shows.iter().find(|shown| (&shown.host, &shown.contains) == (host, contains));
            event(shown.filter(|shown| late(shown.at)).map(|shown| shown.sequence))
        }
        Requirement::UserAnswered { question } => {
            let answered = |task: &&CampaignTask| {
                task.metadata.questions.iter().any(|asked| asked.question == *question && asked.answer.is_some())
            };
            event(asking.iter().find(answered).map(|task| task.sequence))
        }
        Requirement::After { time } => (now >= *time).then(ShownBy::default),
    }
}

/// The reason why a task cannot be worked on; `None` if it can.
pub fn hindrance(state: &CampaignState, task: &CampaignTask, now: DateTime<Utc>) -> Option<String> {
    match task.status {
        CampaignTaskStatus::Done => return Some("it is done".to_owned()),
        CampaignTaskStatus::Blocked => {
            return Some(format!("it is blocked: {}", task.metadata.reason.as_deref().unwrap_or("no reason was given")));
        }
        CampaignTaskStatus::Pending | CampaignTaskStatus::InProgress => {}
    }
    if let Some(missing) = unmet(state, task, now) {
        return Some(format!("it begins when {missing}"));
    }
    if task.metadata.requires.is_empty() {
        return Some("it has no required effects, so only a person can finish it".to_owned());
    }
    if let Some(asked) = task.metadata.questions.iter().find(|asked| asked.answer.is_none()) {
        return Some(format!("the question {} waits for an answer: {}", asked.question, asked.text));
    }
    // No proposal brings about another task's end, or a time: no model is asked for what only they
    // leave open.
    let missing: Vec<_> = still_needed(state, task, now).collect();
    let waits = !missing.is_empty() && missing.iter().all(|missing| ProposalKind::bringing(missing).is_none());
    waits.then(|| format!("it is done when {}", missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")))
}

/// The tasks that may be worked on, in their order. None, if nobody is there or the campaign is not
/// active.
pub fn eligible(state: &CampaignState, now: DateTime<Utc>, presence: Presence) -> Vec<i64> {
    if state.campaign.status != CampaignStatus::Active || presence == Presence::Away {
        return Vec::new();
    }
    state.tasks.iter().filter(|task| hindrance(state, task, now).is_none()).map(|task| task.id.0).collect()
}

/// Judges a proposal: it may be carried out, or not for a reason that names the fault. `beside`:
/// the number of proposals in the answer.
///
/// # Errors
/// The sentence for the model.
pub fn validate(state: &CampaignState, proposal: &CampaignProposal, beside: usize, now: DateTime<Utc>) -> Result<(), String> {
    if beside != 1 {
        return Err(format!("your answer made {beside} proposals; make exactly one"));
    }
    if state.campaign.status != CampaignStatus::Active {
        return Err(format!("the campaign is {}, and nothing is done in it", state.campaign.status));
    }
    if let Some(id) = proposal.task() {
        let others = || {
            let there: Vec<_> = eligible(state, now, Presence::There).iter().map(ToString::to_string).collect();
            if there.is_empty() { "none is eligible".to_owned() } else { format!("eligible are: {}", there.join(", ")) }
        };
        let Some(task) = state.task(id) else { return Err(format!("this campaign has no task {id}; {}", others())) };
        if let Some(why) = hindrance(state, task, now) {
            return Err(format!("task {id} cannot be worked on: {why}; {}", others()));
        }
    }
    let fingerprint = proposal.fingerprint();
    // One that was refused may come again: the person is asked anew.
    let mut before = state.campaign.carried.iter().filter(|past| past.proposal == fingerprint && !past.refused).peekable();
    // The whole state has a fingerprint made only if the proposal was made before.
    let now_at = before.peek().map(|_| state.sha256());
    if let Some(carried) = before.find(|past| now_at.as_ref() == Some(&past.state)) {
        return Err(format!("this very proposal was made already, and nothing has changed since: {}", carried.came));
    }
    match proposal {
        CampaignProposal::CreateTask(new) => new_task(state, new),
        CampaignProposal::SelectNextTask(selected) => match state.task(selected.task) {
            Some(task) if task.status == CampaignTaskStatus::InProgress => {
                let ways: Vec<_> = still_needed(state, task, now).filter_map(ProposalKind::bringing).collect();
                let propose = if ways.is_empty() { "what it needs".to_owned() } else { ways.join(", or ") };
                Err(format!("task {} is in progress already; propose {propose}", selected.task))
            }
            _ => Ok(()),
        },
        CampaignProposal::ExecuteTool(wanted) => tool(state, wanted),
        CampaignProposal::GenerateMessage(GenerateMessage { key, text, .. }) => content(state, ArtifactType::Message, key, text),
        CampaignProposal::AnalyzeLeads(AnalyzeLeads { key, analysis, leads, lead_status, .. }) => {
            if leads.len() > MOST_LEADS {
                return Err(format!("leads: has {} numbers; at most {MOST_LEADS}", leads.len()));
            }
            if leads.is_empty() != lead_status.is_none() {
                return Err("leads and lead_status belong together: give both or none".to_owned());
            }
            content(state, ArtifactType::Analysis, key, analysis)
        }
        CampaignProposal::RequestUserInput(RequestUserInput { task, question, text }) => {
            check_key(question).map_err(|why| format!("question: {why}"))?;
            if text.trim().is_empty() || text.chars().count() > MOST_TEXT {
                return Err(format!("text: has to have 1 to {MOST_TEXT} characters"));
            }
            let asked =
                state.task(*task).into_iter().flat_map(|task| &task.metadata.questions).find(|asked| asked.question == *question);
            match asked.and_then(|asked| asked.answer.as_ref()) {
                Some(answer) => Err(format!("question {question} was answered already: {answer}")),
                None => Ok(()),
            }
        }
        CampaignProposal::PersistArtifact(PersistArtifact { kind, key, content: text, .. }) => {
            let kind: ArtifactType = kind.parse().map_err(|why| format!("type: {why}"))?;
            if !kind.may_be_proposed() {
                return Err(format!("type: {kind} is made by a person or the controller, never by a proposal"));
            }
            content(state, kind, key, text)
        }
        CampaignProposal::NoOp(no_op) if no_op.why.trim().is_empty() => {
            Err("why: is empty; say why nothing is to be done".to_owned())
        }
        CampaignProposal::NoOp(_) => Ok(()),
    }
}

fn content(state: &CampaignState, kind: ArtifactType, key: &str, text: &str) -> Result<(), String> {
    check_key(key).map_err(|why| format!("key: {why}"))?;
    check_content(kind, text)?;
    match state.artifact(kind, key).filter(|kept| kept.content == text) {
        Some(kept) => Err(format!("the {kind} {key} has this very content already, as version {}", kept.version)),
        None => Ok(()),
    }
}

fn new_task(state: &CampaignState, new: &ProposeTask) -> Result<(), String> {
    if new.why.trim().is_empty() {
        return Err("why: is empty; a new task needs a reason".to_owned());
    }
    if state.tasks.len() >= MOST_TASKS {
        return Err(format!("the campaign has {MOST_TASKS} tasks, which is the most"));
    }
    let TaskMetadata { preconditions, requires, .. } = read_task(new)?;
    check_tasks(state, &preconditions, &requires)?;
    let known = state.tasks.iter().find(|task| task.description.trim() == new.description.trim());
    known.map_or(Ok(()), |known| Err(format!("task {} has this description already", known.id)))
}

/// The leads that a proposal names, each with its place. A state has not all leads, so it cannot
/// say which of them are the campaign's own.
pub fn leads_named(proposal: &CampaignProposal) -> Vec<(String, LeadId)> {
    match proposal {
        CampaignProposal::AnalyzeLeads(AnalyzeLeads { leads, .. }) => {
            leads.iter().map(|lead| ("leads".to_owned(), LeadId(*lead))).collect()
        }
        CampaignProposal::CreateTask(new) => {
            read_task(new).map(|task| leads_in(&task.preconditions, &task.requires)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The preconditions, the required effects and the needs of a proposed task.
///
/// # Errors
/// A sentence with the place and what is expected.
pub fn read_task(new: &ProposeTask) -> Result<TaskMetadata, String> {
    check_description(&new.description)?;
    let all = |name: &str, wanted: &[super::requirement::FlatRequirement]| {
        wanted.iter().enumerate().map(|(n, one)| one.read(&format!("{name}[{n}]"))).collect::<Result<Vec<_>, _>>()
    };
    let needs = new.needs.iter().enumerate().map(|(n, need)| need.read(&format!("needs[{n}]")));
    Ok(TaskMetadata {
        preconditions: all("preconditions", &new.preconditions)?,
        requires: all("requires", &new.requires)?,
        needs: needs.collect::<Result<_, _>>()?,
        ..TaskMetadata::default()
    })
}

/// Checks the description of a task.
///
/// # Errors
/// A sentence with the rule.
pub fn check_description(description: &str) -> Result<(), String> {
    match seen_name(description).chars().count() {
        1..=MOST_TEXT => Ok(()),
        n => Err(format!("description: has {n} characters; 1 to {MOST_TEXT} are allowed")),
    }
}

fn tool(state: &CampaignState, wanted: &ExecuteTool) -> Result<(), String> {
    let ExecuteTool { tool, arguments, .. } = wanted;
    let given = |allowed: &[&str]| match arguments.keys().find(|name| !allowed.contains(&name.as_str())) {
        Some(other) => Err(format!("arguments.{other}: {tool} takes no such argument; it takes: {}", allowed.join(", "))),
        None => Ok(()),
    };
    let key = |name: &str, kind: ArtifactType| match arguments.get(name).and_then(Value::as_str) {
        Some(key) if state.artifact(kind, key).is_some() => Ok(()),
        Some(key) => Err(format!("arguments.{name}: there is no {kind} {key}")),
        None => Err(format!("arguments.{name}: expected the key of a {kind}")),
    };
    match tool.as_str() {
        SCORE_LEADS => {
            given(&[])?;
            let config = state.artifacts.iter().any(|artifact| artifact.kind == ArtifactType::LeadScoringConfig);
            if config {
                return Ok(());
            }
            Err(format!("there is no lead_scoring_config yet; propose one by {}", ProposalKind::PersistArtifact))
        }
        IMPORT_LEADS => {
            given(&["file"])?;
            key("file", ArtifactType::File)
        }
        RUN_SCRIPT => {
            given(&["script", "input", "files", "hosts"])?;
            ScriptPlan::of(state, arguments).map(drop)
        }
        page if is_browser_tool(page) => PagePlan::of(state, wanted).map(drop),
        other => {
            // The schema is elsewhere: it is judged there, with whether it is installed.
            let named = capabilities_of(state);
            if named.contains(other) {
                return Ok(());
            }
            let own = TOOLS.iter().chain(BROWSER_TOOLS).map(|(name, _)| *name);
            let names: Vec<_> = own.chain(named.iter().map(String::as_str)).collect();
            Err(format!("`{other}` is no tool of a campaign; the tools are {}", names.join(", ")))
        }
    }
}

/// The evidence that a task is done, or what is still unproven. A task without required effects is
/// never proven.
///
/// # Errors
/// The required effects that do not hold; empty if there are none at all.
pub fn verify(state: &CampaignState, task: &CampaignTask, now: DateTime<Utc>) -> Result<Vec<ProvenEffect>, Vec<Requirement>> {
    let wanted = &task.metadata.requires;
    let (mut proven, mut missing) = (Vec::new(), Vec::new());
    for effect in wanted {
        match holds(state, task, effect, now) {
            Some(ShownBy { events, calls }) => proven.push(ProvenEffect { effect: effect.clone(), events, calls }),
            None => missing.push(effect.clone()),
        }
    }
    if missing.is_empty() && !wanted.is_empty() { Ok(proven) } else { Err(missing) }
}

/// The required effects of a task that do not hold.
fn still_needed<'a>(state: &CampaignState, task: &'a CampaignTask, now: DateTime<Utc>) -> impl Iterator<Item = &'a Requirement> {
    task.metadata.requires.iter().filter(move |wanted| holds(state, task, wanted, now).is_none())
}

/// How a campaign goes on. A cycle that brought nothing lets the next one wait.
pub fn next(state: &CampaignState, now: DateTime<Utc>, presence: Presence) -> NextCycle {
    if state.all_done() {
        return NextCycle::Completed;
    }
    if presence == Presence::Away {
        return NextCycle::Waits("nobody is there: open its page, or run `level3 campaign run`".to_owned(), None);
    }
    if eligible(state, now, Presence::There).is_empty() {
        let open = state.tasks.iter().filter(|task| task.status != CampaignTaskStatus::Done);
        let why: Vec<_> = open.filter_map(|task| Some(format!("task {}: {}", task.id, hindrance(state, task, now)?))).collect();
        let why = if why.is_empty() { "it has no task; add one".to_owned() } else { why.join("; ") };
        return NextCycle::Waits(why, next_time(state, now));
    }
    if state.campaign.idle_cycles > 0 {
        let until = now + TimeDelta::seconds(Campaign::wait_after(state.campaign.idle_cycles));
        let mut why = format!("{} cycles in a row brought nothing; the next one waits", state.campaign.idle_cycles);
        if let Some(no_answer) = &state.campaign.no_answer {
            // Nothing that a task misses can come before a model answers.
            why = format!("{}. {why}", no_answer.trim_end_matches('.'));
        } else if state.campaign.idle_cycles >= STUCK {
            let can = eligible(state, now, Presence::There);
            let open = state.tasks.iter().filter(|task| can.contains(&task.id.0));
            let needs = open.map(|task| {
                let missing: Vec<_> = still_needed(state, task, now).map(ToString::to_string).collect();
                format!("task {} needs that {}", task.id, missing.join(" and that "))
            });
            why += &format!(". Missing: {}. See to it yourself, or choose another model", needs.collect::<Vec<_>>().join("; "));
        }
        return NextCycle::Waits(why, Some(until));
    }
    NextCycle::Cycle
}

/// The next time at which a precondition `after` holds.
fn next_time(state: &CampaignState, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let open =
        state.tasks.iter().filter(|task| [CampaignTaskStatus::Pending, CampaignTaskStatus::InProgress].contains(&task.status));
    let wanted = open.flat_map(|task| task.metadata.preconditions.iter().chain(&task.metadata.requires));
    let times = wanted.filter_map(|wanted| match wanted {
        Requirement::After { time } if *time > now => Some(*time),
        _ => None,
    });
    times.min()
}
