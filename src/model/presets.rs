//! Providers known by name, and what the settings of a person mean.

use super::client::{Endpoint, SettingError, Target};
use crate::config::ModelSettings;

/// A provider known by name.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The word for `LLM_PROVIDER`.
    pub name: &'static str,
    /// Where it is; empty for `custom`, which has no place of its own.
    pub base_url: &'static str,
    /// Whether it answers nobody without a key.
    pub needs_key: bool,
    /// The model to use when none is named; `None` takes the first one the server lists.
    pub model: Option<&'static str>,
}

const fn remote(name: &'static str, base_url: &'static str, model: &'static str) -> Preset {
    Preset { name, base_url, needs_key: true, model: Some(model) }
}

const fn local(name: &'static str, base_url: &'static str) -> Preset {
    Preset { name, base_url, needs_key: false, model: None }
}

/// Every preset.
pub const PRESETS: [Preset; 7] = [
    remote("anthropic", "https://api.anthropic.com/v1", "claude-sonnet-4-5"),
    remote("openai", "https://api.openai.com/v1", "gpt-4.1-mini"),
    remote("groq", "https://api.groq.com/openai/v1", "llama-3.3-70b-versatile"),
    remote("openrouter", "https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5"),
    local("ollama", "http://127.0.0.1:11434/v1"),
    local("lmstudio", "http://127.0.0.1:1234/v1"),
    local("custom", ""),
];

/// What the settings mean; `None` when nothing is set, which means: look for a local model, else the tour.
///
/// Without `LLM_PROVIDER`, a base URL means `custom`, and a key is given to the one provider that makes keys of its form.
///
/// # Errors
/// The first setting that is wrong or missing, by name.
pub fn resolve(settings: &ModelSettings) -> Result<Option<Target>, SettingError> {
    let ModelSettings { provider, model, api_key, base_url } = settings;
    let name = match (provider.as_deref(), base_url, api_key, model) {
        (Some(provider), ..) => provider.to_ascii_lowercase(),
        (None, Some(_), ..) => "custom".into(),
        (None, None, Some(key), _) => maker_of(key)?.into(),
        (None, None, None, Some(_)) => {
            return Err(SettingError(format!(
                "LLM_MODEL is set, but not where that model is: set LLM_PROVIDER to one of {}.",
                names()
            )));
        }
        (None, None, None, None) => return Ok(None),
    };
    let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
        return Err(SettingError(format!("LLM_PROVIDER is `{name}`, which is not known: set it to one of {}.", names())));
    };
    let base_url = match base_url.as_deref() {
        Some(base_url) => base_url,
        None if preset.base_url.is_empty() => {
            return Err(SettingError(
                "LLM_PROVIDER is `custom`: set LLM_BASE_URL to the model's address, like http://127.0.0.1:8080/v1.".into(),
            ));
        }
        None => preset.base_url,
    };
    // With an address of one's own the provider's name says only which dialect it speaks.
    let moved = settings.base_url.is_some();
    if preset.needs_key && !moved && api_key.is_none() {
        return Err(SettingError(format!("LLM_PROVIDER is `{name}`, which needs a key: set LLM_API_KEY.")));
    }
    let endpoint = Endpoint::new(base_url, api_key.as_deref())?;
    let model = model.clone().or_else(|| preset.model.filter(|_| !moved).map(str::to_owned));
    Ok(Some(Target { endpoint, model, provider: preset.name.into(), kind: "configured" }))
}

/// Whose key this is. A key is never sent to a provider that might not be its maker.
fn maker_of(key: &str) -> Result<&'static str, SettingError> {
    const FORMS: [(&str, &str); 5] =
        [("sk-ant-", "anthropic"), ("sk-or-", "openrouter"), ("sk-proj-", "openai"), ("sk-svcacct-", "openai"), ("gsk_", "groq")];
    let maker = FORMS.iter().find(|(form, _)| key.starts_with(form)).map(|(_, maker)| *maker);
    maker.ok_or_else(|| {
        SettingError(format!(
            "LLM_API_KEY is set, but not whose key it is: set LLM_PROVIDER to one of {}, or LLM_BASE_URL.",
            names()
        ))
    })
}

