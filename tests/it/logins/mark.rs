//! The mark that a set-up leaves: the next start makes nothing anew, and still finds each change.

use level3::postgres::logins::{LoginError, prepare};
use sqlx::ConnectOptions;

use super::{Server, assert_fenced, run, text};

#[tokio::test]
async fn a_start_makes_nothing_anew_while_all_is_as_it_was_left() {
    let server = Server::start().await;
    let (admin, mut root) = (server.postgres.admin(), server.admin().await);
    // Each run of the set-up writes the row of each login.
    let made = "SELECT string_agg(xmin::text, ' ' ORDER BY oid) FROM pg_authid WHERE rolname LIKE 'level3%'";
    prepare(&admin, "level3", true).await.unwrap();
    let first = text(&mut root, made).await;
    let logins = prepare(&admin, "level3", true).await.unwrap();
    assert_eq!(text(&mut root, made).await, first);
    assert_fenced(&logins).await;
    // Each of these is found and undone.
    let mut inside = admin.clone().database("level3").connect().await.unwrap();
    let mut before = first;
    let reader = |right: &str| format!("NOT has_{right}");
    for (change, undone) in [
        ("ALTER ROLE level3_agent_reader CONNECTION LIMIT 5", "TRUE".to_owned()),
        ("ALTER ROLE level3_agent_reader PASSWORD 'x'", "SELECT bool_and(rolpassword IS NULL) FROM pg_authid".to_owned()),
        (
            "ALTER ROLE level3_agent_full SET work_mem = '1GB'",
            "SELECT bool_and(setconfig::text !~ 'work_mem') FROM pg_db_role_setting".to_owned(),
        ),
        ("GRANT TEMP ON DATABASE level3 TO PUBLIC", reader("database_privilege('level3_agent_reader', 'level3', 'TEMP')")),
        (
            "GRANT CREATE ON SCHEMA agent TO level3_agent_reader",
            reader("schema_privilege('level3_agent_reader', 'agent', 'CREATE')"),
        ),
        (
            "GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC",
            reader("function_privilege('level3_agent_reader', 'pg_advisory_lock(bigint)', 'EXECUTE')"),
        ),
        (
            "CREATE OR REPLACE FUNCTION shared.adopt_approved() RETURNS VOID LANGUAGE sql AS 'SELECT'",
            "SELECT prosecdef FROM pg_proc WHERE proname = 'adopt_approved'".to_owned(),
        ),
    ] {
        run(&mut inside, change).await;
        prepare(&admin, "level3", true).await.unwrap();
        let now = text(&mut root, made).await;
        assert_ne!(now, before, "{change}");
        assert_eq!(text(&mut inside, &format!("SELECT ({undone})::text")).await, "true", "{change}");
        prepare(&admin, "level3", true).await.unwrap();
        assert_eq!(text(&mut root, made).await, now, "{change}");
        before = now;
    }
    // A right that a start does not take away keeps it from going on, mark or no mark.
    run(&mut inside, "ALTER ROLE level3_agent_reader CREATEDB").await;
    let error = prepare(&admin, "level3", true).await.unwrap_err();
    assert!(matches!(error, LoginError::Excess { .. }), "{error}");
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_with_a_password_leaves_no_mark_by_which_it_could_be_guessed() {
    let server = Server::start().await;
    run(&mut server.admin().await, "CREATE DATABASE theirs").await;
    let operator = server.operator("operator", "CREATEROLE SUPERUSER PASSWORD 'secret'").await.password("secret");
    prepare(&operator, "theirs", false).await.unwrap();
    let marks = "SELECT count(*)::text FROM pg_shdescription WHERE description LIKE 'set up by level3%'";
    assert_eq!(text(&mut server.admin().await, marks).await, "0");
    prepare(&server.postgres.admin(), "theirs", false).await.unwrap();
    assert_eq!(text(&mut server.admin().await, marks).await, "1");
    server.postgres.stop().await.unwrap();
}
