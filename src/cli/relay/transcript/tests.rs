//! Tests of `cli::relay::transcript`.

use super::*;

fn line(seq: i64, said_by: &str, delivery: Option<&str>) -> TranscriptLine {
    let whole: Value = json!({"id": 30 + seq, "seq": seq, "at": "2026-11-23T09:00:00Z", "said_by": said_by, "text": "Hi\u{1b}[2J\nyou",
        "untrusted": said_by == "contact", "delivery": delivery, "follow_up": false, "reason": null, "media": null, "cut": false});
    TranscriptLine { said: serde_json::from_value(whole.clone()).unwrap(), whole }
}

/// The news in words.
fn news_in_words(lines: &[TranscriptLine], shown: &mut BTreeMap<i64, Option<String>>) -> Vec<String> {
    let word = |news: News<'_>| match news {
        News::Said(line) => format!("said {}", line.said.seq),
        News::Delivered(line) => format!("delivered {}", line.said.seq),
    };
    news(lines, shown).into_iter().map(word).collect()
}

fn printed(work: impl FnOnce(&mut Screen<'_>)) -> String {
    let mut out = Vec::new();
    work(&mut Screen { out: &mut out, json: false, terminal: false });
    String::from_utf8(out).unwrap()
}

#[test]
fn a_contacts_words_stay_behind_their_margin_and_do_not_act_on_the_terminal() {
    let said = printed(|screen| print(&line(1, "contact", None).said, screen).unwrap());
    assert_eq!(said, "2026-11-23 09:00:00 UTC  contact  [message 31]\n    Hi\\u{1b}[2J\n    you\n");
}

#[test]
fn news_are_new_messages_and_what_got_further() {
    let mut shown = BTreeMap::new();
    let first = [line(1, "agent", Some("queued"))];
    assert_eq!(news_in_words(&first, &mut shown), ["said 1"]);
    assert_eq!(news_in_words(&first, &mut shown), [""; 0]);
    let then = [line(1, "agent", Some("sent")), line(2, "contact", None)];
    assert_eq!(news_in_words(&then, &mut shown), ["delivered 1", "said 2"]);
}

#[test]
fn following_ends_when_nothing_can_come() {
    let of = |state: &str, delivery| WholeTranscript {
        instance: 7,
        state: state.into(),
        lines: vec![line(1, "agent", Some(delivery))],
    };
    assert!(is_over(&of("COMPLETED", "sent")) && is_over(&of("FAILED", "cancelled")));
    assert!(!is_over(&of("COMPLETED", "queued")) && !is_over(&of("WAITING_FOR_REPLY", "sent")));
}

#[test]
fn a_message_of_unknown_outcome_says_why() {
    let mut unknown = line(1, "agent", Some("unknown")).said;
    unknown.reason = Some("the server ended while it was sent".into());
    let said = printed(|screen| print(&unknown, screen).unwrap());
    assert!(said.contains("  unknown (the server ended while it was sent)  [message 31]"), "{said}");
}

#[test]
fn a_message_that_waits_says_why_and_until_when() {
    let mut waits = line(1, "agent", Some("queued")).said;
    waits.waits = serde_json::from_value(json!({"why": "quiet_hours", "until": "2026-11-24T08:00:00Z"})).unwrap();
    let said = printed(|screen| print(&waits, screen).unwrap());
    assert!(said.contains("  queued (the contact's quiet hours, until 2026-11-24 08:00 UTC)  [message 31]"), "{said}");
}
