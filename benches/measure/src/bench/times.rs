//! Times, and their percentiles in words.

use std::time::Duration;

/// How long one thing took, again and again.
#[derive(Clone, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// One more.
    pub fn add(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// Those that a database counted, in microseconds.
    pub fn of_micros(micros: &[i64]) -> Self {
        Self(micros.iter().map(|took| Duration::from_micros(took.unsigned_abs())).collect())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// So many of a hundred took no longer, in milliseconds.
    pub fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = sorted.len().saturating_sub(1) * percent / 100;
        sorted.get(at).expect("something was measured").as_secs_f64() * 1e3
    }

    /// The middle one, in milliseconds.
    pub fn p50(&self) -> f64 {
        self.percentile(50)
    }

    /// Both of them, as the document has it.
    pub fn words(&self) -> String {
        format!("{} / {}", milliseconds(self.p50()), milliseconds(self.percentile(99)))
    }
}

/// Milliseconds with as many digits as mean something.
pub fn milliseconds(time: f64) -> String {
    match time {
        _ if time.abs() < 0.1 => format!("{:.0} µs", time * 1e3),
        _ if time.abs() < 10.0 => format!("{time:.2} ms"),
        _ if time.abs() < 1000.0 => format!("{time:.0} ms"),
        _ => format!("{:.1} s", time / 1e3),
    }
}
