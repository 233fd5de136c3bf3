//! Artifacts: the only kept form of what a person or the model brings. Versions are only added.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::page::PageHost;
use super::scoring::ScoringConfig;
use super::sha256;
use crate::domain::turn::text_enum;
use crate::domain::{ApprovalId, ArtifactId, CampaignId, StepId, exact_text};

/// The most bytes of an artifact.
pub const MOST_CONTENT: usize = 256 << 10;
/// The most characters of a key.
pub const MOST_KEY: usize = 64;

text_enum! {
    /// The type of an artifact.
    ArtifactType {
        /// The subject of the campaign.
        Context = "context",
        /// Names of secrets and plain settings, hosts, capabilities.
        Environment = "environment",
        /// How leads are scored.
        LeadScoringConfig = "lead_scoring_config",
        /// A rule of thumb.
        Heuristic = "heuristic",
        /// A script in Python.
        PythonScript = "python_script",
        /// A script in JavaScript.
        JsScript = "js_script",
        /// A message to somebody.
        Message = "message",
        /// A search to make.
        SearchQuery = "search_query",
        /// Findings about something.
        Analysis = "analysis",
        /// A file.
        File = "file",
        /// A picture, by the sha256 under which its bytes are kept.
        Picture = "picture",
    }
}

text_enum! {
    /// The one whose request an artifact, or a task, was.
    ArtifactSource {
        /// A person's own, in page or command line.
        User = "user",
        /// The model's proposal, which a person approved.
        Agent = "agent",
    }
}

impl ArtifactType {
    /// True if a proposal may keep one: a screenshot keeps a picture.
    pub fn may_come_of_proposals(self) -> bool {
        self.may_be_proposed() || self == Self::Picture
    }

    /// True if the model may propose it. The environment, scripts' bytes of pictures and what the
    /// campaign is about are a person's.
    pub fn may_be_proposed(self) -> bool {
        match self {
            Self::Environment | Self::Picture => false,
            Self::Context
            | Self::LeadScoringConfig
            | Self::Heuristic
            | Self::PythonScript
            | Self::JsScript
            | Self::Message
            | Self::SearchQuery
            | Self::Analysis
            | Self::File => true,
        }
    }
}

/// One version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its number.
    pub id: ArtifactId,
    /// Its campaign.
    pub campaign_id: CampaignId,
    /// Its type.
    pub artifact_type: ArtifactType,
    /// Its name within the type.
    pub artifact_key: String,
    /// Counts from 1.
    pub version: i32,
    /// The one whose request it was.
    pub source: ArtifactSource,
    /// JSON or plain text, as its type has it.
    pub content: String,
    /// sha256 of the content.
    pub sha256: String,
    /// The step that proposed it.
    pub step_id: Option<StepId>,
    /// The approval that allowed it.
    pub approval_id: Option<ApprovalId>,
    /// The number of the event that kept it.
    #[serde(default)]
    pub sequence: i64,
    /// When it was kept.
    pub created_at: DateTime<Utc>,
}

impl Artifact {
    /// The content, if it is what was kept.
    ///
    /// # Errors
    /// A sentence that says it is not.
    pub fn checked(&self) -> Result<&str, String> {
        if sha256(self.content.as_bytes()) == self.sha256 {
            Ok(&self.content)
        } else {
            Err(format!(
                "the {} {} version {} does not fit its sha256: its content was changed after it was kept",
                self.artifact_type, self.artifact_key, self.version
            ))
        }
    }
}

/// Names of secrets, and plain settings: the content of the artifact `environment`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Environment {
    /// Names of secrets that have to be in the vault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Plain settings.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub settings: std::collections::BTreeMap<String, String>,
    /// Hosts of pages that may be opened, each a [`PageHost`]; one that an earlier version kept may
    /// be none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Installed capabilities that `execute_tool` may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
}

impl Environment {
    /// Reads one that is to be kept.
    ///
    /// # Errors
    /// A sentence with the place and what is expected.
    pub fn read(content: &str) -> Result<Self, String> {
        let read: Self = exact_text(content).map_err(|error| {
            format!(
                "content: {error}; expected like {{\"secrets\": [\"API_KEY\"], \"settings\": {{}}, \"hosts\": [\"example.com\"], \
                 \"capabilities\": []}}"
            )
        })?;
        for (n, host) in read.hosts.iter().enumerate() {
            host.parse::<PageHost>().map_err(|why| format!("content: hosts[{n}]: {why}"))?;
        }
        Ok(read)
    }
}

/// Checks a key that is new. It is a part of addresses, out of which clients take dots alone.
///
/// # Errors
/// A sentence with the rule.
pub fn check_key(key: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
    if (1..=MOST_KEY).contains(&key.len()) && key.chars().all(fits) && key.chars().any(|c| c != '.') {
        Ok(())
    } else {
        Err(format!("`{key}` is no key: use 1 to {MOST_KEY} of a-z, 0-9, `_`, `.` and `-`, not dots alone"))
    }
}

/// The types of scripts. If both have a key, the key alone means the first.
const SCRIPTS: [ArtifactType; 2] = [ArtifactType::JsScript, ArtifactType::PythonScript];

/// Reads the name of a script, KEY or TYPE/KEY. Gives the types that it may mean, and the key.
///
/// # Errors
/// A sentence with what is expected.
pub fn read_script_name(name: &str) -> Result<(Vec<ArtifactType>, &str), String> {
    let (kinds, key) = match name.split_once('/') {
        Some((kind, key)) => (SCRIPTS.into_iter().filter(|script| script.as_str() == kind).collect(), key),
        None => (SCRIPTS.to_vec(), name),
    };
    if kinds.is_empty() {
        return Err(format!("`{name}` is no script: name it by KEY, js_script/KEY or python_script/KEY"));
    }
    check_key(key)?;
    Ok((kinds, key))
}

/// Checks the content of a new version.
///
/// # Errors
/// A sentence with the place and what is expected.
pub fn check_content(kind: ArtifactType, content: &str) -> Result<(), String> {
    if content.is_empty() {
        return Err("content: is empty; give the text to keep".to_owned());
    }
    if content.len() > MOST_CONTENT {
        return Err(format!("content: has {} bytes; at most {MOST_CONTENT} are kept", content.len()));
    }
    match kind {
        ArtifactType::LeadScoringConfig => ScoringConfig::read(content).map(drop),
        ArtifactType::Environment => Environment::read(content).map(drop),
        ArtifactType::Picture if content.len() != 64 || !content.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            Err("content: a picture is named by the sha256 of its bytes, 64 hexadecimal digits".to_owned())
        }
        _ => Ok(()),
    }
}
