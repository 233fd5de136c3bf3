//! When a failed request is sent again, and after how long. The loop is our own and not a
//! library's, since a server's `Retry-After` decides the pause if it is given, and ends the trying
//! if it is too long.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::HeaderMap;

use super::{ModelError, ModelErrorKind};
use crate::clock::Random;

/// The chance that the same request helps if it is sent again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Again {
    /// None.
    Never,
    /// There is one, once: the failed attempt took long already.
    Once,
    /// There is one; after this pause if the server named one.
    Later(Option<Duration>),
    /// There is one as soon as the server has loaded its model.
    Loaded,
}

/// A failed attempt.
#[derive(Debug)]
pub(super) struct FailedAttempt {
    /// The error to tell when there is no further attempt.
    pub(super) error: ModelError,
    /// The chance of another attempt.
    pub(super) again: Again,
    /// The model's text, if only the server could not read it.
    pub(super) wrote: Option<String>,
    /// True if the server had begun to answer in pieces and then told of trouble of its own.
    pub(super) within_stream: bool,
}

impl FailedAttempt {
    /// A failure that trying again does not mend.
    pub(super) fn last(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { error: ModelError::new(kind, message), again: Again::Never, wrote: None, within_stream: false }
    }

    /// A failure that may pass.
    pub(super) fn passing(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { again: Again::Later(None), ..Self::last(kind, message) }
    }
}

impl From<ModelError> for FailedAttempt {
    fn from(error: ModelError) -> Self {
        Self { error, again: Again::Never, wrote: None, within_stream: false }
    }
}

/// How often and how fast.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryPolicy {
    /// How often a request is sent again.
    pub(super) retries: u32,
    /// The first pause; each further one is twice as long.
    pub(super) base: Duration,
    /// The longest pause a server may ask for.
    pub(super) longest: Duration,
    /// How long a server may load its model, from the first attempt on.
    pub(super) loading: Duration,
}

impl RetryPolicy {
    /// The pause before the next attempt after `failures` failed ones in the time `gone`, or the
    /// error to end with.
    pub(super) fn pause(
        &self,
        failure: FailedAttempt,
        failures: u32,
        gone: Duration,
        random: &dyn Random,
    ) -> Result<Duration, ModelError> {
        let FailedAttempt { mut error, again, .. } = failure;
        if let Again::Later(asked) = again {
            error.wait = asked;
        }
        let times = |failures: u32| match failures {
            1 => error.message.clone(),
            _ => format!("{} Tried {failures} times.", error.message),
        };
        match again {
            Again::Never => Err(error),
            Again::Loaded if gone < self.loading => Ok(self.base * 2),
            Again::Loaded => {
                error.message = format!("{} It was waited for: try again when it is there.", error.message);
                Err(error)
            }
            Again::Once if failures > 1 => Err(ModelError { message: times(failures), ..error }),
            Again::Later(Some(asked)) if asked > self.longest => {
                error.message = format!("{} It asks to wait {}: try again then.", error.message, in_words(asked));
                Err(error)
            }
            _ if failures > self.retries => Err(ModelError { message: times(failures), ..error }),
            Again::Later(Some(asked)) => Ok(asked),
            Again::Later(None) | Again::Once => Ok(self.jittered(failures, random)),
        }
    }

    /// Between half and the whole of the step, so that clients that failed together do not return
    /// together.
    fn jittered(&self, failures: u32, random: &dyn Random) -> Duration {
        let step = self.base.saturating_mul(1 << (failures - 1).min(6)).min(Duration::from_secs(10));
        let mut bytes = [0; 4];
        random.fill(&mut bytes);
        let share = f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX);
        step.mul_f64(0.5 + share / 2.0)
    }
}

/// The pause a server asks for: `retry-after-ms`, or `Retry-After` as seconds or as a date.
pub(super) fn asked_pause(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    // 10 years is long enough to be "too long", and short enough for every clock.
    let seconds = |seconds: f64| Duration::from_secs_f64(seconds.min(3.2e8));
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(seconds(milliseconds / 1000.0));
    }
    let asked = text("retry-after")?;
    if let Some(asked) = number(asked) {
        return Some(seconds(asked));
    }
    let date = DateTime::parse_from_rfc2822(asked).ok()?;
    Some((date.with_timezone(&Utc) - now).to_std().unwrap_or_default())
}

fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=119 => format!("{seconds} seconds"),
        120..=7199 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests;
