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
    let refused = |subtasks: &[(&str, bool)]| complete_task(&task(1, "Dinner", 0, subtasks), ROME, now).unwrap_err().to_string();
    assert_eq!(refused(&[("shop", true), ("cook", false)]), "“Dinner” still has 1 open subtask: cook.");
    assert_eq!(refused(&[("shop", false), ("cook", false)]), "“Dinner” still has 2 open subtasks: shop, cook.");
    for subtasks in [&[][..], &[("shop", true)]] {
        let done = complete_task(&task(1, "Dinner", 0, subtasks), ROME, now).unwrap();
        assert_eq!(done, CompletedTask { next: None, message: "Completed “Dinner”.".into() });
    }
    for status in [TaskStatus::Done, TaskStatus::Cancelled] {
        let over = complete_task(&TaskView { status, ..task(1, "Dinner", 0, &[]) }, ROME, now).unwrap_err();
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
        let completed = complete_task(&recurring(rule, date, reminder), ROME, at(done)).unwrap();
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
fn the_date_is_said_by_the_clocks_of_the_person_and_follows_from_those_of_the_rule() {
    let (weekly, now) = (recurring("weekly", "2027-02-10T09:00", None), at("2027-02-10T10:00"));
    let completed = complete_task(&weekly, Tz::Asia__Tokyo, now).unwrap();
    assert_eq!(completed.message, "Completed “Water plants”. It comes round on 2027-02-17 at 17:00.");
    assert_eq!(completed.next.unwrap().date, at("2027-02-17T09:00"));
}

#[test]
fn a_reminder_and_a_due_date_that_clocks_skipped_are_where_they_were_on_the_next_day() {
    let mut now = at("2027-03-26T22:00");
    let daily = recurring("daily", "2027-03-26T21:56", Some("2027-03-27T02:00"));
    let mut due = TaskView { due: Some(at("2027-03-27T02:30")), ..daily };
    for (reminder, due_at) in [
        // Clocks skip the hour from 2 to 3.
        ("2027-03-28T03:00", "2027-03-28T03:30"),
        ("2027-03-29T02:00", "2027-03-29T02:30"),
        ("2027-03-30T02:00", "2027-03-30T02:30"),
    ] {
        let next = complete_task(&due, ROME, now).unwrap().next.unwrap();
        assert_eq!((next.reminder, next.due), (Some(at(reminder)), Some(at(due_at))));
        now = next.date;
        let recurrence = Some((next.recurrence, next.date));
        due = TaskView { recurrence, reminder: next.reminder, due: next.due, apart: next.apart, ..due };
    }
    // One that is set anew counts from then on.
    let next = complete_task(&TaskView { reminder: Some(at("2027-03-30T05:00")), ..due }, ROME, now).unwrap().next.unwrap();
    assert_eq!(next.reminder, Some(at("2027-03-31T05:00")));
}

#[test]
fn a_rule_that_counts_comes_to_its_end() {
    let mut now = at("2026-11-20T10:00");
    let mut rounds = 1;
    let mut due = recurring("FREQ=DAILY;COUNT=3", "2026-11-20T09:00", None);
    let last = loop {
        let completed = complete_task(&due, ROME, now).unwrap();
        let Some(next) = completed.next else { break completed.message };
        (rounds, now) = (rounds + 1, next.date + TimeDelta::hours(1));
        due = TaskView { recurrence: Some((next.recurrence, next.date)), ..due };
    };
    assert_eq!((rounds, last.as_str()), (3, "Completed “Water plants”. It does not come round again."));
}
