//! Conversations.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use crate::domain::{ConversationId, DEFAULT_PROFILE};
use crate::store::{StoreError, Theirs};

impl Theirs {
    /// Their main conversation of the default profile, made if there is none.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn main_conversation(&self, now: DateTime<Utc>) -> Result<ConversationId, StoreError> {
        self.main_conversation_of(DEFAULT_PROFILE, now).await
    }

    /// The main conversation of a profile, made if there is none.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn main_conversation_of(&self, profile: &str, now: DateTime<Utc>) -> Result<ConversationId, StoreError> {
        let mains = self.main_conversations(&[profile.to_owned()], now).await?;
        mains.get(profile).copied().ok_or_else(|| sqlx::Error::RowNotFound.into())
    }

    /// The main conversations of these profiles; those that are missing are made.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn main_conversations(
        &self,
        profiles: &[String],
        now: DateTime<Utc>,
    ) -> Result<BTreeMap<String, ConversationId>, StoreError> {
        let found = self.mains(profiles).await?;
        if profiles.iter().all(|profile| found.contains_key(profile)) {
            return Ok(found);
        }
        // Two servers may get here at once: the second insert does nothing.
        query!(
            "INSERT INTO conversations (user_id, profile, is_main, created_at)
             SELECT $3, profile, TRUE, $2 FROM unnest($1::text[]) AS profile ON CONFLICT DO NOTHING",
            profiles,
            now,
            self.user.0
        )
        .execute(&self.store.pool)
        .await?;
        self.mains(profiles).await
    }

    /// Those of their main conversations that there are.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn mains(&self, profiles: &[String]) -> Result<BTreeMap<String, ConversationId>, StoreError> {
        let rows = query!(
            "SELECT profile, conversation_id FROM conversations WHERE is_main AND user_id = $2 AND profile = ANY($1)",
            profiles,
            self.user.0
        );
        let rows = rows.fetch_all(&self.store.pool).await?.into_iter();
        let mains = rows.map(|row| {
            let main = ConversationId(row.conversation_id);
            self.store.users_of.learn(main, self.user, &row.profile);
            (row.profile, main)
        });
        Ok(mains.collect())
    }

    /// A new conversation of the default profile, beside the main one.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn create_conversation(&self, now: DateTime<Utc>) -> Result<ConversationId, StoreError> {
        self.create_conversation_of(DEFAULT_PROFILE, now).await
    }

    /// A new conversation of a profile, which it keeps for life.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn create_conversation_of(&self, profile: &str, now: DateTime<Utc>) -> Result<ConversationId, StoreError> {
        let made = query_scalar!(
            "INSERT INTO conversations (user_id, profile, created_at) VALUES ($3, $1, $2) RETURNING conversation_id",
            profile,
            now,
            self.user.0
        );
        let made = ConversationId(made.fetch_one(&self.store.pool).await?);
        self.store.users_of.learn(made, self.user, profile);
        Ok(made)
    }
}
