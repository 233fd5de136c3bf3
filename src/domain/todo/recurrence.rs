//! How a task comes round: a word, or a rule as calendars write them (RRULE, RFC 5545), in a
//! person's zone.
//!
//! The library counts on the clock on the wall, and never hears of a zone: `time` makes moments of
//! what it finds. So hours that clocks skip or show twice are read in one way everywhere.

use std::collections::BTreeSet;

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};
use chrono_tz::Tz;
use rrule::{RRule, RRuleSet, Unvalidated};

use super::time::{instant_of, wall_of};

/// The most bytes of a rule.
pub const MOST_RULE_BYTES: usize = 200;
/// A rule that has no date for so long has none.
const HORIZON: Months = Months::new(10 * 12);
/// More than clocks ever jumped.
const LONGEST_JUMP: TimeDelta = TimeDelta::hours(26);

const WORDS: &str = "daily, weekdays, weekly, monthly, yearly, none, or an RRULE such as FREQ=WEEKLY;BYDAY=MO,TH";
/// In place of a rule: the task does not come round.
const NO_RULE: [&str; 3] = ["none", "never", "off"];
const PARTS: [&str; 14] = [
    "FREQ",
    "UNTIL",
    "COUNT",
    "INTERVAL",
    "BYSECOND",
    "BYMINUTE",
    "BYHOUR",
    "BYDAY",
    "BYMONTHDAY",
    "BYYEARDAY",
    "BYWEEKNO",
    "BYMONTH",
    "BYSETPOS",
    "WKST",
];

/// The reason for which a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleRefusal {
    /// Neither a word nor parts with a `=`.
    #[error("`{0}` is no rule I know. Use {WORDS}.")]
    Unknown(String),
    /// Longer than [`MOST_RULE_BYTES`].
    #[error("That rule has {0} bytes, and {MOST_RULE_BYTES} is the most.")]
    TooLong(usize),
    /// A frequency that clock changes make wrong.
    #[error(
        "{0} repeats within a day, and such rules lose or repeat hours when clocks change. Use DAILY, WEEKLY, MONTHLY or YEARLY; BYHOUR gives \
         a day several times."
    )]
    TooFine(String),
    /// One part of it is wrong.
    #[error("The rule cannot be read: {0}.")]
    Unreadable(String),
    /// It never comes round.
    #[error("That rule has no date in the next 10 years.")]
    Never,
}

/// A rule with its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recurrence {
    rule: String,
    zone: Tz,
    start: NaiveDateTime,
}

/// True if a text in place of a rule says that a task does not come round.
pub fn is_no_rule(text: &str) -> bool {
    NO_RULE.iter().any(|none| text.trim().eq_ignore_ascii_case(none))
}

impl Recurrence {
    /// The rule that a text is. It counts from `start`, which gives the time of day, and the day if
    /// the rule names none.
    ///
    /// # Errors
    /// If the text is no rule, or one without a date within 10 years from `now`.
    pub fn new(text: &str, zone: Tz, start: DateTime<Utc>, now: DateTime<Utc>) -> Result<Self, RuleRefusal> {
        let recurrence = Self::of(text, zone, wall_of(zone, start))?;
        match recurrence.next(now) {
            Some(_) => Ok(recurrence),
            None => Err(RuleRefusal::Never),
        }
    }

    /// The same rule as it was kept: its text, and its beginning on the clock of the zone. It may
    /// have come to its end since.
    ///
    /// # Errors
    /// If the text is no rule.
    pub fn of(text: &str, zone: Tz, start: NaiveDateTime) -> Result<Self, RuleRefusal> {
        let start = start.with_nanosecond(0).unwrap_or(start);
        let recurrence = Self { rule: normal(text)?, zone, start };
        recurrence.dates()?;
        Ok(recurrence)
    }

    /// The text to keep.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The zone whose clocks count.
    pub fn zone(&self) -> Tz {
        self.zone
    }

    /// Its beginning on the clock of the zone.
    pub fn start(&self) -> NaiveDateTime {
        self.start
    }

