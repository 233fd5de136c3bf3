//! Tests of `parts`.

use super::*;

#[test]
fn a_short_text_is_one_part() {
    assert_eq!(parts("  Hello\n\nthere \n"), ["Hello\n\nthere"]);
    assert!(parts(" \n ").is_empty());
}

#[test]
fn a_long_text_is_cut_at_the_ends_of_paragraphs() {
    let paragraph = "word ".repeat(300);
    let text = [paragraph.trim(); 10].join("\n\n");
    let parts = parts(&text);
    assert_eq!(parts.len(), 5);
    assert!(parts.iter().all(|part| part.chars().count() <= LONGEST && part.ends_with("word")));
    assert_eq!(parts.join("\n\n"), text);
}

#[test]
fn without_paragraphs_lines_sentences_and_words_are_the_ends() {
    assert_eq!(cut("aaaa bbb\ncc dd", 10), ["aaaa bbb", "cc dd"]);
    assert_eq!(cut("One two. Three four", 12), ["One two.", "Three four"]);
    assert_eq!(cut("aaaa bbbb cccc", 10), ["aaaa bbbb", "cccc"]);
}

#[test]
fn a_word_without_end_is_cut_between_characters() {
    let text = "ä".repeat(25);
    let parts = cut(&text, 10);
    assert_eq!(parts.iter().map(|part| part.chars().count()).collect::<Vec<_>>(), [10, 10, 5]);
    assert_eq!(parts.concat(), text);
}
