//! Instances and transcripts as a person looks at them.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, NaiveDate, Utc};
use sqlx::{query, query_as, query_scalar};

use super::RelayError;
use super::rows::{InstanceRow, RelayMessageRow};
use crate::domain::relay::{Instance, RelayMessage, hears_from, silence_ends};
use crate::domain::{ConversationId, InstanceId, InstanceState};
use crate::store::{Store, StoreError};

/// The instances that are asked for.
#[derive(Clone, Debug, Default)]
pub struct InstanceFilter {
    /// In one of these states; none: in any.
    pub states: Vec<InstanceState>,
    /// With this contact.
    pub contact: Option<String>,
    /// At most so many.
    pub limit: i64,
}

/// An instance with what is counted of it.
#[derive(Clone, Debug)]
pub struct CountedInstance {
    /// The instance.
    pub instance: Instance,
    /// Messages of which nobody knows whether they arrived.
    pub unknown: i64,
    /// Messages that wait in the outbox.
    pub queued: i64,
    /// Tokens of its turns, read and written.
    pub tokens: i64,
}

/// The result of a look for follow-ups that are due.
#[derive(Debug, Default)]
pub struct FollowedUp {
    /// How many instances were asked to follow up, or given up.
    pub asked: usize,
    /// If the channels of some bring no answer now: the time of the next look.
    pub held_until: Option<DateTime<Utc>>,
}

impl Store {
    /// The instances, the newest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn relay_instances(&self, filter: &InstanceFilter) -> Result<Vec<CountedInstance>, StoreError> {
        let states: Vec<_> = filter.states.iter().map(|state| state.as_str().to_owned()).collect();
        let rows = query_as!(
            InstanceRow,
            "SELECT * FROM relay_instances WHERE (cardinality($1::text[]) = 0 OR state = ANY($1)) AND ($2::text IS NULL OR contact = $2)
             ORDER BY instance_id DESC LIMIT $3",
            &states,
            filter.contact,
            filter.limit
        );
        let rows = rows.fetch_all(&self.pool).await?;
        self.counted_instances(rows).await
    }

    /// One instance.
    ///
    /// # Errors
    /// [`RelayError::Unknown`] with the nearest number, or if the database does not answer.
    pub async fn relay_instance(&self, id: InstanceId) -> Result<CountedInstance, RelayError> {
        let row = query_as!(InstanceRow, "SELECT * FROM relay_instances WHERE instance_id = $1", id.0);
        if let Some(row) = row.fetch_optional(&self.pool).await?
            && let Some(counted) = self.counted_instances(vec![row]).await?.pop()
        {
            return Ok(counted);
        }
        let nearest =
            query_scalar!("SELECT instance_id FROM relay_instances ORDER BY abs(instance_id - $1), instance_id LIMIT 1", id.0);
        Err(RelayError::Unknown(id, nearest.fetch_optional(&self.pool).await?))
    }

    async fn counted_instances(&self, rows: Vec<InstanceRow>) -> Result<Vec<CountedInstance>, StoreError> {
        let ids: Vec<_> = rows.iter().map(|row| row.instance_id).collect();
        let conversations: Vec<_> = rows.iter().map(|row| row.conversation_id).collect();
        let messages = query!(
            r#"SELECT instance_id AS "instance_id!", count(*) FILTER (WHERE state = 'unknown') AS "unknown!",
                      count(*) FILTER (WHERE state = 'queued') AS "queued!"
               FROM relay_messages WHERE state IN ('unknown', 'queued') AND instance_id = ANY($1) GROUP BY instance_id"#,
            &ids
        );
        let tokens = query!(
            r#"SELECT conversation_id, least(sum(input_tokens + output_tokens), 9000000000000000000)::bigint AS "tokens!"
               FROM spent WHERE conversation_id = ANY($1) GROUP BY conversation_id"#,
            &conversations
        );
        let (messages, tokens) = tokio::try_join!(messages.fetch_all(&self.pool), tokens.fetch_all(&self.pool))?;
        let messages: HashMap<_, _> = messages.into_iter().map(|row| (row.instance_id, (row.unknown, row.queued))).collect();
        let tokens: HashMap<_, _> = tokens.into_iter().map(|row| (row.conversation_id, row.tokens)).collect();
        let counted = |row: InstanceRow| {
            let (unknown, queued) = messages.get(&row.instance_id).copied().unwrap_or_default();
            let tokens = tokens.get(&row.conversation_id).copied().unwrap_or_default();
            Ok(CountedInstance { instance: row.try_into()?, unknown, queued, tokens })
        };
        rows.into_iter().map(counted).collect()
    }

    /// The messages of an instance after a place of its transcript, oldest first, at most so many.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn relay_transcript(&self, id: InstanceId, after: i32, limit: i64) -> Result<Vec<RelayMessage>, StoreError> {
        let rows = query_as!(
            RelayMessageRow,
            "SELECT * FROM relay_messages WHERE instance_id = $1 AND number > $2 ORDER BY number LIMIT $3",
            id.0,
            after,
            limit
        );
        rows.fetch_all(&self.pool).await?.into_iter().map(RelayMessage::try_from).collect()
    }

    /// The messages of which nobody knows whether they arrived, the oldest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn unknown_messages(&self) -> Result<Vec<RelayMessage>, StoreError> {
        let rows =
            query_as!(RelayMessageRow, "SELECT * FROM relay_messages WHERE state = 'unknown' ORDER BY message_id LIMIT 1000");
        rows.fetch_all(&self.pool).await?.into_iter().map(RelayMessage::try_from).collect()
    }

    /// How many instances there are in each state.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn instances_by_state(&self) -> Result<Vec<(InstanceState, i64)>, StoreError> {
        let rows = query!(r#"SELECT state, count(*) AS "many!" FROM relay_instances GROUP BY state"#);
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        rows.map(|row| Ok((crate::store::word(&row.state)?, row.many))).collect()
    }

    /// How many strangers wrote within 30 days, and why the channel makes no first contacts, if it
    /// does not.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn channel_notes(&self, channel: &str) -> Result<(i64, Option<String>), StoreError> {
        let row = query!(
            r#"SELECT (SELECT count(DISTINCT masked) FROM relay_strangers WHERE channel = $1) AS "strangers!",
                      (SELECT locked_reason FROM relay_channels WHERE name = $1) AS locked"#,
            channel
        );
        let row = row.fetch_one(&self.pool).await?;
        Ok((row.strangers, row.locked))
    }

    /// The strangers that wrote on a channel since a day, the last one first: masked, with how many
    /// messages and the day of the last one. At most 50.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn strangers(&self, channel: &str, since: NaiveDate) -> Result<Vec<(String, i64, NaiveDate)>, StoreError> {
        let counted = query_as::<_, (String, i64, NaiveDate)>(
            "SELECT masked, sum(messages)::bigint, max(day) FROM relay_strangers WHERE channel = $1 AND day >= $2
             GROUP BY masked ORDER BY max(day) DESC, masked LIMIT 50",
        );
        Ok(counted.bind(channel).bind(since).fetch_all(&self.pool).await?)
    }

    /// Follow-ups that are due: each instance whose contact was silent for long is asked to follow
    /// up, or given up. Those of channels that bring no answer now wait; `online` names the others,
    /// and since when they are online.
    ///
    /// # Errors
    /// If the database does not answer; those that were settled until then stay so.
    pub async fn follow_up_due(
        &self,
        online: &BTreeMap<&str, DateTime<Utc>>,
        now: DateTime<Utc>,
    ) -> Result<FollowedUp, StoreError> {
        let due = query_as::<_, (i64, String)>(
            "SELECT i.conversation_id, i.channel FROM wake_ups w JOIN relay_instances i ON i.instance_id = w.subject
             WHERE w.kind = 'follow_up' AND w.at <= $1 ORDER BY w.at, w.subject",
        );
        let mut followed = FollowedUp::default();
        for (conversation, channel) in due.bind(now).fetch_all(&self.pool).await? {
            let hears_from = hears_from(online.get(&*channel).copied(), now);
            if hears_from > now {
                followed.held_until = Some(followed.held_until.map_or(hears_from, |until| until.min(hears_from)));
                continue;
            }
            let mut unit = self.begin(now).await?;
            followed.asked += usize::from(unit.follow_up(ConversationId(conversation), hears_from).await?);
            unit.commit().await?;
        }
        Ok(followed)
    }
}

