//! Writes `context.md`, `environment.md` and `tasks.md` of each campaign after each change. Nothing
//! reads them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;

use super::Campaigns;
use crate::domain::CampaignId;
use crate::domain::campaign::files::{files, is_shown};
use crate::facts::{Event, EventRecord};
use crate::store::{Announced, CampaignError, Store};
use crate::telemetry::chain;
use crate::whole_file;

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
            campaigns.write_files(id).await;
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

/// The campaigns of an event and of all that came after it meanwhile, each once; `None` if some
/// were missed.
fn all_of(first: Option<CampaignId>, events: &mut Receiver<Announced<EventRecord>>) -> Option<BTreeSet<CampaignId>> {
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
        Event::ArtifactKept(kept) => is_shown(kept.artifact.artifact_type).then_some(kept.artifact.campaign_id),
        _ => None,
    }
}

/// The folder of the files of all campaigns.
pub(super) struct CampaignsFolder {
    path: PathBuf,
    /// Held from the reading of a state until its files are written: two who write at once would
    /// take each other's new file away, or put an older state in the place of a newer one.
    writing: Arc<Mutex<()>>,
}

impl CampaignsFolder {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, writing: Arc::default() }
    }

    /// Writes the files of a campaign, each in one move, whatever becomes of the others. Gives
    /// those that could not be written, each with why. The log says it too.
    pub(super) async fn write(&self, store: &Store, id: CampaignId) -> Vec<String> {
        let unwritten = self.try_write(store, id).await.unwrap_or_else(|error| vec![chain(&error)]);
        for why in &unwritten {
            tracing::warn!(why, campaign = %id, "a file of a campaign could not be written");
        }
        unwritten
    }

    async fn try_write(&self, store: &Store, id: CampaignId) -> Result<Vec<String>, CampaignError> {
        let writing = Arc::clone(&self.writing).lock_owned().await;
        let state = store.campaign_state(id).await?;
        let folder = self.path.join(id.to_string());
        let written = tokio::task::spawn_blocking(move || {
            // Goes on until the end, even if nobody waits for it any more.
            let _writing = writing;
            write_all(&folder, &files(&state))
        });
        Ok(written.await.unwrap_or_else(|_| vec!["writing was cut off".to_owned()]))
    }
}

/// Gives those that could not be written.
fn write_all(folder: &Path, files: &[(&'static str, String)]) -> Vec<String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    if let Err(error) = std::fs::create_dir_all(folder) {
        return vec![failed(folder, error)];
    }
    let unwritten = files.iter().filter_map(|(name, text)| {
        let file = folder.join(name);
        whole_file::mirror(&file, text).err().map(|error| failed(&file, error))
    });
    unwritten.collect()
}
