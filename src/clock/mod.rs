//! Time and randomness as arguments: the real ones for the program, ones a test turns by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::BoxFuture;
use tokio::sync::Notify;

/// Tells the time and wakes sleepers. Deadlines that guard against a hanging peer are real time and
/// do not come from here.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> DateTime<Utc>;

    /// Completes when `now()` has reached `at`; at once when it already has.
    fn sleep_until(&self, at: DateTime<Utc>) -> BoxFuture<'static, ()>;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> DateTime<Utc> {
        // Postgres keeps microseconds: a time that is stored must compare equal to the one kept in
        // memory.
        let now = Utc::now() + shift();
        DateTime::from_timestamp_micros(now.timestamp_micros()).unwrap_or(now)
    }

    #[expect(clippy::disallowed_methods, reason = "the clock itself")]
    fn sleep_until(&self, at: DateTime<Utc>) -> BoxFuture<'static, ()> {
        let clock = *self;
        Box::pin(async move {
            // In slices, so that a machine that was suspended, or whose clock was set, wakes at the
            // right time of day.
            const SLICE: std::time::Duration = std::time::Duration::from_secs(30);
            while let Ok(left) = (at - clock.now()).to_std() {
                if left.is_zero() {
                    break;
                }
                tokio::time::sleep(left.min(SLICE)).await;
            }
        })
    }
}

/// How far a story turned the clock of its server, in the seconds of `LEVEL3_CLOCK_SHIFT`: data of
/// an older version have questions that wait for a day. Debug builds only.
#[cfg(debug_assertions)]
#[expect(clippy::disallowed_methods, reason = "as a failpoint is armed")]
fn shift() -> TimeDelta {
    static SHIFT: std::sync::LazyLock<TimeDelta> = std::sync::LazyLock::new(|| {
        let set = std::env::var("LEVEL3_CLOCK_SHIFT").ok().and_then(|seconds| seconds.parse().ok());
        set.and_then(TimeDelta::try_seconds).unwrap_or_default()
    });
    *SHIFT
}

#[cfg(not(debug_assertions))]
fn shift() -> TimeDelta {
    TimeDelta::zero()
}

/// A clock that stands still until [`ManualClock::advance`].
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Manual>>);

#[derive(Debug)]
struct Manual {
    now: DateTime<Utc>,
    sleepers: BTreeMap<DateTime<Utc>, Arc<Notify>>,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: DateTime<Utc>) -> Self {
        Self(Arc::new(Mutex::new(Manual { now, sleepers: BTreeMap::new() })))
    }

    /// Moves time forward and wakes everyone whose moment has come.
    pub fn advance(&self, by: TimeDelta) {
        let mut manual = self.lock();
        manual.now += by;
        let now = manual.now;
        manual.sleepers.retain(|at, sleepers| {
            let due = *at <= now;
            if due {
                sleepers.notify_waiters();
            }
            !due
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Manual> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        self.lock().now
    }

    fn sleep_until(&self, at: DateTime<Utc>) -> BoxFuture<'static, ()> {
        let mut manual = self.lock();
        if at <= manual.now {
            return Box::pin(std::future::ready(()));
        }
        let due = Arc::clone(manual.sleepers.entry(at).or_default());
        let woken = due.notified_owned();
        Box::pin(woken)
    }
}

/// Gives random bytes.
pub trait Random: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// The machine's own source of randomness, fit for keys and tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's randomness")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}

/// A sequence that is the same for the same seed (splitmix64, Steele, Lea and Flood 2014); for
/// tests.
#[derive(Debug)]
pub struct SeededRandom(Mutex<u64>);

impl SeededRandom {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }
}

impl Random for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in bytes.chunks_mut(8) {
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = *state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            chunk.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests;
