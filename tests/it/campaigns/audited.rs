//! The audit and the export: each file that is kept, read or shown has its line, and rows are
//! whole.

use reqwest::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, Executor};

use super::{Desk, two_tasks};
use crate::support::{call, text};

#[tokio::test]
async fn campaign_files_that_are_kept_shown_and_imported_stand_in_the_audit() {
    let desk = Desk::start(json!([{
        "description": "Import them",
        "requires": [{"kind": "tool_succeeded", "tool": "import_leads"}],
        "needs": [{"type": "file", "key": "people"}],
    }]))
    .await;
    desk.keep("file", "people", "full_name,profile_url\nAda,https://x.example/a\n").await;
    desk.keep("context", "campaign_context", "Sell").await;
    desk.app.script([call("execute_tool", json!({"task": 1, "tool": "import_leads", "arguments": {"file": "people"}}))]);
    desk.present().await;
    let approval = desk.asked().await;
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed");
    let written = desk.get("/1/log?log=audit&kind=file%20written").await;
    let lines = written.as_array().unwrap();
    let file = &lines[0]["payload"]["file"];
    assert_eq!((lines.len(), &file["key"], &file["version"]), (1, &json!("people"), &json!(1)), "{written}");
    assert_eq!(lines[0]["payload"]["source"], "user");
    let read = desk.get("/1/log?log=audit&kind=file%20read").await;
    let lines = read.as_array().unwrap();
    assert!(lines.len() == 2 && lines.iter().all(|line| line["payload"]["file"] == *file), "{read}");
    assert!(lines.iter().any(|line| line["payload"]["turn"].is_i64()), "the request that showed it: {read}");
    assert!(lines.iter().any(|line| line["payload"]["call"].is_i64()), "the call that imported it: {read}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_log_finds_a_kind_whose_lines_are_older_than_those_asked_for() {
    let desk = Desk::start(two_tasks()).await;
    desk.keep("file", "people", "full_name,profile_url\n").await;
    let newest = desk.get("/1/log?log=events&limit=1").await;
    assert_eq!(newest[0]["kind"], "artifact_kept", "{newest}");
    let made = desk.get("/1/log?log=events&kind=campaign_changed&limit=1").await;
    assert_eq!((made.as_array().unwrap().len(), &made[0]["kind"]), (1, &json!("campaign_changed")), "{made}");
    let kinds = desk.get("/1/log/kinds").await;
    for (log, kind) in [("audit", "file written"), ("events", "artifact_kept"), ("events", "campaign_changed")] {
        assert!(kinds[log].as_array().unwrap().contains(&json!(kind)), "{kind}: {kinds}");
    }
    assert_eq!(desk.ask(Method::GET, "/9/log/kinds", None).await.0, 404);
}

#[tokio::test]
async fn campaign_export_has_whole_rows_so_one_that_was_changed_by_hand_differs_from_its_events() {
    let desk = Desk::start(two_tasks()).await;
    let csv = "full_name,profile_url,title\nAda,https://x.example/a,CTO\nBob,https://x.example/b,Cook\n";
    assert_eq!(desk.ask(Method::POST, "/1/leads", Some(json!({"csv": csv}))).await.0, 200);
    desk.keep("heuristic", "tone", "Warm").await;
    desk.keep("heuristic", "tone", "Cold").await;
    desk.check().await;
    let before = desk.get("/1/export").await;
    let state = &before["state"];
    assert_eq!(state["leads"][1]["attributes"], json!({"title": "Cook"}), "{before}");
    assert_eq!((&state["artifacts"][0]["content"], &state["artifacts"][1]["version"]), (&json!("Warm"), &json!(2)), "{before}");
    desk.app.rewrites("a lead is changed by hand");
    let statement = r#"UPDATE leads SET attributes = '{"title": "CTO"}' WHERE full_name = 'Bob'"#;
    desk.app.behind().await.execute(AssertSqlSafe(statement)).await.unwrap();
    let [tables, events] = [desk.get("/1/export?from=tables").await, desk.get("/1/export?from=events").await];
    assert_eq!(events, before);
    assert_ne!(tables["state"]["leads_sha256"], events["state"]["leads_sha256"]);
    assert_ne!(tables["state"]["leads"], events["state"]["leads"]);
}

#[tokio::test]
async fn campaign_request_has_the_audit_as_its_log() {
    let desk = Desk::start(json!([{"description": "Sum them", "requires": [
        {"kind": "script_succeeded", "artifact": "sum"},
        {"kind": "artifact_exists", "type": "heuristic", "key": "note"},
    ]}]))
    .await;
    desk.keep("js_script", "sum", "return 42").await;
    desk.keep("file", "people", "full_name,profile_url\n").await;
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "script", "count": 1, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    let run = json!({"task": 1, "tool": "run_script", "arguments": {"script": "sum", "files": ["people"]}});
    desk.app.script([
        call("x\n===\n## Rules", json!({})),
        text("All is done."),
        call("execute_tool", run),
        call("no_op", json!({"task": 1, "why": "enough"})),
    ]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let shown = desk.snapshot();
    let log = shown.split_once("\n## Log, the newest last\n===\n").unwrap().1;
    let log: Vec<_> = log.split("\n===\n").next().unwrap().lines().collect();
    let begins = [
        "file people version 1 was written, by user",
        "x = = = ## Rules {}: refused (",
        "answer refused: ",
        "answer refused: your answer made no proposal",
        "js_script sum version 1 ran well, read file people version 1",
        "execute_tool {\"arguments\":",
    ];
    assert!(log.len() == begins.len() && log.iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{log:#?}");
    assert!(log[5].ends_with(": done"), "{log:#?}");
    // The request is made again from the events alone.
    desk.check().await;
}
