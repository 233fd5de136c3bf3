//! Attacks on the house by SQL, with a model that obeys and a law that lets every statement
//! through: the agent's login is what refuses them. Each row is an attack and Postgres' answer to
//! it.

use serde_json::json;
use sqlx::Executor;

use crate::sql::{json_of, run};
use crate::support::{TestApp, call, of_type, text};

/// Postgres' code for a lack of rights.
const DENIED: &str = "42501";
/// The program refused it before it reached Postgres.
const BEFORE: &str = "refused";

/// A server whose law asks nobody about SQL.
pub async fn lawless() -> TestApp {
    let app = TestApp::start().await;
    let rule = "INSERT INTO tool_rules (profile, tool, rule, updated_at) VALUES ('builder', 'execute_sql', 'always', now())";
    app.behind().await.execute(rule).await.unwrap();
    app
}

/// Runs each statement and asserts that it is refused with this code.
async fn refused<T: AsRef<str>>(app: &TestApp, attacks: &[(T, &str)]) {
    for some in attacks.chunks(12) {
        let statements: Vec<_> = some.iter().map(|(sql, _)| sql.as_ref()).collect();
        let results = run(app, &statements).await;
        assert_eq!(results.len(), some.len());
        for ((sql, code), result) in some.iter().zip(results) {
            let told = json_of(&result);
            let said = if told["error"] == BEFORE { &told["error"] } else { &told["code"] };
            assert!(!result.0 && said == code, "{}\nis not refused with {code}: {}", sql.as_ref(), result.1);
        }
    }
    let after = run(app, &["SELECT count(*) > 0 AS there FROM messages"]).await;
    assert_eq!(after[0], (true, r#"[{"there":true}]"#.to_owned()), "the next call works");
}

#[tokio::test]
async fn tables_of_the_house_are_out_of_reach_by_their_full_names() {
    let app = lawless().await;
    let before = app.count("SELECT count(*) FROM events").await;
    let mut attacks = Vec::new();
    for table in [
        "events",
        "approvals",
        "secrets",
        "tool_rules",
        "profile_policies",
        "server_keys",
        "messages",
        "turns",
        "tool_calls",
        "operations",
        "kv_entries",
        "audit_entries",
        "capability_versions",
        "_sqlx_migrations",
    ] {
        attacks.push((format!("SELECT * FROM level3.{table}"), DENIED));
        attacks.push((format!("DELETE FROM level3.{table}"), DENIED));
    }
    for attack in [
        "INSERT INTO level3.tool_rules VALUES ('builder', 'restart', 'always', now())",
        "UPDATE level3.approvals SET state = 'approved'",
        "TRUNCATE level3.events",
        "LOCK TABLE level3.turns",
        "LOCK TABLE shared.tasks IN ACCESS EXCLUSIVE MODE",
        "CREATE TABLE mine (LIKE level3.secrets)",
        "CREATE TABLE mine () INHERITS (level3.events)",
        "CREATE TABLE mine (turn bigint REFERENCES level3.turns)",
        "CREATE VIEW mine AS SELECT * FROM level3.secrets",
        "DO $$ BEGIN EXECUTE 'DELETE FROM level3.events'; END $$",
        "SELECT query_to_xml('SELECT * FROM level3.secrets', true, true, '')",
        "SELECT nextval('level3.turns_turn_id_seq')",
        "ALTER TABLE level3.events OWNER TO CURRENT_USER",
        "GRANT ALL ON ALL TABLES IN SCHEMA level3 TO CURRENT_USER",
    ] {
        attacks.push((attack.to_owned(), DENIED));
    }
    refused(&app, &attacks).await;
    assert!(app.count("SELECT count(*) FROM events").await > before, "events were added and none was taken away");
    assert_eq!(app.count("SELECT count(*) FROM tool_rules").await, 1);
}

#[tokio::test]
async fn views_and_functions_of_the_house_cannot_be_changed() {
    let app = lawless().await;
    let made = [
        "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE FUNCTION shared.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ];
    let results = run(&app, &made).await;
    assert!(results[0].0 && !results[1].0, "{results:?}");
    refused(
        &app,
        &[
            ("CREATE TRIGGER spy INSTEAD OF INSERT ON shared.tasks FOR EACH ROW EXECUTE FUNCTION agent.spy()", DENIED),
            ("CREATE TRIGGER spy AFTER INSERT ON level3.events FOR EACH ROW EXECUTE FUNCTION agent.spy()", DENIED),
            ("CREATE RULE mine AS ON SELECT TO shared.tasks DO INSTEAD SELECT 1", DENIED),
            ("CREATE RULE mine AS ON INSERT TO shared.messages DO INSTEAD NOTHING", DENIED),
            ("CREATE OR REPLACE VIEW shared.tasks AS SELECT 1", DENIED),
            ("ALTER VIEW shared.tasks RENAME TO gone", DENIED),
            ("CREATE OR REPLACE FUNCTION shared.end_sql_call() RETURNS int LANGUAGE sql AS 'SELECT 1'", DENIED),
            ("ALTER FUNCTION shared.end_sql_call SECURITY INVOKER", DENIED),
            ("DROP FUNCTION shared.end_sql_operation", DENIED),
            ("DROP SCHEMA shared CASCADE", DENIED),
            ("DROP SCHEMA agent CASCADE", DENIED),
            ("ALTER SCHEMA agent RENAME TO other", DENIED),
            ("CREATE SCHEMA mine", DENIED),
            (&format!("ALTER DATABASE {} RENAME TO other", app.database()), DENIED),
            ("CREATE TABLE pg_catalog.mine (n int)", DENIED),
            ("CREATE CAST (text AS integer) WITH INOUT", DENIED),
            ("UPDATE pg_catalog.pg_proc SET proowner = 10", DENIED),
            ("CREATE EVENT TRIGGER spy ON ddl_command_end EXECUTE FUNCTION agent.spy()", DENIED),
        ],
    )
    .await;
}

#[tokio::test]
async fn files_programs_and_the_server_itself_are_out_of_reach() {
    let app = lawless().await;
    refused(
        &app,
        &[
            ("SELECT * FROM pg_authid", DENIED),
            ("SELECT * FROM pg_shadow", DENIED),
            ("SELECT * FROM pg_hba_file_rules", DENIED),
            ("SELECT pg_read_file('postgresql.conf')", DENIED),
            ("SELECT pg_read_binary_file('/etc/passwd')", DENIED),
            ("SELECT pg_ls_dir('.')", DENIED),
            ("SELECT pg_stat_file('PG_VERSION')", DENIED),
            ("COPY (SELECT 1) TO PROGRAM 'touch /tmp/level3-escaped'", BEFORE),
            ("DO $$ BEGIN EXECUTE 'COPY (SELECT 1) TO PROGRAM ''touch /tmp/level3-escaped'''; END $$", DENIED),
            ("DO $$ BEGIN EXECUTE 'COPY (SELECT 1) TO ''/tmp/level3-escaped'''; END $$", DENIED),
            ("DO $$ BEGIN CREATE TABLE t (n text); EXECUTE 'COPY t FROM ''/etc/passwd'''; END $$", DENIED),
            ("SELECT lo_import('/etc/passwd')", DENIED),
            ("SELECT lo_export(1, '/tmp/level3-escaped')", DENIED),
            ("SELECT lo_create(0)", DENIED),
            ("SELECT lo_from_bytea(0, 'x')", DENIED),
            ("SELECT lo_open(1, 131072)", DENIED),
            ("CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'getpid'", DENIED),
            ("CREATE FUNCTION f() RETURNS int LANGUAGE internal AS 'pg_backend_pid'", DENIED),
            ("CREATE FUNCTION f() RETURNS int LANGUAGE plpython3u AS 'return 1'", "42704"),
            ("CREATE EXTENSION pgcrypto", DENIED),
            ("CREATE EXTENSION file_fdw", DENIED),
            ("CREATE LANGUAGE mine HANDLER plpgsql_call_handler", DENIED),
            ("CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw", "42704"),
            ("CREATE TABLESPACE s LOCATION '/tmp'", "25001"),
            ("CREATE DATABASE other", "25001"),
            ("CREATE PUBLICATION p FOR ALL TABLES", DENIED),
            ("CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p WITH (connect = false)", DENIED),
            ("SELECT pg_create_physical_replication_slot('s')", DENIED),
            ("SELECT pg_logical_emit_message(false, 'a', 'b')", DENIED),
            ("SELECT pg_export_snapshot()", DENIED),
            ("ALTER SYSTEM SET fsync = off", "25001"),
            ("SELECT pg_reload_conf()", DENIED),
            ("SELECT pg_switch_wal()", DENIED),
            ("SELECT current_setting('data_directory')", DENIED),
            ("LOAD 'auto_explain'", DENIED),
            ("CHECKPOINT", DENIED),
        ],
    )
    .await;
    assert!(!std::path::Path::new("/tmp/level3-escaped").exists());
}

#[tokio::test]
async fn no_other_role_can_be_taken() {
    let app = lawless().await;
    let program = format!("{}_app", app.database());
    let mut attacks: Vec<_> = [
        "ALTER ROLE CURRENT_USER SUPERUSER",
        "ALTER ROLE CURRENT_USER CREATEROLE BYPASSRLS",
        "ALTER ROLE CURRENT_USER CONNECTION LIMIT 0",
        "ALTER ROLE CURRENT_USER NOLOGIN",
        "CREATE ROLE mine SUPERUSER",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "SELECT set_config('role', 'postgres', false)",
        "SELECT set_config('session_authorization', 'postgres', false)",
        "SET session_replication_role = replica",
        "SELECT set_config('session_replication_role', 'replica', true)",
        "GRANT pg_read_server_files TO CURRENT_USER",
        "DO $$ BEGIN EXECUTE 'SET ROLE postgres'; END $$",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql SET role = postgres AS 'SELECT 1'",
    ]
    .map(|sql| (sql.to_owned(), DENIED))
    .into();
    for sql in [
        "SET ROLE {}",
        "SET SESSION AUTHORIZATION {}",
        "GRANT {} TO CURRENT_USER",
        "ALTER ROLE {} PASSWORD 'x'",
        "ALTER ROLE {} SET search_path = agent",
        "DROP ROLE {}",
        "REASSIGN OWNED BY {} TO CURRENT_USER",
        "ALTER DEFAULT PRIVILEGES FOR ROLE {} GRANT ALL ON TABLES TO CURRENT_USER",
        "DO $$ BEGIN EXECUTE 'SET ROLE {}'; END $$",
    ] {
        attacks.push((sql.replace("{}", &program), DENIED));
    }
    refused(&app, &attacks).await;
    let results =
        run(&app, &["RESET ROLE", "RESET SESSION AUTHORIZATION", "SELECT current_user AS me, session_user AS too"]).await;
    let agent = format!("{}_agent_reader", app.database());
    assert_eq!(json_of(&results[2]), json!([{ "me": agent, "too": agent }]));
}

#[tokio::test]
async fn no_statement_ends_the_transaction_it_runs_in() {
    let app = lawless().await;
    run(
        &app,
        &[
            "CREATE TABLE kept (n int)",
            "CREATE PROCEDURE leave() LANGUAGE plpgsql AS 'BEGIN INSERT INTO agent.kept VALUES (1); COMMIT; END'",
        ],
    )
    .await;
    refused(
        &app,
        &[
            ("COMMIT; BEGIN", BEFORE),
            ("INSERT INTO kept VALUES (1); COMMIT; BEGIN", BEFORE),
            ("INSERT INTO kept VALUES (1); ROLLBACK TO SAVEPOINT level3_read", BEFORE),
            ("INSERT INTO kept VALUES (1); CALL leave()", "2D000"),
            ("INSERT INTO kept VALUES (1); SELECT 1 / 0", "22012"),
            ("INSERT INTO kept VALUES (1); COMMIT AND", "42601"),
            ("SELECT 1; COMMIT", BEFORE),
            ("BEGIN READ WRITE", BEFORE),
            ("SAVEPOINT a", BEFORE),
            ("ROLLBACK AND CHAIN", BEFORE),
            ("PREPARE TRANSACTION 'x'", BEFORE),
            ("CALL leave()", "2D000"),
            ("DO $$ BEGIN INSERT INTO agent.kept VALUES (1); COMMIT; END $$", "2D000"),
            ("DO $$ BEGIN INSERT INTO agent.kept VALUES (1); EXECUTE 'COMMIT'; END $$", "0A000"),
            ("DO $$ BEGIN INSERT INTO agent.kept VALUES (1); EXECUTE 'ROLLBACK'; END $$", "0A000"),
            ("DO $$ BEGIN INSERT INTO agent.kept VALUES (1); EXECUTE 'SAVEPOINT a'; END $$", "0A000"),
            ("VACUUM", "25001"),
            // One reader ends a comment at the line feed, the other at the carriage return as well.
            ("-- \rCOMMIT", BEFORE),
            ("INSERT INTO kept VALUES (1); -- \rCOMMIT", BEFORE),
        ],
    )
    .await;
    assert_eq!(app.count("SELECT count(*) FROM agent.kept").await, 0);
}

#[tokio::test]
async fn an_outcome_cannot_be_forged() {
    let app = lawless().await;
    refused(
        &app,
        &[
            ("SELECT shared.end_sql_call('\\x00', 1, 1, 1, true, 'forged', '\\x00', 'allow', now(), NULL)", "L3003"),
            ("SELECT shared.end_sql_call(NULL, 1, 1, 1, true, 'forged', '\\x00', 'allow', now(), NULL)", "L3003"),
            ("SELECT shared.end_sql_operation('\\x00', 1, 1, 1, 1, '\\x00', '{}', 'forged', now())", "L3003"),
            ("SELECT end_sql_call(sha256('1:1:1'), 1, 1, 1, true, 'forged', '\\x00', 'allow', now(), NULL)", "L3003"),
            ("SELECT level3.sql_token('call:1:t:allow', 1, 'forged')", DENIED),
            ("SELECT level3.append_event(1, 'turn_ended', '{}', now())", DENIED),
            ("SELECT level3.end_call(1, 1, 1, true, 'forged', '[]', '\\x00', 'allow', now(), NULL, NULL)", DENIED),
            ("SELECT level3.end_operation(1, 1, 1, 1, 'sql', 'T', '\\x00', '{}', 'done', 'forged', now())", DENIED),
            ("SELECT value FROM level3.server_keys WHERE name = 'sql_token'", DENIED),
        ],
    )
    .await;
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE content = 'forged'").await, 0);
    assert_eq!(app.count("SELECT count(*) FROM operations").await, 0);
}

#[tokio::test]
async fn what_runs_at_the_commit_sees_no_token_and_belongs_to_the_same_transaction() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE TABLE bait (n int)",
            "CREATE TABLE loot (what text)",
            "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS $f$
             DECLARE context text;
             BEGIN
                 EXECUTE 'CREATE OR REPLACE FUNCTION agent.late() RETURNS text LANGUAGE sql AS $$ SELECT current_query() $$';
                 INSERT INTO agent.loot SELECT agent.late();
                 INSERT INTO agent.loot SELECT query FROM pg_stat_activity;
                 INSERT INTO agent.loot SELECT statement FROM pg_prepared_statements;
                 INSERT INTO agent.loot SELECT statement FROM pg_cursors;
                 BEGIN
                     PERFORM shared.end_sql_call('\\x00', 1, 1, 1, true, 'forged', '\\x00', 'allow', now(), NULL);
                 EXCEPTION WHEN OTHERS THEN
                     GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
                     INSERT INTO agent.loot VALUES (SQLSTATE || context);
                 END;
                 RETURN NULL;
             END $f$",
            "CREATE CONSTRAINT TRIGGER spy AFTER INSERT ON bait DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION spy()",
            "WITH prying AS (SELECT set_config('log_parameter_max_length_on_error', '-1', false))
             INSERT INTO bait SELECT 1 FROM prying",
        ],
    )
    .await;
    assert!(results.iter().all(|(ok, _)| *ok), "{results:?}");
    assert!(
        app.count("SELECT count(*) FROM agent.loot WHERE what LIKE '%; RESET ROLE; SET CONSTRAINTS%'").await > 0,
        "the trigger ran at the commit"
    );
    assert!(app.count("SELECT count(*) FROM agent.loot WHERE what LIKE 'L3003%'").await > 0, "its own try was refused");
    assert_eq!(app.count(r"SELECT count(*) FROM agent.loot WHERE what ~ '\\x[0-9a-f]{64}'").await, 0, "no token anywhere");
    let together = "SELECT count(DISTINCT l.xmin::text) FROM agent.loot l, agent.bait b, tool_calls c, messages m
        WHERE c.arguments LIKE '%INSERT INTO bait%' AND m.tool_call_id = c.tool_call_id AND m.content = '{\"row_count\":1}'
          AND l.xmin::text = b.xmin::text AND c.xmin::text = b.xmin::text AND m.xmin::text = b.xmin::text";
    assert_eq!(app.count(together).await, 1, "effect and outcome have one transaction");
}