fn names() -> String {
    PRESETS.map(|preset| preset.name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(provider: &str, model: &str, api_key: &str, base_url: &str) -> Result<Option<Target>, String> {
        let set = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        let settings =
            ModelSettings { provider: set(provider), model: set(model), api_key: set(api_key), base_url: set(base_url) };
        resolve(&settings).map_err(|error| error.to_string())
    }

    fn target(provider: &str, model: &str, api_key: &str, base_url: &str) -> (String, String, Option<String>) {
        let target = resolved(provider, model, api_key, base_url).unwrap().expect("a target");
        (target.provider, target.endpoint.address().to_owned(), target.model)
    }

    fn refusal(provider: &str, model: &str, api_key: &str, base_url: &str) -> String {
        resolved(provider, model, api_key, base_url).err().expect("refused")
    }

    #[test]
    fn nothing_set_means_look_around() {
        assert!(resolved("", "", "", "").unwrap().is_none());
    }

    #[test]
    fn a_provider_and_its_key_are_enough() {
        for preset in PRESETS.iter().filter(|preset| !preset.base_url.is_empty()) {
            let (provider, address, model) = target(&preset.name.to_uppercase(), "", "k", "");
            assert_eq!((provider.as_str(), address.as_str(), model.as_deref()), (preset.name, preset.base_url, preset.model));
        }
        assert_eq!(target("anthropic", "claude-x", "k", "").2.as_deref(), Some("claude-x"));
    }

    #[test]
    fn an_address_alone_is_a_custom_provider() {
        let (provider, address, model) = target("", "", "", "http://127.0.0.1:18080/v1/");
        assert_eq!((provider.as_str(), address.as_str(), model), ("custom", "http://127.0.0.1:18080/v1", None));
        assert_eq!(target("", "", "", "http://h:1/v1/chat/completions").1, "http://h:1/v1");
    }

    #[test]
    fn a_provider_at_another_address_needs_no_key_and_gets_no_default_model() {
        assert_eq!(
            target("openai", "", "", "http://127.0.0.1:4000/v1"),
            ("openai".into(), "http://127.0.0.1:4000/v1".into(), None)
        );
    }

    #[test]
    fn a_key_alone_goes_only_to_its_maker() {
        for (key, provider) in
            [("sk-ant-1", "anthropic"), ("sk-or-v1-1", "openrouter"), ("sk-proj-1", "openai"), ("gsk_1", "groq")]
        {
            assert_eq!(target("", "", key, "").0, provider);
        }
        let error = refusal("", "", "sk-0123456789", "");
        assert!(error.contains("LLM_PROVIDER") && !error.contains("0123456789"), "{error}");
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        for (provider, model, key, base_url, names) in [
            ("anthropic", "", "", "", "LLM_API_KEY"),
            ("mistral", "", "k", "", "anthropic, openai, groq, openrouter, ollama, lmstudio, custom"),
            ("custom", "m", "k", "", "LLM_BASE_URL"),
            ("", "m", "", "", "LLM_PROVIDER"),
            ("", "", "", "127.0.0.1:8080", "LLM_BASE_URL"),
            ("", "", "", "ftp://h/v1", "LLM_BASE_URL"),
            ("", "", "", "http://h/v1?key=1", "LLM_BASE_URL"),
            ("", "", "", "http://me:secret@h/v1", "LLM_API_KEY"),
            ("openai", "", "a\nb", "", "LLM_API_KEY"),
            ("openai", "", "clé", "", "LLM_API_KEY"),
        ] {
            let error = refusal(provider, model, key, base_url);
            assert!(error.contains(names) && !error.contains("secret"), "{error}");
        }
    }
}
