//! Tests of `cli::relay::course`.

use super::*;

fn end(code: Option<i32>, was_ready: bool, seconds: u64) -> ServerRunEnd {
    ServerRunEnd { code, was_ready, ran: Duration::from_secs(seconds) }
}

fn again(seconds: u64, safe: bool) -> NextRun {
    NextRun::Again { pause: Duration::from_secs(seconds), safe }
}

#[test]
fn a_server_that_was_stopped_or_cannot_start_is_not_started_again() {
    for code in [0, 78] {
        assert_eq!(Course::default().after(end(Some(code), true, 5)), NextRun::End);
    }
}

#[test]
fn a_server_that_asks_for_it_starts_at_once_and_its_crashes_are_forgotten() {
    let mut course = Course::default();
    course.after(end(Some(1), true, 1));
    assert_eq!(course.after(end(Some(42), true, 1)), again(0, false));
    assert_eq!(course.after(end(Some(1), true, 1)), again(1, false));
}

#[test]
fn pauses_double_up_to_half_a_minute() {
    let mut course = Course::default();
    let pauses: Vec<_> = (0..8).map(|_| course.after(end(Some(1), false, 1))).collect();
    assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30, 30].map(|seconds| again(seconds, false)));
}

#[test]
fn three_crashes_of_a_ready_server_leave_capabilities_out() {
    let mut course = Course::default();
    let said: Vec<_> = (0..4).map(|_| course.after(end(None, true, 1))).collect();
    assert_eq!(said, [again(1, false), again(2, false), again(4, true), again(8, true)]);
}

#[test]
fn a_long_run_forgets_the_crashes_before_it() {
    let mut course = Course::default();
    for _ in 0..4 {
        course.after(end(Some(1), true, 1));
    }
    assert_eq!(course.after(end(Some(1), true, 60)), again(1, false));
}
