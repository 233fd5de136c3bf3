//! Tests of `agent::pictures`.

use chrono::DateTime;

use super::*;
use crate::domain::{ImageType, TurnId, TurnState};

fn image(name: &str) -> Image {
    Image { sha256: name.into(), media_type: ImageType::Png, size: 34 * 1024 - 5 }
}

fn exchange(turn: i64, names: &[&str]) -> Exchange {
    let said = HistoryEntry::User("look".into(), DateTime::UNIX_EPOCH);
    let images = HistoryEntry::Images(names.iter().map(|name| image(name)).collect());
    let (turn, state) = (TurnId(turn), TurnState::Completed);
    Exchange { turn, state, reason: None, entries: vec![said, images], waits: false, unproven: Vec::new() }
}

#[test]
fn only_the_newest_images_of_the_newest_turns_are_sent() {
    let names = |history: &[Exchange]| newest(history).iter().map(|image| image.sha256.clone()).collect::<Vec<_>>();
    let history = [exchange(1, &["a"]), exchange(2, &["b"]), exchange(3, &[]), exchange(4, &["c", "d"])];
    assert_eq!(names(&history), ["d", "c", "b"]);
    let many = [exchange(1, &["1", "2", "3", "4"]), exchange(2, &["5", "6", "7", "8"]), exchange(3, &["9"])];
    assert_eq!(names(&many), ["9", "8", "7", "6", "5", "4", "3", "2"]);
}

#[test]
fn what_is_not_sent_is_told() {
    let said = || Entry::User("look".into());
    let blind = Pictures::default().beside(said(), &[image("a")]);
    assert_eq!(blind, Entry::User("look\n[image 1, image/png, 34 KB: this model cannot see images]".into()));
    let seeing = Pictures { sees: true, urls: [("b".to_owned(), Arc::from("data:x"))].into() };
    let Entry::UserWithImages { content, images } = seeing.beside(said(), &[image("a"), image("b")]) else { panic!() };
    assert_eq!(content, "look\n[image 1, image/png, 34 KB: not sent again, it came some time ago]");
    assert_eq!((images.len(), &*images[0].url), (1, "data:x"));
}
