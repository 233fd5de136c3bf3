//! The part of calls and turns that a person is told and no model reads.

use level3::model::Entry;
use serde_json::{Value, json};

use crate::support::{Reply, TestApp, call, of_type, text};

#[tokio::test]
async fn a_statement_tells_its_columns_and_all_its_rows_and_the_model_reads_none_of_it() {
    let app = TestApp::start().await;
    let query = "SELECT n AS id, n::text AS name, now() AS at, 1 AS id FROM generate_series(1, 300) n";
    app.script([
        Reply::Costs(100, 10, Box::new(call("execute_sql", json!({ "query": query })))),
        Reply::Costs(200, 20, Box::new(text("There are 300."))),
    ]);
    let mut client = app.connect().await;
    let frames = client.ask("how many?").await;
    let told = of_type(&frames, "tool_result");
    assert_eq!((&told["said"], &told["total"]), (&json!("It gave 300 rows."), &json!(300)));
    let columns = json!([{"name": "id", "type": "int4"}, {"name": "name", "type": "text"}, {"name": "at", "type": "timestamptz"},
        {"name": "id_2", "type": "int4"}]);
    assert_eq!(told["columns"], columns);
    assert!(told["ms"].as_i64().is_some_and(|ms| ms >= 0), "{told}");
    let end = frames.last().unwrap();
    assert_eq!(end["usage"], json!({"requests": 2, "input_tokens": 300, "output_tokens": 30, "cost_micros": null}));
    assert!(end["ms"].is_i64(), "{end}");

    let last = app.script.requests().pop().unwrap();
    let read = last.entries.iter().find_map(|entry| match entry {
        Entry::Tool { content, .. } => Some(content.clone()),
        _ => None,
    });
    assert_eq!(read.as_deref(), told["result"].as_str(), "the model reads the result and nothing else");
    let all = format!("{last:?}");
    assert!(!all.contains("It gave") && !all.contains("timestamptz"), "{all}");

    // A client that comes back is told the same.
    client.resume(0).await;
    let again = client.turn().await;
    assert_eq!(of_type(&again, "tool_result"), told);
    assert_eq!(again.last().unwrap(), end);
    app.check_replay().await;
}

#[tokio::test]
async fn a_statement_without_rows_names_its_columns_and_one_that_changes_has_none() {
    let app = TestApp::start().await;
    for (query, said, columns, total) in [
        ("SELECT 1 AS one WHERE false", "It gave 0 rows.", json!([{"name": "one", "type": "int4"}]), json!(0)),
        ("CREATE TABLE t (a int)", "The statement ran.", Value::Null, Value::Null),
        ("INSERT INTO t VALUES (1)", "It changed 1 row.", Value::Null, Value::Null),
        ("SELECT 1 AS one; SELECT 2 AS two", "2 statements ran.", Value::Null, Value::Null),
        (
            "SELECT 1 / 0",
            "The database refused the statement; nothing of it was kept. The reason: division by zero.",
            Value::Null,
            Value::Null,
        ),
    ] {
        app.script([call("execute_sql", json!({ "query": query })), text("I see.")]);
        let frames = app.connect().await.ask("go").await;
        let told = of_type(&frames, "tool_result");
        assert_eq!((&told["said"], &told["columns"], &told["total"]), (&json!(said), &columns, &total), "{query}");
        assert!(told["ms"].is_i64(), "{told}");
    }
}

#[tokio::test]
async fn a_failure_tells_its_reason_and_beside_it_all_of_its_words() {
    let app = TestApp::start().await;
    let twice = "CREATE TABLE shelf (n int PRIMARY KEY); INSERT INTO shelf VALUES (1), (1)";
    let referring = json!({"name": "refer", "description": "Refers.", "code": "export default () => 1",
        "parameters_schema": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}});
    app.script([call("execute_sql", json!({"query": twice})), call("write_capability", referring), text("I see.")]);
    let frames = app.connect().await.ask("go").await;
    let told: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    let doubled = "duplicate key value violates unique constraint \"shelf_pkey\"";
    assert_eq!(told[0]["said"], format!("The database refused the statement; nothing of it was kept. The reason: {doubled}."));
    assert_eq!(told[0]["fault"], json!({"message": format!("{doubled}\nKey (n)=(1) already exists.")}));
    let place = "the parameters schema has a reference at `/properties/n/$ref`; write the schema out there instead";
    assert_eq!(told[1]["said"], format!("The parameters of the capability cannot be read. The reason: {place}."));
    assert_eq!(told[1]["fault"], Value::Null, "the sentence says all there is");
    app.check_replay().await;
}

#[tokio::test]
async fn a_person_reads_no_words_that_are_for_the_model() {
    let app = TestApp::start().await;
    app.script([call("currency", json!({})), call("manage_tasks", json!({"id": 1})), text("I see.")]);
    let frames = app.connect().await.ask("how many euros?").await;
    let said: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").map(|frame| frame["said"].clone()).collect();
    assert_eq!(said, [json!("There is no such tool."), json!("The arguments did not fit, so nothing was done.")]);
}

#[tokio::test]
async fn a_capability_tells_its_version_and_a_turn_the_time_without_its_question() {
    let app = TestApp::start().await;
    let written = json!({"name": "greet", "description": "Greets.", "code": "export default () => 'hello'",
        "parameters_schema": {"type": "object"}});
    app.script([call("write_capability", written), call("greet", json!({})), text("hello")]);
    let frames = app.connect().await.ask("greet").await;
    let told: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    assert_eq!((&told[0]["said"], &told[0]["version"]), (&json!("Version 1 of the capability `greet` is live."), &Value::Null));
    assert_eq!((&told[1]["said"], &told[1]["version"]), (&json!("`greet` was called, version 1."), &json!(1)));

    app.script([call("execute_sql", json!({"query": "DROP SCHEMA agent CASCADE"})), text("As you wish.")]);
    let mut client = app.connect().await;
    client.say("drop all").await;
    let question = client.until(|frame| frame["type"] == "approval").await.pop().unwrap();
    app.advance(3600);
    client.deny(&question).await;
    let frames = client.turn().await;
    let told = of_type(&frames, "tool_result");
    assert_eq!((&told["said"], &told["refusal"]), (&json!("It was not allowed, so nothing was done."), &json!("denied")));
    assert_eq!(frames.last().unwrap()["ms"], 0, "the hour was the person's");
}
