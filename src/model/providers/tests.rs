//! The facts about providers and their models.

use super::*;
use crate::domain::FailureWords;

fn provider(name: &str) -> &'static Provider {
    Provider::named(name).unwrap()
}

#[test]
fn providers_are_found_by_every_name_of_theirs() {
    assert_eq!((provider("LLAMA.CPP").name, Provider::custom().name), ("llamacpp", "custom"));
    assert!(Provider::named("").is_none() && Provider::named("azure").is_none());
}

#[test]
fn every_key_variable_is_read_from_the_environment() {
    for provider in &PROVIDERS {
        assert!(provider.key_variable.is_none_or(|name| crate::config::PROVIDER_KEYS.contains(&name)), "{}", provider.name);
        let known = provider
            .address_variable
            .is_none_or(|name| name == "LLM_BASE_URL" || crate::config::PROVIDER_ADDRESSES.contains(&name));
        assert!(known, "{}", provider.name);
        assert_eq!(provider.name == "custom", provider.base_url.is_empty());
    }
}

#[test]
fn every_key_has_its_place_in_the_home_of_the_operator() {
    for key in crate::config::PROVIDER_KEYS {
        assert_eq!(FailureWords::OfHome.named(key), format!("the file model-key (or {key})"));
    }
}

#[test]
fn a_settings_file_may_say_the_words_that_a_model_is_asked_by() {
    let words: Vec<&str> = PROVIDERS.iter().flat_map(|one| std::iter::once(one.name).chain(one.also)).collect();
    assert_eq!(words, crate::config::PROVIDER_WORDS);
}

#[test]
fn what_a_model_can_take_is_told_by_its_name_and_for_a_local_one_only_whether_it_sees() {
    for (name, model, takes) in [
        ("openai", "gpt-4.1-mini-2025-04-14", takes(1_047_576, true)),
        ("openai", "something-new", takes(128_000, true)),
        ("openrouter", "anthropic/claude-sonnet-4.5", takes(200_000, true)),
        ("groq", "meta-llama/llama-4-scout-17b-16e-instruct", takes(131_072, true)),
        ("ollama", "qwen2.5vl:7b", takes(4096, true)),
        ("ollama", "llama3.3", takes(4096, false)),
        ("custom", "llama3.3", takes(32 * 1024, false)),
    ] {
        assert_eq!(provider(name).abilities(model), takes, "{name}/{model}");
    }
}

#[test]
fn a_model_may_differ_from_its_provider_and_only_there() {
    assert!(provider("openai").quirks("gpt-4.1-nano").one_call && !provider("openai").quirks("gpt-4.1-mini").one_call);
    assert!(provider("groq").quirks("qwen/qwen3-32b").thinks_aside && !provider("ollama").quirks("qwen3:8b").thinks_aside);
    assert!(provider("gemini").quirks("gemini-3-pro-preview").signed_calls);
    assert!(!provider("gemini").quirks("gemini-2.5-flash").signed_calls);
    let router = provider("openrouter");
    assert_eq!(router.quirks("mistralai/mistral-large-2411").call_ids, CallIds::NineLetters);
    assert_eq!(router.quirks("google/gemini-2.5-pro").schema, SchemaForm::Plain);
    assert_eq!(router.quirks("openai/gpt-4o").call_ids, CallIds::Any);
    assert_eq!(provider("ollama").quirks("mistral:7b"), TEMPLATE);
}

#[test]
fn a_rate_is_known_for_its_model_with_and_without_a_date_and_for_no_other() {
    let sonnet = Some(Rate { input_micros: 3_000_000, output_micros: 15_000_000 });
    assert_eq!(provider("anthropic").rate("claude-sonnet-4-5"), sonnet);
    assert_eq!(provider("anthropic").rate("claude-sonnet-4-5-20250929"), sonnet);
    assert_eq!(provider("openai").rate("gpt-4.1-mini-2025-04-14").unwrap().input_micros, 400_000);
    for (name, model) in
        [("custom", "gpt-4.1-mini"), ("openai", "gpt-4.1-mini-turbo"), ("anthropic", "claude-sonnet-4-50"), ("ollama", "x")]
    {
        assert_eq!(provider(name).rate(model), None, "{name}/{model}");
    }
}
