//! A conversation as a person reads it since they last began anew: the newest messages, each once.

use serde::Deserialize;
use serde_json::Value;
use sqlx::{query, query_scalar};

use crate::domain::{ConversationId, MessageId, SubtaskId, TaskId, UserId};
use crate::store::{Store, StoreError, value, word};
use crate::wire::api::{ChatCall, ChatMessage, StoredChat};

/// The most messages that a chat has.
const MOST_MESSAGES: i64 = 50;

/// A call of a step, as a row has it.
#[derive(Debug, Deserialize)]
struct CalledRow {
    name: String,
    ok: bool,
    result: String,
}

/// A call as the chat has it.
fn called(CalledRow { name, ok, result }: CalledRow) -> ChatCall {
    let told: Value = serde_json::from_str(&result).unwrap_or(Value::String(result));
    let reason = || told["message"].as_str().or(told.as_str()).map_or_else(|| told.to_string(), str::to_owned);
    let error = (!ok).then(reason);
    ChatCall { name, success: ok, result: ok.then_some(told), error }
}

impl Store {
    /// See [`crate::store::Theirs::chat`]. Answers that were taken back, and steps without words or
    /// calls, are none.
    pub(in crate::store) async fn chat_in(&self, conversation: ConversationId) -> Result<StoredChat, StoreError> {
        let of = query!(
            r#"SELECT c.user_id, l.task_id AS "task_id?", l.subtask_id AS "subtask_id?"
               FROM conversations c LEFT JOIN last_named l ON l.user_id = c.user_id WHERE c.conversation_id = $1"#,
            conversation.0
        );
        let of = of.fetch_optional(&self.pool).await?.ok_or(StoreError::NoConversation(conversation))?;
        let rows = query!(
            r#"SELECT m.message_id, m.role, m.content, m.created_at,
                      (SELECT json_agg(json_build_object('name', k.name, 'ok', k.state = 'done', 'result', r.content) ORDER BY k.position)
                       FROM tool_calls k JOIN messages r ON r.tool_call_id = k.tool_call_id WHERE k.step_id = m.step_id) AS calls
               FROM messages m LEFT JOIN steps s ON s.step_id = m.step_id
               WHERE m.conversation_id = $1 AND m.role IN ('user', 'assistant')
                 AND m.turn_id > (SELECT coalesce(anew_after, 0) FROM conversations WHERE conversation_id = $1)
                 AND (m.role = 'user' OR m.content <> '' OR EXISTS (SELECT FROM tool_calls k WHERE k.step_id = m.step_id))
                 AND NOT (coalesce(s.unproven, FALSE) AND EXISTS (
                     SELECT FROM steps later WHERE later.turn_id = s.turn_id AND later.number > s.number))
               ORDER BY m.message_id DESC LIMIT $2"#,
            conversation.0,
            MOST_MESSAGES
        );
        let mut messages = Vec::new();
        for row in rows.fetch_all(&self.pool).await?.into_iter().rev() {
            let calls: Vec<CalledRow> = row.calls.map(value).transpose()?.unwrap_or_default();
            messages.push(ChatMessage {
                id: MessageId(row.message_id),
                role: word(&row.role)?,
                // A secret may have been set after somebody wrote its value here.
                content: self.clean(&row.content).into_owned(),
                timestamp: row.created_at,
                function_calls: calls.into_iter().map(called).collect(),
            });
        }
        Ok(StoredChat {
            user_id: UserId(of.user_id),
            last_updated: messages.last().map(|message| message.timestamp),
            messages,
            last_referenced_task_id: of.task_id.map(TaskId),
            last_referenced_subtask_id: of.subtask_id.map(SubtaskId),
        })
    }

    /// See [`crate::store::Theirs::begun_anew_at`].
    pub(in crate::store) async fn chat_begun_anew_at(&self, conversation: ConversationId) -> Result<i64, StoreError> {
        let at = query_scalar!("SELECT anew_sequence FROM conversations WHERE conversation_id = $1", conversation.0);
        Ok(at.fetch_optional(&self.pool).await?.flatten().unwrap_or_default())
    }
}
