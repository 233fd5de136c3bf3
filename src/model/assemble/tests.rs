//! How an answer is put together from its pieces.

use super::*;
use serde_json::json;

fn assembled(chunks: &[Value]) -> Option<Answer> {
    let mut assembly = Assembly::new(1000);
    for chunk in chunks {
        assembly.add(chunk).unwrap();
    }
    assembly.finish("asked")
}

fn delta(delta: Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn calls(pieces: &[Value]) -> Vec<(String, String, String)> {
    let mut chunks: Vec<_> = pieces.iter().map(|piece| delta(json!({ "tool_calls": [piece] }))).collect();
    chunks.push(json!({ "choices": [{ "finish_reason": "tool_calls" }] }));
    let calls = assembled(&chunks).unwrap().calls;
    calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
}

fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.into(), name.into(), arguments.into())
}

#[test]
fn without_a_finish_reason_there_is_no_answer() {
    assert_eq!(assembled(&[delta(json!({ "content": "half" }))]), None);
    assert_eq!(assembled(&[json!({ "choices": [{ "delta": {}, "finish_reason": "" }] })]), None);
}

#[test]
fn text_comes_as_string_or_parts_and_thinking_is_left_out() {
    let answer = assembled(&[
        delta(json!({ "role": "assistant", "content": null, "reasoning_content": "hm" })),
        delta(json!({ "content": "a", "unknown": [1] })),
        delta(json!({ "content": [{ "type": "text", "text": "b" }, { "type": "image" }] })),
        json!({ "choices": [{ "delta": { "content": "c" }, "finish_reason": "stop" }], "model": "m" }),
        json!({ "choices": [], "usage": { "prompt_tokens": 3, "completion_tokens": 2.0 } }),
    ])
    .unwrap();
    assert_eq!((answer.content.as_str(), answer.model.as_str(), answer.finish_reason.as_str()), ("abc", "m", "stop"));
    assert_eq!(answer.usage, Some(Usage { input: 3, output: 2 }));
}

#[test]
fn thinking_within_the_text_is_neither_shown_nor_kept() {
    let mut assembly = Assembly::new(1000);
    let pieces = ["<thi", "nk>Hm, ", "four?</", "think>Fo", "ur."];
    let shown: Vec<_> = pieces.iter().filter_map(|piece| assembly.add(&delta(json!({ "content": piece }))).unwrap()).collect();
    assert!(assembly.started());
    assembly.finish_as("stop");
    assert_eq!((shown.concat(), assembly.finish("m").unwrap().content), ("Four.".into(), "Four.".into()));

    let reply = json!({ "choices": [{ "message": { "content": "<think>\nHm.\n</think>Four." }, "finish_reason": "stop" }] });
    assert_eq!(assembled(&[reply]).unwrap().content, "Four.");
}

