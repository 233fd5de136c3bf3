//! Orders that a person gives the controller: a turn with one call, which no model asked for. From
//! there on it is a call like any other, with the same checks and approvals.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{query, query_scalar};

use crate::domain::{ApprovalId, CallRequest, CallState, ConversationId, Origin, ToolCallId, TurnId, TurnState};
use crate::facts::{Event, ToolCallEnded};
use crate::store::{Lease, NewStep, Store, StoreError, Theirs, Unit, value, word};
use crate::wire::api::{CallResult, TurnReport};

impl Store {
    /// See [`Theirs::queue_command`].
    pub(in crate::store) async fn queue_order(
        &self,
        conversation: ConversationId,
        id: Option<&str>,
        content: &str,
        request: CallRequest,
        now: DateTime<Utc>,
    ) -> Result<TurnId, StoreError> {
        self.has_room()?;
        let mut unit = self.begin(now).await?;
        let turn = unit.queue_command(conversation, id, content, request).await?;
        unit.commit().await?;
        Ok(turn)
    }

    /// The end of an order's call, once it has one.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn end_of_order(&self, lease: &Lease) -> Result<Option<ToolCallEnded>, StoreError> {
        // It is one of the newest events of its conversation.
        let ended = query_scalar::<_, Value>(
            "SELECT payload FROM events WHERE conversation_id = $1 AND kind = 'tool_call_ended' AND payload -> 'turn' = to_jsonb($2::bigint)
             ORDER BY sequence DESC LIMIT 1",
        );
        let ended = ended.bind(lease.conversation.0).bind(lease.turn.0).fetch_optional(&self.pool).await?;
        Ok(match ended.map(value::<Event>).transpose()? {
            Some(Event::ToolCallEnded(ended)) => Some(ended),
            _ => None,
        })
    }

    /// The question that keeps a queued turn waiting: turns of a conversation go one after the
    /// other.
    async fn question_before(&self, queued: &TurnReport) -> Result<Option<ApprovalId>, StoreError> {
        let question = query_scalar::<_, Option<i64>>(
            "SELECT min(approval_id) FROM approvals WHERE conversation_id = $1 AND turn_id < $2 AND state = 'pending'",
        );
        let question = question.bind(queued.conversation.0).bind(queued.turn.0).fetch_one(&self.pool).await?;
        Ok(question.map(ApprovalId))
    }
}

impl Theirs {
    /// The progress of a turn; `None` if they have no such turn.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn turn_report(&self, turn: TurnId) -> Result<Option<TurnReport>, StoreError> {
        // One statement, so that state, approval and outcomes are of the same moment.
        let rows = query!(
            r#"SELECT t.conversation_id, t.state, t.reason, c.tool_call_id AS "tool_call_id?", c.name AS "name?",
                      c.state AS "call_state?", m.content AS "content?",
                      (SELECT max(approval_id) FROM approvals a WHERE a.turn_id = t.turn_id AND a.state = 'pending') AS approval_id
               FROM turns t
               LEFT JOIN (tool_calls c JOIN messages m USING (tool_call_id)) ON c.turn_id = t.turn_id
               WHERE t.turn_id = $1 AND (SELECT user_id FROM conversations o WHERE o.conversation_id = t.conversation_id) = $2
               ORDER BY c.step_id, c.position"#,
            turn.0,
            self.user.0
        )
        .fetch_all(&self.store.pool)
        .await?;
        let Some(first) = rows.first() else { return Ok(None) };
        let mut report = TurnReport {
            turn,
            conversation: ConversationId(first.conversation_id),
            state: word(&first.state)?,
            reason: first.reason.clone(),
            approval: first.approval_id.map(ApprovalId),
            behind: None,
            results: Vec::new(),
        };
        for row in rows {
            if let (Some(call), Some(tool), Some(state), Some(result)) = (row.tool_call_id, row.name, row.call_state, row.content)
            {
                report.results.push(CallResult {
                    call: ToolCallId(call),
                    tool,
                    ok: word::<CallState>(&state)? == CallState::Done,
                    result,
                });
            }
        }
        if report.state == TurnState::Queued {
            report.behind = self.store.question_before(&report).await?;
        }
        Ok(Some(report))
    }
}

impl Unit {
    /// As [`Store::queue_order`], in a transaction that the caller has begun. An order that came
    /// before with this id is the turn that it was.
    pub(super) async fn queue_command(
        &mut self,
        conversation: ConversationId,
        id: Option<&str>,
        content: &str,
        request: CallRequest,
    ) -> Result<TurnId, StoreError> {
        self.hold_conversation(conversation).await?;
        let came = query_scalar::<_, i64>("SELECT turn_id FROM turns WHERE conversation_id = $1 AND client_id = $2");
        if let Some(came) = came.bind(conversation.0).bind(id).fetch_optional(&mut *self.tx).await? {
            return Ok(TurnId(came));
        }
        let turn = self.queue_turn(conversation, Origin::Command, id, content).await?;
        let step = NewStep { number: 1, model: "level3", finish_reason: "tool_calls", calls: &[request], ..NewStep::default() };
        self.insert_step(conversation, turn, &step, None).await?;
        Ok(turn)
    }
}
