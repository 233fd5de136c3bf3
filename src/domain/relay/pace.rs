//! When a message may leave: limits per contact and per channel, gaps that are not regular, and
//! quiet hours. Pure: time and chance are arguments.

use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::domain::todo::{instant_of, wall_of};
use crate::domain::turn::text_enum;

/// The settings. Each default is a floor: a value that is laxer needs `i_know`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pace {
    /// Seconds between two messages to one contact, at least.
    pub contact_gap_seconds: u32,
    /// The most messages to one contact in ten minutes.
    pub contact_per_10_minutes: u32,
    /// The most messages of a channel in a minute.
    pub channel_per_minute: u32,
    /// The most messages of a channel in 24 hours.
    pub channel_per_day: u32,
    /// The most first messages to new contacts in 24 hours.
    pub first_contacts_per_day: u32,
    /// When quiet hours begin, on the contact's clock.
    pub quiet_from: WallTime,
    /// When they end; the same time as the beginning means that there are none.
    pub quiet_until: WallTime,
    /// True if whoever set this knows what laxer limits do to an account.
    pub i_know: bool,
}

/// A time of day, written `HH:MM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WallTime(NaiveTime);

impl TryFrom<String> for WallTime {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        let read = NaiveTime::parse_from_str(&written, "%H:%M");
        read.map(Self).map_err(|_| format!("`{written}` is no time of day like 21:00"))
    }
}

impl From<WallTime> for String {
    fn from(WallTime(time): WallTime) -> Self {
        time.format("%H:%M").to_string()
    }
}

impl Default for Pace {
    fn default() -> Self {
        let at = |hour| WallTime(NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or_default());
        Self {
            contact_gap_seconds: 2,
            contact_per_10_minutes: 10,
            channel_per_minute: 20,
            channel_per_day: 300,
            first_contacts_per_day: 10,
            quiet_from: at(21),
            quiet_until: at(8),
            i_know: false,
        }
    }
}

/// A message that was sent, or may have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastMessage {
    /// When it left.
    pub at: DateTime<Utc>,
    /// To whom.
    pub contact: String,
    /// True if the contact was not known.
    pub first: bool,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct NextMessage {
    /// To whom.
    pub contact: String,
    /// True if the contact is not known: no message reached them, and they did not write.
    pub first: bool,
    /// True if quiet hours hold it back.
    pub keeps_quiet: bool,
    /// The contact's clock.
    pub zone: Tz,
    /// Not before this, if an attempt before has said so.
    pub not_before: Option<DateTime<Utc>>,
    /// How much longer its gap is, from 0 to 1 of half the gap.
    pub chance: f64,
}

text_enum! {
    /// Why a message waits.
    Hold {
        /// The gap to the message before it, to this contact.
        ContactGap = "contact_gap",
        /// So many to this contact in ten minutes.
        ContactLimit = "contact_limit",
        /// So many of the channel in a minute.
        ChannelMinute = "channel_minute",
        /// So many of the channel in a day.
        ChannelDay = "channel_day",
        /// So many first contacts in a day.
        FirstContacts = "first_contacts",
        /// Quiet hours.
        Quiet = "quiet_hours",
        /// An attempt before did not reach the peer.
        Returned = "returned",
        /// Its instance rests.
        Paused = "paused",
        /// The service refused a message, so that the channel makes no first contacts.
        NoFirstContacts = "no_first_contacts",
        /// Its channel is locked, not linked, or not there for another reason.
        NotOnline = "not_online",
    }
}

/// A message that may not go now: why, and until when, if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBack {
    /// Why.
    pub why: Hold,
    /// The first moment at which it may go; `None` if a person has to act before.
    pub until: Option<DateTime<Utc>>,
}

/// Counted within the last so many seconds.
const TEN_MINUTES: TimeDelta = TimeDelta::minutes(10);
const MINUTE: TimeDelta = TimeDelta::minutes(1);
const DAY: TimeDelta = TimeDelta::hours(24);

impl Pace {
    /// The settings as they were written.
    ///
    /// # Errors
    /// A sentence that names the field, if one is laxer than its default and `i_know` does not
    /// stand beside it.
    pub fn read(written: &str) -> Result<Self, String> {
        // An array would be read as the fields in their order.
        if !written.trim_start().starts_with('{') {
            return Err("expected a JSON object, like {\"channel_per_minute\": 5}".to_owned());
        }
        let pace: Self = serde_json::from_str(written).map_err(|error| format!("it cannot be read: {error}"))?;
        match pace.laxer_than(&[Self::default()]) {
            Some(why) if !pace.i_know => Err(why),
            Some(_) | None => Ok(pace),
        }
    }

