//! The model request of a cycle: the rules, the snapshot, the eight tools. All of it follows from
//! the state and the time.

use std::sync::{Arc, LazyLock};

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::domain::campaign::proposal::{
    AnalyzeLeads, ExecuteTool, GenerateMessage, NoOp, PersistArtifact, ProposeTask, RequestUserInput, SelectNextTask,
};
use crate::domain::campaign::script::BoundArtifact;
use crate::domain::campaign::snapshot::{files_shown, snapshot_in};
use crate::domain::campaign::words::ProgramWords;
use crate::domain::campaign::{CampaignState, ProposalKind, sha256};
use crate::domain::{SharedSpec, ToolSpec};
use crate::model::{Entry, Request};
use crate::store::Meter;
use crate::tools::spec;

/// The request of a cycle, with its fingerprints.
pub(super) struct CycleRequest {
    /// The snapshot.
    snapshot: String,
    /// sha256 of the state.
    pub(super) state_sha256: String,
    /// sha256 of the rules.
    pub(super) rules_sha256: String,
    /// sha256 of the request.
    pub(super) request_sha256: String,
    /// The files that it shows.
    pub(super) files: Vec<BoundArtifact>,
}

/// One of the eight tools.
pub(super) fn spec_of(kind: ProposalKind) -> ToolSpec {
    use ProposalKind as K;
    let name = kind.as_str();
    match kind {
        K::CreateTask => spec::<ProposeTask>(name, "Proposes a new task. A person approves it."),
        K::SelectNextTask => spec::<SelectNextTask>(name, "Proposes the task to work on next."),
        K::ExecuteTool => spec::<ExecuteTool>(name, "Proposes to run one of the controller's tools for a task."),
        K::GenerateMessage => {
            spec::<GenerateMessage>(name, "Proposes a message as a draft (artifact type `message`). Nothing is sent.")
        }
        K::AnalyzeLeads => {
            spec::<AnalyzeLeads>(name, "Proposes an analysis of leads (artifact type `analysis`), and a status for some.")
        }
        K::RequestUserInput => spec::<RequestUserInput>(name, "Asks the person something that a task needs."),
        K::PersistArtifact => spec::<PersistArtifact>(name, "Proposes to keep an artifact of a type under a key."),
        K::NoOp => spec::<NoOp>(name, "Proposes to do nothing now."),
    }
}

/// All eight.
pub(super) fn specs() -> Vec<ToolSpec> {
    ProposalKind::ALL.iter().map(|kind| spec_of(*kind)).collect()
}

/// All eight as each request offers them, written once.
static OFFERED: LazyLock<Vec<SharedSpec>> = LazyLock::new(|| specs().into_iter().map(Into::into).collect());
/// The words of this program, made once.
static WORDS: LazyLock<Arc<FingerprintedWords>> =
    LazyLock::new(|| FingerprintedWords::of(ProgramWords::of(json!(specs()).to_string())));

/// Words of a program, and their fingerprint.
#[derive(Debug, PartialEq)]
pub(super) struct FingerprintedWords {
    /// The words.
    pub(super) words: ProgramWords,
    /// Their sha256.
    pub(super) sha256: String,
}

impl FingerprintedWords {
    pub(super) fn of(words: ProgramWords) -> Arc<Self> {
        Arc::new(Self { sha256: words.sha256(), words })
    }
}

/// The words of this program.
pub(super) fn words() -> ProgramWords {
    WORDS.words.clone()
}

/// The same as each request has them in which no capability is offered.
pub(super) fn shared_words() -> Arc<FingerprintedWords> {
    Arc::clone(&WORDS)
}

impl CycleRequest {
    /// The request by a state, in these words.
    pub(super) fn of(state: &CampaignState, now: DateTime<Utc>, words: &ProgramWords) -> Self {
        let snapshot = snapshot_in(words.layout, state, now, &words.tools);
        let request = format!("[{},{},{}]", json!(words.rules), json!(snapshot), words.proposals);
        Self {
            state_sha256: state.sha256(),
            rules_sha256: sha256(words.rules.as_bytes()),
            request_sha256: sha256(request.as_bytes()),
            files: files_shown(state, now),
            snapshot,
        }
    }

    /// The same for a model, with the tools of this program.
    pub(super) fn for_model(
        &self,
        words: &ProgramWords,
        answer_tokens: Option<u32>,
        temperature: Option<f64>,
        meter: Meter,
    ) -> Request {
        Request {
            entries: vec![Entry::System(words.rules.clone()), Entry::User(self.snapshot.clone())],
            tools: OFFERED.clone(),
            must_call: true,
            demanded_of_all: true,
            literal: false,
            answer_tokens,
            temperature,
            meter,
            ..Request::default()
        }
    }
}

#[cfg(test)]
mod tests;
