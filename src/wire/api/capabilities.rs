//! The JSON of `/api/capabilities` and `/api/shipped`.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::keys::by_name;
use crate::domain::{ConversationId, Grants, SourceLanguage, TestCase};

/// `GET /api/capabilities`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capabilities {
    /// By name.
    pub capabilities: Vec<CapabilityEntry>,
}

/// A capability among others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapabilityEntry {
    /// Its name.
    pub name: String,
    /// The live version.
    pub version: i32,
    /// `installed` or `disabled`.
    pub state: String,
    /// Its purpose, in its author's words.
    pub description: String,
    /// The powers of the live version, as written.
    pub grants: Grants,
    /// The same in words; empty when it reaches nothing outside its sandbox.
    pub grants_in_words: Vec<String>,
    /// How many versions are kept.
    pub versions: i64,
    /// When what is live last changed.
    pub updated_at: DateTime<Utc>,
    /// Its calls of the last 30 days, of all versions.
    #[serde(default)]
    pub calls: CapabilityUse,
}

/// The calls of a capability in the last 30 days.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CapabilityUse {
    /// Those that have an outcome.
    pub calls: i64,
    /// Those of them that failed or were refused.
    pub failures: i64,
    /// Half of those that were carried out took no longer, in milliseconds; `None` if none was.
    pub p50_ms: Option<i64>,
    /// How many on each day, UTC, the oldest first and today last; empty if there was none.
    pub per_day: Vec<i64>,
    /// The newest failure.
    pub last_error: Option<LastError>,
}

/// The newest failure of a capability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastError {
    /// When.
    pub at: DateTime<Utc>,
    /// The failure in a few words for a person: those of the code if it threw, and else a sentence.
    pub said: String,
}

/// Body of `POST /api/capabilities/{name}/call`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityCall {
    /// The arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The conversation in which it is called; the main one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationId>,
}

/// `GET /api/capabilities/{name}`: one version, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capability {
    /// Its name.
    pub name: String,
    /// This version.
    pub version: i32,
    /// The live version.
    pub live: i32,
    /// `installed` or `disabled`.
    pub state: String,
    /// Its purpose, in its author's words.
    pub description: String,
    /// The language of its source.
    pub language: String,
    /// Its source; base64 for `wasm`.
    pub source: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// Its powers, as written.
    pub grants: Grants,
    /// The same in words.
    pub grants_in_words: Vec<String>,
    /// The tests kept with it.
    pub tests: Vec<TestCase>,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// sha256 of its component, in hexadecimal.
    pub sha256: String,
    /// All versions, oldest first.
    pub versions: Vec<Version>,
}

/// A kept version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// Its number.
    pub version: i32,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// sha256 of its component, in hexadecimal.
    pub sha256: String,
}

/// `GET /api/capabilities/{name}/diff`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapabilityDiff {
    /// Its name.
    pub name: String,
    /// The version compared with.
    pub from: i32,
    /// The version looked at.
    pub to: i32,
    /// Of the source, then of grants, parameters and description if they differ, as one unified
    /// diff; empty when nothing differs.
    pub diff: String,
}

/// Body of `POST /api/capabilities/{name}/rollback`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollBack {
    /// The one before the live one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// True when the person has seen that the version may do more than the live one.
    #[serde(default)]
    pub confirm_grants: bool,
}

/// The live version after `rollback`, `disable` and `enable`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The capability.
    pub name: String,
    /// The live version.
    pub version: i32,
    /// `installed` or `disabled`.
    pub state: String,
}

/// `POST /api/capabilities/{name}/test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The capability.
    pub name: String,
    /// The version whose tests were run.
    pub version: i32,
    /// How many of its tests hold.
    pub passed: usize,
    /// How many do not.
    pub failed: usize,
    /// Each test as it came out.
    pub results: Vec<TestedCase>,
}

/// A test as it came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestedCase {
    /// Why it has no result: the refusal, as a model reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The result that the author expected, `null` included; absent if success is enough.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// The lines that the capability logged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
    /// True if the result is the expected one.
    pub ok: bool,
    /// The arguments.
    pub params: Value,
    /// The result in the words for a model; absent if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// Reads a field that is there, `null` included; serde takes `null` for an absent one.
fn given<'de, D: Deserializer<'de>>(written: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(written).map(Some)
}

/// A capability as a folder: file name → its text; `capability.json` as the object it holds.
pub type CapabilityFolder = Map<String, Value>;

/// `GET /api/capabilities/{name}/export`: a version as a folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExportedFolder {
    /// Its description.
    #[serde(rename = "capability.json", serialize_with = "by_name")]
    pub described: DescribedCapability,
    /// The file with its source.
    #[serde(flatten)]
    pub source: BTreeMap<String, String>,
}

/// `capability.json` of such a folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DescribedCapability {
    /// Its name.
    pub name: String,
    /// Its purpose, in its author's words.
    pub description: String,
    /// The language of its source.
    pub language: SourceLanguage,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// Its powers.
    pub grants: Grants,
    /// The tests kept with it.
    pub tests: Vec<TestCase>,
}

/// `GET /api/shipped`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shipped {
    /// By name.
    pub shipped: Vec<ShippedEntry>,
}

/// A capability that comes with the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShippedEntry {
    /// Its name.
    pub name: String,
    /// Its purpose, in its author's words.
    pub description: String,
    /// The powers it would be granted, in words for a person.
    pub grants_in_words: Vec<String>,
    /// The live version of this name, if there is one.
    pub installed: Option<i32>,
}
