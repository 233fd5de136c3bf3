//! The tasks of the operator as a person reads them: its turns, with the words of the document for
//! their states.

use chrono::{DateTime, Utc};
use sqlx::{query, query_as, query_scalar};

use crate::domain::operator::{OperatorTaskState, OrderSource, Subject, Undelivered, with_note};
use crate::domain::{ApprovalId, ConversationId, TurnId, TurnState};
use crate::store::{Store, StoreError, word};

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorTask {
    /// Its number, which is that of its turn.
    pub turn: TurnId,
    /// Its state.
    pub state: OperatorTaskState,
    /// The order.
    pub goal: String,
    /// Its source; `None`: the page.
    pub source: Option<OrderSource>,
    /// The question that waits.
    pub approval: Option<ApprovalId>,
    /// Why it was aborted.
    pub reason: Option<String>,
    /// The answer with its note, if it is over.
    pub answer: Option<String>,
    /// The answer says that something was done, and nothing recorded in the task shows it.
    pub unproven: bool,
    /// Its messages that did not arrive or of which nobody knows, oldest first. A question that is
    /// over is none of them.
    pub undelivered: Vec<Undelivered>,
    /// When it came.
    pub created_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
}

impl Store {
    /// The newest tasks first, at most so many: the turns that somebody ordered.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn operator_tasks(&self, conversation: ConversationId, limit: i64) -> Result<Vec<OperatorTask>, StoreError> {
        let rows = query!(
            r#"SELECT turn_id, state, client_id, reason, created_at, ended_at,
                      coalesce((SELECT content FROM messages m WHERE m.turn_id = t.turn_id AND role = 'user' ORDER BY message_id LIMIT 1), '') AS "goal!",
                      (SELECT content FROM messages m WHERE m.turn_id = t.turn_id AND role = 'assistant' AND t.ended_at IS NOT NULL
                       ORDER BY message_id DESC LIMIT 1) AS answer,
                      (SELECT note FROM steps s WHERE s.turn_id = t.turn_id AND s.note IS NOT NULL LIMIT 1) AS note,
                      (SELECT approval_id FROM approvals a WHERE a.turn_id = t.turn_id AND a.state = 'pending' LIMIT 1) AS approval
               FROM turns t WHERE conversation_id = $1 AND origin = 'message' ORDER BY turn_id DESC LIMIT $2"#,
            conversation.0,
            limit
        );
        let rows = rows.fetch_all(&self.pool).await?;
        let oldest = rows.iter().map(|row| row.turn_id).min().unwrap_or_default();
        let undelivered = self.undelivered_since(conversation, oldest).await?;
        let unproven = self.unproven_since(conversation, oldest).await?;
        let mut tasks = Vec::new();
        for row in rows {
            let state: TurnState = word(&row.state)?;
            let of_it = undelivered.iter().filter(|(turn, _)| *turn == row.turn_id);
            let undelivered = of_it.map(|(_, message)| message.clone()).collect();
            tasks.push(OperatorTask {
                turn: TurnId(row.turn_id),
                state: state.into(),
                goal: row.goal,
                source: row.client_id.as_deref().and_then(OrderSource::of),
                approval: row.approval.map(ApprovalId),
                reason: row.reason,
                answer: row.answer.map(|answer| with_note(&answer, row.note.as_deref()).into_owned()),
                unproven: unproven.contains(&row.turn_id),
                undelivered,
                created_at: row.created_at,
                ended_at: row.ended_at,
            });
        }
        Ok(tasks)
    }

    /// The turns from `oldest` on that were answered with words that nothing recorded shows.
    async fn unproven_since(&self, conversation: ConversationId, oldest: i64) -> Result<Vec<i64>, StoreError> {
        let turns = query_scalar::<_, i64>(
            "SELECT turn_id FROM turns t
             WHERE conversation_id = $1 AND turn_id >= $2 AND state = $3
               AND (SELECT s.unproven FROM messages m LEFT JOIN steps s USING (step_id)
                    WHERE m.turn_id = t.turn_id AND m.role = 'assistant' ORDER BY m.message_id DESC LIMIT 1)",
        );
        Ok(turns.bind(conversation.0).bind(oldest).bind(TurnState::Completed.as_str()).fetch_all(&self.pool).await?)
    }

    /// The messages about a turn from `oldest` on that did not arrive or of which nobody knows,
    /// each with its turn.
    async fn undelivered_since(&self, conversation: ConversationId, oldest: i64) -> Result<Vec<(i64, Undelivered)>, StoreError> {
        // An earlier question of a task says nothing any more; the one that waits is the newest.
        let rows = query_as::<_, (i64, String, String, Option<String>)>(
            "SELECT r.turn_id, r.key, r.state, r.reason FROM relay_messages r
             WHERE r.conversation_id = $1 AND r.turn_id >= $2 AND r.state IN ('failed', 'unknown')
               AND (NOT starts_with(r.key, 'ask-')
                    OR EXISTS (SELECT FROM approvals a WHERE r.key = 'ask-' || a.approval_id AND a.state = 'pending'))
             ORDER BY r.message_id",
        );
        let mut undelivered = Vec::new();
        for (turn, key, state, reason) in rows.bind(conversation.0).bind(oldest).fetch_all(&self.pool).await? {
            undelivered.extend(Undelivered::of(Subject::of(&key), Some(word(&state)?), reason).map(|message| (turn, message)));
        }
        Ok(undelivered)
    }

    /// How many tasks that are not over stand before this one.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn tasks_before(&self, conversation: ConversationId, turn: TurnId) -> Result<i64, StoreError> {
        let before = query_scalar!(
            r#"SELECT count(*) AS "before!" FROM turns WHERE conversation_id = $1 AND turn_id < $2 AND ended_at IS NULL"#,
            conversation.0,
            turn.0
        );
        Ok(before.fetch_one(&self.pool).await?)
    }

    /// True if a call of the turn was carried out: the law allowed it, whatever came of it.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn has_carried_out(&self, turn: TurnId) -> Result<bool, StoreError> {
        // A call that began before a crash, and was refused after it, is in the ledger alone.
        let carried = query_scalar::<_, bool>(
            "SELECT EXISTS (SELECT FROM audit_entries WHERE turn_id = $1 AND verdict <> 'deny')
                 OR EXISTS (SELECT FROM tool_calls c JOIN operations USING (tool_call_id) WHERE c.turn_id = $1)",
        );
        Ok(carried.bind(turn.0).fetch_one(&self.pool).await?)
    }

    /// How many seconds a turn has worked each time it was taken up before, to its question or to
    /// the last sign of work. Its waiting counts nowhere, nor does the time that the program was
    /// down.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn worked_before(&self, turn: TurnId) -> Result<i64, StoreError> {
        // Only the one who holds the turn records events of these kinds, but for the end of a call
        // that a person declines: that comes after the question.
        let worked = query_scalar::<_, i64>(
            "SELECT coalesce(sum(greatest(extract(epoch FROM until - since), 0)), 0)::bigint FROM (
                 SELECT min(created_at) FILTER (WHERE kind = 'turn_started') AS since,
                        coalesce(max(created_at) FILTER (WHERE kind = 'approval_requested'), max(created_at)) AS until
                 FROM (SELECT e.kind, e.created_at, count(*) FILTER (WHERE e.kind = 'turn_started') OVER (ORDER BY e.sequence) AS segment
                       FROM events e JOIN turns t USING (conversation_id)
                       WHERE t.turn_id = $1 AND e.payload ->> 'turn' = $1::text
                         AND e.sequence >= (SELECT min(s.sequence) FROM events s
                                            WHERE s.conversation_id = t.conversation_id AND s.kind = 'turn_started'
                                              AND s.payload ->> 'turn' = $1::text)
                         AND e.kind IN ('turn_started', 'steering_shown', 'step_answered', 'answer_broken_off', 'tool_call_proposed',
                                        'proposal_classified', 'operation_recorded', 'tool_call_ended', 'approval_requested')) work
                 GROUP BY segment) segments",
        );
        Ok(worked.bind(turn.0).fetch_one(&self.pool).await?)
    }
}
