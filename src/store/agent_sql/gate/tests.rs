//! Tests of `store::agent_sql::gate`.

use super::*;

#[test]
fn so_many_come_in_and_the_others_are_told_at_once() {
    let gate = Gate::default();
    let mut inside: Vec<_> = (0..MOST).map(|_| gate.enter().expect("there is room")).collect();
    assert!(gate.enter().is_none());
    assert_eq!(gate.inside(), MOST, "who was turned away does not count");
    inside.pop();
    assert!(gate.enter().is_some());
    drop(inside);
    assert_eq!(gate.inside(), 0);
}
