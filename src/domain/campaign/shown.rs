//! The part of a state that a person is shown with a proposal before they decide. An approval is
//! bound to it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::artifact::ArtifactType;
use super::lead::{ImportedLead, Lead, LeadImport, LeadStatus, MOST_NAME, imports, on_a_line, read_csv};
use super::proposal::{AnalyzeLeads, CampaignProposal, GenerateMessage, PersistArtifact};
use super::scoring::{ConfigVersion, ScoringConfig};
use super::script::BoundArtifact;
use super::state::CampaignState;
use crate::domain::{IMPORT_LEADS, LeadId};

/// The most rows of an import that are shown.
const MOST_ROWS_SHOWN: usize = 20;
/// The most bytes of the faults of a file.
const MOST_FAULTS: usize = 600;

/// The changes that a proposal makes to leads.
#[derive(Clone, Debug)]
pub enum LeadChanges {
    /// A scoring config ranks all of them anew.
    Ranking {
        /// Its key.
        key: String,
        /// The version that it gets.
        version: i32,
        /// The config.
        config: ScoringConfig,
    },
    /// A file brings leads in.
    Import {
        /// The file.
        file: BoundArtifact,
        /// Its content.
        content: String,
    },
    /// Leads get a status.
    Status {
        /// The leads.
        leads: BTreeSet<LeadId>,
        /// Their status from then on.
        status: LeadStatus,
    },
}

impl LeadChanges {
    /// Those of a proposal; `None` if it changes no lead.
    pub fn of(state: &CampaignState, proposal: &CampaignProposal) -> Option<Self> {
        match proposal {
            CampaignProposal::PersistArtifact(PersistArtifact { kind, key, content, .. })
                if kind == ArtifactType::LeadScoringConfig.as_str() =>
            {
                let version = next_version(state, ArtifactType::LeadScoringConfig, key);
                Some(Self::Ranking { key: key.clone(), version, config: ScoringConfig::read(content).ok()? })
            }
            CampaignProposal::ExecuteTool(run) if run.tool == IMPORT_LEADS => {
                let file = state.artifact(ArtifactType::File, run.arguments.get("file")?.as_str()?)?;
                Some(Self::Import { file: BoundArtifact::of(file), content: file.content.clone() })
            }
            CampaignProposal::AnalyzeLeads(AnalyzeLeads { leads, lead_status: Some(status), .. }) => {
                Some(Self::Status { leads: leads.iter().copied().map(LeadId).collect(), status: *status })
            }
            _ => None,
        }
    }

    /// The changes in lines for a person, by the campaign's leads as they are.
    pub fn lines(&self, leads: Vec<Lead>) -> Vec<String> {
        match self {
            Self::Ranking { key, version, config } => config.ranking(ConfigVersion { key, version: *version }, &leads),
            Self::Import { file, content } => imported(file, content, leads),
            Self::Status { leads: named, status } => moved(named, *status, leads),
        }
    }
}

/// The part of a state that an approval of a proposal is bound to: the version that an artifact
/// gets, the file that is imported, and all leads if it changes some. `None` if nothing of the
/// state is shown.
pub fn bound(state: &CampaignState, proposal: &CampaignProposal) -> Option<Value> {
    let mut bound = Map::new();
    if let Some((kind, key)) = kept(proposal) {
        bound.insert("version".to_owned(), json!(next_version(state, kind, key)));
    }
    if let Some(changes) = LeadChanges::of(state, proposal) {
        bound.insert("leads".to_owned(), json!(state.leads.sha256));
        if let LeadChanges::Import { file, .. } = changes {
            bound.insert("file".to_owned(), json!(file));
        }
    }
    (!bound.is_empty()).then_some(Value::Object(bound))
}

/// Type and key of the artifact that a proposal keeps.
fn kept(proposal: &CampaignProposal) -> Option<(ArtifactType, &str)> {
    match proposal {
        CampaignProposal::GenerateMessage(GenerateMessage { key, .. }) => Some((ArtifactType::Message, key.as_str())),
        CampaignProposal::AnalyzeLeads(AnalyzeLeads { key, .. }) => Some((ArtifactType::Analysis, key.as_str())),
        CampaignProposal::PersistArtifact(PersistArtifact { kind, key, .. }) => Some((kind.parse().ok()?, key.as_str())),
        _ => None,
    }
}

fn next_version(state: &CampaignState, kind: ArtifactType, key: &str) -> i32 {
    state.artifact(kind, key).map_or(1, |kept| kept.version + 1)
}

/// The changes that a file makes: how many of each kind, and the first of them.
fn imported(file: &BoundArtifact, content: &str, leads: Vec<Lead>) -> Vec<String> {
    let BoundArtifact { key, version, sha256, .. } = file;
    let reads = format!("Reads the file {key} version {version}, sha256 {sha256}");
    let rows = match read_csv(content) {
        Ok(rows) => rows,
        Err(bad) => return vec![format!("{reads}. It imports nothing: {}", on_a_line(&bad.join("; "), MOST_FAULTS))],
    };
    let count = rows.len();
    let changes = imports(leads, rows);
    let new = changes.iter().filter(|change| change.lead.is_none()).count();
    let (changed, same) = (changes.len() - new, count - changes.len());
    let mut lines =
        vec![format!("{reads}. Rows: {count}. New leads: {new}. Changed leads: {changed}. Rows that change nothing: {same}.")];
    if changes.len() > MOST_ROWS_SHOWN {
        lines.push(format!("The first {MOST_ROWS_SHOWN} new and changed ones:"));
    }
    lines.extend(changes.iter().take(MOST_ROWS_SHOWN).map(|LeadImport { lead, row }| {
        let ImportedLead { full_name, profile_url, .. } = row;
        let (name, address) = (on_a_line(full_name, MOST_NAME), on_a_line(profile_url, MOST_NAME));
        match lead {
            None => format!("new: {name}, {address}"),
            Some(lead) if lead.full_name == *full_name => format!("{}: {name}, other attributes, {address}", lead.id),
            Some(lead) => format!("{}: {} → {name}, {address}", lead.id, on_a_line(&lead.full_name, MOST_NAME)),
        }
    }));
    lines
}

/// The leads that get a status, each once, with the one that they have.
fn moved(named: &BTreeSet<LeadId>, status: LeadStatus, mut leads: Vec<Lead>) -> Vec<String> {
    leads.retain(|lead| named.contains(&lead.id));
    leads.sort_by_key(|lead| lead.id);
    let mut lines = vec![format!("Sets these leads to {status}: number, name, old status → new status.")];
    let line = |lead: &Lead| format!("{}, {}, {} → {status}", lead.id, on_a_line(&lead.full_name, MOST_NAME), lead.status);
    lines.extend(leads.iter().map(line));
    lines
}
