//! The rows of instances and of their messages.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::{query, query_as, query_scalar};

use crate::domain::operator::{Subject, Undelivered};
use crate::domain::relay::{Delivery, Instance, InstanceProgress, RelayMessage};
use crate::domain::{ConversationId, InstanceId, InstanceInput, InstanceState, RelayMessageId, TurnId};
use crate::facts::{DeliveryChanged, InstanceMoved};
use crate::store::{StoreError, Unit, value, word};

/// A row of `relay_instances`.
pub(super) struct InstanceRow {
    pub(super) instance_id: i64,
    pub(super) conversation_id: i64,
    pub(super) key: Option<String>,
    pub(super) channel: String,
    pub(super) contact: String,
    pub(super) objective: String,
    pub(super) time_zone: Option<String>,
    pub(super) heartbeat_seconds: i32,
    pub(super) max_follow_ups: i32,
    pub(super) state: String,
    pub(super) paused_from: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) todos: Value,
    pub(super) follow_ups: i32,
    pub(super) heartbeat_at: Option<DateTime<Utc>>,
    pub(super) delay_seconds: Option<i32>,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
    pub(super) ended_at: Option<DateTime<Utc>>,
}

impl TryFrom<InstanceRow> for Instance {
    type Error = StoreError;

    fn try_from(row: InstanceRow) -> Result<Self, StoreError> {
        let progress = InstanceProgress {
            state: word(&row.state)?,
            paused_from: row.paused_from.as_deref().map(word).transpose()?,
            reason: row.reason,
            todos: value(row.todos)?,
            follow_ups: row.follow_ups,
            heartbeat_at: row.heartbeat_at,
            delay_seconds: row.delay_seconds,
            updated_at: row.updated_at,
            ended_at: row.ended_at,
        };
        Ok(Self {
            id: InstanceId(row.instance_id),
            conversation: ConversationId(row.conversation_id),
            key: row.key,
            channel: row.channel,
            contact: row.contact,
            objective: row.objective,
            time_zone: row.time_zone,
            heartbeat_seconds: row.heartbeat_seconds,
            max_follow_ups: row.max_follow_ups,
            created_at: row.created_at,
            progress,
        })
    }
}

/// A row of `relay_messages`.
pub(in crate::store) struct RelayMessageRow {
    pub(in crate::store) message_id: i64,
    pub(in crate::store) instance_id: Option<i64>,
    pub(in crate::store) conversation_id: Option<i64>,
    pub(in crate::store) channel: String,
    pub(in crate::store) contact: String,
    pub(in crate::store) number: i32,
    pub(in crate::store) said_by: String,
    pub(in crate::store) text: String,
    pub(in crate::store) turn_id: Option<i64>,
    pub(in crate::store) peer_id: Option<String>,
    pub(in crate::store) state: Option<String>,
    pub(in crate::store) first_contact: bool,
    pub(in crate::store) follow_up: bool,
    pub(in crate::store) key: Option<String>,
    pub(in crate::store) reason: Option<String>,
    pub(in crate::store) media: Option<Value>,
    pub(in crate::store) cut: bool,
    pub(in crate::store) sender: Option<String>,
    pub(in crate::store) not_before: Option<DateTime<Utc>>,
    pub(in crate::store) sending_at: Option<DateTime<Utc>>,
    pub(in crate::store) sent_at: Option<DateTime<Utc>>,
    pub(in crate::store) delivered_at: Option<DateTime<Utc>>,
    pub(in crate::store) read_at: Option<DateTime<Utc>>,
    pub(in crate::store) created_at: DateTime<Utc>,
}

impl TryFrom<RelayMessageRow> for RelayMessage {
    type Error = StoreError;

    fn try_from(row: RelayMessageRow) -> Result<Self, StoreError> {
        let delivery = Delivery {
            state: row.state.as_deref().map(word).transpose()?,
            peer_id: row.peer_id,
            reason: row.reason,
            sender: row.sender,
            not_before: row.not_before,
            sending_at: row.sending_at,
            sent_at: row.sent_at,
            delivered_at: row.delivered_at,
            read_at: row.read_at,
        };
        Ok(Self {
            id: RelayMessageId(row.message_id),
            instance: row.instance_id.map(InstanceId),
            conversation: row.conversation_id.map(ConversationId),
            channel: row.channel,
            contact: row.contact,
            number: row.number,
            said_by: word(&row.said_by)?,
            text: row.text,
            turn: row.turn_id.map(TurnId),
            first_contact: row.first_contact,
            follow_up: row.follow_up,
            key: row.key,
            media: row.media.map(value).transpose()?,
            cut: row.cut,
            delivery,
            created_at: row.created_at,
        })
    }
}

impl Unit {
    /// The instance of a conversation, whose contact is held until this transaction ends; `None` if
    /// it has none.
    pub(super) async fn hold_instance_of(&mut self, conversation: ConversationId) -> Result<Option<Instance>, StoreError> {
        let instance = query_scalar!("SELECT hold_contact($1)", conversation.0).fetch_one(&mut *self.tx).await?;
        let Some(instance) = instance else { return Ok(None) };
        let row = query_as!(InstanceRow, "SELECT * FROM relay_instances WHERE instance_id = $1", instance);
        Ok(Some(row.fetch_one(&mut *self.tx).await?.try_into()?))
    }

    /// Writes the changing part of an instance as it is now, and tells of it.
    pub(super) async fn write_progress(
        &mut self,
        instance: &Instance,
        from: InstanceState,
        input: Option<InstanceInput>,
    ) -> Result<(), StoreError> {
        let now = &instance.progress;
        query!(
            "UPDATE relay_instances SET state = $2, paused_from = $3, reason = $4, todos = $5, follow_ups = $6, heartbeat_at = $7,
                 delay_seconds = $8, updated_at = $9, ended_at = $10
             WHERE instance_id = $1",
            instance.id.0,
            now.state.as_str(),
            now.paused_from.map(InstanceState::as_str),
            now.reason,
            json!(now.todos),
            now.follow_ups,
            now.heartbeat_at,
            now.delay_seconds,
            now.updated_at,
            now.ended_at
        )
        .execute(&mut *self.tx)
        .await?;
        self.append(instance.conversation, InstanceMoved { instance: instance.id, from, input, progress: now.clone() }.into())
            .await?;
        if from == now.state { Ok(()) } else { self.queue_webhooks(instance, from).await }
    }

    /// Writes how far a message is, and tells of it. The caller holds its row.
    pub(in crate::store) async fn write_delivery(
        &mut self,
        conversation: ConversationId,
        message: &RelayMessage,
    ) -> Result<(), StoreError> {
        let now = &message.delivery;
        query!(
            "UPDATE relay_messages SET state = $2, peer_id = $3, reason = $4, sender = $5, not_before = $6, sending_at = $7, sent_at = $8,
                 delivered_at = $9, read_at = $10
             WHERE message_id = $1",
            message.id.0,
            now.state.map(|state| state.as_str()),
            now.peer_id,
            now.reason,
            now.sender,
            now.not_before,
            now.sending_at,
            now.sent_at,
            now.delivered_at,
            now.read_at
        )
        .execute(&mut *self.tx)
        .await?;
        // Only the operator's messages are about a task, whose log tells of those that did not
        // arrive; an instance's stand in its transcript.
        let lost = Undelivered::of(Subject::Answer, now.state, None).is_some();
        let turn = message.conversation.and(message.turn).filter(|_| lost);
        let about = turn.and(message.key.as_deref()).map(Subject::of);
        self.append(conversation, DeliveryChanged { message: message.id, delivery: now.clone(), turn, about }.into()).await
    }
}
