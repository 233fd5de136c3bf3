//! Tests of `store::agent_sql::rows`.

use sqlx::{Postgres, Type};

use super::*;

#[test]
fn times_become_iso_8601() {
    assert_eq!(iso_8601("2026-11-20 06:30:00.5+00"), "2026-11-20T06:30:00.5+00:00");
    assert_eq!(iso_8601("2026-11-20 06:30:00"), "2026-11-20T06:30:00");
    assert_eq!(iso_8601("2026-11-20 06:30:00+05:30"), "2026-11-20T06:30:00+05:30");
    assert_eq!(iso_8601("infinity"), "infinity");
    assert_eq!(iso_8601("0044-03-15 00:00:00 BC"), "0044-03-15 00:00:00 BC");
}

#[test]
fn arrays_of_every_form_are_read() {
    let text = <str as Type<Postgres>>::type_info();
    for (written, expected) in [
        ("{}", "[]"),
        ("{a,NULL,\"NULL\"}", r#"["a",null,"NULL"]"#),
        (r#"{"a \"b\"","c,d","{}"}"#, r#"["a \"b\"","c,d","{}"]"#),
        ("{{a,b},{c,d}}", r#"[["a","b"],["c","d"]]"#),
        ("[0:1]={x,y}", r#"["x","y"]"#),
    ] {
        assert_eq!(array_json(written, &text, 100).as_deref(), Some(expected), "{written}");
    }
    assert_eq!(array_json("{1", &<i32 as Type<Postgres>>::type_info(), 100), None);
    assert_eq!(array_json("1,2", &<i32 as Type<Postgres>>::type_info(), 100), None);
}

#[test]
fn a_long_value_is_cut_at_a_character_and_says_so() {
    let note = r#""aé… (cut: the value has 9 bytes; substr(VALUE::text, 3, 3) goes on from here)""#;
    assert_eq!(cut("aéééé", 4), note);
}
