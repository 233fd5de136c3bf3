//! `provider/model`: how a person, a profile and a task name a model, and what the settings of a
//! person make of it.

use std::fmt;
use std::str::FromStr;

use super::client::{Endpoint, SettingError, Target};
use super::providers::{self, Provider};
use crate::config::ModelSettings;

/// The longest name of a model, in bytes.
const LONGEST: usize = 200;

/// A model of a provider.
#[derive(Clone, Debug)]
pub struct Reference {
    provider: &'static Provider,
    /// `None`: the provider's own choice.
    model: Option<String>,
}

impl FromStr for Reference {
    type Err = SettingError;

    /// Reads `groq/llama-3.3-70b-versatile`, or a provider alone for the model it has by default.
    fn from_str(text: &str) -> Result<Self, SettingError> {
        let text = text.trim();
        let (first, model) = text.split_once('/').map_or((text, None), |(first, rest)| (first, Some(rest)));
        let fits = text.len() <= LONGEST && !text.contains(char::is_control) && model != Some("");
        let provider = Provider::named(first).filter(|_| fits);
        let provider = provider.ok_or_else(|| {
            let shown: String = text.chars().take(80).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
            SettingError(format!(
                "`{shown}` names no model: write provider/model, like groq/llama-3.3-70b-versatile, with one of these as the provider: {}.",
                providers::names()
            ))
        })?;
        Ok(Self { provider, model: model.map(str::to_owned) })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.model.as_deref().or(self.provider.model) {
            Some(model) => write!(to, "{}/{model}", self.provider.name),
            None => write!(to, "{}", self.provider.name),
        }
    }
}

/// References separated by commas.
///
/// # Errors
/// The first that names no model.
pub fn several(text: &str) -> Result<Vec<Reference>, SettingError> {
    text.split(',').map(str::trim).filter(|one| !one.is_empty()).map(str::parse).collect()
}

/// The model that the settings choose; `None` when nothing is set, which means: look for a local
/// model, else the tour.
///
/// Without `LLM_PROVIDER`, a base URL means `custom`, a key is given to the one provider that makes
/// keys of its form, and `LLM_MODEL` may be a reference.
///
/// # Errors
/// The first setting that is wrong or missing, by name.
pub fn chosen(settings: &ModelSettings) -> Result<Option<Reference>, SettingError> {
    let ModelSettings { provider, model, api_key, base_url, .. } = settings;
    let of = |provider: &'static Provider| Ok(Some(Reference { provider, model: model.clone() }));
    match (provider, base_url, api_key, model) {
        (Some(name), ..) => match Provider::named(name) {
            Some(provider) => of(provider),
            None => Err(SettingError(format!(
                "LLM_PROVIDER is `{name}`, which is not known: set it to one of {}.",
                providers::names()
            ))),
        },
        (None, Some(_), ..) => of(Provider::custom()),
        (None, None, Some(key), _) => {
            let provider = maker_of(key)?;
            let own = |model: &String| model.parse().ok().filter(|of: &Reference| of.provider.name == provider.name);
            let own = model.as_ref().filter(|model| model.contains('/')).and_then(own);
            own.map_or_else(|| of(provider), |own| Ok(Some(own)))
        }
        (None, None, None, Some(model)) => model.parse().map(Some).map_err(|_| {
            SettingError(format!(
                "LLM_MODEL is set, but not where that model is: set LLM_PROVIDER to one of {}, or write LLM_MODEL as provider/model.",
                providers::names()
            ))
        }),
        (None, None, None, None) => Ok(None),
    }
}

/// The references of `LLM_FALLBACK`.
///
/// # Errors
/// The first that is wrong, or that there is no model to fall back from.
pub fn fallbacks(settings: &ModelSettings) -> Result<Vec<Reference>, SettingError> {
    let references = several(settings.fallback.as_deref().unwrap_or_default())
        .map_err(|SettingError(told)| SettingError(format!("LLM_FALLBACK cannot be used: {told}")))?;
    if !references.is_empty() && chosen(settings)?.is_none() {
        return Err(SettingError("LLM_FALLBACK is set, but no model to fall back from: set LLM_PROVIDER, or LLM_MODEL.".into()));
    }
    Ok(references)
}

