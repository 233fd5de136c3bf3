//! Faults of the database: restarted in immediate mode, frozen, its connections cut.

use std::path::{Path, PathBuf};
use std::time::Duration;

use level3::postgres::embedded::Embedded;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::count::count;
use crate::process::signal_to;
use crate::rig::{Elsewhere, Rig};
use crate::support::cluster;
use crate::{Dice, number};

/// A database of its own in the Postgres that the tests share.
pub async fn elsewhere(name: &str) -> Elsewhere {
    inside(&cluster(), name).await
}

/// A database of its own in this Postgres.
pub async fn inside(admin: &PgConnectOptions, name: &str) -> Elsewhere {
    let mut connection = admin.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let socket = admin.get_socket().expect("a socket").display();
    let url = format!("postgres://{}@localhost:{}/{name}?host={socket}", admin.get_username(), admin.get_port());
    Elsewhere { url, options: admin.clone().database(name) }
}

/// A Postgres that only one test has, to be tormented.
struct Victim {
    folder: PathBuf,
    embedded: Option<Embedded>,
}

impl Victim {
    async fn start(folder: &Path) -> Self {
        let embedded = Embedded::start(folder, None).await.expect("Postgres starts");
        Self { folder: folder.to_owned(), embedded: Some(embedded) }
    }

    fn pid(&self) -> i32 {
        let file = std::fs::read_to_string(self.folder.join("postgres/postmaster.pid")).unwrap();
        file.lines().next().unwrap().parse().unwrap()
    }

    /// Down without a good-bye, as after a loss of power, and up again.
    async fn restart_at_once(&mut self) {
        signal_to(self.pid(), libc::SIGQUIT);
        self.embedded.take().unwrap().stop().await.expect("it is gone");
        *self = Self::start(&self.folder.clone()).await;
    }

    /// Every process of it.
    fn processes(&self) -> Vec<i32> {
        let head = self.pid();
        let is_ours = |pid: &i32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<i32>().ok());
            *pid == head || parent == Some(head)
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "how long it stands still is the experiment")]
async fn a_database_that_restarts_stalls_and_cuts_connections_costs_time_and_nothing_else() {
    let long = number("CHAOS_KILLS", 60) > 60;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut victim = Victim::start(&data).await;
    let database = inside(&victim.embedded.as_ref().unwrap().admin(), "victim").await;
    let mut rig = Rig::on(database.clone()).await;
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    rig.set_up().await;
    rig.work_in(10).await;
    rig.answers(5).await;
    let mut dice = Dice::of_this_run();
    let mut restarts = Vec::new();
    for _ in 0..if long { 20 } else { 2 } {
        tokio::time::sleep(Duration::from_millis(dice.below(500))).await; // the instant is the experiment
        victim.restart_at_once().await;
        rig.starts.push(chrono::Utc::now());
        let up = std::time::Instant::now();
        rig.answers(1).await;
        restarts.push(up.elapsed().as_millis());
        rig.answers(5).await;
        if !long {
            // It reads all there is.
            rig.replays().await;
        }
    }
    for _ in 0..if long { 50 } else { 5 } {
        let mut admin = victim.embedded.as_ref().unwrap().admin().connect().await.unwrap();
        sqlx::raw_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'victim'")
            .execute(&mut admin)
            .await
            .unwrap();
        admin.close().await.unwrap();
        rig.answers(2).await;
        if !long {
            rig.replays().await;
        }
    }
    let frozen = victim.processes();
    frozen.iter().for_each(|pid| signal_to(*pid, libc::SIGSTOP));
    tokio::time::sleep(Duration::from_secs(if long { 30 } else { 2 })).await;
    frozen.iter().for_each(|pid| signal_to(*pid, libc::SIGCONT));
    rig.answers(5).await;
    rig.finish().await;
    let table = count(&rig).await;
    // Its recoveries are those of the database: from when it answered again to the first
    // interrupted turn at work again.
    crate::tell(&format!("a tormented database; first answer after its restarts: {restarts:?} ms\n{table}"));
    table.check();
    let longest = table.recoveries.last().copied().unwrap_or(0);
    assert!(!long || longest < 50_000, "a turn was left lying: {longest} ms");
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_own_postgres_dies_ends_and_the_next_one_goes_on() {
    let mut rig = Rig::new().await;
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    rig.set_up().await;
    rig.work_in(2).await;
    rig.answers(2).await;
    let file = std::fs::read_to_string(rig.data.join("postgres/postmaster.pid")).unwrap();
    signal_to(file.lines().next().unwrap().parse().unwrap(), libc::SIGKILL);
    let (status, log) = rig.wait_for_end().await;
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(log.contains("the embedded Postgres ended by itself"), "{log}");
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    rig.answers(2).await;
    rig.finish().await;
    count(&rig).await.check();
    rig.stop().await;
}
