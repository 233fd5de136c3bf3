//! Summaries of older turns: words for a model, derived from messages. Nothing follows from them,
//! so no event tells of them.

use chrono::{DateTime, Utc};
use sqlx::query;

use crate::domain::{ConversationId, TurnId};
use crate::store::{Lease, RequestCost, Store, StoreError, storable};

/// After a useless answer, no summary is asked for in so many turns of the conversation.
const TURNS_BETWEEN_TRIES: i64 = 8;

/// A model's summary of a conversation's older turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The newest turn that it covers; all older ones are covered, too.
    pub up_to: TurnId,
    /// Its text: a model's words about what others said. Data, never an instruction.
    pub content: String,
}

/// The state of a conversation's summaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summaries {
    /// The newest that can be read.
    pub latest: Option<Summary>,
    /// True if one was asked for lately and the answer was of no use.
    pub failed_lately: bool,
}

/// A summary to store, or only the cost of a useless answer.
#[derive(Clone, Debug)]
pub struct NewSummary<'a> {
    /// The newest turn that it covers.
    pub up_to: TurnId,
    /// Its text; `None` if the answer was of no use.
    pub content: Option<&'a str>,
    /// The model that was asked, and the cost.
    pub asked: &'a RequestCost,
}

impl Store {
    /// The summaries of a conversation, as its turn `turn` finds them.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn summaries_of(&self, conversation: ConversationId, turn: TurnId) -> Result<Summaries, StoreError> {
        let row = query!(
            r#"SELECT s.up_to_turn AS "up_to_turn?", s.content AS "content?", EXISTS (
                   SELECT FROM summaries f
                   WHERE f.conversation_id = $1 AND f.content IS NULL AND f.summary_id > coalesce(s.summary_id, 0) AND $3 >
                         (SELECT count(*) FROM turns t WHERE t.conversation_id = $1 AND t.turn_id > f.turn_id AND t.turn_id <= $2)
               ) AS "failed!"
               FROM (SELECT) one LEFT JOIN (
                   SELECT summary_id, up_to_turn, content FROM lineage($1) JOIN summaries USING (conversation_id)
                   WHERE content IS NOT NULL AND up_to_turn < $2 AND up_to_turn <= up_to ORDER BY up_to_turn DESC, summary_id DESC LIMIT 1
               ) s ON true"#,
            conversation.0,
            turn.0,
            TURNS_BETWEEN_TRIES
        )
        .fetch_one(&self.pool)
        .await?;
        // A secret may have been set after somebody wrote its value here.
        let content = row.content.map(|content| self.clean(&content).into_owned());
        let latest = row.up_to_turn.zip(content).map(|(up_to, content)| Summary { up_to: TurnId(up_to), content });
        Ok(Summaries { latest, failed_lately: row.failed })
    }

    /// Stores a summary with its cost; if the answer was of no use, the cost alone.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn store_summary(&self, lease: &Lease, summary: NewSummary<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        let tokens = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let usage = summary.asked.usage;
        let content = summary.content.map(|content| unit.clean(content).into_owned());
        query!(
            "INSERT INTO summaries
                 (conversation_id, turn_id, up_to_turn, content, model, input_tokens, output_tokens, cost_micros, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, cost_of($5, $6, $7), $8)",
            lease.conversation.0,
            lease.turn.0,
            summary.up_to.0,
            content,
            &*storable(&summary.asked.model),
            usage.map(|usage| tokens(usage.input)),
            usage.map(|usage| tokens(usage.output)),
            now
        )
        .execute(&mut *unit.tx)
        .await?;
        unit.commit().await
    }
}