    /// The first date after a moment; `None` if 10 years from there have none.
    pub fn next(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.upcoming(after, 1).first().copied()
    }

    /// The first dates after a moment, so many at most, in their order; none beyond 10 years from
    /// there.
    pub fn upcoming(&self, after: DateTime<Utc>, most: usize) -> Vec<DateTime<Utc>> {
        let here = wall_of(self.zone, after);
        let (Some(begin), Some(end)) = (here.checked_sub_signed(LONGEST_JUMP), here.checked_add_months(HORIZON)) else {
            return Vec::new();
        };
        let mut found: BTreeSet<DateTime<Utc>> = BTreeSet::new();
        // Without the bound, some rules without a date are looked through for ever.
        let dates = self.dates().map(RRuleSet::limit);
        for wall in dates.iter().flatten().map(|date| date.naive_utc()).skip_while(|wall| *wall < begin) {
            // A time that moved on over a gap may pass others: all that could come before it are
            // looked at.
            let is_late = |last: &DateTime<Utc>| wall > wall_of(self.zone, *last);
            if wall > end || found.len() >= most && found.iter().nth(most.saturating_sub(1)).is_some_and(is_late) {
                break;
            }
            let moment = instant_of(self.zone, wall);
            if moment > after {
                found.insert(moment);
            }
        }
        found.into_iter().take(most).collect()
    }

    /// Its dates on the clock on the wall, which the library takes for UTC.
    fn dates(&self) -> Result<RRuleSet, RuleRefusal> {
        let start = rrule::Tz::UTC.from_utc_datetime(&self.start);
        let unreadable = |error: rrule::RRuleError| RuleRefusal::Unreadable(error.to_string().trim_end_matches('.').to_owned());
        let parts = self.parts();
        let ends = parts.split(';').find_map(|part| part.strip_prefix("UNTIL="));
        let until = ends.map(|until| last_wall_time(until, self.zone)).transpose()?;
        // A rule that is over before it begins is an error to the library.
        if until.is_some_and(|until| until < self.start) {
            return Err(RuleRefusal::Never);
        }
        let kept: Vec<_> = parts.split(';').filter(|part| !part.starts_with("UNTIL=")).collect();
        let mut rule: RRule<Unvalidated> = kept.join(";").parse().map_err(unreadable)?;
        if let Some(until) = until {
            rule = rule.until(rrule::Tz::UTC.from_utc_datetime(&until));
        }
        rule.build(start).map_err(unreadable)
    }

    /// The rule as calendars write it. If a month is too short, `monthly` and `yearly` mean its
    /// last day; an RRULE passes such a month over.
    fn parts(&self) -> String {
        let day = self.start.day();
        let or_last = |from: u32| {
            let days: Vec<_> = (from..=day).map(|day| day.to_string()).collect();
            format!("BYMONTHDAY={};BYSETPOS=-1", days.join(","))
        };
        match self.rule.as_str() {
            "daily" => "FREQ=DAILY".to_owned(),
            "weekdays" => "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR".to_owned(),
            "weekly" => "FREQ=WEEKLY".to_owned(),
            "monthly" if day > 28 => format!("FREQ=MONTHLY;{}", or_last(28)),
            "monthly" => "FREQ=MONTHLY".to_owned(),
            "yearly" if day == 29 && self.start.month() == 2 => format!("FREQ=YEARLY;BYMONTH=2;{}", or_last(28)),
            "yearly" => "FREQ=YEARLY".to_owned(),
            parts => parts.to_owned(),
        }
    }
}

