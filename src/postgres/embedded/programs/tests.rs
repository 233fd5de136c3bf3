//! Tests of `postgres::embedded::programs`.

use super::*;

#[test]
fn programs_that_are_too_old_are_none() {
    let found = find(None, 15).expect("the tests need Postgres");
    assert!(found.major >= 15 && find(None, 10_000).is_none() && find(Some(Path::new("/nonexistent")), 1).is_none());
}
