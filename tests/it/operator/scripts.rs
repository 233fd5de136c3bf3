//! Scripts of the operator: their names, the mistakes in them, their copies, and all that they are
//! shown.

use reqwest::Method;
use serde_json::{Value, json};

use super::checklist::with_script;
use super::{Desk, OWNER, body, doubling, harmless, judged, lists};
use crate::support::{call, text};

/// The refusals in a log, in the words for the model.
fn refused(lines: &[Value]) -> Vec<String> {
    let errors = lines.iter().filter(|line| line["event"] == "execution_error");
    errors.map(|line| line["result"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_name_that_is_taken_is_refused_with_the_nearest_other_one() {
    let desk = with_script().await;
    for (place, name) in ["triple", "doubled"].into_iter().enumerate() {
        let mut other = doubling(2);
        other["name"] = json!(name);
        desk.app.script([call("create_script", other), harmless(), text("Written.")]);
        desk.order("write another one").await;
        desk.heard(place + 2).await;
    }
    desk.app.script([call("create_script", doubling(3)), text("It is there.")]);
    desk.order("write it again").await;
    desk.heard(4).await;
    let refused = refused(&desk.log(4, "task_completed").await);
    assert!(refused.len() == 1 && refused[0].contains("The nearest other one is `doubled`."), "{refused:?}");
    assert_eq!(desk.carried_out().await, 3);
}

#[tokio::test]
async fn a_script_without_a_test_is_refused() {
    let desk = Desk::start().await;
    let mut draft = doubling(2);
    draft["tests"] = json!([]);
    desk.app.script([call("create_script", draft), text("It needs a test.")]);
    desk.order("write a script that doubles").await;
    desk.heard(1).await;
    let refused = refused(&desk.log(1, "task_completed").await);
    assert!(refused.len() == 1 && refused[0].contains("`tests` holds no test: give at least one"), "{refused:?}");
    assert_eq!(desk.carried_out().await, 0);
}

#[tokio::test]
async fn six_different_mistakes_are_told_and_put_right_in_one_task() {
    let desk = Desk::start().await;
    let mistakes = [
        ("invalid_name", "name", json!("Double It")),
        ("invalid_schema", "parameters_schema", json!({"type": "object", "properties": {"n": {"type": "nonsense"}}})),
        ("syntax_error", "code", json!("export default function double(params) {\n  return params.n * ;\n}")),
        ("import_error", "code", json!("import fs from 'fs';\nexport default () => 1;")),
        ("missing_function", "code", json!("export const other = 1;")),
        ("test_failed", "tests", json!([{"params": {"n": 2}, "expect": 5}])),
    ];
    for (_, part, wrong) in &mistakes {
        let mut draft = doubling(2);
        draft[*part] = wrong.clone();
        desk.app.script([call("create_script", draft)]);
    }
    desk.app.script([call("create_script", doubling(2)), harmless(), text("Written.")]);
    desk.order("write a script that doubles").await;
    assert_eq!(desk.heard(1).await, "Written.");
    let lines = desk.log(1, "task_completed").await;
    let told: Vec<Value> = refused(&lines).iter().map(|error| serde_json::from_str(error).unwrap()).collect();
    let kinds: Vec<_> = told.iter().map(|error| error["error"].as_str().unwrap()).collect();
    assert_eq!(kinds, mistakes.map(|(kind, ..)| kind));
    assert_eq!((&told[2]["line"], &told[2]["offset"]), (&json!(2), &json!(21)), "line and column: {}", told[2]);
    assert_eq!((&told[5]["expected"], &told[5]["got"]), (&json!(5), &json!(4)), "{}", told[5]);
    assert_eq!(body(&lines, "execution_result")["ok"], true);
    assert_eq!(desk.carried_out().await, 1);
}

#[tokio::test]
async fn editing_the_copy_of_a_script_changes_nothing() {
    let mut desk = with_script().await;
    let copy = desk.file("scripts/double.js").await;
    let edited = copy.replace("params.n * 2", "params.n * 5");
    assert_ne!(edited, copy);
    std::fs::write(desk.home().join("scripts/double.js"), edited).unwrap();
    for (task, restarts) in [(2_u8, false), (3, true)] {
        if restarts {
            desk.app.restart().await;
        }
        desk.app.script([call("execute_script", json!({"name": "double", "arguments": {"n": 21}})), harmless(), text("42.")]);
        desk.order("double 21").await;
        desk.heard(task.into()).await;
        let lines = desk.log(task.into(), "task_completed").await;
        assert_eq!(body(&lines, "execution_result")["result"], "42", "after a new start: {restarts}");
    }
}

#[tokio::test]
async fn a_script_that_is_written_is_said_to_be_run_by_the_tool_for_it() {
    let desk = with_script().await;
    let lines = desk.log(1, "task_completed").await;
    let told: Value = serde_json::from_str(body(&lines, "execution_result")["result"].as_str().unwrap()).unwrap();
    assert!(told["what_now"].as_str().unwrap().contains("run it with execute_script"), "{told}");
}

#[tokio::test]
async fn the_planner_is_told_that_a_script_is_disabled_and_a_new_version_brings_it_back() {
    let desk = with_script().await;
    desk.done(Method::POST, "/api/capabilities/double/disable", None).await;
    let run = || call("execute_script", json!({"name": "double", "arguments": {"n": 21}}));
    desk.app.script([run(), call("create_script", doubling(3))].into_iter().chain(lists()).chain([text("It is disabled.")]));
    desk.order("double 21").await;
    desk.heard(2).await;
    let lines = desk.log(2, "task_completed").await;
    let told = refused(&lines);
    assert_eq!(told.len(), 2, "{told:?}");
    for told in &told {
        assert!(told.contains("disabled") && !told.contains("there is no script"), "{told}");
        assert!(told.contains("update_script") && told.contains("capability enable double"), "{told}");
    }
    let listed: Value = serde_json::from_str(body(&lines, "execution_result")["result"].as_str().unwrap()).unwrap();
    assert_eq!((&listed["scripts"], &listed["disabled"][0]["name"]), (&json!([]), &json!("double")), "{listed}");

    desk.app.script([call("update_script", doubling(3)), judged("low", "low", "local", false)]);
    desk.order("write it anew").await;
    let asked = desk.heard(3).await;
    assert!(asked.contains("`double`, which is disabled, and makes it live again"), "{asked}");
    desk.app.script([run(), harmless(), text("63.")]);
    desk.order("CONFIRMAR").await;
    desk.heard(4).await;
    let lines = desk.log(3, "task_completed").await;
    assert!(lines.iter().any(|line| line["event"] == "execution_result" && line["result"] == "63"), "{lines:#?}");
}

/// Gives back its arguments, and each value that it finds without them.
const SEES: &str = "export default function sees(...given) {
  const found = Object.getOwnPropertyNames(globalThis).map((name) => {
    try { return JSON.stringify(globalThis[name]); } catch { return undefined; }
  });
  return { given, found: found.filter((text) => text !== undefined) };
}";

#[tokio::test]
async fn a_script_is_shown_its_arguments_and_nothing_else() {
    let desk = Desk::start().await;
    let known = json!({"version": 0, "document": {"known": "canary-context"}});
    desk.done(Method::PUT, "/api/operator/context", Some(known)).await;
    let mut draft = doubling(2);
    (draft["name"], draft["code"], draft["tests"]) = (json!("sees"), json!(SEES), json!([{"params": {"n": 2}}]));
    desk.app.script([call("create_script", draft), harmless(), text("Written.")]);
    desk.order("write a script that shows all it sees").await;
    desk.heard(1).await;
    desk.app.script([call("execute_script", json!({"name": "sees", "arguments": {"n": 21}})), harmless(), text("It saw 21.")]);
    desk.order("run it, canary-order").await;
    desk.heard(2).await;
    let shown = body(&desk.log(2, "task_completed").await, "execution_result")["result"].as_str().unwrap().to_owned();
    let seen: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(seen["given"], json!([{"n": 21}]));
    let home = desk.home().display().to_string();
    for hidden in ["canary-context", "canary-order", OWNER, &home] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
}

#[tokio::test]
async fn the_planner_is_sent_to_no_tool_that_it_does_not_have() {
    let desk = Desk::start().await;
    let code = "export default function tell(params) {
  console.log('tells', params.n);
  if (params.n === 2) return params.word.length;
  return params.n;
}";
    let script = json!({
        "name": "tell", "description": "Tells a number.", "code": code,
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
        "tests": [{"params": {"n": 1}, "expect": 1}],
    });
    let runs = |n: i64| call("execute_script", json!({"name": "tell", "arguments": {"n": n}}));
    desk.app.script([call("create_script", script), harmless(), runs(1), harmless(), runs(2), harmless(), text("Told.")]);
    desk.order("tell me").await;
    desk.heard(1).await;
    let requests = desk.app.script.requests();
    let read = format!("{:?}", requests.last().unwrap().entries);
    assert!(read.contains("TypeError"), "{read}");
    for tool in ["execute_sql", "write_capability", "manage_tasks"] {
        assert!(!read.contains(tool), "{tool}: {read}");
    }
}