#[tokio::test]
async fn what_fails_at_the_commit_leaves_neither_effect_nor_outcome() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE TABLE bait (n int)",
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
             $f$ BEGIN PERFORM shared.end_sql_call('\\x00', 1, 1, 1, true, 'forged', '\\x00', 'allow', now(), NULL); RETURN NULL; END $f$",
            "CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON bait DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()",
            "INSERT INTO bait VALUES (1)",
            "SELECT count(*) FROM bait",
        ],
    )
    .await;
    assert_eq!((results[3].0, &json_of(&results[3])["code"]), (false, &json!("L3003")));
    assert_eq!(results[4].1, r#"[{"count":0}]"#);
}

#[tokio::test]
async fn names_of_the_house_that_the_agent_takes_fool_nobody() {
    let mut app = lawless().await;
    let lie = "RETURNS text LANGUAGE sql AS $$ SELECT 'lie' $$";
    let made = [
        "CREATE TABLE tasks (id bigint, title text, status text, due_at timestamptz)".to_owned(),
        "CREATE TABLE events (n int)".to_owned(),
        "CREATE TABLE turns (n int)".to_owned(),
        "CREATE TABLE _sqlx_migrations (version bigint)".to_owned(),
        "CREATE DOMAIN text AS pg_catalog.int4".to_owned(),
        format!("CREATE FUNCTION pg_current_xact_id() {lie}"),
        format!("CREATE FUNCTION pg_backend_pid() {lie}"),
        format!(
            "CREATE FUNCTION end_sql_call(bytea, bigint, bigint, bigint, bool, pg_catalog.text, bytea, pg_catalog.text, timestamptz, jsonb) {lie}"
        ),
        "CREATE FUNCTION equal(bigint, bigint) RETURNS bool LANGUAGE sql AS 'SELECT true'".to_owned(),
        "CREATE OPERATOR agent.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = agent.equal)".to_owned(),
        "ALTER ROLE CURRENT_USER SET search_path = agent, pg_catalog, shared".to_owned(),
    ];
    let made: Vec<_> = made.iter().map(String::as_str).collect();
    let results = run(&app, &made).await;
    assert!(results.iter().all(|(ok, _)| *ok), "{results:?}");
    // The shadows come first for the rest of the statement's transaction, and only there.
    let results = run(
        &app,
        &[
            "SELECT set_config('search_path', 'agent, pg_catalog, shared', false)",
            "INSERT INTO agent.tasks (id, title) VALUES (1, 'false')",
        ],
    )
    .await;
    assert!(results.iter().all(|(ok, _)| *ok), "{results:?}");
    assert_eq!(app.count("SELECT count(*) FROM tool_calls WHERE state = 'proposed'").await, 0);
    app.restart().await;
    app.script([call("manage_tasks", json!({"action": "create", "title": "true"})), text("done")]);
    let frames = app.connect().await.ask("a task").await;
    assert_eq!(of_type(&frames, "tool_result")["ok"], true);
    let results = run(&app, &["SELECT title FROM shared.tasks", "SELECT pg_typeof(pg_catalog.pg_backend_pid()) AS kind"]).await;
    assert_eq!(results[0].1, r#"[{"title":"true"}]"#);
    assert_eq!(results[1].1, r#"[{"kind":"integer"}]"#);
}
