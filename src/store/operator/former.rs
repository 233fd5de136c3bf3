//! Numbers that may give orders no more, or none by their channel: nothing is done or sent for
//! them.

use chrono::{DateTime, Utc};
use sqlx::{query_as, query_scalar};

use crate::domain::operator::OrderSource;
use crate::domain::relay::DeliveryInput;
use crate::domain::{ConversationId, RelayMessageId, TurnId};
use crate::store::lease::LockedTurn;
use crate::store::queue::turns::TurnEnd;
use crate::store::{Store, StoreError, word};

/// The reason why a task of such a number is over.
const FORMER: &str = "Its number may give orders no more by its channel, so nothing further was done.";
/// The reason why a message to such a number was not sent.
const UNSENT: &str = "its number may give orders no more by its channel";

impl Store {
    /// Ends the tasks of all but these numbers on this channel, and takes what waits for the others
    /// out of the outbox. Gives the ended tasks, oldest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn only_these_order(
        &self,
        channel: &str,
        numbers: &[String],
        now: DateTime<Utc>,
    ) -> Result<Vec<TurnId>, StoreError> {
        self.send_only_to(channel, numbers, now).await?;
        let (mut unit, mut ended) = (self.begin(now).await?, Vec::new());
        let open = query_as::<_, (i64, i64, String, String)>(
            "SELECT turn_id, conversation_id, state, client_id FROM turns
             WHERE ended_at IS NULL AND starts_with(client_id, 'operator/') ORDER BY turn_id FOR UPDATE",
        );
        for (turn, conversation, state, client_id) in open.fetch_all(&mut *unit.tx).await? {
            let may = |source: &OrderSource| source.channel == channel && numbers.contains(&source.address);
            if OrderSource::of(&client_id).is_none_or(|source| may(&source)) {
                continue;
            }
            let held = LockedTurn { conversation: ConversationId(conversation), turn: TurnId(turn), state: word(&state)? };
            unit.end_turn(held, TurnEnd::Revoked(FORMER)).await?;
            ended.push(TurnId(turn));
        }
        unit.commit().await?;
        Ok(ended)
    }

    async fn send_only_to(&self, channel: &str, numbers: &[String], now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        let waiting = query_scalar::<_, i64>(
            "SELECT message_id FROM relay_messages
             WHERE conversation_id IS NOT NULL AND state = 'queued' AND (channel <> $1 OR contact <> ALL($2)) ORDER BY message_id FOR UPDATE",
        );
        for id in waiting.bind(channel).bind(numbers).fetch_all(&mut *unit.tx).await? {
            let Some((mut message, conversation)) = unit.hold_relay_message(RelayMessageId(id)).await? else { continue };
            message.delivery.take(DeliveryInput::Withdraw, now)?;
            message.delivery.reason = Some(UNSENT.to_owned());
            unit.write_delivery(conversation, &message).await?;
        }
        unit.commit().await
    }
}
