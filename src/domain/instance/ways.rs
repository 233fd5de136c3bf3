//! The ways of an instance: for each state a function, in which every input has its place. Nothing
//! is left to an arm for the rest.

use super::InstanceAction::{Ask, DropHeartbeat, EmptyOutbox, LookForReply, PlanHeartbeat, StartNext, StopTurns};
use super::InstanceState::{
    Abandoned, Active, Completed, Created, Failed, HeartbeatScheduled, NeedsHumanIntervention, Paused, Queued, WaitingForAgent,
    WaitingForReply,
};
use super::{InstanceAction, InstanceInput as I, InstanceState};
use crate::domain::machine::{InvalidTransition, Machine};

/// The next state and the actions that go with it; `None` if the state does not take the input.
type Way = Option<(InstanceState, Vec<InstanceAction>)>;

impl Machine for InstanceState {
    type Input = I;
    type Action = InstanceAction;

    const TABLE: &'static str = "relay_instances";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [I] = I::ALL;
    const FIRST: Self = Self::Created;

    fn next(self, input: I) -> Result<(Self, Vec<InstanceAction>), InvalidTransition> {
        let way = match self {
            Created => begun(input),
            Active => at_work(input),
            WaitingForReply => waiting_for_reply(input),
            WaitingForAgent => waiting_for_agent(input),
            HeartbeatScheduled => silent(input),
            Paused => paused(input),
            Queued => queued(input),
            NeedsHumanIntervention => with_a_person(input),
            Completed | Abandoned | Failed => None,
        };
        way.ok_or_else(|| InvalidTransition::of(self, input))
    }
}

/// The operator ends it.
fn cancelled() -> Way {
    Some((Failed, vec![StopTurns, DropHeartbeat, EmptyOutbox, StartNext]))
}

/// The agent has written nothing yet.
fn begun(input: I) -> Way {
    match input {
        I::Queue => Some((Queued, vec![])),
        I::Open => Some((Active, vec![])),
        I::Pause => Some((Paused, vec![StopTurns, DropHeartbeat])),
        I::Cancel => cancelled(),
        I::Begin
        | I::Written
        | I::Reply
        | I::Silence
        | I::TakeUp
        | I::FollowUp
        | I::GiveUp
        | I::Complete
        | I::Intervene
        | I::Break
        | I::Wake
        | I::ResumeCreated
        | I::ResumeActive
        | I::ResumeReply
        | I::ResumeAgent
        | I::ResumeHeartbeat
        | I::ResumeQueued => None,
    }
}

/// The agent is at work.
fn at_work(input: I) -> Way {
    match input {
        I::Written => Some((WaitingForReply, vec![PlanHeartbeat, LookForReply])),
        I::Complete => Some((Completed, vec![DropHeartbeat, StartNext])),
        I::Intervene => Some((NeedsHumanIntervention, vec![])),
        I::Break => Some((Failed, vec![StartNext])),
        I::Pause => Some((Paused, vec![StopTurns, DropHeartbeat])),
        I::Cancel => cancelled(),
        I::Queue
        | I::Begin
        | I::Open
        | I::Reply
        | I::Silence
        | I::TakeUp
        | I::FollowUp
        | I::GiveUp
        | I::Wake
        | I::ResumeCreated
        | I::ResumeActive
        | I::ResumeReply
        | I::ResumeAgent
        | I::ResumeHeartbeat
        | I::ResumeQueued => None,
    }
}

/// The contact has the word.
fn waiting_for_reply(input: I) -> Way {
    match input {
        I::Reply => Some((WaitingForAgent, vec![DropHeartbeat, Ask])),
        I::Silence => Some((HeartbeatScheduled, vec![DropHeartbeat])),
        I::Complete => Some((Completed, vec![DropHeartbeat, StartNext])),
        I::Pause => Some((Paused, vec![StopTurns, DropHeartbeat])),
        I::Cancel => cancelled(),
        I::Queue
        | I::Begin
        | I::Open
        | I::Written
        | I::TakeUp
        | I::FollowUp
        | I::GiveUp
        | I::Intervene
        | I::Break
        | I::Wake
        | I::ResumeCreated
        | I::ResumeActive
        | I::ResumeReply
        | I::ResumeAgent
        | I::ResumeHeartbeat
        | I::ResumeQueued => None,
    }
}

