//! Campaigns in the database. A change is an event, and the rows are made of the event as replay
//! makes them. The order of locks is the same everywhere: a turn, the campaign, the conversation.

mod applied;
mod audited;
mod broken;
mod came;
mod copying;
mod cut;
mod cycle;
mod deeds;
mod exporting;
mod handed;
mod in_one;
mod loading;
mod named;
mod orders;
mod pages;
mod presences;
mod reading;
mod refused;
mod rows;
mod writing;

use super::StoreError;
use crate::domain::campaign::state::BrokenState;
use crate::domain::{CampaignId, InvalidTransition};

pub use came::CycleCame;
pub use deeds::{CampaignDeed, DoneOutside};
pub use exporting::WholeCampaign;
pub(super) use handed::HandedOn;
pub use handed::{CycleInHand, HandedCycle};
pub use in_one::PlannedDeed;
pub use loading::{CampaignFold, CycleWithState, HeldCycle, LastCall, ReadState};
pub use orders::{CampaignOrder, NewCampaign, NewCampaignTask};
pub use presences::Presences;
pub use reading::CampaignLog;

/// The reason why something about a campaign is not done.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// There is no such campaign.
    #[error("there is no campaign {0}; `level3 campaign list` shows those there are")]
    Unknown(CampaignId),
    /// There is no such thing in it.
    #[error("{0}")]
    Missing(String),
    /// The state as it is does not allow it.
    #[error("{0}")]
    Refused(String),
    /// The input does not fit; the place, and what is expected.
    #[error("{0}")]
    Wrong(String),
    /// The rows are not what was kept: the campaign cannot go on.
    #[error("campaign {0} is broken: {1}")]
    Broken(CampaignId, String),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CampaignError {
    fn broken(id: CampaignId) -> impl FnOnce(BrokenState) -> Self {
        move |BrokenState(why)| Self::Broken(id, why)
    }
}

impl From<sqlx::Error> for CampaignError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<InvalidTransition> for CampaignError {
    fn from(error: InvalidTransition) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<CampaignError> for StoreError {
    fn from(error: CampaignError) -> Self {
        match error {
            CampaignError::Store(error) => error,
            other => Self::Unreadable(other.to_string()),
        }
    }
}
