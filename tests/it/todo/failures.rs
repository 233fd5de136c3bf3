//! The tables of errors: a story for each row that belongs here. A person hears short words; what
//! was not done is not half done.

use std::sync::Arc;

use level3::domain::{Budgets, Mode, Rule};
use level3::model::ModelErrorKind;
use reqwest::Method;
use serde_json::json;
use sqlx::Executor;
use tokio::sync::Notify;

use super::{Talk, message};
use crate::support::people::Person;
use crate::support::{Reply, TestApp, call, kinds, of_type, results, text};

/// The function is refused in the middle of its transaction.
const BREAK: &str = "CREATE FUNCTION broken() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$;
    CREATE TRIGGER broken BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION broken();";
const MEND: &str = "DROP TRIGGER broken ON tasks; DROP FUNCTION broken;";

#[tokio::test]
async fn a_first_word_that_takes_ten_seconds_is_told_of_once_and_recorded_nowhere() {
    let mut talk = Talk::start().await;
    let signal = Arc::<Notify>::default();
    talk.app.script([Reply::After(Arc::clone(&signal), Box::new(text("Here I am.")))]);
    talk.say("hello").await;
    talk.app.script.asked(1).await;
    talk.app.advance(10);
    let notice = talk.client.until(|frame| frame["type"] == "notice").await.pop().unwrap();
    assert_eq!((&notice["content"], &notice["seq"]), (&json!("Taking longer than expected..."), &json!(null)));
    talk.app.advance(60);
    signal.notify_one();
    let frames = talk.client.turn().await;
    assert_eq!(kinds(&frames), ["assistant", "turn completed"]);
    assert_eq!(talk.count("SELECT count(*) FROM events WHERE payload::text LIKE '%Taking longer%'").await, 0);
    // The builder's person is not told.
    talk.app.script([Reply::After(Arc::clone(&signal), Box::new(text("Here I am.")))]);
    talk.client.say("hello").await;
    talk.app.script.asked(2).await;
    talk.app.advance(10);
    signal.notify_one();
    assert!(!kinds(&talk.client.turn().await).contains(&"notice".to_owned()));
}

#[tokio::test]
async fn a_model_that_does_not_answer_is_one_short_sentence() {
    let mut talk = Talk::start().await;
    for (kind, told) in [
        (ModelErrorKind::RateLimited, "Please wait a moment"),
        (ModelErrorKind::Timeout, "Something went wrong, please try again"),
        (ModelErrorKind::Server, "Something went wrong, please try again"),
        (ModelErrorKind::Cut, "Something went wrong, please try again"),
    ] {
        talk.app.script([Reply::Fail(kind, "Words for who runs the server.".to_owned())]);
        talk.say("hello").await;
        assert_eq!(of_type(&talk.client.turn().await, "error")["content"], told, "{kind:?}");
    }
    assert_eq!(talk.app.store().open_turns().await.unwrap(), 0);
    // A fault that only the owner can mend is told in full.
    talk.app.script([Reply::Fail(ModelErrorKind::Unauthorized, "Set LLM_API_KEY.".to_owned())]);
    talk.say("hello").await;
    assert_eq!(of_type(&talk.client.turn().await, "error")["content"], "Set LLM_API_KEY.");
    assert_eq!(talk.small_talk("again").await.last().unwrap()["state"], "completed");
}

#[tokio::test]
async fn a_member_hears_nothing_of_the_owners_address_settings_and_key() {
    let app = TestApp::start().await;
    let owner = Person::owner(&app).await;
    let ana = owner.adds(&app, "Ana").await;
    let mut hers = Talk { client: ana.connect().await, app };
    for kind in [ModelErrorKind::Unauthorized, ModelErrorKind::Unreachable, ModelErrorKind::Refused, ModelErrorKind::Payment] {
        hers.app.script([Reply::Fail(kind, "http://127.0.0.1:1/v1 wants a key (401): set LLM_API_KEY.".to_owned())]);
        hers.say("hello").await;
        let told = of_type(&hers.client.turn().await, "error")["content"].clone();
        assert_eq!(told, "Something went wrong, please try again", "{kind:?}");
    }
    assert_eq!(hers.count("SELECT count(*) FROM events WHERE payload::text LIKE '%127.0.0.1%'").await, 0);
}

