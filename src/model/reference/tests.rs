//! How the names of models are read, and what becomes of settings.

use super::*;
use crate::model::providers::PROVIDERS;

fn settings(provider: &str, model: &str, api_key: &str, base_url: &str) -> ModelSettings {
    let set = |value: &str| (!value.is_empty()).then(|| value.to_owned());
    ModelSettings {
        provider: set(provider),
        model: set(model),
        api_key: set(api_key),
        base_url: set(base_url),
        ..ModelSettings::default()
    }
}

fn resolve(settings: &ModelSettings) -> Result<Option<Target>, SettingError> {
    chosen(settings)?.map(|reference| reference.target(settings)).transpose()
}

fn target(provider: &str, model: &str, api_key: &str, base_url: &str) -> (String, String, Option<String>) {
    let target = resolve(&settings(provider, model, api_key, base_url)).unwrap().expect("a target");
    (target.provider, target.endpoint.address().to_owned(), target.model)
}

fn refusal(provider: &str, model: &str, api_key: &str, base_url: &str) -> String {
    resolve(&settings(provider, model, api_key, base_url)).err().expect("refused").to_string()
}

#[test]
fn nothing_set_means_look_around() {
    assert!(chosen(&ModelSettings::default()).unwrap().is_none());
}

#[test]
fn a_provider_and_its_key_are_enough() {
    for known in PROVIDERS.iter().filter(|provider| !provider.base_url.is_empty()) {
        let (provider, address, model) = target(&known.name.to_uppercase(), "", "k", "");
        assert_eq!((provider.as_str(), address.as_str(), model.as_deref()), (known.name, known.base_url, known.model));
    }
    assert_eq!(target("anthropic", "claude-x", "k", "").2.as_deref(), Some("claude-x"));
    assert_eq!(target("llama.cpp", "", "", "").0, "llamacpp");
}

#[test]
fn an_address_alone_is_a_custom_provider() {
    let (provider, address, model) = target("", "", "", "http://127.0.0.1:18080/v1/");
    assert_eq!((provider.as_str(), address.as_str(), model), ("custom", "http://127.0.0.1:18080/v1", None));
    assert_eq!(target("", "", "", "http://h:1/v1/chat/completions").1, "http://h:1/v1");
    assert_eq!(target("", "groq/x", "", "http://h:1/v1").2.as_deref(), Some("groq/x"));
}

#[test]
fn a_provider_at_another_address_needs_no_key_and_gets_no_default_model() {
    assert_eq!(target("openai", "", "", "http://127.0.0.1:4000/v1"), ("openai".into(), "http://127.0.0.1:4000/v1".into(), None));
}

#[test]
fn a_key_alone_goes_only_to_its_maker() {
    for (key, provider) in
        [("sk-ant-1", "anthropic"), ("sk-or-v1-1", "openrouter"), ("sk-proj-1", "openai"), ("gsk_1", "groq"), ("AIza1", "gemini")]
    {
        assert_eq!(target("", "", key, "").0, provider);
    }
    let error = refusal("", "", "sk-0123456789", "");
    assert!(error.contains("LLM_PROVIDER") && !error.contains("0123456789"), "{error}");
    // The name of a model says nothing of whose key this is.
    assert_eq!(
        target("", "anthropic/claude-x", "sk-or-1", ""),
        ("openrouter".into(), PROVIDERS[3].base_url.into(), Some("anthropic/claude-x".into()))
    );
    assert_eq!(target("", "groq/llama", "gsk_1", "").2.as_deref(), Some("llama"));
}

