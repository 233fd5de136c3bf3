//! What the tour says and asks for: a plan made from the input, followed step by step along what is recorded.

use serde_json::{Value, json};

use super::look::{Scene, failed, quoted, task_numbers};
use super::stage::{CAPABILITY, Stage, task_of};
use crate::domain::CallRequest;

/// One answer of the tour.
pub(super) struct Said {
    pub(super) text: String,
    pub(super) calls: Vec<CallRequest>,
}

impl Said {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }
}

const WELCOME: &str =
    "Hello! I am the built-in tour, not a language model: I know a few words and show you what this server does. \
Everything you will see is real: the tools, the sandbox, the database.

Try one of these:

- **build**: I write a capability in JavaScript and call it; give me a number, like *build 1987*
- **remind me to stretch**: I make a task that falls due in 20 seconds and wakes me
- **sql**: I ask the database
- **restart**: I restart the server and carry on
- **everything**: build, call and remind in one go

";

const REAL_MODEL: &str = "To talk to a real model, start [Ollama](https://ollama.com) or LM Studio on this machine with a model that can call \
tools: I notice within seconds. Or set `LLM_PROVIDER` and `LLM_API_KEY` in the environment or in the file `.env`, and start me again.";

const BRIEF: &str =
    "I am the tour and know only these words: **build**, **remind me to …**, **sql**, **restart**, **everything**. ";

/// The next thing to say.
pub(super) fn say(scene: &Scene) -> Said {
    if scene.input.starts_with("[heartbeat]") {
        return heartbeat(scene);
    }
    let plan = plan(scene);
    if plan.is_empty() {
        let opening = if scene.says(&["hello", "hi", "help"]) || !scene.has_spoken() { WELCOME } else { BRIEF };
        return Said::text(format!("{opening}{REAL_MODEL}"));
    }
    follow(scene, &plan)
}

/// What to show for an input. It stays the same through all steps of a turn.
fn plan(scene: &Scene) -> Vec<Stage> {
    let built = scene.done.iter().any(|done| done.call.name == Stage::Build.tool());
    let build = if scene.offers(CAPABILITY) && !built && !scene.says(&["again", "new"]) { vec![] } else { vec![Stage::Build] };
    let build_and_use = [build, vec![Stage::Use]].concat();
    if scene.says(&["everything", "start", "tour", "show"]) {
        [build_and_use, vec![Stage::Remind]].concat()
    } else if scene.says(&["restart", "reboot"]) {
        vec![Stage::Restart]
    } else if scene.says(&["task", "remind"]) {
        vec![Stage::Remind]
    } else if scene.says(&["build", "capabilit", "roman", "tool"]) {
        build_and_use
    } else if scene.says(&["sql", "table", "count", "database", "query"]) {
        vec![Stage::Query]
    } else {
        vec![]
    }
}

/// Asks for the first call that is still missing; when none is, or one went wrong, tells what came of them.
fn follow(scene: &Scene, plan: &[Stage]) -> Said {
    let mut reports = Vec::new();
    for stage in plan {
        let done = scene.done.iter().rfind(|done| done.call.name == stage.tool());
        let Some(done) = done else {
            if !scene.offers(stage.tool()) {
                reports.push(format!("I would call `{}` now, but it is not offered to me in this step.", stage.tool()));
                break;
            }
            return Said { text: stage.announcement(scene), calls: vec![stage.call(scene)] };
        };
        let (report, goes_on) = stage.report(done, scene);
        reports.push(report);
        if !goes_on {
            break;
        }
    }
    Said::text(reports.join("\n\n"))
}

