//! Preconditions and required effects: data of one closed vocabulary, which the controller proves
//! and no model.

use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::artifact::{ArtifactType, check_key, read_script_name};
use super::lead::LeadStatus;
use super::page::PageHost;
use crate::domain::{CampaignTaskId, LeadId, exact};

/// Something that holds or does not hold in the state of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Requirement {
    /// Another task is done.
    TaskDone {
        /// The task.
        task: CampaignTaskId,
    },
    /// An artifact is kept.
    ArtifactExists {
        /// Its type.
        #[serde(rename = "type")]
        kind_of: ArtifactType,
        /// Its key.
        key: String,
        /// At least in this version.
        #[serde(default = "one")]
        min_version: i32,
    },
    /// So many leads have a status.
    LeadsAtLeast {
        /// The status.
        status: LeadStatus,
        /// How many.
        count: i64,
    },
    /// A lead has a status.
    LeadStatus {
        /// The lead.
        lead: LeadId,
        /// The status.
        status: LeadStatus,
    },
    /// A tool did its work after the task began, with at least these arguments.
    ToolSucceeded {
        /// The tool, as `execute_tool` names it.
        tool: String,
        /// Arguments that it was given.
        #[serde(default)]
        arguments: Value,
    },
    /// The newest version of a script ran well after the task began.
    ScriptSucceeded {
        /// The key of the script.
        artifact: String,
    },
    /// A page of this host was read after the task began, and held this text.
    PageRead {
        /// The host, as [`PageHost::alone`] reads it; one that an earlier version kept may be none.
        host: String,
        /// The text.
        contains: String,
    },
    /// The person has answered a question of the task.
    UserAnswered {
        /// The question.
        question: String,
    },
    /// The time has come.
    After {
        /// The time.
        #[serde(deserialize_with = "time")]
        time: DateTime<Utc>,
    },
}

fn one() -> i32 {
    1
}

fn time<'de, D: Deserializer<'de>>(written: D) -> Result<DateTime<Utc>, D::Error> {
    time_named("time", written)
}

/// Reads a time as somebody wrote it in a field of this name.
///
/// # Errors
/// A sentence with the name and what is expected.
pub fn time_named<'de, D: Deserializer<'de>>(name: &str, written: D) -> Result<DateTime<Utc>, D::Error> {
    let written = String::deserialize(written).map_err(|error| D::Error::custom(format!("{name}: {error}")))?;
    let expected = |_| D::Error::custom(format!("{name}: expected a time like 2026-11-30T09:00:00Z, not `{written}`"));
    written.parse().map_err(expected)
}

/// The words of the vocabulary, for refusals.
pub const REQUIREMENTS: &str = "task_done {task}, artifact_exists {type, key, min_version}, leads_at_least {status, count}, lead_status {lead, \
     status}, tool_succeeded {tool, arguments}, script_succeeded {artifact}, page_read {host, contains}, user_answered {question}, after {time}";

