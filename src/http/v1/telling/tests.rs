//! Tests of `http::v1::telling`.

use serde_json::json;

use super::*;
use crate::domain::ConversationId;

fn answered(number: i32, content: &str, last: bool) -> EventRecord {
    let answered = json!({ "kind": "step_answered", "turn": 1, "step": number, "number": number, "model": "m", "finish_reason": "stop",
            "content": content, "last": last });
    let event = serde_json::from_value(answered).unwrap();
    EventRecord { conversation: ConversationId(1), sequence: 1, at: chrono::DateTime::UNIX_EPOCH, event }
}

/// A client's whole text, after `(step, attempt, text)` as deltas, and of attempt 0 as the
/// record.
fn whole_text(listening: bool, said: &[(i32, i64, &str)]) -> String {
    let mut telling = Telling::of(TurnId(1), listening);
    let mut pieces = Vec::new();
    for (step, attempt, text) in said {
        match attempt {
            0 => pieces.extend(telling.record(&answered(*step, text, false))),
            _ => pieces.extend(telling.delta(*step, *attempt, text)),
        }
    }
    let text = |piece: &StreamPiece| match piece {
        StreamPiece::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    };
    let joined: String = pieces.iter().map(text).collect();
    assert_eq!(joined, telling.text());
    joined
}

#[test]
fn below_what_nothing_shows_it_is_said_so() {
    let mut telling = Telling::of(TurnId(1), false);
    for (number, last) in [(1, false), (2, true)] {
        let mut record = answered(number, "I have sent it.", last);
        if let Event::StepAnswered(step) = &mut record.event {
            step.unproven = true;
        }
        telling.record(&record);
    }
    let told = format!("I have sent it.\n\n{TAKEN_BACK}\n\nI have sent it.\n\n{UNPROVEN}");
    assert_eq!(telling.text(), told);
}

#[test]
fn pieces_and_record_make_the_same_text() {
    let whole = whole_text(false, &[(1, 0, "Looking."), (2, 0, ""), (3, 0, "Found: é")]);
    assert_eq!(whole, "Looking.\n\nFound: é");
    let pieces = [(1, 1, "Look"), (1, 1, "ing."), (1, 0, "Looking."), (2, 1, " \n"), (2, 0, ""), (3, 1, "Found: "), (3, 1, "é")];
    assert_eq!(whole_text(true, &[&pieces[..], &[(3, 0, "Found: é")]].concat()), whole);
    // The client heard only the beginning of the last step.
    assert_eq!(whole_text(true, &[&pieces[..6], &[(3, 0, "Found: é")]].concat()), whole);
}

#[test]
fn a_new_attempt_that_says_the_same_is_told_once_and_another_below_it() {
    assert_eq!(whole_text(true, &[(1, 1, "One, t"), (1, 2, "One"), (1, 2, ", two"), (1, 0, "One, two")]), "One, two");
    assert_eq!(whole_text(true, &[(1, 1, "One, t"), (1, 2, "Oh"), (1, 2, "!"), (1, 1, "late"), (1, 0, "Oh!")]), "One, t\n\nOh!");
    assert_eq!(whole_text(true, &[(1, 1, "a key: s3cret"), (1, 0, "a key: [hidden]")]), "a key: s3cret\n\na key: [hidden]");
    assert_eq!(whole_text(true, &[(1, 1, "done \n"), (1, 0, "done"), (2, 1, "more")]), "done \n\n\nmore");
    assert_eq!(whole_text(true, &[(1, 1, "done and more"), (1, 0, "done")]), "done and more\n\ndone");
}

#[test]
fn who_comes_late_hears_no_step_from_its_middle() {
    assert_eq!(
        whole_text(false, &[(1, 1, "ddle"), (1, 0, "middle"), (2, 1, "d"), (2, 0, "end"), (3, 1, "x")]),
        "middle\n\nend\n\nx"
    );
}
