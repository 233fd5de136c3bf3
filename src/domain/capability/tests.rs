//! Tests of `domain::capability`.

use super::*;

#[test]
fn names_are_snake_case() {
    for good in ["a", "roman_numeral", "x2"] {
        assert!(valid_name(good), "{good}");
    }
    for bad in ["", "2x", "_a", "romanNumeral", "a-b", "a b", "é", &"a".repeat(65)] {
        assert!(!valid_name(bad), "{bad}");
    }
}
