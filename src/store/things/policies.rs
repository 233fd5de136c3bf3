//! The policy of each profile: mode, governor, budgets, and rules for single tools.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{query, query_scalar};

use crate::domain::{Budgets, ConversationId, Mode, ProfilePolicy, Rule};
use crate::store::{Store, StoreError, value, word};

impl Store {
    /// The policy of a profile.
    ///
    /// # Errors
    /// If the database does not answer. A stored policy that cannot be read is an error too, never
    /// the default.
    pub async fn policy(&self, profile: &str) -> Result<ProfilePolicy, StoreError> {
        self.stored_policy(Some(profile), None).await
    }

    /// The policy of a conversation's profile.
    ///
    /// # Errors
    /// As for [`Store::policy`]. A conversation that is not there has the default.
    pub async fn policy_of(&self, conversation: ConversationId) -> Result<ProfilePolicy, StoreError> {
        self.stored_policy(None, Some(conversation)).await
    }

    /// The caller gives one of both.
    async fn stored_policy(&self, profile: Option<&str>, of: Option<ConversationId>) -> Result<ProfilePolicy, StoreError> {
        let row = query!(
            r#"SELECT p.mode AS "mode?", p.governor AS "governor?", p.budgets AS "budgets?", p.models AS "models?",
                      (SELECT jsonb_object_agg(tool, rule) FROM tool_rules r WHERE r.profile = wanted.profile) AS rules
               FROM (SELECT coalesce($1, (SELECT profile FROM conversations WHERE conversation_id = $2)) AS profile) AS wanted
               LEFT JOIN profile_policies p USING (profile)"#,
            profile,
            of.map(|conversation| conversation.0)
        )
        .fetch_one(&self.pool)
        .await?;
        let default = ProfilePolicy::default();
        Ok(ProfilePolicy {
            mode: row.mode.as_deref().map_or(Ok(default.mode), word)?,
            governor: row.governor.unwrap_or(default.governor),
            budgets: row.budgets.map_or(Ok(default.budgets), value)?,
            rules: row.rules.map_or(Ok(default.rules), value)?,
            models: row.models.unwrap_or_default(),
        })
    }

    /// Sets the policy of a profile; its rules for single tools stay.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_profile_policy(
        &self,
        profile: &str,
        mode: Mode,
        governor: bool,
        budgets: &Budgets,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        query!(
            "INSERT INTO profile_policies (profile, mode, governor, budgets, updated_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (profile) DO UPDATE SET mode = $2, governor = $3, budgets = $4, updated_at = $5",
            profile,
            mode.as_str(),
            governor,
            json!(budgets),
            now
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Sets the models that work for a profile, in the order in which they are asked. If there are
    /// none, the server's setting holds.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_profile_models(&self, profile: &str, models: &[String], now: DateTime<Utc>) -> Result<(), StoreError> {
        let default = ProfilePolicy::default();
        query!(
            "INSERT INTO profile_policies (profile, mode, governor, budgets, models, updated_at) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (profile) DO UPDATE SET models = $5, updated_at = $6",
            profile,
            default.mode.as_str(),
            default.governor,
            json!(default.budgets),
            models,
            now
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Sets the rule of one tool; `None` takes it away.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_tool_rule(
        &self,
        profile: &str,
        tool: &str,
        rule: Option<Rule>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        match rule {
            Some(rule) => query!(
                "INSERT INTO tool_rules (profile, tool, rule, updated_at) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (profile, tool) DO UPDATE SET rule = $3, updated_at = $4",
                profile,
                tool,
                rule.as_str(),
                now
            ),
            None => query!("DELETE FROM tool_rules WHERE profile = $1 AND tool = $2", profile, tool),
        }
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The profile of a conversation.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer.
    pub async fn profile_of(&self, conversation: ConversationId) -> Result<String, StoreError> {
        query_scalar!("SELECT profile FROM conversations WHERE conversation_id = $1", conversation.0)
            .fetch_optional(&self.pool)
            .await?
            .ok_or(StoreError::NoConversation(conversation))
    }
}
