//! Tests of `runner::turn_log::lines`.

use serde_json::json;

use super::*;
use crate::domain::ConversationId;

#[test]
fn the_lines_of_one_event_share_its_number_and_are_counted() {
    let outcome = json!({ "ok": true, "result": "done" });
    let ended =
        json!({ "kind": "tool_call_ended", "turn": 2, "call": 3, "name": "restart", "outcome": outcome, "verdict": "allow" });
    let event = serde_json::from_value(ended).unwrap();
    let record = EventRecord { conversation: ConversationId(1), sequence: 9, at: chrono::DateTime::UNIX_EPOCH, event };
    let lines = lines(&record, &LineInputs::default());
    let places: Vec<_> = lines.iter().map(|line| (line.event, line.turn, line.call, line.seq, line.part)).collect();
    let (turn, call) = (TurnId(2), Some(ToolCallId(3)));
    let wanted = [("decision", 1), ("execution_started", 2), ("execution_result", 3)];
    assert_eq!(places, wanted.map(|(event, part)| (event, turn, call, 9, part)));
}
