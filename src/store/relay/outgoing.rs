//! The outbox as a sender sees it: which message may go next, the claim of one, and the end of its
//! attempt.

use chrono::{DateTime, TimeDelta, Utc};
use sha2::{Digest, Sha256};
use sqlx::{query, query_as, query_scalar};

use super::rows::{InstanceRow, RelayMessageRow};
use crate::domain::relay::MediaNote;
use crate::domain::relay::{
    DeliveryInput, DeliveryState, HeldBack, Hold, Instance, NextMessage, PastMessage, RelayMessage, SaidBy,
};
use crate::domain::{InstanceId, InstanceState, RelayMessageId};
use crate::failpoint::{self, Point};
use crate::store::{Store, StoreError};

/// A server that has not looked at a channel for so long does not send for it any more.
const LEADS: TimeDelta = TimeDelta::seconds(15);
/// An attempt of a server that has gone is given up after so long: no attempt takes longer.
const ATTEMPT: TimeDelta = TimeDelta::seconds(120);
/// So far back messages count for the pace.
const DAY: TimeDelta = TimeDelta::hours(24);

/// A look at the outbox of a channel.
#[derive(Debug)]
pub enum OutboxLook {
    /// This message may go now.
    Next(Box<RelayMessage>),
    /// The next one may go at this time.
    Later(DateTime<Utc>),
    /// Nothing waits.
    Empty,
}

/// A message that one sender has, for one attempt. Only [`Store::claim_message`] makes one, and it
/// cannot be copied: it is the permit to send.
#[derive(Debug)]
pub struct ClaimedMessage {
    message: RelayMessage,
    peer_id: String,
}

impl ClaimedMessage {
    /// Its number.
    pub fn id(&self) -> RelayMessageId {
        self.message.id
    }

    /// The address it goes to.
    pub fn to(&self) -> &str {
        &self.message.contact
    }

    /// Its words.
    pub fn text(&self) -> &str {
        &self.message.text
    }

    /// The file that goes with it.
    pub fn media(&self) -> Option<&MediaNote> {
        self.message.media.as_ref()
    }

    /// Its id at the peer, the same for each attempt.
    pub fn peer_id(&self) -> &str {
        &self.peer_id
    }
}

/// The end of an attempt to send, and what a peer says of a message later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendEnd {
    /// The peer's server has acknowledged it, under this id.
    Sent(String),
    /// Surely nothing left this machine: it is tried again.
    NotSent(String),
    /// The peer refused it, with its code: it is never tried again.
    Refused(String, String),
    /// Nobody knows.
    Unknown(String),
    /// The contact's device has it.
    Delivered,
    /// The contact has seen it.
    Read,
}

impl SendEnd {
    fn input(&self) -> DeliveryInput {
        match self {
            Self::Sent(_) => DeliveryInput::Acknowledge,
            Self::NotSent(_) => DeliveryInput::Return,
            Self::Refused(..) => DeliveryInput::Refuse,
            Self::Unknown(_) => DeliveryInput::Lose,
            Self::Delivered => DeliveryInput::Deliver,
            Self::Read => DeliveryInput::Read,
        }
    }

    fn reason(&self) -> Option<String> {
        match self {
            Self::NotSent(why) | Self::Unknown(why) => Some(why.clone()),
            Self::Refused(code, why) => Some(format!("{code}: {why}")),
            Self::Sent(_) | Self::Delivered | Self::Read => None,
        }
    }
}

/// The facts about a channel that hold its messages back.
struct ChannelLimits {
    /// The messages that count for its pace.
    past: Vec<PastMessage>,
    /// True if it makes no first contacts.
    is_locked: bool,
}

impl Store {
    /// The id of a message at the peer: 32 hexadecimal digits that nobody outside can guess, the
    /// same whenever it is asked for.
    pub fn peer_id_of(&self, message: RelayMessageId) -> String {
        let key = self.derived_key("messages of relay");
        let hash = Sha256::new().chain_update(key).chain_update(message.0.to_be_bytes()).finalize();
        hash.iter().take(16).map(|byte| format!("{byte:02X}")).collect()
    }

