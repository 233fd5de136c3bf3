//! `execute_sql`: every type a user meets, limits that say so, errors that teach, and no way out.

use serde_json::{Value, json};
use sqlx::Executor;

use crate::sql_guard::lawless;
use crate::support::{TestApp, calls, text};

/// Runs statements in one step and returns `(ok, result)` of each.
pub async fn run(app: &TestApp, statements: &[&str]) -> Vec<(bool, String)> {
    let asked: Vec<_> = statements.iter().map(|query| ("execute_sql", json!({ "query": query }))).collect();
    app.script([calls(&asked), text("done")]);
    let frames = app.connect().await.ask("run").await;
    let results = frames.iter().filter(|frame| frame["type"] == "tool_result");
    results.map(|frame| (frame["ok"].as_bool().unwrap(), frame["result"].as_str().unwrap().to_owned())).collect()
}

pub fn json_of(result: &(bool, String)) -> Value {
    serde_json::from_str(&result.1).unwrap_or_else(|error| panic!("{error}: {}", result.1))
}

#[tokio::test]
async fn every_type_a_user_meets_comes_as_the_json_one_expects() {
    let app = lawless().await;
    let query = "SELECT true AS yes, 7::int2 AS small, 9007199254740993::int8 AS big, 1.50::numeric AS price, 'NaN'::numeric AS nan, \
         0.1::float8 AS ratio, 'it''s'::text AS words, NULL::int AS nothing, \
         '6ba7b810-9dad-11d1-80b4-00c04fd430c8'::uuid AS id, '{\"a\": [1, null]}'::jsonb AS doc, \
         ARRAY[1, NULL, 3] AS numbers, ARRAY['a b', '\"q\"'] AS texts, ARRAY[[1,2],[3,4]] AS grid, \
         '2026-11-20 08:00:00.25+02'::timestamptz AS at, '2026-11-20'::date AS day, '08:30'::time AS clock, \
         '1 day 2 hours'::interval AS span, '\\xdeadbeef'::bytea AS bytes, '10.0.0.0/8'::cidr AS net, '[1,5)'::int4range AS range, \
         1 AS twice, 2 AS twice";
    let results = run(&app, &[query]).await;
    assert_eq!(
        results[0].1,
        r#"[{"yes":true,"small":7,"big":9007199254740993,"price":1.50,"nan":"NaN","ratio":0.1,"words":"it's","nothing":null,"#
            .to_owned()
            + r#""id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","doc":{"a": [1, null]},"numbers":[1,null,3],"texts":["a b","\"q\""],"#
            + r#""grid":[[1,2],[3,4]],"at":"2026-11-20T06:00:00.25+00:00","day":"2026-11-20","clock":"08:30:00","#
            + r#""span":"1 day 02:00:00","bytes":"\\xdeadbeef","net":"10.0.0.0/8","range":"[1,5)","twice":1,"twice_2":2}]"#
    );
}

#[tokio::test]
async fn own_types_can_be_made_and_read() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE TYPE mood AS ENUM ('calm', 'merry')",
            "CREATE DOMAIN grade AS int CHECK (VALUE BETWEEN 1 AND 6)",
            "CREATE TABLE notes (id int GENERATED ALWAYS AS IDENTITY, mood mood, grade grade, moods mood[])",
            "INSERT INTO notes (mood, grade, moods) VALUES ('merry', 2, '{calm,merry}') RETURNING *",
        ],
    )
    .await;
    assert_eq!(results[3].1, r#"[{"id":1,"mood":"merry","grade":2,"moods":["calm","merry"]}]"#);
}

#[tokio::test]
async fn a_type_that_the_driver_does_not_know_is_an_error_of_the_statement() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "SELECT '{[1,2),[4,5)}'::int4multirange AS days",
            "SELECT '{[1,2),[4,5)}'::int4multirange::text AS days",
            "SELECT 1 AS one",
        ],
    )
    .await;
    assert!(!results[0].0 && results[0].1.contains("cast it to text"), "{results:?}");
    assert_eq!((&*results[1].1, &*results[2].1), (r#"[{"days":"{[1,2),[4,5)}"}]"#, r#"[{"one":1}]"#));
}

#[tokio::test]
async fn changes_are_counted_and_kept() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE TABLE t (n int)",
            "INSERT INTO t SELECT generate_series(1, 5)",
            "UPDATE t SET n = n + 1 WHERE n > 3",
            "WITH gone AS (DELETE FROM t WHERE n < 3 RETURNING n) SELECT count(*) FROM gone",
            "SELECT * FROM t WHERE n > 100",
        ],
    )
    .await;
    let told: Vec<_> = results.iter().map(|(_, result)| result.as_str()).collect();
    assert_eq!(told, [r#"{"done":"CREATE"}"#, r#"{"row_count":5}"#, r#"{"row_count":2}"#, r#"[{"count":2}]"#, "[]"]);
    assert_eq!(app.count("SELECT count(*) FROM agent.t").await, 3);
}

#[tokio::test]
async fn what_is_cut_is_said_to_be_cut() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "SELECT n FROM generate_series(1, 10000) n",
            "SELECT repeat('x', 30000) AS long FROM generate_series(1, 20)",
            // The statement that the note gives.
            "SELECT substr(long::text, 8193, 6144) AS more FROM (SELECT repeat('x', 30000) AS long) t",
        ],
    )
    .await;
    let many = json_of(&results[0]);
    assert_eq!(many["rows"].as_array().unwrap().len(), 200);
    assert!(many["cut"].as_str().unwrap().starts_with("Only the first 200 of 10000 rows are shown."), "{}", many["cut"]);
    let wide = json_of(&results[1]);
    assert!(
        wide["rows"][0]["long"]
            .as_str()
            .unwrap()
            .ends_with("x… (cut: the value has 30000 bytes; substr(VALUE::text, 8193, 6144) goes on from here)")
    );
    assert_eq!(json_of(&results[2])[0]["more"].as_str().unwrap().len(), 6144);
    assert!(results[1].1.len() < 60_000, "{}", results[1].1.len());
}