impl crate::store::Unit {
    /// Follows a contact's silence up, if it is still due. It is put off in quiet hours, as long as
    /// a message of ours has not gone, and after a sleep of the machine. Its channel `hears_from`
    /// then on.
    async fn follow_up(&mut self, conversation: ConversationId, hears_from: DateTime<Utc>) -> Result<bool, StoreError> {
        let Some(mut instance) = self.hold_instance_of(conversation).await? else { return Ok(false) };
        let Some(due) = instance.progress.heartbeat_at.filter(|at| *at <= self.now) else { return Ok(false) };
        if instance.progress.state != InstanceState::WaitingForReply {
            return Ok(false);
        }
        let waits = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM relay_messages WHERE instance_id = $1 AND state IN ('queued', 'sending')) AS "waits!""#,
            instance.id.0
        );
        // The silence after a message that was held counts from when it left.
        let held = query_scalar!(
            "SELECT max(sending_at) FROM relay_messages
             WHERE instance_id = $1 AND said_by <> 'contact' AND sending_at > created_at + interval '1 minute'",
            instance.id.0
        );
        let wait = i64::from(instance.heartbeat_seconds);
        let left = if waits.fetch_one(&mut *self.tx).await? { Some(self.now) } else { held.fetch_one(&mut *self.tx).await? };
        let seconds = left.map_or(0, |left| (wait - (self.now - left).num_seconds()).clamp(0, wait));
        let seconds = seconds.max((silence_ends(due, hears_from, self.now) - self.now).num_seconds());
        let at = self.heartbeat_after(&instance, i32::try_from(seconds).unwrap_or_default());
        if at > self.now {
            let state = instance.progress.state;
            (instance.progress.heartbeat_at, instance.progress.updated_at) = (Some(at), self.now);
            self.write_progress(&instance, state, None).await?;
            return Ok(false);
        }
        self.ask_follow_up(&mut instance).await?;
        Ok(true)
    }
}
