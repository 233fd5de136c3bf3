//! The sentences for a person.

use super::*;
use crate::domain::{CallAccount, Refusal};

fn of(tool: &str, result: &str) -> String {
    said(tool, &Outcome::ok(result), Some("allow"))
}

#[test]
fn what_was_done_is_said_in_a_sentence() {
    for (tool, result, expected) in [
        (EXECUTE_SQL, r#"{"row_count":1}"#, "It changed 1 row."),
        (EXECUTE_SQL, r#"{"results":[[],{"done":"CREATE"}]}"#, "2 statements ran."),
        (EXECUTE_SQL, r#"{"done":"CREATE"}"#, "The statement ran."),
        (EXECUTE_SQL, r#"[{"a":1},{"a":2}]"#, "It gave 2 rows."),
        (MANAGE_TASKS, r#"{"id":1,"title":"Buy tea","status":"pending"}"#, "The task “Buy tea” is on the list."),
        (MANAGE_TASKS, r#"{"id":1,"title":"Buy tea","status":"done"}"#, "The task “Buy tea” is done."),
        (MANAGE_TASKS, r#"{"deleted":{"id":1,"title":"Buy tea"}}"#, "The task “Buy tea” was deleted."),
        (MANAGE_TASKS, "[]", "The tasks were looked at."),
        (WRITE_CAPABILITY, r#"{"installed":"roman","version":2}"#, "Version 2 of the capability `roman` is live."),
        (RESTART, r#"{"reloaded":["roman"]}"#, "Every capability was loaded afresh."),
        ("roman", "XIV", "`roman` was called."),
    ] {
        assert_eq!(of(tool, result), expected);
    }
}

#[test]
fn the_number_of_rows_counts_those_that_are_not_shown() {
    let account = CallAccount { total: Some(300), ..CallAccount::default() };
    let outcome = Outcome { account, ..Outcome::ok(r#"{"rows":[],"cut":"Only the first 200"}"#) };
    assert_eq!(said(EXECUTE_SQL, &outcome, Some("allow")), "It gave 300 rows.");
}

#[test]
fn a_call_that_may_have_happened_is_never_said_to_have_failed() {
    let account = CallAccount { uncertain: true, ..CallAccount::default() };
    let failed = Outcome { account: account.clone(), ..Outcome::failed("It was interrupted.") };
    for verdict in [None, Some("allow")] {
        assert_eq!(said("send_email", &failed, verdict), UNCERTAIN);
    }
    let caught = Outcome { account: CallAccount { version: Some(1), ..account }, ..Outcome::ok("sent?") };
    let told = said("send_email", &caught, Some("allow"));
    assert_eq!(told, "`send_email` was called, version 1. A part of it may or may not have happened.");
}

#[test]
fn code_that_throws_a_failed_statement_on_is_told_in_a_sentence() {
    let of = |before: &str| {
        let statement = Refusal::new(RefusalCode::SqlError, "syntax error at or near \"selec\"").with("code", "42601");
        let thrown = Refusal::new(RefusalCode::CapabilityFailed, format!("{before}{}", statement.for_model()));
        failure(Some(RefusalCode::CapabilityFailed), &thrown.for_model())
    };
    assert_eq!(of(""), "syntax error at or near \"selec\"");
    assert_eq!(of("it failed: "), "it failed: syntax error at or near \"selec\"");
    for own in ["{\"code\":5}", "{\"message\":\"m\"}", "use {a} and {b}"] {
        let thrown = Refusal::new(RefusalCode::CapabilityFailed, own);
        assert_eq!(failure(Some(RefusalCode::CapabilityFailed), &thrown.for_model()), own);
    }
}

#[test]
fn a_failure_ends_in_the_beginning_of_its_fault() {
    let of = |fault: &str| {
        let fault = CallFault { message: fault.to_owned(), line: None };
        said("roman", &Outcome::refused(&Refusal::new(RefusalCode::CapabilityFailed, "m").with_fault(fault)), Some("allow"))
    };
    assert_eq!(of("it is odd"), "The capability failed. The reason: it is odd.");
    assert_eq!(of("\n Odd!\nat line 3"), "The capability failed. The reason: Odd!");
    assert_eq!(of(" \n"), "The capability failed.");
    let long = of(&"é".repeat(LONGEST_REASON));
    assert!(long.ends_with("é…") && long.len() < 2 * LONGEST_REASON, "{long}");
}

#[test]
fn no_words_for_a_model_reach_a_person() {
    for code in RefusalCode::ALL {
        let outcome = Outcome::refused(&Refusal::new(*code, "Make it yourself, the user cannot."));
        let told = said("nope", &outcome, Some("deny"));
        assert!(!told.contains("Make it") && !told.contains("missing field") && told.ends_with('.'), "{code}: {told}");
        // The words of code that threw are its author's.
        let threw = matches!(code, RefusalCode::CapabilityFailed | RefusalCode::CapabilityFault);
        assert_eq!(failure(Some(*code), &outcome.result) == "Make it yourself, the user cannot.", threw, "{code}");
        assert!(outcome.account.fault.is_none(), "{code}");
    }
    assert_eq!(failure(Some(RefusalCode::CapabilityFailed), "{\"cut"), "The capability failed.");
    assert_eq!(failure(None, "The user stopped it; do not try again."), "It did not succeed.");
    // The code stands for both.
    let much = Outcome::refused(&Refusal::new(RefusalCode::TooLarge, "there are 51 tests and there may be 50"));
    assert!(said(WRITE_CAPABILITY, &much, Some("allow")).contains("too many tests"));
    assert_eq!(said("nope", &Outcome::failed("{\"error\": 1}"), Some("allow")), "`nope` did not succeed.");
    assert_eq!(said("nope", &Outcome::failed("Not run."), None), "The turn ended before this was done.");
    let account = CallAccount { cut: true, ..CallAccount::default() };
    let cut = Outcome { account, ..Outcome::failed("Cut off in the middle.") };
    assert_eq!(said("nope", &cut, Some("ask")), "The turn ended before this was done.");
}
