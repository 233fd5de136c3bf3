//! Writes `context.md`, `environment.md` and `tasks.md` of each campaign after each change. Nothing reads them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;

use super::Campaigns;
use crate::domain::CampaignId;
use crate::domain::campaign::files::files;
use crate::facts::{Event, EventRecord};
use crate::store::{CampaignError, StoreError};

pub(super) async fn run(campaigns: &Campaigns, shutdown: CancellationToken) {
    let mut events = campaigns.store().signals().events();
    let mut changed: Option<BTreeSet<CampaignId>> = None;
    loop {
        let ids = match changed.take() {
            Some(ids) => ids,
            // All of them, at the start and if some events were missed.
            None => match campaigns.store().campaigns().await {
                Ok(all) => all.into_iter().map(|campaign| campaign.id).collect(),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the files of campaigns could not be written");
                    BTreeSet::new()
                }
            },
        };
        for id in ids {
            if let Err(error) = write(campaigns, id).await {
                tracing::warn!(error = &error as &dyn std::error::Error, campaign = %id, "the files of a campaign could not be written");
            }
        }
        changed = tokio::select! {
            () = shutdown.cancelled() => return,
            event = events.recv() => match event {
                Ok(record) => all_of(about(&record.event), &mut events),
                Err(RecvError::Lagged(_)) => None,
                Err(RecvError::Closed) => return,
            },
        };
    }
}

/// The campaigns of an event and of all that came after it meanwhile, each once; `None` if some were missed.
fn all_of(first: Option<CampaignId>, events: &mut Receiver<EventRecord>) -> Option<BTreeSet<CampaignId>> {
    let mut changed: BTreeSet<_> = first.into_iter().collect();
    loop {
        match events.try_recv() {
            Ok(record) => changed.extend(about(&record.event)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(changed),
            Err(TryRecvError::Lagged(_)) => return None,
        }
    }
}

/// The campaign whose files an event changes.
fn about(event: &Event) -> Option<CampaignId> {
    match event {
        Event::CampaignChanged(changed) => Some(changed.campaign.id),
        Event::CampaignTaskChanged(changed) => Some(changed.task.campaign_id),
        Event::ArtifactKept(kept) => Some(kept.artifact.campaign_id),
        _ => None,
    }
}

/// Writes the files of a campaign, each in one move.
pub(super) async fn write(campaigns: &Campaigns, id: CampaignId) -> Result<(), CampaignError> {
    let state = campaigns.store().campaign_state(id).await?;
    let folder = campaigns.0.folder.join(id.to_string());
    let written = tokio::task::spawn_blocking(move || write_all(&folder, &files(&state)));
    let written = written.await.unwrap_or_else(|_| Err(std::io::Error::other("writing was cut off")));
    written.map_err(|error| CampaignError::Store(StoreError::broken(error)))
}

fn write_all(folder: &Path, files: &[(&'static str, String)]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (name, text) in files {
        let path = folder.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|there| there == *text) {
            continue;
        }
        let beside: PathBuf = folder.join(format!(".{name}.new"));
        std::fs::write(&beside, text)?;
        std::fs::rename(&beside, &path)?;
    }
    Ok(())
}
