//! Every setting by its name: what is read, what the documents list, and what a mistyped one is
//! compared with.

use std::collections::HashMap;

use super::{PROGRAMS, PROVIDER_ADDRESSES, PROVIDER_KEYS, SCREEN};

/// Every setting but those of single providers.
const SETTINGS: [&str; 51] = [
    "LEVEL3_LISTEN",
    "LEVEL3_TOKEN",
    "LEVEL3_AGENT_QUOTA",
    "LEVEL3_ALLOWED_HOSTS",
    "LEVEL3_DATA_DIR",
    "DATABASE_URL",
    "LEVEL3_POSTGRES_BIN",
    "LLM_PROVIDER",
    "LLM_MODEL",
    "LLM_API_KEY",
    "LLM_BASE_URL",
    "LLM_FALLBACK",
    "LLM_CONTEXT_TOKENS",
    "HEARTBEAT_INTERVAL",
    "APPROVAL_EXPIRY",
    "MAX_CONVERSATION_HISTORY",
    "MAX_TOOL_ITERATIONS",
    "LEVEL3_DISK_RESERVE",
    "LEVEL3_EGRESS_ALLOW",
    "LEVEL3_CAPABILITY_CRASHES",
    "LEVEL3_TURN_CRASHES",
    "LEVEL3_SHUTDOWN_SECONDS",
    "LEVEL3_TURN_LOG",
    "LEVEL3_UNDO_QUOTA",
    "LEVEL3_MCP_SECONDS",
    "LEVEL3_MCP_COMMANDS",
    "LEVEL3_READY_FILE",
    "LEVEL3_SAFE_MODE",
    "LEVEL3_BROWSER",
    "LEVEL3_WHATSAPP",
    "LEVEL3_OPERATOR",
    "LEVEL3_OPERATOR_ACCOUNT",
    "LEVEL3_OPERATOR_LIMITS",
    "LEVEL3_RELAY_PACE",
    "LEVEL3_TIME_ZONE",
    "VOICE_STT_URL",
    "VOICE_STT_KEY",
    "VOICE_STT_MODEL",
    "VOICE_TTS_URL",
    "VOICE_TTS_KEY",
    "VOICE_TTS_MODEL",
    "VOICE_TTS_VOICE",
    "VOICE_TTS_SHAPE",
    "VOICE_PUBLIC_URL",
    "VOICE_VAPI_KEY",
    "VOICE_VAPI_URL",
    "VOICE_VAPI_SECRET",
    "VOICE_VAPI_SIGNATURE",
    // For `run.sh`, which passes its environment on.
    "LEVEL3_BIN",
    "LEVEL3_RESTART_PAUSE",
    // For tests, in debug builds.
    "LEVEL3_FAILPOINT",
];
/// The beginnings of all settings of this program's own; others may stand in the environment for
/// other programs.
const OURS: [&str; 3] = ["LEVEL3_", "LLM_", "VOICE_"];

pub(super) fn known() -> impl Iterator<Item = &'static str> {
    SETTINGS.into_iter().chain(PROVIDER_KEYS).chain(PROVIDER_ADDRESSES)
}

/// True for a name that may be read.
pub(super) fn may_be_read(name: &str) -> bool {
    known().chain(PROGRAMS).chain(SCREEN).any(|known| known == name)
}

/// A sentence for each name that looks like a setting and is none.
pub(super) fn unknown(settings: &HashMap<String, String>) -> Vec<String> {
    let ours = |name: &&String| OURS.iter().any(|prefix| name.starts_with(prefix)) && known().all(|known| known != *name);
    let mut names: Vec<_> = settings.keys().filter(ours).collect();
    names.sort();
    let sentence = |name: &String| {
        let nearest = known().min_by_key(|known| strsim::damerau_levenshtein(known, name)).unwrap_or_default();
        format!("{name} is set, and there is no such setting; the nearest is {nearest}")
    };
    names.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests;
