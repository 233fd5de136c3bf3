//! Tests of `coach::insist`.

use super::*;
use crate::domain::{CallRequest, ToolCallId, TurnId, TurnState};

fn step(tool: &str, refusal: Option<RefusalCode>) -> [HistoryEntry; 2] {
    let calls = vec![CallRequest { id: "a".into(), name: tool.into(), arguments: "{}".into() }];
    [HistoryEntry::Assistant(String::new(), calls), HistoryEntry::Tool("a".into(), "…".into(), ToolCallId(1), 0, refusal)]
}

fn insisted(steps: &[[HistoryEntry; 2]], after: Option<HistoryEntry>) -> bool {
    let begin = HistoryEntry::User("u".into(), chrono::DateTime::UNIX_EPOCH);
    let entries: Vec<_> = [begin].into_iter().chain(steps.iter().flatten().cloned()).chain(after).collect();
    let unproven =
        entries.iter().position(|entry| matches!(entry, HistoryEntry::Assistant(text, _) if [CLAIM, PROMISE].contains(&&**text)));
    let (turn, state, unproven) = (TurnId(1), TurnState::Running, unproven.into_iter().collect());
    insists(&Exchange { turn, state, reason: None, entries, waits: false, unproven }, |name| name == "execute_sql")
}

const CLAIM: &str = "It is done.";
const PROMISE: &str = "I will create the table.";
const WRONG: Option<RefusalCode> = Some(RefusalCode::SqlError);
const UNKNOWN: Option<RefusalCode> = Some(RefusalCode::UnknownTool);

#[test]
fn a_model_is_held_to_a_call_after_what_it_can_put_right() {
    assert!(insisted(&[step("execute_sql", WRONG)], None));
    assert!(insisted(&[step("gcd", UNKNOWN)], None));
    assert!(insisted(&[step("gcd", UNKNOWN), step("execute_sql", WRONG)], None));
    assert!(insisted(&[step("execute_sql", None), step("execute_sql", WRONG)], None));
}

#[test]
fn it_may_talk_after_a_result_a_refusal_and_too_many_attempts() {
    assert!(!insisted(&[], None));
    assert!(!insisted(&[step("execute_sql", WRONG), step("execute_sql", None)], None));
    assert!(!insisted(&[step("execute_sql", Some(RefusalCode::Denied))], None));
    assert!(!insisted(&[step("execute_sql", Some(RefusalCode::SqlForbidden))], None));
    let many = [WRONG; 4].map(|result| step("execute_sql", result));
    assert!(insisted(&many[..3], None) && !insisted(&many, None));
    let claim = HistoryEntry::Assistant(CLAIM.into(), Vec::new());
    assert!(insisted(&[], Some(claim)), "what was claimed is to be done");
    let promise = HistoryEntry::Assistant(PROMISE.into(), Vec::new());
    assert!(!insisted(&[], Some(promise)), "a plan may be all that was asked for");
    let answer = HistoryEntry::Assistant("I cannot.".into(), Vec::new());
    assert!(!insisted(&[step("execute_sql", WRONG)], Some(answer)));
}
