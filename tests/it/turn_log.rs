//! The log of every turn.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::operator::Desk;
use crate::support::{Reply, TestApp, call, text};

/// The lines of a turn's file.
pub fn lines(data: &Path, turn: i64) -> Vec<Value> {
    let text = std::fs::read_to_string(data.join(format!("logs/turn-{turn}.jsonl"))).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["event"].as_str().unwrap()).collect()
}

/// Every line is there once, in order, and belongs to the turn.
pub fn each_once(lines: &[Value], turn: i64) {
    let marks: Vec<_> = lines.iter().map(|line| (line["seq"].as_i64().unwrap(), line["part"].as_i64().unwrap())).collect();
    assert!(marks.windows(2).all(|pair| pair[0] < pair[1]), "{marks:?}");
    assert!(lines.iter().all(|line| line["turn"] == turn && line["at"].is_string()), "{lines:#?}");
}

#[tokio::test]
async fn a_turn_is_told_from_its_beginning_to_its_end() {
    let mut app = TestApp::start().await;
    app.script([
        call("execute_sql", json!({"query": "SELECT 1 AS one"})),
        call("execute_sql", json!({"query": "SELECT nonsense"})),
        call("restart", json!({"mode": "reload"})),
        text("That is one."),
    ]);
    let rule = crate::support::api::client().put(format!("http://{}/api/policy/builder/rules/restart", app.address()));
    assert_eq!(rule.json(&json!({"rule": "ask"})).send().await.unwrap().status(), 200);
    app.connect().await.allow("what is one?").await;
    app.stop().await;
    let lines = lines(app.data(), 1);
    each_once(&lines, 1);
    assert_eq!(
        names(&lines),
        [
            "task_started",
            "model_answered",
            "planner_output",
            "decision",
            "execution_started",
            "execution_result",
            "model_answered",
            "planner_output",
            "decision",
            "execution_started",
            "execution_error",
            "model_answered",
            "planner_output",
            "confirmation_required",
            "decision",
            "task_started",
            "execution_started",
            "execution_result",
            "model_answered",
            "planner_output",
            "task_completed",
        ]
    );
    assert_eq!(lines[0]["input"], "what is one?");
    assert_eq!(lines[2]["action"]["name"], "execute_sql");
    assert_eq!((&lines[3]["decision"], &lines[3]["call"]), (&json!("allow"), &json!(1)));
    assert_eq!(lines[5]["result"], r#"[{"one":1}]"#);
    assert_eq!((&lines[14]["decision"], &lines[14]["channel"]), (&json!("approved"), &json!("page")));
    assert_eq!((&lines[19]["reasoning"], &lines[19]["done"]), (&json!("That is one."), &json!(true)));
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &str| std::fs::metadata(app.data().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("logs"), mode("logs/turn-1.jsonl")), (0o700, 0o600));
}

#[tokio::test]
async fn a_limit_a_denial_and_a_stop_have_their_names() {
    let mut app = TestApp::with(&[("MAX_TOOL_ITERATIONS", "1")]).await;
    let rule = crate::support::api::client().put(format!("http://{}/api/policy/builder/rules/restart", app.address()));
    assert_eq!(rule.json(&json!({"rule": "never"})).send().await.unwrap().status(), 200);
    app.script([call("restart", json!({})), Reply::Hang("…".into())]);
    let mut client = app.connect().await;
    client.ask("restart").await;
    client.say("wait").await;
    client.until(|frame| frame["type"] == "delta").await;
    client.stop().await;
    client.turn().await;
    app.stop().await;
    let denied = lines(app.data(), 1);
    assert_eq!(
        names(&denied),
        ["task_started", "model_answered", "planner_output", "decision", "execution_error", "limit_exceeded", "task_completed"]
    );
    assert_eq!(denied[3]["decision"], "deny");
    // The text until the stop is logged as well.
    let stopped = lines(app.data(), 2);
    assert_eq!(names(&stopped), ["task_started", "model_answered", "task_aborted"]);
    assert_eq!((&stopped[1]["reasoning"], &stopped[1]["finish_reason"]), (&json!("…"), &json!("stopped_by_user")));
}

#[tokio::test]
async fn what_a_crash_kept_from_the_log_is_written_after_it_and_nothing_twice() {
    let mut app = TestApp::start().await;
    app.script([call("execute_sql", json!({"query": "SELECT 1 AS one"})), text("One."), text("Two.")]);
    let mut client = app.connect().await;
    client.ask("first").await;
    client.ask("second").await;
    app.crash().await;
    // The folder as if less had reached the disk than the database: a cut line, a missing file, old
    // positions.
    let logs = app.data().join("logs");
    app.start_again().await;
    app.stop().await;
    let whole = [lines(app.data(), 1), lines(app.data(), 2)];
    for (turn, lines) in (1..).zip(&whole) {
        each_once(lines, turn);
        assert_eq!(names(lines).last(), Some(&"task_completed"));
    }
    let first = std::fs::read(logs.join("turn-1.jsonl")).unwrap();
    std::fs::write(logs.join("turn-1.jsonl"), &first[..first.len() / 2]).unwrap();
    std::fs::remove_file(logs.join("turn-2.jsonl")).unwrap();
    std::fs::write(logs.join("positions.jsonl"), "{\"conversation\":1,\"seq\":1}\n{\"conv").unwrap();
    app.start_again().await;
    app.stop().await;
    assert_eq!(std::fs::read(logs.join("turn-1.jsonl")).unwrap(), first);
    assert_eq!([lines(app.data(), 1), lines(app.data(), 2)], whole);
}

