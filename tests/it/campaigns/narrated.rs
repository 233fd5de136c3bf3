//! A proposal that stands in the text of an answer is carried out, and words beside one are kept
//! and ignored.

use serde_json::json;

use super::{Desk, note, two_tasks};
use crate::support::{Reply, call, text};

const SAID: &str = "I have finished all: tasks 1 and 2 are done.";
/// The messages of steps with those words.
const KEPT: &str = "SELECT count(*) FROM messages m JOIN steps USING (step_id) WHERE m.content LIKE 'I have finished all:%'";

#[tokio::test]
async fn campaign_proposal_that_stands_in_the_text_of_an_answer_is_carried_out() {
    let desk = Desk::start(two_tasks()).await;
    let mut proposal = note();
    proposal["kind"] = json!("persist_artifact");
    let answer = format!("I propose this:\n```json\n{proposal}\n```\nIt is brief.");
    desk.app.script([text(&answer)]);
    desk.present().await;
    let approval = desk.asked().await;
    assert!(approval["shown"]["what"][1].as_str().unwrap().starts_with("Keeps the heuristic note"), "{approval}");
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 0, "it is asked about, as a call is");
    desk.app.script([call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}))]);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let kept = "SELECT count(*) FROM artifacts WHERE artifact_key = 'note' AND content = 'Be brief' AND approval_id IS NOT NULL";
    assert_eq!(desk.app.count(kept).await, 1);
    assert_eq!(desk.get("/1").await["tasks"][0]["status"], "done");
    let said = "SELECT count(*) FROM messages m JOIN steps USING (step_id) WHERE m.content LIKE 'I propose this:%It is brief.'";
    assert_eq!(desk.app.count(said).await, 1, "the answer is kept as it was");
    assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'proposal_refused'").await, 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_words_beside_a_proposal_are_kept_in_its_step_and_change_no_task() {
    let desk = Desk::start(two_tasks()).await;
    let mut other = note();
    other["key"] = json!("other");
    let Reply::Answer(_, proposal) = call("persist_artifact", other) else { unreachable!("a call is an answer") };
    desk.app.script([Reply::Answer(SAID.to_owned(), proposal)]);
    desk.present().await;
    let approval = desk.asked().await;
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts WHERE artifact_key = 'other'").await, 1, "it is carried out");
    assert_eq!(desk.app.count(KEPT).await, 1, "the words are kept in the step");
    let shown = desk.get("/1").await;
    let status = |n: usize| shown["tasks"][n]["status"].clone();
    assert_eq!((status(0), status(1)), (json!("in_progress"), json!("pending")), "the words end none");
    assert_eq!(shown["campaign"]["status"], "active", "{shown}");
    for request in desk.app.script.requests() {
        assert!(!format!("{:?}", request.entries).contains("I have finished all"), "no request shows them");
    }
    desk.check().await;
}
