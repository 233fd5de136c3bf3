//! The policy of each profile: mode, governor, budgets, and rules for single tools.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{query, query_scalar};

use crate::domain::{Budgets, ConversationId, Mode, ProfilePolicy, Rule};
use crate::store::{Store, StoreError, value, word};

/// The settings of a profile as the database has them.
#[derive(Debug, Deserialize)]
pub(super) struct StoredPolicy {
    pub(super) profile: String,
    mode: String,
    governor: bool,
    budgets: Value,
    models: Vec<String>,
}

impl StoredPolicy {
    /// The policy, with these rules for single tools.
    pub(super) fn read(&self, rules: BTreeMap<String, Rule>) -> Result<ProfilePolicy, StoreError> {
        let Self { profile: _, mode, governor, budgets, models } = self;
        let (mode, budgets) = (word(mode)?, value(budgets.clone())?);
        Ok(ProfilePolicy { mode, governor: *governor, budgets, rules, models: models.clone() })
    }
}

impl Store {
    /// The policy of a profile.
    ///
    /// # Errors
    /// If the database does not answer. A stored policy that cannot be read is an error too, never
    /// the default.
    pub async fn policy(&self, profile: &str) -> Result<ProfilePolicy, StoreError> {
        self.catalogue(None).await?.policy(profile)
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
        // Tasks that a budget held may begin now.
        self.signals.doubt();
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
    pub(in crate::store) async fn profile_of_any(&self, conversation: ConversationId) -> Result<String, StoreError> {
        if let Some(known) = self.users_of.profile_of(conversation) {
            return Ok(known.into_string());
        }
        query_scalar!("SELECT profile FROM conversations WHERE conversation_id = $1", conversation.0)
            .fetch_optional(&self.pool)
            .await?
            .ok_or(StoreError::NoConversation(conversation))
    }
}
