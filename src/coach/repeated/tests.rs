//! Tests of `coach::repeated`.

use super::*;
use crate::domain::{CallRequest, HistoryEntry, TurnId, TurnState};

#[test]
fn a_model_is_warned_of_the_calls_of_its_last_step_alone() {
    let step = |tool: &str| {
        HistoryEntry::Assistant(String::new(), vec![CallRequest { id: "c".into(), name: tool.into(), arguments: "{}".into() }])
    };
    let told = |tools: &[&str]| {
        let entries = tools.iter().map(|tool| step(tool)).collect();
        let turn = TurnId(1);
        warnings(&Exchange { turn, state: TurnState::Running, reason: None, entries, waits: false, unproven: Vec::new() })
    };
    assert_eq!((told(&[]), told(&["a", "a"]), told(&["a", "a", "a", "b"])), (None, None, None));
    assert!(told(&["a", "b", "a", "a"]).unwrap().contains("call number 3 of `a`"));
}
