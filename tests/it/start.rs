//! Starts that fail. One that fails for a lasting reason ends with 78 and says what to do, so that
//! no supervisor tries it again. And what a start tells.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use level3::clock::SystemRandom;
use level3::postgres::Database;
use level3::postgres::embedded::Embedded;
use level3::store::Store;
use reqwest::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::support::api::{Ran, ask, level3_with};
use crate::support::{Server, TestApp, cluster, share_engine};

/// A Postgres of the operator's own: one login needs a password, another does not get in.
struct Theirs {
    postgres: Embedded,
    _folder: tempfile::TempDir,
}

impl Theirs {
    async fn start() -> Self {
        let folder = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap();
        let postgres = Embedded::start(folder.path(), None).await.unwrap();
        let theirs = Self { postgres, _folder: folder };
        for statement in [
            "CREATE ROLE operator LOGIN CREATEROLE PASSWORD 'right'",
            "CREATE ROLE plain LOGIN",
            "CREATE ROLE stranger LOGIN CREATEROLE",
            "CREATE ROLE outsider LOGIN CREATEROLE",
            "CREATE DATABASE shop OWNER operator",
            "CREATE DATABASE plain OWNER plain",
        ] {
            theirs.run(statement).await;
        }
        let rules = "local all operator scram-sha-256\nlocal all outsider reject\nlocal all all trust\n";
        fs::write(theirs._folder.path().join("postgres/pg_hba.conf"), rules).unwrap();
        theirs.run("SELECT pg_reload_conf()").await;
        // Postgres has handled the signal once it refuses a connection; it does not say so
        // otherwise.
        while theirs.postgres.admin().username("operator").connect().await.is_ok() {}
        theirs
    }

    async fn run(&self, statement: &str) {
        let mut connection = self.postgres.admin().connect().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    fn url(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@localhost/{database}?host={}", self.postgres.admin().get_socket().unwrap().display())
    }
}

/// A server without TLS; it says so in one letter.
fn without_tls() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 8];
            stream.read_exact(&mut request).and_then(|()| stream.write_all(b"N")).unwrap_or_default();
        }
    });
    format!("postgres://operator:right@{address}/shop?sslmode=require")
}

