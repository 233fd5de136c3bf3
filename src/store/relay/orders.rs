//! The orders of a person about instances: make, pause, resume, cancel, say something as the agent,
//! and settle what nobody knows.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use sqlx::{query, query_as, query_scalar};

use super::RelayError;
use super::rows::{InstanceRow, RelayMessageRow};
use crate::domain::relay::{
    CONTACT_PROFILE, ContactAddress, DeliveryInput, DeliveryState, Instance, InstanceProgress, RelayMessage, RelayTodo,
    RelayTodoStatus, SaidBy, TurnWords,
};
use crate::domain::{ConversationId, InstanceId, InstanceInput, InstanceState, Origin, RelayMessageId, TurnId};
use crate::facts::{InstanceMade, InstanceMoved, RelayMessageKept};
use crate::failpoint::{self, Point};
use crate::store::{Store, StoreError, Unit};

/// The reason, if the contact of an instance gives orders by now.
const GIVES_ORDERS: &str = "its contact gives orders to the operator now, so an answer would be an order";

/// An instance that is ordered.
#[derive(Clone, Debug)]
pub struct NewInstance {
    /// The channel.
    pub channel: String,
    /// The contact.
    pub contact: ContactAddress,
    /// The aim.
    pub objective: String,
    /// The to-dos, in their order.
    pub todos: Vec<String>,
    /// How long the contact may be silent before a follow-up, in seconds.
    pub heartbeat_seconds: i32,
    /// The most follow-ups in a row.
    pub max_follow_ups: i32,
    /// The contact's time zone.
    pub time_zone: Option<Tz>,
    /// The orderer's own id: the same one again is the same instance.
    pub key: Option<String>,
}

/// A message of ours on its way into the outbox.
pub(super) struct NewOutgoing<'a> {
    pub(super) said_by: SaidBy,
    pub(super) text: &'a str,
    pub(super) turn: Option<TurnId>,
    pub(super) follow_up: bool,
    pub(super) key: Option<&'a str>,
}

