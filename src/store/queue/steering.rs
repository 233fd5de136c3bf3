//! A person's words into a running turn. They are part of the turn once they are accepted, and the
//! model sees them from its next step on. No answer ends the turn before that. If the turn ends for
//! another reason, words that no step has seen become a turn of their own.

use serde_json::json;
use sqlx::query;

use super::accepting::{MessageExtras, NewMessage};
use crate::domain::{ConversationId, Machine, MessageId, Origin, TurnId, TurnInput, TurnState};
use crate::facts::{CountedMessage, SteeringShown, TurnSteered};
use crate::failpoint::{self, Point};
use crate::store::{Accepted, Lease, Store, StoreError, Unit, value, word};

impl Store {
    /// Accepts a message into the conversation's turn that has begun and is not over. `None`: there
    /// is none, and the caller accepts the message like any other.
    ///
    /// # Errors
    /// If the database does not answer; then nothing was accepted.
    pub(super) async fn accept_into_turn(
        &self,
        conversation: ConversationId,
        message: &NewMessage<'_>,
        now: chrono::DateTime<chrono::Utc>,
    ) -> Result<Option<Accepted>, StoreError> {
        let mut unit = self.begin(now).await?;
        // The order of locks is the same everywhere: the turn, then the conversation. While the
        // turn is locked, nobody can answer or end it. A turn that carries out an order asks no
        // model, so nobody would see the message there.
        let turn = query!(
            "SELECT turn_id, state FROM turns
             WHERE conversation_id = $1 AND origin <> 'command' AND ended_at IS NULL AND state = ANY($2) AND fence > 0
             ORDER BY turn_id LIMIT 1 FOR UPDATE",
            conversation.0,
            &TurnState::before(TurnInput::Steer)
        )
        .fetch_optional(&mut *unit.tx)
        .await?;
        let Some(turn) = turn else { return Ok(None) };
        unit.hold_conversation(conversation).await?;
        if let Some(known) = unit.accepted_before(conversation, message.client_id).await? {
            unit.let_go().await?;
            return Ok(Some(known));
        }
        let (state, turn) = (word(&turn.state)?, TurnId(turn.turn_id));
        unit.say_into(conversation, turn, state, message).await?;
        unit.commit().await?;
        failpoint::hit(Point::AfterSteer).map_err(sqlx::Error::Io)?;
        Ok(Some(Accepted { turn, conversation, again: false }))
    }

    /// Records that the model sees the turn's waiting messages from this step on.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn show_steering(&self, lease: &Lease, step: i32, now: chrono::DateTime<chrono::Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        let seen = query!(
            "WITH seen AS (
                 UPDATE messages SET from_step = $2 WHERE turn_id = $1 AND steered AND from_step IS NULL RETURNING message_id)
             SELECT message_id FROM seen ORDER BY message_id",
            lease.turn.0,
            step
        )
        .fetch_all(&mut *unit.tx)
        .await?;
        let messages: Vec<_> = seen.into_iter().map(|row| MessageId(row.message_id)).collect();
        if !messages.is_empty() {
            unit.append(lease.conversation, SteeringShown { turn: lease.turn, step, messages }.into()).await?;
        }
        unit.commit().await
    }
}

impl Unit {
    /// Says a message into a turn in this state. The caller holds the turn's row, then the
    /// conversation's.
    pub(super) async fn say_into(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        state: TurnState,
        message: &NewMessage<'_>,
    ) -> Result<(), StoreError> {
        let content = self.clean(message.content).into_owned();
        self.keep_images(message.images).await?;
        let images: Vec<_> = message.images.iter().map(|new| new.image.clone()).collect();
        let row = query!(
            "INSERT INTO messages (conversation_id, turn_id, role, content, steered, client_id, images, created_at)
             VALUES ($1, $2, 'user', $3, TRUE, $4, $5, $6) RETURNING message_id",
            conversation.0,
            turn.0,
            content,
            message.client_id,
            json!(images),
            self.now
        )
        .fetch_one(&mut *self.tx)
        .await?;
        let counted = self.count_message(conversation, message.counted).await?;
        let (message, client_id) = (MessageId(row.message_id), message.client_id.map(str::to_owned));
        let said = TurnSteered { turn, message, client_id, state, content, images, counted };
        self.append(conversation, said.into()).await?;
        Ok(())
    }

    /// Counts a message, if the conversation's profile is one of these.
    async fn count_message(
        &mut self,
        conversation: ConversationId,
        profiles: &[String],
    ) -> Result<Option<CountedMessage>, StoreError> {
        if profiles.is_empty() {
            return Ok(None);
        }
        let counted = sqlx::query_scalar!("SELECT count_message($1, $2, $3)", conversation.0, profiles, self.now);
        counted.fetch_one(&mut *self.tx).await?.map(value).transpose()
    }

    /// True if a message was said into the turn that no step has seen. The caller holds the turn's
    /// row, so that it stays so.
    pub(super) async fn steering_waits(&mut self, turn: TurnId) -> Result<bool, StoreError> {
        let waits = sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT FROM messages WHERE turn_id = $1 AND steered AND from_step IS NULL) AS "waits!""#,
            turn.0
        );
        Ok(waits.fetch_one(&mut *self.tx).await?)
    }

    /// Turns the messages of a turn that no answer has seen into turns of their own. The caller
    /// holds the turn's row, and ends the turn.
    pub(super) async fn move_unseen(&mut self, conversation: ConversationId, turn: TurnId) -> Result<(), StoreError> {
        // A message counts as unseen if the step that saw it never came to an answer.
        let unseen = query!(
            r#"DELETE FROM messages WHERE turn_id = $1 AND steered
                   AND coalesce(from_step, 2147483647) > (SELECT coalesce(max(number), 0) FROM steps WHERE turn_id = $1)
               RETURNING message_id, client_id, content, images"#,
            turn.0
        );
        let mut unseen = unseen.fetch_all(&mut *self.tx).await?;
        unseen.sort_by_key(|row| row.message_id);
        for row in unseen {
            let message = NewMessage { content: &row.content, client_id: row.client_id.as_deref(), ..NewMessage::default() };
            let known = MessageExtras { images: value(row.images)?, moved: Some(MessageId(row.message_id)) };
            self.queue_message(conversation, Origin::Message, &message, known).await?;
        }
        Ok(())
    }
}
