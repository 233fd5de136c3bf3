//! Calls of functions in each published form.

use super::*;

#[test]
fn a_call_is_read_in_each_of_the_published_forms() {
    let wanted = AskedCall { id: "a".into(), name: "createTask".into(), arguments: json!({"description": "milk"}) };
    for call in [
        json!({"id": "a", "type": "function", "function": {"name": "createTask", "arguments": "{\"description\":\"milk\"}"}}),
        json!({"id": "a", "type": "function", "function": {"name": "createTask", "arguments": {"description": "milk"}}}),
        json!({"id": "a", "name": "createTask", "arguments": {"description": "milk"}}),
        json!({"id": "a", "name": "createTask", "parameters": {"description": "milk"}}),
    ] {
        assert_eq!(calls(&json!({ "toolCallList": [call.clone()] })), std::slice::from_ref(&wanted), "{call}");
        assert_eq!(calls(&json!({ "toolCalls": [call] })).len(), 1);
    }
    assert_eq!(calls(&json!({"toolCallList": [{"name": "no id"}, {"id": "no name"}, 7]})), []);
    assert_eq!(calls(&json!({})), []);
    let broken = calls(&json!({"toolCallList": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]}));
    assert_eq!(broken[0].arguments, Value::Null);
}
