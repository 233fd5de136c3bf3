//! Campaigns, from their making to their end: a model that proposes well, badly and twice, a person
//! who approves, answers and goes away.

mod audited;
mod bounds;
mod broken;
mod browser;
mod canary;
mod capability;
mod checklist;
mod commands;
mod conditions;
mod contexts;
mod copying;
mod cost;
mod cut;
mod eight_kinds;
mod files;
mod hostile;
mod lifecycle;
mod logged;
mod made;
mod narrated;
mod older_calls;
mod one_cycle;
mod overtaken;
mod plans;
mod python;
mod python_install;
mod python_reach;
mod ranking;
mod reasons;
mod refused;
mod script_bounds;
mod script_reach;
mod scripts;
mod shown;
mod start_check;
mod state;
mod swept;
mod turns;
mod two_servers;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor;

use crate::support::{Reply, TestApp, api, call, calls, text};

/// A campaign of two tasks, started, with somebody there.
struct Desk {
    app: TestApp,
}

impl Desk {
    /// Makes a campaign with these tasks, and starts it. Nobody is there yet.
    async fn start(tasks: Value) -> Self {
        Self::start_on(TestApp::start().await, tasks).await
    }

    /// The same on this server.
    async fn start_on(app: TestApp, tasks: Value) -> Self {
        let desk = Self { app };
        let (status, made) = desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": tasks}))).await;
        assert_eq!((status, &made["id"]), (200, &json!(1)), "{made}");
        desk.app.script([text("ready")]);
        let (status, started) = desk.ask(Method::POST, "/1/start", None).await;
        assert_eq!((status, &started["status"]), (200, &json!("active")), "{started}");
        desk
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        api::ask(&self.app, method, &format!("/api/campaigns{path}"), body).await
    }

    async fn get(&self, path: &str) -> Value {
        let (status, found) = self.ask(Method::GET, path, None).await;
        assert_eq!(status, 200, "{found}");
        found
    }

    async fn present(&self) {
        assert_eq!(self.ask(Method::POST, "/1/present", None).await.0, 200);
    }

    /// Waits for the one approval, and gives it.
    async fn asked(&self) -> Value {
        self.app.until("SELECT count(*) FROM approvals WHERE state = 'pending'", 1).await;
        let (_, found) = api::ask(&self.app, Method::GET, "/api/approvals?state=pending", None).await;
        found["approvals"][0].clone()
    }

    async fn decide(&self, approval: &Value, deed: &str) {
        let path = format!("/api/approvals/{}/{deed}", approval["id"]);
        let (status, told) = api::ask(&self.app, Method::POST, &path, None).await;
        assert_eq!(status, 200, "{told}");
    }

    /// The state from tables and from events has the same bytes, and every cycle can be made again.
    async fn check(&self) {
        let [tables, events] = [self.get("/1/export?from=tables").await, self.get("/1/export?from=events").await];
        assert_eq!(tables.to_string(), events.to_string());
        let [tables, events] = [self.get("/1/state").await, self.get("/1/state?from=events").await];
        assert_eq!(tables.to_string(), events.to_string());
        let (_, verified) = self.ask(Method::POST, "/1/verify", None).await;
        assert_eq!(verified["clean"], true, "{verified}");
        self.app.check_replay().await;
    }
}

fn note() -> Value {
    json!({"task": 1, "type": "heuristic", "key": "note", "content": "Be brief"})
}

fn two_tasks() -> Value {
    json!([
        {"description": "Keep a note", "requires": [{"kind": "artifact_exists", "type": "heuristic", "key": "note"}]},
        {"description": "Draft a message", "preconditions": [{"kind": "task_done", "nth": 1}],
         "requires": [{"kind": "artifact_exists", "type": "message", "key": "hello"}, {"kind": "user_answered", "question": "tone"}]},
    ])
}

