//! The state after events that were recorded a moment ago, if it follows from these alone: then
//! nothing has to be read.

use crate::domain::campaign::{Artifact, CampaignState, CampaignTask};
use crate::facts::{Event, EventRecord};

/// The state after these events, which come right after it. `None` if it has to be read: leads,
/// pages, and new tasks, whose conditions may name both.
pub(super) fn after(mut state: CampaignState, records: &[EventRecord]) -> Option<CampaignState> {
    for record in records {
        let sequence = record.sequence;
        match &record.event {
            Event::ContextChanged(changed) => {
                let kept = state.contexts.iter_mut().find(|kept| kept.id == changed.context.id)?;
                *kept = changed.context.clone();
            }
            Event::CampaignTaskChanged(changed) => {
                state.task(changed.task.id.0)?;
                state.put(CampaignTask { sequence, ..changed.task.clone() });
            }
            Event::ArtifactKept(kept) => state.keep(Artifact { sequence, ..kept.artifact.clone() }),
            _ => return None,
        }
        state.sequence = sequence;
    }
    Some(state)
}

#[cfg(test)]
mod tests;
