//! The process dies at each named point, and is started again with the next one armed: the recovery
//! from one is a victim of the other.

use std::os::unix::process::ExitStatusExt;

use level3::failpoint::POINTS;

use crate::count::count;
use crate::database::elsewhere;
use crate::number;
use crate::process::Process;
use crate::rig::Rig;
use crate::support::share_engine;

/// The point to die at, the hit, and the input that brings a server there. The first request of
/// `act` that is intended goes to the peer that honours keys, the second to the one that does not.
const DEATHS: [(&str, u32, &str); 20] = [
    ("after-accept", 1, "work"),
    ("after-claim", 1, "work"),
    ("first-byte", 1, "work"),
    ("after-step", 1, "work"),
    ("after-statement", 1, "work"),
    ("mid-kv", 1, "work"),
    ("before-intent", 1, "work"),
    ("before-intent", 2, "work"),
    ("after-intent", 1, "work"),
    ("after-intent", 2, "work"),
    ("after-send", 1, "work"),
    ("after-send", 2, "work"),
    ("after-operation", 2, "work"),
    ("after-done", 1, "work"),
    ("mid-ask", 1, "ask"),
    ("mid-decision", 1, "ask"),
    ("mid-capability", 1, "ask"),
    ("mid-approval", 1, "ask"),
    ("mid-due", 1, "due"),
    ("mid-restart", 1, "restart"),
];

#[tokio::test(flavor = "multi_thread")]
async fn death_at_every_named_point_loses_nothing_and_repeats_nothing() {
    let mut rig = Rig::on(elsewhere("points").await).await;
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    rig.set_up().await;
    for round in 0..number("CHAOS_POINTS", 1) {
        let mut watchers = Vec::new();
        for _ in DEATHS {
            watchers.push(rig.watcher(false).await);
        }
        rig.kill().await;
        for (place, ((point, hit, word), mut watcher)) in DEATHS.iter().zip(watchers).enumerate() {
            let armed = format!("{point}:abort:{hit}");
            rig.start(&[("LEVEL3_FAILPOINT", &armed)]).await;
            let id = format!("{word}_{round}_{place}");
            rig.working.push(tokio::spawn(async move { watcher.say(&id, &format!("{word} {id}")).await }));
            let ended = rig.die_approving().await;
            assert_eq!(ended.signal(), Some(libc::SIGKILL), "{armed}");
            if round == 0 {
                // It reads all there is, so a long run does it once for each place.
                rig.check_replay().await;
            }
        }
        assert!(rig.start(&[]).await, "{}", rig.process().log());
        rig.finish_approving().await;
    }
    rig.settle().await;
    let table = count(&rig).await;
    crate::tell(&format!("death at {} places, {} times each\n{table}", DEATHS.len(), number("CHAOS_POINTS", 1)));
    table.check();
    assert!(table.unknown > 0, "two of the places leave an effect of which nobody knows");
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_is_lost_is_found_to_have_happened() {
    let mut rig = Rig::on(elsewhere("answers").await).await;
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    rig.set_up().await;
    rig.kill().await;
    for point in ["after-accept", "after-claim", "after-statement"] {
        let armed = format!("{point}:error");
        assert!(rig.start(&[("LEVEL3_FAILPOINT", &armed)]).await, "{}", rig.process().log());
        rig.say(&format!("work_{point}"), &format!("work {point}")).await;
        rig.finish().await;
        rig.kill().await;
    }
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    let table = count(&rig).await;
    crate::tell(&format!("lost answers\n{table}"));
    table.check();
    rig.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_that_dies_anywhere_is_made_good_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    share_engine(&data);
    for point in ["mid-initdb", "mid-migration"] {
        let mut process = Process::spawn(&data, &[("LEVEL3_FAILPOINT".to_owned(), format!("{point}:abort"))]);
        assert_eq!(process.ended().await.signal(), Some(libc::SIGKILL), "{point}: {}", process.log());
    }
    let mut process = Process::spawn(&data, &[]);
    assert!(process.ready().await.is_some(), "{}", process.log());
    process.signal(libc::SIGTERM);
    assert_eq!(process.ended().await.code(), Some(0), "{}", process.log());
}

#[test]
fn every_point_there_is_is_tried() {
    // The first two by a story above; the third by one in tests/it/steering.rs, since no client of
    // the rig speaks into a turn; the last two by stories in tests/it/todo, since nobody talks with
    // Lea here.
    let others = ["mid-initdb", "mid-migration", "after-steer", "after-breakdown", "mid-reminder"];
    for (name, _) in POINTS {
        let deaths = DEATHS.iter().chain(&crate::relay::DEATHS).map(|(point, ..)| *point);
        let mut deaths = deaths.chain(crate::campaigns::DEATHS);
        assert!(others.contains(&name) || deaths.any(|point| point == name), "{name}");
    }
}

/// Looks at the code that `cargo build --release` makes of the failpoints. The whole program is
/// held to the same by `the_program_under_test_…` when it is run with `--release`.
#[test]
fn a_release_build_knows_no_failpoint() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("failpoint.o");
    let rustc = std::process::Command::new("rustc")
        .args(["--edition=2024", "--crate-type=lib", "--emit=obj", "-O", "-C", "debug-assertions=off", "-o"])
        .arg(&object)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src/failpoint.rs"))
        .output()
        .expect("rustc runs");
    assert!(rustc.status.success(), "{}", String::from_utf8_lossy(&rustc.stderr));
    let object = std::fs::read(object).unwrap();
    for (name, _) in POINTS {
        assert!(!holds(&object, name), "{name}");
    }
}

#[test]
fn the_program_under_test_has_failpoints_exactly_when_it_is_a_debug_build() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_level3")).unwrap();
    assert_eq!(holds(&program, "LEVEL3_FAILPOINT"), cfg!(debug_assertions));
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
