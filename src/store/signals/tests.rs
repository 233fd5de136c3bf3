//! Tests of `store::signals`.

use super::*;
use crate::domain::{ToolCallId, TurnId};
use crate::facts::{CallBegun, TurnStarted};

fn record(event: Event) -> EventRecord {
    EventRecord { conversation: ConversationId(1), sequence: 7, at: DateTime::UNIX_EPOCH, event }
}

#[test]
fn all_that_hear_an_event_share_the_json_of_its_frame_which_is_written_once() {
    let (signals, record) = (Signals::new(), record(TurnStarted { turn: TurnId(2), fence: 1 }.into()));
    let mut listeners: Vec<_> = (0..3).map(|_| signals.events()).collect();
    signals.announce(record.clone());
    let heard: Vec<_> = listeners.iter_mut().map(|listener| listener.try_recv().unwrap()).collect();
    assert!(heard.iter().all(|heard| **heard == record));
    let frames: Vec<_> = heard.iter().map(|heard| heard.frame_json().unwrap()).collect();
    assert_eq!(frames[0], serde_json::to_string(&record.frame().unwrap()).unwrap());
    // All are held, so a second writing would stand at another place.
    assert!(frames.iter().all(|frame| frame.as_ptr() == frames[0].as_ptr()));
}

#[test]
fn all_that_hear_a_piece_of_text_share_its_json_which_is_written_once() {
    let (signals, conversation, turn) = (Signals::new(), ConversationId(1), TurnId(2));
    let mut listeners: Vec<_> = (0..3).map(|_| signals.deltas()).collect();
    let delta = ServerFrame::Delta { conversation, turn, step: 1, attempt: 1, content: "Olá".into() };
    signals.write(delta.clone());
    let frames: Vec<_> = listeners.iter_mut().map(|listener| listener.try_recv().unwrap().frame_json().unwrap()).collect();
    assert_eq!(frames[0], serde_json::to_string(&delta).unwrap());
    assert!(frames.iter().all(|frame| frame.as_ptr() == frames[0].as_ptr()));
}

#[test]
fn an_event_that_no_client_sees_has_no_json() {
    let (turn, call, name, verdict) = (TurnId(2), ToolCallId(3), "mine".to_owned(), "allow".to_owned());
    let begun = record(CallBegun { turn, call, name, verdict, context: None, run: None }.into());
    assert_eq!(Announced::new(begun).frame_json(), None);
}
