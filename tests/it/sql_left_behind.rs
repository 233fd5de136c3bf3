//! Attacks by SQL that aim past the statement: at the next call, the other connections, the
//! machine's time and space.

use serde_json::json;
use sqlx::{Connection, Executor};

use crate::sql::{json_of, run};
use crate::sql_guard::lawless;
use crate::support::TestApp;

/// Ends the agent's connections, as the pool does with idle ones: the next call opens a new one.
async fn end_connections(app: &TestApp) {
    let agents =
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename LIKE current_database() || '_agent%'";
    app.behind().await.execute(agents).await.unwrap();
}

#[tokio::test]
async fn nothing_of_a_session_reaches_the_next_call() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "SET search_path = nowhere",
            "SELECT set_config('statement_timeout', '0', false)",
            "LISTEN a",
            "SELECT pg_notify('a', 'b')",
            "DECLARE c CURSOR WITH HOLD FOR SELECT 1",
            "DO $$ BEGIN EXECUTE 'PREPARE p AS SELECT 1'; EXECUTE 'PREPARE level3_statement AS SELECT 1'; END $$",
        ],
    )
    .await;
    assert!(results.iter().all(|(ok, _)| *ok), "{results:?}");
    let results = run(
        &app,
        &[
            "SHOW search_path",
            "SHOW statement_timeout",
            "SELECT count(*) FROM pg_listening_channels()",
            "SELECT count(*) FROM pg_cursors WHERE is_holdable",
            "SELECT count(*) FROM pg_prepared_statements WHERE name IN ('p', 'level3_statement')",
            "FETCH c",
            "EXECUTE p",
        ],
    )
    .await;
    let told: Vec<_> = results.iter().map(|(_, told)| told.as_str()).take(5).collect();
    let none = r#"[{"count":0}]"#;
    assert_eq!(told, [r#"[{"search_path":"agent, shared"}]"#, r#"[{"statement_timeout":"15s"}]"#, none, none, none]);
    assert_eq!((&json_of(&results[5])["code"], &json_of(&results[6])["code"]), (&json!("34000"), &json!("26000")));
}

#[tokio::test]
async fn a_session_that_may_do_all_is_clean_for_the_next_call_down_to_its_plans() {
    const LOOK: &str = "DO $$ BEGIN
        ASSERT current_setting('transform_null_equals') = 'off', 'a setting is left';
        ASSERT NOT EXISTS (SELECT FROM pg_listening_channels()), 'it listens';
        ASSERT NOT EXISTS (SELECT FROM pg_cursors WHERE is_holdable), 'a cursor is left';
        ASSERT NOT EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'p'), 'a statement is left';
        ASSERT same(NULL) IS NULL, 'a plan is left';
        BEGIN
            PERFORM currval('numbers');
            RAISE EXCEPTION 'the number of a sequence is left';
        EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL;
        END;
    END $$";
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE SEQUENCE numbers",
            "CREATE FUNCTION same(a int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN a = NULL; END $$",
            "LISTEN a",
            "DECLARE c CURSOR WITH HOLD FOR SELECT 1",
            // With this setting `= NULL` means `IS NULL` in a plan, as long as the plan lasts.
            "DO $$ BEGIN
                EXECUTE 'PREPARE p AS SELECT 1';
                PERFORM nextval('numbers');
                SET transform_null_equals = on;
                ASSERT same(NULL);
            END $$",
            // More often than the login has connections.
            LOOK,
            LOOK,
            LOOK,
            LOOK,
        ],
    )
    .await;
    assert!(results.len() == 9 && results.iter().all(|(ok, _)| *ok), "{results:?}");
}

