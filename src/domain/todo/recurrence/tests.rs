//! Tests of `domain::todo::recurrence`: an independent implementation goes through every day of ten
//! years, in seven zones, and has to find the same dates.

use chrono::Weekday;
use proptest::prelude::*;

use super::super::time::tests::{ZONES, found_by_trying, wall};
use super::*;

/// True if the rule that begins on the second day comes round on the first.
type Falls = fn(NaiveDate, NaiveDate) -> bool;

/// A rule, its beginning, the days it falls on, and the times of such a day; no times: that of the
/// beginning.
type Row = (&'static str, &'static str, Falls, &'static [(u32, u32)]);

fn length_of_month(day: NaiveDate) -> u32 {
    (28..=31).rev().find(|last| day.with_day(*last).is_some()).unwrap()
}

fn weeks_between(day: NaiveDate, start: NaiveDate) -> i64 {
    let monday = |day: NaiveDate| day - TimeDelta::days(day.weekday().num_days_from_monday().into());
    (monday(day) - monday(start)).num_weeks()
}

fn months_between(day: NaiveDate, start: NaiveDate) -> i32 {
    (day.year() - start.year()) * 12 + day.month() as i32 - start.month() as i32
}

fn is_work_day(day: NaiveDate) -> bool {
    !matches!(day.weekday(), Weekday::Sat | Weekday::Sun)
}

/// The last day of the month that is no Saturday or Sunday.
fn is_last_work_day(day: NaiveDate) -> bool {
    is_work_day(day) && (day.day() + 1..=length_of_month(day)).all(|later| !is_work_day(day.with_day(later).unwrap()))
}

const ROWS: [Row; 22] = [
    ("daily", "2016-01-05T02:30", |_, _| true, &[]),
    ("daily", "2016-01-05T00:00", |_, _| true, &[]),
    ("DAILY", "2016-01-05T23:59", |_, _| true, &[]),
    ("weekdays", "2016-01-09T02:00", |day, _| is_work_day(day), &[]),
    ("weekly", "2016-01-10T02:15", |day, start| day.weekday() == start.weekday(), &[]),
    ("monthly", "2016-01-15T02:30", |day, start| day.day() == start.day(), &[]),
    ("monthly", "2016-01-31T09:00", |day, _| day.day() == length_of_month(day), &[]),
    ("monthly", "2016-01-30T09:00", |day, _| day.day() == length_of_month(day).min(30), &[]),
    ("monthly", "2016-01-29T09:00", |day, _| day.day() == length_of_month(day).min(29), &[]),
    ("yearly", "2016-03-27T02:30", |day, start| (day.month(), day.day()) == (start.month(), start.day()), &[]),
    ("yearly", "2016-02-29T09:00", |day, _| day.month() == 2 && day.day() == length_of_month(day), &[]),
    ("FREQ=DAILY;INTERVAL=3", "2016-01-05T02:30", |day, start| (day - start).num_days() % 3 == 0, &[]),
    (
        "FREQ=DAILY;BYHOUR=3,1,2;BYMINUTE=0,30",
        "2016-01-05T00:00",
        |_, _| true,
        &[(1, 0), (1, 30), (2, 0), (2, 30), (3, 0), (3, 30)],
    ),
    ("FREQ=DAILY;BYMONTH=3,10,11", "2016-01-05T02:05", |day, _| [3, 10, 11].contains(&day.month()), &[]),
    (
        "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TH",
        "2016-01-06T02:30",
        |day, start| weeks_between(day, start) % 2 == 0 && [Weekday::Sun, Weekday::Thu].contains(&day.weekday()),
        &[],
    ),
    ("FREQ=MONTHLY;BYMONTHDAY=31", "2016-01-05T09:00", |day, _| day.day() == 31, &[]),
    (
        "FREQ=MONTHLY;BYDAY=-1SU",
        "2016-01-05T02:30",
        |day, _| day.weekday() == Weekday::Sun && day.day() + 7 > length_of_month(day),
        &[],
    ),
    ("FREQ=MONTHLY;BYDAY=2SU", "2016-01-05T02:30", |day, _| day.weekday() == Weekday::Sun && (8..15).contains(&day.day()), &[]),
    (
        "RRULE:FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=-1",
        "2016-01-05T09:00",
        |day, start| months_between(day, start) % 5 == 0 && day.day() == length_of_month(day),
        &[],
    ),
    ("freq=monthly;byday=MO,TU,WE,TH,FR;bysetpos=-1", "2016-01-05T02:30", |day, _| is_last_work_day(day), &[]),
    ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "2016-01-05T09:00", |day, _| (day.month(), day.day()) == (2, 29), &[]),
    (
        "FREQ=YEARLY;BYYEARDAY=100,-1",
        "2016-01-05T09:00",
        |day, _| day.ordinal() == 100 || (day.month(), day.day()) == (12, 31),
        &[],
    ),
];

