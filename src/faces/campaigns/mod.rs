//! Campaigns: the controller's own loop, in which a model only proposes. [`worker`] has the place
//! of the agent, [`tool`] carries proposals out through the one door, [`check`] lets a campaign
//! start, [`replayed`] makes its cycles again, [`projections`] writes its files.

mod browser;
mod capability;
mod check;
mod projections;
mod replayed;
mod request;
mod script;
mod tool;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::browser::Browser;
use crate::clock::Clock;
use crate::domain::campaign::judge::Presence;
use crate::domain::campaign::{Campaign, CampaignInput, CampaignState, CampaignStatus};
use crate::domain::{CampaignId, ToolSpec};
use crate::executor::{Executor, Worker};
use crate::store::{CampaignError, CampaignOrder, Store};
use crate::tools::Hands;

use projections::CampaignsFolder;

pub use replayed::VerifiedCycle;
pub use tool::tools;

/// The most faults that the reason of a broken campaign names.
const MOST_NAMED: usize = 3;

/// The campaigns of a server. Cheap to clone.
#[derive(Clone)]
pub struct Campaigns(Arc<Parts>);

/// A campaign that a person looks at.
pub struct SeenCampaign {
    /// Its state.
    pub state: CampaignState,
    /// The files of it that could not be written, each with why.
    pub unwritten: Vec<String>,
}

struct Parts {
    executor: Executor,
    hands: Hands,
    browser: Browser,
    folder: CampaignsFolder,
}

impl Campaigns {
    /// Campaigns whose calls this executor carries out; their files stand in `folder`.
    pub fn new(executor: Executor, hands: Hands, browser: Browser, folder: PathBuf) -> Self {
        Self(Arc::new(Parts { executor, hands, browser, folder: CampaignsFolder::at(folder) }))
    }

    /// The worker of their turns.
    pub fn worker(&self) -> Arc<dyn Worker> {
        Arc::new(worker::CampaignWorker(self.clone()))
    }

