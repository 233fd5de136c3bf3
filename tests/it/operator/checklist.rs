//! The checklist of the operator's document, phase by phase: each box is a test with its words as
//! name. `terminal` and `screen` have those that need a terminal or a screen; docs/operator.md
//! lists all of them.

use serde_json::{Value, json};

use super::{Desk, OWNER, STRANGER, body, doubling, harmless, judged, lists, noted};
use crate::support::{call, calls, text};

#[test]
fn the_page_on_the_operator_lists_each_of_the_29_boxes() {
    let page = include_str!("../../../docs/operator.md");
    let list = page.split("## The test checklist").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = list.lines().filter(|line| line.starts_with("| "));
    let boxes: Vec<_> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    assert_eq!(boxes.len(), 29, "{boxes:?}");
    let stories = [include_str!("checklist.rs"), include_str!("screen.rs"), include_str!("terminal.rs")].concat();
    for name in boxes {
        assert!(stories.contains(&format!("fn {name}()")), "{name}");
    }
}

// Phase 2

#[tokio::test]
async fn only_whitelisted_number_accepted() {
    let desk = Desk::start().await;
    assert_eq!(desk.says(json!({"address": STRANGER, "text": "list the scripts"})).await, "stranger");
    desk.app.script([text("Hello.")]);
    desk.order("hello").await;
    desk.heard(1).await;
    assert_eq!((desk.tasks().await.len(), desk.phone(STRANGER).await.len()), (1, 0));
    let shown = desk.done(reqwest::Method::GET, "/api/relay/channels", None).await;
    assert_eq!(shown["channels"][0]["strangers"], 1, "counted, with a masked number");
}

#[tokio::test]
async fn assistant_replies_with_text() {
    let desk = Desk::start().await;
    desk.app.script([text("It is Friday.")]);
    desk.order("what day is it?").await;
    assert_eq!(desk.heard(1).await, noted("It is Friday.", "none yet"));
    desk.until(&["COMPLETED"]).await;
}

#[tokio::test]
async fn logs_file_created() {
    let desk = Desk::start().await;
    desk.app.script([text("Hello.")]);
    desk.order("hello").await;
    let lines = desk.log(1, "task_completed").await;
    assert_eq!(body(&lines, "task_started")["input"], "hello");
}

// Phase 4

#[tokio::test]
async fn multiple_messages_queued() {
    let desk = Desk::start().await;
    let go = std::sync::Arc::new(tokio::sync::Notify::new());
    desk.app.script([crate::support::Reply::After(go.clone(), Box::new(text("one"))), text("two"), text("three")]);
    for order in ["first", "second", "third"] {
        desk.order(order).await;
    }
    desk.until(&["RUNNING", "QUEUED", "QUEUED"]).await;
    assert_eq!(desk.heard(2).await, "Task 3 is queued: 2 tasks are before it.");
    go.notify_one();
    desk.until(&["COMPLETED", "COMPLETED", "COMPLETED"]).await;
}

#[tokio::test]
async fn tasks_execute_sequentially() {
    let desk = Desk::start().await;
    desk.app.script([text("one"), text("two"), text("three")]);
    for order in ["first", "second", "third"] {
        desk.order(order).await;
    }
    desk.until(&["COMPLETED", "COMPLETED", "COMPLETED"]).await;
    let overlapping = "SELECT count(*) FROM turns a JOIN turns b ON a.turn_id < b.turn_id
         WHERE (SELECT min(created_at) FROM steps WHERE turn_id = b.turn_id) < a.ended_at";
    assert_eq!(desk.app.count(overlapping).await, 0);
    let answers: Vec<Value> = desk.tasks().await.iter().map(|task| task["answer"].clone()).collect();
    assert_eq!(answers, ["one", "two", "three"].map(|answer| noted(answer, "none yet")));
}

#[tokio::test]
async fn states_transition_correctly() {
    let desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("high", "low", "local", false), text("There are none.")]);
    desk.order("which scripts are there?").await;
    desk.until(&["AWAITING_CONFIRMATION"]).await;
    desk.heard(1).await;
    desk.order("CONFIRMAR").await;
    desk.until(&["COMPLETED"]).await;
    desk.app.script([call("list_scripts", json!({})), judged("high", "low", "local", false)]);
    desk.order("and now?").await;
    desk.until(&["COMPLETED", "AWAITING_CONFIRMATION"]).await;
    desk.heard(3).await;
    desk.order("CANCELAR").await;
    desk.until(&["COMPLETED", "ABORTED"]).await;
}

// Phase 5

