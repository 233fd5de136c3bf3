//! The state of a cycle under way, handed on within the cycle from the place that read it to the
//! next one that needs it. It is used as long as the campaign's stream has nothing more in it than
//! the state: all that changes a campaign is an event. Nothing of it outlives its cycle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::TurnId;
use crate::domain::campaign::CampaignState;
use crate::store::{Lease, Store, Unit};

type Cycles = HashMap<TurnId, (i64, Option<CampaignState>)>;

/// The states of the cycles that this process works on, by turn and fence. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct HandedOn(Arc<Mutex<Cycles>>);

/// A cycle that this process works on, until this is dropped.
#[derive(Debug)]
pub struct CycleInHand {
    handed: HandedOn,
    turn: TurnId,
    fence: i64,
}

impl HandedOn {
    fn lock(&self) -> MutexGuard<'_, Cycles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A commit may come to its end after the work on its cycle was dropped: then nobody takes the
    /// state.
    fn put(&self, turn: TurnId, fence: i64, state: CampaignState) {
        if let Some((held, handed)) = self.lock().get_mut(&turn)
            && *held == fence
        {
            *handed = Some(state);
        }
    }
}

impl Drop for CycleInHand {
    fn drop(&mut self) {
        let mut cycles = self.handed.lock();
        if cycles.get(&self.turn).is_some_and(|(fence, _)| *fence == self.fence) {
            cycles.remove(&self.turn);
        }
    }
}

impl Store {
    /// Work on a cycle begins.
    pub fn begin_cycle(&self, lease: &Lease) -> CycleInHand {
        self.handed.lock().insert(lease.turn, (lease.fence, None));
        CycleInHand { handed: self.handed.clone(), turn: lease.turn, fence: lease.fence }
    }

    /// Hands a state on to the next place of its cycle that needs one.
    pub fn hand_on(&self, lease: &Lease, state: CampaignState) {
        self.handed.put(lease.turn, lease.fence, state);
    }

    /// Takes the state that was handed on in a cycle, if there is one.
    pub fn handed_on(&self, lease: &Lease) -> Option<CampaignState> {
        let mut cycles = self.handed.lock();
        cycles.get_mut(&lease.turn).filter(|(fence, _)| *fence == lease.fence)?.1.take()
    }
}

impl Unit {
    /// Hands the state on that this transaction leaves, once it is committed: it includes the last
    /// event of it.
    pub fn hand_on(&mut self, store: &Store, lease: &Lease, state: CampaignState) {
        let (handed, turn, fence) = (store.handed.clone(), lease.turn, lease.fence);
        self.then = Some(Box::new(move |sequence| handed.put(turn, fence, CampaignState { sequence, ..state })));
    }
}