#[tokio::test]
async fn defaults_that_the_agent_gives_its_login_do_not_count() {
    let app = lawless().await;
    let mut statements = Vec::new();
    for (setting, value) in [
        ("search_path", "nowhere"),
        ("statement_timeout", "0"),
        ("lock_timeout", "0"),
        ("idle_in_transaction_session_timeout", "0"),
        // Short enough to end a session between two calls, and long enough for one to begin on a
        // busy machine.
        ("idle_session_timeout", "50"),
        ("default_transaction_read_only", "on"),
        ("default_transaction_isolation", "serializable"),
        ("standard_conforming_strings", "off"),
        ("local_preload_libraries", "nothing_of_that_name"),
        ("client_encoding", "sql_ascii"),
        ("datestyle", "German"),
        ("timezone", "Asia/Kathmandu"),
        ("bytea_output", "escape"),
    ] {
        statements.push(format!("ALTER ROLE CURRENT_USER SET {setting} = '{value}'"));
        statements.push(format!("ALTER ROLE CURRENT_USER IN DATABASE {} SET {setting} = '{value}'", app.database()));
    }
    for some in statements.chunks(13) {
        let results = run(&app, &some.iter().map(String::as_str).collect::<Vec<_>>()).await;
        assert!(results.iter().all(|(ok, _)| *ok), "{results:?}");
    }
    end_connections(&app).await;
    let settings = "SELECT current_setting('search_path') AS a, current_setting('statement_timeout') AS b,
        current_setting('lock_timeout') AS c, current_setting('default_transaction_read_only') AS d,
        current_setting('default_transaction_isolation') AS e, current_setting('standard_conforming_strings') AS f,
        '2026-11-20 08:00+00'::timestamptz AS g, '\\x00'::bytea AS h";
    let expected = json!([{ "a": "agent, shared", "b": "15s", "c": "5s", "d": "off", "e": "read committed", "f": "on",
        "g": "2026-11-20T08:00:00+00:00", "h": "\\x00" }]);
    let results = run(&app, &[settings]).await;
    assert_eq!(json_of(&results[0]), expected);

    // The agent cannot take away the administrator's settings for its login.
    let results = run(
        &app,
        &["ALTER ROLE CURRENT_USER RESET ALL", &format!("ALTER ROLE CURRENT_USER IN DATABASE {} RESET ALL", app.database())],
    )
    .await;
    assert!(results.iter().all(|(ok, _)| *ok), "{results:?}");
    end_connections(&app).await;
    let results =
        run(&app, &["SELECT current_setting('temp_file_limit') AS a, current_setting('log_min_messages') AS b", settings]).await;
    assert_eq!(json_of(&results[0]), json!([{ "a": "256MB", "b": "fatal" }]));
    assert_eq!(json_of(&results[1]), expected);
}