#[tokio::test]
async fn campaign_ends_completed_although_the_model_talks_junk_and_all_messages_are_gone() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([
        text("I have done everything. The campaign is complete."),
        calls(&[("persist_artifact", note()), ("persist_artifact", note())]),
        call("persist_artifact", note()),
    ]);
    desk.present().await;
    let approval = desk.asked().await;
    assert!(approval["shown"]["what"][1].as_str().unwrap().starts_with("Keeps the heuristic note"), "{approval}");
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 0, "nothing is kept before a person says so");
    desk.app.script([call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}))]);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!(shown["tasks"][0]["status"], "done", "{shown}");
    assert!(shown["campaign"]["waits_for"].as_str().unwrap().contains("the question tone waits for an answer"), "{shown}");
    desk.check().await;
    let (_, told) = desk.ask(Method::POST, "/1/forget-chat", None).await;
    assert!(told["told"].as_str().unwrap().ends_with("messages are forgotten."), "{told}");
    assert_eq!(desk.app.count("SELECT count(*) FROM messages").await, 0);
    desk.check().await;

    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "persist", "type": "message", "count": 1, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    desk.app.script([call("generate_message", json!({"task": 2, "key": "hello", "text": "Good day"}))]);
    let answer = json!({"task": 2, "question": "tone", "answer": "Formal"});
    assert_eq!(desk.ask(Method::POST, "/1/answer", Some(answer)).await.0, 200);
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!(shown["campaign"]["status"], "completed", "{shown}");
    assert_eq!(shown["contexts"][0]["uses_left"], 0, "{shown}");
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts WHERE version = 1 AND source = 'agent'").await, 2);
    assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'proposal_refused'").await, 2);
    for request in desk.app.script.requests().iter().skip(1) {
        assert_eq!(
            (request.entries.len(), request.tools.len(), request.must_call),
            (2, 8, true),
            "rules and snapshot, no message"
        );
    }
    desk.check().await;
    assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 409);
}

