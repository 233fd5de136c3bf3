//! Turns over `/chat`, and what happens in their middle.

use super::floors::Floors;
use super::house::House;
use super::report::{Report, ratio};
use super::settings::Settings;
use super::times::{Times, milliseconds};

/// Commits of a simple turn: accept and take up, answer. Each of three tools ends with a commit of
/// its own, and they take a further step.
pub const SIMPLE_COMMITS: f64 = 2.0;
const TOOLS_COMMITS: f64 = 6.0;
/// From the call that writes a capability to the result of its first call: two outcomes, and a step
/// between.
const RESULT_COMMITS: f64 = 3.0;

/// All that is timed in one conversation, and the floor in the same minutes.
#[derive(Default)]
pub struct Measured {
    pub insert: Times,
    pub simple: Times,
    pub tools: Times,
    pub call: Times,
    pub write: Times,
    pub result: Times,
}

/// Takes so many of each. They take turns, so that a loud minute of the machine falls on all of
/// them.
pub fn take(house: &House, floors: &mut Floors, settings: &Settings, conversation: i64, count: usize) -> Measured {
    let mut client = house.client();
    for _ in 0..settings.times(10) {
        client.turn(conversation, "simple");
        client.turn(conversation, "tools");
    }
    let mut taken = Measured::default();
    for n in 0..settings.times(count) {
        taken.insert.add(floors.insert());
        taken.simple.add(client.turn(conversation, "simple").took());
        if n % 2 == 0 {
            taken.tools.add(client.turn(conversation, "tools").took());
            taken.call.add(client.turn(conversation, "call").between(0, 0));
        }
        if n % 5 == 0 {
            let written = client.turn(conversation, &format!("write {}", house.number()));
            taken.write.add(written.between(0, 0));
            taken.result.add(written.between(0, 1));
        }
    }
    taken
}

pub fn measure(house: &House, floors: &mut Floors, settings: &Settings, report: &mut Report) {
    let taken = take(house, floors, settings, house.conversation(), 300);
    let insert = taken.insert.p50();
    for (what, words, commits) in [("simple turn", "simple", SIMPLE_COMMITS), ("turn with three tools", "tools", TOOLS_COMMITS)] {
        let (own, postgres) = processor(house, settings, words);
        report.row("processor", &[what, &milliseconds(own), &milliseconds(postgres), &milliseconds(commits * insert)]);
    }
    let against = |times: &Times, commits: f64| ratio(times.p50() / (commits * insert));
    let mut goal = |what: &str, times: &Times, commits: f64, limit: f64| {
        let words = format!("{} of {}", times.words(), times.count());
        report.goal(what, &words, times.p50() / limit, &format!("{limit:.0} ms"), &against(times, commits));
    };
    goal("simple turn", &taken.simple, SIMPLE_COMMITS, 4.0);
    goal("capability call, call frame to result frame", &taken.call, 1.0, 1.0);
    goal("`write_capability` alone, with a test", &taken.write, 1.0, 4.0);
    goal("write to first result, a model step between", &taken.result, RESULT_COMMITS, 8.0);
    let (tools, words) = (&taken.tools, format!("{} of {}", taken.tools.words(), taken.tools.count()));
    let limit = 3.0 * TOOLS_COMMITS * insert;
    report.goal("turn with three tools", &words, tools.p50() / limit, "3 × commits × floor", &against(tools, TOOLS_COMMITS));
    report.row("floors", &["insert, committed, between the turns below", &taken.insert.words()]);
}

/// The processor's time that such a turn takes, in milliseconds: of level3, and of its Postgres.
fn processor(house: &House, settings: &Settings, words: &str) -> (f64, f64) {
    let (mut client, conversation, count) = (house.client(), house.conversation(), settings.times(300));
    client.turn(conversation, words);
    let before = house.processor();
    for _ in 0..count {
        client.turn(conversation, words);
    }
    let after = house.processor();
    ((after.0 - before.0) / count as f64, (after.1 - before.1) / count as f64)
}
