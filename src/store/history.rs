//! What a model is shown of a conversation.

use chrono::{DateTime, Utc};
use sqlx::query;

use super::{Store, StoreError, word};
use crate::domain::{CallRequest, ConversationId, Role, TurnId, TurnState};

/// One turn of the past, or the running one: its messages in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The turn.
    pub turn: TurnId,
    /// Where it stands.
    pub state: TurnState,
    /// Why it ended, where it did not simply complete.
    pub reason: Option<String>,
    /// Its messages, oldest first.
    pub entries: Vec<HistoryEntry>,
    /// Which of them are answers that claim something nothing recorded in the turn shows, by their place, in order.
    pub unproven: Vec<usize>,
}

/// One message, as far as a model needs it.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryEntry {
    /// The input, and when it came.
    User(String, DateTime<Utc>),
    /// An answer, and the tools it asked for.
    Assistant(String, Vec<CallRequest>),
    /// A tool call's result, under the model's own id of the call.
    Tool(String, String),
}

impl Store {
    /// The last `limit` messages of the conversation before `turn`, grouped by turn, and all of `turn` itself.
    /// A turn of which only a part fits is left out: half of one would show calls without results.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn history(&self, conversation: ConversationId, turn: TurnId, limit: usize) -> Result<Vec<Exchange>, StoreError> {
        // One more than asked for: the oldest row tells whether its turn is whole.
        let rows = query!(
            r#"SELECT m.turn_id AS "turn_id!", t.state, t.reason, m.role AS "role!", m.content AS "content!", m.created_at AS "created_at!", m.step_id, c.request_id AS "request_id?",
                      coalesce(s.unproven, FALSE) AS "unproven!"
             FROM (
                 (SELECT * FROM messages WHERE conversation_id = $1 AND turn_id < $2 ORDER BY message_id DESC LIMIT $3)
                 UNION ALL
                 (SELECT * FROM messages WHERE turn_id = $2)
             ) m
             JOIN turns t USING (turn_id) LEFT JOIN tool_calls c USING (tool_call_id) LEFT JOIN steps s ON s.step_id = m.step_id
             ORDER BY m.turn_id, m.message_id"#,
            conversation.0,
            turn.0,
            i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX)
        )
        .fetch_all(&self.pool)
        .await?;
        let calls = self.calls_of_steps(&rows.iter().filter_map(|row| row.step_id).collect::<Vec<_>>()).await?;
        let earlier = rows.iter().filter(|row| row.turn_id != turn.0).count();
        let partial = (earlier > limit).then(|| rows[0].turn_id);
        let mut exchanges: Vec<Exchange> = Vec::new();
        for row in rows.into_iter().filter(|row| Some(row.turn_id) != partial) {
            // A secret may have been set after somebody had written its value here.
            let content = self.clean(&row.content).into_owned();
            let entry = match word(&row.role)? {
                Role::User => HistoryEntry::User(content, row.created_at),
                Role::Assistant => {
                    let of_step = calls.iter().filter(|(step, _)| Some(*step) == row.step_id);
                    HistoryEntry::Assistant(content, of_step.map(|(_, request)| request.clone()).collect())
                }
                Role::Tool => HistoryEntry::Tool(row.request_id.unwrap_or_default(), content),
            };
            if exchanges.last().is_none_or(|last| last.turn.0 != row.turn_id) {
                let (turn, state) = (TurnId(row.turn_id), word(&row.state)?);
                exchanges.push(Exchange { turn, state, reason: row.reason, entries: Vec::new(), unproven: Vec::new() });
            }
            if let Some(last) = exchanges.last_mut() {
                if row.unproven {
                    last.unproven.push(last.entries.len());
                }
                last.entries.push(entry);
            }
        }
        Ok(exchanges)
    }

    async fn calls_of_steps(&self, steps: &[i64]) -> Result<Vec<(i64, CallRequest)>, StoreError> {
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let rows = query!(
            "SELECT step_id, request_id, name, arguments FROM tool_calls WHERE step_id = ANY($1) ORDER BY step_id, position",
            steps
        )
        .fetch_all(&self.pool)
        .await?;
        let request = |id, name, arguments| CallRequest { id, name, arguments };
        Ok(rows.into_iter().map(|row| (row.step_id, request(row.request_id, row.name, row.arguments))).collect())
    }
}
