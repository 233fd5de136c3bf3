//! Tests of `http::mcp::errors`.

use super::*;

/// Code and id of the fault that a body has.
fn fault(body: &str) -> (i32, Value, String) {
    let (id, error) = read(body.as_bytes()).unwrap_err();
    (error.code.0, json!(id), error.message.into_owned())
}

#[test]
fn a_body_that_is_no_message_is_refused_with_its_id_and_what_is_wrong() {
    let (code, id, told) = fault("{not json");
    assert_eq!((code, id), (-32700, Value::Null), "{told}");
    let (code, id, told) = fault(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
    assert!((code, id) == (-32600, Value::Null) && told.contains("batch"), "{told}");
    for (body, named) in [
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, json!("a")),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7)),
        ("5", Value::Null),
    ] {
        let (code, id, told) = fault(body);
        assert!((code, id) == (-32600, named) && told == words::NO_MESSAGE, "{body}: {told}");
    }
    let (code, id, told) = fault(r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"clientInfo":7}}"#);
    assert!((code, id) == (-32602, json!(2)) && told.contains("cannot be read"), "{told}");
}

#[test]
fn a_message_of_the_protocol_has_no_fault() {
    let id = |body: &str| read(body.as_bytes()).unwrap().map(|id| json!(id));
    assert_eq!(id(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#), Some(json!(3)));
    assert_eq!(id(r#"{"jsonrpc":"2.0","id":"x","method":"odd/one"}"#), Some(json!("x")));
    assert_eq!(id(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
}