impl Requirement {
    /// Reads one, as a person or a proposal writes it.
    ///
    /// # Errors
    /// A sentence with the place and what is expected.
    pub fn read(written: Value, at: &str) -> Result<Self, String> {
        // A flat form has empty places for the fields of the other kinds.
        let written = match written {
            Value::Object(fields) => Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect()),
            other => other,
        };
        let mut read: Self = exact(&written).map_err(|error| format!("{at}: {error}; the kinds are {REQUIREMENTS}"))?;
        read.settle().map_err(|why| format!("{at}.{why}"))?;
        Ok(read)
    }

    /// Checks that something can meet it, and writes a host as it is compared.
    fn settle(&mut self) -> Result<(), String> {
        match self {
            Self::ArtifactExists { key, min_version, .. } => {
                check_key(key).map_err(|why| format!("key: {why}"))?;
                if *min_version < 1 {
                    return Err(format!("min_version: is {min_version}; versions count from 1"));
                }
            }
            Self::LeadsAtLeast { count, .. } if *count < 1 => return Err(format!("count: is {count}; ask for 1 at least")),
            Self::ToolSucceeded { arguments, .. } if !arguments.is_null() && !arguments.is_object() => {
                return Err(format!("arguments: is {arguments}; a tool is given an object like {{\"script\": \"sum\"}}"));
            }
            Self::ScriptSucceeded { artifact } => drop(read_script_name(artifact).map_err(|why| format!("artifact: {why}"))?),
            Self::UserAnswered { question } => check_key(question).map_err(|why| format!("question: {why}"))?,
            Self::PageRead { host, .. } => *host = PageHost::alone(host).map_err(|why| format!("host: {why}"))?,
            Self::TaskDone { .. }
            | Self::LeadsAtLeast { .. }
            | Self::LeadStatus { .. }
            | Self::ToolSucceeded { .. }
            | Self::After { .. } => {}
        }
        Ok(())
    }

    /// Reads one of a file that makes a campaign. Its tasks have no numbers yet, so `task_done`
    /// names one by its place in the file, from 1, and the place stands for the number until that
    /// is known.
    ///
    /// # Errors
    /// As [`Requirement::read`].
    pub fn read_in_file(mut written: Value, at: &str) -> Result<Self, String> {
        if let Value::Object(fields) = &mut written
            && fields.get("kind").and_then(Value::as_str) == Some("task_done")
        {
            let Some(nth) = fields.remove("nth").filter(|_| !fields.contains_key("task")) else {
                return Err(format!(
                    "{at}: the tasks of a new campaign have no numbers yet; name one by its place in the list, from 1: \
                     {{\"kind\": \"task_done\", \"nth\": 1}}"
                ));
            };
            fields.insert("task".to_owned(), nth);
        }
        match Self::read(written, at)? {
            Self::LeadStatus { .. } => Err(format!(
                "{at}.lead: a new campaign has no leads yet; import them, and add the task then: level3 campaign task N add"
            )),
            read => Ok(read),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TaskDone { task } => write!(f, "task {task} is done"),
            Self::ArtifactExists { kind_of, key, min_version: 1 } => write!(f, "the {kind_of} {key} is kept"),
            Self::ArtifactExists { kind_of, key, min_version } => {
                write!(f, "the {kind_of} {key} is kept in version {min_version} at least")
            }
            Self::LeadsAtLeast { status, count } => write!(f, "{count} leads at least are {status}"),
            Self::LeadStatus { lead, status } => write!(f, "lead {lead} is {status}"),
            Self::ToolSucceeded { tool, arguments } if arguments.is_null() => write!(f, "{tool} has succeeded"),
            Self::ToolSucceeded { tool, arguments } => write!(f, "{tool} has succeeded with {arguments}"),
            Self::ScriptSucceeded { artifact } => write!(f, "the script {artifact} has run well"),
            Self::PageRead { host, contains } => write!(f, "a page of {host} was read that holds “{contains}”"),
            Self::UserAnswered { question } => write!(f, "the person has answered {question}"),
            Self::After { time } => write!(f, "it is {} or later", time.to_rfc3339()),
        }
    }
}

/// An artifact that a model is shown for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Its key; `None`: all of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "the {} {key}", self.kind),
            None => write!(f, "all of the type {}", self.kind),
        }
    }
}

/// An artifact that a task needs, as a proposal writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "An artifact whose content is shown while the task is open.")]
pub struct FlatNeed {
    #[serde(rename = "type")]
    #[schemars(description = "The type of the artifact.")]
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "Its key; without it all of the type are shown.")]
    key: Option<String>,
}

impl FlatNeed {
    /// The need that it means.
    ///
    /// # Errors
    /// A sentence with the place and what is expected.
    pub fn read(&self, at: &str) -> Result<Need, String> {
        let kind = self.kind.parse::<ArtifactType>().map_err(|why| format!("{at}.type: {why}"))?;
        self.key.as_deref().map_or(Ok(()), check_key).map_err(|why| format!("{at}.key: {why}"))?;
        Ok(Need { kind, key: self.key.clone() })
    }
}

/// A requirement as a proposal writes it: one flat form for all kinds, since small models stumble
/// over others.
// Models read it on one line, as it was before prose had 100 columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(
    description = "A requirement as a proposal writes it: one flat form for all kinds, since small models stumble over others."
)]
pub struct FlatRequirement {
    #[schemars(
        description = "task_done, artifact_exists, leads_at_least, lead_status, tool_succeeded, script_succeeded, page_read, \
                              user_answered or after"
    )]
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", description = "For task_done.")]
    task: Option<i64>,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For artifact_exists: the type of the artifact.")]
    kind_of: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For artifact_exists.")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For leads_at_least and lead_status.")]
    status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", description = "For leads_at_least.")]
    count: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", description = "For lead_status.")]
    lead: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For user_answered.")]
    question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For tool_succeeded.")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>", description = "For tool_succeeded: arguments that the tool was given, an object.")]
    arguments: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For script_succeeded: the key of the script.")]
    artifact: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", description = "For artifact_exists; 1 if left out.")]
    min_version: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For page_read: the host of the page.")]
    host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For page_read: a text that stands on the page.")]
    contains: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "For after: a time as 2026-11-30T09:00:00Z.")]
    time: Option<String>,
}

impl FlatRequirement {
    /// The requirement that it means.
    ///
    /// # Errors
    /// As [`Requirement::read`].
    pub fn read(&self, at: &str) -> Result<Requirement, String> {
        Requirement::read(serde_json::to_value(self).unwrap_or_default(), at)
    }
}
