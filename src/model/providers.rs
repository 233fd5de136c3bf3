//! Providers as data: the address and the key of each, its demands of a request, and the sizes and
//! prices of its models.
//!
//! Facts marked (m) are from memory, the others were looked up in the provider's documents or in
//! reports of its users, in November 2026. A provider changes without notice; what is wrong here is
//! mended here, or by a setting (`LLM_CONTEXT_TOKENS`, the table of rates).
//!
//! To add a provider: an entry in [`PROVIDERS`], before `custom`; in `config` its word
//! (`PROVIDER_WORDS`) and the variable of its key or address (`PROVIDER_KEYS`,
//! `PROVIDER_ADDRESSES`); in `domain/profile.rs` the place of its key in the home of the operator
//! (`IN_HOME`); rows in the two tables of docs/operations.md, and its word in README.md. Answers
//! that only it sends are a test in `tests/model_wire/dialects.rs`.

use super::Abilities;
use crate::domain::{Rate, SchemaForm};

/// A provider known by name.
#[derive(Clone, Copy, Debug)]
pub struct Provider {
    /// The word for `LLM_PROVIDER` and for the first part of `provider/model`.
    pub name: &'static str,
    /// Another word for it.
    pub also: Option<&'static str>,
    /// Its address; empty for `custom`, which has no place of its own.
    pub base_url: &'static str,
    /// The variable with its key; `None` for one that is asked without.
    pub key_variable: Option<&'static str>,
    /// The variable with another address for it, for servers that people run themselves.
    pub address_variable: Option<&'static str>,
    /// The model to use when none is named; `None` takes the first one the server lists.
    pub model: Option<&'static str>,
    /// The abilities of its models, if nothing nearer is known.
    pub abilities: Abilities,
    /// Its demands of a request.
    pub quirks: Quirks,
    /// The place in which it says how much its model can take.
    pub tells: Tells,
}

/// The demands of a provider on a request. `response_format` is sent to nobody, so that none can
/// refuse it; thinking is read from `reasoning` and `reasoning_content` whoever sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// The name of the field that bounds the answer.
    pub limit: LimitField,
    /// The bound, in tokens. Without one a small model that falls into a loop writes until its
    /// context is full.
    pub answer_tokens: u32,
    /// True if it is to be told to call one tool at a time.
    pub one_call: bool,
    /// True if it counts tokens of a stream only when asked; false if it refuses to be asked, and
    /// counts anyway.
    pub asks_usage: bool,
    /// The places for system text.
    pub system: SystemPlace,
    /// The order of messages by role that it takes.
    pub turns: Turns,
    /// True if a message of the user may follow a tool's result directly.
    pub user_after_result: bool,
    /// True if every message must have text; then words stand for a text that is missing.
    pub text_needed: bool,
    /// The form of ids of tool calls.
    pub call_ids: CallIds,
    /// How much of JSON Schema it takes.
    pub schema: SchemaForm,
    /// True if a call of the past needs the signature of the thought behind it.
    pub signed_calls: bool,
    /// True if it is to be told to keep thinking out of the text.
    pub thinks_aside: bool,
}

/// How the bound of an answer is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// The places in which a provider accepts system text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemPlace {
    /// Anywhere, any number of times.
    Anywhere,
    /// In one message, the first.
    OneFirst,
}

/// The order of messages by role that a provider takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// Any: messages of one role may follow each other.
    Free,
    /// User and assistant take turns.
    Alternating,
}

/// The form of ids of tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallIds {
    /// Any.
    Any,
    /// Nine letters and digits.
    NineLetters,
}

/// The places in which a server says how much its model can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// Nowhere.
    Nothing,
    /// In its list of models, or at llama.cpp's address for it: nobody knows which program serves
    /// there.
    Somewhere,
    /// `/props`: llama.cpp.
    Props,
    /// `/api/ps` and `/api/show`: Ollama.
    Running,
    /// `/api/v0/models`: LM Studio.
    Loaded,
}

const FREE: Quirks = Quirks {
    limit: LimitField::MaxTokens,
    answer_tokens: 8192,
    one_call: false,
    asks_usage: true,
    system: SystemPlace::Anywhere,
    turns: Turns::Free,
    user_after_result: true,
    text_needed: false,
    call_ids: CallIds::Any,
    schema: SchemaForm::Full,
    signed_calls: false,
    thinks_aside: false,
};

/// Chat templates of local models refuse system text in the middle and roles that do not take
/// turns; joined, they take both.
const TEMPLATE: Quirks = Quirks { answer_tokens: 4096, system: SystemPlace::OneFirst, turns: Turns::Alternating, ..FREE };

const fn takes(context_tokens: u32, images: bool) -> Abilities {
    Abilities { context_tokens, images }
}

const REMOTE: Provider = Provider {
    name: "",
    also: None,
    base_url: "",
    key_variable: None,
    address_variable: None,
    model: None,
    abilities: takes(32 * 1024, false),
    quirks: FREE,
    tells: Tells::Nothing,
};

