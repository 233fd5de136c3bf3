//! Tests of `tools::kernel::write_capability::draft`.

use super::*;

fn request(change: impl FnOnce(&mut Value)) -> Value {
    let mut request = json!({
        "name": "add", "description": "Adds.", "code": "export default (p) => p.a + p.b",
        "parameters_schema": {"type": "object", "properties": {"a": {"type": "number"}}},
    });
    change(&mut request);
    request
}

fn draft(request: Value) -> Result<Draft, Refusal> {
    serde_json::from_value::<DraftArguments>(request).unwrap().into_draft()
}

#[test]
fn a_schema_may_come_as_text() {
    let plain = json!({"type": "object", "properties": {"a": {"type": "number"}}});
    for written in [plain.clone(), Value::from(plain.to_string()), json!({"type": plain})] {
        assert_eq!(draft(request(|r| r["parameters_schema"] = written.clone())).unwrap().parameters, plain, "{written}");
    }
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
