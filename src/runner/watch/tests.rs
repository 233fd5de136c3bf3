//! Tests of `runner::watch`.

use super::*;

fn holders(signs: &[(&str, i64)]) -> Vec<(String, i64)> {
    signs.iter().map(|(owner, signs)| ((*owner).to_owned(), *signs)).collect()
}

#[test]
fn a_server_is_dead_after_three_looks_without_a_sign_and_lives_with_the_next_one() {
    let mut watch = Watch::default();
    for look in 0..3 {
        assert_eq!(watch.look(holders(&[("a", 7), ("b", look)])), [""; 0], "look {look}");
    }
    assert_eq!(watch.look(holders(&[("a", 7), ("b", 3)])), ["a"]);
    assert_eq!(watch.look(holders(&[("a", 7)])), ["a"], "until its turns are taken");
    assert_eq!(watch.look(holders(&[("a", 8)])), [""; 0]);
}

#[test]
fn a_server_that_held_nothing_in_between_is_watched_anew() {
    let mut watch = Watch::default();
    for _ in 0..3 {
        watch.look(holders(&[("a", 7)]));
    }
    assert_eq!(watch.look(holders(&[])), [""; 0]);
    assert_eq!(watch.look(holders(&[("a", 7)])), [""; 0]);
}
