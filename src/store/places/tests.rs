//! Tests of `store::places`.

use super::*;
use crate::domain::{ConversationId, Origin, TurnId};

fn taken_up() -> TakenUp {
    let (turn, conversation, profile) = (TurnId(1), ConversationId(1), "builder".to_owned());
    TakenUp { lease: Lease { turn, conversation, profile, fence: 1, origin: Origin::Message, takes: 1 }, standing: None }
}

#[test]
fn a_place_that_waits_for_a_turn_stays_reserved_until_the_runner_has_heard_of_it() {
    let places = Places::default();
    let mut taken = places.open("one", Arc::new(BTreeMap::new));
    assert!(places.reserve().is_none(), "the runner has not said how many it has");
    places.set(1);
    let place = places.reserve().expect("it has one");
    // The runner looks at its turns at work again, and knows of none.
    places.set(1);
    assert!(places.reserve().is_none(), "the place waits for a turn");
    place.settle(None);
    let place = places.reserve().expect("nothing came of it");
    place.settle(Some(taken_up()));
    places.set(1);
    assert!(places.reserve().is_none(), "the runner has not heard of the turn");
    assert!(taken.try_recv().unwrap().is_some());
    places.heard();
    assert!(places.reserve().is_none(), "the turn has the place");
    places.set(1);
    drop(places.reserve().expect("the turn ended"));
    places.set(1);
    assert!(places.reserve().is_none(), "a turn may be the runner's, and it has not heard so");
    assert!(taken.try_recv().unwrap().is_none());
    places.heard();
    places.set(1);
    assert!(places.reserve().is_some());
}
