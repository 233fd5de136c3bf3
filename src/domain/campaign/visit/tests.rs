//! Proposals about pages.

use serde_json::{Value, json};
use url::Url;

use super::super::tests::with_pages;
use super::*;

fn url(address: &str) -> Url {
    Url::parse(address).unwrap()
}

fn reading(text: &str) -> PageReading {
    PageReading {
        reading: "ab.1".to_owned(),
        tab: "T".to_owned(),
        address: "https://example.com/".to_owned(),
        host: "example.com".to_owned(),
        title: "t".to_owned(),
        text: text.to_owned(),
        nodes: vec![PageNode { number: 1, role: "button".to_owned(), name: "Send".to_owned() }],
    }
}

fn touch(tool: &str, left: bool) -> PageTouch {
    let plan = PagePlan::Open { address: url("https://example.com/") };
    PageTouch { state: OperationState::Done, left, ..plan.touch(tool) }
}

fn plan(pages: Pages, tool: &str, arguments: Value) -> Result<PagePlan, String> {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    PagePlan::of(&with_pages(pages), &ExecuteTool { task: 1, tool: tool.to_owned(), arguments })
}

#[test]
fn a_node_belongs_to_a_reading_whose_page_is_still_there() {
    let why = |pages: &Pages, tool, arguments| plan(pages.clone(), tool, arguments).unwrap_err();
    let none = Pages::default();
    assert_eq!(why(&none, CLICK, json!({"node": 1})), "no page was read yet; propose browser_read");
    assert_eq!(why(&none, READ, json!({})), "no page is open yet; propose browser_open");
    assert!(why(&none, OPEN, json!({"address": "https://evil.test/"})).starts_with("arguments.address: evil.test is no host"));
    let read = Pages { reading: Some((5, reading("x"))), touch: Some((4, touch(OPEN, true))), ..Pages::default() };
    let click = plan(read.clone(), CLICK, json!({"node": 1})).unwrap();
    assert!(click.touches() && click.card()[0].contains("Clicks [1] button “Send” on https://example.com/"));
    assert_eq!(why(&read, CLICK, json!({"node": 9})), "arguments.node: the page as it was read has no node 9");
    assert_eq!(why(&read, CLICK, json!({"node": "1"})), "arguments.node: expected the number of a node");
    assert!(why(&read, TYPE, json!({"node": 1})).starts_with("arguments.text"));
    assert!(why(&read, READ, json!({"all": true})).contains("takes no such argument; it takes: none"));
    assert!(why(&read, SCROLL, json!({"direction": "left"})).ends_with("it is up or down"));
    assert!(why(&read, SCREENSHOT, json!({"key": "No Key"})).starts_with("arguments.key"));
    let left = Pages { touch: Some((6, touch(CLICK, true))), ..read.clone() };
    assert!(why(&left, CLICK, json!({"node": 1})).contains("its numbers are void; propose browser_read"));
    let stays = Pages { touch: Some((6, touch(TYPE, false))), ..read };
    assert!(plan(stays, CLICK, json!({"node": 1})).is_ok());
}

#[test]
fn the_same_page_read_again_is_no_news_and_a_touch_is() {
    let pages = |read, text: &str, touched| Pages {
        reading: Some((read, reading(text))),
        touch: Some((touched, touch(SCROLL, false))),
        ..Pages::default()
    };
    assert_eq!(pages(5, "x", 4).shown(), pages(6, "x", 4).shown());
    assert_ne!(pages(5, "x", 4).shown(), pages(5, "y", 4).shown());
    assert_ne!(pages(5, "x", 4).shown(), pages(5, "x", 6).shown());
    assert_eq!(Pages::default().shown(), None);
    let unknown =
        Pages { touch: Some((7, PageTouch { state: OperationState::Unknown, ..touch(CLICK, true) })), ..Pages::default() };
    assert!(unknown.uncertain() && !pages(5, "x", 4).uncertain());
}