#[tokio::test]
async fn events_that_were_committed_while_nobody_logged_are_found() {
    let mut app = TestApp::with(&[("LEVEL3_TURN_LOG", "0")]).await;
    app.script([text("unlogged")]);
    app.connect().await.ask("hello").await;
    app.stop().await;
    assert!(!app.data().join("logs").exists());
    app.set("LEVEL3_TURN_LOG", "1");
    app.start_again().await;
    app.stop().await;
    assert_eq!(names(&lines(app.data(), 1)), ["task_started", "model_answered", "planner_output", "task_completed"]);
}

#[tokio::test]
async fn a_secret_is_in_no_log() {
    let mut app = TestApp::start().await;
    let value = "canary-4b1f77aa90";
    let (status, _) =
        crate::support::api::ask(&app, reqwest::Method::PUT, "/api/secrets/API_KEY", Some(json!({"value": value}))).await;
    assert_eq!(status, 200);
    app.script([call("execute_sql", json!({"query": format!("SELECT '{value}' AS leaked")})), text(value)]);
    app.connect().await.ask(&format!("say {value}")).await;
    app.stop().await;
    let logged = std::fs::read_to_string(app.data().join("logs/turn-1.jsonl")).unwrap();
    assert!(logged.contains("[secret API_KEY]") && !logged.contains(value), "{logged}");
}

/// Puts a log there, as long as this and written then. The length alone is set; none of it is on
/// the disk.
fn put(logs: &Path, turn: i64, bytes: u64, written: DateTime<Utc>) {
    let file = std::fs::File::create(logs.join(format!("turn-{turn}.jsonl"))).unwrap();
    file.set_len(bytes).unwrap();
    file.set_modified(written.into()).unwrap();
}

#[tokio::test]
async fn logs_that_are_old_or_too_much_go_at_a_start_and_when_a_file_begins() {
    let mut app = TestApp::start().await;
    app.script([text("one"), text("two")]);
    app.connect().await.ask("first").await;
    app.stop().await;
    let logs = app.data().join("logs");
    let begun = app.now();
    let there = |turn: i64| logs.join(format!("turn-{turn}.jsonl")).exists();
    for (turn, bytes, days) in [(901, 10, 31), (902, 1 << 30, 20), (903, 10, 10), (904, 10, 5)] {
        put(&logs, turn, bytes, begun - TimeDelta::days(days));
    }
    app.start_again().await;
    // The program opens the folder before it writes, so a second turn shows that it was opened.
    app.connect().await.ask("second").await;
    app.stop().await;
    assert_eq!([1, 2, 901, 902, 903, 904].map(there), [true, true, false, false, true, true]);
    app.script([text("three"), text("four")]);
    app.start_again().await;
    let mut client = app.connect().await;
    client.ask("third").await;
    app.advance(21 * 24 * 3600);
    client.ask("fourth").await;
    app.stop().await;
    assert_eq!([1, 2, 3, 4, 903, 904].map(there), [true, true, true, true, false, true]);
    assert_eq!(names(&lines(app.data(), 4)).last(), Some(&"task_completed"));
}

#[tokio::test]
async fn an_operator_keeps_its_logs_however_old_and_large_they_are() {
    let mut desk = Desk::start().await;
    desk.app.script([text("one"), text("two"), text("three")]);
    desk.order("first").await;
    desk.until(&["COMPLETED"]).await;
    desk.app.stop().await;
    let (logs, begun) = (desk.home().join("logs"), desk.app.now());
    for (turn, bytes, days) in [(901, 10, 31), (902, 1 << 30, 20), (903, 10, 5)] {
        put(&logs, turn, bytes, begun - TimeDelta::days(days));
    }
    // Logs would go at a start, and when a file begins a day later.
    desk.app.start_again().await;
    desk.order("second").await;
    desk.until(&["COMPLETED"; 2]).await;
    desk.app.advance(31 * 24 * 3600);
    desk.order("third").await;
    desk.until(&["COMPLETED"; 3]).await;
    desk.app.stop().await;
    let there = |turn: i64| logs.join(format!("turn-{turn}.jsonl")).exists();
    assert_eq!([1, 2, 3, 901, 902, 903].map(there), [true; 6]);
    assert_eq!(names(&lines(desk.app.data(), 3)).last(), Some(&"task_completed"));
}
