//! Tests of `cli::relay::spans`.

use super::*;

#[test]
fn an_interval_is_read_as_people_write_it() {
    for (text, seconds) in [("30m", 1800), ("90s", 90), ("1h30m", 5400), ("2d", 172_800), ("30d", 2_592_000), ("60s", 60)] {
        assert_eq!(interval(text), Ok(seconds), "{text}");
    }
}

#[test]
fn what_is_no_interval_is_refused_with_a_right_one() {
    for text in ["", "30", "m", "soon", "1w", "-5m", "59s", "31d", "1h 30m", "99999999999999999999d", "9223372036854775807d"] {
        assert!(interval(text).unwrap_err().contains("like 30m"), "{text}");
    }
}

#[test]
fn a_span_is_said_in_its_two_largest_units() {
    for (seconds, said) in
        [(0, "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (7380, "2 h 3 min"), (86_460, "1 d"), (90_000, "1 d 1 h")]
    {
        assert_eq!(span(seconds), said);
    }
}
