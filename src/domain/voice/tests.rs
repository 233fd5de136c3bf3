//! Ends of calls, and their seconds.

use proptest::prelude::*;

use super::*;

fn at(millis: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::milliseconds(millis)
}

#[test]
fn silence_ends_a_call_at_its_last_beat_and_the_minutes_end_it_when_they_are_used_up() {
    let end = |limit: Option<i64>, now: i64| ended_by_itself(at(10_000), limit.map(at), at(now));
    assert_eq!(end(None, 39_999), None);
    assert_eq!(end(None, 40_000), Some((VoiceEnd::Silent, at(10_000))));
    assert_eq!(end(Some(25_000), 24_999), None);
    assert_eq!(end(Some(25_000), 25_000), Some((VoiceEnd::Minutes, at(25_000))));
    // A server that comes back late finds the earlier of both.
    assert_eq!(end(Some(25_000), 900_000), Some((VoiceEnd::Minutes, at(25_000))));
    assert_eq!(end(Some(41_000), 900_000), Some((VoiceEnd::Silent, at(10_000))));
}

#[test]
fn a_tag_of_any_country_says_the_language_and_an_unknown_one_is_english() {
    for (tag, language) in
        [("pt", "pt"), ("pt-BR", "pt"), ("PT_pt", "pt"), ("en-US", "en"), ("de", "en"), ("ptx", "en"), ("", "en")]
    {
        assert_eq!(VoiceLanguage::of(tag).tag(), language, "{tag}");
    }
    assert_eq!(serde_json::from_str::<VoiceLanguage>("\"pt-BR\"").unwrap(), VoiceLanguage::Portuguese);
    assert_eq!(serde_json::to_string(&VoiceLanguage::Portuguese).unwrap(), "\"pt\"");
}

#[test]
fn a_month_is_a_year_and_two_digits() {
    assert_eq!(month_key(NaiveDate::from_ymd_opt(2026, 3, 1).unwrap()), "2026-03");
}

proptest! {
    #[test]
    fn however_often_it_is_counted_no_second_is_lost_or_counted_twice(steps in prop::collection::vec(0..20_000i64, 1..50)) {
        let (mut from, mut now, mut sum) = (at(0), at(0), 0);
        for step in &steps {
            now += TimeDelta::milliseconds(*step);
            let (seconds, next) = counted(from, now);
            prop_assert!(next <= now && now - next < TimeDelta::seconds(1));
            (from, sum) = (next, sum + seconds);
        }
        prop_assert_eq!(sum, (now - at(0)).num_seconds());
    }
}
