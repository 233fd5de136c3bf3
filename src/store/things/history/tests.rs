//! Messages that are known, together with those that came since.

use std::sync::Arc;

use serde_json::json;

use super::{CONVERSATIONS, Known, KnownMessages, Message, together};
use crate::domain::{ConversationId, TurnId};

fn message(id: i64, turn: i64) -> Message {
    serde_json::from_value(json!({
        "message_id": id, "turn_id": turn, "state": "completed", "reason": null, "role": "user", "content": format!("words {id}"),
        "created_at": "2026-11-20T08:00:00Z", "steered": false, "from_step": null, "images": [], "tool_call_id": null, "request_id": null,
        "undone_at": null, "refusal": null, "logged": 0, "unproven": false, "calls": null,
    }))
    .unwrap()
}

fn ids(rows: &[Arc<Message>]) -> Vec<i64> {
    rows.iter().map(|row| row.message_id).collect()
}

fn kept(messages: &KnownMessages, turn: i64) -> Option<Arc<Known>> {
    messages.of(ConversationId(1), TurnId(turn), 3)
}

#[test]
fn what_is_known_and_what_came_since_are_the_newest_of_both() {
    let messages = KnownMessages::default();
    let first = together(None, vec![message(1, 1), message(2, 1), message(3, 2), message(4, 3)], TurnId(3), 3);
    messages.keep((ConversationId(1), TurnId(3)), 9, 3, &first);
    let known = kept(&messages, 4).unwrap();
    assert_eq!(ids(&known.rows), [1, 2, 3], "the turn itself is read again");
    assert_eq!(known.place(), json!({ "turn": 3, "sequence": 9 }));
    // One more than three of the earlier turns, and all of the turn itself.
    let next = together(Some(&known), vec![message(4, 3), message(5, 3), message(6, 4), message(7, 4)], TurnId(4), 3);
    assert_eq!(ids(&next), [2, 3, 4, 5, 6, 7]);
}

#[test]
fn messages_are_known_for_a_later_turn_that_wants_as_many() {
    let messages = KnownMessages::default();
    messages.keep((ConversationId(1), TurnId(3)), 9, 3, &[Arc::new(message(1, 1))]);
    assert!(kept(&messages, 2).is_none() && kept(&messages, 3).is_some());
    assert!(messages.of(ConversationId(1), TurnId(3), 4).is_none());
    assert!(messages.of(ConversationId(2), TurnId(3), 3).is_none());
}

#[test]
fn few_conversations_are_kept_and_none_with_very_long_words() {
    let messages = KnownMessages::default();
    for conversation in 1..=i64::try_from(CONVERSATIONS).unwrap() + 1 {
        messages.keep((ConversationId(conversation), TurnId(3)), 9, 3, &[Arc::new(message(1, 1))]);
    }
    assert!(kept(&messages, 3).is_none() && messages.of(ConversationId(2), TurnId(3), 3).is_some());
    let long = Message { content: "x".repeat(super::BYTES + 1), ..message(1, 1) };
    messages.keep((ConversationId(2), TurnId(4)), 10, 3, &[Arc::new(long)]);
    assert!(messages.of(ConversationId(2), TurnId(5), 3).is_none(), "and the older ones are gone with it");
}