/// Every provider.
pub static PROVIDERS: [Provider; 10] = [
    Provider {
        name: "anthropic",
        base_url: "https://api.anthropic.com/v1",
        key_variable: Some("ANTHROPIC_API_KEY"),
        model: Some("claude-sonnet-4-5"),
        abilities: takes(200_000, true),
        // It joins system text itself, takes `max_tokens`, and refuses empty text blocks (m).
        quirks: Quirks { text_needed: true, ..FREE },
        ..REMOTE
    },
    Provider {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        key_variable: Some("OPENAI_API_KEY"),
        model: Some("gpt-4.1-mini"),
        abilities: takes(128_000, true),
        // Its newer models refuse `max_tokens`.
        quirks: Quirks { limit: LimitField::MaxCompletionTokens, ..FREE },
        ..REMOTE
    },
    Provider {
        name: "groq",
        base_url: "https://api.groq.com/openai/v1",
        key_variable: Some("GROQ_API_KEY"),
        model: Some("llama-3.3-70b-versatile"),
        abilities: takes(131_072, false),
        // `max_tokens` is deprecated there (m).
        quirks: Quirks { limit: LimitField::MaxCompletionTokens, ..FREE },
        ..REMOTE
    },
    Provider {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        key_variable: Some("OPENROUTER_API_KEY"),
        model: Some("anthropic/claude-sonnet-4.5"),
        abilities: takes(65_536, false),
        // Requests reach makers of all kinds, some of which want what their own interface wants:
        // see FAMILIES.
        quirks: Quirks { text_needed: true, ..FREE },
        ..REMOTE
    },
    Provider {
        name: "mistral",
        base_url: "https://api.mistral.ai/v1",
        key_variable: Some("MISTRAL_API_KEY"),
        model: Some("mistral-medium-latest"),
        abilities: takes(131_072, false),
        quirks: MISTRAL,
        ..REMOTE
    },
    Provider {
        name: "gemini",
        base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
        key_variable: Some("GEMINI_API_KEY"),
        model: Some("gemini-2.5-flash"),
        abilities: takes(1_048_576, true),
        // System text becomes the one instruction; schemas are its own kind of OpenAPI (m).
        quirks: Quirks { system: SystemPlace::OneFirst, text_needed: true, schema: SchemaForm::Plain, ..FREE },
        ..REMOTE
    },
    Provider {
        name: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        address_variable: Some("OLLAMA_BASE_URL"),
        // Ollama gives a model so much unless told otherwise, whatever the model could take.
        abilities: takes(4096, false),
        quirks: TEMPLATE,
        tells: Tells::Running,
        ..REMOTE
    },
    Provider {
        name: "lmstudio",
        base_url: "http://127.0.0.1:1234/v1",
        address_variable: Some("LMSTUDIO_BASE_URL"),
        abilities: takes(4096, false),
        quirks: TEMPLATE,
        tells: Tells::Loaded,
        ..REMOTE
    },
    Provider {
        name: "llamacpp",
        also: Some("llama.cpp"),
        base_url: "http://127.0.0.1:8080/v1",
        address_variable: Some("LLAMACPP_BASE_URL"),
        abilities: takes(4096, false),
        quirks: TEMPLATE,
        tells: Tells::Props,
        ..REMOTE
    },
    Provider { name: "custom", address_variable: Some("LLM_BASE_URL"), quirks: TEMPLATE, tells: Tells::Somewhere, ..REMOTE },
];

/// Mistral's interface refuses fields it does not know, ids of other forms, system text in the
/// middle, two messages of the user in a row, and one directly after a tool's result.
const MISTRAL: Quirks = Quirks {
    asks_usage: false,
    system: SystemPlace::OneFirst,
    turns: Turns::Alternating,
    user_after_result: false,
    text_needed: true,
    call_ids: CallIds::NineLetters,
    ..FREE
};