/// The contact has written.
fn waiting_for_agent(input: I) -> Way {
    match input {
        I::TakeUp => Some((Active, vec![])),
        I::Complete => Some((Completed, vec![DropHeartbeat, StartNext])),
        I::Pause => Some((Paused, vec![StopTurns, DropHeartbeat])),
        I::Cancel => cancelled(),
        I::Queue
        | I::Begin
        | I::Open
        | I::Written
        | I::Reply
        | I::Silence
        | I::FollowUp
        | I::GiveUp
        | I::Intervene
        | I::Break
        | I::Wake
        | I::ResumeCreated
        | I::ResumeActive
        | I::ResumeReply
        | I::ResumeAgent
        | I::ResumeHeartbeat
        | I::ResumeQueued => None,
    }
}

/// The contact was silent for long.
fn silent(input: I) -> Way {
    match input {
        I::FollowUp => Some((WaitingForReply, vec![PlanHeartbeat, LookForReply])),
        I::GiveUp => Some((Abandoned, vec![StartNext])),
        I::Pause => Some((Paused, vec![StopTurns, DropHeartbeat])),
        I::Cancel => cancelled(),
        I::Queue
        | I::Begin
        | I::Open
        | I::Written
        | I::Reply
        | I::Silence
        | I::TakeUp
        | I::Complete
        | I::Intervene
        | I::Break
        | I::Wake
        | I::ResumeCreated
        | I::ResumeActive
        | I::ResumeReply
        | I::ResumeAgent
        | I::ResumeHeartbeat
        | I::ResumeQueued => None,
    }
}

/// The operator lets it rest.
fn paused(input: I) -> Way {
    match input {
        I::Pause => Some((Paused, vec![])),
        I::ResumeCreated => Some((Created, vec![Ask])),
        I::ResumeActive => Some((Active, vec![Ask])),
        I::ResumeReply => Some((WaitingForReply, vec![PlanHeartbeat, LookForReply])),
        I::ResumeAgent => Some((WaitingForAgent, vec![Ask])),
        I::ResumeHeartbeat => Some((HeartbeatScheduled, vec![Ask])),
        I::ResumeQueued => Some((Queued, vec![StartNext])),
        I::Cancel => cancelled(),
        I::Queue
        | I::Begin
        | I::Open
        | I::Written
        | I::Reply
        | I::Silence
        | I::TakeUp
        | I::FollowUp
        | I::GiveUp
        | I::Complete
        | I::Intervene
        | I::Break
        | I::Wake => None,
    }
}

/// Another instance has the contact.
fn queued(input: I) -> Way {
    match input {
        I::Begin => Some((Created, vec![Ask])),
        I::Pause => Some((Paused, vec![])),
        I::Cancel => cancelled(),
        I::Queue
        | I::Open
        | I::Written
        | I::Reply
        | I::Silence
        | I::TakeUp
        | I::FollowUp
        | I::GiveUp
        | I::Complete
        | I::Intervene
        | I::Break
        | I::Wake
        | I::ResumeCreated
        | I::ResumeActive
        | I::ResumeReply
        | I::ResumeAgent
        | I::ResumeHeartbeat
        | I::ResumeQueued => None,
    }
}

/// It waits for a person of ours.
fn with_a_person(input: I) -> Way {
    match input {
        I::Wake => Some((Active, vec![Ask])),
        I::Cancel => cancelled(),
        I::Queue
        | I::Begin
        | I::Open
        | I::Written
        | I::Reply
        | I::Silence
        | I::TakeUp
        | I::FollowUp
        | I::GiveUp
        | I::Complete
        | I::Intervene
        | I::Break
        | I::Pause
        | I::ResumeCreated
        | I::ResumeActive
        | I::ResumeReply
        | I::ResumeAgent
        | I::ResumeHeartbeat
        | I::ResumeQueued => None,
    }
}