#[tokio::test]
async fn planner_returns_structured_json() {
    let desk = Desk::start().await;
    let [_, judged] = lists();
    let planned = crate::support::Reply::Answer("I look which scripts there are.".to_owned(), vec![request("list_scripts")]);
    desk.app.script([planned, judged, text("None.")]);
    desk.order("scripts?").await;
    let lines = desk.log(1, "task_completed").await;
    let plans: Vec<_> = lines.iter().filter(|line| line["event"] == "planner_output").cloned().collect();
    let action = json!({"name": "list_scripts", "arguments": {}});
    let first = json!({"action": action, "reasoning": "I look which scripts there are.", "done": false});
    let last = json!({"action": null, "reasoning": "None.", "done": true});
    assert_eq!((body(&plans[..1], "planner_output"), body(&plans[1..], "planner_output")), (first, last));
}

fn request(name: &str) -> level3::domain::CallRequest {
    level3::domain::CallRequest { id: "a".to_owned(), name: name.to_owned(), arguments: "{}".to_owned() }
}

#[tokio::test]
async fn one_action_per_iteration() {
    let desk = Desk::start().await;
    let create = ("create_script", doubling(2));
    desk.app.script([calls(&[("list_scripts", json!({})), create]), harmless(), text("One was done.")]);
    desk.order("do two things at once").await;
    desk.heard(1).await;
    assert_eq!(desk.carried_out().await, 1, "one of two");
    let lines = desk.log(1, "task_completed").await;
    let turned_away = lines.iter().find(|line| line["event"] == "execution_error").unwrap();
    assert!(turned_away["result"].as_str().unwrap().contains("an answer may ask for 1 tool calls"), "{turned_away}");
}

// Phase 6

#[tokio::test]
async fn systemic_action_requires_confirmar() {
    let desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false), text("None.")]);
    desk.order("scripts?").await;
    let asked = desk.heard(1).await;
    assert!(asked.contains("CONFIRMAR") && asked.contains("CANCELAR") && asked.contains("reaches further"), "{asked}");
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["AWAITING_CONFIRMATION".to_owned()], 0));
    desk.order("CONFIRMAR").await;
    assert_eq!(desk.heard(2).await, "None.");
}

#[tokio::test]
async fn complex_action_requires_confirmar() {
    let desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("high", "low", "local", false), text("None.")]);
    desk.order("scripts?").await;
    let asked = desk.heard(1).await;
    assert!(asked.contains("is complex") && asked.contains("CONFIRMAR"), "{asked}");
    desk.order("confirmar").await;
    assert_eq!(desk.heard(2).await, "None.");
}

#[tokio::test]
async fn cancelar_aborts_task() {
    let desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("scripts?").await;
    desk.heard(1).await;
    desk.order("CANCELAR").await;
    let told = desk.heard(2).await;
    assert!(told.starts_with("Task 1 was aborted. You said no to `list_scripts`"), "{told}");
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["ABORTED".to_owned()], 0));
    let lines = desk.log(1, "task_aborted").await;
    assert_eq!(body(&lines, "task_aborted")["state"], "aborted");
}

// Phase 7

/// A desk whose operator has written the script `double`.
pub async fn with_script() -> Desk {
    let desk = Desk::start().await;
    desk.app.script([call("create_script", doubling(2)), harmless(), text("Written.")]);
    desk.order("write a script that doubles").await;
    desk.heard(1).await;
    desk
}

#[tokio::test]
async fn script_created_in_zeta_scripts() {
    let desk = with_script().await;
    let copy = desk.file("scripts/double.js").await;
    assert!(copy.lines().next().unwrap().contains("Editing it changes nothing"), "{copy}");
    assert!(copy.contains("params.n * 2"), "{copy}");
}

#[tokio::test]
async fn script_reused_by_exact_name() {
    let desk = with_script().await;
    let run = |name: &str| call("execute_script", json!({"name": name, "arguments": {"n": 21}}));
    desk.app.script([run("Double"), run("double"), harmless(), text("42.")]);
    desk.order("double 21").await;
    desk.heard(2).await;
    let lines = desk.log(2, "task_completed").await;
    let refused = lines.iter().find(|line| line["event"] == "execution_error").unwrap();
    assert!(refused["result"].as_str().unwrap().contains("the nearest name is `double`"), "{refused}");
    assert_eq!(body(&lines, "execution_result")["result"], "42");
    // Nobody writes it a second time under its name.
    desk.app.script([call("create_script", doubling(3)), text("It is there.")]);
    desk.order("write it again").await;
    desk.heard(3).await;
    let lines = desk.log(3, "task_completed").await;
    let refused = lines.iter().find(|line| line["event"] == "execution_error").unwrap();
    assert!(refused["result"].as_str().unwrap().contains("there is a script `double` already"), "{refused}");
    let prompt = format!("{:?}", desk.app.script.requests().last().unwrap().entries[0]);
    assert!(prompt.contains("Scripts there are: double."), "the planner is shown the names: {prompt}");
}

