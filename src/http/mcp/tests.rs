//! Tests of `http::mcp`.

use rmcp::model::ErrorCode;
use serde_json::json;

use super::*;

#[test]
fn other_agents_are_offered_capabilities_and_the_tool_that_writes_them_and_nothing_else() {
    let live = CapabilitySummary { name: "greet".into(), version: 2, description: "Greets.".into(), parameters: json!({}) };
    let names: Vec<_> = offered(&[live]).into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["write_capability", "greet"]);
}

#[test]
fn an_error_of_level3_is_none_that_a_transport_makes() {
    let told = broken(&StoreError::LostLease);
    assert_ne!(told.code, ErrorCode::INTERNAL_ERROR);
    assert_eq!(told.message, "the database does not answer; try again");
}
