//! No statement of a turn reads a table from end to end, or sorts a whole history, at a hundred
//! times the data of a day: Postgres tells the plan of each of them while a server works, those
//! inside the functions of the database among them.
//!
//! So they are the statements themselves, sent by the server, with its arguments and on its own
//! connections. Postgres tells by its module `auto_explain`, which comes with the server or in its
//! package `contrib`.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::Regex;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, query_as, query_scalar, raw_sql};
use tokio::sync::Notify;

use crate::cost::written;
use crate::plans::{Looked, fill};
use crate::support::{Client, Reply, TestApp, call, text};

/// The functions that turns go through. A statement of each has to be seen.
const ON_THE_WAY: [&str; 12] = [
    "accept_message",
    "append_events",
    "claim_turns",
    "count_spent",
    "end_call",
    "end_call_with",
    "insert_step",
    "install_capability",
    "queue_turn",
    "standing",
    "store_step",
    "turn_account",
];

/// The settings by which Postgres tells a session the plan of each statement, those inside
/// functions among them.
const TELLING: [(&str, &str); 8] = [
    ("session_preload_libraries", "auto_explain"),
    ("auto_explain.log_min_duration", "0"),
    ("auto_explain.log_nested_statements", "on"),
    ("auto_explain.log_analyze", "on"),
    ("auto_explain.log_timing", "off"),
    ("auto_explain.log_format", "json"),
    ("client_min_messages", "log"),
    // They are not for the log of the server, which other stories share.
    ("log_min_messages", "fatal"),
];

/// Has Postgres tell the plans to the server's own login, from the server's next start on.
async fn tell_plans(app: &TestApp, behind: &mut PgConnection) {
    let module = "auto_explain comes with Postgres, or in its package contrib";
    raw_sql("LOAD 'auto_explain'").execute(&mut *behind).await.expect(module);
    let login = app.database_behind().app().unwrap();
    for (setting, value) in TELLING {
        let (login, database) = (login.get_username(), app.database());
        let set = format!("ALTER ROLE {login} IN DATABASE {database} SET {setting} = '{value}'");
        raw_sql(AssertSqlSafe(set)).execute(&mut *behind).await.unwrap();
    }
}

/// A text with single spaces.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The names and the texts of the functions. PL/pgSQL takes the names of variables behind INTO out
/// of a statement before it is run, and runs a PERFORM as a SELECT.
async fn functions(behind: &mut PgConnection) -> Vec<(String, String)> {
    let into = Regex::new(r"\bINTO (?:STRICT )?v_\w+(?:, v_\w+)*").unwrap();
    let all = "SELECT proname::text, prosrc FROM pg_proc WHERE pronamespace = 'level3'::regnamespace";
    let all: Vec<(String, String)> = query_as(all).fetch_all(behind).await.unwrap();
    all.into_iter().map(|(name, text)| (name, line(&into.replace_all(&line(&text), "").replace("PERFORM", "SELECT")))).collect()
}

/// The statements of the server's own login that were run since the last look, and their plans.
fn statements_with_plans(app: &TestApp) -> Vec<(String, Value)> {
    let told = app.notices().into_iter().filter_map(|notice| {
        let (_, plan) = notice.split_once("plan:\n")?;
        let plan: Value = serde_json::from_str(plan).unwrap();
        Some((line(plan["Query Text"].as_str().unwrap()), plan["Plan"].clone()))
    });
    told.collect()
}

/// True if a statement has a plan: others begin and end transactions, or change a session.
fn has_plan(statement: &str) -> bool {
    ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].iter().any(|word| statement.starts_with(word))
}

/// Says something, and waits until it is accepted.
async fn say(client: &mut Client, content: &str) {
    client.say(content).await;
    client.until(|frame| frame["type"] == "turn" && frame["state"] == "queued").await;
}

/// Two turns in the long conversation, the first with calls; the second one waits for it. Gives the
/// statements and their plans. The server is started for them, and stopped.
async fn two_turns(app: &mut TestApp) -> Vec<(String, Value)> {
    app.start_again().await;
    let mut client = app.connect().await;
    drop((app.sent(), app.notices()));
    let asked = app.script.requests().len();
    let (name, goes_on) = (format!("mine_{asked}"), Arc::new(Notify::new()));
    let sql = |query: &str| call("execute_sql", json!({"query": query}));
    // The server's own login ends a call of an unknown tool.
    app.script([call("send_email", json!({})), call("manage_tasks", json!({"action": "create", "title": "Water the plants"}))]);
    app.script([written(&name), call(&name, json!({})), sql("SELECT 1 AS one"), sql("CREATE TABLE IF NOT EXISTS t (n int)")]);
    app.script([sql("INSERT INTO t VALUES (1)"), Reply::After(Arc::clone(&goes_on), Box::new(text("I see.")))]);
    app.script([text("Good morning.")]);
    say(&mut client, "work").await;
    app.script.asked(asked + 8).await;
    say(&mut client, "and then?").await;
    goes_on.notify_one();
    for _ in 0..2 {
        client.turn().await;
    }
    drop(client);
    let sent = app.sent();
    // From then on all plans were told.
    app.stop().await;
    let told = statements_with_plans(app);
    let own = app.database_behind().app().unwrap();
    for sent in sent.iter().filter(|sent| sent.login == own.get_username() && has_plan(&sent.text)) {
        let sent = line(&sent.text);
        assert!(told.iter().any(|(statement, _)| *statement == sent), "no plan was told of {sent}");
    }
    told
}

#[tokio::test]
async fn no_statement_of_a_turn_reads_a_table_that_grows_from_end_to_end() {
    let mut app = fill(TestApp::counted().await).await;
    let mut behind = app.behind().await;
    let functions = functions(&mut behind).await;
    tell_plans(&app, &mut behind).await;
    let told = two_turns(&mut app).await;
    for name in ON_THE_WAY {
        let (_, text) = functions.iter().find(|(function, _)| function == name).expect(name);
        assert!(told.iter().any(|(statement, _)| text.contains(statement)), "no statement of {name} was seen");
    }
    for (statement, plan) in &told {
        let looked = Looked::at(plan);
        let few = looked.scanned.is_empty() && looked.sorted <= 100.0 && looked.read <= 1_000.0;
        assert!(few, "{statement}: {looked:?}\n{plan:#}");
    }
    // Without the index by which the end of a turn finds its approvals, all there ever were are
    // read. That is seen.
    raw_sql("DROP INDEX approvals_of_turn").execute(&mut behind).await.unwrap();
    let told = two_turns(&mut app).await;
    let (mut scanned, mut read) = (BTreeSet::new(), 0.0);
    for (_, plan) in &told {
        let looked = Looked::at(plan);
        scanned.extend(looked.scanned);
        read = looked.read.max(read);
    }
    assert_eq!(scanned, BTreeSet::from(["approvals".to_owned()]));
    assert!(read >= 6_000.0, "{read} rows were read, and there are 6000 approvals");
}

#[tokio::test]
async fn a_sort_of_a_whole_conversation_is_seen() {
    let app = fill(TestApp::start().await).await;
    let mut behind = app.behind().await;
    let sorted = "EXPLAIN (ANALYZE, FORMAT JSON) SELECT content FROM messages
                  WHERE conversation_id = (SELECT conversation_id FROM conversations WHERE is_main AND profile = 'builder')
                  ORDER BY content LIMIT 20";
    let plan: Value = query_scalar(sorted).fetch_one(&mut behind).await.unwrap();
    let looked = Looked::at(&plan[0]["Plan"]);
    assert!(looked.sorted >= 20_000.0, "{looked:?}");
}
