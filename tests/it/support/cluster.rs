//! One Postgres for the whole test run, started as the product starts it. Each test has a database
//! of its own in it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::mpsc;

use level3::postgres::embedded::Embedded;
use sqlx::postgres::PgConnectOptions;

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
        sender.send(embedded.admin()).expect("somebody waits");
        loop {
            std::thread::park();
        }
    });
    receiver.recv().expect("the cluster thread started Postgres; its panic above says why it did not")
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