/// The one way to write a rule: a word in small letters, or parts in capitals.
fn normal(text: &str) -> Result<String, RuleRefusal> {
    let text = text.trim();
    if text.len() > MOST_RULE_BYTES {
        return Err(RuleRefusal::TooLong(text.len()));
    }
    let word = text.to_lowercase();
    if ["daily", "weekdays", "weekly", "monthly", "yearly"].contains(&word.as_str()) {
        return Ok(word);
    }
    let rule = text.to_uppercase();
    let rule = rule.strip_prefix("RRULE:").unwrap_or(&rule).trim_end_matches(';');
    if !rule.is_ascii() || !rule.contains('=') {
        return Err(RuleRefusal::Unknown(text.to_owned()));
    }
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for part in rule.split(';') {
        let unreadable = |why: &str| RuleRefusal::Unreadable(format!("`{part}` {why}"));
        let (name, value) = part.split_once('=').ok_or_else(|| unreadable("has no `=`"))?;
        if !PARTS.contains(&name) {
            return Err(unreadable("is no part of a rule"));
        }
        if value.is_empty() || !value.chars().all(|c| c.is_ascii_alphanumeric() || ",+-".contains(c)) {
            return Err(unreadable("has no value that can be read"));
        }
        if seen.iter().any(|(known, _)| *known == name) {
            return Err(unreadable("stands there twice"));
        }
        seen.push((name, value));
    }
    looked_through(&seen)?;
    Ok(rule.to_owned())
}

/// Refuses the parts that the library takes for something else than they say.
fn looked_through(parts: &[(&str, &str)]) -> Result<(), RuleRefusal> {
    let value = |name: &str| parts.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let unreadable = |why: String| Err(RuleRefusal::Unreadable(why));
    let frequency = value("FREQ").unwrap_or_default();
    match frequency {
        "DAILY" | "WEEKLY" | "MONTHLY" | "YEARLY" => {}
        "HOURLY" | "MINUTELY" | "SECONDLY" => return Err(RuleRefusal::TooFine(frequency.to_owned())),
        _ => return unreadable("FREQ has to be DAILY, WEEKLY, MONTHLY or YEARLY".to_owned()),
    }
    for name in ["INTERVAL", "COUNT"] {
        if value(name).is_some_and(|number| !number.parse::<u16>().is_ok_and(|number| number > 0)) {
            return unreadable(format!("{name} has to be a number from 1 to {}", u16::MAX));
        }
    }
    for name in ["BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS"] {
        if value(name).is_some_and(|numbers| numbers.split(',').any(|number| number.parse() == Ok(0))) {
            return unreadable(format!("{name} counts from 1, or back from -1, and 0 is neither"));
        }
    }
    for day in value("BYDAY").into_iter().flat_map(|days| days.split(',')) {
        let Some((number, _)) = day.len().checked_sub(2).map(|at| day.split_at(at)).filter(|(_, name)| is_weekday(name)) else {
            return unreadable(format!("`{day}` is no day of the week (MO, TU, WE, TH, FR, SA, SU)"));
        };
        if number.is_empty() {
            continue;
        }
        if !number.parse::<i16>().is_ok_and(|number| number != 0) {
            return unreadable(format!("`{day}` has a number that counts no day"));
        }
        if ["DAILY", "WEEKLY"].contains(&frequency) || value("BYWEEKNO").is_some() {
            return unreadable(format!("`{day}` counts days of a month or a year, and FREQ={frequency} has none to count"));
        }
    }
    Ok(())
}

fn is_weekday(name: &str) -> bool {
    ["MO", "TU", "WE", "TH", "FR", "SA", "SU"].contains(&name)
}

/// The last time on the wall that an `UNTIL` allows: a date means its whole day, a `Z` means UTC.
fn last_wall_time(until: &str, zone: Tz) -> Result<NaiveDateTime, RuleRefusal> {
    let unreadable = || RuleRefusal::Unreadable(format!("`UNTIL={until}` is no date such as 20271231 or 20271231T090000Z"));
    let (date, time) = until.split_once('T').unwrap_or((until, "235959"));
    let time_alone = time.strip_suffix('Z').unwrap_or(time);
    let digits = |text: &str, many: usize| text.len() == many && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(date, 8) || !digits(time_alone, 6) {
        return Err(unreadable());
    }
    let day = NaiveDate::parse_from_str(date, "%Y%m%d").map_err(|_| unreadable())?;
    let wall = day.and_time(NaiveTime::parse_from_str(time_alone, "%H%M%S").map_err(|_| unreadable())?);
    Ok(if time.ends_with('Z') { wall_of(zone, wall.and_utc()) } else { wall })
}

#[cfg(test)]
mod tests;
