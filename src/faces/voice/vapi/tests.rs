//! Vapi's answers to the making of a call.

use super::*;

fn answer(status: u16, body: &str) -> HttpResponse {
    HttpResponse { status, body: body.as_bytes().to_vec(), ..HttpResponse::default() }
}

#[test]
fn a_call_that_was_made_has_an_id_and_a_room() {
    let whole = r#"{"id": "7420f27a", "webCallUrl": "https://vapi.daily.co/room", "transport": {"callToken": "eyJ"}, "status": "queued"}"#;
    let made_call = made(&answer(201, whole)).unwrap();
    assert_eq!(made_call.id, "7420f27a");
    assert_eq!(made_call.room, VapiRoom { url: "https://vapi.daily.co/room".into(), token: Some("eyJ".into()) });
    let plain = r#"{"id": "1", "transport": {"callUrl": "https://vapi.daily.co/other"}}"#;
    assert_eq!(made(&answer(200, plain)).unwrap().room.token, None);
}

#[test]
fn a_call_that_was_not_made_says_what_to_do() {
    for (status, body, said) in [
        (
            401,
            r#"{"message": "Invalid Key."}"#,
            "Vapi made no call (status 401): “Invalid Key.”; set VOICE_VAPI_KEY to the name of a secret with the right key.",
        ),
        (
            400,
            r#"{"message": ["a is b", "c is d"]}"#,
            "Vapi made no call (status 400): “a is b; c is d”; its dashboard says more.",
        ),
        (502, "<html>", "Vapi made no call (status 502): its dashboard says more."),
        (201, "{}", "Vapi's answer has no webCallUrl: look whether VOICE_VAPI_URL is the address that makes calls by the web."),
        (201, r#"{"webCallUrl": "https://a.daily.co/b"}"#, "Vapi's answer has no id: "),
        (201, r#"{"id": "1", "webCallUrl": "javascript:alert(1)"}"#, "Vapi's answer has no webCallUrl that begins with https: "),
        (200, "<!doctype html>", "Vapi's answer has no webCallUrl: "),
    ] {
        let told = made(&answer(status, body)).unwrap_err().to_string();
        assert!(told.starts_with(said), "{told}");
    }
}
