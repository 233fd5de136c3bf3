//! How often somebody may be wrong about a password: five times for a name, and five times from an
//! address; then they wait, longer each time. A try in that time is not looked at.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

use super::tokens::network;
use crate::domain::user_key;

/// So many failures pass without a wait.
const FREE: u32 = 5;
/// The first wait; each further failure doubles it.
const FIRST: TimeDelta = TimeDelta::minutes(1);
/// The longest.
const LONGEST: TimeDelta = TimeDelta::minutes(15);
/// How many names and addresses are counted apart; the others are counted together.
const COUNTED: usize = 8192;
/// The longest name that is counted by itself, in bytes: longer ones no user has.
const LONGEST_NAME: usize = 160;

/// A thing of which failures are counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Tried {
    Name(String),
    Address(IpAddr),
    Others,
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    /// When the next try is looked at.
    until: DateTime<Utc>,
    /// When they are forgotten.
    forgotten: DateTime<Utc>,
}

/// Counts the failures to sign in.
#[derive(Default)]
pub(in crate::http) struct Throttle(Mutex<HashMap<Tried, Failures>>);

impl Throttle {
    /// The seconds until a try for this name from this address is looked at; `None`: now. A try
    /// without a name is counted by its address alone.
    pub(in crate::http) fn wait(&self, name: &str, from: IpAddr, now: DateTime<Utc>) -> Option<i64> {
        let failures = self.lock();
        let of = keys(name, from).chain([Tried::Others]);
        // The others together stand for those who are not counted by themselves.
        let full = failures.len() >= COUNTED;
        let of = of.filter(|key| *key != Tried::Others || full);
        let until = of.filter_map(|key| failures.get(&key).map(|failures| failures.until)).max()?;
        (until > now).then(|| (until - now).num_seconds().max(1))
    }

    /// Counts a failure.
    pub(in crate::http) fn failed(&self, name: &str, from: IpAddr, now: DateTime<Utc>) {
        let mut failures = self.lock();
        for key in keys(name, from) {
            if failures.len() >= COUNTED {
                failures.retain(|_, failures| failures.forgotten > now);
            }
            let key = if failures.len() < COUNTED || failures.contains_key(&key) { key } else { Tried::Others };
            let fresh = Failures { count: 0, until: now, forgotten: now };
            let failed = failures.entry(key).or_insert(fresh);
            if failed.forgotten <= now {
                *failed = fresh;
            }
            failed.count = failed.count.saturating_add(1);
            let wait = wait_after(failed.count);
            failed.until = now + wait;
            failed.forgotten = now + wait + LONGEST;
        }
    }

    /// Forgets the failures for a name whose user has come in. Those of the address stay: its user
    /// may have an account of their own.
    pub(in crate::http) fn passed(&self, name: &str) {
        self.lock().remove(&Tried::Name(user_key(name)));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Tried, Failures>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keys(name: &str, from: IpAddr) -> impl Iterator<Item = Tried> {
    let name = match name {
        "" => None,
        name if name.len() <= LONGEST_NAME => Some(Tried::Name(user_key(name))),
        _ => Some(Tried::Others),
    };
    name.into_iter().chain([Tried::Address(network(from))])
}

/// The wait after so many failures.
fn wait_after(failures: u32) -> TimeDelta {
    let Some(beyond) = failures.checked_sub(FREE) else { return TimeDelta::zero() };
    FIRST.checked_mul(1 << beyond.min(8)).map_or(LONGEST, |wait| wait.min(LONGEST))
}

#[cfg(test)]
mod tests;
