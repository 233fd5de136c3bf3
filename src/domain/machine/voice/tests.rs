//! A call is counted once from its first beat to its end, whatever comes in between.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn seconds_are_counted_only_while_both_can_talk(
        inputs in prop::collection::vec(prop::sample::select(VoiceInput::ALL.to_vec()), 0..40),
    ) {
        let (mut state, mut is_counting, mut starts) = (VoiceState::FIRST, false, 0);
        for input in inputs {
            let Ok((next, actions)) = state.next(input) else { continue };
            for action in actions {
                match action {
                    VoiceAction::StartCounting => {
                        prop_assert!(!is_counting, "it counts already");
                        (is_counting, starts) = (true, starts + 1);
                    }
                    VoiceAction::CountSeconds => prop_assert!(is_counting, "nothing was counted"),
                }
            }
            // An active call counts, and the last seconds of one are counted by the input that ends
            // it.
            let ends = state == VoiceState::Active && next != VoiceState::Active;
            prop_assert!(!ends || is_counting);
            is_counting = is_counting && !ends;
            prop_assert_eq!(is_counting, next == VoiceState::Active);
            state = next;
        }
        prop_assert!(starts <= 40);
    }
}

#[test]
fn a_call_that_broke_takes_nothing_more() {
    assert!(VoiceState::Error.is_over());
    assert_eq!(VoiceState::before(VoiceInput::Beat), ["connecting", "active"]);
    assert_eq!(VoiceState::after(VoiceInput::Fail), Some(VoiceState::Error));
}
