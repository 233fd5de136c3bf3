//! Tests of `http::v1::history`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::*;

fn read(messages: Value) -> Result<ClientHistory, Value> {
    let messages = serde_json::from_value(messages).unwrap();
    ClientHistory::read(messages).map_err(|refusal| json!(refusal.into_event())["error"].take())
}

fn say(messages: Value) -> ClientHistory {
    read(messages).unwrap()
}

/// A small image with this last byte.
fn png(last: u8) -> Value {
    let data = STANDARD.encode([b"\x89PNG\r\n\x1a\n", &[last][..]].concat());
    json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}"), "detail": "auto"}})
}

fn last_bytes(images: &[NewImage]) -> Vec<u8> {
    images.iter().map(|new| *new.bytes.last().unwrap()).collect()
}

#[test]
fn what_follows_the_last_answer_is_the_input() {
    let read = say(json!([
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"},
        {"role": "user", "content": [{"type": "text", "text": "three"}, png(1), {"type": "text", "text": "four"}]},
        {"role": "user", "content": "five"},
        {"role": "user", "content": [png(2)]},
    ]));
    assert_eq!((read.input.trim(), last_bytes(&read.images)), ("three\nfour\n\nfive", vec![1, 2]));
    assert!(read.earlier.contains("\nuser: one\n\nassistant: two\n"), "{}", read.earlier);
    assert_eq!(read.instructions, "be kind");
}

#[test]
fn an_answer_that_is_sent_back_is_the_history_that_was_foretold() {
    let asks = json!({"role": "user", "content": [{"type": "text", "text": "one"}, png(1)]});
    let first = say(json!([asks]));
    assert_eq!(first.before, None);
    let told = link(&first.asked, "assistant", "two\r\nlines ");
    let next = json!([asks, {"role": "assistant", "content": "two\nlines"}, {"role": "user", "content": "x"}]);
    assert_eq!(say(next.clone()).before, Some(told));
    let without = json!("one");
    let other_image = json!([{"type": "text", "text": "one"}, png(2)]);
    let other_text = json!([{"type": "text", "text": "ona"}, png(1)]);
    let forks = [(0, "content", without), (0, "content", other_image), (0, "content", other_text)];
    for (at, field, other) in forks.into_iter().chain([(1, "content", json!("two lines"))]) {
        let mut forked = next.clone();
        forked[at][field] = other;
        assert_ne!(say(forked.clone()).before, Some(told), "{forked}");
    }
    // The same bytes are the same image, however they are encoded.
    let mut other = next;
    let url = other[0]["content"][1]["image_url"]["url"].as_str().unwrap().replace("image/png;", "image/png;name=x;");
    other[0]["content"][1] = json!({"type": "input_image", "image_url": url});
    assert_eq!(say(other).before, Some(told));
}

#[test]
fn the_newest_images_of_a_history_come_along_and_nothing_in_it_refuses_a_request() {
    let far = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    let read = say(json!([
        {"role": "user", "content": [png(1), png(2), far]}, {"role": "assistant", "content": "ok"},
        {"role": "user", "content": [{"type": "text", "text": "and"}, png(3)]}, {"role": "assistant", "content": "ok"},
        {"role": "user", "content": [png(4), png(5)]},
    ]));
    assert_eq!((last_bytes(&read.earlier_images), last_bytes(&read.images)), (vec![2, 3], vec![4, 5]));
    let lines = "user: \n[an image, which is not sent along any more]\n[image 1, which comes with this message]\n\
                     [an image, which was not given to level3]\n\nassistant: ok\n\nuser: and\n[image 2, which comes with this message]\n";
    assert!(read.earlier.contains(lines), "{}", read.earlier);
}

#[test]
fn a_wrong_message_is_named() {
    let with = |url: Value| json!([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": url}]}]);
    let image = json!({"role": "user", "content": [png(1), png(2), png(3)]});
    for (messages, param, told) in [
        (json!([]), "messages", "nothing to react to"),
        (json!([{"role": "user", "content": "  "}]), "messages", "nothing to react to"),
        (json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]), "messages", "nothing"),
        (json!([{"role": "robot", "content": "a"}]), "messages[0].role", "no role"),
        (json!([{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]), "messages[1].role", "its own tools"),
        (json!([{"role": "user", "content": 7}]), "messages[0].content", "list of parts"),
        (json!([{"role": "user", "content": [{"type": "input_audio"}]}]), "messages[0].content[0]", "`input_audio`"),
        (json!([{"role": "assistant", "content": [png(1)]}]), "messages[0].content[0]", "as a user's"),
        (with(Value::Null), "messages[0].content[1]", "with its `url`"),
        (with(json!({"url": "https://x.example/a.png"})), "messages[0].content[1]", "image 1 is an address"),
        (with(json!("data:image/png;base64,AAAA")), "messages[0].content[1]", "image 1 is not image/png"),
        (json!([image, image]), "messages", "6 images; 4 is the most"),
    ] {
        let error = read(messages).unwrap_err();
        assert_eq!(error["param"], param, "{error}");
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
        let unsupported = param.ends_with(']') || told.contains("images");
        assert_eq!(error["code"] == "unsupported_content", unsupported, "{error}");
    }
}
