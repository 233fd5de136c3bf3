//! Times as people write them, in their own zone.
//!
//! A wall time is what a clock on the wall shows. If clocks skip it, it moves on by the gap; if
//! clocks show it twice, the first is meant.

use chrono::{DateTime, FixedOffset, LocalResult, NaiveDate, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// The zone of clocks that show UTC.
pub const UTC: Tz = Tz::UTC;

/// The zone of an IANA name, such as `Europe/Rome`.
///
/// # Errors
/// A sentence, if there is none.
pub fn zone_named(name: &str) -> Result<Tz, String> {
    let known = name.trim().parse::<Tz>();
    known.map_err(|_| format!("`{}` is no time zone; write an IANA name such as Europe/Rome", name.trim()))
}

/// The moment at which clocks in the zone show this time.
pub fn instant_of(zone: Tz, wall: NaiveDateTime) -> DateTime<Utc> {
    match zone.from_local_datetime(&wall) {
        LocalResult::Single(moment) | LocalResult::Ambiguous(moment, _) => moment.to_utc(),
        // Read with the offset from before the gap, a time inside it moves on by the gap.
        LocalResult::None => (wall - before_gap(zone, wall)).and_utc(),
    }
}

/// The offset that clocks kept before they skipped this time. The longest gap there was is one day.
fn before_gap(zone: Tz, wall: NaiveDateTime) -> FixedOffset {
    const STEP: TimeDelta = TimeDelta::minutes(15);
    let shown = (1..=200).find_map(|steps| zone.from_local_datetime(&wall.checked_sub_signed(STEP * steps)?).latest());
    shown.map_or(Utc.fix(), |moment| moment.offset().fix())
}

/// The time that clocks in the zone show at a moment.
pub fn wall_of(zone: Tz, moment: DateTime<Utc>) -> NaiveDateTime {
    moment.with_timezone(&zone).naive_local()
}

/// How far a moment is from a date as clocks on the wall show it. Something that keeps this
/// distance while its date moves stays “the evening before”.
pub fn distance_of(zone: Tz, moment: DateTime<Utc>, date: DateTime<Utc>) -> TimeDelta {
    wall_of(zone, moment) - wall_of(zone, date)
}

/// The moment at this distance from a date, as clocks on the wall show it.
pub fn moment_at(zone: Tz, date: DateTime<Utc>, distance: TimeDelta) -> Option<DateTime<Utc>> {
    Some(instant_of(zone, wall_of(zone, date).checked_add_signed(distance)?))
}

/// The first moment from now on at which clocks in the zone show the time of day of another one.
pub fn at_the_hour_of(zone: Tz, moment: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    let (today, hour) = (wall_of(zone, now).date(), wall_of(zone, moment).time());
    let days = [Some(today), today.succ_opt()].into_iter().flatten();
    days.map(|day| instant_of(zone, day.and_time(hour))).find(|at| *at > now).unwrap_or(now)
}

/// The reason for which a text is no time to be reminded at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeRefusal {
    /// It is no ISO 8601 date with a time.
    #[error("`{0}` is no time I can read. Write it like 2026-11-20T09:30, or with an offset like 2026-11-20T09:30+01:00.")]
    Unreadable(String),
    /// A date alone.
    #[error("`{0}` has no time of day. Write it like 2026-11-20T09:30.")]
    DateAlone(String),
    /// It is over; the time that it is now, in the person's zone.
    #[error("That time has passed: it is {} now.", .0.format("%Y-%m-%d %H:%M"))]
    Past(NaiveDateTime),
}

/// The moment that an ISO 8601 text names. Without an offset it is a time in the person's zone.
///
/// # Errors
/// [`TimeRefusal::Unreadable`] or [`TimeRefusal::DateAlone`].
pub fn written_time(text: &str, zone: Tz) -> Result<DateTime<Utc>, TimeRefusal> {
    let text = text.trim();
    let unreadable = || TimeRefusal::Unreadable(text.chars().take(40).collect());
    // Chrono reads years of any length, which nothing else here can keep.
    if !text.is_ascii() || text.len() > 40 || text.split('-').next().is_none_or(|year| year.len() != 4) {
        return Err(unreadable());
    }
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Err(TimeRefusal::DateAlone(day.to_string()));
    }
    let text = text.to_ascii_uppercase().replacen(' ', "T", 1);
    if let Some(utc) = text.strip_suffix('Z') {
        return wall_time(utc).map(|wall| wall.and_utc()).ok_or_else(unreadable);
    }
    let written = |format: &&str| DateTime::parse_from_str(&text, format).ok();
    if let Some(moment) = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z"].iter().find_map(written) {
        return Ok(moment.to_utc());
    }
    wall_time(&text).map(|wall| instant_of(zone, wall)).ok_or_else(unreadable)
}

/// A date and a time without an offset.
fn wall_time(text: &str) -> Option<NaiveDateTime> {
    let read = |format: &&str| NaiveDateTime::parse_from_str(text, format).ok();
    ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"].iter().find_map(read)
}

/// The moment of a reminder: as [`written_time`], and still to come.
///
/// # Errors
/// If the text names no such moment.
pub fn reminder_time(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<DateTime<Utc>, TimeRefusal> {
    let moment = written_time(text, zone)?;
    if moment > now { Ok(moment) } else { Err(TimeRefusal::Past(wall_of(zone, now))) }
}

#[cfg(test)]
pub(super) mod tests;
