//! Tests of `coach::truth`.

use super::*;

#[test]
fn a_claim_is_proven_by_a_call_of_its_kind_and_taken_back_only_once() {
    let made = |changes, sends| Made { changes, sends };
    let claimed = |claim| Claimed { claim, called: true, taken_back: false, earlier: false };
    for (claim, done, proven) in [
        (Claim::Sent, made(true, true), true),
        (Claim::Sent, made(true, false), false),
        (Claim::Changed, made(true, false), true),
        (Claim::Changed, made(false, true), false),
        (Claim::Finished, made(false, false), true),
        (Claim::Worked, made(false, false), true),
        (Claim::Announced, made(false, false), true),
        (Claim::Gave, made(false, false), true),
    ] {
        let first = claimed(claim);
        assert_eq!(first.judged(&[done], false) == Truth::Shown, proven, "{claim:?} {done:?}");
        assert_eq!(first.judged(&[], false), Truth::TakenBack, "{claim:?}");
        assert_eq!(Claimed { taken_back: true, ..first }.judged(&[], false), Truth::Marked, "{claim:?}");
    }
    let in_the_head = Claimed { called: false, ..claimed(Claim::Gave) };
    assert_eq!(in_the_head.judged(&[], false), Truth::Shown);
    let finished = claimed(Claim::Finished);
    assert_eq!(finished.judged(&[made(false, false)], true), Truth::TakenBack, "nothing is done by looking");
    assert_eq!(finished.judged(&[made(true, false)], true), Truth::Shown);
    assert_eq!(claimed(Claim::Worked).judged(&[made(false, false)], true), Truth::Shown);
    assert_eq!((Truth::TakenBack.for_good(), Truth::Shown.for_good()), (Truth::Marked, Truth::Shown));
}
