//! Tests of `store::queue::writing`.

use super::*;
use crate::domain::{ConversationId, Origin};

fn lease(fence: i64) -> Lease {
    Lease { turn: TurnId(1), conversation: ConversationId(1), profile: String::new(), fence, origin: Origin::Message, takes: 1 }
}

fn text(writing: &Writing, fence: i64) -> Option<String> {
    writing.of(TurnId(1), fence).map(|unfinished| unfinished.text)
}

#[test]
fn what_is_written_is_known_until_the_pen_is_put_down() {
    let writing = Writing::default();
    let pen = writing.begin(&lease(1), 2, "m");
    assert_eq!(text(&writing, 1), None, "nothing was said");
    pen.write("one ");
    pen.write("two");
    assert_eq!(text(&writing, 1).as_deref(), Some("one two"));
    assert_eq!(text(&writing, 2), None, "that is somebody else's");
    pen.begin_again();
    assert_eq!(text(&writing, 1), None);
    pen.write("three");
    drop(pen);
    assert_eq!(text(&writing, 1), None);
}

#[test]
fn an_old_holder_neither_writes_into_the_text_of_the_new_one_nor_takes_it_away() {
    let writing = Writing::default();
    let old = writing.begin(&lease(1), 1, "m");
    let new = writing.begin(&lease(2), 1, "m");
    new.write("new");
    old.write("old");
    old.begin_again();
    drop(old);
    assert_eq!(text(&writing, 2).as_deref(), Some("new"));
}
