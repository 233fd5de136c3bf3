//! The words about models that several floors speak: which one answers, and its price.

use serde::{Deserialize, Serialize};

/// Which model answers, as the page shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// `configured`, `local` (found on loopback) or `tour`.
    pub kind: String,
    /// The provider's name.
    pub provider: String,
    /// The model's name.
    pub name: String,
}

/// The price of a model, in millionths of a dollar for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// For tokens read.
    pub input_micros: u64,
    /// For tokens written.
    pub output_micros: u64,
}
