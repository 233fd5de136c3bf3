//! Tests of `coach::idle`.

use super::*;
use crate::domain::{TurnId, TurnState};

#[test]
fn an_answer_says_nothing_when_it_is_empty_or_the_question() {
    let asked = "Make a table `shopping`, and add eggs.";
    for answer in [
        "",
        " \n",
        "\u{200b}\u{a0}\n",
        "<tool_response>\n3\n</tool_response>",
        asked,
        "[2026-11-20T16:32:00Z] Make a table `shopping`, and add eggs.",
    ] {
        assert_eq!(idle(answer, asked), Some(Idle::Empty), "{answer:?}");
    }
    for answer in ["Done.", "[1] Make a table `shopping`, and add eggs.", "Make a table `shopping`, and add eggs. Done."] {
        assert_eq!(idle(answer, asked), None, "{answer:?}");
    }
    assert_eq!(idle("Good morning", "Good morning"), None, "that is an answer");
    assert_eq!(idle("Good morning", ""), None, "a turn may begin without words");
}

#[test]
fn an_answer_with_the_time_in_front_is_asked_about_once() {
    let (asked, timed) = ("Which scripts are there?", "[2026-11-20T16:32:00Z] How can I create a new script?");
    assert_eq!(idle(timed, asked), Some(Idle::AsPerson));
    assert_eq!(idle("[2026-11-20T16:32:00Z] Which scripts are there?\nThere are none.", asked), None);
    let again = |before: &[&str]| Idling::of(Some(&turn(before))).again(timed);
    assert!(again(&[]) && !again(&[timed]) && !again(&[""]));
    assert!(Idling::of(Some(&turn(&[timed]))).words_for_model(false).unwrap().contains("in your words and without a time"));
}

const GCD: &str = "```json\n{\"name\": \"gcd\", \"arguments\": {\"a\": 6}}\n```";

#[test]
fn the_text_of_a_call_is_noticed_also_behind_the_question() {
    let seen = |answer: &str| idle(answer, "Do it.");
    assert!(matches!(seen(GCD), Some(Idle::Written(call)) if call.name == "gcd"));
    assert_eq!(seen(&format!("[2026-11-20T16:32:00Z] Do it.\n{GCD}")), seen(GCD));
    for answer in ["It is 1.", "```json\n{\"name\": \"Ada\", \"age\": 36}\n```", "```js\nconst a = 1;\n```"] {
        assert_eq!(seen(answer), None, "{answer}");
    }
}

fn turn(texts: &[&str]) -> Exchange {
    let begin = HistoryEntry::User("Do it.".into(), chrono::DateTime::UNIX_EPOCH);
    let said = texts.iter().map(|text| HistoryEntry::Assistant((*text).into(), Vec::new()));
    let entries = [begin].into_iter().chain(said).collect();
    Exchange { turn: TurnId(1), state: TurnState::Running, reason: None, entries, waits: false, unproven: Vec::new() }
}

#[test]
fn the_text_of_a_call_is_answered_twice() {
    let again = |before: &[&str], answer: &str| Idling::of(Some(&turn(before))).again(answer);
    assert!(again(&[], GCD) && again(&[GCD], GCD) && !again(&[GCD, GCD], GCD));
    assert!(again(&[GCD], "") && !again(&[GCD], "I cannot."));
}

#[test]
fn two_answers_that_say_nothing_are_enough() {
    let twice = |texts: &[&str]| Idling::of(Some(&turn(texts))).twice_empty();
    assert!(twice(&["", " "]) && twice(&[GCD, "", ""]));
    assert!(!twice(&[""]) && !twice(&[GCD, ""]) && !twice(&["", GCD]));
    assert!(!Idling::of(None).twice_empty());
}

#[test]
fn what_a_text_is_answered_with_says_how() {
    let call = written_call(GCD).unwrap();
    let told = |texts: &[&str]| Idling::of(Some(&turn(texts))).words_for_model(true);
    assert_eq!(told(&[GCD]), None, "the result of the call says it");
    assert!(told(&[GCD, GCD]).unwrap().contains("call `write_capability` first"));
    assert_eq!(Idling::of(Some(&turn(&[GCD, GCD]))).words_for_model(false), None, "there is no such call to be made");
    assert!(
        refusal(&call, &["execute_sql", "write_capability"], true).contains("Your next answer is a call of write_capability")
    );
    assert!(refusal(&call, &["gcd"], true).ends_with("Call `gcd` itself, with arguments that fit its parameters."));
    assert!(refusal(&call, &["gcd"], false).ends_with("nothing was called."));
}