#[tokio::test]
async fn a_default_that_nobody_foresaw_and_that_keeps_connections_out_is_undone() {
    let app = lawless().await;
    // The agent might find such a default one day: its login can open no connection.
    let mut behind = app.behind().await;
    let login = format!("ALTER ROLE {}_agent_reader NOLOGIN", app.database());
    behind.execute(sqlx::AssertSqlSafe(login)).await.unwrap();
    let results = run(&app, &["SELECT 1 AS one"]).await;
    assert_eq!(results[0], (true, r#"[{"one":1}]"#.to_owned()), "its login is made anew");
}

#[tokio::test]
async fn locks_that_lie_in_no_schema_are_out_of_reach() {
    let mut app = lawless().await;
    let functions =
        ["pg_advisory_lock(1)", "pg_advisory_xact_lock(1)", "pg_try_advisory_lock(1, 2)", "pg_advisory_lock_shared(1)"];
    let statements: Vec<_> = functions.iter().map(|function| format!("SELECT {function}")).collect();
    let mut statements: Vec<_> = statements.iter().map(String::as_str).collect();
    statements.push("DO $$ BEGIN PERFORM pg_advisory_lock(hashtext('level3 logins')); END $$");
    for result in run(&app, &statements).await {
        assert_eq!((result.0, &json_of(&result)["code"]), (false, &json!("42501")));
    }

    // An administrator who is no superuser cannot close these functions. A lock then lives as long
    // as its call.
    let mut behind = app.behind().await;
    behind
        .execute("GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint), pg_advisory_lock_shared(bigint) TO PUBLIC")
        .await
        .unwrap();
    let results = run(&app, &["SELECT pg_advisory_lock(n) FROM generate_series(1, 3) n", "SELECT 1 AS one"]).await;
    assert!(results.iter().all(|(ok, _)| *ok), "{results:?}");
    let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    app.until(held, 0).await;

    // The next start ends a lock that a crash left in the way of the migrations.
    let key =
        "SELECT classid::bigint << 32 | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()";
    app.stop().await;
    let agent = crate::support::cluster().database(app.database()).username(&format!("{}_agent_full", app.database()));
    let mut left = sqlx::ConnectOptions::connect(&agent).await.unwrap();
    left.execute("SELECT pg_advisory_lock(hashtext('level3 logins')), pg_advisory_lock(1)").await.unwrap();
    assert!(app.count(key).await != 0);
    app.start_again().await;
    assert!(left.ping().await.is_err(), "it was ended");
    let results = run(&app, &["SELECT 1 AS one"]).await;
    assert!(results[0].0, "{results:?}");
}

#[tokio::test]
async fn other_connections_cannot_be_ended() {
    let app = lawless().await;
    let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
    for result in run(&app, &[all, "SELECT pg_cancel_backend(pg_backend_pid())"]).await {
        assert_eq!((result.0, &json_of(&result)["code"]), (false, &json!("42501")));
    }

    // If they are open, the agent cannot end the program's connections, which are another login's,
    // and its own cost it only the call.
    let mut behind = app.behind().await;
    behind.execute("GRANT EXECUTE ON FUNCTION pg_terminate_backend, pg_cancel_backend TO PUBLIC").await.unwrap();
    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND usename <> current_user AND pid <> pg_backend_pid()";
    let suicide = "CREATE TABLE half AS SELECT pg_terminate_backend(pg_backend_pid()) AS a, pg_sleep(600)::text AS b";
    let results =
        run(&app, &[others, "SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(600)", suicide, "SELECT 1 AS one"]).await;
    assert_eq!((results[0].0, &json_of(&results[0])["code"]), (false, &json!("42501")));
    assert_eq!((results[1].0, &json_of(&results[1])["code"]), (false, &json!("57014")));
    assert!(!results[2].0 && results[2].1.contains("nothing of it was kept"), "{}", results[2].1);
    assert_eq!(results[3], (true, r#"[{"one":1}]"#.to_owned()));
    assert_eq!(app.count("SELECT count(*) FROM pg_tables WHERE tablename = 'half'").await, 0);
}

#[tokio::test]
async fn floods_end_at_a_limit() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "CREATE TEMP TABLE flood AS SELECT generate_series(1, 10)",
            "SELECT count(*) FROM (SELECT repeat(n::text, 100) FROM generate_series(1, 3000000) n ORDER BY 1) s",
            "SELECT repeat('x', 2000000000)",
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r WHERE set_config('statement_timeout', '1', false) <> '') \
             SELECT count(*) FROM r, (SELECT set_config('temp_file_limit', '-1', false)) s",
            "DO $$ BEGIN FOR i IN 1..20000 LOOP RAISE WARNING 'flood %', i; END LOOP; END $$",
            "SELECT pg_notify('a', repeat('x', 7999)) FROM generate_series(1, 1000)",
            "SELECT n FROM generate_series(1, 600000) n",
            "SELECT 1 AS one",
        ],
    )
    .await;
    let codes: Vec<_> = results[..4].iter().map(|result| (result.0, json_of(result)["code"].clone())).collect();
    assert_eq!(codes, [(false, json!("42501")), (false, json!("53400")), (false, json!("54000")), (false, json!("42501"))]);
    assert!(results[4..].iter().all(|(ok, _)| *ok), "{results:?}");
    assert!(results[6].1.len() < 20_000, "{}", results[6].1.len());
}

#[tokio::test]
async fn a_statement_that_heeds_no_timeout_is_ended_by_the_clock_of_the_program() {
    let app = lawless().await;
    let stubborn = "DO $$ BEGIN LOOP BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$";
    let results = run(&app, &[stubborn, "SELECT 1 AS one"]).await;
    assert_eq!((results[0].0, &json_of(&results[0])["error"]), (false, &json!("timeout")), "{}", results[0].1);
    assert_eq!(results[1], (true, r#"[{"one":1}]"#.to_owned()));
    let left = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %pg_sleep(600)%' AND datname = current_database()";
    app.until(left, 0).await;
}
