//! Tests of `tools::kernel::write_capability`.

use super::*;

#[test]
fn every_power_that_is_taught_can_be_asked_for() {
    let spec = WriteCapability.spec();
    let told = spec.parameters["properties"]["grants"]["description"].as_str().unwrap();
    let grants: Value = serde_json::from_str(&told[told.find('{').unwrap()..]).unwrap();
    let request = json!({
        "name": "add", "description": "Adds.", "code": "export default (p) => p.a + p.b", "parameters_schema": {}, "grants": grants,
    });
    let asked = read::<DraftArguments>(request).unwrap().into_draft().unwrap().grants;
    assert_eq!(asked.powers().collect::<Vec<_>>(), crate::domain::Power::ALL);
}
