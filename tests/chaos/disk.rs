//! A full disk: the data folder, with the embedded Postgres, lies on a small file system of its
//! own, which is filled while turns run.

use std::ffi::CString;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::count::count;
use crate::rig::Rig;

/// A small file system in memory; unmounted when dropped.
struct Small(CString);

impl Small {
    /// `None` if the test may not mount.
    fn mount(place: &Path, bytes: usize) -> Option<Self> {
        let place = CString::new(place.as_os_str().as_encoded_bytes()).unwrap();
        let options = CString::new(format!("size={bytes},mode=0711")).unwrap();
        // SAFETY: every pointer is to a string that ends with zero and lives through the call.
        let mounted = unsafe { libc::mount(c"chaos".as_ptr(), place.as_ptr(), c"tmpfs".as_ptr(), 0, options.as_ptr().cast()) };
        (mounted == 0).then_some(Self(place))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::umount2(self.0.as_ptr(), libc::MNT_DETACH) };
    }
}

/// The agent may fill this device: what the server itself does on a full one is looked at.
const ROOM: [(&str, &str); 1] = [("LEVEL3_DISK_RESERVE", "1")];

/// Writes until nothing fits any more.
fn fill(file: &Path) {
    let mut file = File::create(file).unwrap();
    for size in [1 << 20, 1 << 12, 1] {
        let bytes = vec![0; size];
        while file.write_all(&bytes).is_ok() {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_and_loses_nothing_and_room_heals_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("small");
    std::fs::create_dir(&place).unwrap();
    let Some(_small) = Small::mount(&place, 160 << 20) else {
        crate::tell("NOT RUN: a full disk needs a file system of its own, and this user may not mount one");
        return;
    };
    let mut rig = Rig::at(place.join("data")).await;
    assert!(rig.start(&ROOM).await, "{}", rig.process().log());
    rig.set_up().await;
    rig.work_in(4).await;
    rig.answers(4).await;
    let filler = place.join("filler");
    fill(&filler);
    // Said by the database, or by the log of turns, which is a file.
    rig.logs("o space left on ").await;
    std::fs::remove_file(&filler).unwrap();
    // As run.sh does: a server that ended is started again.
    let mut again = 0;
    while rig.answers_or_end(8).await.is_none() {
        again += 1;
        assert!(again < 5, "it does not come up again");
        rig.wait_for_end().await;
        rig.start(&ROOM).await;
    }
    rig.finish().await;
    let table = count(&rig).await;
    crate::tell(&format!("a full disk; started again {again} times\n{table}"));
    table.check();
    rig.stop().await;
}