    /// Writes their files after each change, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        projections::run(&self, shutdown).await;
    }

    /// The eight kinds of proposals with their schemas.
    pub fn vocabulary() -> Vec<ToolSpec> {
        request::specs()
    }

    /// Somebody watches over a campaign, from now on for a while. It goes on if it waited for that.
    ///
    /// # Errors
    /// [`CampaignError`] if there is no such campaign.
    pub async fn present(&self, id: CampaignId) -> Result<(), CampaignError> {
        self.store().conversation_of_campaign(id).await?;
        self.store().signals().watched(id, self.clock().now());
        self.kick(id).await;
        Ok(())
    }

    /// True if somebody watches over a campaign.
    pub fn is_watched(&self, id: CampaignId) -> bool {
        self.presence(id) == Presence::There
    }

    /// True if a browser was there when it was last looked for.
    pub fn has_browser(&self) -> bool {
        self.0.browser.is_there()
    }

    /// Starts a campaign, if its events and artifacts are what was kept, and all that it needs is
    /// there.
    ///
    /// # Errors
    /// [`CampaignError::Refused`] lists what fails, each with what to do; [`CampaignError::Broken`]
    /// if it is broken, and then it is ended.
    pub async fn start(&self, id: CampaignId) -> Result<Campaign, CampaignError> {
        self.ended_if_broken(self.check_kept(id).await).await?;
        let faults = self.ended_if_broken(check::faults(self, id).await).await?;
        if !faults.is_empty() {
            return Err(CampaignError::Refused(format!("campaign {id} cannot start yet:\n- {}", faults.join("\n- "))));
        }
        self.steer(id, CampaignInput::Start).await
    }

    /// Pauses a campaign, or lets it go on if its events and artifacts are what was kept.
    ///
    /// # Errors
    /// [`CampaignError::Refused`] if its state does not take that, [`CampaignError::Broken`] if it
    /// is broken; then it is ended.
    pub async fn steer(&self, id: CampaignId, input: CampaignInput) -> Result<Campaign, CampaignError> {
        if input == CampaignInput::Resume {
            self.ended_if_broken(self.check_kept(id).await).await?;
        }
        let steered = self.store().steer_campaign(id, input, self.clock().now()).await;
        let campaign = self.ended_if_broken(steered).await?;
        self.kick(id).await;
        Ok(campaign)
    }

    /// Lets a paused campaign do exactly one cycle, while somebody is there. One who `comes` with
    /// the order counts as there if it is taken.
    ///
    /// # Errors
    /// [`CampaignError::Refused`] if it is not paused, nobody is there, or there is nothing to do.
    pub async fn one_cycle(&self, id: CampaignId, comes: bool) -> Result<Campaign, CampaignError> {
        self.ended_if_broken(self.check_kept(id).await).await?;
        let allowed = self.store().allow_one_cycle(id, self.presence(id), comes, self.clock().now()).await;
        self.ended_if_broken(allowed).await
    }

    /// The state of a campaign, to look at; its files come back if somebody took them away. A
    /// campaign that turns out to be broken is ended, and its state is the part that can be read.
    ///
    /// # Errors
    /// [`CampaignError`] if there is no such campaign.
    pub async fn look(&self, id: CampaignId) -> Result<SeenCampaign, CampaignError> {
        let why = match self.store().campaign_state(id).await {
            Err(CampaignError::Broken(_, why)) => why,
            other => {
                let mut state = other?;
                if state.campaign.status == CampaignStatus::Error {
                    // A change that fits its sha256 is found by its event alone.
                    state = self.store().remains_of_campaign(id).await?;
                }
                self.store().name_approvals(std::slice::from_mut(&mut state.campaign)).await?;
                let unwritten = self.write_files(id).await;
                return Ok(SeenCampaign { state, unwritten });
            }
        };
        let mut state = self.store().remains_of_campaign(id).await?;
        if state.campaign.status != CampaignStatus::Error {
            self.end_broken(id, &why).await;
            state = self.store().remains_of_campaign(id).await?;
        }
        Ok(SeenCampaign { state, unwritten: Vec::new() })
    }

    /// Ends the campaign that this says is broken, and gives it back as it was.
    ///
    /// # Errors
    /// That which it was given.
    pub async fn ended_if_broken<T>(&self, told: Result<T, CampaignError>) -> Result<T, CampaignError> {
        match told {
            Err(CampaignError::Broken(id, why)) => {
                self.end_broken(id, &why).await;
                Err(CampaignError::Broken(id, why))
            }
            other => other,
        }
    }

    /// Sets a campaign to `error`. If that fails, the log says so.
    async fn end_broken(&self, id: CampaignId, why: &str) {
        tracing::error!(campaign = %id, why, "a campaign is broken");
        let now = self.clock().now();
        let broken = async {
            let conversation = self.store().conversation_of_campaign(id).await?;
            self.store().break_campaign(conversation, why, now).await.map_err(CampaignError::from)
        };
        if let Err(error) = broken.await {
            tracing::warn!(error = &error as &dyn std::error::Error, "a broken campaign could not be ended");
        }
    }

    /// Checks that the events and all artifacts of a campaign are what was kept.
    async fn check_kept(&self, id: CampaignId) -> Result<(), CampaignError> {
        let mut broken = self.store().unkept_of_campaign(id).await?;
        if broken.is_empty() {
            return Ok(());
        }
        let more = broken.len().saturating_sub(MOST_NAMED);
        broken.truncate(MOST_NAMED);
        if more > 0 {
            broken.push(format!("and {more} more"));
        }
        Err(CampaignError::Broken(id, format!("{}; copy it to go on: level3 campaign copy {id}", broken.join("; "))))
    }

    /// Does what a person orders; the campaign goes on if it waited for that.
    ///
    /// # Errors
    /// [`CampaignError`] says why not.
    pub async fn order(&self, id: CampaignId, order: CampaignOrder) -> Result<String, CampaignError> {
        let told = self.store().order_campaign(id, order, self.clock().now()).await;
        let told = self.ended_if_broken(told).await?;
        self.kick(id).await;
        Ok(told)
    }

    /// Begins a cycle, if there is something to do and somebody is there.
    pub async fn kick(&self, id: CampaignId) {
        let now = self.clock().now();
        match self.store().kick_campaign(id, self.presence(id), now).await {
            Ok(_) => {}
            Err(CampaignError::Broken(_, why)) => self.end_broken(id, &why).await,
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, campaign = %id, "a campaign could not go on"),
        }
    }

    /// Makes all cycles of a campaign again from the events before each, and compares.
    ///
    /// # Errors
    /// [`CampaignError`] if there is no such campaign.
    pub async fn verify(&self, id: CampaignId) -> Result<VerifiedCycle, CampaignError> {
        replayed::verify(self.store(), id).await
    }

    /// Writes the files of a campaign. Gives those that could not be written, each with why.
    async fn write_files(&self, id: CampaignId) -> Vec<String> {
        self.0.folder.write(self.store(), id).await
    }

    fn store(&self) -> &Store {
        &self.0.executor.store
    }

    fn clock(&self) -> &dyn Clock {
        &*self.0.executor.clock
    }

    fn presence(&self, id: CampaignId) -> Presence {
        self.store().signals().presences().of(id, self.clock().now())
    }
}
