//! One Postgres for the whole test run, started as the product starts it. Each test has a database
//! of its own in it.

use std::path::{Path, PathBuf};
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

fn start() -> PgConnectOptions {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    clear_dead(&root);
    let folder = root.join(format!("cluster-{}", std::process::id()));
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
    for setting in ["fsync = off", "full_page_writes = off"] {
        raw_sql(sqlx::AssertSqlSafe(format!("ALTER SYSTEM SET {setting}"))).execute(&mut connection).await?;
    }
    raw_sql("SELECT pg_reload_conf()").execute(&mut connection).await?;
    connection.close().await
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
