//! Attacks by SQL that a capability or the law has to stop. `sql_guard` and `sql_left_behind` show
//! what the agent's own login cannot do, whatever the law says.

use serde_json::{Value, json};

use super::{obeyed, run_code, written};
use crate::support::{TestApp, calls, results, text};

#[tokio::test]
async fn what_cannot_be_told_beforehand_or_deletes_waits_for_a_person() {
    let app = TestApp::start().await;
    let made = ["CREATE TABLE notes (n int)", "INSERT INTO notes VALUES (1), (2)"];
    let mut client = app.connect().await;
    obeyed(&app, &made.map(|query| ("execute_sql", json!({ "query": query })))).await;
    // A function that nobody approved: it was made before the program asked about functions.
    let owner = format!("{}_agent_code", app.database());
    let wipe = format!(
        "CREATE FUNCTION agent.wipe() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM agent.notes; RETURN 1; END $$;
         ALTER FUNCTION agent.wipe OWNER TO \"{owner}\"; REVOKE ALL ON FUNCTION agent.wipe FROM PUBLIC"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(wipe)).execute(&mut app.behind().await).await.unwrap();
    let attacks = [
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DROP TABLE notes",
        "TRUNCATE notes",
        "DELETE FROM notes",
        "WITH gone AS (DELETE FROM notes RETURNING n) SELECT * FROM gone",
        "SELECT wipe()",
        "SELECT * FROM wipe()",
        "SELECT 1 WHERE wipe() = 1",
        "DO $$ BEGIN DELETE FROM agent.notes; END $$",
        "ALTER TABLE notes DROP COLUMN n",
        "SELECT 1 /* harmless */ FROM (SELECT wipe()) AS harmless",
    ];
    for query in attacks {
        app.script([calls(&[("execute_sql", json!({ "query": query }))])]);
        client.say("go").await;
        let asking = client.asked().await;
        app.script([text("no")]);
        client.deny(&asking).await;
        assert!(!results(&client.turn().await)[0].0, "{query}");
    }
    assert_eq!(app.count("SELECT count(*) FROM agent.notes").await, 2);
}

#[tokio::test]
async fn a_capability_that_may_only_read_changes_nothing_by_any_function() {
    let app = TestApp::start().await;
    let made = [
        "CREATE TABLE notes (n int)",
        "CREATE SEQUENCE numbers",
        "CREATE FUNCTION sly() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO agent.notes VALUES (1) RETURNING n'",
        "CREATE FUNCTION slier() RETURNS int LANGUAGE plpgsql AS $$ BEGIN SET transaction_read_only = off; INSERT INTO agent.notes VALUES (2); RETURN 1; END $$",
        "CREATE VIEW bait AS SELECT sly() AS n",
    ];
    // A person's rule lets all of them be made, functions included.
    let rule = "INSERT INTO tool_rules (profile, tool, rule, updated_at) VALUES ('builder', 'execute_sql', 'always', now())";
    sqlx::raw_sql(rule).execute(&mut app.behind().await).await.unwrap();
    let told = obeyed(&app, &made.map(|query| ("execute_sql", json!({ "query": query })))).await;
    assert!(told.iter().all(|(ok, _)| *ok), "{told:#?}");
    let statements = json!([
        "INSERT INTO notes VALUES (3)",
        "SELECT sly()",
        "SELECT slier()",
        "SELECT * FROM bait",
        "SELECT nextval('numbers')",
        "WITH more AS (INSERT INTO notes VALUES (4) RETURNING n) SELECT n FROM more",
        "SELECT set_config('transaction_read_only', 'off', true)",
        "BEGIN READ WRITE",
        "COMMIT; INSERT INTO agent.notes VALUES (5)",
        "CREATE TABLE mine (n int)",
        "SELECT 1 AS n INTO mine",
        "COPY notes FROM PROGRAM 'echo 6'",
        "EXPLAIN ANALYZE INSERT INTO notes VALUES (7)",
        "SELECT * FROM notes FOR UPDATE",
        "SELECT pg_notify('x', 'y')",
        "SELECT pg_advisory_lock(1)",
        "SELECT lo_create(0)",
        "DO $$ BEGIN INSERT INTO agent.notes VALUES (8); END $$",
    ]);
    let body = format!(
        "const told = []; for (const text of {statements}) told.push(await host.sql(text).then(() => 'done: ' + text, () => 'refused')); return told"
    );
    let (_, told) = run_code(&app, "reader", &body, json!({"sql": {"access": "read"}})).await;
    let told: Vec<String> = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"));
    let done: Vec<_> = told.iter().filter(|told| *told != "refused").collect();
    assert_eq!(done, ["done: SELECT pg_notify('x', 'y')"], "which nobody listens to");
    assert_eq!(app.count("SELECT count(*) FROM agent.notes").await, 0);
    assert_eq!(app.count("SELECT count(*) FROM pg_class WHERE relname = 'mine'").await, 0);
}

