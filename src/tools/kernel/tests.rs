//! Tests of `tools::kernel`.

use serde_json::json;

use super::*;
use crate::domain::ToolSpec;

fn specs() -> Vec<ToolSpec> {
    tools().iter().map(|tool| tool.spec()).collect()
}

#[test]
fn the_four_first_tools_have_the_parameters_of_the_requirements() {
    let specs = specs();
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert!(names.starts_with(&["execute_sql", "write_capability", "manage_tasks", "restart"]), "{names:?}");
    let of = |name: &str| &specs.iter().find(|spec| spec.name == name).unwrap().parameters;
    assert_eq!(of("execute_sql")["required"], json!(["query"]));
    assert_eq!(of("execute_sql")["properties"]["query"]["type"], "string");
    for field in ["name", "description", "code", "parameters_schema"] {
        assert!(of("write_capability")["required"].as_array().unwrap().contains(&json!(field)), "{field}");
    }
    assert_eq!(of("manage_tasks")["required"], json!(["action"]));
    for field in ["action", "id", "title", "details", "status", "due_at"] {
        assert!(of("manage_tasks")["properties"].get(field).is_some(), "{field}");
    }
    assert!(of("restart").get("required").is_none());
}

#[test]
fn schemas_carry_no_references_that_small_models_stumble_over() {
    for spec in specs() {
        let text = spec.parameters.to_string();
        assert!(!text.contains("\"items\":true"), "{text}");
        assert!(!text.contains("$ref") && !text.contains("$schema") && !text.contains("$defs"), "{text}");
    }
}

#[test]
fn a_call_changes_something_or_only_reads_as_its_arguments_say() {
    let changes = |name: &str, arguments| {
        let tool = tools().into_iter().find(|tool| tool.spec().name == name).unwrap();
        tool.changes(&arguments)
    };
    assert!(!changes("execute_sql", json!({"query": "SELECT 1"})) && changes("execute_sql", json!({"query": "DELETE FROM a"})));
    assert!(!changes("manage_tasks", json!({"action": "list"})) && changes("manage_tasks", json!({"action": "create"})));
    assert!(changes("restart", json!({})) && changes("write_capability", json!({})));
}