    /// Looks for the next message of a channel that may go. Another server that sends for the
    /// channel goes first, as long as it looks.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn look_at_outbox(&self, channel: &str, sender: &str, now: DateTime<Utc>) -> Result<OutboxLook, StoreError> {
        let waiting = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM relay_messages WHERE channel = $1 AND state IN ('queued', 'sending')) AS "waiting!""#,
            channel
        );
        if !waiting.fetch_one(&self.pool).await? {
            return Ok(OutboxLook::Empty);
        }
        let leads = query_scalar!(
            r#"INSERT INTO relay_channels AS c (name, sender, seen_at) VALUES ($1, $2, $3)
               ON CONFLICT (name) DO UPDATE SET sender = $2, seen_at = $3 WHERE c.sender = $2 OR c.seen_at < $4
               RETURNING TRUE AS "leads!""#,
            channel,
            sender,
            now,
            now - LEADS
        );
        if leads.fetch_optional(&self.pool).await?.is_none() {
            return Ok(OutboxLook::Later(now + LEADS));
        }
        self.give_up_attempts(channel, sender, false, now).await?;
        self.next_of_outbox(channel, now).await
    }

    /// The first message of each contact that waits in the outbox of a channel. It is a first
    /// contact as long as its contact is not known, whatever was tried before. A number that gives
    /// orders by now may have been a contact: an answer of the operator waits for no message of
    /// that time.
    async fn heads_of_outbox(&self, channel: &str) -> Result<Vec<RelayMessage>, StoreError> {
        let heads = query_as!(
            RelayMessageRow,
            "SELECT DISTINCT ON (m.contact) m.* FROM relay_messages m LEFT JOIN relay_instances i USING (instance_id)
             WHERE m.channel = $1 AND m.state = 'queued' AND i.state IS DISTINCT FROM 'PAUSED'
               AND NOT EXISTS (SELECT FROM relay_messages s WHERE s.channel = $1 AND s.contact = m.contact AND s.state = 'sending')
             ORDER BY m.contact, m.instance_id IS NOT NULL, m.message_id",
            channel
        );
        let mut heads =
            heads.fetch_all(&self.pool).await?.into_iter().map(RelayMessage::try_from).collect::<Result<Vec<_>, _>>()?;
        heads.sort_by_key(|message| message.id);
        let known = self.known_contacts(channel, heads.iter().map(|message| message.contact.clone()).collect()).await?;
        for message in &mut heads {
            message.first_contact = message.instance.is_some() && !known.contains(&message.contact);
        }
        Ok(heads)
    }

    /// Those of these contacts to whom a message of ours went, or who wrote themselves.
    async fn known_contacts(&self, channel: &str, contacts: Vec<String>) -> Result<Vec<String>, StoreError> {
        let known = query_scalar!(
            "SELECT DISTINCT i.contact FROM relay_instances i JOIN relay_messages m USING (instance_id)
             WHERE i.channel = $1 AND i.contact = ANY($2) AND (m.said_by = 'contact' OR m.state IN ('sent', 'delivered', 'read'))",
            channel,
            &contacts
        );
        Ok(known.fetch_all(&self.pool).await?)
    }

    /// The limits of a channel as they are now.
    async fn limits_of(&self, channel: &str, now: DateTime<Utc>) -> Result<ChannelLimits, StoreError> {
        let past = self.sent_lately(channel, now).await?;
        let locked = query_scalar!(
            r#"SELECT locked_reason AS "why!" FROM relay_channels WHERE name = $1 AND locked_reason IS NOT NULL"#,
            channel
        );
        Ok(ChannelLimits { past, is_locked: locked.fetch_optional(&self.pool).await?.is_some() })
    }

    /// The first message that may go, among the first of each contact.
    async fn next_of_outbox(&self, channel: &str, now: DateTime<Utc>) -> Result<OutboxLook, StoreError> {
        let heads = self.heads_of_outbox(channel).await?;
        let limits = self.limits_of(channel, now).await?;
        let mut soonest: Option<DateTime<Utc>> = None;
        for message in heads {
            let Some(HeldBack { why, until }) = self.held_back(&message, &limits, now).await? else {
                return Ok(OutboxLook::Next(Box::new(message)));
            };
            tracing::debug!(message = %message.id, ?until, %why, "a message waits");
            soonest = [soonest, until].into_iter().flatten().min();
        }
        Ok(soonest.map_or(OutboxLook::Later(now + ATTEMPT), OutboxLook::Later))
    }

    /// Why a message may not go now, if it is the first of its contact; `limits` are those of its
    /// channel.
    async fn held_back(
        &self,
        message: &RelayMessage,
        limits: &ChannelLimits,
        now: DateTime<Utc>,
    ) -> Result<Option<HeldBack>, StoreError> {
        if limits.is_locked && message.first_contact {
            return Ok(Some(HeldBack { why: Hold::NoFirstContacts, until: None }));
        }
        let held = match message.instance {
            Some(instance) => self.relay.pace.wait(&self.paced(message, instance).await?, &limits.past, now),
            // An answer to the operator's own person: nothing slows it but a time that was named.
            None => message.delivery.not_before.filter(|at| *at > now).map(|at| (at, Hold::Returned)),
        };
        Ok(held.map(|(until, why)| HeldBack { why, until: Some(until) }))
    }

    /// Why no message to a contact leaves now, if one waits: the messages behind the first one wait
    /// for the same reason.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn contact_held_back(
        &self,
        channel: &str,
        contact: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<HeldBack>, StoreError> {
        let heads = self.heads_of_outbox(channel).await?;
        let Some(head) = heads.into_iter().find(|head| head.contact == contact) else { return Ok(None) };
        self.held_back(&head, &self.limits_of(channel, now).await?, now).await
    }

    /// Why the messages of an instance that wait in the outbox do not leave now.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn instance_held_back(&self, instance: &Instance, now: DateTime<Utc>) -> Result<Option<HeldBack>, StoreError> {
        match instance.progress.state {
            InstanceState::Paused => Ok(Some(HeldBack { why: Hold::Paused, until: None })),
            _ => self.contact_held_back(&instance.channel, &instance.contact, now).await,
        }
    }

    /// True if somebody else than the agent has said something in an instance behind a message.
    async fn was_spoken_since(&self, instance: InstanceId, message: RelayMessageId) -> Result<bool, StoreError> {
        let since = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM relay_messages WHERE instance_id = $1 AND message_id > $2 AND said_by <> 'agent') AS "since!""#,
            instance.0,
            message.0
        );
        Ok(since.fetch_one(&self.pool).await?)
    }

    /// A message as the pace looks at it.
    async fn paced(&self, message: &RelayMessage, instance: InstanceId) -> Result<NextMessage, StoreError> {
        let row = query_as!(InstanceRow, "SELECT * FROM relay_instances WHERE instance_id = $1", instance.0);
        let instance = Instance::try_from(row.fetch_one(&self.pool).await?)?;
        // Once the contact has written, or a person as the agent, nothing is disturbed any more by
        // what stands before that.
        let keeps_quiet = message.said_by == SaidBy::Agent
            && (message.first_contact || message.follow_up)
            && !self.was_spoken_since(instance.id, message.id).await?;
        let id = self.peer_id_of(message.id);
        let chance = u16::from_str_radix(&id[..4], 16).map_or(0.5, |drawn| f64::from(drawn) / f64::from(u16::MAX));
        Ok(NextMessage {
            contact: message.contact.clone(),
            first: message.first_contact,
            keeps_quiet,
            zone: instance.zone(self.relay.zone),
            not_before: message.delivery.not_before,
            chance,
        })
    }

    /// The messages of a channel that left within a day, or may have. The first ones to a contact
    /// are those before which the contact was not known.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn sent_lately(&self, channel: &str, now: DateTime<Utc>) -> Result<Vec<PastMessage>, StoreError> {
        let past = query!(
            r#"SELECT sending_at AS "at!", contact, CASE WHEN first_contact THEN NOT EXISTS (
                   SELECT FROM relay_instances i JOIN relay_messages b USING (instance_id)
                   WHERE (i.channel, i.contact) = (m.channel, m.contact) AND b.message_id <> m.message_id
                     AND (b.said_by = 'contact' OR b.state IN ('sent', 'delivered', 'read'))
                     AND coalesce(b.sent_at, b.created_at) <= m.sending_at) ELSE FALSE END AS "first!"
               FROM relay_messages m WHERE channel = $1 AND sending_at > $2"#,
            channel,
            now - DAY
        );
        let past = past.fetch_all(&self.pool).await?.into_iter();
        Ok(past.map(|row| PastMessage { at: row.at, contact: row.contact, first: row.first }).collect())
    }

    /// Takes a message for one attempt; `None` if it is not there to be taken any more.
    ///
    /// # Errors
    /// If the database does not answer. Then the message may be claimed already: it is settled when
    /// this server starts again.
    pub async fn claim_message(
        &self,
        id: RelayMessageId,
        sender: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<ClaimedMessage>, StoreError> {
        let mut unit = self.begin(now).await?;
        let Some((mut message, conversation)) = unit.hold_relay_message(id).await? else { return Ok(None) };
        if message.delivery.state != Some(DeliveryState::Queued) {
            return Ok(None);
        }
        message.delivery.take(DeliveryInput::Claim, now)?;
        message.delivery.sender = Some(sender.to_owned());
        unit.write_delivery(conversation, &message).await?;
        failpoint::hit(Point::MidAttempt).map_err(sqlx::Error::Io)?;
        unit.commit().await?;
        failpoint::hit(Point::AfterIntent).map_err(sqlx::Error::Io)?;
        Ok(Some(ClaimedMessage { peer_id: self.peer_id_of(id), message }))
    }

    /// Records the end of an attempt, or what the peer says of a message later. False if the
    /// message is past that.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn record_delivery(&self, id: RelayMessageId, end: &SendEnd, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let mut unit = self.begin(now).await?;
        let Some((mut message, conversation)) = unit.hold_relay_message(id).await? else { return Ok(false) };
        if message.delivery.take(end.input(), now).is_err() {
            return Ok(false);
        }
        message.delivery.reason = end.reason().map(|reason| unit.clean(&reason).into_owned());
        match end {
            SendEnd::Sent(peer_id) => message.delivery.peer_id = Some(peer_id.clone()),
            SendEnd::NotSent(_) => message.delivery.not_before = Some(now + TimeDelta::seconds(5)),
            SendEnd::Refused(code, why) if code == "463" => {
                query!("UPDATE relay_channels SET locked_reason = $2 WHERE name = $1", message.channel, why)
                    .execute(&mut *unit.tx)
                    .await?;
            }
            SendEnd::Refused(..) | SendEnd::Unknown(_) | SendEnd::Delivered | SendEnd::Read => {}
        }
        if let Some(instance) = message.instance
            && message.delivery.state == Some(DeliveryState::Queued)
            && unit.was_cancelled(instance).await?
        {
            message.delivery.withdraw(now)?;
        }
        unit.write_delivery(conversation, &message).await?;
        failpoint::hit(Point::MidDelivery).map_err(sqlx::Error::Io)?;
        unit.commit().await?;
        Ok(true)
    }

    /// The message that has this id at the peer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn message_at_peer(&self, channel: &str, peer_id: &str) -> Result<Option<RelayMessageId>, StoreError> {
        let lately = query_scalar!(
            "SELECT message_id FROM relay_messages WHERE channel = $1 AND sending_at IS NOT NULL ORDER BY message_id DESC LIMIT 2000",
            channel
        );
        let lately = lately.fetch_all(&self.pool).await?.into_iter().map(RelayMessageId);
        Ok(lately.into_iter().find(|message| self.peer_id_of(*message) == peer_id))
    }

    /// Gives up attempts whose end nobody will tell: those of this server, if it has just
    /// `started`, and those of servers that have gone.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn give_up_attempts(
        &self,
        channel: &str,
        sender: &str,
        started: bool,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let lost = query_scalar!(
            "SELECT message_id FROM relay_messages WHERE channel = $1 AND state = 'sending'
               AND CASE WHEN sender = $2 THEN $3 ELSE sending_at < $4 END ORDER BY message_id",
            channel,
            sender,
            started,
            now - ATTEMPT
        );
        for id in lost.fetch_all(&self.pool).await? {
            let end = SendEnd::Unknown("the server that was sending it ended in the middle".to_owned());
            self.record_delivery(RelayMessageId(id), &end, now).await?;
        }
        Ok(())
    }

    /// Lets first contacts go again after the service of a channel refused one. False if they do
    /// already.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn unlock_channel(&self, channel: &str) -> Result<bool, StoreError> {
        let unlocked =
            query!("UPDATE relay_channels SET locked_reason = NULL WHERE name = $1 AND locked_reason IS NOT NULL", channel);
        let unlocked = unlocked.execute(&self.pool).await?.rows_affected() > 0;
        self.signals.poke_deliveries();
        Ok(unlocked)
    }
}
