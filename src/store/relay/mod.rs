//! Relay in the database: instances and what moves them, their transcripts, and the outbox in
//! these. The order of locks is the same everywhere: a turn, the contact, the conversation.

mod deeds;
mod incoming;
mod loopback;
mod moving;
mod orders;
mod outgoing;
mod reading;
mod rows;
mod webhooks;

use super::StoreError;
use crate::domain::{InstanceId, InvalidTransition, RelayMessageId};

pub(in crate::store) use moving::ContactTurnEnd;
pub(in crate::store) use rows::RelayMessageRow;

pub use deeds::DeedResult;
pub use incoming::{Came, NewIncoming};
pub use loopback::LoopbackMessage;
pub use orders::NewInstance;
pub use outgoing::{ClaimedMessage, OutboxLook, SendEnd};
pub use reading::{CountedInstance, FollowedUp, InstanceFilter};
pub use webhooks::{DueWebhook, Webhook, WebhookEnd};

/// The reason why an order about an instance or a message is not done.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// There is no such instance; the nearest number there is.
    #[error("there is no instance {}{}", .0, nearest(*.1))]
    Unknown(InstanceId, Option<i64>),
    /// There is no such message; the nearest number there is.
    #[error("there is no message {}{}", .0, nearest(*.1))]
    NoMessage(RelayMessageId, Option<i64>),
    /// Its state does not allow it, in words.
    #[error("{0}")]
    Refused(String),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn nearest(id: Option<i64>) -> String {
    id.map_or_else(|| "; there is none yet".to_owned(), |id| format!("; the nearest is {id}"))
}

impl From<sqlx::Error> for RelayError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<InvalidTransition> for RelayError {
    fn from(error: InvalidTransition) -> Self {
        Self::Refused(error.to_string())
    }
}
