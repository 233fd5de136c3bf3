//! What a person is shown before deciding: everything that will happen, in words first, then exactly.

use serde_json::{Value, json};
use similar::TextDiff;

use super::prepare::{Action, Prepared, RestartMode, Written};
use super::{Tools, external};
use crate::domain::{CapabilityVersion, Shown, ShownCapability, TaskId, Words};
use crate::governor::sql;
use crate::store::StoreError;

/// How many recorded calls are tried on a new version.
const REPLAYED: i64 = 5;

impl Written {
    /// The version as it would be installed.
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
}

impl Tools {
    /// What the person is shown of a call that the law asks about; `why` is the law's reason.
    pub(super) async fn shown(
        &self,
        tool: &str,
        arguments: Value,
        prepared: &Prepared,
        why: String,
    ) -> Result<Shown, StoreError> {
        let mut capability = None;
        let what = match &prepared.action {
            Action::Sql(request) => sql::in_words(&request.query),
            Action::Tasks(request) => vec![self.task_in_words(request.id_and_action()).await?],
            Action::Restart(RestartMode::Reload) => vec!["Loads every capability afresh.".to_owned()],
            Action::Restart(RestartMode::Full) => vec!["Restarts the server. Turns that run go on afterwards.".to_owned()],
            Action::Call(live) => {
                let mut what = vec![format!(
                    "Calls the capability `{}`, version {}, with the arguments below. It may:",
                    live.name, live.version
                )];
                what.extend(live.grants.in_words());
                if what.len() == 1 {
                    what[0] = format!(
                        "Calls the capability `{}`, version {}. It reaches nothing outside its sandbox.",
                        live.name, live.version
                    );
                }
                what
            }
            Action::External(called) => external::in_words(called),
            Action::Write(written) => {
                capability = Some(self.written_shown(written).await?);
                written_in_words(written)
            }
        };
        // “Always” is about calls of one capability, or one definition of an external tool; built-in tools are set in the policy.
        let can_always = matches!(prepared.action, Action::Call(_) | Action::External(_));
        let words = Words::default();
        Ok(Shown { tool: tool.to_owned(), arguments, what, why, can_always, words, capability, finding: None })
    }

    async fn task_in_words(&self, (id, action): (Option<i64>, &str)) -> Result<String, StoreError> {
        let Some(id) = id else { return Ok(format!("Does `{action}` with tasks, as the arguments say.")) };
        let task = self.store.begin(self.clock.now()).await?.task(TaskId(id)).await?;
        Ok(match task {
            Some(task) if action == "delete" => format!("Deletes the task {id}, “{}”.", task.title),
            Some(task) => format!("Changes the task {id}, “{}”: {action}.", task.title),
            None => format!("There is no task {id} any more; nothing will happen."),
        })
    }

    /// The newest recorded calls without effects that the new version answers otherwise than it was answered then.
    pub(super) async fn differences(&self, written: &Written) -> Result<Vec<Value>, StoreError> {
        if written.live.is_none() {
            return Ok(Vec::new());
        }
        let candidate = written.version();
        let mut differences = Vec::new();
        for call in self.store.calls_without_effects(&candidate.name, REPLAYED).await? {
            let Ok(params) = serde_json::from_str::<Value>(&call.arguments) else { continue };
            let now = self.hands.sandbox.try_call(&candidate, &params).await.result;
            if now != call.result {
                differences.push(json!({ "params": params, "before": call.result, "now": now }));
            }
        }
        Ok(differences)
    }

    async fn written_shown(&self, written: &Written) -> Result<ShownCapability, StoreError> {
        let Written { draft, live, .. } = written;
        Ok(ShownCapability {
            name: draft.name.clone(),
            language: draft.language.to_string(),
            source: draft.source.clone(),
            replaces: live.as_ref().map(|live| live.version),
            diff: live.as_ref().map(|live| diff(&live.source, &draft.source, &format!("version {}", live.version))),
            grants: json!(draft.grants),
            grants_in_words: draft.grants.in_words(),
            differences: self.differences(written).await?,
        })
    }
}

fn written_in_words(written: &Written) -> Vec<String> {
    let Written { draft, live, .. } = written;
    let first = match live {
        Some(live) => format!("Replaces version {} of the capability `{}`.", live.version, draft.name),
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

/// The difference of two sources as a unified diff.
pub(super) fn diff(old: &str, new: &str, old_name: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().context_radius(3).header(old_name, "new").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_what_is_old_and_what_is_new() {
        let told = diff("a\nb\nc\n", "a\nx\nc\n", "version 3");
        assert_eq!(told, "--- version 3\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    }
}
