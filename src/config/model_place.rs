//! The place of a model in a file of settings: its provider and its address, checked by one rule
//! for all such files.

use serde_json::json;
use url::Url;

/// Every word for a provider.
pub const PROVIDER_WORDS: [&str; 11] =
    ["anthropic", "openai", "groq", "openrouter", "mistral", "gemini", "ollama", "lmstudio", "llamacpp", "llama.cpp", "custom"];

/// Why an address is none at which a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFault {
    /// No model could be there.
    NotOne,
    /// It has a user name or a password. A key has a place of its own.
    Credentials,
}

/// The address of a model, as it is written and read. A `/` at its end and the path of a chat are
/// left out.
///
/// # Errors
/// [`AddressFault`].
pub fn model_address(written: &str) -> Result<(&str, Url), AddressFault> {
    let base = written.trim().trim_end_matches('/');
    let base = base.strip_suffix("/chat/completions").unwrap_or(base);
    let url = Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.filter(|url| url.query().is_none() && url.fragment().is_none()).ok_or(AddressFault::NotOne)?;
    match url.username().is_empty() && url.password().is_none() {
        true => Ok((base, url)),
        false => Err(AddressFault::Credentials),
    }
}

/// Checks `provider` and `base_url` of the field `model`. The words about an address do not repeat
/// it: it may hold a password.
///
/// # Errors
/// The field that is wrong, with a right value.
pub fn model_place(provider: Option<&str>, base_url: Option<&str>) -> Result<(), String> {
    if let Some(name) = said(provider)
        && !PROVIDER_WORDS.iter().any(|word| word.eq_ignore_ascii_case(name))
    {
        return Err(format!("`model.provider` is {}; write one of {}", json!(name), PROVIDER_WORDS.join(", ")));
    }
    let Some(Err(fault)) = said(base_url).map(model_address) else { return Ok(()) };
    let why = match fault {
        AddressFault::NotOne => "is no address that a model could be at",
        AddressFault::Credentials => "carries a user name or a password, and a key belongs into the file model-key",
    };
    Err(format!("`model.base_url` {why}; write an address alone, such as \"http://127.0.0.1:8080/v1\""))
}

/// The text of a field. An empty one counts as unset.
fn said(field: Option<&str>) -> Option<&str> {
    field.map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
