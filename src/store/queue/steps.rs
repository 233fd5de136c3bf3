//! Steps: a model's answer, stored before any of its tool calls runs.

use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use super::turns::End;
use super::writing::Unfinished;
use crate::domain::{
    CallAction, CallInput, CallRequest, CallState, ConversationId, Machine, Outcome, Rate, StepId, ToolCallId, TurnId, Usage,
};
use crate::facts::{STOPPED, StepAnswered, ToolCallEnded, ToolCallProposed};
use crate::failpoint::{self, Point};
use crate::store::unit::kept_of;
use crate::store::{BrokenAnswer, Lease, Store, StoreError, Unit};

/// An answer to store.
#[derive(Clone, Debug, Default)]
pub struct NewStep<'a> {
    /// Counts from 1 inside the turn.
    pub number: i32,
    /// The model that answered.
    pub model: &'a str,
    /// The provider's reason for its end.
    pub finish_reason: &'a str,
    /// Its tokens.
    pub usage: Option<Usage>,
    /// Its text.
    pub content: &'a str,
    /// The tools that it asked for.
    pub calls: &'a [CallRequest],
    /// True if the turn is completed with this text.
    pub last: bool,
    /// True if it claims something that no record of its turn shows.
    pub unproven: bool,
}

/// A tool call without an outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// The call.
    pub call: ToolCallId,
    /// The model's request.
    pub request: CallRequest,
}

/// The result of storing an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredStep {
    /// The calls that it asked for, in order.
    pub calls: Vec<OpenCall>,
    /// True if the turn is over. If a person has said something into the turn that no step has
    /// seen, even an answer that was to be the last does not end it.
    pub over: bool,
}

impl Store {
    /// The calls that did something: those that succeeded, and those that failed after an
    /// operation. Of the turn, or of the newest 500 turns of its conversation as well; the newest 500.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn calls_done(&self, lease: &Lease, in_conversation: bool) -> Result<Vec<CallRequest>, StoreError> {
        let rows = query!(
            r#"SELECT c.request_id AS "request_id!", c.name AS "name!", c.arguments AS "arguments!"
             FROM ((SELECT $1::bigint AS turn_id)
                   UNION ALL
                   (SELECT turn_id FROM turns WHERE $3 AND conversation_id = $2 AND turn_id < $1 ORDER BY turn_id DESC LIMIT 500)) t
             CROSS JOIN LATERAL (
                 SELECT * FROM tool_calls c WHERE c.turn_id = t.turn_id AND (c.state = 'done' OR (c.state = 'failed' AND EXISTS (
                     SELECT FROM operations o WHERE o.tool_call_id = c.tool_call_id AND o.state IN ('done', 'unknown')))) OFFSET 0) c
             ORDER BY c.tool_call_id DESC LIMIT 500"#,
            lease.turn.0,
            lease.conversation.0,
            in_conversation
        );
        let rows = rows.fetch_all(&self.pool).await?.into_iter();
        Ok(rows.map(|row| CallRequest { id: row.request_id, name: row.name, arguments: row.arguments }).collect())
    }

    /// Stores an answer with the calls that it asks for. The last one completes the turn in the
    /// same transaction, unless a person has meanwhile said something into the turn that the model
    /// has not seen.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn store_step(&self, lease: &Lease, step: NewStep<'_>, now: DateTime<Utc>) -> Result<StoredStep, StoreError> {
        self.store_priced_step(lease, step, None, now).await
    }

    /// The same, with the model's rate if the table of rates has none.
    ///
    /// # Errors
    /// As for [`Store::store_step`].
    pub async fn store_priced_step(
        &self,
        lease: &Lease,
        step: NewStep<'_>,
        rate: Option<Rate>,
        now: DateTime<Utc>,
    ) -> Result<StoredStep, StoreError> {
        let mut unit = self.begin(now).await?;
        let held = unit.hold(lease).await?;
        let over = step.last && !unit.steering_waits(lease.turn).await?;
        let calls = unit.insert_step(lease.conversation, lease.turn, &NewStep { last: over, ..step }, rate).await?;
        if over {
            unit.end_turn(held, End::Answered).await?;
        }
        unit.commit().await?;
        failpoint::hit(Point::AfterStep).map_err(sqlx::Error::Io)?;
        Ok(StoredStep { calls, over })
    }

    /// Completes a turn with words of the controller's own. Messages said into it that no model has
    /// seen become turns of their own.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn close_turn(&self, lease: &Lease, step: NewStep<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        let held = unit.hold(lease).await?;
        unit.move_unseen(lease.conversation, lease.turn).await?;
        unit.insert_step(lease.conversation, lease.turn, &NewStep { last: true, ..step }, None).await?;
        unit.end_turn(held, End::Answered).await?;
        unit.commit().await?;
        failpoint::hit(Point::AfterStep).map_err(sqlx::Error::Io)?;
        Ok(())
    }
}

