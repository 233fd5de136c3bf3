//! The truth ledger: work that an answer claims has to be recorded.

use level3::model::Entry;
use serde_json::{Value, json};

use crate::support::{Reply, TestApp, call, kinds, text};

const CLAIM: &str = "I have created the table.";

fn table() -> Reply {
    call("execute_sql", json!({"query": "CREATE TABLE agent.books (title text)"}))
}

fn look() -> Reply {
    call("execute_sql", json!({"query": "SELECT 1 AS one"}))
}

/// The answers: text, whether it was the last word, whether it is unproven.
fn said(frames: &[Value]) -> Vec<(&str, bool, bool)> {
    let answers = frames.iter().filter(|frame| frame["type"] == "assistant");
    answers.map(|frame| (frame["content"].as_str().unwrap(), frame["final"] == true, frame["unproven"] == true)).collect()
}

/// The controller's words to the model in its newest request.
fn controller_words(app: &TestApp) -> Vec<String> {
    let entries = app.script.requests().pop().unwrap().entries;
    let of_controller = entries.into_iter().filter_map(|entry| match entry {
        Entry::User(text) | Entry::Assistant { content: text, .. } if text.contains("[controller]") => Some(text),
        _ => None,
    });
    of_controller.collect()
}

#[tokio::test]
async fn a_claim_without_an_effect_is_taken_back_and_the_model_can_still_do_it() {
    let app = TestApp::start().await;
    app.script([text(CLAIM), table(), text("The table has been created.")]);
    let frames = app.connect().await.ask("make a table of books").await;
    assert_eq!(said(&frames), [(CLAIM, false, true), ("The table has been created.", true, false)]);
    let shown = ["turn queued", "turn running", "assistant", "tool_call", "tool_result", "assistant", "turn completed"];
    assert_eq!(kinds(&frames), shown);
    let told = controller_words(&app);
    assert!(told.len() == 1 && told[0].contains("nothing recorded in this turn shows it"), "{told:?}");
    assert_eq!(app.count("SELECT count(*) FROM agent.books").await, 0);
    app.check_replay().await;
}

#[tokio::test]
async fn a_claim_that_is_repeated_is_shown_with_a_mark_and_not_asked_about_again() {
    let app = TestApp::start().await;
    app.script([text(CLAIM), text("Done! I created it.")]);
    let mut client = app.connect().await;
    let frames = client.ask("make a table of books").await;
    assert_eq!(said(&frames), [(CLAIM, false, true), ("Done! I created it.", true, true)]);
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    assert_eq!(app.count("SELECT count(*) FROM steps WHERE unproven").await, 2);
    app.check_replay().await;
    // In later turns the controller does not let the model believe its own claim.
    app.script([text("Hello.")]);
    client.ask("hi").await;
    let told = controller_words(&app);
    assert!(told.last().unwrap().contains("Nothing recorded in this turn shows what is claimed here"), "{told:?}");
}

#[tokio::test]
async fn what_is_corrected_is_shown_without_a_mark() {
    let app = TestApp::start().await;
    app.script([text("I have sent the mail."), text("I cannot send mails. Shall I build a capability for it?")]);
    let frames = app.connect().await.ask("mail Bob").await;
    let corrected = "I cannot send mails. Shall I build a capability for it?";
    assert_eq!(said(&frames), [("I have sent the mail.", false, true), (corrected, true, false)]);
}

#[tokio::test]
async fn what_is_said_to_be_sent_takes_more_than_a_row_that_was_changed() {
    let app = TestApp::start().await;
    let sent = "I have sent the mail to Bob.";
    app.script([table(), text(sent), text("I have made the table; the mail is not sent.")]);
    let mut client = app.connect().await;
    let answers = client.ask("make a table and mail Bob").await;
    assert_eq!(said(&answers), [(sent, false, true), ("I have made the table; the mail is not sent.", true, false)]);
    let source = "export default async function mail(params) { return 'ok'; }";
    let mail = json!({"name": "mail", "description": "Mails.", "code": source, "parameters_schema": {"type": "object"}});
    app.script([call("write_capability", mail), call("mail", json!({})), text(sent)]);
    assert_eq!(said(&client.ask("mail Bob").await).pop(), Some((sent, true, false)));
}

