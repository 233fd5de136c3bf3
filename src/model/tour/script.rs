//! The tour's words and calls: a plan made from the input, followed step by step along what is
//! recorded.

use serde_json::{Value, json};

use super::look::{PastCall, Scene, quoted, task_numbers};
use super::stage::{CAPABILITY, Stage, task_of};
use crate::domain::{CallRequest, MANAGE_TASKS};

/// One answer of the tour.
pub(super) struct TourAnswer {
    pub(super) text: String,
    pub(super) calls: Vec<CallRequest>,
}

impl TourAnswer {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }
}

const WELCOME: &str =
    "Hello! I am the built-in tour, not a language model: I know a few words and show you what this server does. \
Everything you will see is real: the tools, the sandbox, the database.

Try one of these:

- **build**: I write a capability in JavaScript and call it; give me a number, like *build 1987*
- **remind me to stretch**: I make a task that falls due in 20 seconds and wakes me; or say when, like *in two hours* or *tomorrow at 9*
- **sql**: I ask the database
- **restart**: I restart the server and carry on
- **everything**: build, call and remind in one go

";

const REAL_MODEL: &str = "To talk to a real model, start [Ollama](https://ollama.com) or LM Studio on this machine with a model that can call \
tools: I notice within seconds. Or set `LLM_PROVIDER` and `LLM_API_KEY` in the environment or in the file `.env`, and start me again.";

const BRIEF: &str =
    "I am the tour and know only these words: **build**, **remind me to …**, **sql**, **restart**, **everything**. ";

/// The next thing to say.
pub(super) fn say(scene: &Scene) -> TourAnswer {
    if scene.woken() {
        return heartbeat(scene);
    }
    let plan = plan(scene);
    if plan.is_empty() {
        let opening = if scene.says(&["hello", "hi", "help"]) || !scene.has_spoken() { WELCOME } else { BRIEF };
        return TourAnswer::text(format!("{opening}{REAL_MODEL}"));
    }
    follow(scene, &plan)
}

/// The stages to show for an input. It stays the same through all steps of a turn.
fn plan(scene: &Scene) -> Vec<Stage> {
    let built = scene.done.iter().any(|done| done.call.name == Stage::Build.tool());
    let build = if scene.offers(CAPABILITY) && !built && !scene.says(&["again", "new"]) { vec![] } else { vec![Stage::Build] };
    let build_and_use = [build, vec![Stage::Use]].concat();
    if scene.says(&["remind"]) {
        vec![Stage::Remind]
    } else if scene.says(&["everything", "start", "tour", "show"]) {
        [build_and_use, vec![Stage::Remind]].concat()
    } else if scene.says(&["restart", "reboot"]) {
        vec![Stage::Restart]
    } else if scene.says(&["task"]) {
        vec![Stage::Remind]
    } else if scene.says(&["build", "capabilit", "roman", "tool"]) {
        build_and_use
    } else if scene.says(&["sql", "table", "count", "database", "query"]) {
        vec![Stage::Query]
    } else {
        vec![]
    }
}

/// Asks for the first call that is still missing; when none is, or one went wrong, tells what came
/// of them.
fn follow(scene: &Scene, plan: &[Stage]) -> TourAnswer {
    let mut reports = Vec::new();
    for stage in plan {
        let done = scene.done.iter().rfind(|done| done.call.name == stage.tool());
        let Some(done) = done else {
            if !scene.offers(stage.tool()) {
                reports.push(format!("I would call `{}` now, but it is not offered to me in this step.", stage.tool()));
                break;
            }
            return TourAnswer { text: stage.announcement(scene), calls: vec![stage.call(scene)] };
        };
        let (report, goes_on) = stage.report(done, scene);
        reports.push(report);
        if !goes_on {
            break;
        }
    }
    TourAnswer::text(reports.join("\n\n"))
}

/// A due task has woken the tour: it completes what the heartbeat names.
fn heartbeat(scene: &Scene) -> TourAnswer {
    const TOOL: &str = MANAGE_TASKS;
    /// More are left to the next heartbeat.
    const MOST: usize = 20;
    let with_action = |action: &'static str| {
        scene.done.iter().filter(move |done| {
            let arguments = serde_json::from_str::<Value>(&done.call.arguments).unwrap_or_default();
            done.call.name == TOOL && arguments["action"] == action
        })
    };
    let reports: Vec<_> = with_action("complete").map(completed).collect();
    if !reports.is_empty() {
        return TourAnswer::text(format!("The heartbeat woke me. {}", reports.join(" ")));
    }
    if !scene.offers(TOOL) {
        return TourAnswer::text(format!(
            "The heartbeat woke me, but `{TOOL}` is not offered to me, so I leave the tasks as they are."
        ));
    }
    let mut due = task_numbers(scene.input);
    if due.is_empty() {
        let Some(listed) = with_action("list").next_back() else {
            let call = scene.call(0, TOOL, &json!({ "action": "list" }));
            return TourAnswer { text: "The heartbeat woke me. I look at the tasks.".into(), calls: vec![call] };
        };
        due = due_in(listed.result.unwrap_or_default(), scene);
    }
    if due.is_empty() {
        return TourAnswer::text("The heartbeat woke me, and I found no task that is due.");
    }
    due.truncate(MOST);
    let complete = |(nth, id): (usize, &i64)| scene.call(nth, TOOL, &json!({ "action": "complete", "id": id }));
    let calls = due.iter().enumerate().map(complete).collect();
    TourAnswer { text: "The heartbeat woke me: something is due. I take care of it.".into(), calls }
}

fn completed(done: &PastCall) -> String {
    let id = serde_json::from_str::<Value>(&done.call.arguments).unwrap_or_default()["id"].clone();
    let Some(result) = done.result else { return format!("No result of completing task #{id} is recorded.") };
    let parsed = serde_json::from_str::<Value>(result).unwrap_or_default();
    match task_of(&parsed) {
        Some(task) if !done.failed() && task["status"] == "done" => {
            format!("Task #{id}, “{}”, was due and is done.", task["title"].as_str().unwrap_or_default())
        }
        _ => format!("Completing task #{id} did not work; the answer was {}.", quoted(result)),
    }
}

fn due_in(list: &str, scene: &Scene) -> Vec<i64> {
    let list = serde_json::from_str::<Value>(list).unwrap_or_default();
    let tasks = list.as_array().or(list["tasks"].as_array()).map(Vec::as_slice).unwrap_or_default();
    let is_due = |task: &&Value| {
        let due = task["due_at"].as_str().and_then(|due| chrono::DateTime::parse_from_rfc3339(due).ok());
        let open = matches!(task["status"].as_str(), Some("pending" | "in_progress"));
        open && due.is_some_and(|due| scene.now.is_some_and(|now| due <= now))
    };
    tasks.iter().filter(is_due).filter_map(|task| task["id"].as_i64()).collect()
}
