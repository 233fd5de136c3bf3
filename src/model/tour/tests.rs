//! Tests of `model::tour`.

use super::*;
use crate::model::Entry;
use futures::FutureExt;
use std::sync::Mutex;

#[test]
fn the_text_is_streamed_in_a_few_pieces_that_make_up_the_whole() {
    let request = Request { entries: vec![Entry::User("hello".into())], ..Request::default() };
    let heard = Mutex::new(Vec::new());
    let on_delta = |piece: &str| heard.lock().unwrap().push(piece.to_owned());
    let answer = Tour.answer(request, &on_delta).now_or_never().expect("no waiting").unwrap();
    let heard = heard.into_inner().unwrap();
    assert!(heard.len() > 3, "{heard:?}");
    assert_eq!(heard.concat(), answer.content);
}

#[test]
fn it_says_on_the_page_that_it_is_the_tour() {
    assert_eq!(Tour.info().kind, "tour");
}
