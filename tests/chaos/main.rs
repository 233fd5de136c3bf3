//! Faults done to the real program, and what came of them, counted: nothing lost, nothing repeated,
//! every uncertain effect shown.
//!
//! The short run is what `cargo test` does. `just chaos` makes the long one; `CHAOS_KILLS` (60),
//! `CHAOS_POINTS` (1: how often each failpoint is tried) and `CHAOS_SEED` (1) say how much. The
//! random instants come from the seed; what they meet does not.

#![allow(clippy::disallowed_methods, reason = "tests read the environment and the time themselves")]

mod campaigns;
mod clock;
mod count;
mod database;
mod disk;
mod fences;
mod kills;
mod pages;
mod peer;
mod points;
mod process;
mod relay;
mod rig;
mod script;
mod servers;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the other test binary, which uses the rest")]
mod support;
mod uncertain;
mod watcher;

use std::io::Write;

/// Tells what came of a run, past the test runner, which keeps the words of what succeeds to
/// itself.
fn tell(what: &str) {
    let _ = writeln!(std::io::stdout().lock(), "\n{what}");
}

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// Random numbers of a seed (splitmix64).
pub struct Dice(u64);

impl Dice {
    /// With the seed of this run.
    pub fn of_this_run() -> Self {
        Self(number("CHAOS_SEED", 1))
    }

    /// From 0 up to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }
}