#[tokio::test]
async fn update_script_overwrites_file() {
    let desk = with_script().await;
    desk.file("scripts/double.js").await;
    // The governor finds nothing, and it is systemic all the same.
    desk.app.script([call("update_script", doubling(3)), harmless(), text("Changed.")]);
    desk.order("let it triple").await;
    let asked = desk.heard(2).await;
    assert!(asked.contains("CONFIRMAR"), "{asked}");
    desk.order("CONFIRMAR").await;
    desk.heard(3).await;
    let overwritten = async {
        while !desk.file("scripts/double.js").await.contains("params.n * 3") {
            tokio::task::yield_now().await;
        }
    };
    crate::support::in_time("the new copy", overwritten).await;
    let lines = desk.log(2, "task_completed").await;
    assert_eq!(body(&lines, "governor_output")["impact"], "systemic");
}

#[tokio::test]
async fn script_correction_works() {
    let desk = Desk::start().await;
    let mut wrong = doubling(2);
    wrong["code"] = json!("export default function double(params) {\n  return params.n * ;\n}");
    desk.app.script([call("create_script", wrong), call("create_script", doubling(2)), harmless(), text("Written.")]);
    desk.order("write a script that doubles").await;
    assert_eq!(desk.heard(1).await, "Written.");
    let lines = desk.log(1, "task_completed").await;
    let refused = lines.iter().find(|line| line["event"] == "execution_error").unwrap()["result"].as_str().unwrap().to_owned();
    let refused: Value = serde_json::from_str(&refused).unwrap();
    assert!(refused["error"].as_str().unwrap().contains("syntax"), "{refused}");
    assert_eq!((&refused["line"], &refused["offset"]), (&json!(2), &json!(21)), "line and column: {refused}");
    assert_eq!(body(&lines, "execution_result")["ok"], true);
}

// Phase 8

/// The log of a task with one action.
async fn logged() -> Vec<Value> {
    let desk = Desk::start().await;
    desk.app.script(lists().into_iter().chain([text("None.")]));
    desk.order("scripts?").await;
    desk.log(1, "task_completed").await
}

#[tokio::test]
async fn log_file_created_per_task() {
    let desk = Desk::start().await;
    desk.app.script([text("one"), text("two")]);
    desk.order("first").await;
    desk.heard(1).await;
    desk.order("second").await;
    for (task, input) in [(1, "first"), (2, "second")] {
        assert_eq!(body(&desk.log(task, "task_completed").await, "task_started")["input"], input);
    }
}

#[tokio::test]
async fn planner_output_logged() {
    let action = json!({"name": "list_scripts", "arguments": {}});
    assert_eq!(body(&logged().await, "planner_output"), json!({"action": action, "reasoning": "", "done": false}));
}

#[tokio::test]
async fn governor_output_logged() {
    let wanted = json!({"complexity": "low", "risk": "low", "impact": "local", "requires_confirmation": false});
    assert_eq!(body(&logged().await, "governor_output"), wanted);
}

#[tokio::test]
async fn decision_logged() {
    assert_eq!(body(&logged().await, "decision"), json!({"name": "list_scripts", "decision": "allow"}));
}

#[tokio::test]
async fn execution_result_logged() {
    let lines = logged().await;
    assert_eq!(body(&lines, "execution_started"), json!({"name": "list_scripts"}));
    assert_eq!(body(&lines, "execution_result")["result"], json!({"scripts": []}).to_string());
}

// Phase 9

/// A task writes the global context.
async fn remembering() -> Desk {
    let desk = Desk::start().await;
    let write = json!({"version": 0, "document": {"project": "shop", "next": "prices"}});
    desk.app.script([call("update_global_context", write), harmless(), text("I remember.")]);
    desk.order("we work on the shop, prices come next").await;
    desk.heard(1).await;
    desk
}

#[tokio::test]
async fn global_context_persists_between_tasks() {
    let mut desk = remembering().await;
    desk.app.restart().await;
    let kept = desk.done(reqwest::Method::GET, "/api/operator/context", None).await;
    assert_eq!((&kept["version"], &kept["document"]["project"]), (&json!(1), &json!("shop")));
    assert!(desk.file("global_context.json").await.contains("\"project\": \"shop\""));
}

#[tokio::test]
async fn planner_receives_global_context() {
    let desk = remembering().await;
    desk.app.script([text("The shop.")]);
    desk.order("what do we work on?").await;
    desk.heard(2).await;
    let request = format!("{:?}", desk.app.script.requests().last().unwrap().entries[0]);
    assert!(request.contains("Global context, version 1") && request.contains("shop"), "{request}");
}

#[tokio::test]
async fn subsequent_task_can_continue_previous_work() {
    let desk = remembering().await;
    let write = json!({"version": 1, "document": {"project": "shop", "done": ["prices"]}});
    desk.app.script([call("update_global_context", write), harmless(), text("Prices are done.")]);
    desk.order("go on").await;
    desk.heard(2).await;
    let kept = desk.done(reqwest::Method::GET, "/api/operator/context", None).await;
    assert_eq!((&kept["version"], &kept["document"]["done"]), (&json!(2), &json!(["prices"])));
    assert_eq!(desk.phone(OWNER).await.len(), 2);
}
