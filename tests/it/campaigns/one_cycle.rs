//! A paused campaign does exactly one cycle, also if the process dies in it, and is paused again.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, note, two_tasks};
use crate::support::api::level3;
use crate::support::{Reply, call, text};

impl Desk {
    /// A campaign that a person has paused.
    async fn paused() -> Self {
        let desk = Self::start(two_tasks()).await;
        assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 200);
        desk
    }

    /// Asks for one cycle.
    async fn cycle(&self) -> (u16, Value) {
        self.ask(Method::POST, "/1/cycle", None).await
    }

    /// It is paused, with these words, after so many cycles.
    async fn rests(&self, why: &str, cycles: i64) {
        self.rests_after_turns(why, cycles, cycles).await;
    }

    /// The same, after so many turns: one whose cycle is set aside is a turn and no cycle.
    async fn rests_after_turns(&self, why: &str, cycles: i64, turns: i64) {
        self.app.run_until_idle().await;
        let shown = self.get("/1").await;
        let campaign = &shown["campaign"];
        assert_eq!((&campaign["status"], &campaign["cycles_left"]), (&json!("paused"), &Value::Null), "{campaign}");
        assert!(campaign["reason"].as_str().unwrap().contains(why), "{campaign}");
        assert_eq!(
            (&campaign["cycles"], self.app.count("SELECT count(*) FROM turns").await),
            (&json!(cycles), turns),
            "{campaign}"
        );
    }
}

#[tokio::test]
async fn campaign_that_is_paused_does_one_cycle_and_is_paused_again() {
    let desk = Desk::paused().await;
    let (status, refused) = desk.cycle().await;
    assert!(status == 409 && refused["error"].as_str().unwrap().contains("has no cycle to do now: nobody is there"), "{refused}");
    desk.present().await;
    desk.app.script([call("persist_artifact", note())]);
    let (status, active) = desk.cycle().await;
    assert_eq!((status, &active["status"], &active["cycles_left"]), (200, &json!("active"), &json!(1)), "{active}");
    let approval = desk.asked().await;
    let (status, refused) = desk.cycle().await;
    assert!(
        status == 409 && refused["error"].as_str().unwrap().contains("is active; `cycle` is for one that is paused"),
        "{refused}"
    );
    desk.decide(&approval, "approve").await;
    desk.rests("did the one cycle that a person asked for", 1).await;
    assert_eq!(desk.get("/1").await["tasks"][0]["status"], "done");
    // Nothing begins another one: no sign of presence, no time, no order.
    desk.app.advance(30);
    desk.present().await;
    let add = json!({"description": "More", "requires": [{"kind": "user_answered", "question": "more"}]});
    assert_eq!(desk.ask(Method::POST, "/1/tasks", Some(add)).await.0, 200);
    desk.rests("did the one cycle", 1).await;
    // Another one that brings nothing is one, too; it does not wait for its time.
    desk.app.script([call("no_op", json!({"task": 2, "why": "enough"}))]);
    assert_eq!(desk.cycle().await.0, 200);
    desk.rests("did the one cycle", 2).await;
    desk.app.script([call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}))]);
    assert_eq!(desk.cycle().await.0, 200);
    desk.rests("did the one cycle", 3).await;
    desk.check().await;
    // One that waits for the person has nothing to do.
    assert_eq!(desk.ask(Method::POST, "/1/tasks/3", Some(json!({"deed": "block", "reason": "later"}))).await.0, 200);
    let (status, refused) = desk.cycle().await;
    assert!(status == 409 && refused["error"].as_str().unwrap().contains("the question tone waits for an answer"), "{refused}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_whose_one_cycle_meets_a_crash_does_neither_two_nor_none() {
    let mut desk = Desk::paused().await;
    desk.present().await;
    desk.app.script([call("persist_artifact", note())]);
    assert_eq!(desk.cycle().await.0, 200);
    let approval = desk.asked().await;
    desk.app.crash().await;
    desk.app.start_again().await;
    desk.present().await;
    assert_eq!(desk.app.script.requests().len(), 2, "the check of the start, and the cycle: it is not asked again");
    desk.decide(&approval, "approve").await;
    desk.rests("did the one cycle", 1).await;
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 1);
    // Another crash, while the model thinks: the process after it finds nobody there, and waits
    // with the order.
    desk.app.script([Reply::Hang(String::new())]);
    assert_eq!(desk.cycle().await.0, 200);
    desk.app.script.asked(3).await;
    desk.app.crash().await;
    desk.app.start_again().await;
    desk.app.run_until_idle().await;
    let waits = desk.get("/1").await["campaign"].clone();
    assert_eq!((&waits["status"], &waits["cycles"], &waits["cycles_left"]), (&json!("active"), &json!(1), &json!(1)), "{waits}");
    assert!(waits["waits_for"].as_str().unwrap().starts_with("nobody is there"), "{waits}");
    assert_eq!(desk.came().await, "Set aside without a proposal: nobody is there");
    // The next sign lets it go on, and it is one cycle still.
    desk.app.script([call("no_op", json!({"task": 2, "why": "enough"}))]);
    desk.present().await;
    desk.rests_after_turns("did the one cycle", 2, 3).await;
    assert!(desk.came().await.starts_with("no_op was done"), "{}", desk.came().await);
    desk.present().await;
    desk.rests_after_turns("did the one cycle", 2, 3).await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_cycle_that_a_crash_left_to_nobody_counts_as_none_and_the_next_sign_begins_it_anew() {
    let mut desk = Desk::start(two_tasks()).await;
    desk.present().await;
    desk.app.script([text("junk"), Reply::Hang(String::new())]);
    desk.app.script.asked(3).await;
    desk.app.crash().await;
    desk.app.start_again().await;
    desk.app.run_until_idle().await;
    let waits = desk.get("/1").await["campaign"].clone();
    assert_eq!((&waits["cycles"], &waits["idle_cycles"], &waits["bad_answers"]), (&json!(0), &json!(0), &json!(0)), "{waits}");
    assert!(waits["waits_for"].as_str().unwrap().starts_with("nobody is there"), "{waits}");
    assert_eq!(desk.came().await, "Set aside without a proposal: nobody is there", "a model was asked");
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert!(desk.came().await.starts_with("no_op was done"), "{}", desk.came().await);
    assert_eq!(desk.get("/1").await["campaign"]["cycles"], 1);
    desk.check().await;
}

