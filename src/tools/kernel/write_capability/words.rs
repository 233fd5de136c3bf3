//! The card that a person sees before a capability is written: its rights from then on, and the
//! exact source that would run.

use serde_json::{Value, json};
use similar::TextDiff;

use super::CheckedCapability;
use crate::domain::{CapabilityVersion, ShownCapability};
use crate::store::StoreError;
use crate::tools::kit::Kit;

/// How many recorded calls are tried on a new version.
const REPLAYED: i64 = 5;

impl CheckedCapability {
    /// The version that would be installed.
    pub(super) fn version(&self) -> CapabilityVersion {
        let Self { draft, checked, live, .. } = self;
        CapabilityVersion {
            name: draft.name.clone(),
            version: live.as_ref().map_or(0, |live| live.version) + 1,
            description: draft.description.clone(),
            language: draft.language,
            source: draft.source.clone(),
            parameters: draft.parameters.clone(),
            grants: draft.grants.clone(),
            tests: draft.tests.clone(),
            component: checked.component.clone(),
            sha256: checked.sha256.clone(),
            engine: checked.engine.clone(),
        }
    }

    /// The newest recorded calls without effects that the new version answers otherwise. A call
    /// that the live version itself would answer otherwise now, by the clock or by chance, is none
    /// of them, and neither is one that asks for anything outside the sandbox.
    pub(super) async fn differences(&self, kit: &Kit) -> Result<Vec<Value>, StoreError> {
        let Some(live) = &self.live else { return Ok(Vec::new()) };
        let (sandbox, candidate) = (&kit.hands.sandbox, self.version());
        let mut differences = Vec::new();
        for call in kit.store.calls_without_effects(&candidate.name, REPLAYED).await? {
            let Ok(params) = serde_json::from_str::<Value>(&call.arguments) else { continue };
            let Some(now) = sandbox.try_call(&candidate, &params).await.filter(|now| now.result != call.result) else { continue };
            if sandbox.try_call(live, &params).await.is_some_and(|again| again.result == call.result) {
                differences.push(json!({ "params": params, "before": call.result, "now": now.result }));
            }
        }
        Ok(differences)
    }

    /// The capability as a person sees it.
    pub(super) async fn shown(&self, kit: &Kit) -> Result<ShownCapability, StoreError> {
        let Self { draft, live, .. } = self;
        Ok(ShownCapability {
            name: draft.name.clone(),
            language: draft.language.to_string(),
            source: draft.source.clone(),
            replaces: live.as_ref().map(|live| live.version),
            diff: live.as_ref().map(|live| diff(&live.source, &draft.source, &format!("version {}", live.version))),
            grants: json!(draft.grants),
            grants_in_words: draft.grants.in_words(),
            differences: self.differences(kit).await?,
        })
    }

    /// The effects, a sentence each.
    pub(super) fn in_words(&self) -> Vec<String> {
        let Self { draft, live, revives, .. } = self;
        let first = match live {
            Some(live) => format!("Replaces version {} of the capability `{}`.", live.version, draft.name),
            None if *revives => format!("Replaces the capability `{}`, which is disabled, and makes it live again.", draft.name),
            None => format!("Installs a new capability, `{}`: {}", draft.name, draft.description),
        };
        let powers = draft.grants.in_words();
        let mut what = vec![first];
        if !powers.is_empty() {
            what.push("From then on it may, without being asked about again:".to_owned());
            what.extend(powers);
        }
        what
    }
}

/// The difference of two sources as a unified diff.
fn diff(old: &str, new: &str, old_name: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().context_radius(3).header(old_name, "new").to_string()
}

#[cfg(test)]
mod tests;
