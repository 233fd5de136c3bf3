//! The same turns with more and more of everything: messages in the conversation, events,
//! capabilities, tasks, conversations.

use super::fill::{self, Amounts, Fill};
use super::floors::Floors;
use super::house::House;
use super::model::Model;
use super::report::{Report, ratio};
use super::settings::Settings;
use super::times::{Times, milliseconds};
use super::turns::{self, Measured};

/// Turns of the long conversation.
const LONG: i64 = 3000;
/// A figure that grows by less, with a hundred times of its data, is no news.
const LIMIT: f64 = 1.5;

/// A conversation of thousands of turns beside a new one, in a database that holds little else.
pub fn long(house: &House, floors: &mut Floors, settings: &Settings, report: &mut Report) {
    let turns = if settings.quick { 30 } else { LONG };
    let mut fill = Fill::prepare(house);
    let (long, short) = (house.conversation(), house.conversation());
    fill.turns(long, turns);
    fill.rest();
    fill::check(house);
    let new = turns::take(house, floors, settings, short, 150);
    let old = turns::take(house, floors, settings, long, 150);
    let mut goal = |what: &str, old: &Times, new: &Times| {
        let grown = old.p50() / new.p50();
        let words = format!("{}; {} in a new one", old.words(), new.words());
        let what = format!("{what} in a conversation of {turns} turns");
        report.goal(&what, &words, grown / 1.2, "1.2 × a new one", &format!("{} of a new one", ratio(grown)));
    };
    goal("simple turn", &old.simple, &new.simple);
    goal("turn with three tools", &old.tools, &new.tools);
}

/// One amount of data, and what was measured with it.
struct Level {
    name: String,
    amounts: Amounts,
    start: f64,
    memory: f64,
    grown: Measured,
    new: Measured,
}

pub fn measure(model: &Model, floors: &mut Floors, settings: &Settings, report: &mut Report) {
    let mut house = House::fresh(settings, model, "growth");
    let grown = house.conversation();
    let mut levels = vec![level(&mut house, floors, settings, "empty".to_owned(), grown)];
    let mut before = 0;
    let steps: &[i64] = if settings.quick { &[1] } else { &[1, 10, 100] };
    for &times in steps {
        let mut fill = Fill::prepare(&house);
        // A conversation has a hundred events, one task among them.
        let (conversations, turns, capabilities) = if settings.quick { (2, 5, 0) } else { (100, 50, 10) };
        fill.conversations(conversations * (times - before), if settings.quick { 1 } else { 22 });
        fill.turns(grown, turns * (times - before));
        fill::capabilities(&house, capabilities * times);
        fill.rest();
        // The largest is as the others are, and takes minutes to check.
        if times < 100 {
            fill::check(&house);
        }
        before = times;
        levels.push(level(&mut house, floors, settings, format!("{times} ×"), grown));
    }
    house.end();
    goals(&levels, report);
    table(&levels, report);
}

/// The most of everything against the empty conversation at the least of it.
fn goals(levels: &[Level], report: &mut Report) {
    let (first, last) = (&levels[0], &levels[levels.len() - 1]);
    let turns: [(&str, &Times, &Times); 2] =
        [("simple turn", &first.new.simple, &last.grown.simple), ("turn with three tools", &first.new.tools, &last.grown.tools)];
    for (what, empty, full) in turns {
        let times = full.p50() / empty.p50();
        let words = format!("{}; {} in a new one at {}", full.words(), empty.words(), first.name);
        let what = format!("{what} in the long conversation at {} of everything", last.name);
        report.goal(&what, &words, times / LIMIT, "1.5 × an empty one", &format!("{} of an empty one", ratio(times)));
    }
    let (what, events) = (format!("events at {} of everything", last.name), last.amounts.events);
    report.goal(&what, &events.to_string(), 1e6 / events as f64, "1,000,000 at least", "");
    let what = format!("start to ready, warm, with {} capabilities", last.amounts.capabilities);
    report.goal(&what, &milliseconds(last.start), last.start / 80.0, "80 ms", "");
}

fn level(house: &mut House, floors: &mut Floors, settings: &Settings, name: String, grown: i64) -> Level {
    // The first start writes logs of the turns that were copied; nobody's server has so many to
    // write.
    house.restart();
    house.rest();
    let mut starts = Times::default();
    for _ in 0..settings.times(3) {
        starts.add(house.restart());
    }
    house.rest();
    floors.connect(house);
    let memory = house.memory().resident;
    let amounts = fill::amounts(house, grown);
    let new = house.conversation();
    let (grown, new) = (turns::take(house, floors, settings, grown, 100), turns::take(house, floors, settings, new, 100));
    Level { name, amounts, start: starts.p50(), memory, grown, new }
}

/// One of the amounts of a level.
type Amount = fn(&Amounts) -> i64;
/// One of the figures of a level.
type Figure = fn(&Level) -> f64;

fn table(levels: &[Level], report: &mut Report) {
    let cells = |what: &str, of: &dyn Fn(&Level) -> String| -> Vec<String> {
        [what.to_owned()].into_iter().chain(levels.iter().map(of)).collect()
    };
    let mut head = cells("", &|level| level.name.clone());
    head.push("last / first".to_owned());
    report.head("growth", &head);
    let amounts: [(&str, Amount); 5] = [
        ("messages in the long conversation", |amounts| amounts.messages),
        ("events", |amounts| amounts.events),
        ("capabilities", |amounts| amounts.capabilities),
        ("open tasks", |amounts| amounts.tasks),
        ("conversations", |amounts| amounts.conversations),
    ];
    for (what, of) in amounts {
        let mut row = cells(what, &|level| of(&level.amounts).to_string());
        row.push(String::new());
        report.line("growth", &row);
    }
    let figures: [(&str, Figure); 10] = [
        ("floor: insert, committed", |level| level.grown.insert.p50()),
        ("simple turn, long conversation", |level| level.grown.simple.p50()),
        ("turn with three tools, long conversation", |level| level.grown.tools.p50()),
        ("capability call, long conversation", |level| level.grown.call.p50()),
        ("`write_capability`, long conversation", |level| level.grown.write.p50()),
        ("write to first result, long conversation", |level| level.grown.result.p50()),
        ("simple turn, new conversation", |level| level.new.simple.p50()),
        ("turn with three tools, new conversation", |level| level.new.tools.p50()),
        ("start to ready, warm", |level| level.start),
        ("memory, idle, MiB", |level| level.memory),
    ];
    let (first, last) = (&levels[0], &levels[levels.len() - 1]);
    for (what, of) in figures {
        let is_time = !what.starts_with("memory");
        let mut row = cells(what, &|level| if is_time { milliseconds(of(level)) } else { format!("{:.0}", of(level)) });
        let grown = of(last) / of(first);
        row.push(ratio(grown));
        report.line("growth", &row);
        if grown > LIMIT {
            let (from, to) = (&row[1], &row[levels.len()]);
            report.say("grows", &format!("* {what}: {} at {}, from {from} to {to}", ratio(grown), last.name));
        }
    }
    if !report.has("grows") {
        report.say("grows", "Nothing above: all of it stays below one and a half times.");
    }
}
