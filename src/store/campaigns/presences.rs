//! Those who watch over campaigns: a page that is visible, or a terminal. Each server keeps it in
//! its memory only, and tells its neighbours of each sign. A server that missed one waits until the
//! next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::CampaignId;
use crate::domain::campaign::judge::Presence;

/// How long somebody counts as there after a sign.
const LASTS: TimeDelta = TimeDelta::seconds(40);

/// The last sign for each campaign. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Presences(Arc<Mutex<BTreeMap<CampaignId, DateTime<Utc>>>>);

impl Presences {
    /// Somebody is there now.
    pub(in crate::store) fn note(&self, id: CampaignId, now: DateTime<Utc>) {
        let mut signs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        signs.retain(|_, at| *at + LASTS > now);
        signs.insert(id, now);
    }

    /// Says if somebody is there.
    pub fn of(&self, id: CampaignId, now: DateTime<Utc>) -> Presence {
        let signs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there = signs.get(&id).is_some_and(|at| (*at..*at + LASTS).contains(&now));
        if there { Presence::There } else { Presence::Away }
    }
}
