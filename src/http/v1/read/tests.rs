//! Tests of `http::v1::read`.

use serde_json::json;

use super::*;

fn ask(body: Value, headers: &[(&'static str, &str)]) -> Result<AnswerableRequest, Value> {
    let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    read(serde_json::from_value(body).unwrap(), &headers).map_err(|refusal| json!(refusal.into_event())["error"].take())
}

#[test]
fn what_is_said_before_the_input_is_marked() {
    let messages = json!([
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}, {"role": "user", "content": "three"},
    ]);
    let shown = ask(json!({"model": "level3", "messages": messages}), &[]).unwrap().shown;
    assert_eq!(shown.input, "three");
    assert!(shown.history_text.contains("as the client gives them") && shown.history_text.contains("\nuser: one\n"));
    assert!(shown.instructions_text.contains("\nbe kind\n"));
}

#[test]
fn what_would_change_the_answer_is_refused_and_what_tunes_a_model_is_not() {
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "level3", "messages": [{"role": "user", "content": "hi"}]});
        body[name] = value;
        ask(body, &[])
    };
    for (name, value) in [
        ("n", json!(2)),
        ("tools", json!([{"type": "function"}])),
        ("tool_choice", json!("required")),
        ("functions", json!([{}])),
        ("response_format", json!({"type": "json_object"})),
        ("modalities", json!(["text", "audio"])),
        ("audio", json!({"voice": "x"})),
        ("stop", json!(["\n"])),
        ("logprobs", json!(true)),
        ("web_search_options", json!({"x": 1})),
    ] {
        let error = with(name, value).unwrap_err();
        assert_eq!((&error["param"], &error["code"]), (&json!(name), &json!("unsupported_parameter")), "{error}");
    }
    for (name, value) in [
        ("n", json!(1)),
        ("tools", json!([])),
        ("tools", Value::Null),
        ("tool_choice", json!("auto")),
        ("response_format", json!({"type": "text"})),
        ("modalities", json!(["text"])),
        ("stop", Value::Null),
        ("stop", json!("")),
        ("logprobs", json!(false)),
        ("temperature", json!(0.2)),
        ("user", json!("u")),
        ("unheard_of", json!({"a": 1})),
    ] {
        assert!(with(name, value).is_ok(), "{name}");
    }
}

#[test]
fn another_model_is_refused_with_the_name_of_the_one_there_is() {
    let other = ask(json!({"model": "gpt-4o", "messages": []}), &[]).unwrap_err();
    assert!(other["code"] == "model_not_found" && other["message"].as_str().unwrap().contains("`level3`"), "{other}");
}

#[test]
fn the_bound_of_an_answer_has_an_old_and_a_new_name() {
    let ask = |fields: Value| {
        let mut body = json!({"model": "level3", "messages": [{"role": "user", "content": "hi"}]});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        super::tests::ask(body, &[]).map(|asked| asked.shown.answer_tokens)
    };
    assert_eq!(ask(json!({"max_tokens": 500})), Ok(Some(500)));
    assert_eq!(ask(json!({"max_tokens": 500, "max_completion_tokens": 400})), Ok(Some(400)));
    assert_eq!(ask(json!({"max_tokens": 500, "max_completion_tokens": null})), Ok(Some(500)));
    assert_eq!(ask(json!({"max_tokens": 1_i64 << 40})), Ok(Some(u32::MAX)));
    for none in [json!({}), json!({"max_tokens": null}), json!({"max_tokens": -1})] {
        assert_eq!(ask(none), Ok(None));
    }
    for wrong in [json!(0), json!(-5), json!("5"), json!(1.5)] {
        assert_eq!(ask(json!({"max_tokens": wrong})).unwrap_err()["param"], "max_tokens");
    }
}

#[test]
fn a_conversation_is_named_by_header_or_metadata() {
    let ask = |metadata: Value, headers: &[(&'static str, &str)]| {
        let body = json!({"model": "level3", "messages": [{"role": "user", "content": "hi"}], "metadata": metadata});
        super::tests::ask(body, headers).map(|asked| asked.shown.conversation.map(|id| id.0))
    };
    assert_eq!(ask(json!(null), &[]), Ok(None));
    assert_eq!(ask(json!({"conversation": "7"}), &[]), Ok(Some(7)));
    assert_eq!(ask(json!({"conversation": 7}), &[(CONVERSATION, "7")]), Ok(Some(7)));
    assert_eq!(ask(json!({"other": "x"}), &[(CONVERSATION, "8")]), Ok(Some(8)));
    for wrong in [ask(json!({"conversation": "7"}), &[(CONVERSATION, "8")]), ask(json!({"conversation": "main"}), &[])] {
        assert_eq!(wrong.unwrap_err()["param"], "metadata.conversation");
    }
}
