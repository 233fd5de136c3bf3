//! Tests of `domain::words`.

use super::*;

fn about(effects: &[Effect], asks: bool) -> Words {
    DecidingWords::HOUSE.about(&effects.iter().copied().collect(), asks)
}

#[test]
fn a_decision_is_one_word_and_nothing_else() {
    let words = about(&[Effect::Write], false);
    for yes in ["CONFIRMAR", " confirmar ", "Confirm", "Yes", "sí", "SI!", "ja."] {
        assert_eq!(words.heard(yes), Some(Heard::Yes), "{yes}");
    }
    for no in ["CANCELAR", "cancel", "no", "Nein.", "não"] {
        assert_eq!(words.heard(no), Some(Heard::No), "{no}");
    }
    for neither in ["", "yes please", "confirmar todo", "ok", "no, wait", "I say yes", "y\u{0435}s"] {
        assert_eq!(words.heard(neither), None, "{neither}");
        let talked_over = Words { others_decline: true, ..words.clone() };
        assert_eq!(talked_over.heard(neither), Some(Heard::SomethingElse), "{neither}");
    }
    assert_eq!(Words::none().heard("CONFIRMAR"), None);
}

#[test]
fn a_plain_yes_is_enough_only_for_less_and_never_beside_a_question() {
    for effect in Effect::ALL {
        let plain = !matches!(effect, Effect::Delete | Effect::Opaque | Effect::Grant | Effect::External | Effect::Send);
        assert_eq!(about(&[*effect], false).heard("yes"), plain.then_some(Heard::Yes), "{effect:?}");
        assert_eq!(about(&[*effect, Effect::Grant], false).heard("sí"), None, "{effect:?}");
        assert_eq!(about(&[*effect], true).heard("yes"), None, "{effect:?}");
        for asks in [false, true] {
            assert_eq!(about(&[*effect], asks).heard("confirmar"), Some(Heard::Yes), "{effect:?}");
            assert_eq!(about(&[*effect], asks).heard("no"), Some(Heard::No), "{effect:?}");
        }
    }
    assert_eq!(about(&[], false), Words::default(), "what names no effect is taken as the worst");
}

#[test]
fn a_question_is_known_by_its_mark_in_any_script() {
    for question in [
        "Shall I?",
        "¿Sigo",
        "続けますか？",
        "هل أكمل؟",
        "Να συνεχίσω;",
        "Να συνεχίσω\u{37e}",
        "Շարունակե՞մ",
        "ልቀጥል፧",
        "Really⁉",
        "❓",
    ] {
        assert!(asks(question), "{question}");
    }
    for none in ["", "I install it now.", "a; b", "Γεια σου.", "let x = 1;"] {
        assert!(!asks(none), "{none}");
    }
}
