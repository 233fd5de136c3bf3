//! Tiers, and how much of them is left. A day and a month are those of a person's own clock.

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::time::{instant_of, wall_of};
use crate::domain::Tier;

/// The most tokens of a message that a person sends.
pub const MOST_INPUT_TOKENS: usize = 2_000;
/// So many bytes count as one token.
const BYTES_PER_TOKEN: usize = 4;

/// The limits of a tier. `None`: no limit. Both are to be written, since one that was left out
/// would be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierLimits {
    /// Messages in a day.
    #[serde(deserialize_with = "Option::deserialize")]
    pub messages_per_day: Option<u32>,
    /// Minutes of voice in a month.
    #[serde(deserialize_with = "Option::deserialize")]
    pub voice_minutes_per_month: Option<u32>,
}

impl Tier {
    /// The limits that hold until somebody changes them.
    pub fn first_limits(self) -> TierLimits {
        match self {
            Self::Free => TierLimits { messages_per_day: Some(100), voice_minutes_per_month: Some(0) },
            Self::Paid => TierLimits { messages_per_day: Some(500), voice_minutes_per_month: Some(60) },
        }
    }
}

/// A limit is reached, in the words that the person reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuotaReached {
    /// The messages of the day.
    #[error("You've reached your daily message limit.")]
    Messages,
    /// The messages of the day, and another tier would allow one more.
    #[error("You've reached your daily message limit. Upgrade for more!")]
    MessagesOfTier,
    /// The voice of the month.
    #[error("You've used your voice minutes for this month.")]
    Voice,
}

impl TierLimits {
    /// How many messages are left of the day; `None`: as many as one likes.
    pub fn messages_left(self, sent_today: u32) -> Option<u32> {
        self.messages_per_day.map(|most| most.saturating_sub(sent_today))
    }

    /// How many seconds of voice are left of the month; `None`: as many as one likes.
    pub fn voice_seconds_left(self, seconds_this_month: u64) -> Option<u64> {
        self.voice_minutes_per_month.map(|most| (u64::from(most) * 60).saturating_sub(seconds_this_month))
    }

    /// Allows one more message.
    ///
    /// # Errors
    /// If none is left.
    pub fn one_more_message(self, sent_today: u32) -> Result<(), QuotaReached> {
        if self.messages_left(sent_today) == Some(0) { Err(QuotaReached::Messages) } else { Ok(()) }
    }

    /// Allows a call to begin, or to go on.
    ///
    /// # Errors
    /// If no second is left.
    pub fn more_voice(self, seconds_this_month: u64) -> Result<(), QuotaReached> {
        if self.voice_seconds_left(seconds_this_month) == Some(0) { Err(QuotaReached::Voice) } else { Ok(()) }
    }
}

/// The day that a message counts for.
pub fn local_day(zone: Tz, now: DateTime<Utc>) -> NaiveDate {
    wall_of(zone, now).date()
}

/// The first day of the month that a call counts for.
pub fn local_month(zone: Tz, now: DateTime<Utc>) -> NaiveDate {
    let day = local_day(zone, now);
    day.with_day(1).unwrap_or(day)
}

/// The moment from which messages count for another day.
pub fn next_midnight(zone: Tz, now: DateTime<Utc>) -> DateTime<Utc> {
    let day = local_day(zone, now);
    instant_of(zone, day.succ_opt().unwrap_or(day).and_time(NaiveTime::MIN))
}

/// A message is longer than a person may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Your message has about {0} tokens, and {MOST_INPUT_TOKENS} is the most. Please make it shorter.")]
pub struct LongMessage(pub usize);

/// Allows a text that is short enough to be sent.
///
/// # Errors
/// If it is not: how many tokens it has.
pub fn fits_one_message(text: &str) -> Result<(), LongMessage> {
    let tokens = text.len().div_ceil(BYTES_PER_TOKEN);
    if tokens <= MOST_INPUT_TOKENS { Ok(()) } else { Err(LongMessage(tokens)) }
}

#[cfg(test)]
mod tests;
