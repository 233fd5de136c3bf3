//! Tests of `domain::todo::quota`.

use chrono::TimeDelta;

use super::super::time::tests::{ZONES, wall};
use super::*;

#[test]
fn a_tier_has_so_much_until_somebody_changes_it() {
    let (free, paid) = (Tier::Free.first_limits(), Tier::Paid.first_limits());
    assert_eq!([free.messages_left(0), free.messages_left(99), free.messages_left(100)], [Some(100), Some(1), Some(0)]);
    assert_eq!([free.one_more_message(99), free.one_more_message(100)], [Ok(()), Err(QuotaReached::Messages)]);
    assert_eq!([paid.one_more_message(499), paid.one_more_message(500)], [Ok(()), Err(QuotaReached::Messages)]);
    assert_eq!([free.more_voice(0), paid.more_voice(0)], [Err(QuotaReached::Voice), Ok(())]);
    assert_eq!([paid.more_voice(3_599), paid.more_voice(3_600)], [Ok(()), Err(QuotaReached::Voice)]);
    assert_eq!(paid.voice_seconds_left(3_000), Some(600));
    // A limit that was lowered below what is used up.
    assert_eq!(TierLimits { messages_per_day: Some(3), ..free }.messages_left(7), Some(0));
    let without: TierLimits = serde_json::from_str(r#"{"messages_per_day":null,"voice_minutes_per_month":null}"#).unwrap();
    assert_eq!((without.one_more_message(u32::MAX), without.more_voice(u64::MAX)), (Ok(()), Ok(())));
    assert_eq!(QuotaReached::Messages.to_string(), "You've reached your daily message limit.");
    assert_eq!(QuotaReached::MessagesOfTier.to_string(), "You've reached your daily message limit. Upgrade for more!");
    assert_eq!(QuotaReached::Voice.to_string(), "You've used your voice minutes for this month.");
}

#[test]
fn a_day_begins_at_midnight_of_the_persons_own_clock() {
    for (zone, now, day, month, midnight) in [
        (Tz::Europe__Rome, "2026-11-30T22:59", "2026-11-30", "2026-11-01", "2026-11-30T23:00"),
        (Tz::Europe__Rome, "2026-11-30T23:00", "2026-12-01", "2026-12-01", "2026-12-01T23:00"),
        (Tz::Pacific__Apia, "2026-11-30T11:00", "2026-12-01", "2026-12-01", "2026-12-01T11:00"),
        (Tz::America__New_York, "2026-12-01T04:59", "2026-11-30", "2026-11-01", "2026-12-01T05:00"),
        // Midnight itself was skipped: the day began at one.
        (Tz::America__Sao_Paulo, "2018-11-04T02:59", "2018-11-03", "2018-11-01", "2018-11-04T03:00"),
    ] {
        let now = wall(now).and_utc();
        let told = (local_day(zone, now).to_string(), local_month(zone, now).to_string(), next_midnight(zone, now));
        assert_eq!(told, (day.to_owned(), month.to_owned(), wall(midnight).and_utc()), "{zone} {now}");
    }
}

#[test]
fn at_the_next_midnight_it_is_the_next_day_and_not_before() {
    for zone in ZONES {
        let mut now = wall("2011-01-01T00:07").and_utc();
        for _ in 0..800 {
            let (day, midnight) = (local_day(zone, now), next_midnight(zone, now));
            assert!(midnight > now && local_day(zone, midnight) > day, "{zone} {now}");
            // Clocks that are put back at midnight show the end of the day once more.
            let before = local_day(zone, midnight - TimeDelta::seconds(1));
            assert!(before == day, "{zone} {now} {before}");
            now += TimeDelta::hours(11);
        }
    }
}

#[test]
fn a_message_has_2000_tokens_at_most() {
    assert_eq!([fits_one_message(""), fits_one_message(&"x".repeat(8_000))], [Ok(()), Ok(())]);
    assert_eq!(fits_one_message(&"x".repeat(8_001)), Err(LongMessage(2_001)));
    assert_eq!(fits_one_message(&"ü".repeat(4_001)), Err(LongMessage(2_001)), "bytes count");
    assert_eq!(
        LongMessage(2_001).to_string(),
        "Your message has about 2001 tokens, and 2000 is the most. Please make it shorter."
    );
}