#[test]
fn arguments_come_in_pieces_as_an_object_as_nothing_or_as_text_in_text() {
    let first = json!({ "index": 0, "id": "a", "type": "function", "function": { "name": "x", "arguments": "" } });
    let piece = |text: &str| json!({ "index": 0, "function": { "arguments": text } });
    assert_eq!(calls(&[first.clone(), piece("{\"q\""), piece(":1}")]), [call("a", "x", "{\"q\":1}")]);
    assert_eq!(calls(std::slice::from_ref(&first)), [call("a", "x", "{}")]);
    assert_eq!(
        calls(&[json!({ "id": "a", "function": { "name": "x", "arguments": { "q": 1 } } })]),
        [call("a", "x", "{\"q\":1}")]
    );
    assert_eq!(calls(&[json!({ "id": "a", "function": { "name": "x", "arguments": null } })]), [call("a", "x", "{}")]);
    assert_eq!(calls(&[first, piece(r#""{\"q\":1}""#)]), [call("a", "x", "{\"q\":1}")]);
}

#[test]
fn calls_without_index_are_told_apart_by_id_name_and_order() {
    let named = |id: &str, name: &str| json!({ "id": id, "function": { "name": name, "arguments": "{" } });
    let rest = json!({ "function": { "arguments": "}" } });
    assert_eq!(
        calls(&[named("a", "x"), rest.clone(), named("b", "y"), rest.clone()]),
        [call("a", "x", "{}"), call("b", "y", "{}")]
    );
    assert_eq!(
        calls(&[named("", "x"), rest.clone(), named("", "y"), rest]),
        [call("call_1", "x", "{}"), call("call_2", "y", "{}")]
    );
}

#[test]
fn ids_that_are_missing_or_doubled_become_unique() {
    let with = |index: u64, id: &str| json!({ "index": index, "id": id, "function": { "name": "x", "arguments": "{}" } });
    let ids: Vec<_> = calls(&[with(0, "call_2"), with(1, ""), with(2, "call_2")]).into_iter().map(|call| call.0).collect();
    assert_eq!(ids, ["call_2", "call_3", "call_4"]);
}

#[test]
fn several_calls_that_all_claim_index_0_stay_apart() {
    let with = |id: &str, arguments: &str| json!({ "index": 0, "id": id, "function": { "name": "x", "arguments": arguments } });
    assert_eq!(
        calls(&[with("a", "{\"n\":1}"), with("b", "{\"n\":2}")]),
        [call("a", "x", "{\"n\":1}"), call("b", "x", "{\"n\":2}")]
    );
    // The same id and name again is the same call going on.
    assert_eq!(calls(&[with("a", "{\"n\":"), with("a", "1}")]), [call("a", "x", "{\"n\":1}")]);
}

#[test]
fn calls_with_the_same_id_and_no_index_are_two_calls() {
    let with = |n: i32| json!({ "id": "a", "function": { "name": "x", "arguments": format!("{{\"n\":{n}}}") } });
    let both = [call("a", "x", "{\"n\":1}"), call("call_2", "x", "{\"n\":2}")];
    assert_eq!(calls(&[with(1), with(2)]), both);
    let reply = json!({ "choices": [{ "message": { "tool_calls": [with(1), with(2)] }, "finish_reason": "tool_calls" }] });
    let whole = assembled(&[reply]).unwrap().calls;
    assert_eq!(whole.into_iter().map(|call| (call.id, call.name, call.arguments)).collect::<Vec<_>>(), both);
    // The end of a call that repeats its name is no call.
    let end = json!({ "id": "a", "function": { "name": "x", "arguments": "" } });
    assert_eq!(calls(&[with(1), end]), both[..1]);
}

#[test]
fn a_name_may_come_after_the_id() {
    let first = json!({ "id": "a", "function": { "name": null, "arguments": "" } });
    let second = json!({ "function": { "name": "x", "arguments": "{\"n\":1}" } });
    assert_eq!(calls(&[first, second]), [call("a", "x", "{\"n\":1}")]);
}

#[test]
fn counts_that_cannot_be_are_not_believed() {
    let counted = |input: Value, output: Value| usage(&json!({ "prompt_tokens": input, "completion_tokens": output }));
    assert_eq!(counted(json!(3.9), json!(0)), Some(Usage { input: 3, output: 0 }));
    assert_eq!(counted(json!(-3), json!(2)), Some(Usage { input: 0, output: 2 }));
    for nonsense in [json!(u64::MAX), json!(1e300), json!(-1.5), json!("12"), json!(null), json!([1]), json!(0)] {
        assert_eq!(counted(nonsense.clone(), nonsense.clone()), None, "{nonsense}");
    }
}

#[test]
fn words_of_megabytes_are_not_kept() {
    let long = "é".repeat(2000);
    let mut assembly = Assembly::new(100_000);
    let one = json!({ "id": long, "function": { "name": long, "arguments": "{}" } });
    let chunk = json!({ "model": long, "choices": [{ "delta": { "tool_calls": [one] }, "finish_reason": long }] });
    assembly.add(&chunk).unwrap();
    let answer = assembly.finish("asked").unwrap();
    assert_eq!(answer.calls[0].id, "call_1");
    for word in [&answer.calls[0].name, &answer.model, &answer.finish_reason] {
        assert_eq!(word.len(), WORD_BYTES);
    }
}

#[test]
fn too_many_calls_and_too_much_text_are_refused() {
    let mut assembly = Assembly::new(10_000);
    let many: Vec<_> = (0..=MAX_CALLS).map(|index| json!({ "index": index, "function": { "name": "x" } })).collect();
    let error = assembly.add(&delta(json!({ "tool_calls": many }))).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Malformed);
    let error = Assembly::new(1000).add(&delta(json!({ "content": "x".repeat(1001) }))).unwrap_err();
    assert!(error.message.contains("1000 bytes"), "{error}");
}