#[test]
fn a_key_of_one_provider_goes_to_no_other_and_to_no_other_address() {
    let mut set = settings("groq", "", "the-general-one", "");
    set.keys = [("OPENAI_API_KEY".into(), "key-of-openai".into()), ("GROQ_API_KEY".into(), "key-of-groq".into())].into();
    let key = |text: &str, set: &ModelSettings| {
        let target = text.parse::<Reference>().unwrap().target(set).map_err(|error| error.to_string())?;
        Ok::<_, String>(
            ["the-general-one", "key-of-openai", "key-of-groq"].into_iter().find(|key| target.endpoint.scrub(key) != *key),
        )
    };
    assert_eq!(key("groq/x", &set), Ok(Some("the-general-one")), "LLM_API_KEY wins for the provider LLM_PROVIDER names");
    assert_eq!(key("openai", &set), Ok(Some("key-of-openai")));
    assert_eq!(key("mistral", &set), Err("The provider `mistral` needs a key: set MISTRAL_API_KEY.".into()));
    assert_eq!(key("ollama/x", &set), Ok(None));
    set.api_key = None;
    assert_eq!(key("groq", &set), Ok(Some("key-of-groq")));
    set.base_url = Some("http://127.0.0.1:4000/v1".into());
    assert_eq!(key("groq", &set), Ok(None), "the maker's key stays with the maker");
    assert_eq!(key("openai", &set), Ok(Some("key-of-openai")));
}

#[test]
fn what_people_run_themselves_may_stand_elsewhere() {
    let mut set = settings("groq", "", "k", "");
    set.addresses = [("OLLAMA_BASE_URL".into(), "http://10.0.0.7:11434/v1".into())].into();
    let target = "ollama/qwen3".parse::<Reference>().unwrap().target(&set).unwrap();
    assert_eq!((target.endpoint.address(), target.model.as_deref()), ("http://10.0.0.7:11434/v1", Some("qwen3")));
    set.addresses = [("OLLAMA_BASE_URL".into(), "10.0.0.7".into())].into();
    let error = "ollama".parse::<Reference>().unwrap().target(&set).err().unwrap().to_string();
    assert!(error.starts_with("OLLAMA_BASE_URL is no address"), "{error}");
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    for (provider, model, key, base_url, names) in [
        ("anthropic", "", "", "", "ANTHROPIC_API_KEY"),
        ("azure", "", "k", "", "anthropic, openai, groq, openrouter, mistral, gemini, ollama, lmstudio, llamacpp, custom"),
        ("custom", "m", "k", "", "LLM_BASE_URL"),
        ("", "m", "", "", "LLM_PROVIDER"),
        ("", "groq/m", "", "", "GROQ_API_KEY"),
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

#[test]
fn a_reference_is_a_provider_and_a_model_and_a_wrong_one_is_told_the_choices() {
    let shown = |text: &str| text.parse::<Reference>().map(|of| of.to_string()).map_err(|error| error.to_string());
    for (text, reads) in [
        (" groq/llama-3.3-70b-versatile ", "groq/llama-3.3-70b-versatile"),
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter/anthropic/claude-sonnet-4.5"),
        ("llama.cpp/x", "llamacpp/x"),
        ("OpenAI", "openai/gpt-4.1-mini"),
        ("ollama", "ollama"),
    ] {
        assert_eq!(shown(text), Ok(reads.into()));
    }
    for wrong in ["", "gpt-4.1", "azure/gpt-4.1", "groq/", "/groq", "groq/a\nb", &format!("groq/{}", "x".repeat(300))] {
        let told = shown(wrong).unwrap_err();
        assert!(
            told.contains("provider/model") && told.contains("openrouter, mistral, gemini") && !told.contains('\n'),
            "{told}"
        );
    }
}

#[test]
fn fallbacks_are_read_and_need_something_to_fall_back_from() {
    let mut set = settings("groq", "", "k", "");
    set.fallback = Some("ollama/qwen3, ,openai".into());
    let read: Vec<_> = fallbacks(&set).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(read, ["ollama/qwen3", "openai/gpt-4.1-mini"]);
    set.fallback = Some("ollama/qwen3,gpt".into());
    assert!(fallbacks(&set).err().unwrap().to_string().starts_with("LLM_FALLBACK cannot be used: `gpt` names no model"));
    let alone = ModelSettings { fallback: Some("ollama".into()), ..ModelSettings::default() };
    assert!(fallbacks(&alone).err().unwrap().to_string().contains("LLM_PROVIDER"));
}
