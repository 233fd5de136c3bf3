//! The table of the pace.

use super::*;

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

const NOW: &str = "2026-11-20T12:00:00Z";

fn next() -> NextMessage {
    let (contact, zone) = ("+491".to_owned(), chrono_tz::UTC);
    NextMessage { contact, first: false, keeps_quiet: true, zone, not_before: None, chance: 0.0 }
}

/// So many messages, each so many seconds before the one after it; the last so many seconds ago.
fn past(contact: &str, many: i64, apart: i64, ago: i64) -> Vec<PastMessage> {
    let of = |n| PastMessage { at: at(NOW) - TimeDelta::seconds(ago + n * apart), contact: contact.to_owned(), first: false };
    (0..many).map(of).collect()
}

/// Seconds until it may leave, and why it waits.
fn waits(next: &NextMessage, past: &[PastMessage]) -> Option<(i64, Hold)> {
    Pace::default().wait(next, past, at(NOW)).map(|(until, why)| ((until - at(NOW)).num_seconds(), why))
}

#[test]
fn each_limit_holds_back_until_there_is_room() {
    let firsts: Vec<_> = (0..10).map(|n| PastMessage { first: true, ..past(&format!("+{n}"), 1, 0, 3_600)[0].clone() }).collect();
    for (case, next, past, expected) in [
        ("a lone message", next(), vec![], None),
        ("the gap", next(), past("+491", 1, 0, 1), Some((1, Hold::ContactGap))),
        ("the gap is over", next(), past("+491", 1, 0, 2), None),
        ("another contact has no gap", next(), past("+492", 1, 0, 1), None),
        ("a longer gap", NextMessage { chance: 1.0, ..next() }, past("+491", 1, 0, 1), Some((2, Hold::ContactGap))),
        ("ten in ten minutes", next(), past("+491", 10, 10, 60), Some((601 - 150, Hold::ContactLimit))),
        ("nine in ten minutes", next(), past("+491", 9, 10, 60), None),
        ("twenty in a minute", next(), past("+492", 20, 1, 1), Some((40, Hold::ChannelMinute))),
        (
            "three hundred in a day",
            NextMessage { keeps_quiet: false, ..next() },
            past("+492", 300, 100, 100),
            Some((86_400 - 30_000, Hold::ChannelDay)),
        ),
        ("ten first contacts", NextMessage { first: true, ..next() }, firsts.clone(), Some((82_800, Hold::FirstContacts))),
        ("an answer after ten first contacts", next(), firsts, None),
        ("returned", NextMessage { not_before: Some(at("2026-11-20T12:00:05Z")), ..next() }, vec![], Some((5, Hold::Returned))),
    ] {
        assert_eq!(waits(&next, &past), expected, "{case}");
    }
}

#[test]
fn quiet_hours_are_those_of_the_contact() {
    let berlin: Tz = "Europe/Berlin".parse().unwrap();
    let pace = Pace::default();
    for (moment, zone, end) in [
        ("2026-11-20T19:59:59Z", berlin, None),
        ("2026-11-20T20:00:00Z", berlin, Some("2026-11-21T07:00:00Z")),
        ("2026-11-20T23:30:00Z", berlin, Some("2026-11-21T07:00:00Z")),
        ("2026-11-21T06:59:59Z", berlin, Some("2026-11-21T07:00:00Z")),
        ("2026-11-21T07:00:00Z", berlin, None),
        ("2026-11-20T20:30:00Z", chrono_tz::UTC, None),
        // Clocks go forward that night, and the night is an hour shorter.
        ("2026-03-28T22:00:00Z", berlin, Some("2026-03-29T06:00:00Z")),
    ] {
        assert_eq!(pace.quiet_end(at(moment), zone), end.map(at), "{moment}");
    }
    let night = NextMessage { zone: "Asia/Tokyo".parse().unwrap(), ..next() };
    assert_eq!(waits(&night, &[]), Some((11 * 3_600, Hold::Quiet)));
    assert_eq!(waits(&NextMessage { keeps_quiet: false, ..night }, &[]), None, "an answer does not wait for the morning");
}

