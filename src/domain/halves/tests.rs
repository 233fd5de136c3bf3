//! Tests of `domain::halves`.

use super::*;

#[test]
fn halves_are_marked_and_everything_else_stays() {
    for (json, marked) in [
        (r#""a\ud83d""#, r#""a\ufffd""#),
        (r#""\uDE00\ud83d\ud83d\ude00\ud83d""#, r#""\ufffd\ufffd\ud83d\ude00\ufffd""#),
        (r#"{"\ud83d":["\ud83dé","\ud83d\n"]}"#, r#"{"\ufffd":["\ufffdé","\ufffd\n"]}"#),
    ] {
        assert_eq!(without_halves(json), marked);
    }
}

#[test]
fn text_without_halves_is_the_same_text() {
    for json in ["", "\\", "\\u", "\\é", "\\ud83", "\\u+123", r#""\\ud83d \u0041 \ud83d\ude00 \"ü""#, "plain"] {
        assert!(matches!(without_halves(json), Cow::Borrowed(same) if same == json), "{json}");
    }
}
