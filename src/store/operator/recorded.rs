//! The record of an action with a high risk: the call with its whole result, and each operation
//! with its request and its answer.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::query;

use crate::domain::{ConversationId, ToolCallId, TurnId};
use crate::store::{Store, StoreError};

/// An action whose risk the governor called high.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedAction {
    /// The task.
    pub turn: TurnId,
    /// The call.
    pub call: ToolCallId,
    /// Its tool.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// `done`, `failed` or `proposed`, as the call is.
    pub state: String,
    /// The governor's judgement.
    pub classification: Value,
    /// The whole result.
    pub result: Option<String>,
    /// The lines that it logged.
    pub logs: Value,
    /// Each operation: kind, state, request and answer.
    pub operations: Value,
    /// When it was proposed.
    pub created_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
}

impl Store {
    /// The ended actions with a high risk, of one task or of all, oldest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn risky_actions(
        &self,
        conversation: ConversationId,
        turn: Option<TurnId>,
    ) -> Result<Vec<RecordedAction>, StoreError> {
        let rows = query!(
            r#"SELECT c.turn_id, c.tool_call_id, c.name, c.arguments, c.state, c.classification AS "classification!", c.logs, c.created_at, c.ended_at,
                      (SELECT content FROM messages m WHERE m.tool_call_id = c.tool_call_id) AS result,
                      coalesce((SELECT jsonb_agg(to_jsonb(o) - 'request_sha256' ORDER BY o.ordinal) FROM operations o WHERE o.tool_call_id = c.tool_call_id),
                               '[]') AS "operations!"
               FROM tool_calls c JOIN turns t USING (turn_id)
               WHERE t.conversation_id = $1 AND ($2::bigint IS NULL OR c.turn_id = $2) AND c.classification ->> 'risk' = 'high'
                 AND c.state <> 'proposed'
               ORDER BY c.tool_call_id"#,
            conversation.0,
            turn.map(|turn| turn.0)
        );
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        let action = rows.map(|row| RecordedAction {
            turn: TurnId(row.turn_id),
            call: ToolCallId(row.tool_call_id),
            name: row.name,
            arguments: self.clean(&row.arguments).into_owned(),
            state: row.state,
            classification: row.classification,
            result: row.result.map(|result| self.clean(&result).into_owned()),
            logs: row.logs,
            operations: row.operations,
            created_at: row.created_at,
            ended_at: row.ended_at,
        });
        Ok(action.collect())
    }
}
