//! The state that a person reads is the one that the next cycle's model is shown.

use serde_json::{Value, json};

use super::{Desk, two_tasks};
use crate::support::{Reply, call};

/// The fingerprints of the states that cycles were asked with, the oldest first.
async fn asked_with(desk: &Desk) -> Vec<String> {
    let asked = "SELECT payload ->> 'state_sha256' FROM events WHERE kind = 'cycle_asked' ORDER BY position";
    sqlx::query_scalar(asked).fetch_all(&mut desk.app.behind().await).await.unwrap()
}

fn text_of(state: &Value, field: &str) -> String {
    state[field].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn campaign_state_that_a_person_reads_is_the_one_that_the_next_cycle_is_asked_with() {
    let desk = Desk::start(two_tasks()).await;
    desk.keep("context", "campaign_context", "Sell").await;
    let first = desk.get("/1/state").await;
    assert_eq!(desk.get("/1/state?from=events").await, first);
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.snapshot(), text_of(&first, "snapshot"));
    assert_eq!(asked_with(&desk).await, [text_of(&first, "state_sha256")]);

    // Something changes while nobody is there, so that no cycle begins by it.
    desk.app.advance(3600);
    assert_eq!(desk.get("/1").await["watched"], false);
    desk.keep("heuristic", "tone", "Warm").await;
    let second = desk.get("/1/state").await;
    assert_ne!(text_of(&second, "state_sha256"), text_of(&first, "state_sha256"));
    desk.app.script([Reply::Hang(String::new())]);
    let before = desk.app.script.requests().len();
    desk.present().await;
    desk.app.script.asked(before + 1).await;
    assert_eq!(desk.snapshot(), text_of(&second, "snapshot"));
    assert_ne!(desk.snapshot(), text_of(&first, "snapshot"));
    assert_eq!(asked_with(&desk).await, [text_of(&first, "state_sha256"), text_of(&second, "state_sha256")]);
    desk.stop().await;
    desk.check().await;
}
