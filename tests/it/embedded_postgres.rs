//! The embedded Postgres, with the real server: it starts, stops, and survives the death of itself
//! or of its program.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests talk to the terminal, and a program of tests to its parent"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use level3::postgres::embedded::{Embedded, EmbeddedError};
use sqlx::{ConnectOptions, Connection, PgConnection};
use tempfile::TempDir;

use crate::support::PATIENCE;

/// Names the data folder to the program that [`Program::run`] starts.
const DATA_DIR: &str = "LEVEL3_TEST_DATA_DIR";

/// A folder that any account may enter, as a server's folder usually is.
fn folder() -> TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o755)).tempdir().unwrap()
}

async fn start(data_dir: &Path) -> Embedded {
    Embedded::start(data_dir, None).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn connect(postgres: &Embedded) -> PgConnection {
    postgres.admin().connect().await.unwrap()
}

async fn write_row(postgres: &Embedded) {
    let mut connection = connect(postgres).await;
    sqlx::raw_sql("CREATE TABLE IF NOT EXISTS kept (n int)").execute(&mut connection).await.unwrap();
    sqlx::raw_sql("INSERT INTO kept VALUES (1)").execute(&mut connection).await.unwrap();
}

async fn rows(postgres: &Embedded) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM kept").fetch_one(&mut connect(postgres).await).await.unwrap()
}

fn server_pid(data_dir: &Path) -> i32 {
    let file = fs::read_to_string(data_dir.join("postgres/postmaster.pid")).unwrap();
    file.lines().next().unwrap().parse().unwrap()
}

fn kill(pid: i32) {
    // SAFETY: kill takes no pointers.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0, "{}", std::io::Error::last_os_error());
}

/// Waits for a condition that no event announces.
#[expect(clippy::disallowed_methods, reason = "nothing tells")]
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// A command that runs as the owner of the cluster, as processes of the server do.
fn as_owner(data_dir: &Path, program: &str) -> Command {
    let owner = fs::metadata(data_dir.join("postgres")).unwrap();
    let mut command = Command::new(program);
    if owner.uid() != fs::metadata("/proc/self").unwrap().uid() {
        command.uid(owner.uid()).gid(owner.gid());
    }
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// A server that a killed program left behind, if the kernel does not end it: nobody's child, on
/// the same socket.
async fn orphan(data_dir: &Path) -> Child {
    let binary = fs::canonicalize(which("postgres")).unwrap();
    let mut command = as_owner(data_dir, binary.to_str().unwrap());
    fs::create_dir_all(data_dir.join("run")).unwrap();
    let owner = fs::metadata(data_dir.join("postgres")).unwrap();
    std::os::unix::fs::chown(data_dir.join("run"), Some(owner.uid()), Some(owner.gid())).unwrap();
    command.arg("-D").arg(data_dir.join("postgres")).arg("-k").arg(data_dir.join("run")).args(["-c", "listen_addresses="]);
    let child = command.spawn().unwrap();
    wait_until("the orphan is ready", || {
        fs::read_to_string(data_dir.join("postgres/postmaster.pid")).is_ok_and(|file| file.contains("ready"))
    });
    child
}

#[expect(clippy::disallowed_methods, reason = "a test looks for a program as a shell does")]
fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let packaged = PathBuf::from("/usr/lib/postgresql/15/bin");
    std::env::split_paths(&path).chain([packaged]).map(|folder| folder.join(program)).find(|path| path.exists()).unwrap()
}

/// A program with an embedded Postgres, in a process of its own so that it can be killed.
struct Program(Child);

impl Program {
    fn spawn(data_dir: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "embedded_postgres::a_program_that_runs_until_it_is_killed", "--ignored", "--nocapture"]);
        command.env(DATA_DIR, data_dir).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Starts it and waits until its server answers.
    fn run(data_dir: &Path) -> Self {
        let mut program = Self::spawn(data_dir);
        let output = BufReader::new(program.0.stdout.take().unwrap());
        assert!(output.lines().any(|line| line.unwrap().ends_with("ready")), "the program ended without a word");
        program
    }

    /// `kill -9`.
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test]
#[ignore = "the program that other tests start and kill"]
#[expect(clippy::disallowed_methods, reason = "how the test that starts it names the folder")]
async fn a_program_that_runs_until_it_is_killed() {
    let Some(data_dir) = std::env::var_os(DATA_DIR) else { return };
    let postgres = start(Path::new(&data_dir)).await;
    write_row(&postgres).await;
    println!("ready");
    // The read ends with the parent, even if the parent forgot to kill.
    drop(std::io::stdin().read(&mut [0]));
}

