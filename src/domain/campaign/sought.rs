//! The runs of tools that conditions look for, however many calls have come since. The statement
//! that reads a state looks for the same in the tables.

use serde_json::{Value, json};

use super::artifact::ArtifactType;
use super::proposal::ExecuteTool;
use super::{CampaignTask, CampaignTaskStatus, Requirement};
use crate::domain::RUN_SCRIPT;

/// True if a run is one of this tool, and was given these arguments at least.
pub(super) fn is_run_of(made: &ExecuteTool, tool: &str, arguments: &Value) -> bool {
    let given = |name: &String, value: &Value| made.arguments.get(name) == Some(value);
    made.tool == tool && arguments.as_object().is_none_or(|wanted| wanted.iter().all(|(name, value)| given(name, value)))
}

/// The runs that the conditions of open tasks look for: a tool, and arguments that it was given at
/// least.
pub(super) fn sought_runs(tasks: &[CampaignTask]) -> Vec<(&str, Value)> {
    let open = tasks.iter().filter(|task| task.status != CampaignTaskStatus::Done);
    open.flat_map(|task| task.metadata.preconditions.iter().chain(&task.metadata.requires)).flat_map(sought_by).collect()
}

/// Those of one condition: of a script by each of its names.
fn sought_by(wanted: &Requirement) -> Vec<(&str, Value)> {
    match wanted {
        Requirement::ToolSucceeded { tool, arguments } => vec![(tool.as_str(), arguments.clone())],
        Requirement::ScriptSucceeded { artifact } => {
            let key = artifact.rsplit('/').next().unwrap_or(artifact);
            let of_type = |kind: ArtifactType| format!("{kind}/{key}");
            let names = [key.to_owned(), of_type(ArtifactType::JsScript), of_type(ArtifactType::PythonScript)];
            names.map(|name| (RUN_SCRIPT, json!({ "script": name }))).into()
        }
        _ => Vec::new(),
    }
}