impl Reference {
    /// The provider whose model it is.
    pub fn provider(&self) -> &'static Provider {
        self.provider
    }

    /// Another model of the same provider, or whichever it has.
    pub fn any_of(provider: &'static Provider) -> Self {
        Self { provider, model: None }
    }

    /// The address to ask, with the key for it. `LLM_API_KEY` and `LLM_BASE_URL` are the chosen
    /// provider's alone; a provider's own key goes only to the provider's own address.
    ///
    /// # Errors
    /// The variable that is wrong or missing.
    pub fn target(&self, settings: &ModelSettings) -> Result<Target, SettingError> {
        let provider = self.provider;
        let is_chosen = chosen(settings).ok().flatten().is_some_and(|chosen| chosen.provider.name == provider.name);
        let set = settings.base_url.as_deref().filter(|_| is_chosen).map(|url| ("LLM_BASE_URL", url));
        let own = || provider.address_variable.and_then(|name| Some((name, settings.addresses.get(name)?.as_str())));
        let moved = set.or_else(own);
        let (address_variable, base_url) = moved.unwrap_or((
            if is_chosen { "LLM_BASE_URL" } else { provider.address_variable.unwrap_or("LLM_BASE_URL") },
            provider.base_url,
        ));
        if base_url.is_empty() {
            return Err(SettingError(
                "The provider `custom` has no address: set LLM_PROVIDER to custom and LLM_BASE_URL to the model's address, like \
                 http://127.0.0.1:8080/v1."
                    .into(),
            ));
        }
        let given = settings.api_key.as_deref().filter(|_| is_chosen).map(|key| ("LLM_API_KEY", key));
        let makers =
            || provider.key_variable.filter(|_| moved.is_none()).and_then(|name| Some((name, settings.keys.get(name)?.as_str())));
        let key = given.or_else(makers);
        if let (None, None, Some(variable)) = (key, moved, provider.key_variable) {
            let name = provider.name;
            let why = if is_chosen {
                format!("LLM_PROVIDER is `{name}`, which needs a key")
            } else {
                format!("The provider `{name}` needs a key")
            };
            return Err(SettingError(format!("{why}: set {variable}.")));
        }
        let key_variable = key.map_or_else(
            || if is_chosen { "LLM_API_KEY" } else { provider.key_variable.unwrap_or("LLM_API_KEY") },
            |(name, _)| name,
        );
        let endpoint = Endpoint::of(base_url, key.map(|(_, key)| key), address_variable, key_variable)?;
        // With an address of one's own the provider's name says only which dialect it speaks.
        let model = self.model.clone().or_else(|| provider.model.filter(|_| moved.is_none()).map(str::to_owned));
        Ok(Target { endpoint, model, provider: provider.name.into(), kind: "configured" })
    }
}

/// The maker of this key, told by its form. A key is never sent to a provider that might not be its
/// maker.
fn maker_of(key: &str) -> Result<&'static Provider, SettingError> {
    const FORMS: [(&str, &str); 6] = [
        ("sk-ant-", "anthropic"),
        ("sk-or-", "openrouter"),
        ("sk-proj-", "openai"),
        ("sk-svcacct-", "openai"),
        ("gsk_", "groq"),
        ("AIza", "gemini"),
    ];
    let maker = FORMS.iter().find(|(form, _)| key.starts_with(form)).and_then(|(_, maker)| Provider::named(maker));
    maker.ok_or_else(|| {
        SettingError(format!(
            "LLM_API_KEY is set, but not whose key it is: set LLM_PROVIDER to one of {}, or LLM_BASE_URL.",
            providers::names()
        ))
    })
}

#[cfg(test)]
mod tests;
