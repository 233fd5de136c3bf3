//! Tests of `clock`.

use super::*;
use futures::FutureExt;

#[test]
fn a_sleeper_wakes_when_its_moment_comes_and_not_before() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let mut sleeper = clock.sleep_until(DateTime::UNIX_EPOCH + TimeDelta::seconds(10));
    clock.advance(TimeDelta::seconds(9));
    assert!(sleeper.as_mut().now_or_never().is_none());
    clock.advance(TimeDelta::seconds(1));
    assert!(sleeper.now_or_never().is_some());
}

#[test]
fn a_moment_that_has_passed_does_not_wait() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    assert!(clock.sleep_until(DateTime::UNIX_EPOCH).now_or_never().is_some());
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let bytes = |seed| {
        let mut bytes = [0; 20];
        SeededRandom::new(seed).fill(&mut bytes);
        bytes
    };
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}
