//! The way of a token from the model to the client, beside the way without a server between.

use std::time::{Duration, Instant};

use super::floors::Direct;
use super::house::House;
use super::model::Model;
use super::report::Report;
use super::script::TOKENS;
use super::settings::Settings;
use super::times::{Times, milliseconds};

/// One way: with the server or without.
#[derive(Default)]
struct Way {
    /// From the beginning to the first token.
    first: Times,
    /// From the model's write of a token, a pause after the one before, to the client.
    paced: Times,
    /// The share of one token in many that come at once.
    burst: Times,
}

impl Way {
    fn burst(&mut self, began: Instant, tokens: &[Instant]) {
        // Deltas are no promise: an answer of which some are missing says nothing of the others.
        if tokens.len() == TOKENS {
            self.first.add(tokens[0] - began);
            self.burst.add((tokens[TOKENS - 1] - tokens[0]) / (TOKENS as u32 - 1));
        }
    }

    fn paced(&mut self, written: &[Instant], tokens: &[Instant]) {
        if tokens.len() == written.len() {
            for (written, there) in written.iter().zip(tokens) {
                self.paced.add(there.saturating_duration_since(*written));
            }
        }
    }
}

pub fn measure(house: &House, model: &Model, settings: &Settings, report: &mut Report) {
    let mut client = house.client();
    let conversation = house.conversation();
    let (mut through, mut without, mut before) = (Way::default(), Way::default(), Times::default());
    client.turn(conversation, "tokens");
    let mut burst = Direct::new(model);
    client.turn(conversation, "paced");
    let mut paced = Direct::new(model);
    for _ in 0..settings.times(40) {
        let turn = client.turn(conversation, "tokens");
        through.burst(turn.began(), &turn.tokens);
        before.add(model.seen().arrived.map_or(Duration::ZERO, |arrived| arrived - turn.began()));
        let told = burst.ask();
        without.burst(told.began, &told.tokens);
    }
    for _ in 0..settings.times(15) {
        let turn = client.turn(conversation, "paced");
        through.paced(&model.seen().written, &turn.tokens);
        let told = paced.ask();
        without.paced(&model.seen().written, &told.tokens);
    }
    let mut row = |what: &str, through: &Times, without: &Times, limit: f64| {
        let added = through.p50() - without.p50();
        let words = format!("{} added: {} with level3, {} without", milliseconds(added), through.words(), without.words());
        report.goal(what, &words, added / limit, &milliseconds(limit), "");
    };
    row("time to the first token", &through.first, &without.first, 1.0);
    row("time of a token, one every 3 ms", &through.paced, &without.paced, 0.05);
    row("time of a token, 100 at once", &through.burst, &without.burst, 0.05);
    report.figure("of the time to the first token: message to request, with the commits before", &before.words());
}
