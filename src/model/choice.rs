//! Which model answers: the one that a task or a profile names, else the one that was set, else one
//! found on this machine, else the tour.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::Model;
use super::chain::{Chain, Health, Member, Unusable};
use super::client::{ChatClient, ModelLimits, SettingError};
use super::detect::{self, ModelPlace};
use super::reference::{self, Reference};
use super::tour::Tour;
use crate::clock::{Clock, Random};
use crate::config::ModelSettings;
use crate::domain::ModelInfo;

/// How long a look around that found nothing holds.
const HOLDS: TimeDelta = TimeDelta::seconds(10);
/// How many clients are kept. Models name models, too.
const MOST_KEPT: usize = 64;

/// Gives the model for a turn.
pub struct ModelSource {
    current: RwLock<Arc<dyn Model>>,
    /// `None` if a model was set, which then stays.
    search: Option<Search>,
    /// `None` if there is but one model, as in tests.
    catalogue: Option<Catalogue>,
}

struct Search {
    places: Vec<ModelPlace>,
    limits: ModelLimits,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    /// When the last look around was. Held during a look, so that there is never more than one.
    last: tokio::sync::Mutex<Option<DateTime<Utc>>>,
}

impl ModelSource {
    /// The model that `settings` name with its fallbacks, or a search at the usual places. Nothing
    /// is sent yet.
    ///
    /// # Errors
    /// A setting that is wrong or missing, by name.
    pub fn new(
        settings: &ModelSettings,
        limits: ModelLimits,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Result<Self, SettingError> {
        let limits = ModelLimits { context_tokens: settings.context_tokens, ..limits };
        let (chosen, fallbacks) = (reference::chosen(settings)?, reference::fallbacks(settings)?);
        let catalogue = Catalogue::new(settings.clone(), limits, Arc::clone(&clock), Arc::clone(&random));
        let Some(first) = chosen else {
            let searching = Self::searching(detect::usual_places(), limits, clock, random);
            return Ok(Self { catalogue: Some(catalogue), ..searching });
        };
        let references: Vec<_> = std::iter::once(first).chain(fallbacks).collect();
        for reference in &references {
            reference.target(settings)?;
        }
        let model = catalogue.chain(&references, None);
        Ok(Self { catalogue: Some(catalogue), ..Self::fixed(model) })
    }

    /// Always this model.
    pub fn fixed(model: Arc<dyn Model>) -> Self {
        Self { current: RwLock::new(model), search: None, catalogue: None }
    }

    /// This model, if neither a task nor a profile names another; those are looked for in
    /// `settings`.
    pub fn with_default(
        model: Arc<dyn Model>,
        settings: &ModelSettings,
        limits: ModelLimits,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { catalogue: Some(Catalogue::new(settings.clone(), limits, clock, random)), ..Self::fixed(model) }
    }

    /// The tour, until one of `places` has a model.
    pub fn searching(places: Vec<ModelPlace>, limits: ModelLimits, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        let search = Search { places, limits, clock, random, last: tokio::sync::Mutex::default() };
        Self { current: RwLock::new(Arc::new(Tour)), search: Some(search), catalogue: None }
    }

    /// The model to use now. While it is the tour, this looks around again, at most every ten
    /// seconds: a model that is started later is noticed without a restart. One that was found
    /// stays.
    pub async fn current(&self) -> Arc<dyn Model> {
        if let Some(search) = &self.search {
            self.search(search).await;
        }
        self.known()
    }

    /// The models for a turn, as one chain: the one its task names, then those its profile names,
    /// then, if the profile names none, the one that was set. A name that is of no use any more is
    /// one that is down. It has been asked how much it can take.
    pub async fn chosen(&self, task: Option<&str>, profile: &[String]) -> Arc<dyn Model> {
        let model = self.named(task, profile).await;
        model.prepare().await;
        model
    }

    async fn named(&self, task: Option<&str>, profile: &[String]) -> Arc<dyn Model> {
        let wanted: Vec<_> = task.into_iter().chain(profile.iter().map(String::as_str)).collect();
        let Some(catalogue) = self.catalogue.as_ref().filter(|_| !wanted.is_empty()) else { return self.current().await };
        let last = if profile.is_empty() { Some(self.current().await).filter(|model| model.info().kind != "tour") } else { None };
        let readable = wanted.iter().filter_map(|text| text.parse().ok()).collect::<Vec<Reference>>();
        if readable.is_empty() {
            return self.current().await;
        }
        catalogue.chain(&readable, last)
    }

    /// The model that a profile prefers, in the place of one that a task names: if its key is set,
    /// and a person has named none for the profile.
    pub fn preferred<'m>(&self, wanted: Option<&'m str>, profile: &[String]) -> Option<&'m str> {
        let settings = self.catalogue.as_ref().map(|catalogue| &catalogue.settings)?;
        let can_be_asked = |name: &&str| name.parse::<Reference>().is_ok_and(|reference| reference.target(settings).is_ok());
        wanted.filter(|_| profile.is_empty()).filter(can_be_asked)
    }

    /// Checks that a model can be asked by this name, and gives the form in which the name is kept.
    ///
    /// # Errors
    /// A sentence with the choices, or with the variable that is missing.
    pub fn check(&self, text: &str) -> Result<String, SettingError> {
        let reference: Reference = text.parse()?;
        if let Some(catalogue) = &self.catalogue {
            reference.target(&catalogue.settings)?;
        }
        Ok(reference.to_string())
    }

    /// The model's name and abilities as known now, without looking.
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

