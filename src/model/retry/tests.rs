//! Tests of `model::retry`.

use super::*;
use crate::clock::SeededRandom;

const POLICY: RetryPolicy = RetryPolicy {
    retries: 3,
    base: Duration::from_millis(500),
    longest: Duration::from_secs(30),
    loading: Duration::from_secs(120),
};

fn pause(again: Again, failures: u32) -> Result<Duration, String> {
    pause_after(again, failures, Duration::from_secs(1))
}

fn pause_after(again: Again, failures: u32, gone: Duration) -> Result<Duration, String> {
    let error = ModelError::new(ModelErrorKind::Server, "It failed.");
    POLICY
        .pause(FailedAttempt { error, again, wrote: None, within_stream: false }, failures, gone, &SeededRandom::new(1))
        .map_err(|error| error.message)
}

#[test]
fn pauses_double_and_vary_between_half_and_whole() {
    for (failures, step) in [(1, 500), (2, 1000), (3, 2000)] {
        let pause = pause(Again::Later(None), failures).unwrap().as_millis();
        assert!((step / 2..=step).contains(&pause), "{pause}");
    }
    assert_eq!(pause(Again::Later(None), 4), Err("It failed. Tried 4 times.".into()));
}

#[test]
fn what_cannot_be_mended_is_not_tried_again_and_what_took_long_only_once() {
    assert_eq!(pause(Again::Never, 1), Err("It failed.".into()));
    assert!(pause(Again::Once, 1).is_ok());
    assert_eq!(pause(Again::Once, 2), Err("It failed. Tried 2 times.".into()));
}

#[test]
fn a_model_may_be_loaded_for_two_minutes_however_often_that_is_asked() {
    let asked = |seconds| pause_after(Again::Loaded, 100, Duration::from_secs(seconds));
    assert_eq!(asked(119), Ok(Duration::from_secs(1)));
    assert_eq!(asked(120), Err("It failed. It was waited for: try again when it is there.".into()));
}

#[test]
fn a_server_may_ask_for_half_a_minute_and_no_more() {
    assert_eq!(pause(Again::Later(Some(Duration::from_secs(30))), 1), Ok(Duration::from_secs(30)));
    let error = pause(Again::Later(Some(Duration::from_secs(3600))), 1).unwrap_err();
    assert_eq!(error, "It failed. It asks to wait 60 minutes: try again then.");
}

#[test]
fn retry_after_is_seconds_milliseconds_or_a_date() {
    let now = DateTime::parse_from_rfc3339("2026-11-20T06:30:00Z").unwrap().to_utc();
    let asked = |name: &'static str, value: &str| {
        let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
        asked_pause(&headers, now).map(|pause| pause.as_millis())
    };
    assert_eq!(asked("retry-after", "2"), Some(2000));
    assert_eq!(asked("retry-after", " 1.5 "), Some(1500));
    assert_eq!(asked("retry-after-ms", "250"), Some(250));
    assert_eq!(asked("retry-after", "Fri, 20 Nov 2026 06:30:07 GMT"), Some(7000));
    assert_eq!(asked("retry-after", "Fri, 20 Nov 2026 06:29:00 GMT"), Some(0));
    assert_eq!(asked("retry-after", "1e300"), Some(320_000_000_000));
    for nonsense in ["-1", "soon", "NaN", "inf"] {
        assert_eq!(asked("retry-after", nonsense), None, "{nonsense}");
    }
}
