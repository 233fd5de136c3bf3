//! Tests of `domain::turn`.

use super::*;

#[test]
fn every_word_reads_back_as_itself() {
    for state in TurnState::ALL {
        assert_eq!(state.as_str().parse(), Ok(*state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
    }
}

#[test]
fn a_wrong_word_is_answered_with_the_right_ones() {
    let error = "assistent".parse::<Role>().unwrap_err();
    assert_eq!(error, "`assistent` is none of: user, assistant, tool");
}
