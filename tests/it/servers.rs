//! Several servers on one database. Here two of them stand in one process; `tests/chaos/servers.rs`
//! has real processes that come and go.

use std::sync::Arc;

use level3::domain::{Budgets, Mode, Rule};
use level3::wire::api::ConversationChange;
use reqwest::Method;
use serde_json::json;
use sqlx::postgres::PgListener;
use sqlx::{ConnectOptions, Executor, postgres::PgPoolOptions};
use tokio::sync::Notify;

use crate::support::people::request;
use crate::support::{Client, Reply, Stranger, TestApp, adds, api, call, cluster, in_time, kinds, results, text};

/// A client that follows the main conversation and says nothing.
async fn watching(app: &TestApp) -> Client {
    let mut client = app.connect().await;
    client.resume(0).await;
    // The server takes frames in order: once it refuses this one, it has taken the other.
    client.send(json!({"type": "nothing"})).await;
    client.until(|frame| frame["type"] == "error").await;
    client
}

/// Completes when the reply that waits for this signal was dropped.
async fn given_up(signal: &Arc<Notify>) {
    let alone = async {
        while Arc::strong_count(signal) > 1 {
            tokio::task::yield_now().await;
        }
    };
    in_time("nobody works on it any more", alone).await;
}

#[tokio::test]
async fn what_one_server_commits_is_shown_by_the_other_unasked() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let (mut here, mut there) = (watching(&app).await, watching(&other).await);
    app.script([call("execute_sql", json!({"query": "SELECT 1"})), text("for all servers"), text("and back")]);
    let mine = here.ask("hi").await;
    assert_eq!(there.turn().await, mine);
    let theirs = there.ask("hi again").await;
    assert_eq!(here.turn().await, theirs);
    app.check_replay().await;
}

#[tokio::test]
async fn text_is_shown_by_the_other_server_while_the_model_writes_it() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let (mut here, mut there) = (watching(&app).await, watching(&other).await);
    app.script([Reply::Hang("I was just".into())]);
    here.say("think").await;
    for client in [&mut here, &mut there] {
        let delta = client.until(|frame| frame["type"] == "delta").await.pop().unwrap();
        assert_eq!((&delta["content"], &delta["step"]), (&json!("I was just"), &json!(1)));
    }
    here.stop().await;
    there.turn().await;
}

#[tokio::test]
async fn a_stop_said_to_one_server_ends_the_work_of_another() {
    let app = TestApp::start().await;
    let signal = Arc::<Notify>::default();
    app.script([Reply::After(Arc::clone(&signal), Box::new(text("never")))]);
    let mut here = app.connect().await;
    here.say("think").await;
    app.script.asked(1).await;
    let other = app.beside().await;
    let mut there = watching(&other).await;
    there.stop().await;
    assert_eq!(kinds(&there.turn().await).last().unwrap(), "turn aborted");
    assert_eq!(kinds(&here.turn().await).last().unwrap(), "turn aborted");
    given_up(&signal).await;
    app.script([text("next")]);
    there.ask("go on").await;
    app.check_replay().await;
}

#[tokio::test]
async fn a_decision_and_a_word_said_to_one_server_reach_the_turn_of_another() {
    let app = TestApp::start().await;
    let signal = Arc::<Notify>::default();
    let capability = json!({
        "name": "look_up", "description": "Looks something up.",
        "code": "export default async function look_up(params) { return 1; }",
        "parameters_schema": {"type": "object", "properties": {}},
        "grants": {"http": {"hosts": ["api.example.com"]}},
    });
    app.script([call("write_capability", capability)]);
    app.script([Reply::After(Arc::clone(&signal), Box::new(text("done"))), text("done in German")]);
    let mut here = app.connect().await;
    here.say("look it up").await;
    let asked = here.asked().await;
    let other = app.beside().await;
    let mut there = watching(&other).await;
    there.approve(&asked).await;
    app.script.asked(2).await;
    // Whichever server has the turn now, one of these two clients is at the other.
    there.send(json!({"type": "message", "content": "in German", "id": "s1", "steer": true})).await;
    here.until(|frame| frame["id"] == "s1").await;
    signal.notify_one();
    assert_eq!(kinds(&here.turn().await).last().unwrap(), "turn completed");
    assert_eq!(app.script.requests().len(), 3, "what was said is answered in the same turn");
    there.turn().await;
    app.check_replay().await;
}

#[tokio::test]
async fn a_new_title_at_one_server_is_heard_by_the_other() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let mut heard = other.store().signals().elsewhere();
    let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
    let change = ConversationChange { title: Some("Haskell".into()), ..ConversationChange::default() };
    app.store().owners().change_conversation(conversation, &change, app.now()).await.unwrap();
    let hint = async {
        loop {
            if let Some(hint) = heard.next().await {
                return hint;
            }
        }
    };
    let hint = in_time("a word of the new title", hint).await;
    assert_eq!((hint.conversation, hint.is_event()), (conversation, false));
}

