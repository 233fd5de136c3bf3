//! Tests of `domain::todo::completion`.

use chrono::TimeDelta;
use chrono_tz::Tz;

use super::super::list::tests::task;
use super::super::time::tests::wall;
use super::super::time::{instant_of, wall_of};
use super::*;
use crate::domain::TaskStatus;

const ROME: Tz = Tz::Europe__Rome;

fn at(text: &str) -> DateTime<Utc> {
    instant_of(ROME, wall(text))
}

#[test]
fn a_task_with_open_subtasks_is_not_completed_and_names_them() {
    let now = at("2026-11-20T09:30");
    let refused = |subtasks: &[(&str, bool)]| complete_task(&task(1, "Dinner", 0, subtasks), now).unwrap_err().to_string();
    assert_eq!(refused(&[("shop", true), ("cook", false)]), "“Dinner” still has 1 open subtask: cook.");
    assert_eq!(refused(&[("shop", false), ("cook", false)]), "“Dinner” still has 2 open subtasks: shop, cook.");
    for subtasks in [&[][..], &[("shop", true)]] {
        let done = complete_task(&task(1, "Dinner", 0, subtasks), now).unwrap();
        assert_eq!(done, CompletedTask { next: None, message: "Completed “Dinner”.".into() });
    }
    for status in [TaskStatus::Done, TaskStatus::Cancelled] {
        let over = complete_task(&TaskView { status, ..task(1, "Dinner", 0, &[]) }, now).unwrap_err();
        assert_eq!(over.to_string(), "“Dinner” is completed already.");
    }
}

#[test]
fn a_subtask_says_how_many_are_left() {
    let of = |subtasks: &[(&str, bool)], nth: usize| {
        let task = task(1, "Dinner", 0, subtasks);
        complete_subtask(&task, &task.subtasks[nth]).map_err(|refused| refused.to_string())
    };
    assert_eq!(
        of(&[("a", false), ("b", true), ("c", false), ("d", false)], 0),
        Ok("Completed “a”. 2 subtasks left in “Dinner”.".into())
    );
    assert_eq!(of(&[("a", false), ("b", false)], 1), Ok("Completed “b”. 1 subtask left in “Dinner”.".into()));
    assert_eq!(of(&[("a", false), ("b", true)], 0), Ok("Completed “a”. That was the last one in “Dinner”.".into()));
    assert_eq!(of(&[("a", true)], 0), Err("“a” is completed already.".into()));
}

fn recurring(rule: &str, date: &str, reminder: Option<&str>) -> TaskView {
    let recurrence = Recurrence::of(rule, ROME, wall(date)).unwrap();
    let mut made = task(1, "Water plants", 0, &[("fill", true), ("pour", true)]);
    made.subtasks[0].sort_order = 5;
    TaskView { recurrence: Some((recurrence, at(date))), reminder: reminder.map(at), ..made }
}

#[test]
fn a_recurring_task_is_followed_by_the_next_one() {
    for (rule, date, reminder, done, next, next_reminder) in [
        // In time, early, late; over a change of clocks; with the reminder the evening before.
        ("daily", "2026-11-20T09:00", None, "2026-11-20T10:00", "2026-11-21T09:00", None),
        ("daily", "2026-11-20T09:00", None, "2026-11-19T10:00", "2026-11-21T09:00", None),
        ("daily", "2026-11-20T09:00", None, "2026-11-25T10:00", "2026-11-26T09:00", None),
        (
            "weekly",
            "2026-10-19T09:00",
            Some("2026-10-18T20:00"),
            "2026-10-19T09:30",
            "2026-10-26T09:00",
            Some("2026-10-25T20:00"),
        ),
        (
            "weekly",
            "2026-11-20T09:00",
            Some("2026-11-20T09:00"),
            "2026-11-20T09:30",
            "2026-11-27T09:00",
            Some("2026-11-27T09:00"),
        ),
        // The reminder of the next one has passed before it is made.
        ("daily", "2026-11-20T09:00", Some("2026-11-18T09:00"), "2026-11-20T09:30", "2026-11-21T09:00", None),
    ] {
        let completed = complete_task(&recurring(rule, date, reminder), at(done)).unwrap();
        let made = completed.next.unwrap();
        assert_eq!((made.date, made.reminder), (at(next), next_reminder.map(at)), "{rule} {date} {done}");
        assert_eq!(made.subtasks, ["pour", "fill"]);
        assert_eq!(made.recurrence, Recurrence::of(rule, ROME, wall(date)).unwrap());
        let told =
            format!("Completed “Water plants”. It comes round on {}.", wall_of(ROME, made.date).format("%Y-%m-%d at %H:%M"));
        assert_eq!(completed.message, told);
    }
}

#[test]
fn a_rule_that_counts_comes_to_its_end() {
    let mut now = at("2026-11-20T10:00");
    let mut rounds = 1;
    let mut due = recurring("FREQ=DAILY;COUNT=3", "2026-11-20T09:00", None);
    let last = loop {
        let completed = complete_task(&due, now).unwrap();
        let Some(next) = completed.next else { break completed.message };
        (rounds, now) = (rounds + 1, next.date + TimeDelta::hours(1));
        due = TaskView { recurrence: Some((next.recurrence, next.date)), ..due };
    };
    assert_eq!((rounds, last.as_str()), (3, "Completed “Water plants”. It does not come round again."));
}
