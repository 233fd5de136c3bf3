//! Memory of the server's process, before and after its work.

use super::fill;
use super::house::House;
use super::postgres::Postgres;
use super::report::Report;
use super::settings::Settings;

const CAPABILITIES: &str = "SELECT count(*) FROM capabilities WHERE state = 'installed'";
/// So many calls of a capability at the same time.
const BURST: usize = 32;

pub fn measure(house: &mut House, settings: &Settings, report: &mut Report) {
    fill::capabilities(house, if settings.quick { 0 } else { 100 });
    house.restart();
    settings.settle(3);
    let capabilities = Postgres::open(&house.data, "level3").number(CAPABILITIES, &[]);
    report_memory(house, report, &format!("memory, just started and idle, {capabilities} capabilities"), 32.0);
    let (mut client, conversation) = (house.client(), house.conversation());
    // Three of ten make a task, of which a person has 1,000 open ones at most.
    let turns = settings.times(1000);
    for turn in 0..turns {
        client.turn(conversation, if turn % 10 < 3 { "tools" } else { "simple" });
    }
    settings.settle(5);
    report_memory(house, report, &format!("memory, idle after {turns} turns"), 40.0);
    let conversations: Vec<_> = (0..BURST).map(|_| house.conversation()).collect();
    let server = &*house;
    std::thread::scope(|scope| {
        for conversation in conversations {
            scope.spawn(move || server.client().turn(conversation, "call"));
        }
    });
    settings.settle(5);
    report_memory(house, report, "memory, idle after 32 calls at once besides", 40.0);
}

fn report_memory(house: &House, report: &mut Report, what: &str, limit: f64) {
    let memory = house.memory();
    report.goal(what, &memory.to_string(), memory.resident / limit, &format!("{limit:.0} MiB"), "");
}
