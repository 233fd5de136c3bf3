//! Times that settings give in seconds.

use std::str::FromStr;
use std::time::Duration;

use chrono::TimeDelta;

/// The most seconds: ten years. A clock can be moved on by it, and neither form of a time below is
/// too small for it.
const MOST: u32 = 10 * 365 * 24 * 60 * 60;

/// A time that a setting gives: at least a second, and not so long that a clock overflows by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingSeconds(u32);

impl SettingSeconds {
    /// The form of such a setting.
    pub(super) const EXPECTED: &str = "a whole number of seconds from 1 to 315360000, which is ten years";
}

impl FromStr for SettingSeconds {
    type Err = &'static str;

    /// # Errors
    /// The form that was expected.
    fn from_str(written: &str) -> Result<Self, Self::Err> {
        match written.parse::<u32>() {
            Ok(seconds @ 1..=MOST) => Ok(Self(seconds)),
            _ => Err(Self::EXPECTED),
        }
    }
}

impl From<SettingSeconds> for Duration {
    fn from(SettingSeconds(seconds): SettingSeconds) -> Self {
        Self::from_secs(seconds.into())
    }
}

impl From<SettingSeconds> for TimeDelta {
    fn from(SettingSeconds(seconds): SettingSeconds) -> Self {
        Self::seconds(seconds.into())
    }
}

#[cfg(test)]
mod tests;