#[tokio::test]
async fn a_database_that_says_no_in_the_middle_leaves_everything_as_it_was() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    talk.app.behind().await.execute(BREAK).await.unwrap();
    let broken = talk.call("renameTask", json!({"taskName": "dinner", "newName": "Supper"})).await;
    assert_eq!((message(&broken), &broken["error"]), ("Something went wrong, please try again", &json!("database")));
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE title = 'Dinner'").await, 1);
    talk.app.behind().await.execute(MEND).await.unwrap();
    let renamed = talk.call("renameTask", json!({"taskName": "dinner", "newName": "Supper"})).await;
    assert_eq!(message(&renamed), "Renamed the task “Dinner” to “Supper”.");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn what_the_law_forbids_is_said_in_the_same_words_for_each_reason() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    let forbidden = [(false, "You don't have permission to do that".to_owned())];
    let rename = json!({"taskName": "dinner", "newName": "Supper"});
    let store = talk.app.store().clone();
    store.set_tool_rule("lea", "renameTask", Some(Rule::Never), talk.app.now()).await.unwrap();
    talk.app.script([call("renameTask", rename.clone()), text("I may not.")]);
    talk.say("rename it").await;
    assert_eq!(results(&talk.client.turn().await), forbidden, "a rule");
    store.set_tool_rule("lea", "renameTask", None, talk.app.now()).await.unwrap();
    store.set_profile_policy("lea", Mode::ReadOnly, false, &Budgets::default(), talk.app.now()).await.unwrap();
    talk.app.script([call("renameTask", rename), text("I may not.")]);
    talk.say("rename it").await;
    assert_eq!(results(&talk.client.turn().await), forbidden, "a mode");
    assert_eq!(talk.call("listTasks", json!({})).await["success"], true, "looking is allowed");
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE title = 'Dinner'").await, 1);
}

#[tokio::test]
async fn nothing_is_changed_for_a_person_who_was_disabled_meanwhile() {
    let app = TestApp::start().await;
    let owner = Person::owner(&app).await;
    let ana = owner.adds(&app, "Ana").await;
    let mut talk = Talk { client: ana.connect().await, app };
    talk.create("Dinner").await;
    let signal = Arc::<Notify>::default();
    let rename = call("renameTask", json!({"taskName": "dinner", "newName": "Supper"}));
    let asked = talk.app.script.requests().len();
    talk.app.script([Reply::After(Arc::clone(&signal), Box::new(rename)), text("I may not.")]);
    talk.say("rename it").await;
    talk.app.script.asked(asked + 1).await;
    let disabled = async |disabled: bool| owner.ask(Method::PATCH, "/api/users/ana", Some(json!({"disabled": disabled}))).await.0;
    assert_eq!(disabled(true).await, 200);
    signal.notify_one();
    talk.app.run_until_idle().await;
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE title = 'Dinner'").await, 1);
    let told = "SELECT count(*) FROM messages WHERE role = 'tool' AND content LIKE '%You don''t have permission to do that%'";
    assert_eq!(talk.count(told).await, 1);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_call_that_does_not_fit_and_then_fits_is_carried_out() {
    let mut talk = Talk::start().await;
    let misfit = call("startTimer", json!({"minutes": "a while"}));
    talk.app.script([misfit, call("startTimer", json!({"minutes": 25})), text("I see.")]);
    talk.say("a timer, please").await;
    let frames = talk.client.turn().await;
    assert_eq!(results(&frames).iter().map(|(ok, _)| *ok).collect::<Vec<_>>(), [false, true]);
    assert_eq!(talk.count("SELECT count(*) FROM timers WHERE state = 'running'").await, 1);
}

#[tokio::test]
async fn a_list_is_bounded_and_says_so() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    let more = "INSERT INTO tasks (conversation_id, title, created_at, updated_at)
        SELECT conversation_id, 'another', '2026-11-20', '2026-11-20' FROM tasks, generate_series(2, 1000)";
    talk.app.rewrites("the tasks were not made one by one");
    talk.app.behind().await.execute(more).await.unwrap();
    let full = "You have 1000 open tasks, and 1000 is the most. Complete or delete some first.";
    let refused = talk.call("createTask", json!({"description": "one more", "confirmed": true})).await;
    assert_eq!((message(&refused), &refused["error"]), (full, &json!("too_many")), "nobody is asked");
    let by_hand =
        async |title: &str| crate::support::api::ask(&talk.app, Method::POST, "/api/tasks", Some(json!({"title": title}))).await;
    assert_eq!(by_hand("one more").await, (409, json!({"error": full})));
    assert_eq!(by_hand("two\nlines").await, (400, json!({"error": "A title stands on one line."})));
    let long = "That title has 201 characters, and 200 is the most.";
    assert_eq!(by_hand(&"x".repeat(201)).await, (400, json!({"error": long})));
    let steps = "UPDATE tasks SET subtasks = (SELECT jsonb_agg(jsonb_build_object('id', n + 100, 'title', 'step ' || n, 'completed', false))
        FROM generate_series(1, 50) n) WHERE title = 'Dinner'";
    talk.app.behind().await.execute(steps).await.unwrap();
    let refused = talk.call("addSubtask", json!({"taskName": "dinner", "subtaskName": "one more"})).await;
    assert_eq!(message(&refused), "That task has 50 subtasks, and that is the most. Remove one first.");
}
