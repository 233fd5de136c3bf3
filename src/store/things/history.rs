//! Reads the part of a conversation that a model is shown.

use chrono::{DateTime, Utc};
use sqlx::query;

use crate::domain::{CallRequest, ConversationId, Exchange, History, HistoryEntry, Image, Role, ToolCallId, TurnId};
use crate::store::{Store, StoreError, value, word};

/// The words for a model on a call that a person undid.
fn undone(at: DateTime<Utc>) -> String {
    let at = at.format("%Y-%m-%dT%H:%M:%SZ");
    format!("[The user undid this call at {at}: the rows it had deleted or overwritten are as they were before it.]")
}

impl Store {
    /// The last `limit` messages of the conversation before `turn`, those that it is a branch of among them, grouped by turn, and all of
    /// `turn` itself. If only a part of a turn fits, the turn is left out: half of one would show
    /// calls without results.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn history(&self, conversation: ConversationId, turn: TurnId, limit: usize) -> Result<History, StoreError> {
        // One more than the limit: the oldest row tells whether its turn is whole.
        let rows = query!(
            r#"SELECT m.turn_id AS "turn_id!", t.state, t.reason, m.role AS "role!", m.content AS "content!", m.created_at AS "created_at!",
                    m.step_id, m.tool_call_id, m.steered AS "steered!", m.from_step, m.images AS "images!", c.request_id AS "request_id?", c.undone_at AS "undone_at?", c.refusal AS "refusal?",
                    coalesce(jsonb_array_length(c.logs), 0) AS "logged!",
                    (m.step_id IS NOT NULL AND coalesce(s.unproven, FALSE)) AS "unproven!"
             FROM (
                 (SELECT before.* FROM lineage($1) line, LATERAL (
                      SELECT * FROM messages WHERE conversation_id = line.conversation_id AND turn_id < $2 AND turn_id <= line.up_to
                      ORDER BY message_id DESC LIMIT $3) before
                  ORDER BY before.message_id DESC LIMIT $3)
                 UNION ALL
                 (SELECT * FROM messages WHERE turn_id = $2)
             ) m
             JOIN turns t USING (turn_id) LEFT JOIN tool_calls c USING (tool_call_id)
             LEFT JOIN steps s ON s.step_id = coalesce(m.step_id, c.step_id)
             -- What was said into a turn stands before the step that was the first to be shown it, and behind all until there is one.
             ORDER BY m.turn_id, coalesce(s.number, m.from_step, CASE WHEN m.steered THEN 2147483647 ELSE 0 END), s.number IS NOT NULL,
                      m.message_id"#,
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
            if row.turn_id == turn.0 && row.steered && row.from_step.is_none() {
                // These come last, behind at least the turn's input.
                exchanges.iter_mut().for_each(|exchange| exchange.waits = exchange.turn == turn);
                continue;
            }
            // A secret may have been set after somebody wrote its value here.
            let content = self.clean(&row.content).into_owned();
            let entry = match word(&row.role)? {
                Role::User if row.steered => HistoryEntry::Steered(content, row.created_at),
                Role::User => HistoryEntry::User(content, row.created_at),
                Role::Assistant => {
                    let of_step = calls.iter().filter(|(step, _)| Some(*step) == row.step_id);
                    HistoryEntry::Assistant(content, of_step.map(|(_, request)| request.clone()).collect())
                }
                Role::Tool => {
                    let call = ToolCallId(row.tool_call_id.unwrap_or_default());
                    let logged = usize::try_from(row.logged).unwrap_or_default();
                    let content = match row.undone_at {
                        Some(at) => format!("{content}\n\n{}", undone(at)),
                        None => content,
                    };
                    let refusal = row.refusal.as_deref().map(word).transpose()?;
                    HistoryEntry::Tool(row.request_id.unwrap_or_default(), content, call, logged, refusal)
                }
            };
            let images: Vec<Image> = value(row.images)?;
            let images = (!images.is_empty()).then_some(HistoryEntry::Images(images));
            if exchanges.last().is_none_or(|last| last.turn.0 != row.turn_id) {
                let (turn, state) = (TurnId(row.turn_id), word(&row.state)?);
                exchanges.push(Exchange {
                    turn,
                    state,
                    reason: row.reason,
                    entries: Vec::new(),
                    waits: false,
                    unproven: Vec::new(),
                });
            }
            if let Some(last) = exchanges.last_mut() {
                if row.unproven {
                    last.unproven.push(last.entries.len());
                }
                last.entries.extend([entry].into_iter().chain(images));
            }
        }
        Ok(History { exchanges, more: partial.is_some() })
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
