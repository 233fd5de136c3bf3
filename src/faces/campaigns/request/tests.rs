//! Tests of `faces::campaigns::request`.

use super::*;

#[test]
fn the_words_of_this_program_are_made_once_with_their_fingerprint() {
    let shared = shared_words();
    assert!(Arc::ptr_eq(&shared, &shared_words()));
    assert_eq!(shared, FingerprintedWords::of(words()));
}
