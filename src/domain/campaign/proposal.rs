//! The eight proposals, and no other. A proposal is read exactly: an unknown field, a field of
//! another type, or a list in the place of an object refuses it whole.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::artifact::ArtifactType;
use super::page::{OPEN, READ};
use super::requirement::{FlatNeed, FlatRequirement, Requirement};
use super::sha256;
use crate::domain::turn::text_enum;
use crate::domain::{CallRequest, RUN_SCRIPT, exact, undoubled};

text_enum! {
    /// The kind of a proposal, whose word is the name of its tool.
    ProposalKind {
        /// See [`ProposeTask`].
        CreateTask = "create_task",
        /// See [`SelectNextTask`].
        SelectNextTask = "select_next_task",
        /// See [`ExecuteTool`].
        ExecuteTool = "execute_tool",
        /// See [`GenerateMessage`].
        GenerateMessage = "generate_message",
        /// See [`AnalyzeLeads`].
        AnalyzeLeads = "analyze_leads",
        /// See [`RequestUserInput`].
        RequestUserInput = "request_user_input",
        /// See [`PersistArtifact`].
        PersistArtifact = "persist_artifact",
        /// See [`NoOp`].
        NoOp = "no_op",
    }
}

impl ProposalKind {
    /// The names of all, for the profile that has these tools and nothing else.
    pub fn names() -> &'static [&'static str] {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| ProposalKind::ALL.iter().map(|kind| kind.as_str()).collect());
        &NAMES
    }

    /// The proposal that brings a requirement about, in words for a model; `None` if none does.
    pub fn bringing(wanted: &Requirement) -> Option<String> {
        use Requirement as R;
        Some(match wanted {
            R::ArtifactExists { kind_of: ArtifactType::Message, key, .. } => format!("{} with key {key}", Self::GenerateMessage),
            R::ArtifactExists { kind_of, key, .. } => format!("{} with type {kind_of} and key {key}", Self::PersistArtifact),
            R::LeadsAtLeast { .. } | R::LeadStatus { .. } => format!("{} with leads and lead_status", Self::AnalyzeLeads),
            R::ToolSucceeded { tool, .. } => format!("{} with tool {tool}", Self::ExecuteTool),
            R::ScriptSucceeded { .. } => format!("{} with tool {RUN_SCRIPT}", Self::ExecuteTool),
            R::PageRead { .. } => format!("{} with tool {OPEN}, then {READ}", Self::ExecuteTool),
            R::UserAnswered { question } => format!("{} with question {question}", Self::RequestUserInput),
            R::TaskDone { .. } | R::After { .. } => return None,
        })
    }
}

/// A new task, for a reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposeTask {
    /// Why it is needed.
    #[schemars(description = "Why the task is needed.")]
    pub why: String,
    /// The thing to do.
    #[schemars(description = "What is to be done, in a sentence.")]
    pub description: String,
    /// The conditions that have to hold before it begins.
    #[serde(default)]
    #[schemars(description = "What has to hold before it begins.")]
    pub preconditions: Vec<FlatRequirement>,
    /// The conditions that have to hold for it to be done.
    #[serde(default)]
    #[schemars(
        description = "What has to hold for it to be done. The controller checks it; without it only a person can finish the task."
    )]
    pub requires: Vec<FlatRequirement>,
    /// The artifacts that a model is shown for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(description = "The artifacts whose content is shown while the task is open.")]
    pub needs: Vec<FlatNeed>,
}

/// The task to work on next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectNextTask {
    /// The task.
    #[schemars(description = "The number of an eligible task.")]
    pub task: i64,
}

/// A tool of the controller's list, with its arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteTool {
    /// The task.
    #[schemars(description = "The number of the task that it is for.")]
    pub task: i64,
    /// The tool.
    #[schemars(description = "A name of the list under Tools.")]
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>", description = "The arguments of that tool, an object.")]
    pub arguments: Map<String, Value>,
}

