//! Tests of `faces::campaigns::replayed`.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::*;
use crate::domain::campaign::words::ProgramWords;
use crate::domain::{CampaignId, ConversationId};
use crate::facts::{CycleAsked, CycleWords};

const CAMPAIGN: CampaignId = CampaignId(1);

fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

/// A campaign whose task needs a script, so that its snapshot has the line of `run_script`.
fn made() -> Vec<EventRecord> {
    let campaign = json!({
        "id": 1, "conversation_id": 5, "name": "Outreach", "status": "active", "reason": null, "waits_for": null, "next_at": null, "cycles": 0,
        "idle_cycles": 0, "fault": null, "bad_answers": 0, "judged_step": null, "carried": [], "copy_of": null, "created_at": at(),
        "updated_at": at(),
    });
    let task = json!({
        "id": 1, "campaign_id": 1, "description": "Sum it up", "status": "pending", "created_at": at(), "updated_at": at(),
        "metadata": {"requires": [{"kind": "script_succeeded", "artifact": "sum"}]},
    });
    let mut records = Vec::new();
    push(&mut records, json!({"kind": "campaign_changed", "campaign": campaign, "input": null, "what": "is made"}));
    push(&mut records, json!({"kind": "campaign_task_changed", "task": task, "what": "is made"}));
    records
}

fn push(records: &mut Vec<EventRecord>, event: Value) {
    let event = serde_json::from_value(event).expect("an event");
    records.push(EventRecord { conversation: ConversationId(5), sequence: records.len() as i64 + 1, at: at(), event });
}

/// A request in these words, and if `told`, the words before it.
fn ask(records: &mut Vec<EventRecord>, words: &ProgramWords, told: bool) {
    let upto = records.len() as i64;
    let request = CycleRequest::of(&CampaignFold::new(CAMPAIGN, records).upto(upto).expect("a state"), at(), words);
    if told {
        let told = CycleWords { turn: TurnId(3), sha256: words.sha256(), words: words.clone() };
        push(records, json!(Event::from(told)));
    }
    let CycleRequest { state_sha256, rules_sha256, request_sha256, files, .. } = request;
    let asked = CycleAsked { turn: TurnId(3), number: 1, upto, state_sha256, rules_sha256, request_sha256, files };
    push(records, json!(Event::from(asked)));
}

/// The words of a program that says something else of everything.
fn older() -> ProgramWords {
    let mut words = words();
    words.rules.push_str("- Be brief.\n");
    words.proposals = words.proposals.replace("Proposes to do nothing now.", "Does nothing.");
    words.tools.insert("run_script".to_owned(), "{\"script\": KEY} runs a script".to_owned());
    words
}

#[test]
fn cycles_of_programs_with_other_words_are_made_again_in_the_words_that_each_recorded() {
    let mut records = made();
    ask(&mut records, &older(), true);
    ask(&mut records, &older(), false);
    ask(&mut records, &words(), true);
    ask(&mut records, &words(), false);
    assert_eq!(compared(CAMPAIGN, &records), VerifiedCycle { requests: 4, differs: None });
}

#[test]
fn a_request_that_is_in_other_words_than_recorded_differs() {
    let mut records = made();
    ask(&mut records, &words(), true);
    ask(&mut records, &older(), false);
    let differs = compared(CAMPAIGN, &records).differs.expect("it differs").1;
    assert!(differs.contains("another rules and request"), "{differs}");
    for part in ["rules", "proposals"] {
        let mut records = made();
        ask(&mut records, &older(), true);
        let mut changed = json!(records[2].event);
        changed["words"][part] = json!("something else");
        records[2].event = serde_json::from_value(changed).expect("an event");
        let differs = compared(CAMPAIGN, &records).differs.expect("it differs").1;
        assert!(differs.contains("not those that were recorded"), "{part}: {differs}");
    }
}

#[test]
fn the_words_of_this_program_give_the_request_as_it_is_written_in_json() {
    let state = CampaignFold::new(CAMPAIGN, &made()).upto(2).expect("a state");
    let request = CycleRequest::of(&state, at(), &words());
    let ProgramWords { rules, proposals, tools, .. } = words();
    let snapshot = crate::domain::campaign::snapshot::snapshot(&state, at(), &tools);
    assert!(snapshot.contains("run_script {\"script\": KEY"), "{snapshot}");
    let proposals: Value = serde_json::from_str(&proposals).expect("JSON");
    let written = json!([rules, snapshot, proposals]).to_string();
    assert_eq!(request.request_sha256, crate::domain::campaign::sha256(written.as_bytes()));
}
