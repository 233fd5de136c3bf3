//! Which proposals are asked about in what way.

use serde_json::json;

use super::*;

#[test]
fn a_word_for_analyses_is_none_for_the_status_of_leads() {
    let of = |written: Value| effect(&CampaignProposal::read("analyze_leads", &written).unwrap());
    let alone = of(json!({"task": 1, "key": "first", "analysis": "Two fit."}));
    assert_eq!(alone, (Effect::Persist, Some(ContextKind::Persist), Some(ArtifactType::Analysis)));
    let with_status = of(json!({"task": 1, "key": "first", "analysis": "Two fit.", "leads": [1], "lead_status": "rejected"}));
    assert_eq!(with_status, (Effect::Persist, Some(ContextKind::Persist), None));
}
