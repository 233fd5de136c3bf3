//! Messages on their way in: accepted in one statement, as turns with their input.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::types::Json;
use sqlx::{query, query_as, query_scalar};

use super::standing::{Enquiry, StandingRow};
use crate::domain::{ConversationId, Image, Machine, MessageId, Origin, TurnId, TurnInput, TurnState};
use crate::facts::{Event, EventRecord, TurnQueued, TurnStarted};
use crate::failpoint::{self, Point};
use crate::store::places::{self, Place};
use crate::store::transition::{Done, EventRow, is_refused};
use crate::store::{Lease, NewImage, Store, StoreError, TakenUp, Unit};

/// A message on its way in.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewMessage<'a> {
    /// Its words.
    pub content: &'a str,
    /// The id that the client gave it.
    pub client_id: Option<&'a str>,
    /// True if the running turn is to see it, if one runs.
    pub steer: bool,
    /// Its images.
    pub images: &'a [NewImage],
    /// The names of the profiles whose messages count, and have a limit.
    pub counted: &'a [String],
    /// True if it was spoken, in a call.
    pub spoken: bool,
}

/// The facts about a message besides its words.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageExtras {
    /// Its images, which are kept already.
    pub(super) images: Vec<Image>,
    /// Its former number, in a turn that ended without having seen it.
    pub(super) moved: Option<MessageId>,
}

impl MessageExtras {
    /// A message that brings these images.
    pub(super) fn of<'a>(images: impl IntoIterator<Item = &'a NewImage>) -> Self {
        Self { images: images.into_iter().map(|new| new.image.clone()).collect(), moved: None }
    }
}

/// The event of a message that becomes a turn; the database gives the numbers.
fn queued(content: String, origin: Origin, client_id: Option<&str>, MessageExtras { images, moved }: MessageExtras) -> Value {
    let (turn, message, client_id) = (TurnId(0), MessageId(0), client_id.map(str::to_owned));
    json!(Event::from(TurnQueued { turn, message, client_id, origin, content, moved, images, counted: None }))
}

/// The event of a turn that follows on one of the same origin; the words are clean.
pub(in crate::store) fn queued_next(ended: &Lease, content: String) -> Value {
    queued(content, ended.origin, None, MessageExtras::default())
}

/// The turn that was queued behind one that has ended, if these events say that it was taken up.
pub(in crate::store) fn taken_up(ended: &Lease, records: &[EventRecord]) -> Option<TakenUp> {
    let (turn, fence) = records.iter().find_map(|record| match &record.event {
        Event::TurnStarted(TurnStarted { turn, fence }) => Some((*turn, *fence)),
        _ => None,
    })?;
    Some(TakenUp { lease: Lease { turn, fence, takes: 1, ..ended.clone() }, standing: None })
}

/// An accepted input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The turn that will react to it.
    pub turn: TurnId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// True if the same message was accepted before; nothing new was written.
    pub again: bool,
}

