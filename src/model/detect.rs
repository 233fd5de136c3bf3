//! Finds a model that already runs on this machine, when nothing was set.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::time::timeout;

use super::client::{ChatClient, Endpoint, ModelLimits, Target};
use super::providers::Provider;
use super::transport::Transport;
use super::{Model, names};
use crate::clock::{Clock, Random};

/// The most that is read of a list of models, in bytes.
const LONGEST_LIST: usize = 1 << 20;

/// A place to look at.
#[derive(Clone, Debug)]
pub struct ModelPlace {
    /// The provider whose usual place it is.
    pub provider: &'static str,
    /// Its address.
    pub base_url: String,
}

/// The addresses of Ollama, LM Studio and llama.cpp when they run on this machine.
pub fn usual_places() -> Vec<ModelPlace> {
    let place = |name: &str| {
        let provider = Provider::named(name)?;
        Some(ModelPlace { provider: provider.name, base_url: provider.base_url.into() })
    };
    ["ollama", "lmstudio", "llamacpp"].into_iter().filter_map(place).collect()
}

/// Looks at all places at once; the first of them, in the order given, that lists a model one can
/// talk to.
pub async fn look(
    places: &[ModelPlace],
    limits: ModelLimits,
    clock: &Arc<dyn Clock>,
    random: &Arc<dyn Random>,
) -> Option<Arc<dyn Model>> {
    let found = join_all(places.iter().map(|place| model_at(place, limits.look))).await.into_iter().flatten().next()?;
    let client = ChatClient::new(found, limits, Arc::clone(clock), Arc::clone(random)).ok()?;
    Some(Arc::new(client))
}

async fn model_at(place: &ModelPlace, patience: Duration) -> Option<Target> {
    let endpoint = Endpoint::new(&place.base_url, None).ok()?;
    let transport = Transport::new(endpoint.clone(), patience).ok()?;
    let list = timeout(patience, list(&transport)).await.ok()??;
    let model = names::first_chat_model(&list)?;
    Some(Target { endpoint, model: Some(model), provider: place.provider.into(), kind: "local" })
}

async fn list(transport: &Transport) -> Option<Value> {
    let mut response = transport.models().await.ok().filter(|response| response.status().is_success())?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LONGEST_LIST {
            return None;
        }
    }
    serde_json::from_slice(&bytes).ok()
}
