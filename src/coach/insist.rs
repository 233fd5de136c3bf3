//! Holds a model to a call of a tool, in place of talk. Small models that did something wrong tell
//! the user how it would be done right; held to a call, they mostly do it. The same holds for
//! models that claimed a deed they had not done.

use std::collections::HashSet;

use crate::domain::{Exchange, HistoryEntry, RefusalCode};

/// After more failed steps in a row than this, the model may say that it cannot be done.
const MOST: usize = 3;

/// True if everything in the turn's last steps went wrong in a way that its author can put right,
/// and not too often already. True also after an answer that was taken back because nothing
/// recorded shows its claim. `there` says whether there is a tool of a name.
pub(super) fn insists(turn: &Exchange, there: impl Fn(&str) -> bool) -> bool {
    let taken_back = turn.unproven.last().is_some_and(|place| place + 1 == turn.entries.len());
    taken_back || (1..=MOST).contains(&failed_steps(turn, there))
}

/// The number of steps at the turn's end in which every call was a mistake that the model can put
/// right.
fn failed_steps(turn: &Exchange, there: impl Fn(&str) -> bool) -> usize {
    let mut failed = 0;
    let mut wrong = HashSet::new();
    for entry in turn.entries.iter().rev() {
        match entry {
            HistoryEntry::Tool(id, .., refusal) => {
                if refusal.is_some_and(RefusalCode::can_be_put_right) {
                    wrong.insert(id.as_str());
                }
            }
            HistoryEntry::Assistant(_, calls) if !calls.is_empty() => {
                if !calls.iter().all(|call| wrong.contains(call.id.as_str()) || !there(&call.name)) {
                    break;
                }
                failed += 1;
                wrong.clear();
            }
            _ => break,
        }
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CallRequest, ToolCallId, TurnId, TurnState};

    fn step(tool: &str, refusal: Option<RefusalCode>) -> [HistoryEntry; 2] {
        let calls = vec![CallRequest { id: "a".into(), name: tool.into(), arguments: "{}".into() }];
        [HistoryEntry::Assistant(String::new(), calls), HistoryEntry::Tool("a".into(), "…".into(), ToolCallId(1), 0, refusal)]
    }

    fn insisted(steps: &[[HistoryEntry; 2]], after: Option<HistoryEntry>) -> bool {
        let begin = HistoryEntry::User("u".into(), chrono::DateTime::UNIX_EPOCH);
        let entries: Vec<_> = [begin].into_iter().chain(steps.iter().flatten().cloned()).chain(after).collect();
        let unproven = entries.iter().position(|entry| matches!(entry, HistoryEntry::Assistant(text, _) if text == CLAIM));
        let (turn, state, unproven) = (TurnId(1), TurnState::Running, unproven.into_iter().collect());
        insists(&Exchange { turn, state, reason: None, entries, waits: false, unproven }, |name| name == "execute_sql")
    }

    const CLAIM: &str = "It is done.";
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
        let answer = HistoryEntry::Assistant("I cannot.".into(), Vec::new());
        assert!(!insisted(&[step("execute_sql", WRONG)], Some(answer)));
    }
}
