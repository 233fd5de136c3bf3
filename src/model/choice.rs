//! Which model answers: the one that was set, else one found on this machine, else the tour.

use std::sync::{Arc, PoisonError, RwLock};

use chrono::{DateTime, TimeDelta, Utc};

use super::client::{ChatClient, Limits, SettingError};
use super::detect::{self, Place};
use super::tour::Tour;
use super::{Model, presets};
use crate::clock::{Clock, Random};
use crate::config::ModelSettings;
use crate::wire::ModelInfo;

/// How long a look around that found nothing holds.
const HOLDS: TimeDelta = TimeDelta::seconds(10);

/// Gives the model for a turn.
pub struct ModelSource {
    current: RwLock<Arc<dyn Model>>,
    /// `None` where a model was set, which then stays.
    search: Option<Search>,
}

struct Search {
    places: Vec<Place>,
    limits: Limits,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// When the last look around was. Held during a look, so that there is never more than one.
    last: tokio::sync::Mutex<Option<DateTime<Utc>>>,
}

impl ModelSource {
    /// The model that `settings` name, or a search at the usual places. Nothing is sent yet.
    ///
    /// # Errors
    /// A setting that is wrong or missing, by name.
    pub fn new(
        settings: &ModelSettings,
        limits: Limits,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self, SettingError> {
        match presets::resolve(settings)? {
            Some(target) => Ok(Self::fixed(Arc::new(ChatClient::new(target, limits, clock, random)?))),
            None => Ok(Self::searching(detect::usual_places(), limits, clock, random)),
        }
    }

    /// Always this model.
    pub fn fixed(model: Arc<dyn Model>) -> Self {
        Self { current: RwLock::new(model), search: None }
    }

    /// The tour, until one of `places` has a model.
    pub fn searching(places: Vec<Place>, limits: Limits, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        let search = Search { places, limits, clock, random, last: tokio::sync::Mutex::default() };
        Self { current: RwLock::new(Arc::new(Tour)), search: Some(search) }
    }

    /// The model to use now. While it is the tour, this looks around again, at most every ten seconds: a model that is started
    /// later is noticed without a restart. One that was found stays.
    pub async fn current(&self) -> Arc<dyn Model> {
        if let Some(search) = &self.search {
            self.search(search).await;
        }
        self.known()
    }

    /// What is known of the model now, without looking.
    pub fn info(&self) -> ModelInfo {
        self.known().info()
    }

    fn known(&self) -> Arc<dyn Model> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn search(&self, search: &Search) {
        let mut last = search.last.lock().await;
        let now = search.clock.now();
        // A clock that was set back does not stop the search.
        let fresh = last.is_some_and(|last| (last..last + HOLDS).contains(&now));
        if fresh || self.info().kind != "tour" {
            return;
        }
        if let Some(model) = detect::look(&search.places, search.limits, &search.clock, &search.random).await {
            tracing::info!(provider = model.info().provider, model = model.info().name, "found a local model");
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = model;
        }
        *last = Some(now);
    }
}
