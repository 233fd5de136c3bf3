//! Tests of `tools::kernel::write_capability::trial`.

use super::*;

#[test]
fn made_up_arguments_fit_the_schema() {
    let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "minimum": 5}, "word": {"type": "string"}, "unit": {"enum": ["C", "F"]}, "deep": {"type": "object",
            "properties": {"list": {"type": "array", "items": {"type": "boolean"}}}}, "maybe": {"type": ["number", "null"]}}});
    let made = sample(&schema);
    assert_eq!(made, json!({"n": 5, "word": "example", "unit": "C", "deep": {"list": [true]}, "maybe": 12}));
    assert!(jsonschema::is_valid(&schema, &made));
}

#[test]
fn a_tool_that_is_called_like_a_function_is_told_from_other_names() {
    let thrown = |name: &str, message: &str| CallError::Threw { name: name.into(), message: message.into(), place: None };
    let missing = thrown("ReferenceError", "double_it is not defined");
    let place = Some(SourcePlace { line: 2, offset: 1 });
    let tool = not_defined(undefined(&missing).unwrap(), &["double_it".into()], place);
    assert!(tool.message.contains("await host.call('double_it', { … })"), "{tool:?}");
    assert_eq!((&tool.grants, tool.place), (&Some(json!({"tools": ["double_it"]})), place));
    let other = not_defined("require", &["double_it".into()], None);
    assert!(other.message.contains("no require") && other.grants.is_none(), "{other:?}");
    assert_eq!(undefined(&thrown("TypeError", "x is not defined")), None);
}

#[test]
fn only_what_stands_in_the_source_is_asked_for_in_the_authors_place() {
    let unfit = |grants: &Value, whole| {
        let refusal = Refusal::new(RefusalCode::MissingGrant, "m").asking_for(grants.clone());
        Unfit { refusal, whole }
    };
    let hosts = json!({"http": {"hosts": ["http://127.0.0.1:80"]}, "sql": {"access": "read"}, "tools": ["double"]});
    let source = "await fetch(`http://127.0.0.1:80/x`); await host.call('double', {})";
    assert_eq!(unfit(&hosts, true).grants_of(source), Some(&hosts));
    assert_eq!(unfit(&hosts, true).grants_of("await fetch(params.url)"), None);
    assert_eq!(unfit(&json!({"secrets": {"K": []}}), false).grants_of("K"), None);
}

#[test]
fn a_text_looks_like_what_its_name_or_format_says() {
    let of = |name: &str, schema: Value| sample(&json!({"type": "object", "properties": {name: schema}}))[name].clone();
    let text = || json!({"type": "string"});
    assert_eq!(of("due_date", text()), "2026-02-27");
    assert_eq!(of("startTime", text()), "2026-02-27T14:30:00Z");
    assert_eq!(of("page_url", text()), "https://example.com/");
    assert_eq!(of("email", text()), "ada@example.com");
    assert_eq!(of("at", json!({"type": "string", "format": "date"})), "2026-02-27");
    assert_eq!(of("days", json!({"type": "integer"})), 12);
    assert_eq!(of("word", text()), "example");
}