/// A change on one server holds for the next decision of the other, and for its next request:
/// each keeps policies, rules and capabilities in memory, and trusts nothing of it unchecked.
#[tokio::test]
async fn what_changes_on_one_server_holds_for_the_next_step_on_the_other() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let mut here = app.connect().await;
    let double = json!({
        "name": "double", "description": "Doubles a number.",
        "code": "export default function double(params) { return 2 * params.n; }",
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "tests": [{"params": {"n": 2}, "expect": 4}],
    });
    app.script([call("write_capability", double), text("made")]);
    here.ask("double things").await;
    // Whichever server has the turn, the change is made through the one and through the other.
    for (through, name) in [(&app, "here"), (&other, "there")] {
        let signals = [Arc::<Notify>::default(), Arc::default(), Arc::default()];
        let [law, off, on] = signals.each_ref().map(|signal| move |reply| Reply::After(Arc::clone(signal), Box::new(reply)));
        app.script([
            law(call("execute_sql", json!({"query": "SELECT 1"}))),
            off(call("double", json!({"n": 21}))),
            on(call("double", json!({"n": 21}))),
            text("The answer is 42."),
        ]);
        let asked = app.script.requests().len();
        here.say(name).await;
        app.script.asked(asked + 1).await;
        through.store().set_tool_rule("builder", "execute_sql", Some(Rule::Never), app.now()).await.unwrap();
        signals[0].notify_one();
        app.script.asked(asked + 2).await;
        through.store().enable_capability("double", false, app.now()).await.unwrap();
        signals[1].notify_one();
        app.script.asked(asked + 3).await;
        through.store().enable_capability("double", true, app.now()).await.unwrap();
        signals[2].notify_one();
        let results = results(&here.turn().await);
        let ended: Vec<_> = results.iter().map(|(ok, _)| *ok).collect();
        assert_eq!(ended, [false, false, true], "changed {name}: {results:?}");
        assert_eq!(results[2].1, "42");
        let offered: Vec<_> =
            app.script.requests()[asked..].iter().map(|request| request.tools.iter().any(|tool| tool.name == "double")).collect();
        assert_eq!(offered, [true, true, false, true], "changed {name}");
        through.store().set_tool_rule("builder", "execute_sql", None, app.now()).await.unwrap();
    }
    drop(other);
}

/// The same of the mode of a profile, and of a tool of an external server.
#[tokio::test]
async fn a_mode_and_an_external_tool_set_on_one_server_hold_for_the_next_step_on_the_other() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    let stranger = Stranger::start(vec![adds("Adds two numbers.")]).await;
    let adding = || call("far__add", json!({"a": 20, "b": 22}));
    let mut here = app.connect().await;
    for (through, name) in [(&app, "here"), (&other, "there")] {
        let signals = [Arc::<Notify>::default(), Arc::default(), Arc::default()];
        let [add, remove, mode] = signals.each_ref().map(|signal| move |reply| Reply::After(Arc::clone(signal), Box::new(reply)));
        let table = call("execute_sql", json!({"query": format!("CREATE TABLE {name} (n int)")}));
        app.script([add(adding()), remove(adding()), mode(table), text("done")]);
        let asked = app.script.requests().len();
        here.say(name).await;
        app.script.asked(asked + 1).await;
        let url = Some(json!({"url": stranger.url()}));
        assert_eq!(api::ask(through, Method::PUT, "/api/mcp/far", url).await.0, 201, "added {name}");
        through.store().set_tool_rule("builder", "far__add", Some(Rule::Always), app.now()).await.unwrap();
        signals[0].notify_one();
        app.script.asked(asked + 2).await;
        assert_eq!(api::ask(through, Method::DELETE, "/api/mcp/far", None).await.0, 200, "removed {name}");
        signals[1].notify_one();
        app.script.asked(asked + 3).await;
        let (store, budgets) = (through.store(), Budgets::default());
        store.set_profile_policy("builder", Mode::ReadOnly, false, &budgets, app.now()).await.unwrap();
        signals[2].notify_one();
        let results = results(&here.turn().await);
        let ended: Vec<_> = results.iter().map(|(ok, _)| *ok).collect();
        assert_eq!(ended, [true, false, false], "changed {name}: {results:?}");
        assert_eq!(results[0].1, "42");
        let offered: Vec<_> = app.script.requests()[asked..]
            .iter()
            .map(|request| request.tools.iter().any(|tool| tool.name == "far__add"))
            .collect();
        assert_eq!(offered, [false, true, false, false], "changed {name}");
        store.set_profile_policy("builder", Mode::Smart, false, &budgets, app.now()).await.unwrap();
    }
    assert_eq!(stranger.calls().len(), 2);
    drop(other);
}

#[tokio::test]
async fn a_turn_accepted_by_a_server_that_is_full_is_taken_by_the_other() {
    let app = TestApp::start().await;
    app.leaves("so many models are held for ever");
    let signal = Arc::<Notify>::default();
    // As many as one server works on at once.
    for n in 1..=32 {
        app.script([Reply::After(Arc::clone(&signal), Box::new(text("late")))]);
        let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
        app.store().owners().accept_message(conversation, None, "work", app.now()).await.unwrap();
        app.script.asked(n).await;
    }
    let other = app.beside().await;
    app.script([text("at once")]);
    let mut here = app.connect().await;
    let frames = here.ask("and this").await;
    assert_eq!(kinds(&frames), ["turn queued", "turn running", "assistant", "turn completed"]);
    let (owners, fences) = (
        app.count("SELECT count(DISTINCT lease_owner) FROM turns WHERE state = 'running'").await,
        app.count("SELECT max(fence) FROM turns").await,
    );
    assert_eq!((owners, fences), (1, 1), "what the first server works on stays its own");
    drop(other);
    app.script.forget();
}