#[tokio::test]
async fn a_result_that_no_call_gave_is_taken_back_and_one_worked_out_in_the_head_is_not() {
    let app = TestApp::start().await;
    let missing = call("gcd", json!({"a": 1071, "b": 462}));
    app.script([missing, text("The result of the call is 21."), text("There is no tool `gcd` yet."), text("The result is 4.")]);
    let mut client = app.connect().await;
    let frames = client.ask("call gcd").await;
    let taken_back = ("The result of the call is 21.", false, true);
    assert_eq!(said(&frames), [taken_back, ("There is no tool `gcd` yet.", true, false)]);
    assert_eq!(said(&client.ask("what is 2 + 2?").await), [("The result is 4.", true, false)]);
}

#[tokio::test]
async fn an_effect_of_the_turn_proves_a_claim_and_reading_proves_only_that_something_was_read() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([call("manage_tasks", json!({"action": "create", "title": "Rent"})), text("Done.")]);
    assert_eq!(said(&client.ask("a task").await), [("Done.", true, false)]);
    app.script([look(), text("I checked: it is 1.")]);
    assert_eq!(said(&client.ask("look").await), [("I checked: it is 1.", true, false)]);
    app.script([text("I checked: it is 1."), text("I do not know.")]);
    assert_eq!(said(&client.ask("look again").await)[0], ("I checked: it is 1.", false, true));
    // A call that failed, or that only read, does not prove that something was made.
    app.script([look(), call("execute_sql", json!({"query": "CREATE TABLE"})), text(CLAIM), text(CLAIM)]);
    assert_eq!(said(&client.ask("a table").await).last().unwrap(), &(CLAIM, true, true));
}

#[tokio::test]
async fn who_asks_what_was_done_before_is_answered_with_what_was_done_before() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([text("I have created the table, yes."), text("No, there is none.")]);
    assert_eq!(said(&client.ask("Did you create the table?").await).len(), 2, "nothing was done before either");
    app.script([table(), text("Done.")]);
    client.ask("then do it").await;
    app.script([text("I have created the table, yes.")]);
    let frames = client.ask("Did you create the table?").await;
    assert_eq!(said(&frames), [("I have created the table, yes.", true, false)]);
}

#[tokio::test]
async fn a_crash_between_the_two_answers_does_not_ask_once_more() {
    let mut app = TestApp::start().await;
    app.script([text(CLAIM), Reply::Hang("I".into())]);
    let mut client = app.connect().await;
    client.say("make a table of books").await;
    app.script.asked(2).await;
    app.crash().await;
    app.script([text(CLAIM)]);
    app.start_again().await;
    app.run_until_idle().await;
    assert_eq!(controller_words(&app).len(), 1, "the one who takes it up is told what the first was told");
    assert_eq!(app.count("SELECT count(*) FROM steps WHERE unproven").await, 2);
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE state = 'completed'").await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn where_no_step_is_left_a_claim_is_marked_at_once() {
    let app = TestApp::with(&[("MAX_TOOL_ITERATIONS", "1")]).await;
    app.script([text(CLAIM)]);
    assert_eq!(said(&app.connect().await.ask("make a table").await), [(CLAIM, true, true)]);
}

#[tokio::test]
async fn what_is_due_is_no_proof_of_having_been_done() {
    let app = TestApp::start().await;
    app.script([
        call("manage_tasks", json!({"action": "create", "title": "Log", "due_at": "2026-11-20T08:00:30Z"})),
        text("Made."),
    ]);
    let mut client = app.connect().await;
    client.ask("wake up later").await;
    app.script([text("I have saved the entry."), text("The task is due; there is nowhere to save it.")]);
    app.advance(30);
    assert_eq!(said(&client.turn().await)[0], ("I have saved the entry.", false, true));
}
