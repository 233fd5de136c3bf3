//! Tests of `store::things::finding`.

use super::*;

#[test]
fn a_title_is_the_first_line_that_says_something() {
    assert_eq!(title_of("\n  \n  Buy milk.\nAnd bread."), Some("Buy milk.".to_owned()));
    assert_eq!(title_of(" \n\t"), None);
    assert_eq!(title_of("\u{200b}\nBuy milk."), Some("Buy milk.".to_owned()), "nobody sees the first line");
    let long = title_of(&"é".repeat(200)).unwrap();
    assert_eq!((long.chars().count(), long.ends_with('…')), (TITLE + 1, true));
}

#[test]
fn whatever_is_typed_is_read_as_words() {
    assert_eq!(words_of("tea 'cake'); DROP").as_deref(), Some(r"'tea':* & '''cake'');':* & 'DROP':*"));
    assert_eq!(words_of(r"a\b Größe").as_deref(), Some(r"'a\\b':* & 'Größe':*"));
    assert_eq!(words_of("a\0b").as_deref(), Some("'a':* & 'b':*"), "Postgres keeps no zero character");
    assert_eq!(words_of("!? :* \\"), None);
}
