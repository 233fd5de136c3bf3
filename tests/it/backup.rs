//! `level3 backup` and `level3 restore`: everything is there again, in another folder and in
//! another database.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::support::api::{Ran, ask_at, level3_with};
use crate::support::{Client, ModelServer, Server, administrator, asks_for, cluster, kinds, results};

const ADDER: &str = "export default function adder({a, b}) { return a + b; }";

/// A model that does these things one after the other; each word ends a turn.
async fn model() -> ModelServer {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}});
    let sql = |query: &str| asks_for("execute_sql", &json!({"query": query}));
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let steps = [
        sql("CREATE TABLE notes (id serial PRIMARY KEY, note text CHECK (note <> ''))"),
        sql("INSERT INTO notes (note) VALUES ('one'), ('zwei ✓')"),
        sql("CREATE VIEW counted AS SELECT count(*) FROM notes, shared.tasks"),
        asks_for(
            "write_capability",
            &json!({"name": "adder", "description": "Adds.", "code": ADDER, "parameters_schema": parameters}),
        ),
        asks_for("adder", &json!({"a": 1, "b": 2})),
        asks_for("manage_tasks", &json!({"action": "create", "title": "later", "due_at": "2100-01-01T00:00:00Z"})),
        said("made"),
        asks_for("adder", &json!({"a": 20, "b": 3})),
        sql("ALTER TABLE notes ADD COLUMN more int"),
        sql("INSERT INTO notes (note, more) VALUES ('drei', 3) RETURNING id"),
        said("still there"),
    ];
    ModelServer::start(move |number, _| steps[number % steps.len()].clone()).await
}

/// Rows and a fingerprint of every table of the program and of the agent.
async fn everything(options: PgConnectOptions) -> BTreeMap<String, (i64, String)> {
    let mut connection = options.connect().await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname IN ('level3', 'agent')",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let mut found = BTreeMap::new();
    for table in tables {
        let query = format!("SELECT count(*), coalesce(md5(string_agg(t::text, E'\\n' ORDER BY t::text)), '') FROM {table} t");
        let row: (i64, String) = sqlx::query_as(AssertSqlSafe(query)).fetch_one(&mut connection).await.unwrap();
        found.insert(table, row);
    }
    connection.close().await.unwrap();
    assert!(found.len() > 15 && found["level3.events"].0 > 10 && found["agent.notes"].0 == 2, "{found:?}");
    found
}

async fn run(data: &Path, arguments: &[&str]) -> Ran {
    level3_with(&[("LEVEL3_DATA_DIR", data.to_str().unwrap())], arguments, "").await
}

fn done(ran: &Ran) {
    assert_eq!(ran.code, 0, "{ran:?}");
}

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(words.iter().all(|word| ran.err.contains(word)), "{words:?} in {}", ran.err);
}

async fn readable(server: &Server) -> Value {
    let (_, listed) = ask_at(&format!("http://{}/api/secrets", server.address), Method::GET, None).await;
    listed["secrets"][0]["readable"].clone()
}

/// Every table is what the events say.
async fn replayed(server: &Server) {
    let checked = level3_with(&[("LEVEL3_LISTEN", &server.address.to_string())], &["replay", "--check"], "").await;
    done(&checked);
}