impl Store {
    /// Ends a turn in the middle of its work, with words of the controller's own. Its first open
    /// call fails with the words `cut`, and answers that broke off are counted.
    ///
    /// # Errors
    /// As for [`Store::close_turn`].
    pub async fn cut_turn(
        &self,
        lease: &Lease,
        step: NewStep<'_>,
        cut: &str,
        broken: &[BrokenAnswer],
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        // A transaction that was about to commit has done so by now, or never will.
        let held = unit.hold(lease).await?;
        unit.count_broken(lease.conversation, lease.turn, broken).await?;
        unit.move_unseen(lease.conversation, lease.turn).await?;
        let number = unit.next_step(lease.turn).await?;
        unit.cut_calls(lease.conversation, lease.turn, Some(cut)).await?;
        unit.insert_step(lease.conversation, lease.turn, &NewStep { number, last: true, ..step }, None).await?;
        unit.end_turn(held, End::Answered).await?;
        unit.commit().await
    }
}

impl Unit {
    /// Stores the text of a step that was stopped. It has no calls: those of a cut stream are never
    /// run.
    pub(super) async fn keep_unfinished(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        said: &Unfinished,
    ) -> Result<(), StoreError> {
        let Unfinished { number, model, text, fence: _ } = said;
        let stored =
            query_scalar!(r#"SELECT count(*) AS "stored!" FROM steps WHERE turn_id = $1 AND number >= $2"#, turn.0, number);
        // The answer came to its end in the very moment before.
        if stored.fetch_one(&mut *self.tx).await? > 0 {
            return Ok(());
        }
        let step = NewStep { number: *number, model, finish_reason: STOPPED, content: text, ..NewStep::default() };
        self.insert_step(conversation, turn, &step, None).await.map(drop)
    }

    /// `rate` holds if the table of rates has none.
    pub(super) async fn insert_step(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        step: &NewStep<'_>,
        rate: Option<Rate>,
    ) -> Result<Vec<OpenCall>, StoreError> {
        let micros = |micros: u64| i64::try_from(micros).unwrap_or(i64::MAX);
        let tokens = |count: fn(Usage) -> u64| step.usage.map(count).map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let content = self.clean(step.content).into_owned();
        let (model, finish_reason) = (self.clean(step.model), self.clean(step.finish_reason));
        let stored = query!(
            "INSERT INTO steps (turn_id, number, model, finish_reason, input_tokens, output_tokens, cost_micros, created_at, unproven)
             VALUES ($1, $2, $3, $4, $5, $6, cost_at($3, $5, $6, $8, $9), $7, $10) RETURNING step_id, cost_micros",
            turn.0,
            step.number,
            &*model,
            &*finish_reason,
            tokens(|usage| usage.input),
            tokens(|usage| usage.output),
            self.now,
            rate.map(|rate| micros(rate.input_micros)),
            rate.map(|rate| micros(rate.output_micros)),
            step.unproven
        )
        .fetch_one(&mut *self.tx)
        .await?;
        query!(
            "INSERT INTO messages (conversation_id, turn_id, role, content, step_id, created_at)
             VALUES ($1, $2, 'assistant', $3, $4, $5)",
            conversation.0,
            turn.0,
            content,
            stored.step_id,
            self.now
        )
        .execute(&mut *self.tx)
        .await?;
        let answered = StepAnswered {
            turn,
            step: StepId(stored.step_id),
            number: step.number,
            model: model.into_owned(),
            finish_reason: finish_reason.into_owned(),
            usage: step.usage,
            content,
            last: step.last,
            cost_micros: stored.cost_micros,
            unproven: step.unproven,
        };
        self.append(conversation, answered.into()).await?;
        let mut open = Vec::with_capacity(step.calls.len());
        for (position, request) in (0..).zip(step.calls) {
            open.push(self.insert_call(conversation, turn, StepId(stored.step_id), position, request).await?);
        }
        Ok(open)
    }

    async fn insert_call(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        step: StepId,
        position: i32,
        request: &CallRequest,
    ) -> Result<OpenCall, StoreError> {
        let request = CallRequest {
            id: self.clean(&request.id).into_owned(),
            name: self.clean(&request.name).into_owned(),
            arguments: self.clean(&request.arguments).into_owned(),
        };
        let call = query_scalar!(
            "INSERT INTO tool_calls (turn_id, step_id, position, request_id, name, arguments, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING tool_call_id",
            turn.0,
            step.0,
            position,
            request.id,
            request.name,
            request.arguments,
            self.now
        )
        .fetch_one(&mut *self.tx)
        .await?;
        let call = ToolCallId(call);
        let proposed = ToolCallProposed { turn, step, call, request: request.clone(), position };
        self.append(conversation, proposed.into()).await?;
        Ok(OpenCall { call, request })
    }

    /// Ends every call without an outcome: it was not run, or was cut in the middle. Its effects in
    /// this database cannot have happened, since effect and outcome commit together; the list of
    /// its operations has those elsewhere. `first` is said of the first such call, if anything is
    /// known of it.
    pub(super) async fn cut_calls(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        first: Option<&str>,
    ) -> Result<(), StoreError> {
        let (cut, actions) = CallState::FIRST.next(CallInput::Cut)?;
        const NOT_RUN: &str = "Not run: the turn ended first.";
        const CUT: &str =
            "Cut off in the middle: the turn ended first. What it had done until then is in the list of its operations.";
        let mut open = query!(
            r#"UPDATE tool_calls SET state = $3, ended_at = $2 WHERE turn_id = $1 AND state = ANY($4)
               RETURNING tool_call_id, name,
                         EXISTS (SELECT FROM operations o WHERE o.tool_call_id = tool_calls.tool_call_id) AS "begun!""#,
            turn.0,
            self.now,
            cut.as_str(),
            &CallState::before(CallInput::Cut)
        )
        .fetch_all(&mut *self.tx)
        .await?;
        open.sort_by_key(|row| row.tool_call_id);
        for (place, row) in open.into_iter().enumerate() {
            for action in &actions {
                match action {
                    CallAction::LoseOperations => {
                        query!("SELECT settle_operations($1, $2, $3, $4)", conversation.0, turn.0, row.tool_call_id, self.now)
                            .fetch_one(&mut *self.tx)
                            .await?;
                    }
                }
            }
            let told = first.filter(|_| place == 0).unwrap_or(if row.begun { CUT } else { NOT_RUN });
            query!(
                "INSERT INTO messages (conversation_id, turn_id, role, content, tool_call_id, created_at)
                 VALUES ($1, $2, 'tool', $3, $4, $5)",
                conversation.0,
                turn.0,
                told,
                row.tool_call_id,
                self.now
            )
            .execute(&mut *self.tx)
            .await?;
            let (call, outcome) = (ToolCallId(row.tool_call_id), Outcome::failed(told));
            // A person can also put back the rows that operations of the call deleted before the
            // cut.
            let kept = kept_of(&mut *self.tx, call).await?;
            let ended = ToolCallEnded { turn, call, name: row.name, outcome, verdict: None, approval: None, kept };
            self.append(conversation, ended.into()).await?;
        }
        Ok(())
    }
}
