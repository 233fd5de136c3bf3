//! The global context: one document with a version. A change names the version that it was made
//! from.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::query;

use crate::domain::ConversationId;
use crate::domain::operator::{ContextRefused, GlobalContext, fits};
use crate::facts::GlobalContextChanged;
use crate::governor::Permit;
use crate::store::{Store, StoreError, Unit};

impl Store {
    /// The global context as it is.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn operator_context(&self) -> Result<GlobalContext, StoreError> {
        let row = query!("SELECT version, document, updated_at FROM operator_context WHERE context_id = 1");
        let row = row.fetch_optional(&self.pool).await?;
        Ok(row.map_or_else(GlobalContext::default, |row| GlobalContext {
            version: row.version,
            document: row.document,
            updated_at: Some(row.updated_at),
        }))
    }

    /// Writes the whole global context, as a person's own order.
    ///
    /// # Errors
    /// If the database does not answer; the inner one if it is refused, and nothing was written.
    pub async fn set_operator_context(
        &self,
        conversation: ConversationId,
        version: i32,
        document: Value,
        now: DateTime<Utc>,
    ) -> Result<Result<GlobalContext, ContextRefused>, StoreError> {
        let mut unit = self.begin(now).await?;
        let changed = unit.change_context(conversation, version, document).await?;
        if changed.is_ok() {
            unit.commit().await?;
        }
        Ok(changed)
    }
}

impl Unit {
    /// Writes the whole global context for a call of the operator.
    ///
    /// # Errors
    /// As [`Store::set_operator_context`].
    pub async fn write_context(
        &mut self,
        _: &Permit,
        conversation: ConversationId,
        version: i32,
        document: Value,
    ) -> Result<Result<GlobalContext, ContextRefused>, StoreError> {
        self.change_context(conversation, version, document).await
    }

    async fn change_context(
        &mut self,
        conversation: ConversationId,
        version: i32,
        mut document: Value,
    ) -> Result<Result<GlobalContext, ContextRefused>, StoreError> {
        // A secret's value is hidden before it is kept, as in any text, also if it is a number.
        self.scrubber.clean_json(&mut document);
        if let Err(refused) = fits(&document) {
            return Ok(Err(refused));
        }
        // Changes come one after the other, also the first ones.
        query!("SELECT pg_advisory_xact_lock(hashtext('level3 operator_context'))").execute(&mut *self.tx).await?;
        let row = query!("SELECT version, document, updated_at FROM operator_context WHERE context_id = 1 FOR UPDATE");
        let now = row.fetch_optional(&mut *self.tx).await?.map_or_else(GlobalContext::default, |row| GlobalContext {
            version: row.version,
            document: row.document,
            updated_at: Some(row.updated_at),
        });
        if now.version != version {
            return Ok(Err(ContextRefused::Overtaken { given: version, now: Box::new(now) }));
        }
        let context = GlobalContext { version: version + 1, document, updated_at: Some(self.now) };
        query!(
            "INSERT INTO operator_context (context_id, version, document, updated_at) VALUES (1, $1, $2, $3)
             ON CONFLICT (context_id) DO UPDATE SET version = $1, document = $2, updated_at = $3",
            context.version,
            context.document,
            self.now
        )
        .execute(&mut *self.tx)
        .await?;
        let event = GlobalContextChanged { version: context.version, document: context.document.clone() };
        self.append(conversation, event.into()).await?;
        Ok(Ok(context))
    }
}
