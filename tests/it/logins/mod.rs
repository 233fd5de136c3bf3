//! The logins, on a real server: the limits of the agent's SQL, whoever prepares it and how often.

mod mark;
mod pooler;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use level3::clock::SystemRandom;
use level3::domain::{CallRequest, EffectClass, OperationKind};
use level3::postgres::Database;
use level3::postgres::embedded::Embedded;
use level3::postgres::logins::{LoginError, Logins, drop_database, prepare};
use level3::store::{AgentLogin, AgentSql, NewOperation, NewStep, OpenCall, RowLimits, Store, StoreError};
use serde_json::json;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use tempfile::TempDir;

use crate::support::permit;

const DENIED: &str = "42501";

/// A server of the test's own.
struct Server {
    postgres: Embedded,
    folder: TempDir,
}

impl Server {
    async fn start() -> Self {
        let folder = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap();
        Self { postgres: Embedded::start(folder.path(), None).await.unwrap(), folder }
    }

    /// A connection of the superuser.
    async fn admin(&self) -> PgConnection {
        self.postgres.admin().connect().await.unwrap()
    }

    /// Options for a login that is no superuser, and is made with `attributes`.
    async fn operator(&self, name: &str, attributes: &str) -> PgConnectOptions {
        run(&mut self.admin().await, &format!("CREATE ROLE \"{name}\" LOGIN {attributes}")).await;
        self.postgres.admin().username(name)
    }

    /// Makes every login but the superuser show a password.
    async fn demand_passwords(&self) {
        let rules = "local all postgres trust\nlocal all all scram-sha-256\n";
        fs::write(self.folder.path().join("postgres/pg_hba.conf"), rules).unwrap();
        run(&mut self.admin().await, "SELECT pg_reload_conf()").await;
        // The server has handled the signal once it refuses a connection; it does not say so
        // otherwise.
        let stranger = self.postgres.admin().username("nobody of that name");
        while code(&stranger.connect().await.unwrap_err()) != "28P01" {}
    }
}

