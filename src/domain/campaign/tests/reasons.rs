//! Tests of why a campaign or a task waits, and of answers that only look like the schema.

use super::super::judge::hindrance;
use super::*;

#[test]
fn campaign_whose_model_gives_no_answer_waits_with_that_as_its_reason() {
    let mut there = ready();
    there.campaign.idle_cycles = 4;
    there.campaign.no_answer = Some("The model gave no answer: it wants a key (401).".to_owned());
    let why = |there: &CampaignState| match next(there, now(), Presence::There) {
        NextCycle::Waits(why, Some(_)) => why,
        other => panic!("{other:?}"),
    };
    let silent = "The model gave no answer: it wants a key (401). 4 cycles in a row brought nothing; the next one waits";
    assert_eq!(why(&there), silent);
    there.campaign.no_answer = None;
    assert!(why(&there).contains("Missing: task 1 needs that the heuristic note is kept"), "{}", why(&there));
}

#[test]
fn campaign_task_of_a_person_says_first_that_it_has_not_begun() {
    let begins = json!({"preconditions": [{"kind": "task_done", "task": 1}]});
    let there = |first: &str| state(vec![task(1, first, wants_note()), task(2, "pending", begins.clone())], vec![]);
    let why = |there: &CampaignState| hindrance(there, &there.tasks[1], now()).unwrap();
    assert_eq!(why(&there("pending")), "it begins when task 1 is done");
    assert_eq!(why(&there("done")), "it has no required effects, so only a person can finish it");
}

#[test]
fn campaign_answers_that_only_look_like_the_schema_are_refused() {
    let new = json!({"why": "w", "description": "d", "requires": [["task_done", 21]]});
    let refused = CampaignProposal::read("create_task", &new).unwrap_err();
    assert_eq!(refused, "create_task: requires[0]: expected an object, not a list");
    let refused = Requirement::read(json!(["task_done", 21]), "requires[0]").unwrap_err();
    assert!(refused.starts_with("requires[0]: expected an object, not a list; the kinds are"), "{refused}");
    for (kind, content) in [(ArtifactType::LeadScoringConfig, "[1, [], 0, 100]"), (ArtifactType::Environment, r#"[["KEY"]]"#)] {
        let refused = check_content(kind, content).unwrap_err();
        assert!(refused.starts_with("content: expected an object, not a list; expected like"), "{refused}");
    }
    let rule = r#"{"rules": [["title", "cto", null, null, 7]]}"#;
    let refused = ScoringConfig::read(rule).unwrap_err();
    assert!(refused.starts_with("content: rules[0]: expected an object, not a list"), "{refused}");
    assert_eq!(proposal::in_text(r#"{"kind": "no_op", "task": 1, "task": 2, "why": "x"}"#), None);
}
