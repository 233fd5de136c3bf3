//! The drawings of the machines, and the rules that all of them keep.

use super::*;
use crate::domain::campaign::CampaignStatus;
use crate::domain::relay::DeliveryState;
use crate::domain::{ApprovalState, InstanceState, OperationState, TurnState, VoiceState};

/// The machine as text: its transitions in the order of states and inputs, then the states that are
/// over.
fn drawn<M: Machine>() -> String {
    let mut text = format!("{}\n  begins: {}\n", M::TABLE, M::FIRST);
    for state in M::STATES {
        for input in M::INPUTS {
            let Ok((next, actions)) = state.next(*input) else { continue };
            let actions: Vec<_> = actions.iter().map(ToString::to_string).collect();
            let [state, input, next] = [state.to_string(), input.to_string(), next.to_string()];
            let line = format!("  {state:<17} {input:<8} → {next:<17} {}", actions.join(", "));
            text += line.trim_end();
            text += "\n";
        }
    }
    let over: Vec<_> = M::STATES.iter().filter(|state| state.is_over()).map(ToString::to_string).collect();
    let over = if over.is_empty() { "never".to_owned() } else { over.join(", ") };
    text + &format!("  over: {over}\n")
}

#[test]
fn the_document_draws_every_machine_as_it_is() {
    let document = include_str!("../../../docs/states.md");
    let [turns, calls] = [drawn::<TurnState>(), drawn::<CallState>()];
    let [instances, messages] = [drawn::<InstanceState>(), drawn::<DeliveryState>()];
    let [approvals, operations] = [drawn::<ApprovalState>(), drawn::<OperationState>()];
    let drawings = [
        turns,
        calls,
        approvals,
        operations,
        drawn::<TimerState>(),
        instances,
        messages,
        drawn::<CampaignStatus>(),
        drawn::<VoiceState>(),
    ];
    let shown: Vec<_> = document.split("```text\n").skip(1).filter_map(|block| block.split("```").next()).collect();
    assert!(shown == drawings, "docs/states.md should draw them so:\n\n{}", drawings.join("\n"));
}

#[test]
fn an_input_leads_to_one_state_or_leaves_all_as_they_are() {
    fn one<M: Machine + std::fmt::Debug>(ends: bool) {
        for input in M::INPUTS {
            let reached: Vec<_> = M::STATES.iter().filter_map(|state| Some((*state, state.next(*input).ok()?.0))).collect();
            assert!(!reached.is_empty(), "{} take no {input}", M::TABLE);
            match M::after(*input) {
                Some(after) => assert!(reached.iter().all(|(_, to)| *to == after), "{input}"),
                None => assert!(reached.iter().all(|(from, to)| from == to), "{input}"),
            }
        }
        assert!(M::STATES.contains(&M::FIRST));
        assert_eq!(M::STATES.iter().any(|state| state.is_over()), ends, "{}", M::TABLE);
    }
    one::<TurnState>(true);
    one::<CallState>(true);
    one::<ApprovalState>(true);
    one::<OperationState>(true);
    one::<TimerState>(false);
    one::<InstanceState>(true);
    one::<DeliveryState>(true);
    one::<CampaignStatus>(true);
    one::<VoiceState>(true);
}

#[test]
fn what_is_over_names_itself_and_what_it_refuses() {
    let refused = TurnState::Completed.next(TurnInput::Claim).unwrap_err();
    assert_eq!(refused.to_string(), "turns: what is completed does not take `claim`");
    assert_eq!(TurnState::before(TurnInput::Stop), ["queued", "running", "awaiting_approval"]);
    assert_eq!(TurnState::after(TurnInput::Steer), None);
}
