//! Makes the fingerprints of all cycles again, from the events before each.

use crate::domain::{CampaignId, TurnId};
use crate::facts::{Event, EventRecord};
use crate::store::{CampaignError, CampaignFold, Store};

use super::request::{CycleRequest, words};

/// The result of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedCycle {
    /// The requests that were compared.
    pub requests: usize,
    /// The first that differs: its turn, and what differs.
    pub differs: Option<(TurnId, String)>,
}

pub(super) async fn verify(store: &Store, id: CampaignId) -> Result<VerifiedCycle, CampaignError> {
    Ok(compared(id, &store.campaign_events(id).await?))
}

/// Makes them again from these events. A request is made in the words that were recorded before it,
/// and in those of this program if there are none: then it was made by one that did not record them
/// yet.
fn compared(id: CampaignId, records: &[EventRecord]) -> VerifiedCycle {
    let mut verified = VerifiedCycle::default();
    let mut fold = CampaignFold::new(id, records);
    let mut words = words();
    for record in records {
        let asked = match &record.event {
            Event::CycleWords(told) if told.words.sha256() != told.sha256 => {
                verified.differs = Some((told.turn, "the words of the program are not those that were recorded".to_owned()));
                return verified;
            }
            Event::CycleWords(told) => {
                words = told.words.clone();
                continue;
            }
            Event::CycleAsked(asked) => asked,
            _ => continue,
        };
        verified.requests += 1;
        let state = match fold.upto(asked.upto) {
            Ok(state) => state,
            Err(error) => {
                verified.differs = Some((asked.turn, error.to_string()));
                return verified;
            }
        };
        let again = CycleRequest::of(&state, record.at, &words);
        let differs = [
            ("state", again.state_sha256 != asked.state_sha256),
            ("rules", again.rules_sha256 != asked.rules_sha256),
            ("request", again.request_sha256 != asked.request_sha256),
        ];
        let differs: Vec<_> = differs.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what).collect();
        if !differs.is_empty() {
            let what = format!("request {} has another {} than the events before it give", asked.number, differs.join(" and "));
            verified.differs = Some((asked.turn, what));
            return verified;
        }
    }
    verified
}

#[cfg(test)]
mod tests;