/// The dates of a row in the ten years from its beginning, each moment once, in their order.
fn by_hand(zone: Tz, (_, start, falls, times): &Row) -> Vec<DateTime<Utc>> {
    let start = wall(start);
    let end = NaiveDate::from_ymd_opt(start.year() + 10, 1, 1).unwrap();
    let own = [(start.hour(), start.minute())];
    let times = if times.is_empty() { &own } else { *times };
    let days = start.date().iter_days().take_while(|day| *day < end).filter(|day| falls(*day, start.date()));
    let walls = days.flat_map(|day| times.iter().map(move |(hour, minute)| day.and_hms_opt(*hour, *minute, 0).unwrap()));
    let moments: BTreeSet<_> = walls.filter(|wall| *wall >= start).map(|wall| found_by_trying(zone, wall)).collect();
    moments.into_iter().collect()
}

#[test]
fn ten_years_in_seven_zones_are_as_an_independent_implementation_finds_them() {
    for zone in ZONES {
        for row in &ROWS {
            let rule = row.0;
            let expected = by_hand(zone, row);
            assert!(!expected.is_empty() && expected.is_sorted(), "{rule}");
            let before = instant_of(zone, wall(row.1)) - TimeDelta::seconds(1);
            let found = Recurrence::of(rule, zone, wall(row.1)).unwrap().upcoming(before, expected.len());
            let differs = found.iter().zip(&expected).find(|(one, other)| one != other);
            assert!(
                found == expected,
                "{zone} {rule}: {} and {} dates, first difference {differs:?}",
                found.len(),
                expected.len()
            );
        }
    }
}

#[test]
fn the_next_date_is_the_first_after_any_moment() {
    for zone in ZONES {
        for row in [&ROWS[0], &ROWS[12], &ROWS[16]] {
            let expected = by_hand(zone, row);
            let recurrence = Recurrence::of(row.0, zone, wall(row.1)).unwrap();
            for nth in (0..expected.len() - 1).step_by(expected.len() / 8 + 1) {
                let (this, following) = (expected[nth], expected[nth + 1]);
                assert_eq!(recurrence.next(this - TimeDelta::milliseconds(1)), Some(this), "{zone} {}", row.0);
                assert_eq!(recurrence.next(this), Some(following), "{zone} {}", row.0);
            }
        }
    }
}

fn in_rome(rule: &str) -> Result<Recurrence, RuleRefusal> {
    let now = instant_of(Tz::Europe__Rome, wall("2026-11-20T09:30"));
    Recurrence::new(rule, Tz::Europe__Rome, now, now)
}

#[test]
fn a_rule_may_end() {
    let at = |text: &str| instant_of(Tz::Europe__Rome, wall(text));
    let from = at("2026-11-20T09:29");
    for (rule, last) in [
        ("FREQ=DAILY;COUNT=3", "2026-11-22T09:30"),
        ("FREQ=DAILY;UNTIL=20261123", "2026-11-23T09:30"), // the whole day
        ("FREQ=DAILY;UNTIL=20261123T093000", "2026-11-23T09:30"),
        ("FREQ=DAILY;UNTIL=20261123T083000Z", "2026-11-23T09:30"), // Rome is an hour ahead
        ("FREQ=DAILY;UNTIL=20261123T082959Z", "2026-11-22T09:30"),
    ] {
        let recurrence = in_rome(rule).unwrap();
        assert_eq!(recurrence.upcoming(from, 10).last(), Some(&at(last)), "{rule}");
        assert_eq!(recurrence.next(at(last)), None, "{rule}");
        let kept = Recurrence::of(recurrence.rule(), recurrence.zone(), recurrence.start());
        assert_eq!(kept, Ok(recurrence), "it can still be read: {rule}");
    }
}

