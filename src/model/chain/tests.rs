//! Tests of `model::chain`.

use super::*;
use crate::clock::ManualClock;
use std::collections::VecDeque;

/// Says these things in order, each after a piece of text if there is one.
struct Scripted(&'static str, Mutex<VecDeque<(&'static str, Option<ModelErrorKind>)>>);

impl Model for Scripted {
    fn answer<'a>(&'a self, _: Request, on_delta: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let (text, fails) = self.1.lock().unwrap().pop_front().unwrap_or_else(|| panic!("{} was asked too often", self.0));
        if !text.is_empty() {
            on_delta(text);
        }
        let answer = Answer {
            content: text.into(),
            calls: Vec::new(),
            finish_reason: "stop".into(),
            usage: None,
            estimate: None,
            model: self.0.into(),
        };
        let message = format!("{} is unwell.", self.0);
        Box::pin(std::future::ready(fails.map_or(Ok(answer), |kind| Err(ModelError::new(kind, message)))))
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { name: self.0.into(), ..ModelInfo::default() }
    }
}

type Script = Vec<(&'static str, Option<ModelErrorKind>)>;

fn chain(clock: &ManualClock, scripts: Vec<(&'static str, Script)>) -> Chain {
    let member = |(name, script): (&'static str, Script)| Member {
        name: format!("p/{name}"),
        model: Arc::new(Scripted(name, Mutex::new(script.into()))),
        health: Arc::default(),
    };
    Chain::new(scripts.into_iter().map(member).collect(), Arc::new(clock.clone()))
}

async fn asked(chain: &Chain) -> Result<String, (ModelErrorKind, String)> {
    let request = Request::default();
    chain.answer(request, &|_| {}).await.map(|answer| answer.model).map_err(|error| (error.kind, error.message))
}

const DOWN: (&str, Option<ModelErrorKind>) = ("", Some(ModelErrorKind::Unreachable));
const WELL: (&str, Option<ModelErrorKind>) = ("hello", None);

#[tokio::test]
async fn the_next_answers_while_the_first_is_down_and_the_first_is_tried_again_after_30_seconds() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let chain = chain(&clock, vec![("a", vec![DOWN, WELL]), ("b", vec![WELL, WELL])]);
    assert_eq!(chain.info().name, "a");
    assert_eq!(asked(&chain).await, Ok("b".into()));
    clock.advance(TimeDelta::seconds(29));
    assert_eq!(chain.info().name, "b");
    assert_eq!(asked(&chain).await, Ok("b".into()), "the first was not asked");
    clock.advance(TimeDelta::seconds(1));
    assert_eq!((asked(&chain).await, chain.info().name.as_str()), (Ok("a".into()), "a"));
}

#[tokio::test]
async fn where_none_answers_each_is_named_with_its_sentence_and_all_are_tried_the_next_time() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let chain = chain(&clock, vec![("a", vec![DOWN, DOWN]), ("b", vec![("", Some(ModelErrorKind::Payment)), WELL])]);
    let told = "No model answered. p/a: a is unwell. p/b: b is unwell.".to_owned();
    assert_eq!(asked(&chain).await, Err((ModelErrorKind::Payment, told)));
    assert_eq!(asked(&chain).await, Ok("b".into()));
}

#[tokio::test]
async fn one_that_is_passed_over_is_named_too() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let chain = chain(&clock, vec![("a", vec![DOWN]), ("b", vec![WELL, ("", Some(ModelErrorKind::Server))])]);
    asked(&chain).await.unwrap();
    let (kind, told) = asked(&chain).await.unwrap_err();
    assert_eq!(kind, ModelErrorKind::Server);
    assert_eq!(told, "No model answered. p/a: Passed over, since a moment ago: a is unwell. p/b: b is unwell.");
}

#[tokio::test]
async fn an_answer_that_began_and_a_request_that_was_refused_go_to_no_other() {
    use ModelErrorKind as Kind;
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    for kind in [Kind::ContextOverflow, Kind::Refused, Kind::Cut, Kind::Malformed] {
        let chain = chain(&clock, vec![("a", vec![("", Some(kind)), WELL]), ("b", vec![])]);
        assert_eq!(asked(&chain).await.unwrap_err().0, kind);
        assert_eq!(asked(&chain).await, Ok("a".into()), "it is not down");
    }
    let chain = chain(&clock, vec![("a", vec![("half", Some(Kind::Server))]), ("b", vec![])]);
    assert_eq!(asked(&chain).await.unwrap_err().0, Kind::Server);
}

#[tokio::test]
async fn every_kind_of_being_down_goes_on_to_the_next() {
    use ModelErrorKind as Kind;
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    for kind in [Kind::Unreachable, Kind::Server, Kind::Timeout, Kind::RateLimited, Kind::Unauthorized, Kind::Payment] {
        let chain = chain(&clock, vec![("a", vec![("", Some(kind))]), ("b", vec![WELL])]);
        assert_eq!(asked(&chain).await, Ok("b".into()));
    }
}

#[test]
fn one_that_cannot_see_is_told_of_the_images_the_first_would_have_seen() {
    use super::super::{Entry, Picture};
    let image = crate::domain::Image { sha256: "ab".into(), media_type: crate::domain::ImageType::Png, size: 2048 };
    let picture = Picture { image, url: "data:image/png;base64,AAAA".into() };
    let seen = |content: &str| Entry::UserWithImages { content: content.into(), images: vec![picture.clone()] };
    let blind = Request { entries: vec![seen("what is this?"), seen("")], ..Request::default() }.without_images();
    let line = "[image, image/png, 2 KB: this model cannot see images]";
    assert_eq!(blind.entries, [Entry::User(format!("what is this?\n{line}")), Entry::User(line.into())]);
}
