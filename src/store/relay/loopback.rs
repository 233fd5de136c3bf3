//! The phones of the loopback channel: what came to each, how often, and what its person said.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::query;

use crate::domain::relay::MediaNote;
use crate::store::{ClaimedMessage, Store, StoreError, value};

/// A message on a phone of the loopback channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopbackMessage {
    /// Its place among those of all phones.
    pub number: i64,
    /// The phone.
    pub address: String,
    /// True if its person said it.
    pub mine: bool,
    /// Its id.
    pub id: String,
    /// Its words.
    pub text: String,
    /// The file that came with it.
    pub media: Option<MediaNote>,
    /// How often it came.
    pub arrivals: i32,
    /// When it first came.
    pub at: DateTime<Utc>,
}

impl Store {
    /// A message arrives at a phone.
    ///
    /// # Errors
    /// If the database does not answer; then it may have arrived.
    pub async fn arrive_at_loopback(&self, message: &ClaimedMessage, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.put_on_phone(message.to(), false, message.peer_id(), message.text(), message.media(), now).await
    }

    /// The person of a phone says something.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn say_at_loopback(&self, address: &str, id: &str, text: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.put_on_phone(address, true, id, text, None, now).await
    }

    async fn put_on_phone(
        &self,
        address: &str,
        mine: bool,
        id: &str,
        text: &str,
        media: Option<&MediaNote>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        query!(
            "INSERT INTO loopback_messages AS l (address, mine, message_id, text, media, created_at) VALUES ($1, $2, $3, $4, $6, $5)
             ON CONFLICT (address, mine, message_id) DO UPDATE SET arrivals = l.arrivals + 1",
            address,
            mine,
            id,
            &*self.clean(text),
            now,
            media.map(|media| json!(media))
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The messages on a phone, or on all of them, after a place, oldest first; at most 500.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn loopback_messages(&self, address: Option<&str>, after: i64) -> Result<Vec<LoopbackMessage>, StoreError> {
        let rows = query!(
            "SELECT number, address, mine, message_id, text, media, arrivals, created_at FROM loopback_messages
             WHERE ($1::text IS NULL OR address = $1) AND number > $2 ORDER BY number LIMIT 500",
            address,
            after
        );
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        let message = rows.map(|row| {
            Ok(LoopbackMessage {
                number: row.number,
                address: row.address,
                mine: row.mine,
                id: row.message_id,
                text: row.text,
                media: row.media.map(value).transpose()?,
                arrivals: row.arrivals,
                at: row.created_at,
            })
        });
        message.collect()
    }
}