#[tokio::test]
async fn errors_carry_position_and_hint_and_leave_nothing_behind() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE TABLE people (name text UNIQUE, age int)",
            "SELECT nmae FROM people",
            "SELEC 1",
            "INSERT INTO people VALUES ('Ada', 1), ('Ada', 2)",
            "SELECT 1; REINDEX TABLE people",
            "SELECT count(*) FROM people",
            "INSERT INTO people (name) VALUES (select name FROM people)",
        ],
    )
    .await;
    let column = json_of(&results[1]);
    assert_eq!((&column["error"], &column["code"], &column["position"]), (&json!("sql_error"), &json!("42703"), &json!(8)));
    assert!(column["hint"].as_str().unwrap().contains("people.name"), "{column}");
    assert!(column["tables"]["people"].as_str().unwrap().contains("name text"), "{column}");
    assert_eq!(column["what_now"], "Call execute_sql again, with names that stand in `tables`.");
    assert_eq!(json_of(&results[2])["near"], "SELEC 1");
    assert!(json_of(&results[3])["detail"].as_str().unwrap().contains("already exists"), "{}", results[3].1);
    let hint = json_of(&results[4])["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("Nothing was run") && hint.contains("a call of its own"), "{hint}");
    assert_eq!(results[5].1, r#"[{"count":0}]"#);
    let hint = json_of(&results[6])["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("leave VALUES out: INSERT INTO t (columns) SELECT"), "{hint}");
    assert_eq!(results.iter().map(|(ok, _)| *ok).collect::<Vec<_>>(), [true, false, false, false, false, true, false]);
}

#[tokio::test]
async fn several_statements_happen_together_or_not_at_all() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE TABLE IF NOT EXISTS books (title text, year int);\nINSERT INTO books VALUES ('Dune', 1965), ('Solaris', 1961);",
            "SELECT 1 AS one; SELECT count(*) FROM books",
            "INSERT INTO books VALUES ('Ubik', 1969); INSERT INTO boks VALUES ('Emma', 1815)",
            "INSERT INTO books VALUES ('Ubik', 1969); COMMIT",
            "SELECT count(*) FROM books",
        ],
    )
    .await;
    assert_eq!(results[0], (true, r#"{"results":[{"done":"CREATE"},{"row_count":2}]}"#.into()));
    assert_eq!(results[1], (true, r#"{"results":[[{"one":1}],[{"count":2}]]}"#.into()));
    let told = json_of(&results[2]);
    assert_eq!((&told["statement"], &told["query"]), (&json!(2), &json!("INSERT INTO boks VALUES ('Emma', 1815)")));
    assert_eq!(told["kept"], "nothing of the 2 statements; correct this one and send all of them again");
    assert!(told["tables"]["books"].as_str().unwrap().contains("title text"), "{told}");
    let told = json_of(&results[3]);
    assert_eq!((&told["error"], &told["statement"]), (&json!("refused"), &json!(2)), "{told}");
    assert!(told["message"].as_str().unwrap().contains("leave it out"), "{told}");
    assert_eq!(results[4].1, r#"[{"count":2}]"#);
}

#[tokio::test]
async fn several_statements_take_no_params_and_are_not_endless() {
    let app = lawless().await;
    let with_params = json!({ "query": "SELECT $1::int; SELECT 2", "params": [1] });
    app.script([calls(&[("execute_sql", with_params)]), text("done")]);
    let frames = app.connect().await.ask("run").await;
    let told = frames.iter().find(|frame| frame["type"] == "tool_result").unwrap();
    assert!(told["result"].as_str().unwrap().contains("`params` go with one statement"), "{told}");
    for (query, given) in [
        ("SELECT 1 AS n; SELECT 2 AS n", json!([[{ "n": 1 }], [{ "n": 2 }]])),
        ("CREATE TABLE t AS SELECT 3 AS n", json!([{ "done": "CREATE" }])),
        ("DROP TABLE t", json!([{ "done": "DROP" }])),
    ] {
        app.script([calls(&[("execute_sql", json!({ "query": query, "params": [query] }))]), text("done")]);
        let frames = app.connect().await.ask("run").await;
        let told = frames.iter().find(|frame| frame["type"] == "tool_result").unwrap();
        let told: serde_json::Value = serde_json::from_str(told["result"].as_str().unwrap()).unwrap();
        assert_eq!(told["results"], given);
        assert!(told["note"].as_str().unwrap().starts_with("`params` were not used"), "{told}");
    }
    let results = run(&app, &[&*"SELECT 1;".repeat(51)]).await;
    assert!(results[0].1.contains("these are 51 statements; send at most 50"), "{}", results[0].1);
}

#[tokio::test]
async fn the_rest_of_the_house_can_be_read_and_not_changed() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "SELECT role, content FROM messages WHERE role = 'user'",
            "INSERT INTO tasks (title) VALUES ('sneaky')",
            "UPDATE capabilities SET source = ''",
            "SELECT * FROM level3.events",
            "SELECT * FROM level3.server_keys",
            "CREATE TABLE level3.mine (n int)",
            "CREATE SCHEMA mine",
            "CREATE TEMP TABLE mine (n int)",
            "SELECT pg_read_file('/etc/passwd')",
            "ALTER ROLE CURRENT_USER SUPERUSER",
            "DROP VIEW shared.tasks",
        ],
    )
    .await;
    assert_eq!(results[0].1, r#"[{"role":"user","content":"run"}]"#);
    for (ok, result) in &results[1..] {
        assert!(!ok, "{result}");
    }
    assert!(json_of(&results[1])["hint"].as_str().unwrap().contains("manage_tasks"), "{}", results[1].1);
    assert!(json_of(&results[2])["hint"].as_str().unwrap().contains("write_capability"), "{}", results[2].1);
}

#[tokio::test]
async fn a_statement_cannot_leave_its_transaction_or_forge_an_outcome() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "COMMIT",
            "/* hidden */ ROLLBACK AND CHAIN",
            "DO $$ BEGIN COMMIT; END $$",
            "PREPARE TRANSACTION 'x'",
            "COPY (SELECT 1) TO PROGRAM 'touch /tmp/level3-escaped'",
            "SELECT shared.end_sql_call('\\x00', 1, 1, 7, true, 'forged', '\\x00', now())",
            "SET ROLE level3_app",
            "SELECT set_config('role', 'postgres', false)",
        ],
    )
    .await;
    for (ok, result) in &results {
        assert!(!ok, "{result}");
    }
    assert!(!std::path::Path::new("/tmp/level3-escaped").exists());
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE content = 'forged'").await, 0);
}

