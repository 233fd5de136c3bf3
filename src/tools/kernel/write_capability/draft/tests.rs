//! Tests of `tools::kernel::write_capability::draft`.

use super::*;
use crate::tools::arguments::read;

fn request(change: impl FnOnce(&mut Value)) -> Value {
    let mut request = json!({
        "name": "add", "description": "Adds.", "code": "export default (p) => p.a + p.b",
        "parameters_schema": {"type": "object", "properties": {"a": {"type": "number"}}},
    });
    change(&mut request);
    request
}

fn draft(request: Value) -> Result<Draft, Refusal> {
    read::<DraftArguments>(out_of_text(request)?)?.into_draft()
}

#[test]
fn a_schema_may_come_as_text() {
    let plain = json!({"type": "object", "properties": {"a": {"type": "number"}}});
    for written in [plain.clone(), Value::from(plain.to_string()), json!({"type": plain})] {
        assert_eq!(draft(request(|r| r["parameters_schema"] = written.clone())).unwrap().parameters, plain, "{written}");
    }
}

#[test]
fn grants_and_tests_may_come_as_text_and_a_blank_one_is_none() {
    let (grants, tests) = (json!({"kv": {}}), json!([{"params": {"a": 1}, "expect": 1}]));
    let as_json = draft(request(|r| (r["grants"], r["tests"]) = (grants.clone(), tests.clone()))).unwrap();
    let as_text = draft(request(|r| (r["grants"], r["tests"]) = (grants.to_string().into(), tests.to_string().into()))).unwrap();
    assert_eq!((as_json.tests.len(), &as_text), (1, &as_json));
    let blank = draft(request(|r| (r["grants"], r["tests"]) = (json!(""), json!(" ")))).unwrap();
    assert_eq!(blank, draft(request(|_| {})).unwrap());
    let refused = draft(request(|r| r["grants"] = json!("{\"kv\": {"))).unwrap_err();
    assert!(refused.message.starts_with("`grants` is a text that is no JSON: EOF while parsing"), "{refused:?}");
}

#[test]
fn a_field_of_another_type_is_refused_by_its_name() {
    for (field, written, said) in [
        ("code", json!(["let a"]), "`code`: invalid type: sequence, expected a string"),
        ("grants", json!(["kv"]), "`grants`: invalid type: sequence, expected a map"),
        ("tests", json!({"params": {}}), "`tests`: invalid type: map, expected a sequence"),
        ("tests", json!([{"params": {}}, {"expect": 1}]), "`tests[1]`: missing field `params`"),
        (
            "tests",
            json!([{"params": {}, "expected": 1}]),
            "unknown field `expected`, expected one of `params`, `expect`, `answers`",
        ),
    ] {
        let refused = draft(request(|r| r[field] = written)).unwrap_err();
        assert!(refused.code == RefusalCode::InvalidArguments && refused.message.contains(said), "{said}: {refused:?}");
    }
    let refused = draft(json!({"name": "add", "description": "Adds.", "parameters_schema": {}})).unwrap_err();
    assert_eq!(refused.message, "missing field `code`");
}

#[test]
fn a_power_that_does_not_exist_is_refused_by_name() {
    let refused = draft(request(|r| r["grants"] = json!({"network": {}}))).unwrap_err();
    assert!(refused.code == RefusalCode::UnknownGrant && refused.message.contains("no power `network`"), "{refused:?}");
}

#[test]
fn a_language_nobody_speaks_is_refused_with_the_list() {
    let refused = draft(request(|r| r["language"] = json!("python"))).unwrap_err();
    assert!(refused.message.contains("javascript, wat"), "{refused:?}");
}