/// A due task has woken the tour: it completes what the heartbeat names.
fn heartbeat(scene: &Scene) -> Said {
    const TOOL: &str = "manage_tasks";
    /// More are left to the next heartbeat.
    const MOST: usize = 20;
    let with_action = |action: &'static str| {
        scene.done.iter().filter(move |done| {
            let arguments = serde_json::from_str::<Value>(&done.call.arguments).unwrap_or_default();
            done.call.name == TOOL && arguments["action"] == action
        })
    };
    let reports: Vec<_> = with_action("complete").map(|done| completed(&done.call.arguments, done.result)).collect();
    if !reports.is_empty() {
        return Said::text(format!("The heartbeat woke me. {}", reports.join(" ")));
    }
    if !scene.offers(TOOL) {
        return Said::text(format!(
            "The heartbeat woke me, but `{TOOL}` is not offered to me, so I leave the tasks as they are."
        ));
    }
    let mut due = task_numbers(scene.input);
    if due.is_empty() {
        let Some(listed) = with_action("list").last() else {
            let call = scene.call(0, TOOL, &json!({ "action": "list" }));
            return Said { text: "The heartbeat woke me. I look at the tasks.".into(), calls: vec![call] };
        };
        due = due_in(listed.result.unwrap_or_default(), scene);
    }
    if due.is_empty() {
        return Said::text("The heartbeat woke me, and I found no task that is due.");
    }
    due.truncate(MOST);
    let complete = |(nth, id): (usize, &i64)| scene.call(nth, TOOL, &json!({ "action": "complete", "id": id }));
    let calls = due.iter().enumerate().map(complete).collect();
    Said { text: "The heartbeat woke me: something is due. I take care of it.".into(), calls }
}

