//! The state of a cycle under way, handed on within the cycle from the place that read it to the
//! next one that needs it. It is used as long as the campaign's stream has nothing more in it than
//! the state: all that changes a campaign is an event. Nothing of it outlives its cycle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::loading::{CycleWithState, HeldCycle};
use crate::domain::TurnId;
use crate::domain::campaign::CampaignState;
use crate::store::{Lease, Store, StoredStep, Unit};

type Cycles = HashMap<TurnId, (i64, Option<HandedCycle>)>;

/// A cycle as it is handed on.
#[derive(Clone, Debug)]
pub struct HandedCycle {
    /// Its state.
    pub state: CampaignState,
    /// All that a transaction would read of its last step, if that is known.
    pub held: Option<HeldCycle>,
}

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
    fn put(&self, turn: TurnId, fence: i64, cycle: HandedCycle) {
        if let Some((held, handed)) = self.lock().get_mut(&turn)
            && *held == fence
        {
            *handed = Some(cycle);
        }
    }
}

impl HandedCycle {
    /// True if all that is known of its last step says that its calls have their outcome.
    fn is_done(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.calls.iter().all(|call| call.made.ended_at.is_some()))
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
        self.hand_on_held(lease, state, None);
    }

    /// The same after an answer that is the step of this number; the state includes it.
    pub fn hand_on_answered(&self, lease: &Lease, state: CampaignState, stored: &StoredStep, number: i32) {
        let held = HeldCycle::answered(&state, stored, number);
        self.hand_on_held(lease, state, held);
    }

    pub(super) fn hand_on_held(&self, lease: &Lease, state: CampaignState, held: Option<HeldCycle>) {
        self.handed.put(lease.turn, lease.fence, HandedCycle { state, held });
    }

    /// Takes the cycle that was handed on, if there is one.
    pub fn handed_on(&self, lease: &Lease) -> Option<HandedCycle> {
        let mut cycles = self.handed.lock();
        cycles.get_mut(&lease.turn).filter(|(fence, _)| *fence == lease.fence)?.1.take()
    }

    /// Takes the cycle that was handed on if it can be judged without a look at the database: its
    /// proposal was carried out, and all about it is known.
    pub fn carried_out(&self, lease: &Lease) -> Option<CycleWithState> {
        let mut cycles = self.handed.lock();
        let (_, handed) = cycles.get_mut(&lease.turn).filter(|(fence, _)| *fence == lease.fence)?;
        let HandedCycle { state, held } = handed.take_if(|handed| handed.is_done())?;
        Some(CycleWithState { held: held?, state })
    }
}

impl Unit {
    /// Hands the state on that this transaction leaves, once it is committed: it includes the last
    /// event of it.
    pub fn hand_on(&mut self, store: &Store, lease: &Lease, state: CampaignState) {
        let (handed, turn, fence) = (store.handed.clone(), lease.turn, lease.fence);
        self.then = Some(Box::new(move |sequence| {
            let state = CampaignState { sequence, ..state };
            handed.put(turn, fence, HandedCycle { state, held: None });
        }));
    }
}
