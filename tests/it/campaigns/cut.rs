//! Cycles that are cut: by the end of their time, a stop or a pause. All that was under way is
//! recorded, and after the end of the time the next cycle waits, with the reason.

use chrono::{DateTime, TimeDelta, Utc};
use level3::domain::{Budget, Budgets, ConversationId, Failure, Mode, Origin, TurnId};
use level3::store::Lease;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor;

use super::scripts::wants;
use super::{Desk, two_tasks};
use crate::operations::Held;
use crate::support::{Reply, call, text};

/// How many calls have begun outside the database.
pub(super) const BEGUN: &str = "SELECT count(*) FROM events WHERE kind = 'call_begun'";

impl Desk {
    /// Gives each cycle so many seconds.
    pub(super) async fn gives_each_cycle(&self, seconds: u64) {
        let turn = Budget { wall_seconds: Some(seconds), ..Budget::default() };
        let (budgets, now) = (Budgets { turn, ..Budgets::default() }, self.app.now());
        self.app.store().set_profile_policy("campaign", Mode::Auto, false, &budgets, now).await.unwrap();
    }

    /// Gives all cycles together so many tokens.
    async fn gives_all_cycles(&self, tokens: u64) {
        let conversation = Budget { tokens: Some(tokens), ..Budget::default() };
        let (budgets, now) = (Budgets { conversation, ..Budgets::default() }, self.app.now());
        self.app.store().set_profile_policy("campaign", Mode::Auto, false, &budgets, now).await.unwrap();
    }

    /// A person stops the first cycle that is stopped.
    pub(super) async fn stop(&self) {
        let conversation = self.get("/1").await["campaign"]["conversation_id"].clone();
        let mut page = self.app.connect().await;
        page.send(json!({"type": "resume", "after": 0, "conversation": conversation})).await;
        page.send(json!({"type": "stop", "conversation": conversation})).await;
        page.until(|frame| frame["type"] == "turn" && frame["state"] == "aborted").await;
    }

    async fn campaign(&self) -> Value {
        self.get("/1").await["campaign"].clone()
    }

    /// The cycle under way, as its worker holds it.
    pub(super) async fn held(&self) -> Lease {
        let held = "SELECT turn_id, conversation_id, fence FROM turns WHERE origin = 'cycle'";
        let held = sqlx::query_as::<_, (i64, i64, i64)>(held).fetch_one(&mut self.app.behind().await).await.unwrap();
        let (turn, conversation) = (TurnId(held.0), ConversationId(held.1));
        let (profile, origin) = ("campaign".to_owned(), Origin::Cycle);
        Lease { turn, conversation, profile, fence: held.2, origin, takes: 5 }
    }

    /// The lines of a kind in the audit.
    pub(super) async fn audit(&self, kind: &str) -> Vec<Value> {
        let lines = self.get(&format!("/1/log?log=audit&kind={kind}")).await;
        lines.as_array().unwrap().iter().map(|line| line["payload"].clone()).collect()
    }
}

pub(super) fn runs() -> Reply {
    let arguments = json!({"script": "sum", "input": {"a": 1}, "files": ["people"]});
    call("execute_tool", json!({"task": 1, "tool": "run_script", "arguments": arguments}))
}

#[tokio::test]
async fn campaign_cycle_whose_time_is_over_says_why_and_the_next_one_waits_longer_each_time() {
    let desk = Desk::start(two_tasks()).await;
    desk.gives_each_cycle(3).await;
    desk.app.script([Reply::Hang(String::new())]);
    desk.present().await;
    for (cycle, wait) in [(1, 1), (2, 2), (3, 4)] {
        desk.app.script.asked(1 + cycle).await;
        desk.app.advance(3);
        desk.app.run_until_idle().await;
        let campaign = desk.campaign().await;
        assert_eq!((&campaign["cycles"], &campaign["idle_cycles"]), (&json!(cycle), &json!(cycle)), "{campaign}");
        let waits = campaign["waits_for"].as_str().unwrap();
        assert!(waits.contains("this turn has worked for 3 seconds; the limit is 3"), "{waits}");
        let next: DateTime<Utc> = campaign["next_at"].as_str().unwrap().parse().unwrap();
        assert_eq!(next, desk.app.now() + TimeDelta::seconds(wait), "{campaign}");
        // A sign of presence begins nothing before that.
        desk.present().await;
        assert_eq!(desk.app.script.requests().len(), 1 + cycle);
        let rests = call("no_op", json!({"task": 1, "why": "enough"}));
        desk.app.script([if cycle == 3 { rests } else { Reply::Hang(String::new()) }]);
        desk.app.advance(wait);
        desk.present().await;
    }
    desk.app.run_until_idle().await;
    assert_eq!(desk.audit("no%20answer").await.len(), 3);
    assert_eq!(desk.campaign().await["no_answer"], Value::Null, "the model has answered");
    desk.check().await;
}

