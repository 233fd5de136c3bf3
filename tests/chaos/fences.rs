//! Two servers on one database. One is frozen in the middle of a turn past its lease; the other
//! takes the turn up; the first wakes and goes on with what it was doing. Fencing must refuse it.

use std::ffi::CString;
use std::fs::File;
use std::path::Path;

use crate::count::count;
use crate::database::elsewhere;
use crate::process::Process;
use crate::rig::Rig;
use crate::support::share_engine;

/// The places in which the first server is frozen: the point and the hit. See `points` for the
/// hits.
const PLACES: [(&str, u32); 7] = [
    ("after-claim", 1),
    ("after-step", 1),
    ("after-statement", 1),
    ("before-intent", 2),
    ("after-intent", 1),
    ("after-intent", 2),
    ("after-send", 2),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_frozen_past_its_lease_can_write_nothing_any_more() {
    let mut rig = Rig::on(elsewhere("fences").await).await;
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    rig.set_up().await;
    // Frozen in a transaction, a server would keep its locks; Postgres ends it.
    let limited = sqlx::query_scalar::<_, i64>(
        "SELECT count(*) FROM pg_db_role_setting JOIN pg_roles ON setrole = pg_roles.oid
         WHERE rolname = 'fences_app' AND 'idle_in_transaction_session_timeout=30s' = ANY (setconfig)",
    );
    assert_eq!(limited.fetch_one(&mut rig.behind().await).await.unwrap(), 1);
    rig.kill().await;
    let other = rig.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    share_engine(&other);
    for (point, hit) in PLACES {
        let pipe = rig.folder.path().join(format!("{point}-{hit}"));
        make_pipe(&pipe);
        let armed = format!("{point}:pause={}:{hit}", pipe.display());
        assert!(rig.start(&[("LEVEL3_FAILPOINT", &armed)]).await, "{}", rig.process().log());
        let id = format!("work_{point}_{hit}");
        rig.say(&id, &format!("work {id}")).await;
        // Opening our end completes when the point has opened its own: the server stands there.
        let holding = tokio::task::spawn_blocking(move || File::options().write(true).open(pipe).unwrap()).await.unwrap();
        rig.process().signal(libc::SIGSTOP);
        let mut frozen = rig.process.take().unwrap();
        // The seconds until the other one takes it for dead are not waited for, see `servers` for
        // those: its turn is taken from it.
        let taken = sqlx::query("UPDATE turns SET lease_owner = NULL WHERE state = 'running'");
        assert_eq!(taken.execute(&mut rig.behind().await).await.unwrap().rows_affected(), 1, "{point}");

        let mut second = Process::spawn(&other, &rig.settings(&[]));
        let address = second.ready().await;
        rig.address.send_replace(address);
        rig.finish().await;
        let fences = rig.fences_of(&id).await;
        assert_eq!(fences, 2, "{point}: the second server took the turn up");

        frozen.signal(libc::SIGCONT);
        drop(holding);
        // It ends in good order, after whatever it still tried.
        frozen.signal(libc::SIGTERM);
        assert_eq!(frozen.ended().await.code(), Some(0), "{}", frozen.log());
        assert_eq!(rig.fences_of(&id).await, fences, "{point}: nobody took it up again");
        second.signal(libc::SIGTERM);
        assert_eq!(second.ended().await.code(), Some(0), "{}", second.log());
        rig.address.send_replace(None);
    }
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    let table = count(&rig).await;
    crate::tell(&format!("frozen at {} places\n{table}", PLACES.len()));
    table.check();
    assert_eq!(table.unknown, 2, "one was sent after it was given up as unknown, one before: neither was sent twice");
    rig.stop().await;
}

fn make_pipe(path: &Path) {
    let path = CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
    // SAFETY: the path is a string that ends with zero and lives through the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}
