//! Many conversations at once.

use std::sync::Barrier;
use std::time::Instant;

use super::floors::Floors;
use super::house::House;
use super::report::Report;
use super::settings::Settings;
use super::times::Times;
use super::turns::SIMPLE_COMMITS;

pub fn measure(house: &House, floors: &Floors, settings: &Settings, report: &mut Report) {
    for count in [1, 4, 20] {
        let (times, second) = at_once(house, settings, count);
        let commits = floors.commits(house, count, settings.lasting(4));
        let steps = second * SIMPLE_COMMITS;
        let share = format!("{:.0} %", 100.0 * steps / commits);
        report.row(
            "crowd",
            &[
                &count.to_string(),
                &format!("{second:.0}"),
                &times.words(),
                &format!("{steps:.0}"),
                &format!("{commits:.0}"),
                &share,
            ],
        );
        if count == 20 {
            let (fast, alone) = (steps / 5000.0, steps / (0.7 * commits));
            let words = format!("{steps:.0} a second, {share} of what the same commits alone reach");
            report.goal(
                "durable steps of 20 conversations at once",
                &words,
                1.0 / fast.max(alone),
                "5,000 a second, or 70 %",
                "",
            );
        }
    }
}

/// Simple turns in so many conversations at once: the time of each, and how many a second.
fn at_once(house: &House, settings: &Settings, count: usize) -> (Times, f64) {
    let (together, lasting) = (Barrier::new(count), settings.lasting(5));
    let conversations: Vec<_> = (0..count).map(|_| house.conversation()).collect();
    let talk = |conversation: i64| {
        let mut client = house.client();
        client.turn(conversation, "simple");
        together.wait();
        let (began, mut times) = (Instant::now(), Vec::new());
        while began.elapsed() < lasting {
            times.push(client.turn(conversation, "simple").took());
        }
        (times, began.elapsed())
    };
    let talked: Vec<_> = std::thread::scope(|scope| {
        let talking: Vec<_> = conversations.into_iter().map(|conversation| scope.spawn(move || talk(conversation))).collect();
        talking.into_iter().map(|talking| talking.join().expect("it talks to its end")).collect()
    });
    let mut all = Times::default();
    let mut second = 0.0;
    for (times, took) in talked {
        second += times.len() as f64 / took.as_secs_f64();
        times.into_iter().for_each(|time| all.add(time));
    }
    (all, second)
}
