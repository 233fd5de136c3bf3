//! Crashes and restarts: nothing is lost, nothing happens twice.

use chrono::TimeDelta;
use level3::app::Exit;
use level3::clock::SystemRandom;
use level3::domain::TurnState;
use level3::store::{Look, NewStep, Store, StoreError};
use serde_json::json;
use sqlx::Executor;

use crate::support::{Reply, TestApp, call, calls, kinds, of_type, text};

#[tokio::test]
async fn a_turn_that_was_cut_in_a_model_request_goes_on_after_the_crash() {
    let mut app = TestApp::start().await;
    app.script([Reply::Hang("I was just".into())]);
    let mut client = app.connect().await;
    client.say("hello").await;
    client.until(|frame| frame["type"] == "delta").await;
    app.crash().await;
    app.script([text("Here again.")]);
    app.start_again().await;
    let mut client = app.connect().await;
    client.resume(0).await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["turn queued", "turn running", "turn running", "assistant", "turn completed"]);
    app.check_replay().await;
}

#[tokio::test]
async fn a_crash_between_tool_calls_repeats_none_and_skips_none() {
    let mut app = TestApp::start().await;
    let insert = |n: i32| ("execute_sql", json!({"query": format!("INSERT INTO log VALUES ({n})")}));
    app.script([call("execute_sql", json!({"query": "CREATE TABLE log (n int)"})), text("ready")]);
    let mut client = app.connect().await;
    client.ask("prepare").await;

    // The second of three calls waits for a lock that the test holds, so the crash falls in its
    // middle.
    let mut behind = app.behind().await;
    behind.execute("CREATE UNIQUE INDEX log_once ON agent.log (n)").await.unwrap();
    behind.execute("BEGIN").await.unwrap();
    behind.execute("INSERT INTO agent.log VALUES (2)").await.unwrap();
    app.script([calls(&[insert(1), insert(2), insert(3)])]);
    client.say("write three").await;
    client.until(|frame| frame["type"] == "tool_result").await;
    app.crash().await;
    behind.execute("ROLLBACK").await.unwrap();

    app.script([text("written")]);
    app.start_again().await;
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM agent.log").await, 3);
    assert_eq!(app.count("SELECT count(*) FROM tool_calls WHERE state = 'done'").await, 4);
    assert_eq!(app.count("SELECT count(*) FROM steps").await, 4, "no step was paid for twice");
    app.check_replay().await;
}

#[tokio::test]
async fn restart_ends_the_process_with_its_code_and_the_turn_goes_on() {
    let mut app = TestApp::start().await;
    app.script([call("restart", json!({"mode": "full"}))]);
    let mut client = app.connect().await;
    client.say("restart yourself").await;
    let frames = client.until(|frame| frame["type"] == "tool_result").await;
    assert_eq!(frames.last().unwrap()["ok"], true);
    assert_eq!(client.closed().await, Some(1012));
    assert_eq!(app.ended().await, Exit::Restart);

    app.script([text("I am back.")]);
    app.start_again().await;
    let mut client = app.connect().await;
    client.resume(&frames.last().unwrap()["seq"]).await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["turn running", "assistant", "turn completed"]);
    assert_eq!(of_type(&frames, "assistant")["content"], "I am back.");
    app.check_replay().await;
}

#[tokio::test]
async fn a_client_that_resumes_misses_no_frame_and_sees_none_twice() {
    let app = TestApp::start().await;
    app.script([call("execute_sql", json!({"query": "SELECT 1"})), text("one"), text("two")]);
    let mut first = app.connect().await;
    let mut all = first.ask("a").await;
    all.extend(first.ask("b").await);
    for cut in 0..all.len() {
        let mut later = app.connect().await;
        later.resume(&all[cut]["seq"]).await;
        for expected in &all[cut + 1..] {
            assert_eq!(&later.frame().await, expected);
        }
    }
}

#[tokio::test]
async fn several_tabs_see_the_same_turn() {
    let app = TestApp::start().await;
    app.script([text("for all")]);
    let (mut one, mut two) = (app.connect().await, app.connect().await);
    two.resume(0).await;
    let mine = one.ask("hi").await;
    let theirs = two.turn().await;
    assert_eq!(mine, theirs);
}

#[tokio::test]
async fn a_lost_lease_is_taken_up_by_another_and_the_old_holder_is_refused() {
    let mut app = TestApp::start().await;
    app.stop().await;
    // Two servers that share a database, without their runners: the story tries only the leases.
    let store = Store::open(&app.database_behind(), &SystemRandom).await.unwrap();
    let now = app.now();
    let main = store.owners().main_conversation(now).await.unwrap();
    store.owners().accept_message(main, None, "work", now).await.unwrap();
    let old = store.claim("one", &[], now).await.unwrap().expect("a turn");
    let later = now + TimeDelta::days(1);
    assert_eq!(store.claim("two", &[], later).await.unwrap(), None, "it is held, whatever a clock says");
    assert_eq!(store.claim("two", &["three".into()], later).await.unwrap(), None, "by somebody who is there");
    assert_eq!(store.give_sign("one", &[old.turn]).await.unwrap(), [(old.turn, old.fence)]);
    assert_eq!(store.look("two", later).await.unwrap(), Look { free: false, more: true, holders: vec![("one".into(), 1)] });
    let new = store.claim("two", &["one".into()], later).await.unwrap().expect("who had it is gone");
    assert_eq!(store.give_sign("one", &[old.turn]).await.unwrap(), [], "who comes back learns of it");
    assert_eq!((new.turn, new.fence), (old.turn, old.fence + 1));
    let step = NewStep { number: 1, model: "m", finish_reason: "stop", content: "late", last: true, ..NewStep::default() };
    let refused = store.store_step(&old, step.clone(), later).await.unwrap_err();
    assert!(matches!(refused, StoreError::LostLease), "{refused:?}");
    assert!(matches!(store.give_back(&old, later).await, Err(StoreError::LostLease)));
    store.store_step(&new, step, later).await.unwrap();
    assert_eq!(store.turn_state(new.turn).await.unwrap(), TurnState::Completed);
    assert!(level3::replay::check(&store).await.unwrap().clean);
    store.close().await;
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_by_name() {
    let mut app = TestApp::start().await;
    app.rewrites("the database is made one of a newer version");
    app.stop().await;
    app.behind()
        .await
        .execute("INSERT INTO _sqlx_migrations VALUES (99990101000000, 'from the future', now(), TRUE, '', 0)")
        .await
        .unwrap();
    let error = Store::open(&app.database_behind(), &SystemRandom).await.err().expect("refused");
    assert!(error.to_string().contains("newer level3"), "{error}");
}
