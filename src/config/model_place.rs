//! The place of a model in a file of settings: its provider and its address, checked by one rule for all such files.

use serde_json::json;
use url::Url;

/// Every word for a provider.
pub const PROVIDER_WORDS: [&str; 11] =
    ["anthropic", "openai", "groq", "openrouter", "mistral", "gemini", "ollama", "lmstudio", "llamacpp", "llama.cpp", "custom"];

/// Checks `provider` and `base_url` of the field `model`. The words about an address do not repeat it: it may hold a password.
///
/// # Errors
/// The field that is wrong, with a right value.
pub fn model_place(provider: Option<&str>, base_url: Option<&str>) -> Result<(), String> {
    if let Some(name) = said(provider)
        && !PROVIDER_WORDS.iter().any(|word| word.eq_ignore_ascii_case(name))
    {
        return Err(format!("`model.provider` is {}; write one of {}", json!(name), PROVIDER_WORDS.join(", ")));
    }
    let Some(base) = said(base_url) else { return Ok(()) };
    let wrong = |why: &str| Err(format!("`model.base_url` {why}; write an address alone, such as \"http://127.0.0.1:8080/v1\""));
    let base = base.trim_end_matches('/');
    let Ok(url) = Url::parse(base.strip_suffix("/chat/completions").unwrap_or(base)) else {
        return wrong("is no address");
    };
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("carries a user name or a password, and a key belongs into the file model-key");
    }
    let is_plain = url.has_host() && url.query().is_none() && url.fragment().is_none();
    if is_plain && matches!(url.scheme(), "http" | "https") {
        return Ok(());
    }
    wrong("is no address that a model could be at")
}

/// The text of a field. An empty one counts as unset.
fn said(field: Option<&str>) -> Option<&str> {
    field.map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
