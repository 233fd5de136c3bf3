//! The turns that this server works on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::domain::TurnId;
use crate::store::Lease;

type Turns = BTreeMap<(TurnId, i64), CancellationToken>;

/// The turns that this server works on, each with its fence. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct InHand(Arc<Mutex<Turns>>);

/// A turn in hand, until this is dropped.
#[derive(Debug)]
pub(super) struct TurnInHand {
    in_hand: InHand,
    attempt: (TurnId, i64),
    lost: CancellationToken,
}

impl TurnInHand {
    /// Cancelled if another server takes the turn, or it is over.
    pub(super) fn lost(&self) -> &CancellationToken {
        &self.lost
    }
}

impl Drop for TurnInHand {
    fn drop(&mut self) {
        self.in_hand.lock().remove(&self.attempt);
    }
}

impl InHand {
    pub(super) fn take(&self, lease: &Lease) -> TurnInHand {
        let (attempt, lost) = ((lease.turn, lease.fence), CancellationToken::new());
        self.lock().insert(attempt, lost.clone());
        TurnInHand { in_hand: self.clone(), attempt, lost }
    }

    pub(super) fn turns(&self) -> Vec<TurnId> {
        self.lock().keys().map(|(turn, _)| *turn).collect()
    }

    pub(super) fn all(&self) -> Vec<(TurnId, i64)> {
        self.lock().keys().copied().collect()
    }

    pub(super) fn has(&self, turn: TurnId) -> bool {
        self.lock().keys().any(|(held, _)| *held == turn)
    }

    /// The turn is over.
    pub(super) fn lose(&self, turn: TurnId) {
        self.lock().iter().filter(|((held, _), _)| *held == turn).for_each(|(_, lost)| lost.cancel());
    }

    /// Another server has the turn; a later attempt of our own may have it.
    pub(super) fn lose_attempt(&self, turn: TurnId, fence: i64) {
        if let Some(lost) = self.lock().get(&(turn, fence)) {
            lost.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