/// The agent uses and changes the things it made, as before.
async fn goes_on(server: &Server) {
    let mut client = Client::connect(server.address).await;
    let frames = client.ask("go on").await;
    let told = [(true, "23".to_owned()), (true, "0 rows affected".to_owned()), (true, r#"[{"id":3}]"#.to_owned())];
    let results = results(&frames);
    assert_eq!((results.len(), &results[0], &results[2]), (3, &told[0], &told[2]), "{results:#?}");
    assert!(results[1].0, "{results:#?}");
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_made_while_the_server_runs_is_all_of_it_in_another_place() {
    let model = model().await;
    let place = tempfile::tempdir().unwrap();
    let [data, fresh, third] = ["data", "fresh", "third"].map(|name| place.path().join(name));
    let [file, with_key] = ["one.l3", "two.l3"].map(|name| place.path().join(name));
    let (file, with_key) = (file.to_str().unwrap(), with_key.to_str().unwrap());
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
    refused(&run(&data, &["backup", file]).await, &["no data folder", "LEVEL3_DATA_DIR"]);

    let server = Server::start(&data, &settings).await;
    let url = format!("http://{}/api/secrets/API_KEY", server.address);
    assert_eq!(ask_at(&url, Method::PUT, Some(json!({"value": "canary-5522aaff"}))).await.0, 200);
    let frames = Client::connect(server.address).await.ask("make things").await;
    assert!(results(&frames).iter().all(|(ok, _)| *ok), "{frames:#?}");
    let before = everything(administrator(&data, "level3")).await;
    let theirs = ["one.l3.dump", "one.l3.unfinished"].map(|name| place.path().join(name));
    theirs.iter().for_each(|theirs| fs::write(theirs, "mine").unwrap());
    done(&run(&data, &["backup", file]).await);
    assert!(theirs.iter().all(|theirs| fs::read(theirs).unwrap() == b"mine"), "a backup takes nobody's file");
    refused(&run(&data, &["backup", file]).await, &["is there already"]);
    refused(&run(&data, &["restore", file]).await, &["is not empty", "LEVEL3_DATA_DIR"]);
    // A backup that begins while the server ends takes the database over from it.
    let ending = place.path().join("ending.l3");
    let ending = ["backup", ending.to_str().unwrap()];
    let (ended, ran) = tokio::join!(server.terminate(), run(&data, &ending));
    assert_eq!(ended, Some(0));
    done(&ran);
    // The second backup is of a server that does not run, and holds the key.
    done(&run(&data, &["backup", with_key, "--with-key"]).await);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(file).unwrap();
    let key = fs::read(data.join("secret-key")).unwrap();
    assert!(!bytes.windows(key.len()).any(|window| window == key), "the key is not in it");
    assert!(fs::read(with_key).unwrap().windows(key.len()).any(|window| window == key));

    done(&run(&fresh, &["restore", file]).await);
    let server = Server::start(&fresh, &settings).await;
    assert_eq!(everything(administrator(&fresh, "level3")).await, before);
    assert_eq!(readable(&server).await, false);
    fs::copy(data.join("secret-key"), fresh.join("secret-key")).unwrap();
    assert_eq!(readable(&server).await, true);
    replayed(&server).await;
    goes_on(&server).await;
    replayed(&server).await;
    assert_eq!(server.terminate().await, Some(0));

    done(&run(&third, &["restore", with_key]).await);
    let server = Server::start(&third, &settings).await;
    assert_eq!((everything(administrator(&third, "level3")).await, readable(&server).await), (before, json!(true)));
    assert_eq!(server.terminate().await, Some(0));
    for folder in [&fresh, &third] {
        for left in ["database.dump", "restore-unfinished"] {
            assert!(!folder.join(left).exists(), "{left}");
        }
    }
}

/// An empty database of the tests' Postgres, which stands for the operator's own.
async fn foreign(name: &str) -> (PgConnectOptions, String) {
    let admin = cluster();
    let mut connection = admin.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name}; "))).execute(&mut connection).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await.unwrap();
    let url = format!("postgres://postgres@localhost/{name}?host={}", admin.get_socket().unwrap().display());
    (admin.database(name), url)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_moves_into_a_database_of_another_name_and_from_there_on() {
    let model = model().await;
    let place = tempfile::tempdir().unwrap();
    let [data, fresh, third] = ["data", "fresh", "third"].map(|name| place.path().join(name));
    let [one, two] = ["one.l3", "two.l3"].map(|name| place.path().join(name));
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    let base_url = model.base_url();
    let server = Server::start(&data, &[("LLM_BASE_URL", &base_url), ("LLM_MODEL", "scripted")]).await;
    Client::connect(server.address).await.ask("make things").await;
    let before = everything(administrator(&data, "level3")).await;
    done(&run(&data, &["backup", one]).await);
    server.kill().await;

    let (options, url) = foreign("moved_here").await;
    let settings = [
        ("LLM_BASE_URL", base_url.as_str()),
        ("LLM_MODEL", "scripted"),
        ("DATABASE_URL", &url),
        ("LEVEL3_DATA_DIR", fresh.to_str().unwrap()),
    ];
    refused(&level3_with(&settings, &["backup", two], "").await, &["holds no level3"]);
    done(&level3_with(&settings, &["restore", one], "").await);
    assert_eq!(everything(options.clone()).await, before);
    let mut behind = options.connect().await.unwrap();
    let owners: Vec<(String, String)> = sqlx::query_as(
        "SELECT schemaname::text, tableowner::text FROM pg_tables WHERE schemaname IN ('level3', 'agent') GROUP BY 1, 2 ORDER BY 1",
    )
    .fetch_all(&mut behind)
    .await
    .unwrap();
    assert_eq!(owners, [("agent".into(), "moved_here_agent_tables".into()), ("level3".into(), "moved_here_app".into())]);
    behind.close().await.unwrap();
    let server = Server::start(&fresh, &settings).await;
    goes_on(&server).await;
    assert_eq!(server.terminate().await, Some(0));

    done(&level3_with(&settings, &["backup", two], "").await);
    // The folder is another one, and the database is not empty.
    let mut elsewhere = settings;
    elsewhere[3].1 = third.to_str().unwrap();
    refused(&level3_with(&elsewhere, &["restore", two], "").await, &["database is not empty"]);
    assert!(!third.exists(), "nothing was made");
    // A restore that was begun and not ended is never served.
    fs::create_dir(&third).unwrap();
    fs::write(third.join("restore-unfinished"), "").unwrap();
    let served =
        level3_with(&[("LEVEL3_DATA_DIR", third.to_str().unwrap()), ("LEVEL3_LISTEN", "127.0.0.1:0")], &["serve"], "").await;
    assert_eq!(served.code, 78, "{served:?}");
    assert!(served.err.contains("was begun and never ended"), "{}", served.err);
    level3::postgres::logins::drop_database(&cluster(), "moved_here").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_whole_backup_is_refused_before_anything_is_made() {
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("some.l3"));
    for (bytes, word) in [(&b"not a tar"[..], "no backup of level3"), (b"", "no backup of level3")] {
        fs::write(&file, bytes).unwrap();
        refused(&run(&data, &["restore", file.to_str().unwrap()]).await, &[word]);
        assert!(!data.exists(), "nothing was made");
    }
    refused(&run(&data, &["restore", "/nonexistent.l3"]).await, &["/nonexistent.l3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn things_of_the_agent_that_cannot_be_made_again_do_not_keep_the_rest_from_being_restored() {
    let steps = [
        asks_for("execute_sql", &json!({"query": "CREATE TABLE notes (id serial PRIMARY KEY, note text)"})),
        asks_for("execute_sql", &json!({"query": "INSERT INTO notes (note) VALUES ('one')"})),
        json!({"role": "assistant", "content": "made"}),
    ];
    let model = ModelServer::start(move |number, _| steps[number % steps.len()].clone()).await;
    let place = tempfile::tempdir().unwrap();
    let [data, fresh] = ["data", "fresh"].map(|name| place.path().join(name));
    let file = place.path().join("one.l3");
    let file = file.to_str().unwrap();
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
    let server = Server::start(&data, &settings).await;
    Client::connect(server.address).await.ask("make things").await;
    // The condition reads another table, so it can become false of rows that are there.
    let mut behind = administrator(&data, "level3").connect().await.unwrap();
    let made = "SET search_path = agent;
        CREATE TABLE bound (n int);
        INSERT INTO bound VALUES (0);
        CREATE FUNCTION lowest() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT b.n FROM agent.bound b); END';
        CREATE TABLE later (id int PRIMARY KEY, CONSTRAINT more CHECK (id > agent.lowest()));
        INSERT INTO later VALUES (1), (2);
        CREATE TABLE heir (CONSTRAINT more CHECK (id > agent.lowest())) INHERITS (later);
        INSERT INTO heir VALUES (3);
        CREATE TABLE heirs_heir () INHERITS (heir);
        INSERT INTO heirs_heir VALUES (4);
        CREATE MATERIALIZED VIEW counted AS SELECT 1 / (5 - agent.lowest()) AS n;
        UPDATE bound SET n = 5";
    sqlx::raw_sql(made).execute(&mut behind).await.unwrap();
    behind.close().await.unwrap();
    done(&run(&data, &["backup", file]).await);
    assert_eq!(server.terminate().await, Some(0));

    let restored = run(&fresh, &["restore", file]).await;
    done(&restored);
    let told = format!("{}{}", restored.out, restored.err);
    assert!(told.contains("MATERIALIZED VIEW DATA counted") && !told.contains("TABLE DATA"), "{restored:?}");
    let server = Server::start(&fresh, &settings).await;
    let mut behind = administrator(&fresh, "level3").connect().await.unwrap();
    for (query, rows) in [
        ("SELECT count(*) FROM ONLY agent.later", 2),
        ("SELECT count(*) FROM agent.heir", 2),
        ("SELECT count(*) FROM agent.notes", 1),
        ("SELECT count(*) FROM pg_constraint WHERE conname = 'more' AND NOT convalidated", 3),
        ("SELECT count(*) FROM pg_constraint WHERE conname = 'more' AND conislocal AND coninhcount = 1", 1),
    ] {
        assert_eq!(sqlx::query_scalar::<_, i64>(query).fetch_one(&mut behind).await.unwrap(), rows, "{query}");
    }
    behind.close().await.unwrap();
    replayed(&server).await;
    assert_eq!(server.terminate().await, Some(0));
    assert!(!fresh.join("restore-unfinished").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn backups_that_are_made_at_once_do_not_end_each_others_database() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    assert_eq!(Server::start(&data, &[]).await.terminate().await, Some(0));
    let files = ["a.l3", "b.l3", "c.l3"].map(|name| place.path().join(name).to_str().unwrap().to_owned());
    let commands: Vec<_> = files.iter().map(|file| ["backup", file.as_str()]).collect();
    let ran = futures::future::join_all(commands.iter().map(|command| run(&data, command))).await;
    ran.iter().for_each(done);
    // Of those that are to have one name, one gets it.
    let file = place.path().join("same.l3");
    let file = file.to_str().unwrap();
    let (one, other) = (["backup", file], ["backup", file]);
    let (one, other) = tokio::join!(run(&data, &one), run(&data, &other));
    let (won, lost) = if one.code == 0 { (one, other) } else { (other, one) };
    done(&won);
    refused(&lost, &["same.l3 is there already"]);
    let left = fs::read_dir(place.path()).unwrap().count();
    assert_eq!(left, 5, "the data folder and four backups");
}

/// A folder with a `pg_dump` that waits until the pipe beside it is opened and closed, and then
/// fails; from its second call on it is the real one, of the server that runs on `data`.
fn pg_dump_that_fails_once(place: &Path, data: &Path) -> PathBuf {
    let file = fs::read_to_string(data.join("postgres/postmaster.pid")).unwrap();
    let running = fs::read_link(format!("/proc/{}/exe", file.lines().next().unwrap())).unwrap();
    let (real, bin) = (running.parent().unwrap(), place.join("bin"));
    fs::create_dir(&bin).unwrap();
    symlink(real.join("pg_restore"), bin.join("pg_restore")).unwrap();
    let (real, pipe) = (real.join("pg_dump"), bin.join("pipe"));
    let name = CString::new(pipe.as_os_str().as_encoded_bytes()).unwrap();
    // SAFETY: mkfifo reads the name, which ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] || [ -e '{pipe}.used' ] && exec '{real}' \"$@\"\n: > '{pipe}.used'\nread -r _ < '{pipe}'\nexit 1\n",
        pipe = pipe.display(),
        real = real.display()
    );
    fs::write(bin.join("pg_dump"), script).unwrap();
    fs::set_permissions(bin.join("pg_dump"), fs::Permissions::from_mode(0o700)).unwrap();
    bin
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_whose_server_ends_under_it_is_made_from_the_next_one() {
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("one.l3"));
    let server = Server::start(&data, &[]).await;
    let bin = pg_dump_that_fails_once(place.path(), &data);
    let settings = [("LEVEL3_DATA_DIR", data.to_str().unwrap()), ("LEVEL3_POSTGRES_BIN", bin.to_str().unwrap())];
    let changed = async {
        // It can be opened once the dump waits at its other end.
        let pipe = bin.join("pipe");
        let held = tokio::task::spawn_blocking(move || File::options().write(true).open(pipe)).await.unwrap().unwrap();
        assert_eq!(server.terminate().await, Some(0));
        let next = Server::start(&data, &[]).await;
        drop(held);
        next
    };
    let command = ["backup", file.to_str().unwrap()];
    let (ran, next) = tokio::join!(level3_with(&settings, &command, ""), changed);
    done(&ran);
    assert!(file.is_file() && bin.join("pipe.used").exists());
    assert_eq!(next.terminate().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_stopped_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (data, file) = (place.path().join("data"), place.path().join("one.l3"));
    let server = Server::start(&data, &[]).await;
    let [mut behind, mut watching] =
        [administrator(&data, "level3").connect().await.unwrap(), administrator(&data, "level3").connect().await.unwrap()];
    // The dump waits for this lock, so the backup is in the middle of it.
    sqlx::raw_sql("BEGIN; LOCK TABLE level3.events IN ACCESS EXCLUSIVE MODE").execute(&mut behind).await.unwrap();
    let dumps = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'pg_dump' AND wait_event_type = 'Lock')";
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pg_dump'";
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_level3"));
        command.args(["backup", file.to_str().unwrap()]).env_clear().env("LEVEL3_DATA_DIR", &data).kill_on_drop(true);
        let child = command.current_dir(&data).stderr(std::process::Stdio::piped()).spawn().unwrap();
        while !sqlx::query_scalar::<_, bool>(dumps).fetch_one(&mut watching).await.unwrap() {}
        // SAFETY: kill only sends a signal, to a child that has not been waited for.
        unsafe { libc::kill(child.id().unwrap().try_into().unwrap(), signal) };
        let output = child.wait_with_output().await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains("stopped by a signal"), "{said}");
        let left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["data"]);
        // Its session waits for the lock, also without a program.
        sqlx::raw_sql(end).execute(&mut watching).await.unwrap();
        while sqlx::query_scalar::<_, bool>(dumps).fetch_one(&mut watching).await.unwrap() {}
    }
    behind.close().await.unwrap();
    watching.close().await.unwrap();
    assert_eq!(server.terminate().await, Some(0));
}

/// The file of a backup with this manifest and this dump.
fn made_up(file: &Path, migration: i64, major: u32, dump: &[u8]) {
    let sha256 = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(dump));
    let manifest = json!({
        "format": 1, "level3": "99.0.0", "made_at": "2099-01-01T00:00:00Z", "engine": "e", "postgres": format!("{major}.1"),
        "postgres_major": major, "migration": migration,
        "files": [{"name": "database.dump", "bytes": dump.len(), "sha256": sha256}],
    });
    let mut tar = tar::Builder::new(fs::File::create(file).unwrap());
    for (name, bytes) in [("manifest.json", manifest.to_string().as_bytes()), ("database.dump", dump)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, name, bytes).unwrap();
    }
    tar.finish().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_is_refused_leaves_its_place_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let (fresh, held, file) = (place.path().join("fresh"), place.path().join("held"), place.path().join("some.l3"));
    fs::create_dir(&held).unwrap();
    fs::write(held.join("secret-key"), [7; 32]).unwrap();
    let known = level3::postgres::migrations().iter().last().unwrap().version;
    let nowhere = format!("postgres://postgres@localhost/nowhere?host={}", cluster().get_socket().unwrap().display());
    for (migration, major, database, words) in [
        (99_999_999_999_999, 15, "", "made by a newer level3"),
        (known, 99, "", "was made from Postgres 99"),
        (known, 15, "", "pg_restore failed"),
        (known, 15, nowhere.as_str(), "database \"nowhere\" does not exist"),
    ] {
        made_up(&file, migration, major, b"no dump");
        for data in [&fresh, &held] {
            let settings = [("LEVEL3_DATA_DIR", data.to_str().unwrap()), ("DATABASE_URL", database)];
            refused(&level3_with(&settings, &["restore", file.to_str().unwrap()], "").await, &[words]);
        }
        assert!(!fresh.exists(), "{words}");
        let left: Vec<_> = fs::read_dir(&held).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["secret-key"], "{words}");
    }
    assert_eq!(fs::read(held.join("secret-key")).unwrap(), [7; 32]);
}
