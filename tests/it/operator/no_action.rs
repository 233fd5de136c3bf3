//! An order that ends with an answer and no action: the person is told so, and what can be ordered,
//! by the controller and not by the model.

use level3::domain::{Profile, Toolset};
use level3::profiles::Profiles;
use serde_json::{Value, json};

use super::screen::pictured;
use super::{Desk, OWNER, body, doubling, harmless, judged, lists, noted};
use crate::support::{TestApp, call, of_type, text};

/// The answer of a small model to an order that it cannot carry out.
const SORRY: &str = "I'm sorry, but I can't assist with that.";
/// The beginning of the note.
const NOTE: &str = "No action was taken";

/// A script of this name, as the planner writes it.
fn draft(name: &str) -> Value {
    let mut draft = doubling(2);
    draft["code"] = json!(draft["code"].as_str().unwrap().replace("double", name));
    draft["name"] = json!(name);
    draft
}

/// The planner writes these scripts, a task for each; a call was carried out, so none has the note.
async fn write(desk: &Desk, names: &[&str]) {
    let before = desk.tasks().await.len();
    for (place, name) in names.iter().enumerate() {
        desk.app.script([call("create_script", draft(name)), harmless(), text("Written.")]);
        desk.order("write a script").await;
        assert_eq!(desk.heard(before + place + 1).await, "Written.");
    }
}

#[tokio::test]
async fn an_answer_without_a_call_says_that_nothing_was_done_and_what_can_be_ordered() {
    let desk = Desk::start().await;
    desk.app.script([text(SORRY)]);
    desk.order("Book me a table").await;
    let told = noted(SORRY, "none yet");
    assert_eq!(desk.heard(1).await, told);
    let task = desk.tasks().await.remove(0);
    assert_eq!((&task["state"], &task["answer"]), (&json!("COMPLETED"), &json!(told)));
    // In the log the words of the planner and those of the controller are lines of their own.
    let lines = desk.log(1, "task_completed").await;
    assert_eq!(body(&lines, "planner_output"), json!({"action": null, "reasoning": SORRY, "done": true}));
    assert_eq!(body(&lines, "no_action"), json!({"note": told.strip_prefix(SORRY).unwrap().trim_start()}));

    // The planner is shown its own words alone, so it does not learn to write the note.
    desk.app.script([text("Hello.")]);
    desk.order("hello").await;
    assert_eq!(desk.heard(2).await, noted("Hello.", "none yet"));
    let shown = format!("{:?}", desk.app.script.requests().last().unwrap().entries);
    assert!(shown.contains(SORRY) && !shown.contains(NOTE), "{shown}");
}

#[tokio::test]
async fn the_scripts_that_there_are_stand_in_the_note_three_at_most_as_they_were_then() {
    let mut desk = Desk::start().await;
    write(&desk, &["double", "triple"]).await;
    desk.app.script([text(SORRY)]);
    desk.order("Which scripts do you have?").await;
    assert_eq!(desk.heard(3).await, noted(SORRY, "double, triple"));
    write(&desk, &["halve", "round"]).await;
    desk.app.script([text(SORRY)]);
    desk.order("And now?").await;
    assert_eq!(desk.heard(6).await, noted(SORRY, "double, halve, round and 1 more"));
    // A later start says neither again, nor otherwise.
    desk.app.restart().await;
    assert_eq!(desk.tasks().await[2]["answer"], noted(SORRY, "double, triple"));
    desk.app.script([text("Hello.")]);
    desk.order("hello").await;
    desk.heard(7).await;
    assert_eq!(desk.phone(OWNER).await.len(), 7);
}

