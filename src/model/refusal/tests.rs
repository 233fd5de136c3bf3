//! Tests of `model::refusal`.

use super::*;
use serde_json::json;

const PEER: RefusingServer<'static> = RefusingServer {
    address: "http://x/v1",
    model: "m",
    has_key: true,
    key_variable: "LLM_API_KEY",
    address_variable: "LLM_BASE_URL",
};

fn refused(status: u16, body: &str) -> FailedAttempt {
    PEER.refused(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes(), DateTime::UNIX_EPOCH)
}

#[test]
fn the_message_is_found_in_every_shape() {
    for (body, message) in [
        (json!({ "error": { "message": "a", "code": "c" } }), "a"),
        (json!({ "error": "a" }), "a"),
        (json!({ "error": { "message": null, "code": 3 }, "message": "a" }), "a"),
        (json!({ "detail": "a" }), "a"),
        (json!({ "detail": [{ "msg": "a" }] }), "a"),
        (json!([{ "error": { "message": "a", "code": 400 } }]), "a"),
        (json!({ "other": 1 }), ""),
        (json!(null), ""),
    ] {
        assert_eq!(refusal_body(&body).message, message, "{body}");
    }
}

#[test]
fn each_status_has_its_kind_and_names_what_to_mend() {
    for (status, kind, again, names) in [
        (400, Kind::Refused, Again::Never, "400"),
        (401, Kind::Unauthorized, Again::Never, "LLM_API_KEY"),
        (402, Kind::Payment, Again::Never, "LLM_API_KEY"),
        (403, Kind::Unauthorized, Again::Never, "LLM_API_KEY"),
        (404, Kind::Refused, Again::Never, "LLM_MODEL"),
        (408, Kind::Server, Again::Later(None), "408"),
        (413, Kind::ContextOverflow, Again::Never, "too long"),
        (422, Kind::Refused, Again::Never, "422"),
        (429, Kind::RateLimited, Again::Later(None), "429"),
        (500, Kind::Server, Again::Later(None), "500"),
        (529, Kind::Server, Again::Later(None), "529"),
    ] {
        let failure = refused(status, "{}");
        assert_eq!((failure.error.kind, failure.again), (kind, again), "{status}");
        assert!(failure.error.message.contains(names), "{}", failure.error);
    }
}

#[test]
fn a_conversation_too_long_is_seen_in_code_or_text() {
    for body in [
        r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}"#,
    ] {
        assert_eq!(refused(400, body).error.kind, Kind::ContextOverflow, "{body}");
    }
}

#[test]
fn a_used_up_quota_is_not_a_rate_limit() {
    let failure = refused(429, r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#);
    assert_eq!((failure.error.kind, failure.again), (Kind::Payment, Again::Never));
}

#[test]
fn a_web_page_becomes_one_short_line() {
    let page = format!("<html><style>p {{ color: red }}</style><body>\n<h1>Busy</h1>{}</body></html>", "<p>x y</p>".repeat(500));
    let message = refused(429, &page).error.message;
    assert!(message.contains("It said: Busy x y x y") && !message.contains('<') && !message.contains("color"), "{message}");
    assert!(message.chars().count() < 400, "{message}");
}

#[test]
fn errors_inside_a_stream_keep_their_status() {
    let inside = |chunk: Value| PEER.error_inside(&chunk).map(|failure| (failure.error.kind, failure.again));
    let later = Again::Later(None);
    assert_eq!(inside(json!({ "error": { "code": 429, "message": "slow" } })), Some((Kind::RateLimited, later)));
    assert_eq!(inside(json!({ "error": { "code": "502" }, "choices": [] })), Some((Kind::Server, later)));
    assert_eq!(inside(json!({ "type": "error", "error": { "type": "overloaded_error" } })), Some((Kind::Server, later)));
    assert_eq!(inside(json!({ "choices": [{ "finish_reason": "error" }] })), Some((Kind::Server, later)));
    assert_eq!(inside(json!({ "error": "boom" })), Some((Kind::Server, later)));
    assert_eq!(inside(json!({ "error": null, "choices": [{ "finish_reason": "stop" }] })), None);
}
