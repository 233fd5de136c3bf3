//! A server keeps the messages that it has read, and reads only what came after them: a model is
//! shown the same as if all had been read.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::DateTime;
use level3::domain::{ConversationId, History, Origin, TurnId};
use level3::store::{Lease, Wanted};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::api::ask;
use crate::support::{Client, Reply, TestApp, call, calls, of_type, text};

/// As many messages as a turn of the server wants, so that it goes on from what it knows.
const HISTORY: usize = 50;

/// The history of the newest turn of a conversation.
async fn read(app: &TestApp, history: usize) -> History {
    let newest = "SELECT turn_id, conversation_id, profile FROM turns JOIN conversations USING (conversation_id)
                  WHERE is_main AND profile = 'builder' ORDER BY turn_id DESC LIMIT 1";
    let (turn, conversation, profile): (i64, i64, String) =
        sqlx::query_as(newest).fetch_one(&mut app.behind().await).await.unwrap();
    let (turn, conversation) = (TurnId(turn), ConversationId(conversation));
    let lease = Lease { turn, conversation, profile, fence: 0, origin: Origin::Message, takes: 1 };
    let due = (DateTime::UNIX_EPOCH, 0);
    app.store().standing(&lease, Wanted { history, due, todos: false, begins: false, now: app.now() }).await.unwrap().history
}

/// Asserts that the server's next step reads what there is.
async fn reads_what_there_is(app: &TestApp, after: &str) {
    let goes_on = read(app, HISTORY).await;
    // A reading of another number of messages is nothing to go on from.
    read(app, HISTORY - 1).await;
    assert_eq!(goes_on, read(app, HISTORY).await, "after {after}");
    assert!(!goes_on.exchanges.is_empty(), "after {after}");
}

fn sql(query: &str) -> Reply {
    call("execute_sql", json!({ "query": query }))
}

/// True if a step of the newest turn goes on from the messages that were known when it began.
async fn goes_on(app: &TestApp) -> bool {
    let goes_on = "SELECT (standing(jsonb_build_object(
            'turn', t.turn_id, 'conversation', t.conversation_id, 'profile', 'builder', 'history', 51, 'due', now(), 'tasks', 0,
            'today', current_date, 'now', now(), 'begins', FALSE, 'tries', 7,
            'known', jsonb_build_object('through', t.turn_id - 1, 'sequence', (
                SELECT max(e.sequence) FROM events e
                WHERE e.conversation_id = t.conversation_id AND e.kind = 'turn_started')))) ->> 'goes_on')::boolean
        FROM turns t WHERE t.turn_id = (SELECT max(turn_id) FROM turns)";
    sqlx::query_scalar(goes_on).fetch_one(&mut app.behind().await).await.unwrap()
}

/// Says something; the answer is a word.
async fn talk(app: &TestApp, client: &mut Client, said: &str) {
    app.script([text(&format!("An answer to {said}."))]);
    client.ask(said).await;
}

