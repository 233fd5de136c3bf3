//! The times that a person waits for, measured from outside: the real program on its embedded
//! Postgres, a model that answers at once, clients of `/chat`; beside floors that are taken in the
//! same run, and never a part without its commit.
//!
//! A story of `tests/it` runs all of it with a few repetitions, so that it cannot rot.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the environment and the time, and lets things settle")]
#![allow(clippy::print_stderr, reason = "a program that tells how far it is")]

mod broadcast;
mod campaign_pages;
mod campaigns;
mod chain;
mod client;
mod crowd;
mod door;
mod fill;
mod floors;
mod growth;
mod house;
mod machine;
mod memory;
mod model;
mod postgres;
mod relay;
mod report;
mod script;
mod settings;
mod sockets;
mod start;
mod statements;
mod times;
mod todos;
mod tokens;
mod turns;

pub use settings::Settings;

use floors::Floors;
use house::House;
use model::Model;
use report::Report;

/// The names that `BENCH_ONLY` takes.
const PARTS: [&str; 14] = [
    "start",
    "turns",
    "statements",
    "tokens",
    "crowd",
    "memory",
    "sockets",
    "long",
    "chain",
    "broadcast",
    "growth",
    "todos",
    "relay",
    "campaigns",
];

/// Runs the parts that are wanted, writes the document where it is wanted, and returns it.
pub fn run(settings: &Settings) -> String {
    let unknown = settings.only.iter().flatten().find(|name| !PARTS.contains(&name.as_str()));
    assert_eq!(unknown, None, "BENCH_ONLY takes {PARTS:?}");
    let model = Model::start();
    let mut report = Report::new();
    let mut house = House::fresh(settings, &model, "house");
    let mut floors = Floors::prepare(&house, &model);
    floors.alone(settings, &mut report);
    part(settings, "start", || start::measure(&mut house, settings, &mut report));
    floors.connect(&house);
    part(settings, "turns", || turns::measure(&house, &mut floors, settings, &mut report));
    part(settings, "statements", || statements::measure(&house, settings, &mut report));
    part(settings, "tokens", || tokens::measure(&house, &model, settings, &mut report));
    part(settings, "crowd", || crowd::measure(&house, &floors, settings, &mut report));
    part(settings, "start", || start::with_capabilities(&mut house, settings, &mut report));
    part(settings, "memory", || memory::measure(&mut house, settings, &mut report));
    part(settings, "sockets", || sockets::measure(&mut house, settings, &mut report));
    floors.connect(&house);
    part(settings, "long", || growth::long(&house, &mut floors, settings, &mut report));
    part(settings, "chain", || chain::measure(&house, &mut floors, settings, &mut report));
    house.end();
    part(settings, "broadcast", || broadcast::measure(&model, settings, &mut report));
    part(settings, "growth", || growth::measure(&model, &mut floors, settings, &mut report));
    part(settings, "todos", || todos::measure(&model, settings, &mut report));
    part(settings, "relay", || relay::measure(&model, settings, &mut report));
    part(settings, "campaigns", || campaigns::measure(&model, &mut floors, settings, &mut report));
    report.write(settings)
}

fn part(settings: &Settings, name: &str, measure: impl FnOnce()) {
    if settings.wants(name) {
        eprintln!("{name} …");
        measure();
    }
}
