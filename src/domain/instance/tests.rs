//! Every arrow of the document by name, and the refusal of all others.

use std::collections::BTreeSet;

use super::InstanceState as S;
use super::*;
use crate::domain::machine::Machine;

/// The arrows of the document between two states; `cancel` and an error that cannot be mended are
/// both one from ACTIVE to FAILED.
const ARROWS: [(S, S, &str); 35] = [
    (S::Created, S::Active, "open"),
    (S::Created, S::Queued, "queue"),
    (S::Queued, S::Created, "begin"),
    (S::Active, S::WaitingForReply, "written"),
    (S::WaitingForReply, S::WaitingForAgent, "reply"),
    (S::WaitingForReply, S::HeartbeatScheduled, "silence"),
    (S::WaitingForAgent, S::Active, "take up"),
    (S::HeartbeatScheduled, S::WaitingForReply, "follow up"),
    (S::HeartbeatScheduled, S::Abandoned, "give up"),
    (S::Active, S::Completed, "complete"),
    (S::Active, S::NeedsHumanIntervention, "intervene"),
    (S::Active, S::Failed, "break"),
    (S::WaitingForReply, S::Completed, "complete"),
    (S::WaitingForAgent, S::Completed, "complete"),
    (S::NeedsHumanIntervention, S::Active, "wake"),
    (S::Created, S::Paused, "pause"),
    (S::Active, S::Paused, "pause"),
    (S::WaitingForReply, S::Paused, "pause"),
    (S::WaitingForAgent, S::Paused, "pause"),
    (S::HeartbeatScheduled, S::Paused, "pause"),
    (S::Queued, S::Paused, "pause"),
    (S::Paused, S::Created, "resume created"),
    (S::Paused, S::Active, "resume active"),
    (S::Paused, S::WaitingForReply, "resume reply"),
    (S::Paused, S::WaitingForAgent, "resume agent"),
    (S::Paused, S::HeartbeatScheduled, "resume heartbeat"),
    (S::Paused, S::Queued, "resume queued"),
    (S::Created, S::Failed, "cancel"),
    (S::Active, S::Failed, "cancel"),
    (S::WaitingForReply, S::Failed, "cancel"),
    (S::WaitingForAgent, S::Failed, "cancel"),
    (S::HeartbeatScheduled, S::Failed, "cancel"),
    (S::Paused, S::Failed, "cancel"),
    (S::Queued, S::Failed, "cancel"),
    (S::NeedsHumanIntervention, S::Failed, "cancel"),
];

#[test]
fn the_arrows_are_those_of_the_document_and_no_others() {
    let mut there = BTreeSet::new();
    for from in S::STATES {
        for input in S::INPUTS {
            match from.next(*input) {
                Ok((to, _)) if to == *from => assert_eq!((*from, input.as_str()), (S::Paused, "pause")),
                Ok((to, _)) => drop(there.insert((from.as_str(), to.as_str(), input.as_str()))),
                Err(refused) => {
                    let told = format!("relay_instances: what is {from} does not take `{input}`");
                    assert_eq!(refused.to_string(), told);
                }
            }
        }
    }
    let document: BTreeSet<_> = ARROWS.iter().map(|(from, to, input)| (from.as_str(), to.as_str(), *input)).collect();
    assert_eq!(there, document);
}

#[test]
fn three_states_are_the_end() {
    let over: Vec<_> = S::STATES.iter().filter(|state| state.is_over()).map(|state| state.as_str()).collect();
    assert_eq!(over, ["COMPLETED", "ABANDONED", "FAILED"]);
    assert_eq!(S::FIRST, S::Created);
}

#[test]
fn each_state_that_can_be_paused_is_resumed_to_itself() {
    for state in S::STATES {
        let pausable = state.next(InstanceInput::Pause).is_ok() && *state != S::Paused;
        assert_eq!(state.resumed_by().is_some(), pausable, "{state}");
        if let Some(input) = state.resumed_by() {
            assert_eq!(S::Paused.next(input).unwrap().0, *state);
        }
    }
}

#[test]
fn a_way_leads_to_active_from_wherever_a_turn_may_stand() {
    for state in S::STATES {
        let reached = state.to_active().iter().fold(*state, |state, input| state.next(*input).unwrap().0);
        assert!(state.to_active().is_empty() || reached == S::Active, "{state}");
    }
    let none = |state: S| state.to_active().is_empty();
    assert!(none(S::Paused) && none(S::Queued) && !none(S::HeartbeatScheduled));
}

#[test]
fn a_paused_instance_keeps_its_place_unless_it_had_none() {
    assert!(S::Paused.has_place(Some(S::Active)) && S::NeedsHumanIntervention.has_place(None));
    assert!(!S::Paused.has_place(Some(S::Queued)) && !S::Queued.has_place(None) && !S::Failed.has_place(None));
}