async fn run(connection: &mut PgConnection, sql: &str) {
    attempt(connection, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

async fn attempt(connection: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(connection).await.map(|_| ())
}

async fn text(connection: &mut PgConnection, sql: &str) -> String {
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(connection).await.unwrap()
}

fn code(error: &sqlx::Error) -> String {
    error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned()
}

/// All of the fence. `app` has a table `secrets` in `level3`.
async fn assert_fenced(logins: &Logins) {
    let mut app = logins.app.connect().await.unwrap();
    run(&mut app, "CREATE TABLE IF NOT EXISTS secrets (n int)").await;
    run(&mut app, "CREATE OR REPLACE FUNCTION shared.closed() RETURNS int LANGUAGE sql AS 'SELECT 1'").await;
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut app).await.unwrap();
    let app_name = logins.app.get_username().replace('"', "\"\"");
    let attacks = [
        "SELECT * FROM level3.secrets",
        "CREATE TABLE level3.mine (n int)",
        "CREATE TABLE shared.mine (n int)",
        "CREATE TABLE public.mine (n int)",
        "SELECT shared.closed()",
        "CREATE SCHEMA mine",
        "DROP SCHEMA agent",
        "ALTER SCHEMA agent RENAME TO mine",
        "CREATE TEMP TABLE mine (n int)",
        "CREATE ROLE mine",
        "CREATE DATABASE mine",
        "SELECT pg_read_file('PG_VERSION')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY (SELECT 1) TO '/tmp/level3-must-not-exist'",
        "CREATE FUNCTION mine() RETURNS int LANGUAGE internal AS 'pg_backend_pid'",
        "ALTER SYSTEM SET fsync = off",
        "ALTER ROLE CURRENT_USER SUPERUSER",
        &format!("SET ROLE \"{app_name}\""),
        &format!("SET SESSION AUTHORIZATION \"{app_name}\""),
        &format!("ALTER ROLE \"{app_name}\" PASSWORD 'x'"),
        &format!("SELECT pg_terminate_backend({pid})"),
    ];
    for login in logins.agents() {
        let mut agent = login.connect().await.unwrap();
        for sql in attacks {
            let error = attempt(&mut agent, sql).await.expect_err(sql);
            assert_eq!(code(&error), DENIED, "{} {sql}: {error}", login.get_username());
        }
        assert_eq!(text(&mut agent, "SHOW search_path").await, "agent, shared");
        assert_eq!(text(&mut agent, "SHOW statement_timeout").await, "15s");
        assert_eq!(text(&mut agent, "SHOW lock_timeout").await, "5s");
        assert_eq!(text(&mut agent, "SHOW idle_in_transaction_session_timeout").await, "30s");
    }
    let mut tables = logins.tables.connect().await.unwrap();
    run(&mut tables, "DROP TABLE IF EXISTS notes; CREATE TABLE notes (n int); INSERT INTO agent.notes VALUES (1)").await;
    for (login, refused) in [
        (&logins.reader, "INSERT INTO notes VALUES (2)"),
        (&logins.writer, "TRUNCATE notes"),
        (&logins.writer, "CREATE TABLE more (n int)"),
        (&logins.writer, "DROP TABLE notes"),
        (&logins.tables, "TRUNCATE notes"),
    ] {
        let error = attempt(&mut login.connect().await.unwrap(), refused).await.expect_err(refused);
        assert_eq!(code(&error), DENIED, "{} {refused}: {error}", login.get_username());
    }
    run(&mut logins.writer.connect().await.unwrap(), "INSERT INTO notes VALUES (2); DELETE FROM notes WHERE n = 2").await;
    run(&mut logins.full.connect().await.unwrap(), "TRUNCATE notes; DROP TABLE notes").await;
    assert_eq!(text(&mut app, "SHOW search_path").await, "level3");
    assert_eq!(text(&mut app, "SHOW statement_timeout").await, "0");
}

#[tokio::test]
async fn the_agent_can_do_nothing_outside_its_schema() {
    let server = Server::start().await;
    let logins = prepare(&server.postgres.admin(), "level3", true).await.unwrap();
    assert_fenced(&logins).await;
    let mut agent = logins.reader.connect().await.unwrap();
    let error = attempt(&mut agent, "SELECT lo_create(0)").await.unwrap_err();
    assert_eq!(code(&error), DENIED, "{error}");
    for closed in ["pg_advisory_lock(1)", "pg_try_advisory_xact_lock(1)", "pg_terminate_backend(1)", "pg_cancel_backend(1)"] {
        let error = attempt(&mut agent, &format!("SELECT {closed}")).await.unwrap_err();
        assert_eq!(code(&error), DENIED, "{error}");
        run(&mut logins.app.connect().await.unwrap(), &format!("SELECT {closed}")).await;
    }
    let error = attempt(&mut agent, "SET temp_file_limit = -1").await.unwrap_err();
    assert_eq!(code(&error), DENIED, "{error}");
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn the_logins_of_one_database_cannot_enter_another() {
    let server = Server::start().await;
    let admin = server.postgres.admin();
    let (one, two) = (prepare(&admin, "one", true).await.unwrap(), prepare(&admin, "two", true).await.unwrap());
    for login in one.agents().into_iter().chain([&one.app]) {
        for database in ["two", "postgres", "template1"] {
            let error = login.clone().database(database).connect().await.expect_err(database);
            assert_eq!(code(&error), DENIED, "{database}: {error}");
        }
    }
    assert!(two.reader.connect().await.is_ok());
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn the_app_can_end_what_the_agent_runs() {
    let server = Server::start().await;
    let logins = prepare(&server.postgres.admin(), "level3", true).await.unwrap();
    let mut agent = logins.reader.connect().await.unwrap();
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut agent).await.unwrap();
    let sleeper = tokio::spawn(async move { attempt(&mut agent, "SELECT pg_sleep(600)").await });
    let mut app = logins.app.connect().await.unwrap();
    let ended: bool = sqlx::query_scalar("SELECT pg_terminate_backend($1)").bind(pid).fetch_one(&mut app).await.unwrap();
    assert!(ended);
    assert!(sleeper.await.unwrap().is_err());
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn preparing_again_and_at_once_changes_nothing() {
    let server = Server::start().await;
    let admin = server.postgres.admin();
    let at_once = futures::future::join_all((0..8).map(|_| prepare(&admin, "level3", true))).await;
    let logins = at_once.into_iter().map(|logins| logins.unwrap_or_else(|error| panic!("{error:?}"))).next().unwrap();
    run(&mut logins.app.connect().await.unwrap(), "CREATE TABLE kept AS SELECT 1 AS n").await;
    let again = prepare(&admin, "level3", true).await.unwrap();
    assert_eq!(text(&mut again.app.connect().await.unwrap(), "SELECT n::text FROM kept").await, "1");
    assert_fenced(&again).await;
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn what_the_agent_changed_about_its_own_login_is_undone_by_the_next_start() {
    let server = Server::start().await;
    let admin = server.postgres.admin();
    let logins = prepare(&admin, "level3", true).await.unwrap();
    let mut agent = logins.tables.connect().await.unwrap();
    run(&mut agent, "ALTER ROLE CURRENT_USER SET statement_timeout = 0").await;
    run(&mut agent, "ALTER ROLE CURRENT_USER SET enable_seqscan = off").await;
    run(&mut agent, "ALTER ROLE CURRENT_USER IN DATABASE level3 SET enable_hashjoin = off").await;
    let logins = prepare(&admin, "level3", true).await.unwrap();
    assert_fenced(&logins).await;
    let mut agent = logins.tables.connect().await.unwrap();
    assert_eq!(text(&mut agent, "SHOW enable_seqscan").await, "on");
    assert_eq!(text(&mut agent, "SHOW enable_hashjoin").await, "on");
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn strange_names_are_quoted_and_too_long_ones_refused() {
    let server = Server::start().await;
    let admin = server.postgres.admin();
    let strange = r#"Öl"; DROP ROLE x; -- 'a b"#;
    assert_fenced(&prepare(&admin, strange, true).await.unwrap()).await;
    let longest = "n".repeat(50);
    assert_fenced(&prepare(&admin, &longest, true).await.unwrap()).await;
    for name in ["n".repeat(51), String::new(), "a\0b".into()] {
        let error = prepare(&admin, &name, true).await.unwrap_err();
        assert!(matches!(error, LoginError::Name { .. }), "{error}");
        assert!(error.to_string().contains("1 to 50 bytes"), "{error}");
    }
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn dropping_a_database_removes_its_logins() {
    let server = Server::start().await;
    let admin = server.postgres.admin();
    let logins = prepare(&admin, "gone", true).await.unwrap();
    let mut open = logins.tables.connect().await.unwrap();
    run(&mut open, "CREATE TABLE notes (n int)").await;
    drop_database(&admin, "gone").await.unwrap();
    assert!(open.ping().await.is_err());
    let left = "SELECT count(*)::text FROM pg_roles WHERE rolname LIKE 'gone%'";
    assert_eq!(text(&mut server.admin().await, left).await, "0");
    drop_database(&admin, "gone").await.unwrap();
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn an_owner_with_createrole_is_enough_and_less_is_named() {
    let server = Server::start().await;
    let operator = server.operator("operator", "").await;
    run(&mut server.admin().await, "CREATE DATABASE theirs").await;
    let error = prepare(&operator, "theirs", false).await.unwrap_err();
    assert!(error.to_string().contains(r#"ALTER ROLE "operator" CREATEROLE;"#), "{error}");
    run(&mut server.admin().await, "ALTER ROLE operator CREATEROLE").await;
    let error = prepare(&operator, "theirs", false).await.unwrap_err();
    assert!(error.to_string().contains(r#"ALTER DATABASE "theirs" OWNER TO "operator";"#), "{error}");
    run(&mut server.admin().await, "ALTER DATABASE theirs OWNER TO operator").await;
    for _ in 0..2 {
        assert_fenced(&prepare(&operator, "theirs", false).await.unwrap()).await;
    }
    let error = prepare(&operator.database("theirs"), "another", true).await.unwrap_err();
    assert!(error.to_string().contains(r#"CREATE DATABASE "another" OWNER "operator";"#), "{error}");
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn passwords_follow_the_administrators_and_are_never_printed() {
    let server = Server::start().await;
    run(&mut server.admin().await, "CREATE DATABASE theirs").await;
    let keyless = server.operator("keyless", "CREATEROLE SUPERUSER").await;
    let operator = server.operator("operator", "CREATEROLE SUPERUSER PASSWORD 'p@ss/w:rd %'").await;
    server.demand_passwords().await;
    let operator = operator.password("p@ss/w:rd %");
    let logins = prepare(&operator, "theirs", false).await.unwrap();
    assert_fenced(&logins).await;
    let wrong = logins.writer.clone().password("guess").connect().await.unwrap_err();
    assert_eq!(code(&wrong), "28P01", "{wrong}");
    let stored = "SELECT rolpassword FROM pg_authid WHERE rolname = 'theirs_app'";
    assert!(text(&mut server.admin().await, stored).await.starts_with("SCRAM-SHA-256$4096:"));

    let error = prepare(&operator.clone().password("tr0ub4dor"), "theirs", false).await.unwrap_err();
    let printed = format!("{error} {error:?}");
    assert!(printed.contains("DATABASE_URL") && !printed.contains("tr0ub4dor"), "{printed}");

    // An administrator without a password must not leave logins whose passwords anyone can derive.
    let rules = "local all all trust\n";
    fs::write(server.folder.path().join("postgres/pg_hba.conf"), format!("local all keyless trust\n{rules}")).unwrap();
    run(&mut server.admin().await, "SELECT pg_reload_conf()").await;
    while keyless.connect().await.is_err() {}
    prepare(&keyless, "theirs", true).await.unwrap();
    let stored = "SELECT (rolpassword IS NULL)::text FROM pg_authid WHERE rolname = 'theirs_app'";
    assert_eq!(text(&mut server.admin().await, stored).await, "true");
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_password_the_agent_gave_itself_is_undone_by_its_next_call() {
    let server = Server::start().await;
    run(&mut server.admin().await, "CREATE DATABASE theirs").await;
    let operator = server.operator("operator", "CREATEROLE SUPERUSER PASSWORD 'secret'").await.password("secret");
    server.demand_passwords().await;
    let now = chrono::DateTime::UNIX_EPOCH;
    let store = Store::open(&Database::inside(operator, "theirs"), &SystemRandom).await.unwrap();
    let main = store.owners().main_conversation(now).await.unwrap();
    store.owners().accept_message(main, None, "work", now).await.unwrap();
    let lease = store.claim("one", &[], now).await.unwrap().expect("a turn");
    let call = CallRequest { id: "a".into(), name: "execute_sql".into(), arguments: "{}".into() };
    let calls = vec![call; 3];
    let step = NewStep { number: 1, model: "m", finish_reason: "tool_calls", calls: &calls, ..NewStep::default() };
    let open = store.store_step(&lease, step, now).await.unwrap().calls;
    let sql = async |call: &OpenCall, statement: &str| {
        let permit = permit(call.call);
        store
            .run_agent_sql(
                &lease,
                &permit,
                "execute_sql",
                AgentSql {
                    statements: &[statement],
                    params: &[],
                    limits: RowLimits::default(),
                    login: AgentLogin::Tables,
                    promised: false,
                    shown: &[],
                },
                now,
            )
            .await
            .unwrap()
            .outcome()
            .unwrap()
    };
    assert!(sql(&open[0], "ALTER ROLE CURRENT_USER PASSWORD 'mine'").await.ok);
    let ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'theirs_agent_tables'";
    run(&mut server.admin().await, ended).await;
    assert_eq!(sql(&open[1], "SELECT 1 AS one").await.result, r#"[{"one":1}]"#);
    assert!(sql(&open[2], "ALTER ROLE CURRENT_USER PASSWORD 'mine'").await.ok);

    // If the server keeps out the administrator as well, nothing can be made anew, and the error
    // says so.
    run(&mut server.admin().await, "ALTER ROLE operator PASSWORD 'other'").await;
    run(&mut server.admin().await, ended).await;
    let read = json!({});
    let permit = permit(open[2].call);
    let operation = NewOperation {
        permit: &permit,
        ordinal: 1,
        kind: OperationKind::Sql,
        class: EffectClass::Transactional,
        request: &read,
        request_sha256: [0; 32],
    };
    let error = store.run_operation_sql(&lease, operation, "SELECT 1", &[], AgentLogin::Tables, now).await.unwrap_err();
    assert!(matches!(error, StoreError::AgentLogin(_)), "{error:?}");
    store.close().await;
    server.postgres.stop().await.unwrap();
}

/// The state that the one login of earlier versions left: it owned its schema at first, then the
/// things in it.
const OLD: &str = "
    CREATE SCHEMA level3 AUTHORIZATION old_app; CREATE SCHEMA shared AUTHORIZATION old_app; CREATE SCHEMA agent AUTHORIZATION old_agent;
    GRANT USAGE ON SCHEMA shared TO old_agent;
    SET ROLE old_agent; SET search_path = agent;
    CREATE TABLE notes (id serial PRIMARY KEY, body text); INSERT INTO notes (body) VALUES ('kept');
    CREATE VIEW titles AS SELECT upper(body) AS title FROM notes;
    CREATE TYPE mood AS ENUM ('good');
    CREATE FUNCTION harm() RETURNS int LANGUAGE plpgsql AS 'BEGIN TRUNCATE agent.notes; RETURN 1; END';
    CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.body := upper(NEW.body); RETURN NEW; END';
    CREATE TRIGGER told BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION told();
    RESET ROLE;";

#[tokio::test]
async fn what_the_one_login_of_earlier_versions_made_is_handed_on_and_its_functions_are_not_open() {
    for attributes in ["SUPERUSER", "CREATEROLE"] {
        let server = Server::start().await;
        let operator = server.operator("operator", attributes).await;
        run(&mut server.admin().await, "CREATE DATABASE old OWNER operator").await;
        let mut behind = operator.clone().database("old").connect().await.unwrap();
        // The logins as the version before made them.
        run(&mut behind, "CREATE ROLE old_app LOGIN INHERIT; CREATE ROLE old_agent LOGIN NOINHERIT").await;
        run(&mut behind, "GRANT old_agent TO old_app; GRANT old_app, old_agent TO CURRENT_USER").await;
        run(&mut behind, OLD).await;
        for _ in 0..2 {
            let logins = prepare(&operator, "old", false).await.unwrap();
            let mut writer = logins.writer.connect().await.unwrap();
            run(&mut writer, "INSERT INTO notes (body) VALUES ('new')").await;
            assert_eq!(
                text(&mut writer, "SELECT string_agg(title, ' ' ORDER BY title) FROM titles WHERE title = 'NEW'").await,
                "NEW"
            );
            for (login, refused) in [
                (&logins.writer, "SELECT harm()"),
                (&logins.tables, "SELECT harm()"),
                (&logins.tables, "DROP FUNCTION harm()"),
                (&logins.tables, "TRUNCATE notes"),
                (&logins.writer, "DROP TABLE notes"),
                (&logins.reader, "DELETE FROM notes"),
            ] {
                let error = attempt(&mut login.connect().await.unwrap(), refused).await.expect_err(refused);
                assert_eq!(code(&error), DENIED, "{} {refused}: {error}", login.get_username());
            }
            run(&mut logins.tables.connect().await.unwrap(), "ALTER TABLE notes ADD COLUMN IF NOT EXISTS stars int").await;
            run(&mut writer, "DELETE FROM notes WHERE body = 'NEW'").await;
        }
        let logins = prepare(&operator, "old", false).await.unwrap();
        assert!(logins.app.clone().username("old_agent").connect().await.is_err(), "the old login enters no more");
        let left = "SELECT count(*)::text FROM pg_class WHERE relowner = 'old_agent'::regrole";
        assert_eq!(text(&mut behind, left).await, "0");
        assert_eq!(
            text(&mut behind, "SELECT proowner::regrole::text FROM pg_proc WHERE proname = 'harm'").await,
            "old_agent_code"
        );
        assert_eq!(text(&mut logins.reader.connect().await.unwrap(), "SELECT body FROM notes").await, "kept");
        run(&mut logins.full.connect().await.unwrap(), "SELECT harm(); DROP TABLE notes CASCADE").await;
        server.postgres.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_lock_that_somebody_holds_does_not_keep_the_logins_from_being_made() {
    let server = Server::start().await;
    let logins = prepare(&server.postgres.admin(), "level3", true).await.unwrap();
    let mut holder = server.postgres.admin().database("level3").connect().await.unwrap();
    run(&mut holder, "SELECT pg_advisory_lock(hashtext('level3 logins'))").await;
    prepare(&server.postgres.admin(), "level3", true).await.unwrap();
    assert!(logins.reader.connect().await.is_ok());
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_that_locks_the_new_logins_out_is_named() {
    let server = Server::start().await;
    run(&mut server.admin().await, "CREATE DATABASE theirs").await;
    server.demand_passwords().await;
    let error = prepare(&server.postgres.admin(), "theirs", false).await.unwrap_err();
    assert!(matches!(error, LoginError::LockedOut { .. }), "{error}");
    assert!(error.to_string().contains("pg_hba.conf"), "{error}");
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_database_that_cannot_be_fenced_is_refused() {
    let server = Server::start().await;
    let admin = server.postgres.admin();
    run(&mut server.admin().await, "CREATE ROLE one_agent SUPERUSER; CREATE ROLE helper").await;
    run(&mut server.admin().await, "CREATE DATABASE two").await;
    let error = prepare(&admin, "one", true).await.unwrap_err().to_string();
    assert!(error.contains("`one_agent` has a role attribute"), "{error}");

    let mut two = admin.clone().database("two").connect().await.unwrap();
    run(&mut two, "CREATE SCHEMA shared AUTHORIZATION helper").await;
    let error = prepare(&admin, "two", false).await.unwrap_err().to_string();
    assert!(error.contains("schema `shared`") && error.contains("belongs to `helper`"), "{error}");
    let left = "SELECT count(*)::text FROM pg_roles WHERE rolname LIKE 'two%'";
    assert_eq!(text(&mut two, left).await, "0", "a refusal leaves nothing behind");
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn no_server_and_no_database_name_the_setting() {
    let server = Server::start().await;
    let admin = server.postgres.admin();
    let error = prepare(&admin, "missing", false).await.unwrap_err().to_string();
    assert!(error.contains("`missing`") && error.contains("DATABASE_URL"), "{error}");
    server.postgres.stop().await.unwrap();
    let error = prepare(&admin, "level3", true).await.unwrap_err().to_string();
    assert!(error.contains("DATABASE_URL"), "{error}");
}
