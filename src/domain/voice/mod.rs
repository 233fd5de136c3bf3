//! Calls with Law: by which adapter, why one ended, until when it goes without a sign, and its
//! seconds.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::turn::text_enum;

/// A call without a beat for so long has ended, at its last beat.
pub const SILENCE: TimeDelta = TimeDelta::seconds(30);
/// The page beats so often.
pub const BEAT_SECONDS: u32 = 10;
/// So long before the end of the month's minutes Law says so.
pub const WARNED_SECONDS: u64 = 60;

text_enum! {
    /// The ears and the mouth of a call.
    VoiceAdapter {
        /// The browser's own recogniser and voices.
        Browser = "browser",
        /// Speech servers that the operator has set up.
        Own = "own",
        /// Vapi, which asks this server for the words.
        Vapi = "vapi",
    }
}

text_enum! {
    /// Why a call ended.
    VoiceEnd {
        /// The person hung up.
        HungUp = "hung_up",
        /// Another tab of the person's took it over.
        TakenOver = "taken_over",
        /// The page was not heard of any more.
        Silent = "silent",
        /// The minutes of the month are used up.
        Minutes = "minutes",
        /// The page could not go on.
        Failed = "failed",
    }
}

/// The language of what the server says itself in a call: Portuguese, and English for everybody
/// else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum VoiceLanguage {
    /// Also for a language that has no words here.
    #[default]
    English,
    /// Of any country.
    Portuguese,
}

impl VoiceLanguage {
    /// The language of a tag such as `pt-BR`.
    pub fn of(tag: &str) -> Self {
        let language = tag.split(['-', '_']).next().unwrap_or_default();
        if language.eq_ignore_ascii_case("pt") { Self::Portuguese } else { Self::English }
    }

    /// Its tag.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Portuguese => "pt",
        }
    }
}

impl From<String> for VoiceLanguage {
    fn from(tag: String) -> Self {
        Self::of(&tag)
    }
}

impl From<VoiceLanguage> for String {
    fn from(language: VoiceLanguage) -> Self {
        language.tag().to_owned()
    }
}

impl VoiceEnd {
    /// In words for the person.
    pub fn words(self) -> &'static str {
        match self {
            Self::HungUp | Self::Silent => "Call ended",
            Self::TakenOver => "Call ended here: it goes on in another tab",
            Self::Minutes => "You've used your voice minutes for this month.",
            Self::Failed => "Call ended: the voice of this browser failed",
        }
    }
}

/// How a call that is still open ends by itself, and when: at its last beat if none came for long,
/// or when the minutes are used up.
pub fn ended_by_itself(
    beat_at: DateTime<Utc>,
    limit_at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Option<(VoiceEnd, DateTime<Utc>)> {
    let silent_at = beat_at + SILENCE;
    match limit_at {
        Some(limit) if limit <= now && limit <= silent_at => Some((VoiceEnd::Minutes, limit)),
        _ => (silent_at <= now).then_some((VoiceEnd::Silent, beat_at)),
    }
}

/// The seconds that a call had, if somebody else reports them: never more than half a minute beyond
/// what was counted here.
pub fn reported_seconds(counted: i64, reported: i64) -> i64 {
    reported.clamp(0, counted + SILENCE.num_seconds())
}

/// The whole seconds that a call counts at `now`, and the moment from which the next count begins:
/// what is left of a second is not lost.
pub fn counted(from: DateTime<Utc>, now: DateTime<Utc>) -> (i64, DateTime<Utc>) {
    let seconds = (now - from).num_seconds().max(0);
    (seconds, from + TimeDelta::seconds(seconds))
}

/// A month as seconds are kept by it.
pub fn month_key(first_day: NaiveDate) -> String {
    first_day.format("%Y-%m").to_string()
}

#[cfg(test)]
mod tests;
