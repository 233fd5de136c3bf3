//! Tests of `telemetry`.

use super::*;

#[derive(Debug, thiserror::Error)]
#[error("outer")]
struct Outer(#[source] std::num::ParseIntError);

#[test]
fn the_causes_follow_the_error() {
    let error = Outer("x".parse::<i32>().unwrap_err());
    assert_eq!(chain(&error), "outer: invalid digit found in string");
}