/// A message to somebody, as a draft.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GenerateMessage {
    /// The task.
    #[schemars(description = "The number of the task that it is for.")]
    pub task: i64,
    /// The key of the artifact.
    #[schemars(description = "A short name for the draft: a-z, 0-9, _ . -")]
    pub key: String,
    /// The text.
    #[schemars(description = "The text of the message.")]
    pub text: String,
}

/// An analysis of leads, and a status that they should have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalyzeLeads {
    /// The task.
    #[schemars(description = "The number of the task that it is for.")]
    pub task: i64,
    /// The key of the analysis.
    #[schemars(description = "A short name for the analysis: a-z, 0-9, _ . -")]
    pub key: String,
    /// The analysis.
    #[schemars(description = "What you found out about the leads.")]
    pub analysis: String,
    /// The leads.
    #[serde(default)]
    #[schemars(description = "The numbers of leads that should get the status `lead_status`; 50 at most.")]
    pub leads: Vec<i64>,
    /// Their status from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = "new, qualified, contacted, replied, won or rejected")]
    pub lead_status: Option<super::LeadStatus>,
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestUserInput {
    /// The task.
    #[schemars(description = "The number of the task that it is for.")]
    pub task: i64,
    /// The name of the question.
    #[schemars(description = "A short name for the question: a-z, 0-9, _ . -")]
    pub question: String,
    /// The words.
    #[schemars(description = "The question, in words for the person.")]
    pub text: String,
}

/// Something to keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersistArtifact {
    /// The task.
    #[schemars(description = "The number of the task that it is for.")]
    pub task: i64,
    /// The type.
    #[serde(rename = "type")]
    #[schemars(
        description = "context, lead_scoring_config, heuristic, python_script, js_script, message, search_query, analysis or file"
    )]
    pub kind: String,
    /// The key.
    #[schemars(description = "A short name: a-z, 0-9, _ . -")]
    pub key: String,
    /// The content.
    #[schemars(description = "The content, as text; a lead_scoring_config is JSON.")]
    pub content: String,
}

/// Nothing to do now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoOp {
    /// The task.
    #[schemars(description = "The number of the task that you looked at.")]
    pub task: i64,
    /// Why.
    #[schemars(description = "Why nothing is to be done now.")]
    pub why: String,
}

/// A proposal of the model. It changes nothing by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CampaignProposal {
    /// See [`ProposeTask`].
    CreateTask(ProposeTask),
    /// See [`SelectNextTask`].
    SelectNextTask(SelectNextTask),
    /// See [`ExecuteTool`].
    ExecuteTool(ExecuteTool),
    /// See [`GenerateMessage`].
    GenerateMessage(GenerateMessage),
    /// See [`AnalyzeLeads`].
    AnalyzeLeads(AnalyzeLeads),
    /// See [`RequestUserInput`].
    RequestUserInput(RequestUserInput),
    /// See [`PersistArtifact`].
    PersistArtifact(PersistArtifact),
    /// See [`NoOp`].
    NoOp(NoOp),
}

impl CampaignProposal {
    /// Reads a proposal of a kind.
    ///
    /// # Errors
    /// A sentence that names the fault.
    pub fn read(kind: &str, written: &Value) -> Result<Self, String> {
        let Ok(kind) = kind.parse::<ProposalKind>() else {
            return Err(format!("`{kind}` is no kind of proposal; the kinds are {}", ProposalKind::names().join(", ")));
        };
        let Some(fields) = written.as_object() else { return Err(format!("{kind}: the proposal has to be one JSON object")) };
        if let Some(claim) = ["confirmed", "status", "done", "approved"].into_iter().find(|name| fields.contains_key(*name)) {
            return Err(format!(
                "{kind}: the field `{claim}` is not yours to give: a person confirms, and the controller alone says what is done"
            ));
        }
        Ok(match kind {
            ProposalKind::CreateTask => Self::CreateTask(exactly(kind, written)?),
            ProposalKind::SelectNextTask => Self::SelectNextTask(exactly(kind, written)?),
            ProposalKind::ExecuteTool => Self::ExecuteTool(exactly(kind, written)?),
            ProposalKind::GenerateMessage => Self::GenerateMessage(exactly(kind, written)?),
            ProposalKind::AnalyzeLeads => Self::AnalyzeLeads(exactly(kind, written)?),
            ProposalKind::RequestUserInput => Self::RequestUserInput(exactly(kind, written)?),
            ProposalKind::PersistArtifact => Self::PersistArtifact(exactly(kind, written)?),
            ProposalKind::NoOp => Self::NoOp(exactly(kind, written)?),
        })
    }