#[tokio::test]
async fn a_call_that_is_refused_is_no_action_and_one_that_fails_is_one() {
    let desk = Desk::start().await;
    desk.app.script([call("execute_script", json!({"name": "nothing", "arguments": {}})), text("There is no such script.")]);
    desk.order("run nothing").await;
    assert_eq!(desk.heard(1).await, noted("There is no such script.", "none yet"));
    desk.app.script([call("book_table", json!({})), text(SORRY)]);
    desk.order("Book me a table").await;
    assert_eq!(desk.heard(2).await, noted(SORRY, "none yet"));
    // The law allowed this one, and it failed.
    let stale = json!({"version": 7, "document": {"a": 1}});
    desk.app.script([call("update_global_context", stale), harmless(), text("It has another version.")]);
    desk.order("remember one").await;
    assert_eq!(desk.heard(3).await, "It has another version.");
    desk.app.script(lists().into_iter().chain([text("None.")]));
    desk.order("scripts?").await;
    assert_eq!(desk.heard(4).await, "None.");
    let lines = desk.log(4, "task_completed").await;
    assert!(!lines.iter().any(|line| line["event"] == "no_action"), "{lines:#?}");
}

#[tokio::test]
async fn a_task_that_is_aborted_has_words_of_its_own_and_no_note() {
    let desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("scripts?").await;
    desk.heard(1).await;
    desk.order("CANCELAR").await;
    let told = desk.heard(2).await;
    assert!(told.starts_with("Task 1 was aborted. You said no") && !told.contains(NOTE), "{told}");
    desk.app.script([text(""), text("")]);
    desk.order("and now?").await;
    let told = desk.heard(3).await;
    assert!(told.starts_with("Task 2 was aborted.") && !told.contains(NOTE), "{told}");
    assert_eq!(desk.states().await, ["ABORTED", "ABORTED"]);
}

#[tokio::test]
async fn a_screenshot_is_offered_if_there_is_a_screen() {
    let (_folder, desk) = pictured().await;
    desk.app.script([text("Hello.")]);
    desk.order("hello").await;
    let offers = "I can run a script (none yet), write a new script, take a screenshot or remember a fact.";
    assert_eq!(desk.heard(1).await, format!("Hello.\n\n{NOTE} for this order; {offers}"));
}

#[tokio::test]
async fn a_tool_that_leaves_the_profile_takes_its_words_along_and_the_page_has_the_note_too() {
    let operator = Profiles::default().get("operator").unwrap();
    let cases: [(&[&str], &str); 3] = [
        (&["list_scripts", "update_global_context"], "; I can remember a fact"),
        (&["execute_script", "create_script"], "; I can run a script (none yet) or write a new script"),
        (&["list_scripts"], ""),
    ];
    for (tools, offers) in cases {
        let app = TestApp::with_profile(Profile { tools: Toolset::Only(tools), ..(*operator).clone() }).await;
        app.script([text("Hello.")]);
        let mut page = app.connect().await;
        page.send(json!({"type": "message", "content": "hello", "profile": "operator"})).await;
        let told = format!("Hello.\n\n{NOTE} for this order{offers}.");
        assert_eq!(of_type(&page.turn().await, "assistant")["content"], told);
    }
}

#[tokio::test]
async fn no_other_profile_has_the_note() {
    let app = TestApp::start().await;
    app.script([text("Hello."), text("Hello.")]);
    let mut page = app.connect().await;
    for profile in ["builder", "lea"] {
        page.send(json!({"type": "message", "content": "hello", "profile": profile})).await;
        assert_eq!(of_type(&page.turn().await, "assistant")["content"], "Hello.");
    }
}

#[tokio::test]
async fn a_list_of_tasks_says_of_an_answer_that_nothing_recorded_shows_it() {
    let desk = Desk::start().await;
    desk.app.script([text("Done."), text("Done.")]);
    desk.order("delete the old files").await;
    assert!(desk.heard(1).await.contains("Nothing recorded in this task shows"));
    desk.app.script([text("It is noon.")]);
    desk.order("what time is it?").await;
    desk.heard(2).await;
    let unproven: Vec<_> = desk.tasks().await.iter().map(|task| task.get("unproven").cloned()).collect();
    assert_eq!(unproven, [Some(json!(true)), None]);
}

#[tokio::test]
async fn an_answer_of_which_nothing_can_be_seen_is_none() {
    let desk = Desk::start().await;
    desk.app.script([text("\u{200b}\u{a0}\n"), text("\u{200b}")]);
    desk.order("hello").await;
    let told = desk.heard(1).await;
    assert!(told.starts_with("Task 1 was aborted.") && told.contains("empty answer twice"), "{told}");
}