    /// A sentence on the first setting that is laxer than in each of the others; `None` if none is.
    pub fn laxer_than(&self, others: &[Self]) -> Option<String> {
        let floor = Self::default();
        let most = |pace: &Self| {
            [
                ("contact_per_10_minutes", pace.contact_per_10_minutes),
                ("channel_per_minute", pace.channel_per_minute),
                ("channel_per_day", pace.channel_per_day),
                ("first_contacts_per_day", pace.first_contacts_per_day),
            ]
        };
        let told = |name: &str, is: u32, floor: u32| {
            format!(
                "`{name}` is {is}, and {floor} is what accounts are known to bear; services lock accounts that write more. Take {floor}, or \
                 say \"i_know\": true beside it"
            )
        };
        if others.iter().all(|other| self.contact_gap_seconds < other.contact_gap_seconds) {
            return Some(told("contact_gap_seconds", self.contact_gap_seconds, floor.contact_gap_seconds));
        }
        let is_more = |n: usize, is: u32| others.iter().all(|other| is > most(other)[n].1);
        if let Some((n, (name, is))) = most(self).into_iter().enumerate().find(|(n, (_, is))| is_more(*n, *is)) {
            return Some(told(name, is, most(&floor)[n].1));
        }
        // Quiet hours are written in minutes.
        let mut minutes = (0..24 * 60).filter_map(|minute| NaiveTime::from_num_seconds_from_midnight_opt(minute * 60, 0));
        let is_louder = minutes.any(|time| !self.is_quiet(time) && others.iter().all(|other| other.is_quiet(time)));
        is_louder.then(|| "quiet hours are 21:00 to 08:00 at least; lengthen them, or say \"i_know\": true beside it".to_owned())
    }

    /// True if a time of day lies in the quiet hours.
    fn is_quiet(&self, time: NaiveTime) -> bool {
        let (from, until) = (self.quiet_from.0, self.quiet_until.0);
        match from > until {
            true => time >= from || time < until,
            false => time >= from && time < until,
        }
    }

    /// The end of the quiet hours in which this moment lies on the contact's clock; `None` if it
    /// lies in none.
    pub fn quiet_end(&self, at: DateTime<Utc>, zone: Tz) -> Option<DateTime<Utc>> {
        let (from, until, wall) = (self.quiet_from.0, self.quiet_until.0, wall_of(zone, at));
        let time = wall.time();
        if !self.is_quiet(time) {
            return None;
        }
        let date = if from > until && time >= from { wall.date().succ_opt()? } else { wall.date() };
        // Clocks may be set back within the quiet hours: the end is never in the past.
        Some(instant_of(zone, date.and_time(until)).max(at + TimeDelta::seconds(1)))
    }

    /// The first moment from `at` on that is not in quiet hours.
    pub fn awake(&self, at: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
        self.quiet_end(at, zone).unwrap_or(at)
    }

    /// The first moment at which a message may leave after those of the `past`, and why it has to
    /// wait until then; `None`: now. `past` holds what the channel sent within 24 hours.
    pub fn wait(&self, next: &NextMessage, past: &[PastMessage], now: DateTime<Utc>) -> Option<(DateTime<Utc>, Hold)> {
        let same = || past.iter().filter(|message| message.contact == next.contact);
        let gap = lengthened(TimeDelta::seconds(i64::from(self.contact_gap_seconds)), next.chance);
        // With a limit of so many in a span, the next may come when the last but so many leaves the
        // span.
        let after = |times: Vec<DateTime<Utc>>, most: u32, span: TimeDelta| {
            let mut times = times;
            times.retain(|time| *time > now - span);
            times.sort_unstable();
            if most == 0 {
                return Some(now + span);
            }
            let leaves = times.len().checked_sub(most as usize)?;
            times.get(leaves).map(|time| *time + span)
        };
        let times = |messages: &mut dyn Iterator<Item = &PastMessage>| messages.map(|message| message.at).collect::<Vec<_>>();
        let firsts = || past.iter().filter(|message| message.first);
        let waits = [
            (next.not_before, Hold::Returned),
            (same().map(|message| message.at + gap).max(), Hold::ContactGap),
            (after(times(&mut same()), self.contact_per_10_minutes, TEN_MINUTES).map(|at| at + gap / 2), Hold::ContactLimit),
            (after(times(&mut past.iter()), self.channel_per_minute, MINUTE), Hold::ChannelMinute),
            (after(times(&mut past.iter()), self.channel_per_day, DAY), Hold::ChannelDay),
            (after(times(&mut firsts()), self.first_contacts_per_day, DAY).filter(|_| next.first), Hold::FirstContacts),
        ];
        let latest = waits.into_iter().filter_map(|(at, why)| Some((at?, why))).max_by_key(|(at, _)| *at);
        let latest = latest.filter(|(at, _)| *at > now);
        let from = latest.map_or(now, |(at, _)| at);
        match self.quiet_end(from, next.zone).filter(|_| next.keeps_quiet) {
            Some(end) => Some((end, Hold::Quiet)),
            None => latest,
        }
    }

    /// How long typing is shown before a text to a contact: 25 characters a second, at most 8 s.
    pub fn typing(text: &str) -> TimeDelta {
        let milliseconds = i64::try_from(text.chars().count()).unwrap_or(i64::MAX).saturating_mul(40);
        TimeDelta::milliseconds(milliseconds.min(8_000))
    }
}

/// A gap that is up to half as long again, by chance.
fn lengthened(gap: TimeDelta, chance: f64) -> TimeDelta {
    let more = gap.num_milliseconds() as f64 / 2.0 * chance.clamp(0.0, 1.0);
    gap + TimeDelta::milliseconds(more as i64)
}

#[cfg(test)]
mod tests;