#[tokio::test]
async fn campaign_rests_while_nobody_is_there_and_asks_no_model() {
    let desk = Desk::start(two_tasks()).await;
    let waits = desk.get("/1").await;
    assert!(waits["campaign"]["waits_for"].as_str().unwrap().contains("nobody is there"), "{waits}");
    desk.app.clock.advance(chrono::TimeDelta::minutes(10));
    assert_eq!(desk.app.script.requests().len(), 1, "only the check of the start asked");
    assert_eq!(desk.app.count("SELECT count(*) FROM turns").await, 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_begins_a_cycle_by_a_present_frame_and_shows_itself_in_frames() {
    let desk = Desk::start(two_tasks()).await;
    let conversation = desk.get("/1").await["campaign"]["conversation_id"].clone();
    let mut page = desk.app.connect().await;
    page.send(json!({"type": "present", "campaign": 7})).await;
    let refused = page.until(|frame| frame["type"] == "error").await.pop().unwrap();
    assert!(refused["content"].as_str().unwrap().contains("campaign 7"), "{refused}");
    assert_eq!(desk.app.count("SELECT count(*) FROM turns").await, 0, "nobody is there for campaign 1");

    desk.app.script([call("persist_artifact", note())]);
    page.send(json!({"type": "present", "campaign": 1})).await;
    page.until(|frame| frame["type"] == "changed" && frame["list"] == "campaigns").await;
    let approval = desk.asked().await;
    assert_eq!(desk.get("/1").await["watched"], true);
    page.send(json!({"type": "resume", "after": 0, "conversation": conversation})).await;
    desk.app.script([call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}))]);
    desk.decide(&approval, "approve").await;
    let frames = page.until(|frame| frame["type"] == "campaign_task" && frame["task"]["status"] == "done").await;
    let artifact = frames.iter().find(|frame| frame["type"] == "artifact").expect("the artifact is shown");
    let shown = &artifact["artifact"];
    assert_eq!(
        (&shown["artifact_key"], &shown["version"], shown.get("content")),
        (&json!("note"), &json!(1), None),
        "{artifact}"
    );
    let all = page.until(|frame| frame["type"] == "campaign" && frame["campaign"]["waits_for"].is_string()).await;
    assert!(all.last().unwrap()["seq"].is_i64(), "it is recorded");
    desk.app.run_until_idle().await;
    desk.ask(Method::POST, "/1/leads", Some(json!({"csv": "full_name,profile_url\nAda,https://example.com/ada\n"}))).await;
    let lead = page.until(|frame| frame["type"] == "lead").await.pop().unwrap();
    assert_eq!((&lead["count"], &lead["leads"][0]["full_name"]), (&json!(1), &json!("Ada")), "{lead}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_pause_drops_the_answer_that_was_under_way_and_voids_contexts() {
    let desk = Desk::start(two_tasks()).await;
    let (_, paused) = desk.ask(Method::POST, "/1/pause", None).await;
    assert_eq!(paused["reason"], "paused by a person", "no cycle was under way");
    assert_eq!(desk.ask(Method::POST, "/1/resume", None).await.0, 200);
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    desk.ask(Method::POST, "/1/contexts", Some(json!({"kind": "persist", "count": 2, "until": until}))).await;
    desk.app.script([Reply::Hang(String::new())]);
    desk.present().await;
    desk.app.script.asked(2).await;
    let (status, paused) = desk.ask(Method::POST, "/1/pause", None).await;
    assert_eq!((status, &paused["status"]), (200, &json!("paused")), "{paused}");
    let why = "paused by a person; the cycle that was under way was dropped, and does not count";
    assert_eq!(paused["reason"], why, "{paused}");
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["contexts"][0]["void"], true);
    desk.app.script([call("persist_artifact", note())]);
    assert_eq!(desk.ask(Method::POST, "/1/resume", None).await.0, 200);
    let approval = desk.asked().await;
    desk.decide(&approval, "deny").await;
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert!(shown["campaign"]["waits_for"].as_str().unwrap().contains("brought nothing"), "{shown}");
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_artifacts_cannot_be_changed_even_behind_the_program() {
    let desk = Desk::start(two_tasks()).await;
    let keep = json!({"type": "context", "key": "campaign_context", "content": "Sell"});
    assert_eq!(desk.ask(Method::POST, "/1/artifacts", Some(keep)).await.0, 200);
    for statement in
        ["UPDATE artifacts SET content = 'x'", "DELETE FROM artifacts", "TRUNCATE artifacts", "TRUNCATE campaigns CASCADE"]
    {
        let refused = desk.app.behind().await.execute(sqlx::AssertSqlSafe(statement)).await.unwrap_err().to_string();
        assert!(refused.contains("artifacts are never changed or removed: keep a new version"), "{statement}: {refused}");
    }
    let rights = "SELECT count(*) FROM pg_class c, unnest(ARRAY['UPDATE', 'DELETE']) AS given (right_to)
        WHERE c.oid = 'artifacts'::regclass AND has_table_privilege(c.relowner, c.oid, right_to)";
    assert_eq!(desk.app.count(rights).await, 0, "the program's own login has neither right");
    desk.check().await;
}

