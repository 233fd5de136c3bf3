//! Tiers with their limits, and how much of them is left.

use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use crate::domain::Tier;
use crate::domain::todo::{TierLimits, local_day, next_midnight, zone_named};
use crate::store::{Store, StoreError, Theirs, word};
use crate::wire::api::{Allowances, NamedTier};

fn limit(stored: Option<i32>) -> Option<u32> {
    stored.map(|limit| u32::try_from(limit).unwrap_or_default())
}

impl Store {
    /// Every tier.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn tiers(&self) -> Result<Vec<NamedTier>, StoreError> {
        let rows = query!("SELECT tier, messages_per_day, voice_minutes_per_month FROM tiers ORDER BY tier")
            .fetch_all(&self.pool)
            .await?;
        let named = |row: (String, Option<i32>, Option<i32>)| {
            let limits = TierLimits { messages_per_day: limit(row.1), voice_minutes_per_month: limit(row.2) };
            Ok(NamedTier { tier: word(&row.0)?, limits })
        };
        rows.into_iter().map(|row| named((row.tier, row.messages_per_day, row.voice_minutes_per_month))).collect()
    }

    /// Sets the limits of a tier.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_tier(&self, tier: Tier, limits: TierLimits) -> Result<(), StoreError> {
        let stored = |limit: Option<u32>| limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX));
        query!(
            "UPDATE tiers SET messages_per_day = $2, voice_minutes_per_month = $3 WHERE tier = $1",
            tier.as_str(),
            stored(limits.messages_per_day),
            stored(limits.voice_minutes_per_month)
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

impl Theirs {
    /// How much they may use up today.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn allowances(&self, now: DateTime<Utc>) -> Result<Allowances, StoreError> {
        let (user, pool) = (self.user, &self.store.pool);
        let row = query!(
            "SELECT u.tier, u.time_zone, t.messages_per_day, t.voice_minutes_per_month
             FROM users u LEFT JOIN tiers t ON t.tier = u.tier WHERE u.id = $1",
            user.0
        );
        let row = row.fetch_one(pool).await?;
        let zone = zone_named(&row.time_zone).map_err(StoreError::Unreadable)?;
        let sent =
            query_scalar!("SELECT messages FROM message_counts WHERE user_id = $1 AND day = $2", user.0, local_day(zone, now));
        let sent = sent.fetch_optional(pool).await?.and_then(|sent| u32::try_from(sent).ok()).unwrap_or_default();
        let limits = TierLimits {
            messages_per_day: limit(row.messages_per_day),
            voice_minutes_per_month: limit(row.voice_minutes_per_month),
        };
        Ok(Allowances {
            tier: word(&row.tier)?,
            messages_left: limits.messages_left(sent),
            next_day_at: next_midnight(zone, now),
            voice: limits.voice_seconds_left(0) != Some(0),
        })
    }
}
