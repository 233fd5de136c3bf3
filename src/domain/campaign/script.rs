//! A run of a script, as it is proposed: its language, which versions it takes, bound by their
//! sha256, and what it is given.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::artifact::{ArtifactType, read_script_name};
use super::proposal::{ExecuteTool, ProposalKind};
use super::state::{ArtifactHead, CampaignState};
use crate::domain::{Grants, HttpGrant};

/// The most files of a run.
const MOST_FILES: usize = 16;
/// The most hosts of a run.
const MOST_HOSTS: usize = 8;
/// The most bytes of an input.
const MOST_INPUT: usize = 64 << 10;
/// The most bytes of a script's source.
const MOST_SOURCE: usize = 192 << 10;

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptLanguage {
    /// Of a `js_script`.
    JavaScript,
    /// Of a `python_script`.
    Python,
}

impl ScriptLanguage {
    /// The language of a type of artifacts, if it is one of scripts.
    pub fn of(kind: ArtifactType) -> Option<Self> {
        match kind {
            ArtifactType::JsScript => Some(Self::JavaScript),
            ArtifactType::PythonScript => Some(Self::Python),
            ArtifactType::Context
            | ArtifactType::Environment
            | ArtifactType::LeadScoringConfig
            | ArtifactType::Heuristic
            | ArtifactType::Message
            | ArtifactType::SearchQuery
            | ArtifactType::Analysis
            | ArtifactType::File
            | ArtifactType::Picture => None,
        }
    }
}

/// The newest version of a script by its name.
pub fn script_named<'a>(state: &'a CampaignState, name: &str) -> Option<&'a ArtifactHead> {
    let (kinds, key) = read_script_name(name).ok()?;
    kinds.into_iter().find_map(|kind| state.artifact(kind, key))
}

/// A version of an artifact, by its sha256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundArtifact {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Its key.
    pub key: String,
    /// Its version.
    pub version: i32,
    /// sha256 of its content.
    pub sha256: String,
}

impl BoundArtifact {
    /// The newest version of an artifact.
    pub fn of(head: &ArtifactHead) -> Self {
        Self { kind: head.kind, key: head.key.clone(), version: head.version, sha256: head.sha256.clone() }
    }
}

/// A run that may be asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptPlan {
    /// The script.
    pub script: BoundArtifact,
    /// Its language.
    pub language: ScriptLanguage,
    /// Its source.
    pub source: String,
    /// The value that it gets.
    pub input: Value,
    /// The files that it may read.
    pub files: Vec<BoundArtifact>,
    /// Name and content of each, an object.
    pub contents: Value,
    /// The hosts that it may reach, if a person approves them.
    pub hosts: BTreeSet<HttpGrant>,
}

impl ScriptPlan {
    /// The plan of a proposal, by the newest versions of a state.
    ///
    /// # Errors
    /// A sentence with the place and what is expected.
    pub fn of(state: &CampaignState, arguments: &Map<String, Value>) -> Result<Self, String> {
        let Some(key) = arguments.get("script").and_then(Value::as_str) else {
            return Err("arguments.script: expected the key of a js_script or python_script".to_owned());
        };
        let found = script_named(state, key).and_then(|script| Some((script, ScriptLanguage::of(script.kind)?)));
        let Some((script, language)) = found else {
            return Err(format!(
                "arguments.script: there is no js_script or python_script {key}; propose one by {}",
                ProposalKind::PersistArtifact
            ));
        };
        if script.content.len() > MOST_SOURCE {
            return Err(format!(
                "arguments.script: {key} has {} bytes; a script that runs has {MOST_SOURCE} at most",
                script.content.len()
            ));
        }
        let input = arguments.get("input").cloned().unwrap_or_default();
        let size = input.to_string().len();
        if size > MOST_INPUT {
            return Err(format!("arguments.input: has {size} bytes; {MOST_INPUT} are allowed, so keep it as a file"));
        }
        let (mut files, mut contents) = (Vec::new(), Map::new());
        for (n, name) in names(arguments)?.into_iter().enumerate() {
            let head = file(state, name).map_err(|why| format!("arguments.files[{n}]: {why}"))?;
            if contents.insert(name.to_owned(), json!(head.content)).is_some() {
                return Err(format!("arguments.files[{n}]: {name} is named twice"));
            }
            files.push(BoundArtifact::of(head));
        }
        let hosts = hosts(arguments)?;
        let (script, source) = (BoundArtifact::of(script), script.content.clone());
        Ok(Self { script, language, source, input, files, contents: Value::Object(contents), hosts })
    }

    /// The proposal with the versions that it is bound to: an approval holds for these and for no
    /// others.
    pub fn bound(&self, proposal: &ExecuteTool) -> Value {
        let mut whole = json!(proposal);
        whole["bound"] = json!({ "script": self.script, "files": self.files });
        whole
    }

    /// True if an approval for a proposal, as [`ScriptPlan::bound`] gave it, was for other
    /// versions.
    pub fn was_changed(&self, approved: &Value) -> bool {
        approved["bound"] != json!({ "script": self.script, "files": self.files })
    }
}

/// The names of the files.
fn names(arguments: &Map<String, Value>) -> Result<Vec<&str>, String> {
    let wrong = || "arguments.files: expected a list of keys".to_owned();
    let names = match arguments.get("files") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(files) => files.as_array().ok_or_else(wrong)?,
    };
    if names.len() > MOST_FILES {
        return Err(format!("arguments.files: has {} keys; at most {MOST_FILES}", names.len()));
    }
    names.iter().map(|name| name.as_str().ok_or_else(wrong)).collect()
}

/// True if a proposal asks for hosts.
pub fn asks_for_hosts(arguments: &Map<String, Value>) -> bool {
    arguments.get("hosts").is_some_and(|hosts| !hosts.is_null() && hosts.as_array().is_none_or(|hosts| !hosts.is_empty()))
}

/// The hosts: names, with a port or without; `http://` before one that has no other door.
fn hosts(arguments: &Map<String, Value>) -> Result<BTreeSet<HttpGrant>, String> {
    if !asks_for_hosts(arguments) {
        return Ok(BTreeSet::new());
    }
    let wanted = &arguments["hosts"];
    let wrong = |why: &str| format!("arguments.hosts: {why}; expected a list like [\"api.example.com\"]");
    let names =
        wanted.as_array().filter(|names| names.iter().all(Value::is_string)).ok_or_else(|| wrong("is no list of hosts"))?;
    if names.len() > MOST_HOSTS {
        return Err(format!("arguments.hosts: has {} hosts; at most {MOST_HOSTS}", names.len()));
    }
    let written = Map::from_iter([("http".to_owned(), json!({ "hosts": names }))]);
    let read = Grants::from_json(&written).map_err(|error| wrong(&error.to_string()))?;
    match read.http.iter().find(|grant| grant.host.contains('*')) {
        Some(grant) => Err(wrong(&format!("`{}` is no single host", grant.host))),
        None => Ok(read.http),
    }
}

/// The artifact of a name: `KEY` of a file, or `TYPE/KEY`.
fn file<'a>(state: &'a CampaignState, name: &str) -> Result<&'a ArtifactHead, String> {
    let (kind, key) = match name.split_once('/') {
        Some((kind, key)) => (kind.parse::<ArtifactType>()?, key),
        None => (ArtifactType::File, name),
    };
    if matches!(kind, ArtifactType::Environment | ArtifactType::Picture) {
        return Err(format!("a script reads no {kind}"));
    }
    state.artifact(kind, key).ok_or_else(|| format!("there is no {kind} {key}"))
}
