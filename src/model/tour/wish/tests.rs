//! Tests of `model::tour::wish`.

use chrono::SecondsFormat;

use super::*;

/// A Friday, half past six.
fn now() -> DateTime<Utc> {
    "2026-11-20T06:30:00Z".parse().unwrap()
}

/// Title, time and words of a wish.
fn wish(input: &str) -> (String, String, String) {
    let Wish { title, due, said } = Wish::of(input, Some(now()));
    (title, due.unwrap().to_rfc3339_opts(SecondsFormat::Secs, true), said)
}

#[test]
fn a_span_is_read_wherever_it_stands_and_is_no_part_of_the_title() {
    for (input, title, due, said) in [
        ("Remind me to stretch in two hours.", "stretch", "2026-11-20T08:30:00Z", "in two hours"),
        ("remind me in two hours to stretch", "stretch", "2026-11-20T08:30:00Z", "in two hours"),
        ("Make a task due in 20 seconds", SOMETHING, "2026-11-20T06:30:20Z", "in 20 seconds"),
        ("remind me to drink, in an hour and 30 minutes!", "drink", "2026-11-20T08:00:00Z", "in an hour and 30 minutes"),
        ("in half an hour remind me of the oven", "the oven", "2026-11-20T07:00:00Z", "in half an hour"),
        ("remind me about the bill in twelve days", "the bill", "2026-12-02T06:30:00Z", "in twelve days"),
        ("remind me to rest in 1 week", "rest", "2026-11-27T06:30:00Z", "in 1 week"),
    ] {
        assert_eq!(wish(input), (title.into(), due.into(), said.into()), "{input}");
    }
}

#[test]
fn a_time_of_day_is_the_next_one_or_that_of_the_day_that_is_named() {
    for (input, due, said) in [
        ("remind me to call tomorrow at 9", "2026-11-21T09:00:00Z", "tomorrow at 9"),
        ("remind me to call at nine tomorrow", "2026-11-21T09:00:00Z", "at nine tomorrow"),
        ("Tomorrow remind me to call", "2026-11-21T06:30:00Z", "tomorrow"),
        ("remind me to call today at 5 pm", "2026-11-20T17:00:00Z", "today at 5 pm"),
        ("remind me to call at 17:45", "2026-11-20T17:45:00Z", "at 17:45"),
        ("remind me at 6 to call", "2026-11-21T06:00:00Z", "at 6"),
        ("remind me to call at 12am", "2026-11-21T00:00:00Z", "at 12am"),
        ("remind me to call at noon?", "2026-11-20T12:00:00Z", "at noon"),
    ] {
        assert_eq!(wish(input), ("call".into(), due.into(), said.into()), "{input}");
    }
}

#[test]
fn words_that_name_no_time_stay_in_the_title_and_the_task_falls_due_soon() {
    for title in [
        "look at 9 pictures",
        "meet in the garden",
        "be at a party",
        "call at 25:00",
        "wait in 99999999999 days",
        "go today at 5",
    ] {
        let told = wish(&format!("remind me to {title}"));
        assert_eq!(told, (title.to_owned(), "2026-11-20T06:30:20Z".into(), SOON_SAID.into()));
    }
    // A time that the calendar has not is none.
    assert_eq!(wish("remind me to wait in 4294967295 weeks").2, SOON_SAID);
}

#[test]
fn without_a_clock_there_is_a_title_and_no_time() {
    assert_eq!(Wish::of("remind me to stretch in two hours", None).due, None);
    assert_eq!(Wish::of("", None).title, SOMETHING);
}