/// Clients by the models they ask.
struct Catalogue {
    settings: ModelSettings,
    limits: ModelLimits,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    kept: Mutex<KnownModels>,
}

#[derive(Default)]
struct KnownModels {
    /// By reference, and whether there is another model behind this one.
    models: HashMap<(String, bool), Arc<dyn Model>>,
    health: HashMap<String, Arc<Health>>,
}

impl Catalogue {
    fn new(settings: ModelSettings, limits: ModelLimits, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { settings, limits, clock, random, kept: Mutex::default() }
    }

    /// These models in their order, each once, and `last` behind them.
    fn chain(&self, references: &[Reference], last: Option<Arc<dyn Model>>) -> Arc<dyn Model> {
        let mut members: Vec<Member> = Vec::new();
        let count = references.len() + usize::from(last.is_some());
        for (place, reference) in references.iter().enumerate() {
            let name = reference.to_string();
            if members.iter().all(|member| member.name != name) {
                members.push(self.member(reference, name, place + 1 < count));
            }
        }
        if let Some(model) = last {
            members.push(Member { name: "the model that is set".into(), model, health: Arc::default() });
        }
        match members.as_slice() {
            [only] => Arc::clone(&only.model),
            _ => Arc::new(Chain::new(members, Arc::clone(&self.clock))),
        }
    }

    fn member(&self, reference: &Reference, name: String, another_behind: bool) -> Member {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.models.len() >= MOST_KEPT {
            *kept = KnownModels::default();
        }
        let health = Arc::clone(kept.health.entry(name.clone()).or_default());
        let made = || self.client(reference, another_behind);
        let model = Arc::clone(kept.models.entry((name.clone(), another_behind)).or_insert_with(made));
        Member { name, model, health }
    }

    fn client(&self, reference: &Reference, another_behind: bool) -> Arc<dyn Model> {
        // If another model stands behind this one, a turn does not wait long for this one.
        let limits = if another_behind {
            let first_token = self.limits.first_token.min(Duration::from_secs(60));
            ModelLimits { retries: self.limits.retries.min(1), longest_pause: Duration::from_secs(2), first_token, ..self.limits }
        } else {
            self.limits
        };
        let target = reference.target(&self.settings);
        let client = target.and_then(|target| ChatClient::new(target, limits, Arc::clone(&self.clock), Arc::clone(&self.random)));
        match client {
            Ok(client) => Arc::new(client),
            Err(error) => Arc::new(Unusable { provider: reference.provider().name.into(), why: error.to_string() }),
        }
    }
}
