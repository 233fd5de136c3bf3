//! A timer as it is kept and shown.

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::timer::{FocusTimer, TimerRun};
use crate::domain::{TaskId, TimerState};

/// A timer as it is kept and shown. A clock that shows it needs no further word until it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTimer {
    /// Its state.
    pub state: TimerState,
    /// How long it runs in all; `None` while it is idle, as all else.
    pub minutes: Option<u16>,
    /// The task it is for.
    pub task: Option<TaskId>,
    /// The end of its time, while it runs.
    pub ends_at: Option<DateTime<Utc>>,
    /// The milliseconds that are left, while it stands still.
    pub left_ms: Option<i64>,
}

impl From<FocusTimer> for KeptTimer {
    fn from(timer: FocusTimer) -> Self {
        let state = timer.state();
        let of = |TimerRun { minutes, task }: TimerRun, ends_at: Option<DateTime<Utc>>, left_ms| Self {
            state,
            minutes: Some(minutes),
            task,
            // As Postgres keeps it.
            ends_at: ends_at.map(|at| at.trunc_subsecs(6)),
            left_ms,
        };
        match timer {
            FocusTimer::Idle => Self { state, minutes: None, task: None, ends_at: None, left_ms: None },
            FocusTimer::Running { run, ends_at } => of(run, Some(ends_at), None),
            FocusTimer::Paused { run, left } => of(run, None, Some(left.num_milliseconds())),
        }
    }
}

impl From<KeptTimer> for FocusTimer {
    fn from(KeptTimer { state, minutes, task, ends_at, left_ms }: KeptTimer) -> Self {
        let run = minutes.map(|minutes| TimerRun { minutes, task });
        match (state, run, ends_at, left_ms) {
            (TimerState::Running, Some(run), Some(ends_at), _) => Self::Running { run, ends_at },
            (TimerState::Paused, Some(run), _, Some(left)) => Self::Paused { run, left: TimeDelta::milliseconds(left) },
            (TimerState::Idle | TimerState::Running | TimerState::Paused, ..) => Self::Idle,
        }
    }
}

#[cfg(test)]
mod tests;
