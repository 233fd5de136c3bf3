//! Makes the fingerprints of all cycles again, from the events before each.

use crate::domain::{CampaignId, TurnId};
use crate::facts::Event;
use crate::store::{CampaignError, CampaignFold, Store};

use super::request::CycleRequest;

/// The result of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedCycle {
    /// The requests that were compared.
    pub requests: usize,
    /// The first that differs: its turn, and what differs.
    pub differs: Option<(TurnId, String)>,
}

pub(super) async fn verify(store: &Store, id: CampaignId) -> Result<VerifiedCycle, CampaignError> {
    let records = store.campaign_events(id).await?;
    let mut verified = VerifiedCycle::default();
    let mut fold = CampaignFold::new(id, &records);
    for record in &records {
        let Event::CycleAsked(asked) = &record.event else { continue };
        verified.requests += 1;
        let state = match fold.upto(asked.upto) {
            Ok(state) => state,
            Err(error) => {
                verified.differs = Some((asked.turn, error.to_string()));
                return Ok(verified);
            }
        };
        let again = CycleRequest::of(&state, record.at);
        let differs = [
            ("state", again.state_sha256 != asked.state_sha256),
            ("rules", again.rules_sha256 != asked.rules_sha256),
            ("request", again.request_sha256 != asked.request_sha256),
        ];
        let differs: Vec<_> = differs.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what).collect();
        if !differs.is_empty() {
            let what = format!("request {} has another {} than the events before it give", asked.number, differs.join(" and "));
            verified.differs = Some((asked.turn, what));
            return Ok(verified);
        }
    }
    Ok(verified)
}
