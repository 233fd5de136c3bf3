//! How an instance of Relay goes: a conversation with one contact, from its order to its end. The
//! arrows are those of the document; docs/states.md draws them, and ADR 50 says how the places are
//! read in which the document is silent.

mod ways;

use super::turn::text_enum;

text_enum! {
    /// The state of an instance.
    InstanceState {
        /// It is ordered, and the agent has written nothing yet.
        Created = "CREATED",
        /// The agent is at work.
        Active = "ACTIVE",
        /// The contact has the word.
        WaitingForReply = "WAITING_FOR_REPLY",
        /// The contact has written, and the agent has not begun to read it.
        WaitingForAgent = "WAITING_FOR_AGENT",
        /// The contact was silent for long, and the agent is to follow up.
        HeartbeatScheduled = "HEARTBEAT_SCHEDULED",
        /// The operator lets it rest.
        Paused = "PAUSED",
        /// Another instance has the contact.
        Queued = "QUEUED",
        /// The agent ended it.
        Completed = "COMPLETED",
        /// It waits for a person of ours.
        NeedsHumanIntervention = "NEEDS_HUMAN_INTERVENTION",
        /// The contact stayed silent.
        Abandoned = "ABANDONED",
        /// It cannot go on, or the operator cancelled it.
        Failed = "FAILED",
    }
}

text_enum! {
    /// The inputs of an instance. Each leads to one state, so there is a `resume` for each state
    /// that is paused.
    InstanceInput {
        /// Another instance of the contact is open.
        Queue = "queue",
        /// The place of the contact is free.
        Begin = "begin",
        /// The first message is written.
        Open = "open",
        /// The agent has said what it had to say.
        Written = "written",
        /// The contact has written.
        Reply = "reply",
        /// The contact was silent until the next heartbeat.
        Silence = "silence",
        /// A turn begins to read what the contact wrote.
        TakeUp = "take up",
        /// A follow-up is written.
        FollowUp = "follow up",
        /// All follow-ups are used up.
        GiveUp = "give up",
        /// The agent ends the conversation.
        Complete = "complete",
        /// The agent cannot go on without a person.
        Intervene = "intervene",
        /// An error that cannot be mended.
        Break = "break",
        /// A person lets it go on.
        Wake = "wake",
        /// The operator lets it rest.
        Pause = "pause",
        /// The operator lets it go on, towards its first message.
        ResumeCreated = "resume created",
        /// The operator lets it go on, where the agent was at work.
        ResumeActive = "resume active",
        /// The operator lets it go on, where the contact had the word.
        ResumeReply = "resume reply",
        /// The operator lets it go on, where the contact had written.
        ResumeAgent = "resume agent",
        /// The operator lets it go on, where a follow-up was to be written.
        ResumeHeartbeat = "resume heartbeat",
        /// The operator lets it go on, where it waited for its contact.
        ResumeQueued = "resume queued",
        /// The operator ends it.
        Cancel = "cancel",
    }
}

text_enum! {
    /// The actions that go with an instance's transitions.
    InstanceAction {
        /// A turn is queued, of the agent.
        Ask = "ask",
        /// The next follow-up gets its time.
        PlanHeartbeat = "plan heartbeat",
        /// The follow-up that was planned is dropped.
        DropHeartbeat = "drop heartbeat",
        /// A reply that came before counts as coming now.
        LookForReply = "look for reply",
        /// The turns of the instance are stopped.
        StopTurns = "stop turns",
        /// Messages that nobody has begun to send are taken out of the outbox.
        EmptyOutbox = "empty outbox",
        /// The next instance of the contact begins.
        StartNext = "start next",
    }
}

impl InstanceState {
    /// True if it has its contact's place: no other instance of the contact goes on beside it.
    /// `paused_from` is the state that was paused.
    pub fn has_place(self, paused_from: Option<Self>) -> bool {
        match self {
            Self::Queued | Self::Completed | Self::Abandoned | Self::Failed => false,
            Self::Paused => paused_from != Some(Self::Queued),
            Self::Created
            | Self::Active
            | Self::WaitingForReply
            | Self::WaitingForAgent
            | Self::HeartbeatScheduled
            | Self::NeedsHumanIntervention => true,
        }
    }

    /// The input that leads back to this state, if it is one that can be paused.
    pub fn resumed_by(self) -> Option<InstanceInput> {
        match self {
            Self::Created => Some(InstanceInput::ResumeCreated),
            Self::Active => Some(InstanceInput::ResumeActive),
            Self::WaitingForReply => Some(InstanceInput::ResumeReply),
            Self::WaitingForAgent => Some(InstanceInput::ResumeAgent),
            Self::HeartbeatScheduled => Some(InstanceInput::ResumeHeartbeat),
            Self::Queued => Some(InstanceInput::ResumeQueued),
            Self::Paused | Self::NeedsHumanIntervention | Self::Completed | Self::Abandoned | Self::Failed => None,
        }
    }

    /// The inputs that lead to [`InstanceState::Active`]: the way on which an error that cannot be
    /// mended, and a call for a person, leave.
    pub fn to_active(self) -> &'static [InstanceInput] {
        use InstanceInput::{FollowUp, Open, Reply, TakeUp};
        match self {
            Self::Created => &[Open],
            Self::WaitingForReply => &[Reply, TakeUp],
            Self::WaitingForAgent => &[TakeUp],
            Self::HeartbeatScheduled => &[FollowUp, Reply, TakeUp],
            Self::Active
            | Self::Paused
            | Self::Queued
            | Self::NeedsHumanIntervention
            | Self::Completed
            | Self::Abandoned
            | Self::Failed => &[],
        }
    }
}

#[cfg(test)]
mod tests;
