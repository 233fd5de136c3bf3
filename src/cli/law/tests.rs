//! Tests of `cli::law`.

use super::*;

#[test]
fn dollars_are_read_and_written_exactly() {
    for (text, millionths, written) in
        [("2.50", 2_500_000, "$2.50"), ("10", 10_000_000, "$10.00"), ("0.000001", 1, "$0.000001"), ("0", 0, "$0.00")]
    {
        assert_eq!(micros(text), Ok(millionths));
        assert_eq!(dollars(millionths), written);
    }
    for wrong in ["", ".", ".5", "-1", "1e3", "1.0000001", "9999999999", "1,5", "$1"] {
        assert!(micros(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn none_takes_away_and_anything_else_must_be_a_value() {
    assert_eq!(or_none::<Rule>("none"), Ok(OrNone(None)));
    assert_eq!(or_none::<Rule>("never"), Ok(OrNone(Some(Rule::Never))));
    assert!(or_none::<Rule>("nver").unwrap_err().contains("always, ask, never"));
}
