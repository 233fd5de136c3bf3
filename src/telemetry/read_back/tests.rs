//! Tests of `telemetry::read_back`.

use super::*;

/// The only reading of a text.
fn only(source: &str, near: usize) -> ReadBack {
    let mut readings: Vec<_> = all(source.as_bytes(), near).collect();
    assert_eq!(readings.len(), 1, "{source}");
    readings.remove(0)
}

#[test]
fn each_escape_becomes_what_it_stands_for() {
    for (written, plain) in [
        (r#"a\"\\\/\n\t\'"#, "a\"\\/\n\t'"),
        (r"\u00fc\u00FC\u{fc}\U000000fc\xc3\xbc\ü", "üüüüüü"),
        (r"\ud83d\ude00\u{1f600}\U0001F600", "😀😀😀"),
        ("%2F%2f%c3%BC%%41", "//ü%A"),
        ("&amp;&lt;&#43;&#x2B;&#X2b;&plus;&#128512;&nope;", "&<++++😀&nope;"),
        ("one\r\n\t two\nthree", "onetwothree"),
    ] {
        assert_eq!(String::from_utf8(only(written, 99).text).unwrap(), plain, "{written}");
    }
    // Half of a pair stands for nothing.
    assert_eq!(only(r"\ud83d\n", 99).text, b"ud83d\n");
}

#[test]
fn text_without_whole_escapes_has_no_reading() {
    for source in ["", "plain", "50% & more; %4", "&;&#;&#x;&#xzz;&#99999999;", "at the end \\"] {
        assert_eq!(all(source.as_bytes(), 99).count(), 0, "{source}");
    }
}

#[test]
fn a_range_of_what_was_read_is_found_in_the_source() {
    let source = "ab%2Fcd%2Fef";
    let back = only(source, 99);
    assert_eq!(back.text, b"ab/cd/ef");
    for (range, expected) in [(0..1, "a"), (1..3, "b%2F"), (2..3, "%2F"), (2..6, "%2Fcd%2F"), (5..8, "%2Fef"), (0..8, source)] {
        assert_eq!(&source[back.source_of(&range)], expected);
    }
    let source = "ab\r\n  cd";
    assert_eq!(&source[only(source, 99).source_of(&(1..3))], "b\r\n  c");
}

#[test]
fn what_is_far_from_every_escape_is_left_out() {
    let source = format!("{0}%2F{0}%2F{0}", "0123456789");
    let back = only(&source, 2);
    assert_eq!(back.text, b"01\xff89/01\xff89/01\xff89");
    assert_eq!(&source[back.source_of(&(4..7))], "9%2F0");
    assert_eq!(&source[back.source_of(&(10..13))], "9%2F0");
}
