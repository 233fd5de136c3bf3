//! Tests of `model::transport`.

use super::*;

#[test]
fn a_key_is_taken_out_of_a_text_unless_it_is_too_short_to_be_told_from_it() {
    for (key, text, clean) in [
        ("k", "wrong key k", "wrong key k"),
        ("ollama1", "wrong key ollama1", "wrong key ollama1"),
        ("sk-12345", "wrong key sk-12345", "wrong key [key]"),
    ] {
        assert_eq!(Endpoint::new("http://127.0.0.1:1/v1", Some(key)).unwrap().scrub(text), clean);
    }
}
