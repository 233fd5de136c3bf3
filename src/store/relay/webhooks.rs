//! Webhooks: transitions are put into a list in their own transaction, and told from there, each
//! until the peer has it or eight tries are over.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::{query, query_as, query_scalar};

use crate::domain::InstanceState;
use crate::domain::relay::Instance;
use crate::store::{Store, StoreError, Unit};

/// So often a webhook is tried.
const TRIES: i32 = 8;

/// A webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Its number.
    pub id: i64,
    /// The address it goes to.
    pub url: String,
    /// True if it may have words of the conversation.
    pub with_text: bool,
    /// When it was set up.
    pub created_at: DateTime<Utc>,
    /// How many transitions are still to be told.
    pub waiting: i64,
    /// How many were given up.
    pub failed: i64,
    /// The last error.
    pub last_error: Option<String>,
}

/// A transition that is to be told now.
#[derive(Clone, Debug)]
pub struct DueWebhook {
    /// Its number.
    pub call: i64,
    /// The webhook.
    pub webhook: i64,
    /// The address it goes to.
    pub url: String,
    /// The body.
    pub body: Value,
}

impl DueWebhook {
    /// The idempotency key, the same for each try.
    pub fn key(&self) -> String {
        format!("relay-webhook-{}-{}", self.webhook, self.call)
    }
}

/// The end of a try.
#[derive(Clone, Debug)]
pub enum WebhookEnd {
    /// The peer has it.
    Told,
    /// It does not have it, and why.
    Failed(String),
}

impl Unit {
    /// Puts a transition into the list of what webhooks are told.
    pub(super) async fn queue_webhooks(&mut self, instance: &Instance, from: InstanceState) -> Result<(), StoreError> {
        let event = query_scalar!("SELECT last_sequence FROM conversations WHERE conversation_id = $1", instance.conversation.0);
        let event = event.fetch_one(&mut *self.tx).await?;
        // A reason may be the agent's words about the contact's.
        let body =
            json!({ "instance": instance.id, "from": from, "to": instance.progress.state, "event": event, "at": self.now });
        query!(
            r#"INSERT INTO relay_webhook_calls (webhook_id, body, due_at)
               SELECT webhook_id, CASE WHEN with_text THEN $1::jsonb || jsonb_build_object('reason', $2::text) ELSE $1::jsonb END, $3
               FROM relay_webhooks"#,
            body,
            instance.progress.reason,
            self.now
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }
}

impl Store {
    /// The webhooks there are.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn webhooks(&self) -> Result<Vec<Webhook>, StoreError> {
        let rows = query!(
            r#"SELECT webhook_id, url, with_text, created_at,
                      (SELECT count(*) FROM relay_webhook_calls c WHERE c.webhook_id = w.webhook_id AND due_at IS NOT NULL) AS "waiting!",
                      (SELECT count(*) FROM relay_webhook_calls c WHERE c.webhook_id = w.webhook_id AND failed) AS "failed!",
                      (SELECT error FROM relay_webhook_calls c WHERE c.webhook_id = w.webhook_id AND error IS NOT NULL
                       ORDER BY call_id DESC LIMIT 1) AS last_error
               FROM relay_webhooks w ORDER BY webhook_id"#
        );
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        let webhook = rows.map(|row| Webhook {
            id: row.webhook_id,
            url: row.url,
            with_text: row.with_text,
            created_at: row.created_at,
            waiting: row.waiting,
            failed: row.failed,
            last_error: row.last_error,
        });
        Ok(webhook.collect())
    }

    /// Sets a webhook up; gives its number.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn add_webhook(&self, url: &str, with_text: bool, now: DateTime<Utc>) -> Result<i64, StoreError> {
        let id = query_scalar!(
            "INSERT INTO relay_webhooks (url, with_text, created_at) VALUES ($1, $2, $3) RETURNING webhook_id",
            url,
            with_text,
            now
        );
        Ok(id.fetch_one(&self.pool).await?)
    }

    /// Takes a webhook away, with what it was still to be told. False if there is none.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn remove_webhook(&self, id: i64) -> Result<bool, StoreError> {
        let removed = query!("DELETE FROM relay_webhooks WHERE webhook_id = $1", id).execute(&self.pool).await?;
        Ok(removed.rows_affected() > 0)
    }

    /// The key of a webhook's signatures, in hexadecimal digits. It stands nowhere: the server
    /// derives it.
    pub fn webhook_key(&self, id: i64) -> String {
        self.derived_key(&format!("webhook {id}")).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// For each webhook that is not `busy`, the transition that it is to be told now, the longest
    /// due one; at most so many. Beside them, when the next one of the rest is due. They are put
    /// off meanwhile, so that a try that never ends is followed by another.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn due_webhooks(
        &self,
        busy: &[i64],
        most: usize,
        now: DateTime<Utc>,
    ) -> Result<(Vec<DueWebhook>, Option<DateTime<Utc>>), StoreError> {
        let rows = query_as::<_, (i64, i64, String, Value)>(
            "UPDATE relay_webhook_calls c SET tries = tries + 1, due_at = $1 + least(3600, power(4, tries)) * interval '1 second'
             FROM relay_webhooks w
             WHERE w.webhook_id = c.webhook_id AND c.call_id IN (
                 SELECT call_id FROM relay_webhook_calls
                 WHERE due_at <= $1 AND call_id IN (
                     SELECT DISTINCT ON (webhook_id) call_id FROM relay_webhook_calls
                     WHERE due_at <= $1 AND webhook_id <> ALL($2) ORDER BY webhook_id, due_at, call_id)
                 ORDER BY due_at, call_id LIMIT $3 FOR UPDATE SKIP LOCKED)
             RETURNING c.call_id, c.webhook_id, w.url, c.body",
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = rows.bind(now).bind(busy).bind(most).fetch_all(&self.pool).await?.into_iter();
        let due: Vec<_> = rows.map(|(call, webhook, url, body)| DueWebhook { call, webhook, url, body }).collect();
        let busy: Vec<_> = busy.iter().copied().chain(due.iter().map(|due| due.webhook)).collect();
        let next = query_scalar::<_, Option<DateTime<Utc>>>(
            "SELECT min(due_at) FROM relay_webhook_calls WHERE due_at IS NOT NULL AND webhook_id <> ALL($1)",
        );
        Ok((due, next.bind(busy).fetch_one(&self.pool).await?))
    }

    /// Records the end of a try. The eighth that fails is the last.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn end_webhook(&self, call: i64, end: &WebhookEnd) -> Result<(), StoreError> {
        let error = match end {
            WebhookEnd::Told => None,
            WebhookEnd::Failed(why) => Some(self.clean(why).into_owned()),
        };
        query!(
            "UPDATE relay_webhook_calls SET error = $2::text, failed = $2::text IS NOT NULL AND tries >= $3,
                 due_at = CASE WHEN $2::text IS NULL OR tries >= $3 THEN NULL ELSE due_at END
             WHERE call_id = $1",
            call,
            error,
            TRIES
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
