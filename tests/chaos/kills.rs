//! kill -9 at random instants, while ten conversations are at work.

use std::time::Duration;

use reqwest::Method;

use crate::count::count;
use crate::database::elsewhere;
use crate::rig::Rig;
use crate::watcher::deaf;
use crate::{Dice, number};

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_at_random_instants_loses_nothing_and_repeats_nothing() {
    random_kills(Rig::on(elsewhere("kills").await).await, number("CHAOS_KILLS", 60) * 3 / 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_9_of_a_server_with_its_own_postgres_loses_nothing_and_repeats_nothing() {
    random_kills(Rig::new().await, number("CHAOS_KILLS", 60) / 4).await;
}

/// After so many of the first kills the tables are rebuilt from the events and compared, each time.
const CHECKED: u64 = 60;

#[expect(clippy::disallowed_methods, reason = "the instant of a kill is the experiment")]
async fn random_kills(mut rig: Rig, kills: u64) {
    let mut dice = Dice::of_this_run();
    // In milliseconds from when it is ready. A long run leaves more time, so that more is under
    // way.
    let work = if number("CHAOS_KILLS", 60) > 60 { 600 } else { 250 };
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    rig.set_up().await;
    // One approval waits through it all.
    let mut asking = rig.watcher(false).await;
    rig.working.push(tokio::spawn(async move { asking.say("ask_0", "ask keeper").await }));
    let pending = rig.asked().await;
    rig.work_in(10).await;
    rig.answers(10).await;

    let mut deaf_ones = Vec::new();
    for kill in 0..kills {
        // One in five falls into the start itself.
        let latest = if kill % 5 == 4 { 400 } else { work };
        tokio::time::sleep(Duration::from_millis(dice.below(latest))).await;
        rig.kill().await;
        if kill % 5 == 3 {
            rig.spawn(&[]);
        } else {
            assert!(rig.start(&[]).await, "{}", rig.process().log());
            let address = rig.address.borrow().unwrap();
            deaf_ones.truncate(4);
            deaf_ones.insert(0, deaf(address, rig.told[1].0).await);
            // It reads all there is, so a long run does it while that is little.
            if kill < CHECKED {
                rig.replays().await;
            }
        }
    }
    if rig.address.borrow().is_none() {
        let address = rig.process().ready().await;
        rig.address.send_replace(address);
    }
    assert_eq!(rig.waiting().await, pending, "what waits for a person waits as it did");
    let (status, told) = rig.api(Method::POST, &format!("approvals/{}/approve", pending[0]["id"])).await;
    assert_eq!(status, 200, "{told}");
    rig.finish().await;
    let table = count(&rig).await;
    crate::tell(&format!(
        "{kills} random kills, {}\n{table}",
        if rig.elsewhere.is_some() { "of the server" } else { "of the server with its Postgres" }
    ));
    table.check();
    assert_eq!(rig.peer.effects().get("/plain/keeper"), Some(&1));
    rig.stop().await;
}