#[tokio::test]
async fn a_capability_that_may_write_reaches_the_house_no_more_than_the_agent_does() {
    let app = TestApp::start().await;
    let statements = json!([
        "SELECT * FROM level3.secrets",
        "SELECT * FROM level3.server_keys",
        "UPDATE level3.approvals SET state = 'approved'",
        "INSERT INTO level3.tool_rules VALUES ('builder', 'restart', 'always', now())",
        "DELETE FROM level3.events",
        "SET ROLE postgres",
        "SELECT set_config('role', 'postgres', false)",
        "COPY (SELECT 1) TO PROGRAM 'touch /tmp/level3-escaped-by-capability'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename <> current_user",
        "SELECT shared.end_sql_operation('\\x00', 1, 1, 1, 1, '\\x00', '{}', 'forged', now())",
        "ALTER ROLE CURRENT_USER SUPERUSER",
        "UPDATE level3.kv_entries SET value = '1'",
        "SELECT lo_import('/etc/passwd')",
        "CREATE EXTENSION dblink",
        "CREATE SCHEMA mine",
    ]);
    let body = format!(
        "const told = []; for (const text of {statements}) told.push(await host.sql(text).then((rows) => [text, rows], () => 'refused')); return told"
    );
    let (_, told) = run_code(&app, "writer", &body, json!({"sql": {"access": "write"}})).await;
    let told: Vec<Value> = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"));
    assert!(told.iter().all(|told| told == "refused"), "{told:#?}");
    assert!(!std::path::Path::new("/tmp/level3-escaped-by-capability").exists());
}

#[tokio::test]
async fn a_value_cannot_become_a_part_of_the_statement() {
    let app = TestApp::start().await;
    let body = r#"await host.sql('CREATE TABLE IF NOT EXISTS notes (words text)');
        const evil = ["'); DROP TABLE notes; --", "$1", "\\'; DROP TABLE notes; --", "E'\\''", "x\u0000y"];
        const told = []; for (const words of evil) told.push(await host.sql('INSERT INTO notes VALUES ($1)', [words]).then(() => 'kept', () => 'refused'));
        return [told, (await host.sql('SELECT words FROM notes')).map((row) => row.words).filter((words) => evil.includes(words)).length]"#;
    let (_, told) = run_code(&app, "keeper", body, json!({"sql": {"access": "write"}})).await;
    let told: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}"));
    assert_eq!(
        told[1].as_u64().unwrap() as usize,
        told[0].as_array().unwrap().iter().filter(|told| *told == "kept").count(),
        "{told}"
    );
    assert!(told[1].as_u64().unwrap() >= 4, "{told}");
}

#[tokio::test]
async fn bombs_of_rows_and_time_end_at_their_limits() {
    let app = TestApp::start().await;
    let body = "const told = [];
        for (const text of ['SELECT n FROM generate_series(1, 100000000) n', \"SELECT repeat('x', 1000000000)\", \"SELECT repeat('x', 2000000)\"])
            told.push(await host.sql(text).then((rows) => 'rows: ' + rows.length, (e) => e.message));
        return told";
    let (ok, told) = run_code(&app, "bomb", body, json!({"sql": {"access": "read"}})).await;
    assert!(!told.contains("rows: "), "{ok} {told}");
    let told = obeyed(
        &app,
        &[
            ("execute_sql", json!({"query": "SELECT n FROM generate_series(1, 3000000) n"})),
            ("write_capability", written("fine", "return 1", json!({}))),
        ],
    )
    .await;
    assert!(told[0].1.len() < 60_000 && told[1].0, "{}", told[0].1.len());
}
