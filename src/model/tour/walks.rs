//! Walks through everything the tour can show, with results as the tools would give them, good and
//! bad.

use serde_json::{Value, json};

use super::reply;
use crate::domain::{RefusalCode, ToolSpec};
use crate::model::{Answer, Entry, Request};

/// A conversation that grows as the agent would make it grow.
struct Talk(Request);

impl Talk {
    fn about(input: &str) -> Self {
        let input = format!("[2026-11-20T06:30:00Z] {input}");
        let entries = vec![Entry::System("You are level3.".into()), Entry::User(input)];
        let mut talk = Self(Request { entries, ..Request::default() });
        ["execute_sql", "write_capability", "manage_tasks", "restart"].into_iter().for_each(|tool| talk.offer(tool));
        talk
    }

    fn woken_by(text: &str) -> Self {
        let Self(request) = Self::about(text);
        Self(Request { woken: true, ..request })
    }

    fn offer(&mut self, tool: &str) {
        let parameters = json!({ "type": "object", "properties": { "tests": {} } });
        self.0.tools.push(ToolSpec { name: tool.into(), description: String::new(), parameters }.into());
    }

    fn answer(&self) -> Answer {
        reply(&self.0)
    }

    /// The one call it asks for now, as tool and arguments; then its result.
    fn asks(&mut self, result: &str) -> (String, Value) {
        self.is_told(result, None)
    }

    /// The same with the kind of refusal that the result is, if it is one.
    fn is_told(&mut self, result: &str, refusal: Option<RefusalCode>) -> (String, Value) {
        let Answer { content, calls, finish_reason, .. } = self.answer();
        assert_eq!((calls.len(), finish_reason.as_str()), (1, "tool_calls"), "{content}");
        let (name, arguments) = (calls[0].name.clone(), serde_json::from_str(&calls[0].arguments).unwrap());
        let call_id = calls[0].id.clone();
        self.0.entries.push(Entry::Assistant { content, calls });
        self.0.entries.push(Entry::Tool { call_id, content: result.into(), refusal });
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
    assert_eq!(talk.ends(), "`write_capability` failed. It said: `unexpected token`.");
}

#[test]
fn a_build_that_left_no_tool_is_not_called_a_success() {
    let mut talk = Talk::about("build it again");
    talk.offer("roman_numeral");
    talk.asks("The code is too long.");
    assert!(!talk.ends().contains("is built"), "{}", talk.ends());
    let mut talk = Talk::about("build");
    talk.asks("{}");
    assert!(talk.ends().contains("I am not offered `roman_numeral`"), "{}", talk.ends());
}

#[test]
fn a_wrong_result_of_a_call_is_told_as_it_is() {
    for (result, refusal, told) in [
        ("banana", None, "gave no Roman numeral, but `banana`"),
        ("out of fuel", Some(RefusalCode::LimitExceeded), "failed. It said: `out of fuel`"),
    ] {
        let mut talk = Talk::about("roman 5");
        talk.offer("roman_numeral");
        talk.is_told(result, refusal);
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
    assert!(text.contains("due on 20 November 2026 at 06:30:20 UTC") && text.contains("heartbeat"), "{text}");
}

#[test]
fn a_reminder_with_a_time_falls_due_then_and_says_so() {
    let mut talk = Talk::about("remind me to start the oven in two hours");
    assert!(talk.answer().content.ends_with("falls due in two hours."), "{}", talk.answer().content);
    let (_, arguments) = talk.asks(r#"{"id":4,"title":"start the oven","due_at":"2026-11-20T08:30:00Z"}"#);
    assert_eq!((&arguments["title"], &arguments["due_at"]), (&json!("start the oven"), &json!("2026-11-20T08:30:00Z")));
    assert!(talk.ends().contains("Task #4, “start the oven”, is stored; it falls due on 20 November 2026 at 08:30:00 UTC"));
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
    let mut talk = Talk::woken_by("These are due.\n- task 4, due now: stretch\n- task 5, due now: drink");
    let answer = talk.answer();
    let arguments: Vec<_> = answer.calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"action":"complete","id":4}"#, r#"{"action":"complete","id":5}"#]);
    let results = [r#"{"id":4,"title":"stretch","status":"done"}"#, r#"{"error":"there is no task 5"}"#];
    let ids: Vec<_> = answer.calls.iter().map(|call| call.id.clone()).collect();
    talk.0.entries.push(Entry::Assistant { content: answer.content, calls: answer.calls });
    for (call_id, content) in ids.into_iter().zip(results) {
        talk.0.entries.push(Entry::Tool { call_id, content: content.into(), refusal: None });
    }
    let text = talk.ends();
    assert!(text.contains("Task #4, “stretch”, was due and is done."), "{text}");
    assert!(text.contains("Completing task #5 did not work"), "{text}");
}

#[test]
fn a_heartbeat_that_names_none_makes_it_look_which_are_due() {
    let mut talk = Talk::woken_by("Something is due.");
    let list = json!([
        { "id": 1, "title": "a", "status": "pending", "due_at": "2026-11-20T06:29:59Z" },
        { "id": 2, "title": "b", "status": "pending", "due_at": "2026-11-20T06:30:01Z" },
        { "id": 3, "title": "c", "status": "done", "due_at": "2026-11-20T06:29:59Z" },
    ]);
    assert_eq!(talk.asks(&list.to_string()).1, json!({ "action": "list" }));
    assert_eq!(talk.asks(r#"{"id":1,"title":"a","status":"done"}"#).1, json!({ "action": "complete", "id": 1 }));
    assert!(talk.ends().contains("Task #1"));
    let mut talk = Talk::woken_by("Something is due.");
    talk.asks("[]");
    assert!(talk.ends().contains("found no task that is due"));
}

#[test]
fn sql_asks_the_real_database_and_tells_its_rows_as_a_table() {
    let mut talk = Talk::about("which tables are there?");
    let (tool, arguments) = talk.asks(r#"[{"table_schema":"agent","table_name":"notes"}]"#);
    assert_eq!(tool, "execute_sql");
    assert!(arguments["query"].as_str().unwrap().starts_with("SELECT "));
    let table = "one row:\n\n| table\\_name | table\\_schema |\n| --- | --- |\n| notes | agent |";
    assert!(talk.ends().ends_with(table), "{}", talk.ends());
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
