//! A person's focus timer: its machine with the times that belong to it. Only the server's time
//! counts, so that it goes on through restarts, sleep and a second tab.

use std::ops::RangeInclusive;

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::{Machine, TaskId, TimerAction, TimerInput, TimerState};

/// The minutes that a timer may have.
pub const TIMER_MINUTES: RangeInclusive<i64> = 1..=600;

/// The length and the subject of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerRun {
    /// How long it runs in all.
    pub minutes: u16,
    /// The task it is for.
    pub task: Option<TaskId>,
}

/// A person's timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FocusTimer {
    /// Nothing is measured.
    #[default]
    Idle,
    /// Time runs.
    Running {
        /// Its length and its subject.
        run: TimerRun,
        /// The end of its time.
        ends_at: DateTime<Utc>,
    },
    /// Time stands still.
    Paused {
        /// Its length and its subject.
        run: TimerRun,
        /// The time that is left.
        left: TimeDelta,
    },
}

/// Something that a person asks of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerOperation {
    /// Start it.
    Start(TimerRun),
    /// Pause it.
    Pause,
    /// Let it go on.
    Resume,
    /// Stop it.
    Stop,
    /// Say how it stands.
    Status,
}

/// A timer after an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimerTaken {
    /// The timer now.
    pub timer: FocusTimer,
    /// The actions that go with it, in their order. They include those of an end that nobody had
    /// noticed yet.
    pub actions: Vec<TimerAction>,
    /// False if its state does not take the operation, which then changed nothing.
    pub taken: bool,
}

/// The minutes that a person asked for, if a timer may have so many.
///
/// # Errors
/// A sentence, if it may not.
pub fn minutes_allowed(minutes: i64) -> Result<u16, String> {
    let allowed = TIMER_MINUTES.contains(&minutes).then(|| u16::try_from(minutes).ok()).flatten();
    allowed.ok_or_else(|| format!("A timer runs for {} to {} minutes.", TIMER_MINUTES.start(), TIMER_MINUTES.end()))
}

impl FocusTimer {
    /// Its state.
    pub fn state(self) -> TimerState {
        match self {
            Self::Idle => TimerState::Idle,
            Self::Running { .. } => TimerState::Running,
            Self::Paused { .. } => TimerState::Paused,
        }
    }

    /// The task that it is for, while it runs or stands still.
    pub fn task(self) -> Option<TaskId> {
        match self {
            Self::Idle => None,
            Self::Running { run, .. } | Self::Paused { run, .. } => run.task,
        }
    }

    /// The time that is left; nothing once it is over. A clock that was put back makes it no
    /// longer.
    pub fn left(self, now: DateTime<Utc>) -> TimeDelta {
        match self {
            Self::Idle => TimeDelta::zero(),
            Self::Running { run, ends_at } => (ends_at - now).clamp(TimeDelta::zero(), whole(run)),
            Self::Paused { left, .. } => left,
        }
    }

    /// The timer after the end of its time, and the actions that go with that; `None` as long as
    /// that has not come.
    pub fn finished(self, now: DateTime<Utc>) -> Option<(Self, Vec<TimerAction>)> {
        match self {
            Self::Running { ends_at, .. } if ends_at <= now => {
                let (_, actions) = self.state().next(TimerInput::Finish).ok()?;
                Some((Self::Idle, actions))
            }
            Self::Idle | Self::Running { .. } | Self::Paused { .. } => None,
        }
    }

    /// The timer after an operation.
    pub fn take(self, operation: TimerOperation, now: DateTime<Utc>) -> TimerTaken {
        let (timer, mut actions) = self.finished(now).unwrap_or((self, Vec::new()));
        let Some(input) = operation.input() else { return TimerTaken { timer, actions, taken: true } };
        let Ok((state, further)) = timer.state().next(input) else { return TimerTaken { timer, actions, taken: false } };
        actions.extend(further);
        let run = match (operation, timer) {
            (TimerOperation::Start(run), _) | (_, Self::Running { run, .. } | Self::Paused { run, .. }) => Some(run),
            (_, Self::Idle) => None,
        };
        let left = if let TimerOperation::Start(run) = operation { whole(run) } else { timer.left(now) };
        let timer = match (state, run) {
            (TimerState::Running, Some(run)) => Self::Running { run, ends_at: now + left },
            (TimerState::Paused, Some(run)) => Self::Paused { run, left },
            (TimerState::Idle, _) | (TimerState::Running | TimerState::Paused, None) => Self::Idle,
        };
        TimerTaken { timer, actions, taken: true }
    }

    /// How it stands, as a sentence; `task`: the title of its task.
    pub fn as_sentence(self, now: DateTime<Utc>, task: Option<&str>) -> String {
        let about = task.map(|task| format!(" for “{task}”")).unwrap_or_default();
        let left = spoken(self.left(now));
        match self {
            Self::Idle => "No timer is running.".to_owned(),
            Self::Running { .. } => format!("The timer{about} is running, {left} left."),
            Self::Paused { .. } => format!("The timer{about} is paused, {left} left."),
        }
    }
}

impl TimerOperation {
    /// The machine's input; asking is none.
    fn input(self) -> Option<TimerInput> {
        match self {
            Self::Start(_) => Some(TimerInput::Start),
            Self::Pause => Some(TimerInput::Pause),
            Self::Resume => Some(TimerInput::Resume),
            Self::Stop => Some(TimerInput::Stop),
            Self::Status => None,
        }
    }
}

fn whole(run: TimerRun) -> TimeDelta {
    TimeDelta::minutes(run.minutes.into())
}

/// A length of time in words; a second that has begun counts.
fn spoken(left: TimeDelta) -> String {
    let seconds = (left.num_milliseconds() + 999) / 1000;
    let of = |number: i64, unit: &str| match number {
        0 => None,
        1 => Some(format!("1 {unit}")),
        _ => Some(format!("{number} {unit}s")),
    };
    match [of(seconds / 60, "minute"), of(seconds % 60, "second")] {
        [Some(minutes), Some(seconds)] => format!("{minutes} and {seconds}"),
        [Some(one), None] | [None, Some(one)] => one,
        [None, None] => "no time".to_owned(),
    }
}

#[cfg(test)]
mod tests;
