//! Tests of `domain::todo::kept_timer`.

use super::super::list::tests::at;
use super::*;

#[test]
fn a_timer_is_the_same_after_it_was_kept() {
    let run = TimerRun { minutes: 25, task: Some(TaskId(3)) };
    let paused = FocusTimer::Paused { run, left: TimeDelta::milliseconds(61_001) };
    for timer in [FocusTimer::Idle, FocusTimer::Running { run, ends_at: at(60) }, paused] {
        assert_eq!(FocusTimer::from(KeptTimer::from(timer)), timer);
    }
    let json = serde_json::to_value(KeptTimer::from(paused)).unwrap();
    assert_eq!(json, serde_json::json!({"state": "paused", "minutes": 25, "task": 3, "ends_at": null, "left_ms": 61_001}));
}
