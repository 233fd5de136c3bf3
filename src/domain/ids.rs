//! Ids as types of their own, so that nobody passes a turn's id for a task's.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

id! {
    /// A thread between one user and one agent profile.
    ConversationId,
    /// One entry of a conversation.
    MessageId,
    /// The durable reaction to one input.
    TurnId,
    /// One model request inside a turn.
    StepId,
    /// One tool call inside a step.
    ToolCallId,
    /// A to-do a person can see.
    TaskId,
    /// A part of a task, which is ticked off by itself.
    SubtaskId,
    /// A proposal that waits for a person.
    ApprovalId,
    /// A conversation with a contact, from its order to its end.
    InstanceId,
    /// A message of such a conversation's transcript.
    RelayMessageId,
    /// A campaign.
    CampaignId,
    /// A task of a campaign.
    CampaignTaskId,
    /// A lead of a campaign.
    LeadId,
    /// One version of an artifact of a campaign.
    ArtifactId,
    /// A call with Law, by voice.
    VoiceCallId,
}
