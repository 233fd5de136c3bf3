//! The operator: what it remembers between tasks.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, Reading};
use super::rows::Table;

/// The one document.
pub(super) static OPERATOR_CONTEXT: Table = Table::all("operator_context", "context_id::text");

/// The global context was written anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlobalContextChanged {
    /// Its version from now on.
    pub version: i32,
    /// The whole document.
    pub document: Value,
}

impl Fact for GlobalContextChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { version, document } = self;
        to.rows(|at| {
            let row = json!({ "context_id": 1, "version": version, "document": document, "updated_at": at.time });
            [OPERATOR_CONTEXT.set(1, row)]
        })
        .print(|| (format!("the global context is at version {version}"), document.to_string()));
    }
}
