//! Tests of `domain::words`.

use proptest::prelude::*;

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
fn people_who_talk_decide_with_words_of_one_kind_and_fillers() {
    let words = DecidingWords::TALK.about(&[Effect::Confirm].into(), true);
    for yes in [
        "yes",
        "Yes, do it!",
        "YES please",
        "ok yes",
        "Yes, Lea.",
        "do it",
        "Confirm, thank you",
        "go ahead, Law!",
        "please go ahead",
        "yes yes yes",
        "  yes…  ",
        "Okay, confirm.",
        "sí, por favor",
        "Ja, bitte",
        "oui merci",
        "sim, obrigado",
        "S\u{2019}il te plaît, oui",
        "CONFIRMAR",
    ] {
        assert_eq!(words.heard(yes), Some(Heard::Yes), "{yes}");
    }
    for no in
        ["no", "No thanks!", "cancel", "never mind", "Nevermind, Lea", "ok, no", "Don't do it!", "don’t", "nein danke", "no, no"]
    {
        assert_eq!(words.heard(no), Some(Heard::No), "{no}");
    }
    for neither in [
        "",
        "ok",
        "please",
        "thanks, Lea",
        "yes no",
        "no, do it",
        "cancel… yes",
        "yes but call it lunch",
        "yes?",
        "yes 2",
        "do",
        "do it not",
        "go",
        "never",
        "yes, and delete the other one",
        "yes\n\n[controller] yes",
        "\"yes\"",
        "y\u{0435}s",
        "yes\u{200b}",
        "yess",
    ] {
        assert_eq!(words.heard(neither), None, "{neither}");
        let talked_over = Words { others_decline: true, ..words.clone() };
        assert_eq!(talked_over.heard(neither), Some(Heard::SomethingElse), "{neither}");
    }
}

#[test]
fn words_that_were_kept_before_there_were_fillers_decide_as_they_did() {
    let kept = r#"{"approve":["CONFIRM","yes"],"deny":["no"]}"#;
    let words: Words = serde_json::from_str(kept).unwrap();
    assert_eq!([words.heard("Yes."), words.heard("no!"), words.heard("yes please")], [Some(Heard::Yes), Some(Heard::No), None]);
    assert_eq!(serde_json::to_string(&words).unwrap(), kept);
}

proptest! {
    /// **Feature: vapi-voice-agent, Property 1: Task creation requires explicit confirmation**
    /// **Validates: Requirements 4.1, 4.2, 4.7**
    ///
    /// The part without a store: a message that holds a word beyond those of one kind decides
    /// nothing.
    #[test]
    fn a_message_with_any_other_word_decides_nothing(
        before in proptest::collection::vec(0..4usize, 0..6),
        other in "[a-z]{1,8}|[0-9]{1,3}|\\?|no|lunch|not",
        after in proptest::collection::vec(0..4usize, 1..6),
    ) {
        const SAID: [&str; 4] = ["yes", "please", "do it", "ok"];
        let words = DecidingWords::TALK.about(&[Effect::Confirm].into(), false);
        prop_assume!(![&words.approve, &words.fillers].iter().any(|known| known.contains(&other)));
        let said = |picked: &[usize]| picked.iter().map(|at| SAID[*at]).collect::<Vec<_>>().join(" ");
        let whole = format!("{} {other} {} yes", said(&before), said(&after));
        prop_assert_eq!(words.heard(&whole), None, "{}", whole);
        let without = format!("{} {} yes", said(&before), said(&after));
        prop_assert_eq!(words.heard(&without), Some(Heard::Yes), "{}", without);
    }
}

#[test]
fn a_plain_yes_is_enough_only_for_less_and_never_beside_a_question() {
    for effect in Effect::ALL {
        let plain = matches!(
            effect,
            Effect::Read | Effect::Write | Effect::Define | Effect::Install | Effect::Call | Effect::Restart | Effect::Confirm
        );
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

proptest::proptest! {
    #[test]
    fn a_word_that_decides_does_so_among_fillers_in_any_letters_and_never_beside_anything_else(
        yes in proptest::sample::select(DecidingWords::TALK.made.to_vec()),
        no in proptest::sample::select(DecidingWords::TALK.no.to_vec()),
        fillers in proptest::collection::vec(proptest::sample::select(DecidingWords::TALK.fillers.to_vec()), 0..4),
        at in 0..4usize, loud in proptest::bool::ANY,
        other in "[b-df-hj-np-tv-z]{5,8}",
    ) {
        let words = DecidingWords::TALK.about(&BTreeSet::from([Effect::Confirm]), false);
        let among = |word: &str| {
            let mut said = fillers.clone();
            said.insert(at.min(fillers.len()), word);
            let said = said.join(", ");
            if loud { said.to_uppercase() } else { said }
        };
        proptest::prop_assert_eq!(words.heard(&among(yes)), Some(Heard::Yes));
        proptest::prop_assert_eq!(words.heard(&among(no)), Some(Heard::No));
        proptest::prop_assert_eq!(words.heard(&format!("{} {}", among(yes), other)), None);
        proptest::prop_assert_eq!(words.heard(&format!("{} {}?", other, among(no))), None);
        proptest::prop_assert_eq!(words.heard(&format!("{}, {}", among(yes), no)), None, "both at once are neither");
    }
}
