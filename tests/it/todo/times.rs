//! The timer, reminders and recurrence: by the server's time alone, through restarts, and without a
//! model.

use reqwest::Method;
use serde_json::json;

use super::{STEPS, Talk, message};
use crate::support::{api, call, text};

#[tokio::test]
async fn every_pair_of_timer_and_function_has_an_answer() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    let start = json!({"minutes": 25, "taskName": "dinner"});
    for (function, arguments, success, told) in [
        ("pauseTimer", json!({}), false, "No timer is running."),
        ("resumeTimer", json!({}), false, "No timer is running."),
        ("stopTimer", json!({}), true, "No timer is running."),
        ("getTimerStatus", json!({}), true, "No timer is running."),
        ("startTimer", json!({"minutes": 0}), false, "A timer runs for 1 to 600 minutes."),
        ("startTimer", start.clone(), true, "The timer for “Dinner” is running, 25 minutes left."),
        ("startTimer", start.clone(), false, "The timer for “Dinner” is running, 25 minutes left."),
        ("resumeTimer", json!({}), false, "The timer for “Dinner” is running, 25 minutes left."),
        ("pauseTimer", json!({}), true, "The timer for “Dinner” is paused, 25 minutes left."),
        ("pauseTimer", json!({}), false, "The timer for “Dinner” is paused, 25 minutes left."),
        ("startTimer", start, false, "The timer for “Dinner” is paused, 25 minutes left."),
        ("resumeTimer", json!({}), true, "The timer for “Dinner” is running, 25 minutes left."),
        ("stopTimer", json!({}), true, "The timer is stopped."),
    ] {
        let result = talk.call(function, arguments).await;
        assert_eq!((&result["success"], message(&result)), (&json!(success), told), "{function}");
    }
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_timer_goes_on_through_a_crash_and_its_end_is_told_without_a_model() {
    let mut talk = Talk::start().await;
    talk.call("startTimer", json!({"minutes": 25})).await;
    talk.app.advance(10 * 60);
    talk.app.crash().await;
    talk.app.start_again().await;
    let mut talk = Talk::on(talk.app).await;
    let status = talk.call("getTimerStatus", json!({})).await;
    assert_eq!(message(&status), "The timer is running, 15 minutes left.");
    let asked = talk.app.script.requests().len();
    talk.app.advance(15 * 60);
    let over = talk.client.until(|frame| frame["type"] == "timer").await.pop().unwrap();
    assert_eq!(
        (&over["over"], &over["content"], &over["timer"]["state"]),
        (&json!(true), &json!("The timer is over."), &json!("idle"))
    );
    assert_eq!(talk.app.script.requests().len(), asked, "no model was asked");
    assert_eq!(talk.count("SELECT count(*) FROM wake_ups WHERE kind = 'timer'").await, 0);
    let did = api::ask(&talk.app, Method::GET, "/api/heartbeat", None).await.1["did"].clone();
    let said: Vec<_> = did.as_array().unwrap().iter().map(|done| &done["said"]).collect();
    assert_eq!(said, [&json!("The timer is over.")], "its beginning was no deed of the heartbeat");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_reminder_is_given_once_and_a_missed_one_is_marked_late() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    let past = talk.call("setReminder", json!({"taskName": "dinner", "at": "2026-11-20T07:00"})).await;
    assert_eq!(message(&past), "That time has passed: it is 2026-11-20 08:00 now.");
    let set = talk.call("setReminder", json!({"taskName": "dinner", "at": "2026-11-20T09:00"})).await;
    assert_eq!(message(&set), "I'll remind you of “Dinner” on 2026-11-20 at 09:00.");
    talk.app.advance(3600);
    let given = talk.client.until(|frame| frame["type"] == "reminder").await.pop().unwrap();
    assert_eq!((&given["late"], &given["content"]), (&json!(false), &json!("Reminder: Dinner")));
    let did = api::ask(&talk.app, Method::GET, "/api/heartbeat", None).await.1["did"].clone();
    assert_eq!(did[0]["said"], "Reminder: Dinner");
    talk.call("setReminder", json!({"taskName": "it", "at": "2026-11-20T11:00+01:00"})).await;
    talk.app.stop().await;
    talk.app.advance(2 * 3600);
    talk.app.start_again().await;
    talk.app.until("SELECT count(*) FROM events WHERE kind = 'reminder_given'", 2).await;
    let late = "SELECT count(*) FROM events WHERE kind = 'reminder_given' AND payload -> 'late' = 'true'";
    assert_eq!(talk.count(late).await, 1);
    let mut talk = Talk::on(talk.app).await;
    let removed = talk.call("removeReminder", json!({"taskName": "dinner"})).await;
    assert_eq!(message(&removed), "Removed the reminder of “Dinner”.");
    assert_eq!(message(&talk.call("removeReminder", json!({"taskName": "dinner"})).await), "“Dinner” has no reminder.");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_rule_begins_with_the_due_date_and_the_next_task_has_one() {
    let mut talk = Talk::start().await;
    let made = json!({"action": "create", "title": "Pay rent", "due_at": "2026-11-21T02:30:00Z"});
    talk.app.script([call("manage_tasks", made), text("made")]);
    talk.client.ask("make it").await;
    let set = talk.call("setRecurrence", json!({"taskName": "rent", "rule": "daily"})).await;
    assert_eq!(message(&set), "“Pay rent” comes round now (daily), first on 2026-11-21 at 02:30.");
    let done = talk.call("completeTask", json!({"taskName": "rent"})).await;
    assert_eq!(message(&done), "Completed “Pay rent”. It comes round on 2026-11-22 at 02:30.");
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE due_at = '2026-11-22T02:30Z' AND status = 'pending'").await, 1);
    // A person who takes up the completed one and completes it again makes no second one.
    let update = |status: &str| call("manage_tasks", json!({"action": "update", "id": 1, "status": status}));
    talk.app.script([update("pending"), update("done"), text("I see.")]);
    talk.client.ask("again").await;
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 2);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn an_overdue_task_that_begins_to_come_round_keeps_its_hour_and_a_due_date() {
    let mut talk = Talk::start().await;
    let made = json!({"action": "create", "title": "Bins", "due_at": "2026-11-20T09:00:00Z"});
    talk.app.script([call("manage_tasks", made), text("made"), text("The bins are due.")]);
    talk.client.ask("make it").await;
    talk.app.advance(3 * 24 * 3600);
    talk.app.until("SELECT count(*) FROM turns WHERE ended_at IS NOT NULL AND origin = 'task'", 1).await;
    let mut talk = Talk::on(talk.app).await;
    let set = talk.call("setRecurrence", json!({"taskName": "bins", "rule": "FREQ=WEEKLY;BYDAY=MO"})).await;
    assert_eq!(message(&set), "“Bins” comes round now (FREQ=WEEKLY;BYDAY=MO), first on 2026-11-23 at 09:00.");
    for date in ["2026-11-23", "2026-11-30", "2026-12-07"] {
        let done = talk.call("completeTask", json!({"taskName": "bins"})).await;
        assert_eq!(message(&done), format!("Completed “Bins”. It comes round on {date} at 09:00."));
        let dates = "SELECT count(*) FROM tasks WHERE status = 'pending' AND due_at = (recurrence ->> 'date')::timestamptz";
        assert_eq!(talk.count(dates).await, 1, "{date}");
    }
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_person_who_has_moved_hears_the_next_date_by_the_clock_there() {
    let mut talk = Talk::start().await;
    let moves = async |talk: &Talk, zone: &str| {
        let moved = api::ask(&talk.app, Method::PATCH, "/api/me", Some(json!({ "time_zone": zone }))).await;
        assert_eq!(moved.0, 200, "{}", moved.1);
    };
    moves(&talk, "Europe/Berlin").await;
    talk.app.script([call("manage_tasks", json!({"action": "create", "title": "Pay rent"})), text("made")]);
    talk.client.ask("make it").await;
    talk.call("setReminder", json!({"taskName": "rent", "at": "2027-02-10T09:00"})).await;
    talk.call("setRecurrence", json!({"taskName": "rent", "rule": "weekly"})).await;
    moves(&talk, "Asia/Tokyo").await;
    let done = talk.call("completeTask", json!({"taskName": "rent"})).await;
    assert_eq!(message(&done), "Completed “Pay rent”. It comes round on 2027-02-17 at 17:00.");
    assert_eq!(done["data"]["next"]["recurrence"]["date"], "2027-02-17T17:00");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_task_that_comes_round_is_made_anew_with_its_steps_and_its_reminder() {
    let mut talk = Talk::start().await;
    talk.create("Water plants").await;
    talk.call("setReminder", json!({"taskName": "plants", "at": "2026-11-20T09:00"})).await;
    let set = talk.call("setRecurrence", json!({"taskName": "plants", "rule": "weekly"})).await;
    assert_eq!(message(&set), "“Water plants” comes round now (weekly), first on 2026-11-20 at 09:00.");
    for step in STEPS {
        talk.call("completeSubtask", json!({"subtaskName": step})).await;
    }
    let done = talk.call("completeTask", json!({"taskName": "plants"})).await;
    assert_eq!(message(&done), "Completed “Water plants”. It comes round on 2026-11-27 at 09:00.");
    let next = &done["data"]["next"];
    assert_eq!((&next["reminder"], &next["recurrence"]["date"]), (&json!("2026-11-27T09:00"), &json!("2026-11-27T09:00")));
    assert!(next["subtasks"].as_array().unwrap().iter().all(|step| step["completed"] == false));
    // It is taken away, once, and the task that is completed then is the last one.
    for (rule, told) in [
        ("none", "“Water plants” does not come round any more."),
        ("Never", "“Water plants” does not come round."),
        ("off", "“Water plants” does not come round."),
    ] {
        let none = talk.call("setRecurrence", json!({"taskName": "plants", "rule": rule})).await;
        assert_eq!((message(&none), &none["data"]["task"]["recurrence"]), (told, &json!(null)), "{rule}");
    }
    assert_eq!(talk.count("SELECT count(*) FROM tasks WHERE status = 'pending' AND recurrence IS NOT NULL").await, 0);
    for (rule, word) in [("hourly", "rule"), ("FREQ=HOURLY", "rule"), ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "rule")] {
        let refused = talk.call("setRecurrence", json!({"taskName": "plants", "rule": rule})).await;
        assert_eq!((&refused["success"], &refused["error"]), (&json!(false), &json!(word)), "{rule}");
    }
    talk.app.check_replay().await;
}