#[tokio::test]
async fn campaign_whose_one_cycle_runs_out_of_time_is_paused_at_once_and_says_so() {
    let desk = Desk::start(two_tasks()).await;
    desk.gives_each_cycle(3).await;
    assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 200);
    desk.present().await;
    desk.app.script([Reply::Hang(String::new())]);
    assert_eq!(desk.ask(Method::POST, "/1/cycle", None).await.0, 200);
    desk.app.script.asked(2).await;
    desk.app.advance(3);
    desk.app.run_until_idle().await;
    let campaign = desk.campaign().await;
    assert_eq!((&campaign["status"], &campaign["cycles"]), (&json!("paused"), &json!(1)), "{campaign}");
    assert_eq!(campaign["cycles_left"], Value::Null, "{campaign}");
    let why = campaign["reason"].as_str().unwrap();
    assert!(why.contains("was cut off before its end") && why.contains("the limit is 3"), "{why}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_cycle_that_the_server_gives_up_waits_with_the_reason() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([Reply::Hang(String::new())]);
    desk.present().await;
    desk.app.script.asked(2).await;
    let lease = desk.held().await;
    desk.app.store().fail_turn(&lease, Failure::Server, "It was given up.", desk.app.now()).await.unwrap();
    desk.app.run_until_idle().await;
    let campaign = desk.campaign().await;
    assert_eq!((&campaign["cycles"], &campaign["idle_cycles"]), (&json!(1), &json!(1)), "{campaign}");
    let waits = campaign["waits_for"].as_str().unwrap();
    assert!(waits.starts_with("It was given up. 1 cycles in a row brought nothing"), "{waits}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_cycle_whose_time_is_over_after_a_bad_answer_is_none_without_an_answer() {
    let desk = Desk::start(two_tasks()).await;
    desk.gives_each_cycle(3).await;
    desk.app.script([text("junk"), Reply::Hang(String::new())]);
    desk.present().await;
    desk.app.script.asked(3).await;
    desk.app.advance(3);
    desk.app.run_until_idle().await;
    let campaign = desk.campaign().await;
    assert_eq!((&campaign["idle_cycles"], &campaign["no_answer"]), (&json!(1), &Value::Null), "the model has answered");
    assert!(campaign["waits_for"].as_str().unwrap().contains("1 cycles in a row brought nothing"), "{campaign}");
    assert!(desk.came().await.contains("the limit is 3"), "{}", desk.came().await);
    assert_eq!(desk.audit("no%20answer").await.len(), 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_whose_tokens_are_used_up_waits_with_the_reason_and_asks_no_model() {
    let desk = Desk::start(two_tasks()).await;
    desk.gives_all_cycles(5).await;
    desk.app.script([Reply::Costs(4, 2, Box::new(call("no_op", json!({"task": 1, "why": "enough"}))))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let asked = desk.app.script.requests().len();
    assert_eq!(desk.campaign().await["idle_cycles"], 1);
    desk.app.advance(1);
    desk.present().await;
    desk.app.run_until_idle().await;
    let campaign = desk.campaign().await;
    assert_eq!((&campaign["status"], &campaign["idle_cycles"]), (&json!("active"), &json!(2)), "{campaign}");
    let waits = campaign["waits_for"].as_str().unwrap();
    assert!(waits.contains("this conversation has used 6 tokens, read and written; the limit is 5"), "{waits}");
    assert_eq!(desk.app.script.requests().len(), asked, "no model is asked");
    // With a higher limit it goes on.
    desk.gives_all_cycles(1_000).await;
    desk.app.script([Reply::Hang(String::new())]);
    desk.app.advance(2);
    desk.present().await;
    desk.app.script.asked(asked + 1).await;
    desk.stop().await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_whose_messages_are_forgotten_has_no_summary_of_them_either() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    let summary = "INSERT INTO summaries (conversation_id, turn_id, up_to_turn, content, model, created_at)
        SELECT conversation_id, turn_id, turn_id, 'It rested.', 'scripted', ended_at FROM turns WHERE origin = 'cycle'";
    desk.app.behind().await.execute(summary).await.unwrap();
    assert_eq!(desk.app.count("SELECT count(*) FROM summaries").await, 1);
    let state = desk.get("/1/state").await;
    let (status, told) = desk.ask(Method::POST, "/1/forget-chat", None).await;
    assert!(status == 200 && told["told"].as_str().unwrap().ends_with("messages are forgotten."), "{told}");
    assert_eq!(desk.app.count("SELECT (SELECT count(*) FROM summaries) + (SELECT count(*) FROM messages)").await, 0);
    assert_eq!(desk.get("/1/state").await, state, "the model is shown the same");
    desk.check().await;
}

#[tokio::test]
async fn campaign_deed_that_is_run_again_after_a_crash_began_once() {
    let held = Held::start().await;
    for _ in 0..2 {
        held.store.begin_deed(&held.lease, &held.permit, "mine", None, held.app.now()).await.unwrap();
    }
    assert_eq!(held.app.count(BEGUN).await, 1);
    held.end().await;
}

#[tokio::test]
async fn campaign_bad_answers_of_a_cycle_that_was_stopped_do_not_count_in_the_next() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([text("junk"), text("junk"), Reply::Hang(String::new())]);
    desk.present().await;
    desk.app.script.asked(4).await;
    assert_eq!(desk.campaign().await["bad_answers"], 2);
    desk.stop().await;
    desk.app.script([text("junk"), text("junk"), call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert!(desk.came().await.starts_with("no_op was done"), "{}", desk.came().await);
    let campaign = desk.campaign().await;
    assert_eq!((&campaign["cycles"], &campaign["bad_answers"]), (&json!(1), &json!(0)), "the stopped one is not counted");
    desk.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn campaign_script_that_is_cut_stands_in_the_audit_and_counts_its_context_down() {
    let desk = Desk::start(wants("sum")).await;
    desk.keep("js_script", "sum", "for (;;) {}").await;
    desk.keep("file", "people", "name,age\n").await;
    desk.gives_each_cycle(3).await;
    let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "script", "count": 3, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    // Its time is over in the middle of the run.
    desk.app.script([runs()]);
    desk.present().await;
    desk.app.until(BEGUN, 1).await;
    desk.app.advance(3);
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    let (campaign, context) = (&shown["campaign"], &shown["contexts"][0]);
    assert_eq!((&context["uses_left"], &context["void"]), (&json!(2), &json!(false)), "{context}");
    assert!(campaign["waits_for"].as_str().unwrap().contains("1 cycles in a row brought nothing"), "{campaign}");
    let fault = campaign["fault"].as_str().unwrap();
    assert!(fault.starts_with("execute_tool was cut off: Not finished: the time of the turn was over"), "{fault}");
    // A person reads no words for the model.
    let came = desk.came().await;
    assert!(came.starts_with("execute_tool was cut off: The turn ended before this was done."), "{came}");
    assert!(fault.contains("look before it is done again") && !came.contains("look before it"), "{fault}\n{came}");
    assert_eq!(shown["tasks"][0]["status"], "pending", "{shown}");
    // A person pauses the next run in its middle.
    desk.app.script([runs()]);
    desk.app.advance(1);
    desk.present().await;
    desk.app.until(BEGUN, 2).await;
    assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 200);
    desk.app.run_until_idle().await;
    let context = desk.get("/1").await["contexts"][0].clone();
    assert_eq!((&context["uses_left"], &context["void"]), (&json!(1), &json!(true)), "{context}");

    let calls = desk.audit("execute_tool").await;
    assert_eq!(calls.len(), 2, "{calls:?}");
    for entry in &calls {
        assert_eq!((&entry["verdict"], &entry["outcome"]), (&json!("allow"), &json!("failed")), "{entry}");
    }
    let scripts = desk.audit("script").await;
    assert_eq!(scripts.len(), 2, "{scripts:?}");
    for ran in &scripts {
        assert_eq!((&ran["ok"], &ran["input"], &ran["script"]["version"]), (&json!(false), &json!({"a": 1}), &json!(1)), "{ran}");
        assert!(ran["output"].as_str().unwrap().contains("was cut off before its end"), "{ran}");
    }
    let read = desk.audit("file%20read").await;
    assert_eq!(read.len(), 2, "{read:?}");
    assert!(read.iter().all(|line| line["file"] == scripts[0]["files"][0]), "{read:?}");
    desk.check().await;
}
