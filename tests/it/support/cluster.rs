//! One Postgres for the whole test run, started as the product starts it, in memory if the machine
//! lends that much. Each test has a database of its own in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc;

use level3::postgres::embedded::Embedded;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, raw_sql};

/// The administrator's way in.
pub fn cluster() -> PgConnectOptions {
    static ADMIN: LazyLock<PgConnectOptions> = LazyLock::new(start);
    ADMIN.clone()
}

/// A folder that the system keeps in memory.
const IN_MEMORY: &str = "/dev/shm";
/// The room that the databases of a run may take, in KiB: those of failed stories stay.
const ROOM: u64 = 4 << 20;

/// The folder for the clusters of test runs. Each story makes a database of some 700 files and
/// removes it, which on a disk took a third of a run.
fn root() -> PathBuf {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    if has_room(&mounts) { Path::new(IN_MEMORY).join("level3-tests") } else { PathBuf::from(env!("CARGO_TARGET_TMPDIR")) }
}

/// True if these mounts, as the system lists them, have [`IN_MEMORY`] with [`ROOM`] in it. A mount
/// without a size has half of the machine's memory.
fn has_room(mounts: &str) -> bool {
    let mut named = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let Some(options) = named.find_map(|words| match words[..] {
        [_, IN_MEMORY, "tmpfs", options, ..] => Some(options.to_owned()),
        _ => None,
    }) else {
        return false;
    };
    let size = options.split(',').find_map(|option| option.strip_prefix("size=")?.strip_suffix('k')?.parse::<u64>().ok());
    options.split(',').all(|option| option != "ro") && size.is_none_or(|size| size >= ROOM)
}

#[test]
fn the_cluster_is_in_memory_if_there_is_room() {
    let shm = |options: &str| format!("proc /proc proc rw 0 0\ntmpfs /dev/shm tmpfs {options} 0 0\n");
    for (mounts, wanted) in [
        (shm("rw,relatime,size=24684084k"), true),
        (shm("rw,relatime"), true),
        (shm("rw,nosuid,size=65536k"), false),
        (shm("ro,relatime"), false),
        ("/dev/vda / ext4 rw 0 0\n".to_owned(), false),
        (String::new(), false),
    ] {
        assert_eq!(has_room(&mounts), wanted, "{mounts}");
    }
}

fn start() -> PgConnectOptions {
    let root = root();
    std::fs::create_dir_all(&root).expect("a folder for the tests' Postgres");
    clear_dead(&root);
    let folder = root.join(format!("cluster-{}", std::process::id()));
    remove_afterwards(&folder);
    let (sender, receiver) = mpsc::channel();
    // A thread of its own: tests' runtimes come and go, and the cluster stays until the process
    // ends.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let embedded = runtime.block_on(Embedded::start(&folder, None)).expect("Postgres for the tests");
        runtime.block_on(without_disk(&embedded.admin())).expect("the settings of the tests' Postgres");
        sender.send(embedded.admin()).expect("somebody waits");
        loop {
            std::thread::park();
        }
    });
    receiver.recv().expect("the cluster thread started Postgres; its panic above says why it did not")
}

/// Commits stop to wait for the disk. Stories end processes and no machine, so nothing is lost;
/// `tests/chaos` keeps the product's settings.
async fn without_disk(admin: &PgConnectOptions) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect_with(admin).await?;
    for setting in ["fsync = off", "full_page_writes = off", "max_wal_size = '128MB'"] {
        raw_sql(sqlx::AssertSqlSafe(format!("ALTER SYSTEM SET {setting}"))).execute(&mut connection).await?;
    }
    raw_sql("SELECT pg_reload_conf()").execute(&mut connection).await?;
    connection.close().await
}

/// Has a process remove this folder when this one is gone, however it ends, and Postgres after it:
/// memory is not for keeping.
fn remove_afterwards(folder: &Path) {
    const SCRIPT: &str = r#"cat; for _ in $(seq 60); do
        kill -0 "$(head -n 1 "$0/postgres/postmaster.pid")" || break
        sleep 1
    done; rm -rf -- "$0""#;
    let mut command = Command::new("sh");
    command.arg("-c").arg(SCRIPT).arg(folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Its input ends when this process does.
    std::mem::forget(command.spawn().expect("a shell"));
}

/// Removes the folders of test runs whose process is gone.
fn clear_dead(root: &Path) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = name.strip_prefix("cluster-") else { continue };
        if !Path::new("/proc").join(pid).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The engine is compiled once for all tests.
pub fn share_engine(data: &Path) {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine-cache");
    std::fs::create_dir_all(&cache).unwrap();
    if !data.join("cache").exists() {
        std::os::unix::fs::symlink(&cache, data.join("cache")).unwrap();
    }
}
