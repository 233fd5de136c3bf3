//! The statements inside the functions of the database read no table from end to end either, at a
//! hundred times the data of a day: Postgres tells the plan of each of them while a server works.
//!
//! So they are the functions themselves, called by the server, with its arguments and on its own
//! connections. Postgres tells by its module `auto_explain`, which comes with the server or in its
//! package `contrib`.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::Regex;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, query_as, raw_sql};
use tokio::sync::Notify;

use crate::plans::{Looked, fill};
use crate::support::{Client, Reply, TestApp, call, text};

/// The functions that each turn goes through. A statement of each has to be seen.
const ON_THE_WAY: [&str; 11] = [
    "accept_message",
    "append_events",
    "claim_turns",
    "count_spent",
    "end_call",
    "end_call_with",
    "insert_step",
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

/// The statements inside these functions that were run since the last look, and their plans.
fn inside(app: &TestApp, functions: &[(String, String)]) -> Vec<(String, Value)> {
    let told = app.notices().into_iter().filter_map(|notice| {
        let (_, plan) = notice.split_once("plan:\n")?;
        let plan: Value = serde_json::from_str(plan).unwrap();
        let statement = line(plan["Query Text"].as_str().unwrap());
        functions.iter().any(|(_, text)| text.contains(&statement)).then(|| (statement, plan["Plan"].clone()))
    });
    told.collect()
}

/// Says something, and waits until it is accepted.
async fn say(client: &mut Client, content: &str) {
    client.say(content).await;
    client.until(|frame| frame["type"] == "turn" && frame["state"] == "queued").await;
}

/// Two turns in the long conversation, the first with a call; the second one waits for it. Gives
/// the statements inside functions and their plans.
async fn two_turns(app: &TestApp, functions: &[(String, String)]) -> Vec<(String, Value)> {
    let mut client = app.connect().await;
    app.notices();
    let (asked, goes_on) = (app.script.requests().len(), Arc::new(Notify::new()));
    let waits = Reply::After(Arc::clone(&goes_on), Box::new(text("I see.")));
    // The server's own login ends a call of an unknown tool.
    app.script([call("send_email", json!({})), waits, text("Good morning.")]);
    say(&mut client, "mail").await;
    app.script.asked(asked + 2).await;
    say(&mut client, "and then?").await;
    goes_on.notify_one();
    for _ in 0..2 {
        client.turn().await;
    }
    inside(app, functions)
}

#[tokio::test]
async fn no_statement_inside_a_function_reads_a_table_that_grows_from_end_to_end() {
    let mut app = fill(TestApp::counted().await).await;
    let mut behind = app.behind().await;
    let functions = functions(&mut behind).await;
    tell_plans(&app, &mut behind).await;
    app.start_again().await;
    let told = two_turns(&app, &functions).await;
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
    app.stop().await;
    raw_sql("DROP INDEX approvals_of_turn").execute(&mut behind).await.unwrap();
    app.start_again().await;
    let told = two_turns(&app, &functions).await;
    let (mut scanned, mut read) = (BTreeSet::new(), 0.0);
    for (_, plan) in &told {
        let looked = Looked::at(plan);
        scanned.extend(looked.scanned);
        read = looked.read.max(read);
    }
    assert_eq!(scanned, BTreeSet::from(["approvals".to_owned()]));
    assert!(read >= 6_000.0, "{read} rows were read, and there are 6000 approvals");
}