#[test]
fn no_quiet_hours_are_none() {
    let never = Pace::read(r#"{"quiet_from": "00:00", "quiet_until": "00:00", "i_know": true}"#).unwrap();
    assert_eq!(never.quiet_end(at("2026-11-20T23:00:00Z"), chrono_tz::UTC), None);
}

#[test]
fn the_limits_are_floors_that_only_a_person_who_knows_passes() {
    assert_eq!(Pace::read("{}").unwrap(), Pace::default());
    for wrong in ["[]", "null", "5"] {
        assert!(Pace::read(wrong).unwrap_err().contains("a JSON object"), "{wrong}");
    }
    assert_eq!(Pace::read(r#"{"channel_per_minute": 5}"#).unwrap().channel_per_minute, 5);
    for (laxer, field) in [
        (r#"{"contact_gap_seconds": 1}"#, "contact_gap_seconds"),
        (r#"{"contact_per_10_minutes": 11}"#, "contact_per_10_minutes"),
        (r#"{"channel_per_minute": 21}"#, "channel_per_minute"),
        (r#"{"channel_per_day": 301}"#, "channel_per_day"),
        (r#"{"first_contacts_per_day": 11}"#, "first_contacts_per_day"),
        (r#"{"quiet_from": "22:00"}"#, "quiet hours"),
        (r#"{"quiet_until": "07:00"}"#, "quiet hours"),
        (r#"{"quiet_from": "00:00", "quiet_until": "08:00"}"#, "quiet hours"),
        (r#"{"quiet_from": "08:00"}"#, "quiet hours"),
        (r#"{"quiet_until": "21:00"}"#, "quiet hours"),
        (r#"{"quiet_from": "00:00", "quiet_until": "23:59"}"#, "quiet hours"),
        (r#"{"quiet_from": "9 pm"}"#, "no time of day like 21:00"),
        (r#"{"chanel_per_day": 1}"#, "chanel_per_day"),
    ] {
        let refused = Pace::read(laxer).unwrap_err();
        assert!(refused.contains(field), "{laxer}: {refused}");
    }
    for longer in [("20:00", "09:00"), ("12:00", "08:00"), ("21:00", "20:59"), ("09:00", "08:30")] {
        let written = format!(r#"{{"quiet_from": "{}", "quiet_until": "{}"}}"#, longer.0, longer.1);
        Pace::read(&written).unwrap();
    }
    assert_eq!(Pace::read(r#"{"channel_per_minute": 60, "i_know": true}"#).unwrap().channel_per_minute, 60);
}

#[test]
fn a_pace_is_laxer_by_a_setting_that_is_laxer_than_in_each_of_the_others() {
    let pace = |written: &str| Pace::read(written).unwrap();
    let usual = Pace::default();
    let agreed = pace(
        r#"{"contact_gap_seconds": 1, "channel_per_day": 500, "channel_per_minute": 5, "i_know": true,
            "quiet_from": "07:00", "quiet_until": "22:00"}"#,
    );
    for within in [
        r#"{"contact_gap_seconds": 1, "channel_per_day": 500}"#,
        r#"{"contact_gap_seconds": 2, "channel_per_day": 301}"#,
        r#"{"channel_per_minute": 20}"#,
        // Of the usual hours, 21:00 to 22:00 and 07:00 to 08:00 are quiet in both.
        r#"{"quiet_from": "07:00", "quiet_until": "22:00"}"#,
    ] {
        let now = Pace { i_know: false, ..pace(&within.replace('}', r#", "i_know": true}"#)) };
        assert_eq!(now.laxer_than(&[usual, agreed]), None, "{within}");
    }
    for (laxer, field) in [
        (r#"{"contact_gap_seconds": 0}"#, "`contact_gap_seconds` is 0, and 2 is"),
        (r#"{"channel_per_day": 501}"#, "`channel_per_day` is 501, and 300 is"),
        (r#"{"contact_gap_seconds": 1, "first_contacts_per_day": 11}"#, "`first_contacts_per_day` is 11, and 10 is"),
        (r#"{"channel_per_minute": 21}"#, "`channel_per_minute` is 21"),
        (r#"{"quiet_from": "07:01", "quiet_until": "22:00"}"#, "quiet hours"),
        (r#"{"quiet_from": "07:00", "quiet_until": "21:59"}"#, "quiet hours"),
    ] {
        let now = pace(&laxer.replace('}', r#", "i_know": true}"#));
        let why = now.laxer_than(&[usual, agreed]).unwrap();
        assert!(why.starts_with(field), "{laxer}: {why}");
    }
}

#[test]
fn typing_is_shown_as_long_as_a_person_types() {
    assert_eq!(Pace::typing("Hello there, how are you?").num_milliseconds(), 1_000);
    assert_eq!(Pace::typing(&"x".repeat(4_000)).num_milliseconds(), 8_000);
}
