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

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Said(&'static str);

#[test]
fn a_message_of_postgres_ends_without_a_line_of_its_source() {
    #[derive(Debug, thiserror::Error)]
    #[error("the database did not do what was asked")]
    struct Asked(#[source] Driver);
    #[derive(Debug, thiserror::Error)]
    #[error("error returned from database: {0}")]
    struct Driver(#[source] Said);

    let said = Said("password authentication failed for user \"l3\" at line 334");
    let expected =
        "the database did not do what was asked: error returned from database: password authentication failed for user \"l3\"";
    assert_eq!(chain(&Asked(Driver(said))), expected);
    // The line of a file of the person's is theirs.
    assert_eq!(chain(&Said("the script cannot be read at line 3")), "the script cannot be read at line 3");
}