async fn served(data: &Path, setting: (&str, &str)) -> Ran {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut settings = vec![("LEVEL3_DATA_DIR", data.to_str().unwrap()), ("LEVEL3_LISTEN", "127.0.0.1:0"), ("PATH", &path)];
    settings.retain(|(name, _)| *name != setting.0);
    settings.push(setting);
    level3_with(&settings, &["serve"], "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_would_fail_again_ends_with_78_and_says_what_to_do() {
    let theirs = Theirs::start().await;
    let newer = Database::inside(theirs.postgres.admin(), "newer");
    Store::open(&newer, &SystemRandom).await.unwrap().close().await;
    let mut behind = theirs.postgres.admin().database("newer").connect().await.unwrap();
    let future = "INSERT INTO level3._sqlx_migrations VALUES (99990101000000, 'from the future', now(), TRUE, '', 0)";
    sqlx::raw_sql(future).execute(&mut behind).await.unwrap();

    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("file"), "").unwrap();
    fs::create_dir_all(at("old/postgres")).unwrap();
    fs::write(at("old/postgres/PG_VERSION"), "99\n").unwrap();
    fs::create_dir_all(at("diary/postgres")).unwrap();
    fs::write(at("diary/postgres/diary.txt"), "mine").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let text = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();

    for (what, variable, value, words) in [
        ("a wrong password", "DATABASE_URL", theirs.url("operator:wrong", "shop"), "password authentication failed"),
        ("a login that is not let in", "DATABASE_URL", theirs.url("outsider", "shop"), "pg_hba.conf rejects"),
        ("no such login", "DATABASE_URL", theirs.url("nobody", "shop"), "check DATABASE_URL"),
        ("no such database", "DATABASE_URL", theirs.url("postgres", "nothing"), "does not exist"),
        ("no CREATEROLE", "DATABASE_URL", theirs.url("plain", "plain"), "it needs CREATEROLE"),
        ("somebody else's database", "DATABASE_URL", theirs.url("stranger", "shop"), "does not own the database"),
        ("TLS that is not there", "DATABASE_URL", without_tls(), "TLS"),
        ("a newer database", "DATABASE_URL", theirs.url("postgres", "newer"), "written by a newer level3"),
        ("something else", "DATABASE_URL", "mysql://root@127.0.0.1:3306/shop".into(), "begins with postgres://"),
        ("no name", "DATABASE_URL", theirs.url("postgres", ""), "names no database"),
        ("no address", "DATABASE_URL", "here".into(), "not a Postgres address"),
        ("no binaries there", "LEVEL3_POSTGRES_BIN", "/nowhere".into(), "LEVEL3_POSTGRES_BIN is `/nowhere`"),
        ("a folder under a file", "LEVEL3_DATA_DIR", text(at("file/data")), "a folder this user may write"),
        ("a folder that is not there", "LEVEL3_DATA_DIR", "/proc/nothing/here".into(), "a folder this user may write"),
        ("another major version", "LEVEL3_DATA_DIR", text(at("old")), "was made by Postgres 99"),
        ("something else in it", "LEVEL3_DATA_DIR", text(at("diary")), "holds files but no Postgres cluster"),
        ("an address in use", "LEVEL3_LISTEN", taken.local_addr().unwrap().to_string(), "is another level3 running there?"),
        ("a wrong setting", "HEARTBEAT_INTERVAL", "soon".into(), "HEARTBEAT_INTERVAL is `soon`"),
        ("no such provider", "LLM_PROVIDER", "nobody".into(), "LLM_PROVIDER"),
    ] {
        let ended = served(&at("data"), (variable, &value)).await;
        assert!(ended.code == 78 && ended.err.contains(words), "{what}: {ended:?}");
        assert!(!ended.err.contains(" at line "), "{what}, and no line of Postgres' own source: {ended:?}");
    }
    assert_eq!(fs::read_to_string(at("diary/postgres/diary.txt")).unwrap(), "mine");
    // If an address names no database, the server takes none over.
    let mut connection = theirs.postgres.admin().connect().await.unwrap();
    let ours: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_namespace WHERE nspname = 'level3'")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(ours, 0, "the database `postgres` is as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_another_key_does_not_start_on_a_database_that_has_secrets() {
    let app = TestApp::start().await;
    ask(&app, Method::PUT, "/api/secrets/API_KEY", Some(json!({"value": "canary-0d83"}))).await;
    let data = tempfile::tempdir().unwrap();
    share_engine(data.path());
    let key = data.path().join("secret-key");
    fs::write(&key, [7; 32]).unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let url = format!("postgres://postgres@localhost/{}?host={}", app.database(), cluster().get_socket().unwrap().display());
    let ended = served(data.path(), ("DATABASE_URL", &url)).await;
    assert!(ended.code == 78 && ended.err.contains("are sealed with another key"), "{ended:?}");
    // With the same key the server starts.
    fs::copy(app.data().join("secret-key"), &key).unwrap();
    let second = Server::start(data.path(), &[("DATABASE_URL", &url)]).await;
    assert_eq!(second.terminate().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_tells_of_settings_that_are_none_and_when_it_is_ready() {
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("ready"));
    fs::create_dir(&data).unwrap();
    share_engine(&data);
    let settings = [("LEVEL3_TOKN", "long-and-random"), ("LLM_MODLE", "m"), ("LEVEL3_READY_FILE", file.to_str().unwrap())];
    let server = Server::start(&data, &settings).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{}\n", server.address));
    let log = server.log.lock().unwrap().clone();
    for told in ["LEVEL3_TOKN is set, and there is no such setting; the nearest is LEVEL3_TOKEN", "the nearest is LLM_MODEL"] {
        assert!(log.contains(told), "{log}");
    }
    assert!(!log.contains("long-and-random"), "{log}");
    assert_eq!(server.terminate().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_filter_that_cannot_be_used_is_named() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    share_engine(&data);
    let server = Server::start(&data, &[("RUST_LOG", "((((")]).await;
    let log = server.log.lock().unwrap().clone();
    assert!(log.contains("RUST_LOG cannot be used (") && log.contains("ready: http://"), "{log}");
    assert_eq!(server.terminate().await, Some(0));
}

#[tokio::test]
async fn a_fault_in_dot_env_is_named_and_its_text_stays_unsaid() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join(".env"), "LLM_PROVIDER=anthropic\nLLM_API_KEY=sk-SECRET 123\n").unwrap();
    for (command, code) in [("serve", 78), ("usage", 1)] {
        let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_level3"));
        let ran = program.arg(command).env_clear().current_dir(place.path()).kill_on_drop(true).output().await.unwrap();
        let said = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
        assert_eq!(ran.status.code(), Some(code), "{said}");
        assert!(said.contains("line 2: the value of LLM_API_KEY") && !said.contains("SECRET"), "{said}");
    }
}
