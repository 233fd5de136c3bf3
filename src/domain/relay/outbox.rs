//! How a message of ours goes to a contact: into the outbox, to the peer, and what the peer says of
//! it. A message is of class N: it is tried once, and an attempt whose end nobody knows is
//! `unknown` until a person decides, or the peer says it later.

use crate::domain::machine::{InvalidTransition, Machine};
use crate::domain::turn::text_enum;

text_enum! {
    /// The state of a message of ours.
    DeliveryState {
        /// It waits in the outbox.
        Queued = "queued",
        /// A sender has it; nobody may try it a second time.
        Sending = "sending",
        /// The attempt may or may not have reached the peer.
        Unknown = "unknown",
        /// The peer's server has it.
        Sent = "sent",
        /// The contact's device has it.
        Delivered = "delivered",
        /// The contact has seen it.
        Read = "read",
        /// It is not sent, and will not be.
        Failed = "failed",
    }
}

text_enum! {
    /// The inputs of a message of ours.
    DeliveryInput {
        /// A sender takes it.
        Claim = "claim",
        /// Surely nothing left this machine: it is tried later.
        Return = "return",
        /// The peer's server has acknowledged it, or a person says that it arrived.
        Acknowledge = "acknowledge",
        /// The peer has refused it, or a person says that it is lost.
        Refuse = "refuse",
        /// Nobody knows the end of the attempt.
        Lose = "lose",
        /// The contact's device has it.
        Deliver = "deliver",
        /// The contact has seen it.
        Read = "read",
        /// A person has it sent once more.
        Resend = "resend",
        /// The instance was cancelled before a sender took it.
        Withdraw = "withdraw",
    }
}

text_enum! {
    /// The actions that go with a message's transitions.
    DeliveryAction {
        /// The sender of its channel looks at the outbox.
        WakeSender = "wake sender",
        /// A person is shown that nobody knows.
        Show = "show",
    }
}

impl Machine for DeliveryState {
    type Input = DeliveryInput;
    type Action = DeliveryAction;

    const TABLE: &'static str = "relay_messages";
    const STATES: &'static [Self] = Self::ALL;
    const INPUTS: &'static [DeliveryInput] = DeliveryInput::ALL;
    const FIRST: Self = Self::Queued;

    fn next(self, input: DeliveryInput) -> Result<(Self, Vec<DeliveryAction>), InvalidTransition> {
        use DeliveryAction::{Show, WakeSender};
        use DeliveryInput as I;
        Ok(match (self, input) {
            (Self::Queued, I::Claim) => (Self::Sending, vec![]),
            (Self::Sending | Self::Unknown, I::Return) | (Self::Unknown, I::Resend) => (Self::Queued, vec![WakeSender]),
            (Self::Sending | Self::Unknown, I::Acknowledge) => (Self::Sent, vec![]),
            (Self::Sending | Self::Unknown | Self::Sent, I::Refuse) => (Self::Failed, vec![]),
            (Self::Sending, I::Lose) => (Self::Unknown, vec![Show]),
            (Self::Sending | Self::Unknown | Self::Sent, I::Deliver) => (Self::Delivered, vec![]),
            (Self::Sending | Self::Unknown | Self::Sent | Self::Delivered, I::Read) => (Self::Read, vec![]),
            (Self::Queued, I::Withdraw) => (Self::Failed, vec![]),
            (Self::Queued, I::Return | I::Acknowledge | I::Refuse | I::Lose | I::Deliver | I::Read | I::Resend)
            | (Self::Sending, I::Claim | I::Resend | I::Withdraw)
            | (Self::Unknown, I::Claim | I::Lose | I::Withdraw)
            | (Self::Sent, I::Claim | I::Return | I::Acknowledge | I::Lose | I::Resend | I::Withdraw)
            | (
                Self::Delivered,
                I::Claim | I::Return | I::Acknowledge | I::Refuse | I::Lose | I::Deliver | I::Resend | I::Withdraw,
            )
            | (
                Self::Read | Self::Failed,
                I::Claim | I::Return | I::Acknowledge | I::Refuse | I::Lose | I::Deliver | I::Read | I::Resend | I::Withdraw,
            ) => return Err(InvalidTransition::of(self, input)),
        })
    }
}
