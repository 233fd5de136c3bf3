//! The way from the program's start until it is ready, and the size of its file.

use super::fill;
use super::house::House;
use super::report::Report;
use super::settings::Settings;
use super::times::{Times, milliseconds};

pub fn measure(house: &mut House, settings: &Settings, report: &mut Report) {
    let size = std::fs::metadata(house.program()).expect("the program's file").len() as f64 / 1e6;
    report.goal("size of the program", &format!("{size:.1} MB"), size / 42.0, "42 MB", "");
    let first = milliseconds(house.first.as_secs_f64() * 1e3);
    report.figure("start to ready, first time: cluster made, engine compiled", &first);
    warm("start to ready, warm, embedded Postgres included", house, settings, report);
    let mut killed = Times::default();
    for _ in 0..settings.times(5) {
        let mut client = house.client();
        let conversation = house.conversation();
        client.turn(conversation, "simple");
        client.begin(conversation, "paced");
        house.kill();
        killed.add(house.start());
        // The killed turn goes on, and the next one waits for it: nothing was lost.
        house.client().turn(conversation, "simple");
    }
    let words = format!("{} of {}", killed.words(), killed.count());
    report.goal("start to ready after kill -9 in the middle of a turn", &words, killed.p50() / 300.0, "300 ms", "");
}

/// The warm start again, with a hundred capabilities.
pub fn with_capabilities(house: &mut House, settings: &Settings, report: &mut Report) {
    fill::capabilities(house, if settings.quick { 0 } else { 100 });
    // The first start behind much that was written waits for the disk.
    house.restart();
    house.rest();
    let count = fill::amounts(house, 0).capabilities;
    warm(&format!("start to ready, warm, with {count} capabilities"), house, settings, report);
}

fn warm(what: &str, house: &mut House, settings: &Settings, report: &mut Report) {
    let mut warm = Times::default();
    for _ in 0..settings.times(9) {
        warm.add(house.restart());
    }
    let words = format!("{} of {}", warm.words(), warm.count());
    report.goal(what, &words, warm.p50() / 60.0, "60 ms", "");
}
