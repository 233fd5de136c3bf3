//! Tests of `sandbox::run`.

use super::*;

#[test]
fn the_place_is_the_first_one_in_the_capability() {
    let stack = "    at parse (native)\n    at inner (capability.js:12:3)\n    at capability.js:1:1\n";
    assert_eq!(place(stack), Some(SourcePlace { line: 12, offset: 3 }));
    assert_eq!(place("    at capability.js:2:13\n"), Some(SourcePlace { line: 2, offset: 13 }));
    assert_eq!(place("    at <prelude>:2:13\n"), None);
    assert_eq!(place("capability.js:x"), None);
}

#[test]
fn a_failed_statement_that_is_thrown_on_is_told_to_a_person_in_its_sentence() {
    let thrown = thrown(r#"{"name":"Error","message":"{\"error\":\"sql_error\",\"message\":\"bad \ud83d\"}"}"#, None);
    let refusal = thrown.refusal();
    assert_eq!(refusal.message, "{\"error\":\"sql_error\",\"message\":\"bad \u{fffd}\"}");
    assert_eq!(refusal.fault.unwrap().message, "bad \u{fffd}");
}

#[test]
fn a_limit_is_told_to_a_person_without_the_advice_to_an_author() {
    let error = memory_exceeded(8 << 20);
    let refusal = error.refusal();
    assert_eq!(refusal.message, "stopped: it needs more than 8 MiB of memory; keep less data at once");
    assert_eq!(refusal.fault.unwrap().message, "stopped: it needs more than 8 MiB of memory.");
}