#[tokio::test]
async fn a_first_start_makes_a_cluster_and_the_next_finds_its_data() {
    let root = folder();
    let data_dir = root.path().join("data");
    let begin = Instant::now();
    let postgres = start(&data_dir).await;
    let cold = begin.elapsed();
    write_row(&postgres).await;
    postgres.stop().await.unwrap();
    assert!(!data_dir.join("postgres/postmaster.pid").exists(), "the server has ended when stop returns");
    let begin = Instant::now();
    let postgres = start(&data_dir).await;
    eprintln!("cold start {cold:?}, warm start {:?}", begin.elapsed());
    assert_eq!(rows(&postgres).await, 1);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn it_is_durable_private_and_modest() {
    let root = folder();
    let postgres = start(root.path()).await;
    let mut connection = connect(&postgres).await;
    for (setting, value) in [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("listen_addresses", ""),
        ("server_encoding", "UTF8"),
        ("log_timezone", "UTC"),
        ("jit", "off"),
    ] {
        let shown: String =
            sqlx::query_scalar("SELECT current_setting($1)").bind(setting).fetch_one(&mut connection).await.unwrap();
        assert_eq!(shown, value, "{setting}");
    }
    let mode = |path: &str| fs::metadata(root.path().join(path)).unwrap().mode() & 0o777;
    assert_eq!((mode("postgres"), mode("run"), mode("postgres.log")), (0o700, 0o700, 0o600));
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn of_two_starts_at_once_one_is_refused_clearly() {
    let root = folder();
    let (one, two) = tokio::join!(Embedded::start(root.path(), None), Embedded::start(root.path(), None));
    let (winner, loser) = match (one, two) {
        (Ok(winner), Err(loser)) | (Err(loser), Ok(winner)) => (winner, loser),
        other => panic!("one must win: {other:?}"),
    };
    assert!(matches!(loser, EmbeddedError::Busy { .. }), "{loser}");
    assert!(loser.to_string().contains("another level3 runs on"), "{loser}");
    write_row(&winner).await;
    winner.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_dropped_ends_and_frees_its_folder() {
    let root = folder();
    let postgres = start(root.path()).await;
    write_row(&postgres).await;
    let pid = server_pid(root.path());
    drop(postgres);
    let postgres = start(root.path()).await;
    assert!(!lives(pid));
    assert_eq!(rows(&postgres).await, 1);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn after_kill_9_of_the_server_the_next_start_heals() {
    let root = folder();
    let postgres = start(root.path()).await;
    write_row(&postgres).await;
    kill(server_pid(root.path()));
    postgres.stop().await.unwrap();
    let postgres = start(root.path()).await;
    assert_eq!(rows(&postgres).await, 1);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_query_that_outlives_its_killed_server_does_not_stop_the_next_one() {
    let root = folder();
    let postgres = start(root.path()).await;
    write_row(&postgres).await;
    let mut connection = connect(&postgres).await;
    let backend: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut connection).await.unwrap();
    let busy = tokio::spawn(async move {
        // It computes and never waits, so it does not notice that its server is gone.
        sqlx::raw_sql("DO $$ BEGIN LOOP END LOOP; END $$").execute(&mut connection).await
    });
    let mut watcher = connect(&postgres).await;
    let active = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND state = 'active' AND query LIKE 'DO%'";
    while sqlx::query_scalar::<_, i64>(active).bind(backend).fetch_one(&mut watcher).await.unwrap() == 0 {}
    kill(server_pid(root.path()));
    postgres.stop().await.unwrap();
    assert!(lives(backend), "the query must still run, or this test shows nothing");
    let postgres = start(root.path()).await;
    assert!(!lives(backend));
    assert!(busy.await.unwrap().is_err());
    assert_eq!(rows(&postgres).await, 1);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn after_kill_9_of_the_program_the_next_start_works_at_once() {
    let root = folder();
    for round in 1..=3 {
        Program::run(root.path()).kill();
        let postgres = start(root.path()).await;
        assert_eq!(rows(&postgres).await, round);
        postgres.stop().await.unwrap();
    }
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn after_kill_9_of_the_program_its_server_ends_by_itself() {
    // Once as another account, once (under root) in a user namespace.
    for mode in [0o755, 0o700] {
        let root = folder();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(mode)).unwrap();
        let program = Program::run(root.path());
        let pid = server_pid(root.path());
        program.kill();
        wait_until("the server ends", || !lives(pid));
    }
}

#[tokio::test]
async fn an_orphan_is_ended_with_its_connections_and_its_data_kept() {
    let root = folder();
    let postgres = start(root.path()).await;
    write_row(&postgres).await;
    let options = postgres.admin();
    postgres.stop().await.unwrap();
    let mut orphan = orphan(root.path()).await;
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql("BEGIN; INSERT INTO kept VALUES (2)").execute(&mut connection).await.unwrap();
    // Reaps it the moment it ends, as the system does with orphans.
    let reaper = std::thread::spawn(move || orphan.wait().unwrap());
    let postgres = start(root.path()).await;
    assert!(reaper.join().unwrap().success());
    let log = fs::read_to_string(root.path().join("postgres.log")).unwrap();
    assert!(!log.contains("not properly shut down"), "the orphan was ended in order: {log}");
    assert!(connection.ping().await.is_err());
    assert_eq!(rows(&postgres).await, 1, "what the dead program had not committed is gone");
    postgres.stop().await.unwrap();
}

/// How the letters and the order of texts are: what a lower case makes of letters, if `ILIKE` finds
/// them, if the words of a search do, and if a capital comes before all small ones.
async fn letters(postgres: &Embedded) -> (String, bool, bool, bool) {
    let asked =
        "SELECT lower('ÜBUNG Ж'), 'ÉTÉ' ILIKE 'été', to_tsvector('simple', 'Übung') @@ to_tsquery('simple', 'übung'), 'Z' < 'a'";
    sqlx::query_as(asked).fetch_one(&mut connect(postgres).await).await.unwrap()
}

#[tokio::test]
async fn letters_of_all_scripts_fold_and_texts_sort_by_bytes() {
    let root = folder();
    let postgres = start(root.path()).await;
    assert_eq!(letters(&postgres).await, ("übung ж".to_owned(), true, true, true));
    let search: String =
        sqlx::query_scalar("SHOW default_text_search_config").fetch_one(&mut connect(&postgres).await).await.unwrap();
    assert_eq!(search, "pg_catalog.english", "as without such letters");
    postgres.stop().await.unwrap();
}

/// Old machines have no locale that knows letters and no language.
#[tokio::test]
async fn a_machine_without_such_letters_gets_a_cluster_all_the_same() {
    let root = folder();
    let programs = root.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let real = fs::canonicalize(which("postgres")).unwrap();
    let refuses = "case \"$*\" in *lc-ctype=*UTF-8*) echo 'initdb: error: invalid locale name' >&2; exit 1;; esac";
    for (program, first) in [("postgres", ""), ("initdb", refuses)] {
        let script = format!("#!/bin/sh\n{first}\nexec '{}' \"$@\"\n", real.with_file_name(program).display());
        fs::write(programs.join(program), script).unwrap();
        fs::set_permissions(programs.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let postgres = Embedded::start(&root.path().join("data"), Some(&programs)).await.unwrap();
    assert_eq!(letters(&postgres).await, ("Übung Ж".to_owned(), false, false, true));
    postgres.stop().await.unwrap();
}

/// A killed program had only just started its server: it writes down its number after the next
/// start has looked.
#[tokio::test]
async fn a_server_that_comes_up_in_the_midst_of_the_next_start_is_ended_too() {
    let root = folder();
    let postgres = start(root.path()).await;
    write_row(&postgres).await;
    postgres.stop().await.unwrap();
    let (real, cluster, run) =
        (fs::canonicalize(which("postgres")).unwrap(), root.path().join("postgres"), root.path().join("run"));
    let programs = root.path().join("programs");
    fs::create_dir(&programs).unwrap();
    for program in
        ["initdb", "pg_dump", "pg_restore", "psql"].map(|name| real.with_file_name(name)).iter().filter(|path| path.exists())
    {
        std::os::unix::fs::symlink(program, programs.join(program.file_name().unwrap())).unwrap();
    }
    let [real, cluster, run] = [&real, &cluster, &run].map(|path| path.display());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *-D*) if mkdir '{cluster}/late'; then\n\
         '{real}' -D '{cluster}' -k '{run}' -c listen_addresses= &\n\
         until grep -q ready '{cluster}/postmaster.pid'; do sleep 0.01; done\nfi;; esac\nexec '{real}' \"$@\"\n"
    );
    fs::write(programs.join("postgres"), script).unwrap();
    fs::set_permissions(programs.join("postgres"), fs::Permissions::from_mode(0o755)).unwrap();
    let postgres = Embedded::start(root.path(), Some(&programs)).await.unwrap();
    assert!(root.path().join("postgres/late").exists(), "there was another server");
    assert_eq!(rows(&postgres).await, 1);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_zombie_in_postmaster_pid_does_not_stop_a_start() {
    let root = folder();
    let postgres = start(root.path()).await;
    write_row(&postgres).await;
    postgres.stop().await.unwrap();
    let mut zombie = orphan(root.path()).await;
    zombie.kill().unwrap();
    let postgres = start(root.path()).await;
    assert_eq!(rows(&postgres).await, 1);
    postgres.stop().await.unwrap();
    zombie.wait().unwrap();
}

#[tokio::test]
async fn a_stranger_with_the_old_number_is_left_alone_and_does_not_stop_a_start() {
    let root = folder();
    let postgres = start(root.path()).await;
    write_row(&postgres).await;
    let file = root.path().join("postgres/postmaster.pid");
    let before = fs::read_to_string(&file).unwrap();
    postgres.stop().await.unwrap();
    let mut stranger = as_owner(root.path(), "sleep").arg("600").spawn().unwrap();
    let stale = before.replacen(&before.lines().next().unwrap().to_owned(), &stranger.id().to_string(), 1);
    fs::write(&file, &stale).unwrap();
    fs::create_dir_all(root.path().join("run")).unwrap();
    let owner = fs::metadata(root.path().join("postgres")).unwrap();
    std::os::unix::fs::chown(root.path().join("run"), Some(owner.uid()), Some(owner.gid())).unwrap();
    fs::write(root.path().join("run/.s.PGSQL.5432.lock"), &stale).unwrap();
    let postgres = start(root.path()).await;
    assert_eq!(rows(&postgres).await, 1);
    assert!(stranger.try_wait().unwrap().is_none(), "the stranger lives");
    postgres.stop().await.unwrap();
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[tokio::test]
async fn a_program_killed_while_it_makes_the_cluster_leaves_nothing_half() {
    let root = folder();
    let program = Program::spawn(root.path());
    wait_until("initdb is at work", || root.path().join("postgres.new/PG_VERSION").exists());
    program.kill();
    assert!(!root.path().join("postgres").exists(), "killed too late to show anything");
    let postgres = start(root.path()).await;
    write_row(&postgres).await;
    assert!(!root.path().join("postgres.new").exists());
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_long_path_with_blanks_works() {
    let root = folder();
    let data_dir = root.path().join("a long path ".repeat(10).trim());
    let postgres = start(&data_dir).await;
    write_row(&postgres).await;
    let socket = postgres.admin().get_socket().unwrap().clone();
    assert!(!socket.starts_with(&data_dir) && socket.exists());
    postgres.stop().await.unwrap();
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_folder_below_a_closed_one_works_under_root_too() {
    let root = folder();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let data_dir = root.path().join("data");
    let postgres = match Embedded::start(&data_dir, None).await {
        Ok(postgres) => postgres,
        Err(error @ EmbeddedError::Unreachable { .. }) => {
            assert!(error.to_string().contains("LEVEL3_DATA_DIR"), "{error}");
            return eprintln!("SKIPPED: this system gives no user namespace");
        }
        Err(error) => panic!("{error}"),
    };
    write_row(&postgres).await;
    postgres.stop().await.unwrap();
    let postgres = start(&data_dir).await;
    assert_eq!(rows(&postgres).await, 1);
    let ours = fs::metadata(root.path()).unwrap().uid();
    assert_eq!(fs::metadata(data_dir.join("postgres/PG_VERSION")).unwrap().uid(), ours, "the files are ours");
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_that_cannot_start_shows_the_end_of_its_log() {
    let root = folder();
    start(root.path()).await.stop().await.unwrap();
    fs::write(root.path().join("postgres/postgresql.conf"), "colour = blue\n").unwrap();
    let error = Embedded::start(root.path(), None).await.unwrap_err().to_string();
    assert!(error.contains("colour") && error.contains("postgres.log"), "{error}");
}

#[tokio::test]
async fn data_of_another_major_version_is_refused_and_left_alone() {
    let root = folder();
    fs::create_dir(root.path().join("postgres")).unwrap();
    fs::write(root.path().join("postgres/PG_VERSION"), "99\n").unwrap();
    let error = Embedded::start(root.path(), None).await.unwrap_err();
    assert!(matches!(error, EmbeddedError::OtherMajor { .. }), "{error}");
    assert!(error.to_string().contains("made by Postgres 99"), "{error}");
    assert_eq!(fs::read_to_string(root.path().join("postgres/PG_VERSION")).unwrap(), "99\n");
}

#[tokio::test]
async fn a_folder_without_binaries_is_named() {
    let root = folder();
    let error = Embedded::start(root.path(), Some(root.path())).await.unwrap_err();
    assert!(error.to_string().contains("LEVEL3_POSTGRES_BIN"), "{error}");
}
