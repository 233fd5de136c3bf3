//! Tests of `cli::relay::transcript`.

use serde_json::{Value, json};

use super::*;

fn message(seq: i64, said_by: &str, delivery: Option<&str>) -> ToldMessage {
    let value: Value = json!({"id": 30 + seq, "seq": seq, "at": "2026-11-23T09:00:00Z", "said_by": said_by, "text": "Hi\u{1b}[2J\nyou",
        "untrusted": said_by == "contact", "delivery": delivery, "follow_up": false, "reason": null, "sent_at": null,
        "delivered_at": null, "read_at": null, "media": null, "cut": false});
    serde_json::from_value(value).unwrap()
}

fn printed(work: impl FnOnce(&mut Screen<'_>)) -> String {
    let mut out = Vec::new();
    work(&mut Screen { out: &mut out, json: false, terminal: false });
    String::from_utf8(out).unwrap()
}

#[test]
fn a_contacts_words_stay_behind_their_margin_and_do_not_act_on_the_terminal() {
    let said = printed(|screen| print(&message(1, "contact", None), screen).unwrap());
    assert_eq!(said, "2026-11-23 09:00:00 UTC  contact  [message 31]\n    Hi\\u{1b}[2J\n    you\n");
}

#[test]
fn news_are_new_messages_and_what_got_further() {
    let mut shown = BTreeMap::new();
    let first = [message(1, "agent", Some("queued"))];
    assert_eq!(news(&first, &mut shown), [News::Said(&first[0])]);
    assert_eq!(news(&first, &mut shown), []);
    let then = [message(1, "agent", Some("sent")), message(2, "contact", None)];
    assert_eq!(news(&then, &mut shown), [News::Delivered(&then[0]), News::Said(&then[1])]);
}

#[test]
fn following_ends_when_nothing_can_come() {
    let of = |state: &str, delivery| ToldTranscript {
        instance: 7,
        state: state.into(),
        messages: vec![message(1, "agent", Some(delivery))],
        more: false,
    };
    assert!(is_over(&of("COMPLETED", "sent")) && is_over(&of("FAILED", "cancelled")));
    assert!(!is_over(&of("COMPLETED", "queued")) && !is_over(&of("WAITING_FOR_REPLY", "sent")));
}

#[test]
fn a_message_of_unknown_outcome_says_why() {
    let mut unknown = message(1, "agent", Some("unknown"));
    unknown.reason = Some("the server ended while it was sent".into());
    let said = printed(|screen| print(&unknown, screen).unwrap());
    assert!(said.contains("  unknown (the server ended while it was sent)  [message 31]"), "{said}");
}
