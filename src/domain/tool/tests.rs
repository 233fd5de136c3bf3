//! Tests of `domain::tool`.

use super::*;

#[test]
fn an_outcome_is_recorded_no_longer_than_everybody_can_take_it() {
    let logs = (0..100_000).map(|n| format!("line {n}")).chain(["é".repeat(MOST_LINE)]).collect();
    let long = Outcome { logs, ..Outcome::ok("é".repeat(MOST_RESULT)) };
    let bounded = long.bounded();
    assert!(bounded.result.len() < MOST_RESULT + 64 && bounded.result.ends_with("é… (cut: it has 1048576 bytes)"));
    assert!(bounded.logs.iter().map(String::len).sum::<usize>() < MOST_LOGS + 64);
    assert_eq!((&*bounded.logs[0], &**bounded.logs.last().unwrap()), ("line 0", "… (cut: 100001 lines were logged)"));
    let line = Outcome { logs: vec!["x".repeat(MOST_LINE + 1)], ..Outcome::ok("short") }.bounded();
    assert_eq!((&*line.result, line.logs.len()), ("short", 1));
    assert!(line.logs[0].ends_with("x… (cut: it has 16385 bytes)"));
}
