//! Tests of `coach::idle`.

use super::*;
use crate::domain::{ToolCallId, TurnId, TurnState};

#[test]
fn an_answer_says_nothing_when_it_is_empty_or_the_question() {
    let asked = "Make a table `shopping`, and add eggs.";
    for answer in [
        "",
        " \n",
        "<tool_response>\n3\n</tool_response>",
        asked,
        "[2026-11-20T16:32:00Z] Make a table `shopping`, and add eggs.",
    ] {
        assert!(says_nothing(answer, asked), "{answer:?}");
    }
    for answer in ["Done.", "[1] Make a table `shopping`, and add eggs.", "Make a table `shopping`, and add eggs. Done."] {
        assert!(!says_nothing(answer, asked), "{answer:?}");
    }
    assert!(!says_nothing("Good morning", "Good morning"), "that is an answer");
    assert!(!says_nothing("Good morning", ""), "a turn may begin without words");
}

const GCD: &str = "```json\n{\"name\": \"gcd\", \"arguments\": {\"a\": 6}}\n```";
const BACKTICKS: &str = "```json\n{\n  \"name\": \"write_capability\",\n  \"arguments\": {\n    \"code\": `x`\n  }\n}\n```";
const SQL: &str = "You can use this:\n\n```sql\nSELECT 1;\n```\n\nThat gives 1.";
const CODE: &str = "Here it is:\n```js\nexport default async function f(params) { return 1; }\n```";

#[test]
fn what_is_written_instead_of_done_is_noticed() {
    let seen = |answer: &str| idle(answer, "Do it.");
    assert!(matches!(seen(GCD), Some(Idle::Written(call)) if call.name == "gcd"));
    assert_eq!(seen(&format!("[2026-11-20T16:32:00Z] Do it.\n{GCD}")), seen(GCD));
    assert_eq!(seen(BACKTICKS), Some(Idle::Broken));
    assert_eq!(seen("{\"name\": \"greet\", \"arguments\": {\"name\": \"A\"}}\n```\nobj\n```"), Some(Idle::Broken));
    assert_eq!(seen(SQL), Some(Idle::Shows("execute_sql", json!({ "query": "SELECT 1;" }))));
    assert!(matches!(seen(CODE), Some(Idle::Shows("write_capability", call)) if call["name"] == "f"));
    for answer in [
        "It is 1.",
        "```json\n{\"name\": \"Ada\", \"age\": 36}\n```",
        "```js\nconst a = 1;\n```",
        "`sql` is a language.\n",
        "sql",
    ] {
        assert_eq!(seen(answer), None, "{answer}");
    }
}

fn turn(entries: Vec<HistoryEntry>) -> Exchange {
    let begin = HistoryEntry::User("Do it.".into(), chrono::DateTime::UNIX_EPOCH);
    let entries = [begin].into_iter().chain(entries).collect();
    Exchange { turn: TurnId(1), state: TurnState::Running, reason: None, entries, waits: false, unproven: Vec::new() }
}

fn said(text: &str) -> HistoryEntry {
    HistoryEntry::Assistant(text.into(), Vec::new())
}

#[test]
fn the_text_of_a_call_is_answered_twice() {
    let again = |before: &[&str], answer: &str| {
        let turn = turn(before.iter().map(|text| said(text)).collect());
        Idling::of(Some(&turn)).again(answer, &[])
    };
    assert!(again(&[], GCD) && again(&[GCD], GCD) && again(&[BACKTICKS], GCD) && !again(&[GCD, GCD], GCD));
    assert!(again(&[], BACKTICKS) && !again(&[BACKTICKS], BACKTICKS));
    assert!(again(&[GCD], "") && !again(&[GCD], "I cannot."));
}

#[test]
fn code_that_is_shown_after_mistakes_is_asked_about_once() {
    let result = |refusal| HistoryEntry::Tool("a".into(), "…".into(), ToolCallId(1), 0, refusal);
    let again = |entries: Vec<HistoryEntry>, runs: &[&str]| Idling::of(Some(&turn(entries))).again(SQL, runs);
    let failed = Some(RefusalCode::SqlError);
    assert!(again(vec![result(failed)], &["execute_sql"]) && again(vec![said(GCD)], &["execute_sql"]));
    assert!(!again(vec![], &["execute_sql"]), "that may be all that was asked for");
    assert!(!again(vec![result(failed), result(None)], &["execute_sql"]), "something was done");
    assert!(!again(vec![result(failed), said(SQL)], &["execute_sql"]), "it insists");
    assert!(!again(vec![result(failed)], &["write_capability"]), "there is no such tool in this turn");
    let told = Idling::of(Some(&turn(vec![said(SQL)]))).told(&["execute_sql"]).unwrap();
    assert!(told.contains(r#"a call of `execute_sql` with {"query":"SELECT 1;"}, unless"#), "{told}");
}

#[test]
fn two_answers_that_say_nothing_are_enough() {
    let twice = |texts: &[&str]| Idling::of(Some(&turn(texts.iter().map(|text| said(text)).collect()))).twice_empty();
    assert!(twice(&["", " "]) && twice(&[GCD, "", ""]));
    assert!(!twice(&[""]) && !twice(&[GCD, ""]) && !twice(&["", GCD]));
}

#[test]
fn what_a_text_is_answered_with_says_how() {
    let call = written_call(GCD).unwrap();
    let told = |texts: &[&str]| Idling::of(Some(&turn(texts.iter().map(|text| said(text)).collect()))).told(&[]);
    assert_eq!(told(&[GCD]), None, "the result of the call says it");
    assert!(told(&[GCD, GCD]).unwrap().contains("call `write_capability` first"));
    assert!(
        refusal(&call, &["execute_sql", "write_capability"], true).contains("Your next answer is a call of write_capability")
    );
    assert!(refusal(&call, &["gcd"], true).ends_with("Call `gcd` itself, with arguments that fit its parameters."));
    assert!(refusal(&call, &["gcd"], false).ends_with("nothing was called."));
}
