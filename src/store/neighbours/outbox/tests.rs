//! Tests of `store::neighbours::outbox`.

use super::*;

fn delta(content: &str) -> ServerFrame {
    let (conversation, turn) = (ConversationId(1), TurnId(2));
    ServerFrame::Delta { conversation, turn, step: 1, attempt: 1, content: content.into() }
}

fn event(sequence: i64) -> EventRecord {
    let event = crate::facts::TurnStarted { turn: TurnId(2), fence: 1 }.into();
    EventRecord { conversation: ConversationId(1), sequence, at: chrono::DateTime::UNIX_EPOCH, event }
}

fn words(outbox: &Outbox) -> Vec<Word> {
    outbox.take().iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

fn in_company() -> Outbox {
    let outbox = Outbox::default();
    outbox.set_company(true);
    outbox
}

#[test]
fn a_server_alone_keeps_nothing_to_tell() {
    let outbox = Outbox::default();
    outbox.tell(&event(1), true);
    outbox.tell_text(&delta("text"));
    assert_eq!(words(&outbox), []);
    assert!(!outbox.is_alone(), "nobody has looked yet");
    outbox.set_company(false);
    assert!(outbox.is_alone());
    outbox.set_company(true);
    assert!(!outbox.is_alone());
    // A server that comes in the middle of an answer hears of a hole, and no text without its
    // beginning.
    outbox.set_company(true);
    outbox.tell_text(&delta(" goes on"));
    let [Word::Text(piece)] = &words(&outbox)[..] else { panic!("one piece") };
    assert_eq!(piece.at, 4);
    assert!(!Answers::default().read(piece));
}

#[test]
fn a_sign_of_presence_is_told_before_the_events_that_follow_from_it() {
    let outbox = Outbox::default();
    outbox.tell_watched(CampaignId(3));
    assert_eq!(words(&outbox), [], "alone, nothing is told");
    let outbox = in_company();
    outbox.tell_watched(CampaignId(3));
    outbox.tell(&event(1), true);
    let told = words(&outbox);
    assert!(matches!(&told[..], [Word::Watched(CampaignId(3)), Word::Event(_)]), "{told:?}");
}

#[test]
fn text_that_waits_is_joined_up_to_what_fits_and_stays_before_its_record() {
    let outbox = in_company();
    for piece in ["Hel", "lo ", &"\u{1}".repeat(3000), "ü"] {
        outbox.tell_text(&delta(piece));
    }
    outbox.tell(&event(7), true);
    assert!(outbox.lock().words.len() > 3);
    let told = outbox.take();
    assert!(told.iter().all(|text| text.len() < 8000), "{:?}", told.iter().map(String::len).collect::<Vec<_>>());
    let told: Vec<Word> = told.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let mut answers = Answers::default();
    let mut text = String::new();
    for word in &told[..told.len() - 1] {
        let Word::Text(piece) = word else { panic!("{word:?}") };
        assert!(answers.read(piece), "no hole");
        text.push_str(&piece.content);
    }
    assert_eq!(text, format!("Hello {}ü", "\u{1}".repeat(3000)));
    let hint =
        Hint { conversation: ConversationId(1), sequence: 7, kind: "turn_started".into(), turn: Some(TurnId(2)), wakes: true };
    assert_eq!(told.last(), Some(&Word::Event(hint)));
}

#[test]
fn under_load_text_is_dropped_first_and_then_events_become_one_word() {
    let outbox = in_company();
    (0..MOST_BEFORE_TEXT as i64).for_each(|n| outbox.tell(&event(n), true));
    outbox.tell_text(&delta("dropped"));
    assert_eq!(outbox.lock().words.len(), MOST_BEFORE_TEXT);
    (0..=(MOST_WORDS - MOST_BEFORE_TEXT) as i64).for_each(|n| outbox.tell(&event(n), true));
    assert_eq!(words(&outbox), [Word::Missed]);
    outbox.tell_text(&delta(" and on"));
    let [Word::Text(piece)] = &words(&outbox)[..] else { panic!("one piece") };
    assert!(!Answers::default().read(piece), "what has a hole is not shown");
}

#[test]
fn a_new_attempt_and_the_next_step_begin_anew() {
    let mut answers = Answers::default();
    assert_eq!(answers.write(TurnId(1), 1, 1, 5), 0);
    assert_eq!(answers.write(TurnId(1), 1, 1, 5), 5);
    assert_eq!(answers.write(TurnId(1), 1, 2, 5), 0);
    assert_eq!(answers.write(TurnId(1), 2, 2, 5), 0);
    answers.forget(TurnId(1));
    assert_eq!(answers.write(TurnId(1), 2, 2, 5), 0);
}

#[test]
fn a_server_that_does_not_say_if_a_turn_may_be_taken_up_wakes_the_others() {
    let old = r#"{"event": {"conversation": 1, "sequence": 7, "kind": "turn_queued", "turn": 2}}"#;
    let Word::Event(hint) = serde_json::from_str(old).unwrap() else { panic!("an event") };
    assert!(hint.wakes);
}
