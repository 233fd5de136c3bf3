//! Tests of `domain::todo::time`, and clocks that are read in another way than the program reads
//! them.

use chrono::NaiveTime;

use super::*;

/// Seven zones: two with common summer times; one that changed at midnight, one that changes by
/// half an hour, one that skipped a whole day, one that turns clocks back for Ramadan, one that
/// never does.
pub const ZONES: [Tz; 7] = [
    Tz::Europe__Rome,
    Tz::America__New_York,
    Tz::America__Sao_Paulo,
    Tz::Australia__Lord_Howe,
    Tz::Pacific__Apia,
    Tz::Africa__Casablanca,
    Tz::Asia__Kathmandu,
];

pub fn wall(text: &str) -> NaiveDateTime {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M").unwrap()
}

fn utc(text: &str) -> DateTime<Utc> {
    wall(text).and_utc()
}

/// The moment of a wall time, found by trying: of all moments, the first at which clocks show it.
/// If there is none, clocks jump over it, and the moment is as long after the jump as the time is
/// after the last one before it.
pub fn found_by_trying(zone: Tz, wall: NaiveDateTime) -> DateTime<Utc> {
    let offset = |moment: DateTime<Utc>| zone.offset_from_utc_datetime(&moment.naive_utc()).fix().local_minus_utc();
    let shows = |moment: DateTime<Utc>| moment.naive_utc() + TimeDelta::seconds(offset(moment).into());
    let around = |hours: i64| offset(wall.and_utc() + TimeDelta::hours(hours));
    let mut offsets = vec![around(-26), around(0), around(26)];
    offsets.sort_unstable();
    offsets.dedup();
    let moments = offsets.iter().map(|offset| (wall - TimeDelta::seconds((*offset).into())).and_utc());
    if let Some(first) = moments.filter(|moment| shows(*moment) == wall).min() {
        return first;
    }
    // Minute by minute, until clocks show a later time than this one.
    let begin = wall.and_utc() - TimeDelta::hours(26);
    let minutes = (0..=52 * 60).map(|minute| begin + TimeDelta::minutes(minute));
    let jump = minutes.into_iter().find(|moment| shows(*moment) > wall).unwrap();
    let before = jump - TimeDelta::minutes(1);
    before + (wall - shows(before))
}

#[test]
fn a_time_that_clocks_skip_moves_on_by_the_gap_and_of_two_the_first_counts() {
    for (zone, written, moment) in [
        (Tz::Europe__Rome, "2026-03-29T02:30", "2026-03-29T01:30"), // shown as 03:30
        (Tz::Europe__Rome, "2026-10-25T02:30", "2026-10-25T00:30"),
        (Tz::Europe__Rome, "2026-07-01T09:00", "2026-07-01T07:00"),
        (Tz::America__New_York, "2026-03-08T02:00", "2026-03-08T07:00"),
        (Tz::America__New_York, "2026-11-01T01:59", "2026-11-01T05:59"),
        (Tz::Australia__Lord_Howe, "2026-10-04T02:15", "2026-10-03T15:45"), // shown as 02:45
        (Tz::America__Sao_Paulo, "2018-11-04T00:00", "2018-11-04T03:00"),   // midnight itself
        (Tz::Pacific__Apia, "2011-12-30T12:00", "2011-12-30T22:00"),        // a whole day
        (Tz::UTC, "2026-11-20T09:30", "2026-11-20T09:30"),
    ] {
        assert_eq!(instant_of(zone, wall(written)), utc(moment), "{zone} {written}");
    }
}

#[test]
fn every_half_hour_of_two_years_is_what_trying_finds() {
    for zone in ZONES {
        for year in [2011, 2026] {
            let begin = NaiveDate::from_ymd_opt(year, 1, 1).unwrap().and_time(NaiveTime::MIN);
            for half in 0..366 * 48 {
                let wall = begin + TimeDelta::minutes(30 * half + 7);
                assert_eq!(instant_of(zone, wall), found_by_trying(zone, wall), "{zone} {wall}");
            }
        }
    }
}

#[test]
fn iso_8601_is_read_with_an_offset_and_without_one_in_the_persons_zone() {
    let rome = Tz::Europe__Rome;
    for (written, moment) in [
        ("2026-11-20T09:30", "2026-11-20T08:30"),
        ("2026-11-20T09:30:00", "2026-11-20T08:30"),
        (" 2026-11-20 09:30 ", "2026-11-20T08:30"),
        ("2026-07-20t09:30:00.000", "2026-07-20T07:30"),
        ("2026-11-20T09:30Z", "2026-11-20T09:30"),
        ("2026-11-20T09:30:00z", "2026-11-20T09:30"),
        ("2026-11-20T09:30:00.000Z", "2026-11-20T09:30"),
        ("2026-11-20T09:30+05:30", "2026-11-20T04:00"),
        ("2026-11-20T09:30:00+0530", "2026-11-20T04:00"),
        ("2026-11-20T09:30-03", "2026-11-20T12:30"),
        ("2026-03-29T02:30", "2026-03-29T01:30"),
        ("2026-10-25T02:30", "2026-10-25T00:30"),
        ("2026-10-25T02:30+01:00", "2026-10-25T01:30"),
    ] {
        assert_eq!(written_time(written, rome), Ok(utc(moment)), "{written}");
    }
    assert_eq!(written_time("2026-11-20", rome), Err(TimeRefusal::DateAlone("2026-11-20".into())));
    for unreadable in [
        "",
        "tomorrow",
        "9:30",
        "2026-13-01T09:30",
        "2026-02-30T09:30",
        "2026-11-20T25:00",
        "+12026-11-20T09:30",
        "20261-11-20T09:30",
        "2026-11-20T09:30+99:00",
        "2026-11-20T09:30 Rome",
        "2026-11-20T09:30ù",
    ] {
        assert!(matches!(written_time(unreadable, rome), Err(TimeRefusal::Unreadable(_))), "{unreadable}");
    }
}

#[test]
fn a_reminder_is_still_to_come() {
    let (rome, now) = (Tz::Europe__Rome, utc("2026-11-20T08:30"));
    assert_eq!(reminder_time("2026-11-20T09:31", rome, now), Ok(utc("2026-11-20T08:31")));
    for past in ["2026-11-20T09:30", "2026-11-20T08:30Z", "1999-01-01T00:00"] {
        let told = reminder_time(past, rome, now).unwrap_err().to_string();
        assert_eq!(told, "That time has passed: it is 2026-11-20 09:30 now.", "{past}");
    }
}

#[test]
fn a_reminder_keeps_its_distance_on_the_clock() {
    let rome = Tz::Europe__Rome;
    let at = |text: &str| instant_of(rome, wall(text));
    let (reminder, from, to) = (at("2026-03-27T20:00"), at("2026-03-28T09:00"), at("2026-04-04T09:00"));
    assert_eq!(moment_at(rome, to, distance_of(rome, reminder, from)), Some(at("2026-04-03T20:00")));
    assert_eq!(wall_of(rome, to), wall("2026-04-04T09:00"));
}

#[test]
fn a_zone_has_a_name_of_the_iana() {
    assert_eq!(zone_named(" Europe/Rome "), Ok(Tz::Europe__Rome));
    assert_eq!(zone_named("Rome").unwrap_err(), "`Rome` is no time zone; write an IANA name such as Europe/Rome");
}
