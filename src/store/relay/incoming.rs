//! Messages of contacts on their way in: one transaction makes row, state change, turn and events,
//! and the same message again is nothing new.

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::BoxFuture;
use serde_json::json;
use sqlx::{query, query_as, query_scalar};

use super::rows::{InstanceRow, RelayMessageRow};
use crate::domain::relay::{ContactAddress, Instance, MOST_TEXT_IN, MediaNote, RelayMessage};
use crate::domain::{InstanceId, InstanceInput, InstanceState};
use crate::facts::RelayMessageKept;
use crate::failpoint::{self, Point};
use crate::store::{Store, StoreError};

/// So long a stranger is counted.
const STRANGERS_KEPT: TimeDelta = TimeDelta::days(30);

/// A message of a contact, as a channel brings it.
pub struct NewIncoming<'a> {
    /// The channel.
    pub channel: &'a str,
    /// Its author.
    pub from: &'a ContactAddress,
    /// The peer's id of it.
    pub peer_id: &'a str,
    /// Its words.
    pub text: &'a str,
    /// Keeps the file that came with it. Nobody awaits this for a message that is not taken, so
    /// that a stranger leaves nothing behind. It may take long, so nothing is locked meanwhile.
    pub media: Option<BoxFuture<'a, Result<MediaNote, StoreError>>>,
}

/// The result of a message of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It is in the transcript of this instance.
    Kept(InstanceId),
    /// It was there already.
    Again(InstanceId),
    /// No instance is open for its author: it was counted.
    Stranger,
    /// The operator's own person wrote: an order, a word that decides, or something that was
    /// answered.
    Ordered,
}

impl Store {
    /// Takes a message of a contact. Only after this may the peer hear that we have it.
    ///
    /// # Errors
    /// If the database does not answer; then nothing was taken, and the peer brings it again.
    pub async fn take_from_contact(&self, new: NewIncoming<'_>, now: DateTime<Utc>) -> Result<Came, StoreError> {
        self.has_room()?;
        let NewIncoming { channel, from, peer_id, text, mut media } = new;
        let mut kept_file = None;
        if media.is_some()
            && self.would_take(channel, from, peer_id).await?
            && let Some(keeping) = media.take()
        {
            kept_file = Some(keeping.await?);
        }
        let mut unit = self.begin(now).await?;
        let there = query!("SELECT FROM relay_contacts WHERE channel = $1 AND address = $2 FOR UPDATE", channel, from.as_str());
        if there.fetch_optional(&mut *unit.tx).await?.is_none() {
            drop(unit);
            self.count_stranger(channel, from, now).await?;
            return Ok(Came::Stranger);
        }
        let again = query_scalar!(
            r#"SELECT instance_id AS "instance!" FROM relay_messages
               WHERE channel = $1 AND contact = $2 AND peer_id = $3 AND said_by = 'contact'"#,
            channel,
            from.as_str(),
            peer_id
        );
        if let Some(instance) = again.fetch_optional(&mut *unit.tx).await? {
            return Ok(Came::Again(InstanceId(instance)));
        }
        let open = query_as!(
            InstanceRow,
            "SELECT * FROM relay_instances WHERE channel = $1 AND contact = $2 AND ended_at IS NULL AND state <> 'QUEUED'
               AND paused_from IS DISTINCT FROM 'QUEUED'",
            channel,
            from.as_str()
        );
        let Some(open) = open.fetch_optional(&mut *unit.tx).await? else {
            drop(unit);
            self.count_stranger(channel, from, now).await?;
            return Ok(Came::Stranger);
        };
        let mut instance = Instance::try_from(open)?;
        // The instance was opened after the look above. A death before the commit loses no file:
        // the peer brings the message again.
        if let Some(keeping) = media {
            kept_file = Some(keeping.await?);
        }
        let text = unit.clean(text).into_owned();
        let (kept, cut) = match text.len() {
            length if length > MOST_TEXT_IN => (&text[..text.floor_char_boundary(MOST_TEXT_IN)], true),
            _ => (&*text, false),
        };
        let row = query_as!(
            RelayMessageRow,
            "INSERT INTO relay_messages (instance_id, channel, contact, number, said_by, text, peer_id, media, cut, created_at)
             SELECT $1, $2, $3, coalesce((SELECT max(number) FROM relay_messages WHERE instance_id = $1), 0) + 1, 'contact', $4, $5, $6, $7, $8
             RETURNING *",
            instance.id.0,
            channel,
            from.as_str(),
            kept,
            peer_id,
            kept_file.map(|file| json!(file)),
            cut,
            now
        );
        let message = RelayMessage::try_from(row.fetch_one(&mut *unit.tx).await?)?;
        unit.append(instance.conversation, RelayMessageKept { message }.into()).await?;
        instance.progress.follow_ups = 0;
        match instance.progress.state {
            InstanceState::WaitingForReply => unit.move_instance(&mut instance, InstanceInput::Reply, None).await?,
            state => unit.write_progress(&instance, state, None).await?,
        }
        failpoint::hit(Point::MidIncoming).map_err(sqlx::Error::Io)?;
        unit.commit().await?;
        failpoint::hit(Point::AfterAccept).map_err(sqlx::Error::Io)?;
        Ok(Came::Kept(instance.id))
    }

    /// True if a message of a contact would be taken and is not there yet, by a look that locks
    /// nothing.
    async fn would_take(&self, channel: &str, from: &ContactAddress, peer_id: &str) -> Result<bool, StoreError> {
        let would = query_scalar::<_, bool>(
            "SELECT EXISTS (SELECT FROM relay_instances WHERE channel = $1 AND contact = $2 AND ended_at IS NULL AND state <> 'QUEUED'
                 AND paused_from IS DISTINCT FROM 'QUEUED')
               AND NOT EXISTS (SELECT FROM relay_messages WHERE channel = $1 AND contact = $2 AND peer_id = $3 AND said_by = 'contact')",
        );
        Ok(would.bind(channel).bind(from.as_str()).bind(peer_id).fetch_one(&self.pool).await?)
    }

    /// Counts a stranger's message, and forgets those of long ago. No word of theirs is kept.
    async fn count_stranger(&self, channel: &str, from: &ContactAddress, now: DateTime<Utc>) -> Result<(), StoreError> {
        query!(
            "INSERT INTO relay_strangers AS s (channel, masked, day, messages) VALUES ($1, $2, $3, 1)
             ON CONFLICT (channel, masked, day) DO UPDATE SET messages = s.messages + 1",
            channel,
            from.masked(),
            now.date_naive()
        )
        .execute(&self.pool)
        .await?;
        query!("DELETE FROM relay_strangers WHERE day < $1", (now - STRANGERS_KEPT).date_naive()).execute(&self.pool).await?;
        Ok(())
    }
}
