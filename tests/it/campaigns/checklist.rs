//! The five invariants and the fifteen lines of the controller's checklist, a story each.
//! docs/campaigns.md names them, and a test counts them.

use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor};

use super::{Desk, note, two_tasks};
use crate::support::{Reply, call, calls, text};

/// A campaign of one task, which wants a note.
fn one_task() -> Value {
    json!([{"description": "Keep a note", "requires": [{"kind": "artifact_exists", "type": "heuristic", "key": "note"}]}])
}

fn keeps() -> Reply {
    call("persist_artifact", note())
}

impl Desk {
    /// A campaign of one task, in which the model has given these answers and nothing waits for a
    /// decision.
    async fn answered(replies: impl IntoIterator<Item = Reply>) -> Self {
        let desk = Self::start(one_task()).await;
        desk.app.script(replies);
        desk.present().await;
        desk.app.run_until_idle().await;
        desk
    }

    /// The payloads of the events of a kind.
    async fn events(&self, kind: &str) -> Vec<Value> {
        let events = self.get(&format!("/1/log?log=events&kind={kind}")).await;
        events.as_array().unwrap().iter().map(|event| event["payload"].clone()).collect()
    }

    async fn order(&self, path: &str, body: Value) -> Value {
        let (status, told) = self.ask(Method::POST, path, Some(body)).await;
        assert_eq!(status, 200, "{path}: {told}");
        told
    }

    /// Lets so many deeds of a kind pass without a question.
    async fn allow(&self, kind: &str, of: Option<&str>, count: u32) {
        let until = (self.app.now() + TimeDelta::hours(1)).to_rfc3339();
        self.order("/1/contexts", json!({"kind": kind, "type": of, "count": count, "until": until})).await;
    }

    async fn kept(&self) -> i64 {
        self.app.count("SELECT count(*) FROM artifacts").await
    }

    async fn status(&self) -> Value {
        self.get("/1").await["campaign"]["status"].clone()
    }
}

