//! Wake-ups: everything due is settled once, in order, and keeps nobody else waiting.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use futures::{StreamExt, stream};
use level3::domain::{Budgets, ConversationId, Mode, TaskBudget};
use serde_json::{Value, json};
use sqlx::Executor;
use tokio::sync::Notify;

use crate::replay::with_a_past;
use crate::support::{Reply, TestApp, call, make_tasks, text};

const TURNS: &str = "SELECT count(*) FROM turns WHERE origin = 'task'";
/// The turns of every server; [`TestApp::run_until_idle`] hears only of its own.
const OPEN: &str = "SELECT count(*) FROM turns WHERE ended_at IS NULL";
const TOLD: &str = "SELECT count(*) FROM events WHERE kind = 'tasks_held'";

async fn new_conversations(app: &TestApp, count: usize) -> Vec<ConversationId> {
    let mut conversations = Vec::new();
    for _ in 0..count {
        conversations.push(app.store().owners().create_conversation(app.now()).await.unwrap());
    }
    conversations
}

/// Leaves a turn that waits for a person until tomorrow.
async fn ask_a_person(app: &TestApp) {
    app.script([call("execute_sql", json!({"query": "DROP FUNCTION IF EXISTS nothing()"}))]);
    let mut client = app.connect().await;
    client.say("drop it").await;
    client.asked().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_due_at_once_wake_once_each_in_order_through_a_crash_and_a_person_goes_before_them() {
    const CONVERSATIONS: i64 = 100;
    const PLACES: usize = 32;
    let mut app = TestApp::start().await;
    // This story does not try the limits of an hour and of a person.
    let limit = "DO $$ BEGIN EXECUTE replace(pg_get_functiondef('level3.change_todos'::regproc), 'v_before, 1000)', 'v_before, 10000)'); END $$";
    app.behind().await.execute(limit).await.unwrap();
    let budgets = Budgets { tasks: TaskBudget { turns_per_hour: None, ..TaskBudget::default() }, ..Budgets::default() };
    app.store().set_profile_policy("builder", Mode::Smart, false, &budgets, app.now()).await.unwrap();
    let conversations = new_conversations(&app, 100).await;
    // Each conversation has a task due within the first tenth of a second, and its last near the
    // end.
    let due = |place: i64| {
        let first = app.now() + TimeDelta::seconds(60);
        (0..100).map(move |n| first + TimeDelta::milliseconds(n * CONVERSATIONS + place))
    };
    let making = (0..).zip(&conversations).map(|(place, conversation)| make_tasks(&app, *conversation, due(place)));
    stream::iter(making).buffer_unordered(4).collect::<()>().await;
    assert_eq!(app.count("SELECT count(*) FROM wake_ups WHERE kind = 'task'").await, 10_000);

    app.script((0..PLACES).map(|_| Reply::Hang("I was about to".into())));
    app.advance(120);
    app.script.asked(PLACES).await;
    app.crash().await;
    let gates: Vec<_> = (0..PLACES).map(|_| Arc::new(Notify::new())).collect();
    app.script(gates.iter().map(|gate| Reply::After(Arc::clone(gate), Box::new(text("done")))));
    app.script((PLACES..101).map(|_| text("done")));
    app.start_again().await;
    // Slow models do not keep the heartbeat from its work.
    app.script.asked(2 * PLACES).await;
    app.until(TURNS, CONVERSATIONS).await;
    let mut client = app.connect().await;
    client.send(json!({"type": "message", "content": "are you there?", "id": "there"})).await;
    client.until(|frame| frame["id"] == "there").await;
    gates.iter().for_each(|gate| gate.notify_one());
    client.turn().await;
    app.run_until_idle().await;
    let asked = app.script.requests();
    let place = asked.iter().position(|request| format!("{:?}", request.entries.last()).contains("are you there?")).unwrap();
    // Some of those that were taken up with it may have ended, and others begun, before it asks.
    assert!(
        (2 * PLACES..3 * PLACES + PLACES / 2).contains(&place),
        "a person's turn is among the next that are taken up, not {place}th"
    );

    let fired = "SELECT conversation_id, payload FROM events WHERE kind = 'tasks_fired' ORDER BY position";
    let fired: Vec<(i64, Value)> = sqlx::query_as(fired).fetch_all(&mut app.behind().await).await.unwrap();
    let of: Vec<_> = fired.iter().map(|(conversation, _)| ConversationId(*conversation)).collect();
    assert_eq!(of, conversations, "one turn each, and the longest due first");
    for (_, payload) in &fired {
        let due: Vec<DateTime<Utc>> = serde_json::from_value(payload["due_at"].clone()).unwrap();
        assert!(due.is_sorted_by(|one, next| one < next) && due.len() == 100);
    }
    let tasks = fired.iter().flat_map(|(_, payload)| payload["tasks"].as_array().unwrap());
    let mut tasks: Vec<_> = tasks.map(|id| id.as_i64().unwrap()).collect();
    tasks.sort_unstable();
    assert!(tasks.iter().copied().eq(1..=10_000), "each once");
    app.advance(3600);
    assert_eq!((app.count(TURNS).await, app.count("SELECT count(*) FROM wake_ups").await), (CONVERSATIONS, 0));
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_on_one_database_settle_each_wake_up_once_and_share_the_limit_of_the_hour() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let conversations = new_conversations(&app, 40).await;
    for (conversation, n) in conversations.iter().zip(0..) {
        make_tasks(&app, *conversation, [app.now() + TimeDelta::seconds(60 + n)]).await;
    }
    app.script((0..30).map(|_| text("done")));
    app.advance(120);
    app.until(TOLD, 10).await;
    app.until(OPEN, 0).await;
    assert_eq!((app.count(TURNS).await, app.count(TOLD).await), (30, 10));
    app.script((0..10).map(|_| text("done")));
    app.advance(3600);
    app.until(TURNS, 40).await;
    app.until(OPEN, 0).await;
    assert_eq!(app.count("SELECT count(DISTINCT conversation_id) FROM turns WHERE origin = 'task'").await, 40);
    app.check_replay().await;
    drop(other);
}

#[tokio::test]
async fn a_kind_that_cannot_be_settled_keeps_no_other_waiting() {
    let app = TestApp::start().await;
    ask_a_person(&app).await;
    let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
    make_tasks(&app, conversation, [app.now() + TimeDelta::days(2)]).await;
    let broken = "CREATE FUNCTION level3.refuse() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = 'XX001'; END $$;
         CREATE TRIGGER refuse BEFORE UPDATE ON level3.approvals FOR EACH ROW EXECUTE FUNCTION level3.refuse()";
    sqlx::raw_sql(broken).execute(&mut app.behind().await).await.unwrap();
    app.script([text("I look.")]);
    app.advance(3 * 86_400);
    app.until(TURNS, 1).await;
    let idle = "SELECT count(*) FROM turns WHERE origin = 'task' AND state = 'completed'";
    app.until(idle, 1).await;
    assert_eq!(app.count("SELECT count(*) FROM wake_ups WHERE kind = 'approval'").await, 1, "it is still to be settled");
    app.behind().await.execute("DROP TRIGGER refuse ON level3.approvals").await.unwrap();
    app.script([text("Then not.")]);
    app.advance(5);
    app.run_until_idle().await;
    app.until("SELECT count(*) FROM approvals WHERE state = 'expired'", 1).await;
    app.run_until_idle().await;
    app.check_replay().await;
}

#[tokio::test]
async fn what_is_due_in_an_older_data_folder_is_settled_after_the_update() {
    let mut app = with_a_past().await;
    ask_a_person(&app).await;
    let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
    make_tasks(&app, conversation, [app.now() + TimeDelta::hours(1)]).await;
    app.stop().await;
    // The database as that version left it.
    let back = "DROP FUNCTION follow_wake_up CASCADE;
        DROP VIEW to_come;
        DROP TABLE wake_ups;
        ALTER TABLE operations RENAME COLUMN kind TO power;
        ALTER TABLE operations RENAME CONSTRAINT operations_kind_check TO operations_power_check;
        DELETE FROM _sqlx_migrations WHERE version IN (20261122100000, 20261122100100)";
    app.behind().await.execute(back).await.unwrap();
    app.script([text("I look."), text("Then not.")]);
    app.advance(2 * 86_400);
    app.start_again().await;
    app.until("SELECT count(*) FROM wake_ups WHERE at <= '2026-11-23T00:00:00Z'", 0).await;
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'task' AND state = 'completed'").await, 2, "one of before");
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'expired' AND turn_id = (SELECT max(turn_id) FROM turns WHERE origin = 'message')").await, 1);
    app.check_replay().await;
}