#[tokio::test]
async fn whatever_happens_to_a_conversation_its_next_step_reads_what_there_is() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for query in ["CREATE TABLE plants (id int PRIMARY KEY)", "INSERT INTO plants VALUES (1), (2), (3)"] {
        app.script([sql(query), text("Done.")]);
        client.ask(query).await;
    }
    app.script([sql("DELETE FROM plants WHERE id = 2"), text("It is gone.")]);
    let deleted = of_type(&client.ask("delete it").await, "tool_result")["call"].clone();
    reads_what_there_is(&app, "calls").await;
    talk(&app, &mut client, "thanks").await;

    let (status, told) = ask(&app, Method::POST, &format!("/api/calls/{deleted}/undo"), Some(json!({}))).await;
    assert_eq!(status, 200, "{told}");
    reads_what_there_is(&app, "the undoing of a call of an earlier turn").await;
    talk(&app, &mut client, "is it back?").await;
    let shown = format!("{:?}", app.script.requests().pop().unwrap().entries);
    assert!(shown.contains("The user undid this call"), "{shown}");

    let signal = Arc::<Notify>::default();
    let two = calls(&[("execute_sql", json!({"query": "SELECT 1"})), ("execute_sql", json!({"query": "SELECT 2"}))]);
    app.script([Reply::After(Arc::clone(&signal), Box::new(two)), text("In German, then.")]);
    let asked = app.script.requests().len();
    client.say("count").await;
    app.script.asked(asked + 1).await;
    client.send(json!({"type": "message", "content": "in German", "id": "s1", "steer": true})).await;
    client.until(|frame| frame["id"] == "s1").await;
    signal.notify_one();
    client.turn().await;
    reads_what_there_is(&app, "words said into a turn").await;

    app.script([Reply::Hang("I was just".into())]);
    client.say("think").await;
    client.until(|frame| frame["type"] == "delta").await;
    client.stop().await;
    client.turn().await;
    reads_what_there_is(&app, "a stop").await;
    talk(&app, &mut client, "go on").await;
    reads_what_there_is(&app, "a turn that goes on").await;
}

#[tokio::test]
async fn in_a_long_conversation_as_much_is_shown_as_if_all_were_read() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for n in 0..40 {
        match n % 3 {
            0 => talk(&app, &mut client, &format!("question {n}")).await,
            // The turn that does not fit whole is left out.
            _ => {
                app.script([sql("SELECT 1"), sql("SELECT 2"), text("Both.")]);
                client.ask(&format!("question {n}")).await;
            }
        }
        if n % 4 == 3 {
            reads_what_there_is(&app, &format!("{n} turns")).await;
        }
    }
    let history = read(&app, HISTORY).await;
    assert!(history.more);
}

#[tokio::test]
async fn what_another_server_wrote_is_read_as_well() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let mut clients = BTreeMap::from([("here", app.connect().await), ("there", other.connect().await)]);
    for client in clients.values_mut() {
        client.follow().await;
    }
    for (n, place) in ["here", "here", "there", "there", "here", "there", "here"].into_iter().enumerate() {
        let said = format!("word {n} from {place}");
        app.script([sql(&format!("SELECT {n}")), text(&format!("An answer to {said}."))]);
        let client = clients.get_mut(place).unwrap();
        client.send(json!({"type": "message", "content": said, "id": format!("m{n}")})).await;
        let turn = client.until(|frame| frame["id"] == format!("m{n}").as_str()).await.pop().unwrap()["turn"].clone();
        client.until(|frame: &Value| frame["turn"] == turn && frame["state"] == "completed").await;
        reads_what_there_is(&app, &said).await;
        reads_what_there_is(&other, &said).await;
    }
}

#[tokio::test]
async fn of_the_events_about_no_turn_only_those_that_change_the_history_have_it_read_again() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    talk(&app, &mut client, "hello").await;
    app.script([call("manage_tasks", json!({"action": "create", "title": "Water the plants"})), text("Noted.")]);
    client.ask("note it").await;
    assert_eq!(app.count("SELECT count(*) FROM events WHERE kind = 'task_changed' AND NOT payload ? 'turn'").await, 1);
    assert!(goes_on(&app).await, "the messages are as they were");
    reads_what_there_is(&app, "a task was made").await;

    let conversation = ConversationId(app.count("SELECT max(conversation_id) FROM turns").await);
    app.store().owners().begin_anew(conversation, app.now()).await.unwrap();
    assert!(!goes_on(&app).await, "it was begun anew");
    talk(&app, &mut client, "hello again").await;
    assert!(goes_on(&app).await, "that was before this turn");

    let forgotten = "SELECT count(*) FROM append_events(
        (SELECT max(conversation_id) FROM turns), ARRAY['{\"kind\": \"chat_forgotten\", \"messages\": []}'::jsonb], now())";
    assert_eq!(app.count(forgotten).await, 1);
    assert!(!goes_on(&app).await, "messages may be gone");
}
