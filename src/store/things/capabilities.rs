//! Capabilities: every version is kept, one of each name is live.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::query_as;

use crate::domain::{CapabilityVersion, ConversationId, Draft};
use crate::facts::{CapabilityInstalled, Event, EventRecord};
use crate::governor::Permit;
use crate::store::agent_sql::is_code;
use crate::store::transition::EventRow;
use crate::store::{Store, StoreError, Unit, value, word};

/// A live capability, as far as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct CapabilitySummary {
    /// Its name.
    pub name: String,
    /// The live version.
    pub version: i32,
    /// Its description.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: serde_json::Value,
}

/// A recorded call of a capability.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    /// Its arguments, JSON text.
    pub arguments: String,
    /// Its result for the model.
    pub result: String,
}

/// A row of `capability_versions`, as the macros read it.
pub(super) struct VersionRow {
    pub(super) name: String,
    pub(super) version: i32,
    pub(super) description: String,
    pub(super) language: String,
    pub(super) source: String,
    pub(super) parameters: serde_json::Value,
    pub(super) grants: serde_json::Value,
    pub(super) tests: serde_json::Value,
    pub(super) component: Vec<u8>,
    pub(super) sha256: String,
    pub(super) engine: String,
    pub(super) created_at: DateTime<Utc>,
}

impl TryFrom<VersionRow> for CapabilityVersion {
    type Error = StoreError;

    fn try_from(row: VersionRow) -> Result<Self, StoreError> {
        Ok(Self {
            name: row.name,
            version: row.version,
            description: row.description,
            language: word(&row.language)?,
            source: row.source,
            parameters: row.parameters,
            grants: value(row.grants)?,
            tests: value(row.tests)?,
            component: row.component,
            sha256: row.sha256,
            engine: row.engine,
        })
    }
}

/// The product of a draft's check.
#[derive(Clone, Debug)]
pub struct CheckedComponent<'a> {
    /// The component's bytes.
    pub component: &'a [u8],
    /// sha256 of them, in hexadecimal.
    pub sha256: &'a str,
    /// The engine that it is for.
    pub engine: &'a str,
}

impl Unit {
    /// Keeps a checked draft as the newest version of its name and makes it live. Returns the
    /// version's number. `replaces` is the version that was live when the law allowed this.
    ///
    /// # Errors
    /// [`StoreError::Changed`] if another version is live by now, or if the database does not
    /// answer.
    pub async fn install_capability(
        &mut self,
        _: &Permit,
        conversation: ConversationId,
        draft: &Draft,
        built: CheckedComponent<'_>,
        replaces: Option<&CapabilityVersion>,
    ) -> Result<i32, StoreError> {
        let (version, fingerprint) = (0, String::new()); // the database gives these
        let event = CapabilityInstalled {
            name: draft.name.clone(),
            version,
            sha256: built.sha256.to_owned(),
            grants: json!(draft.grants),
            fingerprint,
        };
        let rows = query_as!(
            EventRow,
            r#"SELECT sequence AS "sequence!", event AS "event!"
               FROM install_capability($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"#,
            conversation.0,
            json!(Event::from(event)),
            draft.description,
            draft.language.as_str(),
            draft.source,
            draft.parameters,
            json!(draft.tests),
            built.component,
            built.engine,
            replaces.map(|replaced| replaced.version),
            replaces.is_some_and(|replaced| !replaced.grants.cover(&draft.grants)),
            self.now
        );
        let rows = rows.fetch_all(&mut *self.tx).await.map_err(|error| match error {
            error if is_code(&error, "L3007") => StoreError::Changed(draft.name.clone()),
            error => error.into(),
        })?;
        match self.take(rows, conversation)? {
            [EventRecord { event: Event::CapabilityInstalled(installed), .. }] => Ok(installed.version),
            other => Err(StoreError::Unreadable(format!("a capability was installed with these events: {other:?}"))),
        }
    }
}

impl Store {
    /// The live capabilities, by name.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn capabilities(&self) -> Result<Vec<CapabilitySummary>, StoreError> {
        Ok(self.catalogue(None).await?.capabilities().map(|listed| listed.summary.clone()).collect())
    }

    /// The live version of a capability, whole; `None` if no capability has this name.
    ///
    /// # Errors
    /// If the database does not answer or holds a version this program cannot read.
    pub async fn capability(&self, name: &str) -> Result<Option<Arc<CapabilityVersion>>, StoreError> {
        self.catalogue(None).await?.live(self, name).await
    }

    /// The newest calls of a capability that succeeded and did nothing outside the sandbox, so that
    /// they can be tried on another version.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn calls_without_effects(&self, name: &str, limit: i64) -> Result<Vec<RecordedCall>, StoreError> {
        let calls = sqlx::query_as!(
            RecordedCall,
            "SELECT arguments, content AS result FROM tool_calls JOIN messages USING (tool_call_id)
             WHERE name = $1 AND state = 'done'
               AND NOT EXISTS (SELECT FROM operations o WHERE o.tool_call_id = tool_calls.tool_call_id)
             ORDER BY tool_call_id DESC LIMIT $2",
            name,
            limit
        );
        Ok(calls.fetch_all(&self.pool).await?)
    }
}
