//! Tests of `model::aside`.

use super::*;

/// The text of these pieces as it is shown and as it is kept.
fn said(pieces: &[&str]) -> String {
    let mut aside = Aside::default();
    let shown: String = pieces.iter().map(|piece| aside.take(piece)).collect();
    shown + &aside.rest()
}

#[test]
fn thoughts_before_an_answer_are_no_part_of_it_however_they_are_cut() {
    for whole in ["<think>Hm.</think>Yes.", "<think>\nIs it? ä</ think>\n</think>\n\nYes.", "\n <think></think>  Yes.", "Yes."] {
        let letters: Vec<_> = whole.split_inclusive(|_: char| true).collect();
        for pieces in [&[whole][..], &letters] {
            assert_eq!(said(pieces).trim_start(), "Yes.", "{whole}");
        }
    }
}

#[test]
fn a_text_that_only_looks_like_thoughts_stays() {
    for text in ["<thin", "<thought>a</thought>", "a <think>b</think> c", "`<think>` begins it", "<think", " \n ", ""] {
        let letters: Vec<_> = text.split_inclusive(|_: char| true).collect();
        assert_eq!((said(&[text]), said(&letters)), (text.to_owned(), text.to_owned()));
    }
}

#[test]
fn thoughts_that_never_end_are_no_answer() {
    assert_eq!(said(&["<think>", "and on, and on </thi"]), "");
}

#[test]
fn a_closing_tag_that_nothing_opened_ends_the_thoughts() {
    assert_eq!(behind_thoughts("Let me see.\n</think>Four."), "Four.");
    assert_eq!(behind_thoughts("<think>A `tick.</think>\nFour."), "Four.");
    assert_eq!(behind_thoughts("<think>Hm.</think>\n"), "");
    assert_eq!(behind_thoughts("Let me see.</think>\n"), "Let me see.");
    for text in ["`</think>` ends it", "One writes <think>a</think>.", "Four."] {
        assert_eq!(behind_thoughts(text), text);
    }
}
