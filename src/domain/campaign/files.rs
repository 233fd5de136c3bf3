//! Projections for a person's eyes: `context.md`, `environment.md`, `tasks.md`. They follow from
//! the state alone, and nothing reads them.

use std::fmt::Write as _;

use super::state::CampaignState;
use super::{ArtifactType, CampaignTaskStatus};

/// The files of a campaign, by name.
pub fn files(state: &CampaignState) -> [(&'static str, String); 3] {
    [("context.md", context(state)), ("environment.md", environment(state)), ("tasks.md", tasks(state))]
}

/// True if artifacts of this type stand in one of them.
pub fn is_shown(kind: ArtifactType) -> bool {
    matches!(kind, ArtifactType::Context | ArtifactType::Environment)
}

const HEAD: &str = "<!-- Written by level3 from its database, and never read: changes here are lost. -->\n";

fn context(state: &CampaignState) -> String {
    let mut text = format!("{HEAD}# {}\n", line(&state.campaign.name));
    for artifact in state.artifacts.iter().filter(|artifact| artifact.kind == ArtifactType::Context) {
        let _ = write!(
            text,
            "\n## {} (version {}, by {})\n\n{}\n",
            artifact.key, artifact.version, artifact.source, artifact.content
        );
    }
    text
}

/// Names of secrets and plain settings, never a value of a secret.
fn environment(state: &CampaignState) -> String {
    let environment = state.environment();
    let mut text = format!("{HEAD}# Environment of {}\n", line(&state.campaign.name));
    let mut list = |title: &str, items: &[String]| {
        if !items.is_empty() {
            let items = items.iter().map(|item| format!("- {}", line(item))).collect::<Vec<_>>().join("\n");
            let _ = write!(text, "\n## {title}\n\n{items}\n");
        }
    };
    list("Secrets, by name", &environment.secrets);
    list("Settings", &environment.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>());
    list("Hosts", &environment.hosts);
    list("Capabilities", &environment.capabilities);
    text
}

fn tasks(state: &CampaignState) -> String {
    let mut text = format!("{HEAD}# Tasks of {} ({})\n\n", line(&state.campaign.name), state.campaign.status);
    for task in &state.tasks {
        let mark = if task.status == CampaignTaskStatus::Done { "x" } else { " " };
        let _ = writeln!(text, "- [{mark}] {}: {} ({})", task.id, line(&task.description), task.status);
        for wanted in &task.metadata.requires {
            let _ = writeln!(text, "  - {}", line(&wanted.to_string()));
        }
    }
    text
}

/// The text in one line: one of several could look like other tasks, or other sections.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