#[tokio::test]
async fn a_server_alone_tells_nobody_and_one_in_company_tells_ids() {
    let app = TestApp::start().await;
    let channel = format!("level3_{}", hex::encode(&app.store().derived_key("channel")[..16]));
    // This connection does not have the name of a server, so it does not count as one.
    let pool = PgPoolOptions::new().connect_with(cluster().database(app.database()).disable_statement_logging()).await.unwrap();
    let mut heard = PgListener::connect_with(&pool).await.unwrap();
    heard.listen(&channel).await.unwrap();
    app.script([text("a secret"), text("another")]);
    let mut here = app.connect().await;
    here.ask("alone").await;
    let other = app.beside().await;
    let mut there = watching(&other).await;
    here.ask("together").await;
    there.until(|frame| frame["content"] == "another").await;
    let mut told = Vec::new();
    while !told.iter().any(|word: &String| word.contains("turn_ended")) {
        let word = in_time("a word to the neighbours", heard.recv()).await.unwrap();
        told.push(word.payload().to_owned());
    }
    let alone: Vec<_> = told.iter().filter(|word| word.contains(r#""turn":1,"#) || word.contains(r#""turn":1}"#)).collect();
    assert!(alone.is_empty(), "{alone:?}");
    assert!(told.iter().any(|word| word.contains("step_answered")), "{told:?}");
    assert!(!told.iter().any(|word| word.contains("event") && word.contains("together")), "ids only: {told:?}");
    drop(heard);
    pool.close().await;
}

#[tokio::test]
async fn a_statement_of_the_agent_cannot_learn_where_servers_talk() {
    let app = TestApp::start().await;
    let channel = hex::encode(&app.store().derived_key("channel")[..16]);
    let other = app.beside().await;
    let ask = |query: &str| call("execute_sql", json!({"query": query}));
    app.script([
        ask("SELECT string_agg(coalesce(query, '') || coalesce(application_name, ''), ' ') AS all FROM pg_stat_activity"),
        text("I tried."),
    ]);
    let mut here = app.connect().await;
    let told = results(&here.ask("listen").await);
    assert!(told.iter().all(|(_, result)| !result.contains(&channel)), "{told:?}");
    assert!(told[0].0 && told[0].1.contains("insufficient privilege"), "{told:?}");
    drop(other);
}

/// The first password of a server, set where the server does not see it.
const PASSWORD_BEHIND: &str = "UPDATE users SET password_hash = 'one' WHERE id = 1";

/// The status of a request of somebody who shows nothing.
async fn strangers(app: &TestApp) -> u16 {
    request(app.address(), "", Method::GET, "/api/me", None).await.0
}

/// Completes when the server knows that it is alone, or when it does not know it any more.
async fn is_alone(app: &TestApp, alone: bool) {
    let knows = async {
        while app.store().signals().is_alone() != alone {
            tokio::task::yield_now().await;
        }
    };
    in_time("it knows whether it is alone", knows).await;
}

#[tokio::test]
async fn a_server_alone_believes_for_a_second_that_its_door_stands_open() {
    let app = TestApp::start().await;
    is_alone(&app, true).await;
    assert_eq!(strangers(&app).await, 200);
    app.behind().await.execute(PASSWORD_BEHIND).await.unwrap();
    assert_eq!(strangers(&app).await, 200, "nothing is asked of the database");
    app.advance(1);
    assert_eq!(strangers(&app).await, 401);
}

#[tokio::test]
async fn a_server_in_company_asks_each_time_whether_its_door_stands_open() {
    let app = TestApp::start().await;
    let other = app.beside().await;
    for server in [&app, &other] {
        assert_eq!(strangers(server).await, 200);
    }
    app.behind().await.execute(PASSWORD_BEHIND).await.unwrap();
    for server in [&app, &other] {
        assert_eq!(strangers(server).await, 401);
    }
}

#[tokio::test]
async fn a_server_that_cannot_hear_the_others_asks_each_time_whether_its_door_stands_open() {
    let app = TestApp::start().await;
    is_alone(&app, true).await;
    assert_eq!(strangers(&app).await, 200);
    let mut behind = app.behind().await;
    // The connection that listens is cut, and there is no new one.
    behind.execute("UPDATE pg_database SET datallowconn = FALSE WHERE datname = current_database()").await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = 'level3 ears'";
    behind.execute(cut).await.unwrap();
    is_alone(&app, false).await;
    behind.execute(PASSWORD_BEHIND).await.unwrap();
    assert_eq!(strangers(&app).await, 401);
    behind.execute("UPDATE pg_database SET datallowconn = TRUE WHERE datname = current_database()").await.unwrap();
}