#[tokio::test]
async fn campaign_one_cycle_that_was_set_aside_is_cut_off_by_a_stop_and_by_a_pause() {
    let mut desk = Desk::paused().await;
    desk.present().await;
    for paused in [false, true] {
        desk.app.script([Reply::Hang(String::new())]);
        let asked = desk.app.script.requests().len();
        assert_eq!(desk.cycle().await.0, 200);
        desk.app.script.asked(asked + 1).await;
        desk.app.crash().await;
        desk.app.start_again().await;
        desk.app.run_until_idle().await;
        assert_eq!(desk.get("/1").await["campaign"]["cycles_left"], 1, "it waits for a sign");
        if paused {
            assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 200);
        } else {
            desk.app.script([Reply::Hang(String::new())]);
            desk.present().await;
            desk.app.script.asked(asked + 2).await;
            desk.stop().await;
        }
        // No sign begins it once more.
        desk.present().await;
        desk.app.run_until_idle().await;
        let campaign = desk.get("/1").await["campaign"].clone();
        let (status, left) = (&campaign["status"], &campaign["cycles_left"]);
        assert_eq!((status, left, &campaign["cycles"]), (&json!("paused"), &Value::Null, &json!(0)), "{campaign}");
    }
    desk.check().await;
}

#[tokio::test]
async fn campaign_whose_one_cycle_is_cut_off_is_paused_and_says_so() {
    let desk = Desk::paused().await;
    desk.present().await;
    desk.app.script([Reply::Hang(String::new())]);
    assert_eq!(desk.cycle().await.0, 200);
    desk.app.script.asked(2).await;
    let conversation = desk.get("/1").await["campaign"]["conversation_id"].clone();
    let mut page = desk.app.connect().await;
    page.send(json!({"type": "resume", "after": 0, "conversation": conversation})).await;
    page.send(json!({"type": "stop", "conversation": conversation})).await;
    page.until(|frame| frame["type"] == "turn" && frame["state"] == "aborted").await;
    desk.present().await;
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!((&shown["campaign"]["status"], &shown["campaign"]["cycles"]), (&json!("paused"), &json!(0)), "{shown}");
    assert!(shown["campaign"]["reason"].as_str().unwrap().contains("was cut off before its end"), "{shown}");
    // A pause in the middle takes the number away.
    desk.app.script([Reply::Hang(String::new())]);
    assert_eq!(desk.cycle().await.0, 200);
    desk.app.script.asked(3).await;
    let (status, paused) = desk.ask(Method::POST, "/1/pause", None).await;
    assert_eq!((status, &paused["status"], &paused["cycles_left"]), (200, &json!("paused"), &Value::Null), "{paused}");
    desk.app.run_until_idle().await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_cycle_of_the_command_line_is_there_until_it_is_over() {
    let desk = Desk::paused().await;
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    let ran = level3(&desk.app, &["campaign", "cycle", "1"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("paused, 1 cycles paused again: it did the one cycle"), "{ran:?}");
    desk.rests("did the one cycle", 1).await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_cycle_of_the_command_line_that_is_refused_leaves_nobody_there() {
    let desk = Desk::start(two_tasks()).await;
    let ran = level3(&desk.app, &["campaign", "cycle", "1"]).await;
    assert!(ran.code == 1 && ran.err.contains("`cycle` is for one that is paused"), "{ran:?}");
    assert_eq!(desk.get("/1").await["watched"], false);
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM turns").await, 0);
    desk.check().await;
}
