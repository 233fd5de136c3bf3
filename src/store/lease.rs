//! A turn in hand: what every write of it names, and the row that a transaction has locked.

use crate::domain::{ConversationId, Origin, TurnId, TurnState};

/// A turn in hand. Every write names its fence; when another runner took the turn over, the write
/// is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The turn.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// The name of the conversation's profile.
    pub profile: String,
    /// Counts the times the turn was taken up.
    pub fence: i64,
    /// The origin of the turn's input.
    pub origin: Origin,
    /// How often it was taken up where it stands now, this time included: a new step or outcome
    /// begins a new count.
    pub takes: i32,
}

/// A turn whose row the transaction has locked, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct LockedTurn {
    pub(super) conversation: ConversationId,
    pub(super) turn: TurnId,
    pub(super) state: TurnState,
}
