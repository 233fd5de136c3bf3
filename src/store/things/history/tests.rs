//! Tests of `store::things::history`.

use std::cell::Cell;

use serde_json::json;

use super::*;

#[test]
fn a_text_is_searched_once_for_the_same_secrets_and_again_for_others() {
    let row = json!({"turn_id": 1, "message_id": 1, "state": "completed", "role": "user", "content": "the word is xyzzy",
                     "created_at": "2026-11-26T00:00:00Z"});
    let rows = [Arc::new(serde_json::from_value::<Message>(row).unwrap())];
    let searched = Cell::new(0);
    let shown = |edition: u64, secret: &str| {
        let history = of(&rows, TurnId(2), 10, edition, |text| {
            searched.set(searched.get() + 1);
            if text.contains(secret) { Cow::Owned(text.replace(secret, "[secret]")) } else { Cow::Borrowed(text) }
        });
        match &history.exchanges[0].entries[0] {
            HistoryEntry::User(text, _) => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((shown(1, "plugh"), searched.get()), ("the word is xyzzy".to_owned(), 1));
    assert_eq!((shown(1, "plugh"), searched.get()), ("the word is xyzzy".to_owned(), 1));
    assert_eq!((shown(2, "xyzzy"), searched.get()), ("the word is [secret]".to_owned(), 2));
    assert_eq!((shown(2, "xyzzy"), searched.get()), ("the word is [secret]".to_owned(), 2));
    assert_eq!((shown(3, "plugh"), searched.get()), ("the word is xyzzy".to_owned(), 3));
}