/// A family of models, known by the beginning of their names, without the owner before the last
/// `/`.
struct Family {
    prefix: &'static str,
    abilities: Abilities,
    /// How requests to it differ from others to the same provider.
    differs: fn(&'static str, Quirks) -> Quirks,
}

const fn family(prefix: &'static str, context_tokens: u32, images: bool) -> Family {
    Family { prefix, abilities: takes(context_tokens, images), differs: |_, quirks| quirks }
}

/// The first that fits counts. Sizes are (m), and the smaller one if a family has several.
static FAMILIES: [Family; 40] = [
    family("claude-", 200_000, true),
    Family {
        // Its maker warns that it calls the same tool twice if it may call several.
        differs: |_, quirks| Quirks { one_call: true, ..quirks },
        ..family("gpt-4.1-nano", 1_047_576, true)
    },
    family("gpt-4.1", 1_047_576, true),
    family("gpt-4o", 128_000, true),
    family("gpt-5", 272_000, true),
    family("gpt-oss", 131_072, false),
    family("o3-mini", 200_000, false),
    family("o3", 200_000, true),
    family("o4-mini", 200_000, true),
    family("llama-4", 131_072, true),
    family("llama-3.2-11b-vision", 131_072, true),
    family("llama-3.2-90b-vision", 131_072, true),
    family("llama3.2-vision", 131_072, true),
    family("llama-3", 131_072, false),
    family("llama3", 8192, false),
    family("qwen3-vl", 131_072, true),
    family("qwen2.5-vl", 32_768, true),
    family("qwen2.5vl", 32_768, true),
    Family {
        // Groq leaves its thinking in the text otherwise.
        differs: |provider, quirks| Quirks { thinks_aside: provider == "groq", ..quirks },
        ..family("qwen3", 40_960, false)
    },
    family("qwen", 32_768, false),
    Family { differs: at_mistral, ..family("mistral-large", 131_072, true) },
    Family { differs: at_mistral, ..family("mistral-medium", 131_072, true) },
    Family { differs: at_mistral, ..family("mistral-small", 32_768, true) },
    Family { differs: at_mistral, ..family("pixtral", 131_072, true) },
    Family { differs: at_mistral, ..family("magistral", 40_960, false) },
    Family { differs: at_mistral, ..family("ministral", 131_072, false) },
    Family { differs: at_mistral, ..family("devstral", 131_072, false) },
    Family { differs: at_mistral, ..family("codestral", 131_072, false) },
    Family { differs: at_mistral, ..family("mistral", 32_768, false) },
    Family {
        // It refuses a call of the past without the signature it gave with it, or the word that
        // stands for a history from elsewhere.
        differs: |provider, quirks| Quirks { signed_calls: provider == "gemini", ..plain_at_router(provider, quirks) },
        ..family("gemini-3", 1_048_576, true)
    },
    Family { differs: plain_at_router, ..family("gemini-", 1_048_576, true) },
    family("gemma-3", 32_768, true),
    family("gemma3", 32_768, true),
    family("llava", 4096, true),
    family("bakllava", 4096, true),
    family("minicpm-v", 8192, true),
    family("moondream", 2048, true),
    family("kimi-k2", 131_072, false),
    family("deepseek", 65_536, false),
    family("grok-4", 131_072, true),
];

fn at_mistral(provider: &'static str, quirks: Quirks) -> Quirks {
    // A router hands its complaints on; it asks for the tokens itself.
    if provider == "openrouter" { Quirks { asks_usage: true, ..MISTRAL } } else { quirks }
}

fn plain_at_router(provider: &'static str, quirks: Quirks) -> Quirks {
    if provider == "openrouter" { Quirks { schema: SchemaForm::Plain, ..quirks } } else { quirks }
}

/// The prices of models for which the table of rates has none: provider, model, and dollars for a
/// million tokens in and out, times 100. From the makers' price lists (m). Names that mean another
/// model tomorrow (`-latest`) have no rate that could be known.
const RATES: [(&str, &str, u64, u64); 6] = [
    ("anthropic", "claude-sonnet-4-5", 300, 1500),
    ("openai", "gpt-4.1-mini", 40, 160),
    ("openai", "gpt-4.1-nano", 10, 40),
    ("groq", "llama-3.3-70b-versatile", 59, 79),
    ("openrouter", "anthropic/claude-sonnet-4.5", 300, 1500),
    ("gemini", "gemini-2.5-flash", 30, 250),
];

impl Provider {
    /// The one with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS
            .iter()
            .find(|one| one.name.eq_ignore_ascii_case(name) || one.also.is_some_and(|also| also.eq_ignore_ascii_case(name)))
    }

    /// The provider with any address that a person sets.
    pub fn custom() -> &'static Self {
        &PROVIDERS[PROVIDERS.len() - 1]
    }

    /// True if people run it themselves; then the size of a request that it takes depends on how it
    /// was started.
    pub fn is_local(&self) -> bool {
        self.key_variable.is_none()
    }

    /// The demands on requests to one of its models.
    pub fn quirks(&self, model: &str) -> Quirks {
        match family_of(model) {
            Some(family) => (family.differs)(self.name, self.quirks),
            None => self.quirks,
        }
    }

    /// The abilities of one of its models, as far as its name tells.
    pub fn abilities(&self, model: &str) -> Abilities {
        match family_of(model) {
            Some(family) if self.is_local() => Abilities { images: family.abilities.images, ..self.abilities },
            Some(family) => family.abilities,
            None => self.abilities,
        }
    }

    /// The price of one of its models, if it is known. A date at the end of the name does not
    /// change it.
    pub fn rate(&self, model: &str) -> Option<Rate> {
        let dated = |known: &str| {
            let rest = model.strip_prefix(known);
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with("-2") && rest.bytes().all(|b| b == b'-' || b.is_ascii_digit())
            })
        };
        let known = RATES.iter().find(|(provider, known, ..)| *provider == self.name && dated(known));
        known.map(|(.., input, output)| Rate { input_micros: input * 10_000, output_micros: output * 10_000 })
    }
}

fn family_of(model: &str) -> Option<&'static Family> {
    let name = model.to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or(&name);
    FAMILIES.iter().find(|family| name.starts_with(family.prefix))
}

/// The names of all providers, for sentences.
pub fn names() -> String {
    PROVIDERS.iter().map(|provider| provider.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