#[tokio::test]
async fn campaign_leads_are_scored_by_a_config_that_was_kept() {
    let desk = Desk::start(two_tasks()).await;
    let csv = "full_name,profile_url,title\nAda,https://x.example/a,CTO\nBob,https://x.example/b,Cook\n";
    let (_, told) = desk.ask(Method::POST, "/1/leads", Some(json!({"csv": csv}))).await;
    assert_eq!(told["told"], "2 leads are new, 0 were changed.");
    let (status, refused) = desk.ask(Method::POST, "/1/leads", Some(json!({"csv": "full_name,profile_url\n,x\n"}))).await;
    assert_eq!(status, 400, "{refused}");
    let config = r#"{"rules": [{"attribute": "title", "equals": "cto", "weight": 7}]}"#;
    let keep = json!({"type": "lead_scoring_config", "key": "scores", "content": config});
    assert_eq!(desk.ask(Method::POST, "/1/artifacts", Some(keep)).await.0, 200);
    let leads = desk.get("/1/leads").await;
    assert_eq!((&leads["leads"][0]["full_name"], &leads["leads"][0]["weight_score"]), (&json!("Ada"), &json!(7)), "{leads}");
    let by = async || {
        let scored = desk.get("/1/leads").await["leads"][0]["scored"].clone();
        (scored["key"].clone(), scored["version"].clone())
    };
    assert_eq!(by().await, (json!("scores"), json!(1)));

    // A column that the file does not have leaves what is there, and the score with it.
    let csv = "full_name,profile_url,town\nAda L.,HTTPS://x.example/a,London\nBob,https://x.example/b,\n";
    let (_, told) = desk.ask(Method::POST, "/1/leads", Some(json!({"csv": csv}))).await;
    assert_eq!(told["told"], "0 leads are new, 2 were changed.");
    let csv = "full_name,profile_url\nAda L.,https://x.example/a\n";
    let (_, told) = desk.ask(Method::POST, "/1/leads", Some(json!({"csv": csv}))).await;
    assert_eq!(told["told"], "0 leads are new, 0 were changed.");
    let ada = desk.get("/1/leads").await["leads"][0].clone();
    assert_eq!((&ada["full_name"], &ada["weight_score"]), (&json!("Ada L."), &json!(7)), "{ada}");
    assert_eq!(ada["attributes"], json!({"title": "CTO", "town": "London"}));
    let other = json!({"type": "lead_scoring_config", "key": "other", "content": config});
    assert_eq!(desk.ask(Method::POST, "/1/artifacts", Some(other)).await.0, 200);
    assert_eq!(by().await, (json!("other"), json!(1)), "two configs have a first version");
    desk.check().await;
}

#[tokio::test]
async fn campaign_orders_that_do_not_fit_are_refused_with_a_sentence() {
    let desk = Desk::start(two_tasks()).await;
    for (path, body, status, told) in [
        ("", json!({"name": ""}), 400, "name: has to have"),
        (
            "",
            json!({"name": "x", "tasks": [{"description": "d", "requires": [{"kind": "luck"}]}]}),
            400,
            "tasks[0].requires[0]: `luck` is not known; the kinds are",
        ),
        ("/9/start", json!({}), 404, "there is no campaign 9"),
        ("/1/start", json!({}), 409, "campaign 1 is active; `start` is for one that is initializing"),
        ("/1/tasks/99", json!({"deed": "finish"}), 404, "campaign 1 has no task 99"),
        ("/1/tasks/1", json!({"deed": "finish"}), 409, "has required effects"),
        ("/1/tasks/1", json!({"deed": "block"}), 400, "reason: is empty"),
        ("/1/answer", json!({"task": 1, "question": "q", "answer": "a"}), 404, "has no question q"),
        ("/1/artifacts", json!({"type": "heuristic", "key": "A B", "content": "x"}), 400, "is no key"),
        ("/1/contexts", json!({"kind": "persist", "count": 51, "until": "2026-11-20T09:00:00Z"}), 400, "1 to 50"),
        (
            "/1/contexts",
            json!({"kind": "persist", "count": 1, "until": "yesterday"}),
            400,
            "until: expected a time like 2026-11-30T09:00:00Z, not `yesterday`",
        ),
        (
            "/1/tasks",
            json!({"description": "d", "preconditions": [{"kind": "after", "time": "soon"}]}),
            400,
            "preconditions[0]: time: expected a time like 2026-11-30T09:00:00Z, not `soon`",
        ),
    ] {
        if path == "/1/start" {
            desk.app.script([text("ready")]);
        }
        let (got, refused) = desk.ask(Method::POST, path, Some(body)).await;
        assert!(got == status && refused["error"].as_str().unwrap().contains(told), "{path}: {got} {refused}");
    }
    let vocabulary = desk.get("/vocabulary").await;
    assert_eq!(vocabulary["proposals"].as_array().unwrap().len(), 8);
    assert!(!vocabulary.to_string().contains("$ref") && !vocabulary.to_string().contains("oneOf"), "{vocabulary}");
}
