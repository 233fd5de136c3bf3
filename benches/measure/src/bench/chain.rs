//! The chain of events: the time that an event takes in the statement that records it, in the
//! database of the running server.

use std::time::Instant;

use super::floors::Floors;
use super::house::House;
use super::postgres::Postgres;
use super::report::{Report, ratio};
use super::settings::Settings;
use super::times::{Times, milliseconds};

/// Each of the two statements of a simple turn records as many.
const OF_A_TURN: i64 = 2;
/// So many more, for the time of one beside others.
const MORE: i64 = 20;
const GOAL_MILLISECONDS: f64 = 0.06;

/// Events as the server recorded them, more than are appended at once.
const EVENTS: &str = "CREATE TEMP TABLE recorded_before AS
    SELECT payload FROM (SELECT payload FROM events ORDER BY position DESC LIMIT 8) e, generate_series(1, 3)";
const APPEND: &str = "SELECT count(*) FROM append_events(
    $1, (SELECT array_agg(payload) FROM (SELECT payload FROM pg_temp.recorded_before LIMIT $2) e), now())";

/// The events that are appended follow from nothing, so replay refuses the house afterwards.
pub fn measure(house: &House, floors: &mut Floors, settings: &Settings, report: &mut Report) {
    let conversation = house.conversation();
    house.client().turn(conversation, "simple");
    let mut postgres = Postgres::open(&house.data, "level3");
    postgres.run(EVENTS);
    // As the server has it on its own connections.
    postgres.run("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off");
    let mut append = |count: i64| {
        let began = Instant::now();
        assert_eq!(postgres.number(APPEND, &[conversation, count]), count);
        began.elapsed()
    };
    append(OF_A_TURN + MORE);
    let (mut insert, mut few, mut many) = (Times::default(), Times::default(), Times::default());
    for _ in 0..settings.times(300) {
        insert.add(floors.insert());
        few.add(append(OF_A_TURN));
        many.add(append(OF_A_TURN + MORE));
    }
    let each = (few.p50() - insert.p50()) / OF_A_TURN as f64;
    let words = format!("{} each beyond an insert: {} with two, {} an insert", milliseconds(each), few.words(), insert.words());
    let what = "an event of the chain, two in a statement, committed";
    report.goal(what, &words, each / GOAL_MILLISECONDS, "60 µs", &ratio(few.p50() / insert.p50()));
    let one_more = milliseconds((many.p50() - few.p50()) / MORE as f64);
    report.figure("an event of the chain, each of twenty more in that statement", &one_more);
}
