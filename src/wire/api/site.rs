//! The JSON of `/api/settings`, `/api/models` and `/api/backup`: the server itself.

use serde::{Deserialize, Serialize};

use crate::config::SettingState;
use crate::domain::ModelInfo;

/// `GET` and `PUT /api/settings`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingStates {
    /// Every setting.
    pub settings: Vec<SettingState>,
    /// When changes hold, in a sentence.
    pub said: String,
}

/// `GET /api/models`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundModels {
    /// The model that answers now.
    pub current: ModelInfo,
    /// True if it sees images, as far as is known.
    pub images: bool,
    /// The tokens that fit into a request to it with its answer.
    pub context_tokens: u32,
    /// The providers, and what each has.
    pub providers: Vec<ModelProvider>,
    /// The setting that is wrong, if one keeps the providers from being asked.
    pub problem: Option<String>,
}

/// A provider of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelProvider {
    /// Its name.
    pub provider: String,
    /// `ready`, `unreachable`, `refused` or `not configured`.
    pub state: String,
    /// The address that was asked; empty if none was.
    pub address: String,
    /// Why it is not ready, and what to do; empty if it is.
    pub why: String,
    /// Its models, as it lists them.
    pub models: Vec<String>,
    /// Those that are in use.
    pub in_use: Vec<String>,
    /// Those that answer while the one in use is down.
    pub fallbacks: Vec<String>,
}

/// Body of `POST /api/models/test`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelToTest {
    /// The model as `provider/model`; the one that answers now when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// `POST /api/models/test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelTested {
    /// The model.
    pub model: String,
    /// True if it can be used.
    pub ok: bool,
    /// The finding, or the thing to do about it, in a sentence.
    pub said: String,
    /// How long all of it took, in milliseconds.
    pub ms: i64,
    /// The checks, in their order; empty if it was only asked once.
    pub checks: Vec<ModelCheck>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelCheck {
    /// The thing, in one or two words.
    pub what: String,
    /// `ok`, `failed` or `skipped`.
    pub state: String,
    /// The finding, or what to do.
    pub said: String,
}

/// `POST /api/backup`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeBackup {
    /// The file, on the server's machine.
    pub file: String,
    /// Its content, in sentences.
    pub said: String,
}