impl Store {
    /// See [`crate::store::Theirs::accept`].
    pub(in crate::store) async fn take_in(
        &self,
        conversation: ConversationId,
        message: NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Accepted, StoreError> {
        self.has_room()?;
        if message.steer
            && let Some(accepted) = self.accept_into_turn(conversation, &message, now).await?
        {
            return Ok(accepted);
        }
        self.accept_if(conversation, message, false, now).await?.ok_or(StoreError::NoConversation(conversation))
    }

    /// See [`crate::store::Theirs::accept_unless_asked`].
    pub(in crate::store) async fn take_in_unless_asked(
        &self,
        conversation: ConversationId,
        message: NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Option<Accepted>, StoreError> {
        self.has_room()?;
        if message.steer {
            return Ok(None);
        }
        self.accept_if(conversation, message, true, now).await
    }

    /// The questions for where the turn of a message stands, by profile: only that of the
    /// conversation's own, which never changes, if it is known here.
    fn questions(&self, conversation: ConversationId, place: &Place) -> BTreeMap<&'static str, Enquiry> {
        let mut reading = place.reading();
        if let Some(profile) = self.users_of.profile_of(conversation) {
            reading.retain(|name, _| **name == *profile);
        }
        reading.into_iter().map(|(profile, wanted)| (profile, self.asked(conversation, wanted))).collect()
    }

    /// One statement: message, images, turn, event; and the turn is taken up if the runner has a
    /// place for it. With `unless_asked`, a waiting question goes first: then `None`.
    async fn accept_if(
        &self,
        conversation: ConversationId,
        message: NewMessage<'_>,
        unless_asked: bool,
        now: DateTime<Utc>,
    ) -> Result<Option<Accepted>, StoreError> {
        let content = self.clean(message.content).into_owned();
        let queued = queued(content, Origin::Message, message.client_id, MessageExtras::of(message.images));
        let (images, bytes): (Vec<_>, Vec<_>) = message.images.iter().map(|new| (&new.image, new.bytes.clone())).unzip();
        let sha256: Vec<_> = images.iter().map(|image| image.sha256.clone()).collect();
        let types: Vec<_> = images.iter().map(|image| image.media_type.as_str().to_owned()).collect();
        let place = self.places.reserve();
        let asked = place.as_ref().map(|place| self.questions(conversation, place)).unwrap_or_default();
        let statement = query!(
            r#"SELECT came AS "came!", turn, sequence, event, profile, stands AS "stands: Json<StandingRow>"
               FROM accept_message($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"#,
            conversation.0,
            queued,
            TurnState::FIRST.as_str(),
            unless_asked,
            &sha256,
            &types,
            &bytes,
            message.counted,
            now,
            place.as_ref().map(Place::owner),
            TurnState::after(TurnInput::Claim).map(TurnState::as_str),
            places::written(&asked)
        );
        let store = self.clone();
        let accepted = self.transition(async move {
            let rows = match statement.fetch_all(&store.pool).await {
                Err(error) if is_refused(&error) => {
                    if let Some(place) = place {
                        place.settle(None);
                    }
                    return Err(error.into());
                }
                rows => rows?,
            };
            let (mut came, mut records, mut taken) = (None, Vec::new(), None);
            for row in rows {
                if let (Some(sequence), Some(event)) = (row.sequence, row.event) {
                    let record = EventRow { sequence, event }.of(conversation, now)?;
                    if let Event::TurnStarted(TurnStarted { turn, fence }) = record.event {
                        let profile = row.profile.unwrap_or_default();
                        let asked = asked.get(profile.as_str());
                        let lease = Lease { turn, conversation, profile, fence, origin: Origin::Message, takes: 1 };
                        // A reading that fails is made again by the worker of the turn, which tells
                        // of it.
                        let standing = asked.zip(row.stands).and_then(|(asked, row)| store.stands(&lease, asked, row.0).ok());
                        taken = Some(TakenUp { lease, standing });
                    }
                    records.push(record);
                }
                came = Some((row.came, row.turn));
            }
            let accepted = match came {
                Some((came, Some(turn))) => Some(Accepted { turn: TurnId(turn), conversation, again: came == "again" }),
                Some((came, None)) if came == "asked" => None,
                _ => {
                    if let Some(place) = place {
                        place.settle(None);
                    }
                    return Err(StoreError::NoConversation(conversation));
                }
            };
            let wakes = taken.is_none();
            let then = place.map(|place| Box::new(move || place.settle(taken)) as Box<dyn FnOnce() + Send>);
            Ok(Done { given: accepted, records, wakes, then })
        });
        let accepted = accepted.await?;
        if accepted.is_some_and(|accepted| !accepted.again) {
            failpoint::hit(Point::AfterAccept).map_err(sqlx::Error::Io)?;
        }
        Ok(accepted)
    }
}

impl Unit {
    /// Locks the conversation's row, which puts its turns in one order.
    pub(in crate::store) async fn hold_conversation(&mut self, conversation: ConversationId) -> Result<(), StoreError> {
        query_scalar!("SELECT conversation_id FROM conversations WHERE conversation_id = $1 FOR UPDATE", conversation.0)
            .fetch_optional(&mut *self.tx)
            .await?
            .ok_or(StoreError::NoConversation(conversation))?;
        Ok(())
    }

    /// The turn of an earlier message with this id, if there was one. The caller holds the
    /// conversation's row lock.
    pub(super) async fn accepted_before(
        &mut self,
        conversation: ConversationId,
        client_id: Option<&str>,
    ) -> Result<Option<Accepted>, StoreError> {
        let Some(client_id) = client_id else { return Ok(None) };
        let known = query_scalar!(
            r#"SELECT turn_id AS "turn_id!" FROM turns WHERE conversation_id = $1 AND client_id = $2
               UNION ALL SELECT turn_id FROM messages WHERE conversation_id = $1 AND client_id = $2
               UNION ALL SELECT turn_id FROM approvals WHERE conversation_id = $1 AND client_id = $2"#,
            conversation.0,
            client_id
        );
        let known = known.fetch_optional(&mut *self.tx).await?;
        Ok(known.map(|turn| Accepted { turn: TurnId(turn), conversation, again: true }))
    }

    /// Queues a turn with its input. The caller holds the conversation's row lock.
    pub(in crate::store) async fn queue_turn(
        &mut self,
        conversation: ConversationId,
        origin: Origin,
        client_id: Option<&str>,
        content: &str,
    ) -> Result<TurnId, StoreError> {
        let message = NewMessage { content, client_id, ..NewMessage::default() };
        self.queue_message(conversation, origin, &message, MessageExtras::default()).await
    }

    /// Queues the turn that follows on one that has just ended in this transaction. It is taken up
    /// at once if the runner has a `place` for it, and no other turn of the conversation waits. The
    /// caller holds the conversation's row lock.
    pub(in crate::store) async fn queue_next(
        &mut self,
        ended: &Lease,
        content: &str,
        place: Option<Place>,
    ) -> Result<(), StoreError> {
        let queued = queued_next(ended, self.clean(content).into_owned());
        let owner = place.as_ref().map(|place| place.owner().to_owned());
        let rows = query_as::<_, (i64, Value)>("SELECT sequence, event FROM queue_turn($1, $2, $3, $4, $5, $6)");
        let rows = rows.bind(ended.conversation.0).bind(queued).bind(TurnState::FIRST.as_str()).bind(self.now);
        let rows = rows.bind(owner).bind(TurnState::after(TurnInput::Claim).map(TurnState::as_str));
        let rows = rows.fetch_all(&mut *self.tx).await?;
        let rows = rows.into_iter().map(|(sequence, event)| EventRow { sequence, event }).collect();
        let taken = taken_up(ended, self.take(rows, ended.conversation)?);
        self.wakes = taken.is_none();
        if let Some(place) = place {
            self.then = Some(Box::new(move |_| place.settle(taken)));
        }
        Ok(())
    }

    /// Queues a turn with any message, whose images are kept already.
    pub(super) async fn queue_message(
        &mut self,
        conversation: ConversationId,
        origin: Origin,
        message: &NewMessage<'_>,
        known: MessageExtras,
    ) -> Result<TurnId, StoreError> {
        let queued = queued(self.clean(message.content).into_owned(), origin, message.client_id, known);
        let rows = query_as!(
            EventRow,
            r#"SELECT sequence AS "sequence!", event AS "event!" FROM queue_turn($1, $2, $3, $4)"#,
            conversation.0,
            queued,
            TurnState::FIRST.as_str(),
            self.now
        )
        .fetch_all(&mut *self.tx)
        .await?;
        match self.take(rows, conversation)? {
            [EventRecord { event: Event::TurnQueued(queued), .. }] => Ok(queued.turn),
            other => Err(StoreError::Unreadable(format!("a turn was queued with these events: {other:?}"))),
        }
    }
}
