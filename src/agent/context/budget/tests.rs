//! Tests of `agent::context::budget`.

use super::*;

#[test]
fn tokens_follow_what_the_provider_counted_and_no_further_than_texts_go() {
    assert_eq!(Ratio::measured(4200, 1000), Some(Ratio(420)));
    assert_eq!((Ratio(420).tokens(4200), Ratio(420).bytes(1000)), (1000, 4200));
    assert_eq!(Ratio::measured(4200, 0), None);
    assert_eq!(Ratio::measured(4200, u64::MAX), Some(Ratio(100)), "a count that cannot be");
    assert_eq!(Ratio::measured(100_000, 12), Some(Ratio(500)), "what was cached is left out of the count");
    assert_eq!(Ratio::measured(usize::MAX, 1), Some(Ratio(500)));
    assert_eq!((Ratio::UNKNOWN.tokens(10), Ratio::UNKNOWN.bytes(10)), (4, 30));
}

#[test]
fn an_answer_has_room_in_every_context() {
    let room = |tokens| room(tokens, Learned::default());
    assert_eq!((room(4096), room(8192), room(32 * 1024), room(200_000)), (2907, 5833, 23_332, 182_210));
    assert_eq!(room(0), 0);
    assert!(room(u32::MAX) > 4_000_000_000);
}

#[test]
fn what_was_refused_is_not_sent_again() {
    let mut learned = Learned::default();
    assert_eq!(learned.limit(), None);
    learned.take(500);
    assert_eq!(learned.limit(), None, "nothing was refused");
    learned.refuse(1000);
    assert_eq!(learned.limit(), Some(550));
    learned.take(700);
    assert_eq!((learned.limit(), room(8192, learned), room(512, learned)), (Some(770), 770, 361));
    learned.take(890);
    assert_eq!(learned.limit(), Some(900));
    learned.refuse(800);
    assert_eq!((learned.taken, learned.limit()), (799, Some(799)));
    learned.take(1200);
    assert_eq!(learned.limit(), None, "the model takes more by now");
}

#[test]
fn whatever_a_model_takes_it_refuses_only_a_few_times() {
    for limit in [700, 3000, 9_999] {
        let (mut learned, mut refusals) = (Learned::default(), 0);
        for _ in 0..200 {
            let sent = learned.limit().unwrap_or(10_000);
            if sent > limit {
                learned.refuse(sent);
                refusals += 1;
            } else {
                learned.take(sent);
            }
        }
        let sent = learned.limit().unwrap_or(10_000);
        assert!(refusals <= 6 && sent <= limit && sent >= limit / 2, "{limit}: {refusals} refusals, then {sent}");
    }
}