    /// The task that it names; `None` if it proposes a new one.
    pub fn task(&self) -> Option<i64> {
        match self {
            Self::CreateTask(_) => None,
            Self::SelectNextTask(SelectNextTask { task })
            | Self::ExecuteTool(ExecuteTool { task, .. })
            | Self::GenerateMessage(GenerateMessage { task, .. })
            | Self::AnalyzeLeads(AnalyzeLeads { task, .. })
            | Self::RequestUserInput(RequestUserInput { task, .. })
            | Self::PersistArtifact(PersistArtifact { task, .. })
            | Self::NoOp(NoOp { task, .. }) => Some(*task),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> ProposalKind {
        match self {
            Self::CreateTask(_) => ProposalKind::CreateTask,
            Self::SelectNextTask(_) => ProposalKind::SelectNextTask,
            Self::ExecuteTool(_) => ProposalKind::ExecuteTool,
            Self::GenerateMessage(_) => ProposalKind::GenerateMessage,
            Self::AnalyzeLeads(_) => ProposalKind::AnalyzeLeads,
            Self::RequestUserInput(_) => ProposalKind::RequestUserInput,
            Self::PersistArtifact(_) => ProposalKind::PersistArtifact,
            Self::NoOp(_) => ProposalKind::NoOp,
        }
    }

    /// sha256 of kind and content.
    pub fn fingerprint(&self) -> String {
        sha256(json!([self.kind(), self]).to_string().as_bytes())
    }
}

fn exactly<T: DeserializeOwned + Serialize>(kind: ProposalKind, written: &Value) -> Result<T, String> {
    exact(written).map_err(|error| format!("{kind}: {error}"))
}

/// The proposal that stands in an answer's text as its one JSON object, with the kind in `kind`,
/// and the other fields beside it or in `arguments`. An answer with two has none, and so has one
/// with a field that stands twice.
pub fn in_text(text: &str) -> Option<CallRequest> {
    let (mut rest, mut found) = (text, Vec::new());
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(Value::Object(object))) => {
                let end = stream.byte_offset();
                // Nobody knows which of two fields with one name is meant.
                undoubled(&rest[..end]).ok()?;
                found.push(object);
                rest = &rest[end..];
            }
            _ => rest = &rest[1..],
        }
    }
    let [object] = found.as_mut_slice() else { return None };
    let kind = ["kind", "name", "tool_name", "action"].into_iter().find_map(|name| match object.get(name) {
        Some(Value::String(kind)) if ProposalKind::names().contains(&kind.as_str()) => Some((name, kind.clone())),
        _ => None,
    });
    let (place, name) = kind?;
    object.remove(place);
    let nested = ["arguments", "parameters"].into_iter().find(|name| name_alone(object, name));
    let arguments = match nested.filter(|_| name != ProposalKind::ExecuteTool.as_str() || !object.contains_key("task")) {
        Some(nested) => object.remove(nested).unwrap_or_default(),
        None => Value::Object(std::mem::take(object)),
    };
    Some(CallRequest { id: "text".to_owned(), name, arguments: arguments.to_string() })
}

/// True if the object has nothing but this field, itself an object.
fn name_alone(object: &Map<String, Value>, name: &str) -> bool {
    object.len() == 1 && object.get(name).is_some_and(Value::is_object)
}
