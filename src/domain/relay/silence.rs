//! When the silence of a contact is over: it says something only while their channel can bring an
//! answer. Pure: the time is an argument.

use chrono::{DateTime, TimeDelta, Utc};

/// So long after a channel came online its service may still bring what it had kept back.
const CATCHES_UP: TimeDelta = TimeDelta::seconds(60);

/// The first moment at which silence on a channel may be acted on, of one that is online since
/// then. For one that is not online it is the time of the next look.
pub fn hears_from(online_since: Option<DateTime<Utc>>, now: DateTime<Utc>) -> DateTime<Utc> {
    online_since.unwrap_or(now) + CATCHES_UP
}

/// The end of a silence that fell due at `due` and is looked at `now`. If nobody looked when it
/// could have been acted on, the machine was asleep: its channel may not know yet that its
/// connection is gone, and catches up like one that has just come online.
pub fn silence_ends(due: DateTime<Utc>, hears_from: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    let due = due.max(hears_from);
    if now - due > CATCHES_UP { now + CATCHES_UP } else { due }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    #[test]
    fn silence_counts_from_a_minute_after_its_channel_came_online() {
        assert_eq!(hears_from(Some(at(100)), at(130)), at(160));
        assert_eq!(hears_from(None, at(130)), at(190), "looked at again while nothing can come");
        assert_eq!(silence_ends(at(120), at(160), at(160)), at(160));
        assert_eq!(silence_ends(at(500), at(160), at(500)), at(500));
    }

    #[test]
    fn a_silence_that_nobody_looked_at_in_time_lasts_a_minute_longer() {
        assert_eq!(silence_ends(at(500), at(160), at(560)), at(500), "a look may be late");
        assert_eq!(silence_ends(at(500), at(160), at(9_000)), at(9_060));
        assert_eq!(silence_ends(at(9_060), at(160), at(9_060)), at(9_060), "once");
    }
}