impl Store {
    /// Makes an instance. It begins at once if the contact has no open one, and else waits. True
    /// beside it if its key was known.
    ///
    /// # Errors
    /// [`RelayError::Refused`] if the contact gives orders to the operator, or if the database does
    /// not answer; then nothing was made.
    pub async fn make_instance(&self, new: NewInstance, now: DateTime<Utc>) -> Result<(Instance, bool), RelayError> {
        self.has_room()?;
        let mut unit = self.begin(now).await?;
        unit.hold_address(&new.channel, new.contact.as_str()).await?;
        if let Some(key) = &new.key {
            // Two orders of the same key may be about different contacts.
            query!(r#"SELECT pg_advisory_xact_lock(hashtextextended($1, 51))::text AS "locked""#, key)
                .fetch_one(&mut *unit.tx)
                .await?;
            let known = query_as!(InstanceRow, "SELECT * FROM relay_instances WHERE key = $1", key);
            if let Some(known) = known.fetch_optional(&mut *unit.tx).await? {
                return Ok((known.try_into()?, true));
            }
        }
        if self.relay.orders_from.iter().any(|(channel, from)| (channel, from) == (&new.channel, &new.contact)) {
            return Err(RelayError::Refused(format!(
                "{} gives orders to the operator on {}, so its answers would be orders and none to an agent; name another contact",
                new.contact, new.channel
            )));
        }
        let conversation = query_scalar!(
            "INSERT INTO conversations (user_id, profile, created_at) VALUES (1, $1, $2) RETURNING conversation_id",
            CONTACT_PROFILE,
            now
        );
        let conversation = ConversationId(conversation.fetch_one(&mut *unit.tx).await?);
        let busy = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM relay_instances WHERE channel = $1 AND contact = $2 AND ended_at IS NULL
                 AND paused_from IS DISTINCT FROM 'QUEUED') AS "busy!""#,
            new.channel,
            new.contact.as_str()
        );
        let busy = busy.fetch_one(&mut *unit.tx).await?;
        let instance = unit.insert_instance(conversation, new, busy).await?;
        if !busy {
            unit.queue_turn(conversation, Origin::Message, None, &TurnWords::Begin.text()).await?;
        }
        unit.commit().await?;
        failpoint::hit(Point::AfterAccept).map_err(StoreError::broken)?;
        Ok((instance, false))
    }

    /// Lets an instance rest.
    ///
    /// # Errors
    /// [`RelayError`] says why not.
    pub async fn pause_instance(&self, id: InstanceId, now: DateTime<Utc>) -> Result<Instance, RelayError> {
        self.order_instance(id, now, |state| match state {
            InstanceState::NeedsHumanIntervention => {
                Err(format!("instance {id} waits for a person already and cannot be paused; resume or cancel it"))
            }
            _ => Ok((InstanceInput::Pause, None)),
        })
        .await
    }

    /// Lets an instance go on, after a pause or where it waits for a person.
    ///
    /// # Errors
    /// [`RelayError`] says why not.
    pub async fn resume_instance(&self, id: InstanceId, now: DateTime<Utc>) -> Result<Instance, RelayError> {
        let mut unit = self.begin(now).await?;
        let mut instance = unit.held(id).await?;
        let state = instance.progress.state;
        let input = match state {
            InstanceState::NeedsHumanIntervention => Some(InstanceInput::Wake),
            InstanceState::Paused => instance.progress.paused_from.and_then(InstanceState::resumed_by),
            _ => None,
        };
        let Some(input) = input else {
            return Err(RelayError::Refused(format!(
                "instance {id} is {state}; only one that is PAUSED or in NEEDS_HUMAN_INTERVENTION can be resumed"
            )));
        };
        unit.move_instance(&mut instance, input, None).await?;
        unit.commit().await?;
        Ok(instance)
    }

    /// Ends an instance without a word to the contact.
    ///
    /// # Errors
    /// [`RelayError`] says why not.
    pub async fn cancel_instance(&self, id: InstanceId, now: DateTime<Utc>) -> Result<Instance, RelayError> {
        self.order_instance(id, now, |_| Ok((InstanceInput::Cancel, Some("cancelled")))).await
    }

    /// Ends the open instances whose contacts give orders by now: an answer would be an order. No
    /// other instance begins in their place. Gives their numbers.
    ///
    /// # Errors
    /// If the database does not answer; those that were ended until then stay so.
    pub async fn end_with_those_who_order(&self, now: DateTime<Utc>) -> Result<Vec<InstanceId>, StoreError> {
        let (channels, contacts): (Vec<_>, Vec<_>) =
            self.relay.orders_from.iter().map(|(channel, from)| (channel.clone(), from.to_string())).unzip();
        // The place of a contact becomes free only when nobody waits for it any more.
        let open = query_scalar::<_, i64>(
            "SELECT instance_id FROM relay_instances JOIN unnest($1::text[], $2::text[]) AS o (channel, contact) USING (channel, contact)
             WHERE ended_at IS NULL ORDER BY state = 'QUEUED' DESC, instance_id",
        );
        let mut ended = Vec::new();
        for id in open.bind(channels).bind(contacts).fetch_all(&self.pool).await?.into_iter().map(InstanceId) {
            match self.order_instance(id, now, |_| Ok((InstanceInput::Cancel, Some(GIVES_ORDERS)))).await {
                Ok(_) => ended.push(id),
                Err(RelayError::Store(error)) => return Err(error),
                // Another server ended it meanwhile.
                Err(RelayError::Refused(_) | RelayError::Unknown(..) | RelayError::NoMessage(..)) => {}
            }
        }
        Ok(ended)
    }

    /// Gives an instance the input that its state asks for; its turns are held, since the input may
    /// stop them.
    async fn order_instance(
        &self,
        id: InstanceId,
        now: DateTime<Utc>,
        input: impl FnOnce(InstanceState) -> Result<(InstanceInput, Option<&'static str>), String>,
    ) -> Result<Instance, RelayError> {
        let mut unit = self.begin(now).await?;
        let mut instance = unit.held(id).await?;
        if instance.is_over() {
            return Err(RelayError::Refused(format!(
                "instance {id} is {}, and nothing changes it any more",
                instance.progress.state
            )));
        }
        let (input, reason) = input(instance.progress.state).map_err(RelayError::Refused)?;
        // A second pause says nothing new.
        if (instance.progress.state, input) != (InstanceState::Paused, InstanceInput::Pause) {
            unit.move_instance(&mut instance, input, reason).await?;
        }
        unit.commit().await?;
        Ok(instance)
    }

    /// Says something to the contact as the agent. `key` makes it one message however often it is
    /// asked for.
    ///
    /// # Errors
    /// [`RelayError`] says why not.
    pub async fn say_as_agent(
        &self,
        id: InstanceId,
        text: &str,
        key: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<(RelayMessage, Instance), RelayError> {
        self.has_room()?;
        let mut unit = self.begin(now).await?;
        let mut instance = unit.held(id).await?;
        let state = instance.progress.state;
        if let Some(key) = key
            && let Some(known) = unit.said_before(id, key).await?
        {
            return Ok((known, instance));
        }
        if instance.is_over() || [InstanceState::Paused, InstanceState::Queued].contains(&state) {
            let then = match state {
                InstanceState::Paused => "; resume it first",
                InstanceState::Queued => ": another instance has the contact",
                _ => ", and nothing is said in it any more",
            };
            return Err(RelayError::Refused(format!("instance {id} is {state}{then}")));
        }
        let new = NewOutgoing { said_by: SaidBy::Operator, text, turn: None, follow_up: false, key };
        let message = unit.put_out(&instance, new).await?;
        match state {
            InstanceState::Created => unit.move_instance(&mut instance, InstanceInput::Open, None).await?,
            InstanceState::NeedsHumanIntervention => unit.move_instance(&mut instance, InstanceInput::Wake, None).await?,
            _ => {}
        }
        unit.commit().await?;
        Ok((message, instance))
    }

    /// Has a message sent once more of which nobody knows whether it arrived; it keeps its id at
    /// the peer.
    ///
    /// # Errors
    /// [`RelayError`] says why not.
    pub async fn resend_message(&self, id: RelayMessageId, now: DateTime<Utc>) -> Result<RelayMessage, RelayError> {
        self.settle_unknown(id, DeliveryInput::Resend, None, now).await
    }

    /// Says of a message of which nobody knows whether it arrived, that it did, or that it did not.
    ///
    /// # Errors
    /// [`RelayError`] says why not.
    pub async fn settle_message(&self, id: RelayMessageId, sent: bool, now: DateTime<Utc>) -> Result<RelayMessage, RelayError> {
        let input = if sent { DeliveryInput::Acknowledge } else { DeliveryInput::Refuse };
        self.settle_unknown(
            id,
            input,
            Some(if sent { "a person says that it arrived" } else { "a person says that it is lost" }),
            now,
        )
        .await
    }

    async fn settle_unknown(
        &self,
        id: RelayMessageId,
        input: DeliveryInput,
        reason: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<RelayMessage, RelayError> {
        let mut unit = self.begin(now).await?;
        let Some((mut message, conversation)) = unit.hold_relay_message(id).await? else {
            let nearest =
                query_scalar!("SELECT message_id FROM relay_messages ORDER BY abs(message_id - $1), message_id LIMIT 1", id.0);
            return Err(RelayError::NoMessage(id, nearest.fetch_optional(&mut *unit.tx).await?));
        };
        if message.delivery.state != Some(DeliveryState::Unknown) {
            let state = message.delivery.state.map_or_else(|| "the contact's".to_owned(), |state| state.to_string());
            return Err(RelayError::Refused(format!(
                "message {id} is {state}; only one that is unknown can be sent again or settled"
            )));
        }
        message.delivery.take(input, now)?;
        message.delivery.reason = reason.map(str::to_owned);
        unit.write_delivery(conversation, &message).await?;
        unit.commit().await?;
        Ok(message)
    }
}

impl Unit {
    /// Holds a contact's row, made if there is none.
    pub(super) async fn hold_address(&mut self, channel: &str, address: &str) -> Result<(), StoreError> {
        query!("INSERT INTO relay_contacts (channel, address) VALUES ($1, $2) ON CONFLICT DO NOTHING", channel, address)
            .execute(&mut *self.tx)
            .await?;
        query!("SELECT FROM relay_contacts WHERE channel = $1 AND address = $2 FOR UPDATE", channel, address)
            .fetch_one(&mut *self.tx)
            .await?;
        Ok(())
    }

    /// An instance, with its turns and its contact held.
    async fn held(&mut self, id: InstanceId) -> Result<Instance, RelayError> {
        let conversation = query_scalar!("SELECT conversation_id FROM relay_instances WHERE instance_id = $1", id.0);
        let Some(conversation) = conversation.fetch_optional(&mut *self.tx).await? else {
            let nearest = query_scalar!(
                "SELECT instance_id FROM relay_instances ORDER BY abs(instance_id - $1), instance_id LIMIT 1",
                id.0
            );
            return Err(RelayError::Unknown(id, nearest.fetch_optional(&mut *self.tx).await?));
        };
        query!("SELECT FROM turns WHERE conversation_id = $1 AND ended_at IS NULL ORDER BY turn_id FOR UPDATE", conversation)
            .fetch_all(&mut *self.tx)
            .await?;
        let instance = self.hold_instance_of(ConversationId(conversation)).await?;
        let instance = instance.ok_or(RelayError::Unknown(id, None))?;
        // A sender holds a message before the conversation: so does an order that may take messages
        // away.
        self.queued_messages(id).await?;
        Ok(instance)
    }

    /// A message of ours, whose row is held, and its conversation.
    pub(in crate::store) async fn hold_relay_message(
        &mut self,
        id: RelayMessageId,
    ) -> Result<Option<(RelayMessage, ConversationId)>, StoreError> {
        let row = query_as!(RelayMessageRow, "SELECT * FROM relay_messages WHERE message_id = $1 FOR UPDATE", id.0);
        let Some(row) = row.fetch_optional(&mut *self.tx).await? else { return Ok(None) };
        let message = RelayMessage::try_from(row)?;
        let conversation = query_scalar!(
            r#"SELECT coalesce($2, (SELECT conversation_id FROM relay_instances WHERE instance_id = $1)) AS "conversation!""#,
            message.instance.map(|instance| instance.0),
            message.conversation.map(|conversation| conversation.0)
        );
        Ok(Some((message, ConversationId(conversation.fetch_one(&mut *self.tx).await?))))
    }

    /// True if an instance was cancelled: no message of it leaves any more.
    pub(in crate::store) async fn was_cancelled(&mut self, instance: InstanceId) -> Result<bool, StoreError> {
        let cancelled = query_scalar::<_, bool>("SELECT state = $2 FROM relay_instances WHERE instance_id = $1");
        let cancelled = cancelled.bind(instance.0).bind(InstanceState::Failed.as_str());
        Ok(cancelled.fetch_one(&mut *self.tx).await?)
    }

    /// A new instance; if its contact is `busy`, it waits from the first moment on: no two have the
    /// contact's place even for an instant.
    async fn insert_instance(
        &mut self,
        conversation: ConversationId,
        new: NewInstance,
        busy: bool,
    ) -> Result<Instance, StoreError> {
        let todo =
            |(id, text): (i64, &String)| RelayTodo { id, text: self.clean(text).into_owned(), status: RelayTodoStatus::Pending };
        let todos = (1..).zip(&new.todos).map(todo).collect();
        let objective = self.clean(&new.objective).into_owned();
        let time_zone = new.time_zone.map(|zone| zone.name().to_owned());
        let made = InstanceProgress::new(InstanceState::Created, todos, self.now);
        let mut progress = made.clone();
        if busy {
            progress.take(InstanceInput::Queue, self.now)?;
        }
        let id = query_scalar!(
            "INSERT INTO relay_instances (conversation_id, key, channel, contact, objective, time_zone, heartbeat_seconds, max_follow_ups,
                 state, todos, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) RETURNING instance_id",
            conversation.0,
            new.key,
            new.channel,
            new.contact.as_str(),
            objective,
            time_zone,
            new.heartbeat_seconds,
            new.max_follow_ups,
            progress.state.as_str(),
            serde_json::json!(progress.todos),
            self.now
        );
        let id = InstanceId(id.fetch_one(&mut *self.tx).await?);
        let NewInstance { channel, contact, heartbeat_seconds, max_follow_ups, key, .. } = new;
        let (contact, created_at) = (contact.to_string(), self.now);
        let mut instance = Instance {
            id,
            conversation,
            key,
            channel,
            contact,
            objective,
            time_zone,
            heartbeat_seconds,
            max_follow_ups,
            created_at,
            progress: made,
        };
        self.append(conversation, InstanceMade { instance: instance.clone() }.into()).await?;
        if busy {
            instance.progress = progress.clone();
            let (from, input) = (InstanceState::Created, Some(InstanceInput::Queue));
            self.append(conversation, InstanceMoved { instance: id, from, input, progress }.into()).await?;
        }
        Ok(instance)
    }

    /// The operator's message of this key, if there is one.
    async fn said_before(&mut self, id: InstanceId, key: &str) -> Result<Option<RelayMessage>, StoreError> {
        let row = query_as!(RelayMessageRow, "SELECT * FROM relay_messages WHERE instance_id = $1 AND key = $2", id.0, key);
        row.fetch_optional(&mut *self.tx).await?.map(RelayMessage::try_from).transpose()
    }

    /// Puts a message of ours into the outbox. The caller holds the contact.
    pub(super) async fn put_out(&mut self, instance: &Instance, new: NewOutgoing<'_>) -> Result<RelayMessage, StoreError> {
        let text = self.clean(new.text).into_owned();
        let row = query_as!(
            RelayMessageRow,
            "INSERT INTO relay_messages (instance_id, channel, contact, number, said_by, text, turn_id, state, first_contact, follow_up,
                 key, created_at)
             SELECT $1, $2, $3, coalesce((SELECT max(number) FROM relay_messages WHERE instance_id = $1), 0) + 1, $4, $5, $6, $7,
                 NOT EXISTS (SELECT FROM relay_instances i JOIN relay_messages m USING (instance_id) WHERE i.channel = $2 AND i.contact = $3
                     AND (m.said_by = 'contact' OR m.state IN ('sent', 'delivered', 'read'))), $8, $9, $10
             RETURNING *",
            instance.id.0,
            instance.channel,
            instance.contact,
            new.said_by.as_str(),
            text,
            new.turn.map(|turn| turn.0),
            DeliveryState::Queued.as_str(),
            new.follow_up,
            new.key,
            self.now
        );
        let message = RelayMessage::try_from(row.fetch_one(&mut *self.tx).await?)?;
        self.append(instance.conversation, RelayMessageKept { message: message.clone() }.into()).await?;
        failpoint::hit(Point::MidOutgoing).map_err(sqlx::Error::Io)?;
        Ok(message)
    }
}
