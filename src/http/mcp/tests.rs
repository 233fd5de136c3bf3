//! Tests of `http::mcp`.

use serde_json::json;

use super::*;

#[test]
fn other_agents_are_offered_capabilities_and_the_tool_that_writes_them_and_nothing_else() {
    let live = CapabilitySummary { name: "greet".into(), version: 2, description: "Greets.".into(), parameters: json!({}) };
    let names: Vec<_> = offered(&[live]).into_iter().map(|spec| spec.name).collect();
    assert_eq!(names, ["write_capability", "greet"]);
}