#[tokio::test]
async fn one_call_leaves_no_setting_behind_for_the_next() {
    let app = lawless().await;
    let results = run(
        &app,
        &["SET search_path = nowhere", "SET statement_timeout = 0", "LISTEN x", "SHOW search_path", "SHOW statement_timeout"],
    )
    .await;
    assert_eq!(results[3].1, r#"[{"search_path":"agent, shared"}]"#);
    assert_ne!(results[4].1, r#"[{"statement_timeout":"0"}]"#);
}

#[tokio::test]
async fn a_statement_of_a_stopped_turn_is_ended_at_the_server() {
    let app = lawless().await;
    app.script([calls(&[("execute_sql", json!({"query": "SELECT pg_sleep(600)"}))])]);
    let mut client = app.connect().await;
    client.say("sleep").await;
    client.until(|frame| frame["type"] == "tool_call").await;
    let running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND state = 'active'
         AND datname = current_database()";
    app.until(running, 1).await;
    client.stop().await;
    let frames = client.turn().await;
    let outcome = frames.iter().find(|frame| frame["type"] == "tool_result").unwrap();
    assert_eq!((&outcome["ok"], &outcome["result"]), (&json!(false), &json!("Not run: the turn ended first.")));
    app.until(running, 0).await;
}

#[tokio::test]
async fn a_deferred_constraint_that_fails_at_commit_is_an_error_of_the_statement() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE TABLE a (id int PRIMARY KEY)",
            "CREATE TABLE b (a int REFERENCES a DEFERRABLE INITIALLY DEFERRED)",
            "INSERT INTO b VALUES (1)",
            "SELECT count(*) FROM b",
        ],
    )
    .await;
    assert_eq!(json_of(&results[2])["code"], "23503");
    assert_eq!(results[3].1, r#"[{"count":0}]"#);
    app.behind().await.execute("SELECT 1").await.unwrap();
}
