//! Tests of `domain::todo::timer`.

use proptest::prelude::*;

use super::super::list::tests::at;
use super::*;

const RUN: TimerRun = TimerRun { minutes: 25, task: Some(TaskId(7)) };

fn running(ends: i64) -> FocusTimer {
    FocusTimer::Running { run: RUN, ends_at: at(ends) }
}

fn paused(left: i64) -> FocusTimer {
    FocusTimer::Paused { run: RUN, left: TimeDelta::seconds(left) }
}

#[test]
fn every_pair_of_state_and_operation_is_decided() {
    use FocusTimer::Idle;
    use TimerAction::{DropEnd, PlanEnd, TellEnd};
    use TimerOperation::{Pause, Resume, Start, Status, Stop};
    let other = TimerRun { minutes: 5, task: None };
    let started = FocusTimer::Running { run: other, ends_at: at(400) };
    // At second 100: timer, operation, whether it is taken, the timer after it, its actions.
    let table: [(FocusTimer, TimerOperation, bool, FocusTimer, &[TimerAction]); 20] = [
        (Idle, Start(other), true, started, &[PlanEnd]),
        (Idle, Pause, false, Idle, &[]),
        (Idle, Resume, false, Idle, &[]),
        (Idle, Stop, true, Idle, &[]),
        (Idle, Status, true, Idle, &[]),
        (running(160), Start(other), false, running(160), &[]),
        (running(160), Pause, true, paused(60), &[DropEnd]),
        (running(160), Resume, false, running(160), &[]),
        (running(160), Stop, true, Idle, &[DropEnd]),
        (running(160), Status, true, running(160), &[]),
        (paused(60), Start(other), false, paused(60), &[]),
        (paused(60), Pause, false, paused(60), &[]),
        (paused(60), Resume, true, running(160), &[PlanEnd]),
        (paused(60), Stop, true, Idle, &[]),
        (paused(60), Status, true, paused(60), &[]),
        // Its time is over, and nobody has noticed yet.
        (running(100), Start(other), true, started, &[DropEnd, TellEnd, PlanEnd]),
        (running(99), Pause, false, Idle, &[DropEnd, TellEnd]),
        (running(99), Resume, false, Idle, &[DropEnd, TellEnd]),
        (running(99), Stop, true, Idle, &[DropEnd, TellEnd]),
        (running(99), Status, true, Idle, &[DropEnd, TellEnd]),
    ];
    for (before, operation, taken, timer, actions) in table {
        let expected = TimerTaken { timer, actions: actions.to_vec(), taken };
        assert_eq!(before.take(operation, at(100)), expected, "{before:?} {operation:?}");
    }
}

#[test]
fn the_end_comes_once_and_at_its_time() {
    assert_eq!(running(100).finished(at(99)), None);
    assert_eq!(running(100).finished(at(100)), Some((FocusTimer::Idle, vec![TimerAction::DropEnd, TimerAction::TellEnd])));
    assert_eq!(FocusTimer::Idle.finished(at(100)), None);
    assert_eq!(paused(0).finished(at(100)), None);
}

#[test]
fn what_is_left_is_said_to_the_second() {
    for (timer, told) in [
        (FocusTimer::Idle, "No timer is running."),
        (running(100 + 1500), "The timer for “Dinner” is running, 25 minutes left."),
        (running(100 + 61), "The timer for “Dinner” is running, 1 minute and 1 second left."),
        (running(100 + 2), "The timer for “Dinner” is running, 2 seconds left."),
        (running(100 + 9_000), "The timer for “Dinner” is running, 25 minutes left."), // the clock was put back
        (running(50), "The timer for “Dinner” is running, no time left."),
        (paused(125), "The timer for “Dinner” is paused, 2 minutes and 5 seconds left."),
    ] {
        assert_eq!(timer.as_sentence(at(100), Some("Dinner")), told);
    }
    assert_eq!(paused(60).as_sentence(at(0), None), "The timer is paused, 1 minute left.");
}

#[test]
fn a_timer_runs_for_1_to_600_minutes() {
    assert_eq!([minutes_allowed(1), minutes_allowed(600)], [Ok(1), Ok(600)]);
    for minutes in [0, -5, 601, i64::MAX, i64::MIN] {
        assert_eq!(minutes_allowed(minutes), Err("A timer runs for 1 to 600 minutes.".to_owned()), "{minutes}");
    }
}

proptest! {
    /// **Feature: vapi-voice-agent, Property 5: Timer operations correctly transition state**
    /// **Validates: Requirements 9.1, 9.2, 9.3, 9.4**
    #[test]
    fn operations_in_any_order_lead_where_they_say(
        operations in prop::collection::vec((0..5u8, 1..601u16, 0..2_000i64), 1..40),
    ) {
        let (mut timer, mut now) = (FocusTimer::Idle, at(0));
        for (which, minutes, seconds) in operations {
            now += TimeDelta::seconds(seconds);
            let run = TimerRun { minutes, task: None };
            let operation = match which {
                0 => TimerOperation::Start(run),
                1 => TimerOperation::Pause,
                2 => TimerOperation::Resume,
                3 => TimerOperation::Stop,
                _ => TimerOperation::Status,
            };
            let before = timer.finished(now).map_or(timer, |(idle, _)| idle);
            let after = timer.take(operation, now);
            match (operation, before) {
                (TimerOperation::Start(run), FocusTimer::Idle) => {
                    prop_assert_eq!(after.timer, FocusTimer::Running { run, ends_at: now + TimeDelta::minutes(minutes.into()) });
                }
                (TimerOperation::Pause, FocusTimer::Running { run, ends_at }) => {
                    prop_assert_eq!(after.timer, FocusTimer::Paused { run, left: ends_at - now }, "the rest is preserved");
                }
                (TimerOperation::Resume, FocusTimer::Paused { run, left }) => {
                    prop_assert_eq!(after.timer, FocusTimer::Running { run, ends_at: now + left });
                }
                (TimerOperation::Stop, _) => prop_assert_eq!(after.timer, FocusTimer::Idle),
                (TimerOperation::Status, _) => prop_assert_eq!(after.timer, before),
                (_, before) => prop_assert_eq!((after.taken, after.timer), (false, before)),
            }
            prop_assert_eq!(after.actions.contains(&TimerAction::TellEnd), before != timer, "an end is told once");
            timer = after.timer;
        }
    }
}