fn completed(arguments: &str, result: Option<&str>) -> String {
    let id = serde_json::from_str::<Value>(arguments).unwrap_or_default()["id"].clone();
    let Some(result) = result else { return format!("No result of completing task #{id} is recorded.") };
    let parsed = serde_json::from_str::<Value>(result).unwrap_or_default();
    match task_of(&parsed) {
        Some(task) if !failed(result) && task["status"] == "done" => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ToolSpec;
    use crate::model::tour::reply;
    use crate::model::{Answer, Entry, Request};

    /// A conversation that grows as the agent would make it grow.
    struct Talk(Request);

    impl Talk {
        fn about(input: &str) -> Self {
            let system = "You are level3.\nThe time is 2026-11-20T06:30:00Z.\nGood luck.";
            let entries = vec![Entry::System(system.into()), Entry::User(input.into())];
            let mut talk = Self(Request { entries, tools: Vec::new() });
            ["execute_sql", "write_capability", "manage_tasks", "restart"].map(|tool| talk.offer(tool));
            talk
        }

        fn offer(&mut self, tool: &str) {
            let parameters = json!({ "type": "object", "properties": { "tests": {} } });
            self.0.tools.push(ToolSpec { name: tool.into(), description: String::new(), parameters });
        }

        fn answer(&self) -> Answer {
            reply(&self.0)
        }

        /// The one call it asks for now, as tool and arguments; then its result.
        fn asks(&mut self, result: &str) -> (String, Value) {
            let Answer { content, calls, finish_reason, .. } = self.answer();
            assert_eq!((calls.len(), finish_reason.as_str()), (1, "tool_calls"), "{content}");
            let (name, arguments) = (calls[0].name.clone(), serde_json::from_str(&calls[0].arguments).unwrap());
            let call_id = calls[0].id.clone();
            self.0.entries.push(Entry::Assistant { content, calls });
            self.0.entries.push(Entry::Tool { call_id, content: result.into() });
            (name, arguments)
        }

        /// The text it ends with.
        fn ends(&self) -> String {
            let answer = self.answer();
            assert_eq!((answer.calls.len(), answer.finish_reason.as_str()), (0, "stop"), "{:?}", answer.calls);
            answer.content
        }
    }

    #[test]
    fn a_first_message_is_welcomed_by_what_says_it_is_no_language_model() {
        let text = Talk::about("Good morning").ends();
        assert!(text.contains("I am the built-in tour, not a language model"), "{text}");
        assert!(text.contains("LLM_PROVIDER") && text.contains("LLM_API_KEY") && text.contains("Ollama"), "{text}");
    }

    #[test]
    fn a_later_message_it_does_not_understand_is_answered_more_briefly() {
        let mut talk = Talk::about("first");
        talk.0.entries.push(Entry::Assistant { content: "hello".into(), calls: vec![] });
        talk.0.entries.push(Entry::User("what about the weather?".into()));
        assert!(talk.ends().starts_with("I am the tour and know only these words"), "{}", talk.ends());
    }

    #[test]
    fn build_writes_a_capability_with_tests_and_calls_it_with_the_number_given() {
        let mut talk = Talk::about("Please build something for 1987");
        let (tool, arguments) = talk.asks(r#"{"name":"roman_numeral","version":1}"#);
        assert_eq!((tool.as_str(), &arguments["name"]), ("write_capability", &json!("roman_numeral")));
        assert!(arguments["code"].as_str().unwrap().contains("export default async function roman_numeral(params)"));
        assert_eq!(arguments["tests"][1], json!({ "params": { "number": 1994 }, "expect": "MCMXCIV" }));
        assert_eq!(arguments["parameters_schema"]["required"], json!(["number"]));
        talk.offer("roman_numeral");
        assert_eq!(talk.asks("MCMLXXXVII"), ("roman_numeral".into(), json!({ "number": 1987 })));
        let text = talk.ends();
        assert!(text.contains("1987 is **MCMLXXXVII**"), "{text}");
    }

    #[test]
    fn a_capability_that_is_there_already_is_only_called_unless_it_is_wanted_again() {
        let mut talk = Talk::about("build 7");
        talk.offer("roman_numeral");
        assert_eq!(talk.asks("\"VII\"").0, "roman_numeral");
        assert!(talk.ends().contains("7 is **VII**"));
        let mut talk = Talk::about("build it again");
        talk.offer("roman_numeral");
        assert_eq!(talk.asks("{}").0, "write_capability");
    }

    #[test]
    fn a_build_that_failed_is_told_as_failed_and_nothing_is_called() {
        let mut talk = Talk::about("build");
        talk.asks(r#"{"error":"syntax_error","message":"unexpected token","line":3}"#);
        let text = talk.ends();
        assert!(text.contains("`write_capability` failed") && text.contains("unexpected token"), "{text}");
    }

    #[test]
    fn a_build_that_left_no_tool_is_not_called_a_success() {
        let mut talk = Talk::about("build");
        talk.asks("ok");
        assert!(talk.ends().contains("I am not offered `roman_numeral`"), "{}", talk.ends());
    }

    #[test]
    fn a_wrong_result_of_a_call_is_told_as_it_is() {
        for (result, told) in
            [("banana", "gave no Roman numeral, but `banana`"), ("error: out of fuel", "failed. It said: `error: out of fuel`")]
        {
            let mut talk = Talk::about("roman 5");
            talk.offer("roman_numeral");
            talk.asks(result);
            assert!(talk.ends().contains(told), "{}", talk.ends());
        }
    }

    #[test]
    fn a_reminder_falls_due_twenty_seconds_after_the_time_in_the_prompt() {
        let mut talk = Talk::about("Remind me to stretch!");
        let created = r#"{"id":4,"title":"stretch","status":"pending","due_at":"2026-11-20T06:30:20Z"}"#;
        let (tool, arguments) = talk.asks(created);
        assert_eq!(tool, "manage_tasks");
        assert_eq!(
            (&arguments["action"], &arguments["title"], &arguments["due_at"]),
            (&json!("create"), &json!("stretch"), &json!("2026-11-20T06:30:20Z"))
        );
        let text = talk.ends();
        assert!(text.contains("Task #4") && text.contains("06:30:20") && text.contains("heartbeat"), "{text}");
    }

    #[test]
    fn a_task_that_was_not_stored_is_not_promised() {
        let mut talk = Talk::about("make a task");
        talk.asks(r#"{"error":"due_at is no date"}"#);
        let text = talk.ends();
        assert!(text.contains("failed") && !text.contains("is stored"), "{text}");
    }

    #[test]
    fn a_heartbeat_completes_the_tasks_it_names_and_reports_each() {
        let mut talk = Talk::about("[heartbeat] Due now: #4 stretch, #5 drink");
        let answer = talk.answer();
        let arguments: Vec<_> = answer.calls.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!(arguments, [r#"{"action":"complete","id":4}"#, r#"{"action":"complete","id":5}"#]);
        let results = [r#"{"id":4,"title":"stretch","status":"done"}"#, r#"{"error":"there is no task 5"}"#];
        let ids: Vec<_> = answer.calls.iter().map(|call| call.id.clone()).collect();
        talk.0.entries.push(Entry::Assistant { content: answer.content, calls: answer.calls });
        for (call_id, content) in ids.into_iter().zip(results) {
            talk.0.entries.push(Entry::Tool { call_id, content: content.into() });
        }
        let text = talk.ends();
        assert!(text.contains("Task #4, “stretch”, was due and is done."), "{text}");
        assert!(text.contains("Completing task #5 did not work"), "{text}");
    }

    #[test]
    fn a_heartbeat_that_names_none_makes_it_look_which_are_due() {
        let mut talk = Talk::about("[heartbeat] Something is due.");
        let list = json!([
            { "id": 1, "title": "a", "status": "pending", "due_at": "2026-11-20T06:29:59Z" },
            { "id": 2, "title": "b", "status": "pending", "due_at": "2026-11-20T06:30:01Z" },
            { "id": 3, "title": "c", "status": "done", "due_at": "2026-11-20T06:29:59Z" },
        ]);
        assert_eq!(talk.asks(&list.to_string()).1, json!({ "action": "list" }));
        assert_eq!(talk.asks(r#"{"id":1,"title":"a","status":"done"}"#).1, json!({ "action": "complete", "id": 1 }));
        assert!(talk.ends().contains("Task #1"));
        let mut talk = Talk::about("[heartbeat] Something is due.");
        talk.asks("[]");
        assert!(talk.ends().contains("found no task that is due"));
    }

    #[test]
    fn sql_asks_the_real_database_and_quotes_its_answer() {
        let mut talk = Talk::about("which tables are there?");
        let (tool, arguments) = talk.asks(r#"[{"table_schema":"agent","table_name":"notes"}]"#);
        assert_eq!(tool, "execute_sql");
        assert!(arguments["query"].as_str().unwrap().starts_with("SELECT "));
        assert!(talk.ends().contains("1 rows: `[{\"table_schema\":\"agent\""), "{}", talk.ends());
    }

    #[test]
    fn a_restart_is_full_and_the_turn_goes_on_afterwards() {
        let mut talk = Talk::about("restart");
        assert_eq!(talk.asks("restarted"), ("restart".into(), json!({ "mode": "full" })));
        assert!(talk.ends().starts_with("I am back"), "{}", talk.ends());
    }

    #[test]
    fn everything_builds_calls_and_reminds_in_one_turn() {
        let mut talk = Talk::about("start");
        assert_eq!(talk.asks("{}").0, "write_capability");
        talk.offer("roman_numeral");
        assert_eq!(talk.asks("MMXXVI"), ("roman_numeral".into(), json!({ "number": 2026 })));
        assert_eq!(talk.asks(r#"{"id":1,"title":"t","due_at":"2026-11-20T06:30:20Z"}"#).0, "manage_tasks");
        let text = talk.ends();
        assert!(text.contains("is built") && text.contains("**MMXXVI**") && text.contains("Task #1"), "{text}");
    }

    #[test]
    fn without_tools_it_says_so_and_asks_for_none() {
        let mut talk = Talk::about("restart");
        talk.0.tools.clear();
        assert!(talk.ends().contains("not offered"), "{}", talk.ends());
    }

    #[test]
    fn an_earlier_turn_is_not_mistaken_for_this_one() {
        let mut talk = Talk::about("restart");
        talk.asks("restarted");
        talk.0.entries.push(Entry::Assistant { content: "I am back".into(), calls: vec![] });
        talk.0.entries.push(Entry::User("restart".into()));
        let first = talk
            .0
            .entries
            .iter()
            .find_map(|entry| if let Entry::Tool { call_id, .. } = entry { Some(call_id.clone()) } else { None });
        let answer = talk.answer();
        assert_eq!(answer.calls.len(), 1);
        assert_ne!(Some(&answer.calls[0].id), first.as_ref());
    }
}