#[test]
fn a_rule_that_cannot_be_kept_is_refused_with_the_reason() {
    let long = format!("FREQ=DAILY;BYHOUR={}", "1,".repeat(100));
    for (rule, reason) in [
        (
            "",
            "`` is no rule I know. Use daily, weekdays, weekly, monthly, yearly, none, or an RRULE such as FREQ=WEEKLY;BYDAY=MO,TH.",
        ),
        ("every day", "`every day` is no rule I know."),
        ("hourly", "`hourly` is no rule I know."),
        ("FREQ=DAILY;BYDAY=LUNEDÌ", "is no rule I know."),
        (long.as_str(), "That rule has 218 bytes, and 200 is the most."),
        ("FREQ=HOURLY", "HOURLY repeats within a day, and such rules lose or repeat hours when clocks change."),
        ("RRULE:FREQ=MINUTELY;INTERVAL=90", "MINUTELY repeats within a day"),
        ("freq=secondly", "SECONDLY repeats within a day"),
        ("INTERVAL=2", "FREQ has to be DAILY, WEEKLY, MONTHLY or YEARLY"),
        ("FREQ=OFTEN", "FREQ has to be DAILY, WEEKLY, MONTHLY or YEARLY"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL has to be a number from 1 to 65535"),
        ("FREQ=DAILY;INTERVAL=-1", "INTERVAL has to be a number"),
        ("FREQ=DAILY;COUNT=0", "COUNT has to be a number"),
        ("FREQ=DAILY;FREQ=WEEKLY", "`FREQ=WEEKLY` stands there twice"),
        ("FREQ=DAILY;COLOUR=RED", "`COLOUR=RED` is no part of a rule"),
        ("FREQ=DAILY;BYEASTER=0", "`BYEASTER=0` is no part of a rule"),
        ("FREQ=DAILY;;COUNT=2", "`` has no `=`"),
        ("FREQ=DAILY;COUNT=", "`COUNT=` has no value that can be read"),
        ("FREQ=DAILY\nRRULE:FREQ=DAILY", "has no value that can be read"),
        ("FREQ=WEEKLY;BYDAY=XX", "`XX` is no day of the week"),
        ("FREQ=WEEKLY;BYDAY=M", "`M` is no day of the week"),
        ("FREQ=MONTHLY;BYDAY=0MO", "`0MO` has a number that counts no day"),
        ("FREQ=MONTHLY;BYDAY=9XMO", "`9XMO` has a number that counts no day"),
        ("FREQ=WEEKLY;BYDAY=2MO", "`2MO` counts days of a month or a year"),
        ("FREQ=MONTHLY;BYDAY=7MO", "The rule cannot be read: "),
        ("FREQ=MONTHLY;BYMONTHDAY=32", "The rule cannot be read: "),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY counts from 1, or back from -1, and 0 is neither"),
        ("FREQ=YEARLY;BYWEEKNO=1,00", "BYWEEKNO counts from 1, or back from -1"),
        ("FREQ=WEEKLY;BYMONTHDAY=3", "The rule cannot be read: "),
        ("FREQ=DAILY;BYHOUR=24", "The rule cannot be read: "),
        ("FREQ=DAILY;UNTIL=SOON", "`UNTIL=SOON` is no date such as 20271231"),
        ("FREQ=DAILY;UNTIL=20260230", "`UNTIL=20260230` is no date"),
        ("FREQ=DAILY;UNTIL=20200101", "That rule has no date in the next 10 years."),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "That rule has no date in the next 10 years."),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31", "That rule has no date in the next 10 years."),
        ("FREQ=YEARLY;INTERVAL=11;BYMONTH=1;BYMONTHDAY=1", "That rule has no date in the next 10 years."),
    ] {
        let refused = in_rome(rule).unwrap_err().to_string();
        assert!(refused.contains(reason), "{rule}: {refused}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "\\PC{0,60}|((FREQ|BYDAY|BYMONTHDAY|INTERVAL|UNTIL|COUNT|BYSETPOS|BYHOUR)=[A-Z0-9,+-]{0,9};?){1,5}") {
        if let Ok(recurrence) = in_rome(&text) {
            prop_assert!(recurrence.rule().len() <= MOST_RULE_BYTES);
            prop_assert_eq!(Recurrence::of(recurrence.rule(), recurrence.zone(), recurrence.start()), Ok(recurrence));
        }
    }
}