#[tokio::test]
async fn campaign_invariant_1_no_side_effect_without_a_log_entry() {
    let mut desk = Desk::start(two_tasks()).await;
    let mut behind = desk.app.behind().await;
    for statement in [
        "CREATE FUNCTION level3.lose_the_log() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''the log is full''; END'",
        "CREATE TRIGGER lose_the_log BEFORE INSERT ON level3.events FOR EACH ROW EXECUTE FUNCTION level3.lose_the_log()",
    ] {
        behind.execute(AssertSqlSafe(statement)).await.unwrap();
    }
    let effects =
        "SELECT (SELECT count(*) FROM artifacts) + (SELECT count(*) FROM leads) + (SELECT count(*) FROM campaign_tasks)";
    let before = desk.app.count(effects).await;
    let orders = [
        ("/1/artifacts", json!({"type": "context", "key": "campaign_context", "content": "Sell"})),
        ("/1/leads", json!({"csv": "full_name,profile_url\nAda,https://x.example/a\n"})),
        ("/1/tasks", json!({"description": "More"})),
    ];
    for (path, order) in &orders {
        let (status, told) = desk.ask(Method::POST, path, Some(order.clone())).await;
        assert_eq!(status, 503, "{path}: {told}");
    }
    assert_eq!(desk.app.count(effects).await, before, "an effect that cannot be logged is not there");
    behind.execute("DROP TRIGGER lose_the_log ON level3.events").await.unwrap();
    for (path, order) in orders {
        desk.order(path, order).await;
    }
    assert_eq!(desk.app.count(effects).await, before + 3);
    desk.allow("persist", Some("heuristic"), 1).await;
    desk.proposals_leave_nothing_without_a_log(keeps()).await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_invariant_2_no_task_status_changes_without_verified_effects() {
    let desk = Desk::answered([text("Task 1 is done."), text("It is done."), text("Done, done, done.")]).await;
    assert_eq!(desk.get("/1").await["tasks"][0]["status"], "pending", "words change nothing");
    let (status, told) = desk.ask(Method::POST, "/1/tasks/1", Some(json!({"deed": "finish"}))).await;
    assert!(status == 409 && told.to_string().contains("has required effects"), "nor does a person: {told}");
    desk.allow("persist", None, 1).await;
    desk.app.advance(1);
    desk.app.script([keeps()]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let done = desk.events("campaign_task_changed").await;
    let done: Vec<_> = done.iter().filter(|event| event["task"]["status"] == "done").collect();
    let kept: i64 = desk.app.count("SELECT sequence FROM events WHERE kind = 'artifact_kept'").await;
    assert_eq!(done.len(), 1);
    assert!(done[0].to_string().contains(&kept.to_string()), "the evidence is the event that kept it, {kept}: {}", done[0]);
    desk.check().await;
}

#[tokio::test]
async fn campaign_invariant_3_no_tool_runs_without_the_controller() {
    let desk = Desk::answered([
        call("execute_sql", json!({"query": "DELETE FROM level3.campaign_tasks"})),
        call("write_capability", json!({"name": "x", "description": "x", "code": "export default () => 1"})),
        call("restart", json!({"mode": "full"})),
    ])
    .await;
    let offered = desk.app.script.requests().pop().unwrap();
    assert_eq!(offered.tools.len(), 8, "nothing but the eight proposals is offered");
    assert_eq!(desk.events("proposal_refused").await.len(), 3);
    for (what, query) in [
        ("tools that ran", "SELECT count(*) FROM tool_calls WHERE state = 'done'"),
        ("operations", "SELECT count(*) FROM operations"),
        ("capabilities", "SELECT count(*) FROM capabilities"),
        ("tasks that are gone", "SELECT 1 - count(*) FROM campaign_tasks"),
    ] {
        assert_eq!(desk.app.count(query).await, 0, "{what}");
    }
    desk.check().await;
}

#[tokio::test]
async fn campaign_invariant_4_state_is_loaded_anew_for_every_cycle() {
    let desk = Desk::answered([text("no"), text("no"), text("no")]).await;
    desk.order("/1/leads", json!({"csv": "full_name,profile_url\nAda,https://x.example/a\n"})).await;
    let folder = desk.app.data().join("campaigns/1/tasks.md");
    std::fs::write(&folder, "- [x] Keep a note: done, says this file").unwrap();
    desk.app.advance(1);
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let requests = desk.app.script.requests();
    let shown = |n: usize| format!("{:?}", requests[n].entries);
    assert!(!shown(1).contains("Ada") && shown(4).contains("Ada"), "the lead that came between two cycles: {}", shown(4));
    assert!(!shown(4).contains("says this file"), "no file is read: {}", shown(4));
    assert_eq!(desk.get("/1").await["tasks"][0]["status"], "pending");
    desk.check().await;
}

#[tokio::test]
async fn campaign_invariant_5_answers_are_validated_before_execution() {
    let mut confirmed = note();
    confirmed["confirmed"] = json!(true);
    let two = [("persist_artifact", note()), ("no_op", json!({"task": 1, "why": "x"}))];
    let desk =
        Desk::answered([call("persist_artifact", confirmed), calls(&two), call("persist_artifact", json!({"task": 7}))]).await;
    assert_eq!((desk.kept().await, desk.app.count("SELECT count(*) FROM approvals").await), (0, 0), "nobody is even asked");
    let refused = desk.events("proposal_refused").await;
    let why: Vec<_> = refused.iter().map(|event| event["why"].as_str().unwrap()).collect();
    assert!(
        why[0].contains("`confirmed` is not yours to give") && why[1].contains("2 proposals") && why[2].contains("missing field"),
        "{why:?}"
    );
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_01_state_is_loaded_fresh_at_the_start_of_every_cycle() {
    let mut desk = Desk::start(one_task()).await;
    desk.app.script([keeps()]);
    desk.present().await;
    let approval = desk.asked().await;
    desk.app.crash().await;
    desk.app.start_again().await;
    desk.decide(&approval, "deny").await;
    desk.app.run_until_idle().await;
    desk.app.advance(1);
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let asked = desk.events("cycle_asked").await;
    let upto: Vec<_> = asked.iter().map(|event| event["upto"].as_i64().unwrap()).collect();
    assert!(upto.len() == 2 && upto[0] < upto[1], "each request names the newest event of its state: {upto:?}");
    let denied = desk.app.count("SELECT max(sequence) FROM events WHERE kind = 'cycle_ended' AND sequence <= (SELECT max((payload ->> 'upto')::bigint) FROM events WHERE kind = 'cycle_asked')").await;
    assert!(denied > upto[0], "the second has what the first brought");
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_02_only_one_proposal_is_processed_in_a_cycle() {
    let two = || calls(&[("persist_artifact", note()), ("persist_artifact", note())]);
    let desk = Desk::answered([two(), two(), two()]).await;
    assert_eq!((desk.kept().await, desk.events("proposal_refused").await.len()), (0, 3), "of two none is carried out");
    desk.allow("persist", None, 5).await;
    desk.app.advance(1);
    desk.app.script([two(), keeps()]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let most = "SELECT max(n) FROM (SELECT count(*) AS n FROM tool_calls WHERE state = 'done' GROUP BY turn_id) AS t";
    assert_eq!((desk.kept().await, desk.app.count(most).await), (1, 1));
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_03_nothing_is_executed_without_a_validated_proposal() {
    let desk = Desk::answered([
        text("DELETE FROM artifacts"),
        text("{\"name\": \"persist_artifact\", \"arguments\": {\"task\": \"one\"}}"),
        call("execute_tool", json!({"task": 1, "tool": "shell", "arguments": {"command": "rm -rf /"}})),
    ])
    .await;
    assert_eq!(desk.app.count("SELECT count(*) FROM audit_entries WHERE outcome = 'done'").await, 0);
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals").await, 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_04_no_task_is_done_unless_all_its_effects_are_verified() {
    let requires = json!([{"kind": "artifact_exists", "type": "heuristic", "key": "note"},
        {"kind": "artifact_exists", "type": "heuristic", "key": "other"}]);
    let desk = Desk::start(json!([{"description": "Keep two notes", "requires": requires}])).await;
    desk.allow("persist", None, 2).await;
    desk.app.script([keeps(), call("no_op", json!({"task": 1, "why": "all is done"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["tasks"][0]["status"], "in_progress", "one of two");
    desk.app.advance(1);
    let mut other = note();
    other["key"] = json!("other");
    desk.app.script([call("persist_artifact", other)]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert_eq!((desk.get("/1").await["tasks"][0]["status"].clone(), desk.status().await), (json!("done"), json!("completed")));
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_05_no_task_is_skipped_unless_it_is_blocked() {
    let desk = Desk::start(two_tasks()).await;
    let skips = || call("generate_message", json!({"task": 2, "key": "hello", "text": "Good day"}));
    desk.app.script([skips(), skips(), skips()]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let refused = desk.events("proposal_refused").await;
    assert!(refused[0]["why"].as_str().unwrap().contains("it begins when task 1 is done"), "{refused:?}");
    let (status, told) = desk.ask(Method::POST, "/1/tasks/1", Some(json!({"deed": "block", "reason": ""}))).await;
    assert_eq!(status, 400, "{told}");
    desk.order("/1/tasks/1", json!({"deed": "block", "reason": "not needed"})).await;
    let shown = desk.get("/1").await;
    assert_eq!(
        (&shown["tasks"][0]["status"], &shown["tasks"][0]["metadata"]["reason"]),
        (&json!("blocked"), &json!("not needed")),
        "{shown}"
    );
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_06_the_model_does_not_change_a_task() {
    let mut status = note();
    status["status"] = json!("done");
    let desk = Desk::answered([
        call("persist_artifact", status),
        call("select_next_task", json!({"task": 1, "status": "done"})),
        call("create_task", json!({"why": "x", "description": "x", "status": "done"})),
    ])
    .await;
    let refused = desk.events("proposal_refused").await;
    assert!(
        refused.len() == 3 && refused.iter().all(|event| event.to_string().contains("`status` is not yours to give")),
        "{refused:?}"
    );
    assert_eq!(desk.app.count("SELECT count(*) FROM campaign_tasks WHERE status = 'pending'").await, 1);
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_07_nothing_is_kept_unless_a_person_asked_for_it_or_confirmed_it() {
    let desk = Desk::start(one_task()).await;
    desk.app.script([keeps()]);
    desk.present().await;
    let approval = desk.asked().await;
    assert_eq!(desk.kept().await, 0, "it waits for a person");
    desk.decide(&approval, "deny").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.kept().await, 0, "a person refused it");
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.order("/1/artifacts", json!({"type": "heuristic", "key": "mine", "content": "Asked for"})).await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts WHERE source = 'user'").await, 1);
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_08_proposals_to_keep_need_an_approval_context() {
    let desk =
        Desk::start(json!([{"description": "Keep notes", "requires": [{"kind": "user_answered", "question": "enough"}]}])).await;
    desk.allow("persist", Some("message"), 5).await;
    desk.allow("persist", Some("heuristic"), 1).await;
    let key = |key: &str| call("persist_artifact", json!({"task": 1, "type": "heuristic", "key": key, "content": "Be brief"}));
    desk.app.script([key("one"), key("two")]);
    desk.present().await;
    let approval = desk.asked().await;
    assert_eq!(desk.kept().await, 1, "the context holds for one of its type, and asks for the next");
    let contexts = desk.get("/1").await["contexts"].clone();
    assert_eq!((&contexts[0]["uses_left"], &contexts[1]["uses_left"]), (&json!(5), &json!(0)), "{contexts}");
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.kept().await, 2);
    assert_eq!(
        desk.app.count("SELECT count(*) FROM artifacts WHERE approval_id IS NOT NULL").await,
        1,
        "by an approval, and by a context"
    );
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_09_artifacts_are_typed_and_attributed() {
    let desk = Desk::start(one_task()).await;
    let (status, told) =
        desk.ask(Method::POST, "/1/artifacts", Some(json!({"type": "secret", "key": "k", "content": "x"}))).await;
    assert!(status == 400 && told.to_string().contains("secret"), "{told}");
    desk.order("/1/artifacts", json!({"type": "context", "key": "campaign_context", "content": "Sell"})).await;
    desk.allow("persist", None, 1).await;
    desk.app.script([keeps()]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let found: Vec<(String, String, bool)> =
        sqlx::query_as("SELECT artifact_type, source, step_id IS NOT NULL FROM artifacts ORDER BY id")
            .fetch_all(&mut desk.app.behind().await)
            .await
            .unwrap();
    let wanted =
        [("context", "user", false), ("heuristic", "agent", true)].map(|(kind, by, step)| (kind.to_owned(), by.to_owned(), step));
    assert_eq!(found, wanted);
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_10_every_tool_call_has_an_audit_entry() {
    let desk = Desk::answered([
        call("execute_tool", json!({"task": 1, "tool": "shell"})),
        call("execute_tool", json!({"task": 1, "tool": "score_leads"})),
        call("no_op", json!({"task": 1, "why": "enough"})),
    ])
    .await;
    let calls = desk.app.count("SELECT count(*) FROM tool_calls").await;
    assert!(calls >= 3, "{calls}");
    let without = "SELECT count(*) FROM tool_calls k WHERE NOT EXISTS (
        SELECT FROM audit_log l WHERE l.campaign_id = 1 AND l.id LIKE 'call %' AND (l.payload ->> 'call')::bigint = k.tool_call_id)";
    assert_eq!(desk.app.count(without).await, 0, "refused ones have a line, too");
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_11_every_change_of_the_database_has_an_event() {
    let desk = Desk::start(two_tasks()).await;
    let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
    let logged = "SELECT count(*) FROM event_log WHERE campaign_id = 1";
    let mut before = desk.app.count(logged).await;
    for (path, order) in [
        ("/1/artifacts", json!({"type": "context", "key": "campaign_context", "content": "Sell"})),
        ("/1/leads", json!({"csv": "full_name,profile_url\nAda,https://x.example/a\n"})),
        ("/1/leads/status", json!({"lead": 1, "status": "qualified"})),
        ("/1/contexts", json!({"kind": "persist", "count": 1, "until": until})),
        ("/1/tasks", json!({"description": "More"})),
        ("/1/tasks/1", json!({"deed": "block", "reason": "later"})),
        ("/1/tasks/1", json!({"deed": "unblock"})),
        ("/1/pause", json!({})),
        ("/1/resume", json!({})),
    ] {
        desk.order(path, order).await;
        let now = desk.app.count(logged).await;
        assert!(now > before, "{path} has no event");
        before = now;
        let [tables, events] = [desk.get("/1/export?from=tables").await, desk.get("/1/export?from=events").await];
        assert_eq!(tables.to_string(), events.to_string(), "{path}");
    }
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_12_logs_are_written_even_if_the_answer_is_invalid() {
    let desk = Desk::answered([text("junk one"), call("persist_artifact", json!([])), text("junk three")]).await;
    let audit = desk.get("/1/log?log=audit&kind=answer%20refused").await;
    assert_eq!(audit.as_array().unwrap().len(), 3, "{audit}");
    let said = "SELECT count(*) FROM messages WHERE content IN ('junk one', 'junk three')";
    assert_eq!((desk.events("proposal_refused").await.len(), desk.app.count(said).await), (3, 2), "with each answer as it was");
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_13_an_answer_has_the_schema_exactly() {
    let mut extra = note();
    extra["mood"] = json!("good");
    let mut number = note();
    number["content"] = json!(7);
    let desk =
        Desk::answered([call("persist_artifact", extra), call("persist_artifact", number), call("save_note", note())]).await;
    let refused = desk.events("proposal_refused").await;
    for (n, fault) in ["unknown field `mood`", "invalid type", "save_note"].into_iter().enumerate() {
        assert!(refused[n]["why"].as_str().unwrap().contains(fault), "{fault}: {}", refused[n]);
    }
    assert_eq!(desk.kept().await, 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_14_an_invalid_answer_is_asked_for_again_and_never_half_executed() {
    let desk = Desk::answered([text("no"), text("no"), text("no")]).await;
    let ended = desk.events("cycle_ended").await;
    let came = ended[0]["came"].as_str().unwrap();
    assert!(ended.len() == 1 && came.starts_with("3 bad answers") && !came.contains("your answer"), "{ended:?}");
    assert_eq!((desk.kept().await, desk.status().await), (0, json!("active")), "a bad model ends no campaign");
    desk.allow("persist", None, 1).await;
    desk.app.advance(1);
    desk.app.script([call("persist_artifact", json!({"task": 1})), keeps()]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert_eq!((desk.kept().await, desk.status().await), (1, json!("completed")), "asked again, in the same cycle");
    desk.check().await;
}

#[tokio::test]
async fn campaign_checklist_15_the_memory_of_the_model_is_never_trusted() {
    let desk = Desk::answered([
        text("I remember that the person approved everything, and that the note is kept."),
        text("As I said before, task 1 is done."),
        text("Remember: the word of the day is xyzzy."),
    ])
    .await;
    desk.order("/1/forget-chat", json!({})).await;
    assert_eq!(desk.app.count("SELECT count(*) FROM messages").await, 0);
    desk.app.advance(1);
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    for request in desk.app.script.requests() {
        let shown = format!("{:?}", request.entries);
        assert!(!["I remember", "As I said", "xyzzy"].iter().any(|said| shown.contains(said)), "{shown}");
    }
    assert_eq!(desk.get("/1").await["tasks"][0]["status"], "pending");
    desk.check().await;
}

/// The text of all Rust files of a folder.
fn sources(folder: &Path) -> String {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: PathBuf| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(ending) if ending == "rs" => std::fs::read_to_string(&path).unwrap(),
        _ => String::new(),
    };
    paths.map(text).collect()
}

/// The names in the last cells of the tables whose last column is the test.
fn named_in_tables(document: &str) -> Vec<&str> {
    let (mut names, mut of_tests) = (Vec::new(), false);
    for line in document.lines() {
        of_tests = line.starts_with('|') && (of_tests || line.ends_with("| test |"));
        let cell = line.trim_end_matches(" |").rsplit(" | ").next().filter(|_| of_tests);
        names.extend(cell.into_iter().flat_map(|cell| cell.split('`').skip(1).step_by(2)));
    }
    names
}

/// The document names each of these stories in its tables, and no story that is not there.
#[test]
fn campaign_document_names_a_test_for_each_invariant_and_each_line_of_the_checklist() {
    let document = include_str!("../../../docs/campaigns.md");
    let named = named_in_tables(document);
    let words = document.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let in_words = words.filter(|word| word.starts_with("campaign") && word.matches('_').count() > 3);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let stories = sources(&root.join("tests/it/campaigns"));
    let all = sources(&root.join("tests")) + &sources(&root.join("src"));
    for name in named.iter().copied().chain(in_words) {
        let tests = if name.starts_with("campaign") { &stories } else { &all };
        assert!(tests.contains(&format!("fn {name}(")), "no test has the name {name}");
    }
    let count = |prefix: &str| named.iter().filter(|name| name.starts_with(prefix)).count();
    assert_eq!((count("campaign_invariant_"), count("campaign_checklist_")), (5, 15));
}
