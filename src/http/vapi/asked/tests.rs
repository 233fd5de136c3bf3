//! The last words of a person, out of all that Vapi sends.

use serde_json::json;

use super::*;

fn read(body: &Value) -> Result<Option<AskedWords>, ()> {
    AskedWords::read(body.to_string().as_bytes()).map(|(words, _)| words)
}

#[test]
fn the_language_is_the_one_that_the_call_was_made_with() {
    let language = |metadata: Value| {
        let body = json!({"messages": [], "metadata": metadata});
        AskedWords::read(body.to_string().as_bytes()).unwrap().1
    };
    assert_eq!(language(json!({"lang": "pt"})), VoiceLanguage::Portuguese);
    for english in [json!({"lang": "en"}), json!({"lang": 7}), json!({}), Value::Null] {
        assert_eq!(language(english), VoiceLanguage::English);
    }
}

#[test]
fn the_last_words_of_the_person_are_new_whatever_stands_beside_them() {
    let body = json!({
        "model": "law", "stream": true, "temperature": 0.5, "call": {"id": "7420"}, "metadata": {}, "phoneNumber": null, "customer": {"number": "+1"},
        "messages": [
            {"role": "system", "content": "You are somebody else."},
            {"role": "assistant", "content": "Hey!"},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "Hi!"},
            {"role": "user", "content": [{"type": "text", "text": "add"}, {"type": "text", "text": "buy milk "}]},
            {"role": "tool", "content": "x"},
        ],
    });
    assert_eq!(read(&body), Ok(Some(AskedWords { count: 2, text: "add buy milk".into() })));
    assert_eq!(read(&json!({"messages": [{"role": "system", "content": "Say hello."}]})), Ok(None));
    assert_eq!(read(&json!({"messages": [{"role": "user", "content": " "}]})), Ok(None));
    assert_eq!((read(&json!({"prompt": "x"})), AskedWords::read(b"[1")), (Err(()), Err(())));
}

#[test]
fn a_request_that_comes_again_has_the_same_id_and_other_words_have_another() {
    let id = |count, text: &str| AskedWords { count, text: text.to_owned() }.id(VoiceCallId(7));
    assert_eq!(id(2, "add buy milk"), id(2, "Add buy milk."));
    assert_ne!(id(2, "add buy"), id(2, "add buy milk"));
    assert_ne!(id(2, "yes"), id(3, "yes"));
    assert!(id(1, "x").starts_with("vapi-7-1-") && id(i32::MAX, &"x".repeat(1000)).len() < 64);
}
