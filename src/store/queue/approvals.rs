//! Approvals: asked for in the transaction that lets the turn wait, decided once by a person, used
//! up by the call's outcome.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::{query, query_scalar};

use crate::domain::campaign::CAMPAIGN_PROFILE;
use crate::domain::{
    ApprovalAction, ApprovalId, ApprovalInput, ApprovalState, Channel, ConversationId, Decision, Machine, Shown, ToolCallId,
    TurnId, TurnInput, TurnState, UserId, asks,
};
use crate::facts::{ApprovalDecided, ApprovalRequested, TurnResumed};
use crate::failpoint::{self, Point};
use crate::governor::refusal_by;
use crate::store::lease::LockedTurn;
use crate::store::{Accepted, Lease, NewMessage, Store, StoreError, Theirs, Unit, value, word};
use crate::wire::api::Approval;

/// A proposal that a person has to decide about.
#[derive(Clone, Debug)]
pub struct NewApproval<'a> {
    /// The call.
    pub call: ToolCallId,
    /// Fingerprint of the proposal; the decision holds for this and nothing else.
    pub proposal_sha256: &'a [u8; 32],
    /// The card for the person.
    pub shown: Shown,
    /// The time at which it becomes a refusal by itself.
    pub expires_at: DateTime<Utc>,
}

/// The reason why a decision was not taken.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// No approval has this number.
    #[error("there is no approval {0}")]
    Unknown(ApprovalId),
    /// It was decided before.
    #[error("approval {0} is {1} already; a decision is taken once")]
    Decided(ApprovalId, ApprovalState),
    /// The yes was to hold for ever, and is not the owner's.
    #[error("rules are the owner's to set; approve it this once")]
    Rule,
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for DecideError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// A decision on its way into the database.
pub(super) struct Decided<'a> {
    /// The person, to whom nobody else's approvals exist; `None` if it was nobody.
    pub(super) user: Option<UserId>,
    pub(super) input: ApprovalInput,
    pub(super) channel: Channel,
    pub(super) reason: Option<&'a str>,
    /// The message that decides, if one does.
    pub(super) message: Option<&'a NewMessage<'a>>,
    pub(super) always: bool,
}

impl<'a> Decided<'a> {
    fn by_nobody(input: ApprovalInput) -> Self {
        Self { user: None, input, channel: Channel::Clock, reason: None, message: None, always: false }
    }

    /// The message, if it is no more than the decision.
    fn word(&self) -> Option<&NewMessage<'a>> {
        self.message.filter(|_| matches!(self.channel, Channel::Words | Channel::Voice))
    }

    /// The message, if the model has to hear it as well.
    fn said_instead(&self) -> Option<&NewMessage<'a>> {
        self.message.filter(|_| self.channel == Channel::Instead)
    }
}

/// An approval whose row the transaction has locked, and its state.
struct LockedApproval {
    conversation: ConversationId,
    turn: TurnId,
    call: ToolCallId,
    approval: ApprovalId,
    state: ApprovalState,
    /// True if a decision that is no yes ends its call at once: it is a campaign's, which the
    /// transaction holds.
    ends_call: bool,
}

/// A row of `approvals`, as the macros read it.
struct Row {
    approval_id: i64,
    conversation_id: i64,
    turn_id: i64,
    tool_call_id: i64,
    state: String,
    shown: serde_json::Value,
    proposal_sha256: Vec<u8>,
    reason: Option<String>,
    channel: Option<String>,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    decided_at: Option<DateTime<Utc>>,
    used_at: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Approval {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: ApprovalId(row.approval_id),
            conversation: ConversationId(row.conversation_id),
            turn: TurnId(row.turn_id),
            call: ToolCallId(row.tool_call_id),
            state: word(&row.state)?,
            shown: value(row.shown)?,
            proposal_sha256: row.proposal_sha256,
            reason: row.reason,
            channel: row.channel.as_deref().map(word).transpose()?,
            created_at: row.created_at,
            expires_at: row.expires_at,
            decided_at: row.decided_at,
            used_at: row.used_at,
        })
    }
}

impl Theirs {
    /// Their newest approvals first; those of one state, or all.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn approvals(&self, state: Option<ApprovalState>, limit: i64) -> Result<Vec<Approval>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            "SELECT approval_id, conversation_id, turn_id, tool_call_id, state, shown, proposal_sha256, reason, channel, created_at,
                    expires_at, decided_at, used_at
             FROM approvals a
             WHERE ($1::text IS NULL OR state = $1)
               AND (SELECT user_id FROM conversations c WHERE c.conversation_id = a.conversation_id) = $3
             ORDER BY approval_id DESC LIMIT $2",
            state.map(ApprovalState::as_str),
            limit,
            self.user.0
        );
        rows.fetch_all(&self.store.pool).await?.into_iter().map(Approval::try_from).collect()
    }

    /// The approvals that wait for a person, with their conversations, the oldest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn waiting_approvals(&self) -> Result<Vec<(ApprovalId, ConversationId)>, StoreError> {
        let rows = query!(
            "SELECT approval_id, conversation_id FROM approvals JOIN conversations USING (conversation_id)
             WHERE state = 'pending' AND user_id = $1 ORDER BY approval_id",
            self.user.0
        );
        let waiting = rows.fetch_all(&self.store.pool).await?.into_iter();
        Ok(waiting.map(|row| (ApprovalId(row.approval_id), ConversationId(row.conversation_id))).collect())
    }

    /// One approval of theirs.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            "SELECT approval_id, conversation_id, turn_id, tool_call_id, state, shown, proposal_sha256, reason, channel, created_at,
                    expires_at, decided_at, used_at
             FROM approvals a
             WHERE approval_id = $1 AND (SELECT user_id FROM conversations c WHERE c.conversation_id = a.conversation_id) = $2",
            id.0,
            self.user.0
        );
        row.fetch_optional(&self.store.pool).await?.map(Approval::try_from).transpose()
    }

    /// Takes a person's decision; the turn goes on.
    ///
    /// # Errors
    /// [`DecideError`]; then nothing was decided.
    pub async fn decide(
        &self,
        id: ApprovalId,
        decision: Decision,
        channel: Channel,
        now: DateTime<Utc>,
    ) -> Result<(), DecideError> {
        let (input, reason, always) = match &decision {
            Decision::Approve { always } => (ApprovalInput::Approve, None, *always),
            Decision::Deny { reason } => (ApprovalInput::Deny, reason.as_deref(), false),
        };
        if always && self.user != UserId::OWNER {
            return Err(DecideError::Rule);
        }
        let decided = Decided { user: Some(self.user), input, channel, reason, message: None, always };
        self.store.take_decision(id, decided, now).await.map(drop)
    }
}

impl Store {
    /// The newest approval of a call.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn approval_of_call(&self, call: ToolCallId) -> Result<Option<Approval>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            "SELECT approval_id, conversation_id, turn_id, tool_call_id, state, shown, proposal_sha256, reason, channel, created_at,
                    expires_at, decided_at, used_at
             FROM approvals WHERE tool_call_id = $1 ORDER BY approval_id DESC LIMIT 1",
            call.0
        );
        row.fetch_optional(&self.pool).await?.map(Approval::try_from).transpose()
    }

    /// Asks a person, and lets the turn wait: its lease is given up, other conversations go on.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn ask(&self, lease: &Lease, asked: NewApproval<'_>, now: DateTime<Utc>) -> Result<ApprovalId, StoreError> {
        let mut unit = self.begin(now).await?;
        let held = unit.hold(lease).await?;
        unit.advance(held, TurnInput::Ask, None).await?;
        let id = query_scalar!(
            "INSERT INTO approvals (conversation_id, turn_id, tool_call_id, proposal_sha256, shown, expires_at, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING approval_id",
            lease.conversation.0,
            lease.turn.0,
            asked.call.0,
            &asked.proposal_sha256[..],
            json!(asked.shown),
            asked.expires_at,
            now
        )
        .fetch_one(&mut *unit.tx)
        .await?;
        let event = ApprovalRequested {
            turn: lease.turn,
            call: asked.call,
            approval: ApprovalId(id),
            proposal_sha256: hex::encode(asked.proposal_sha256),
            shown: Box::new(asked.shown),
            expires_at: asked.expires_at,
        };
        unit.append(lease.conversation, event.into()).await?;
        failpoint::hit(Point::MidAsk).map_err(sqlx::Error::Io)?;
        unit.commit().await?;
        Ok(ApprovalId(id))
    }

    /// True if an assistant's text asks something that the person's next word may answer. It looks
    /// at all texts since the turn in which the person last spoke.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn asked_beside(&self, lease: &Lease) -> Result<bool, StoreError> {
        let texts = query_scalar!(
            "SELECT content FROM messages
             WHERE conversation_id = $1 AND role = 'assistant' AND turn_id <= $2 AND turn_id >= coalesce(
                 (SELECT max(turn_id) FROM turns WHERE conversation_id = $1 AND turn_id <= $2 AND origin = 'message'), 0)
             ORDER BY message_id DESC LIMIT 100",
            lease.conversation.0,
            lease.turn.0
        );
        Ok(texts.fetch_all(&self.pool).await?.iter().any(|text| asks(text)))
    }

    /// Takes a decision, whoever made it. A message that was accepted before is the same message.
    pub(super) async fn take_decision(
        &self,
        id: ApprovalId,
        decided: Decided<'_>,
        now: DateTime<Utc>,
    ) -> Result<Accepted, DecideError> {
        let mut unit = self.begin(now).await?;
        // The order of locks is the same everywhere: the turn, its approvals, the conversation.
        let turn = query!(
            "SELECT t.turn_id, t.conversation_id, t.state, c.profile FROM turns t JOIN conversations c USING (conversation_id)
             WHERE t.turn_id = (SELECT turn_id FROM approvals WHERE approval_id = $1) AND ($2::bigint IS NULL OR c.user_id = $2)
             FOR UPDATE OF t",
            id.0,
            decided.user.map(|user| user.0)
        )
        .fetch_optional(&mut *unit.tx)
        .await?
        .ok_or(DecideError::Unknown(id))?;
        let asked = query!(
            "SELECT tool_call_id, state, shown, expires_at, created_at FROM approvals WHERE approval_id = $1 FOR UPDATE",
            id.0
        )
        .fetch_one(&mut *unit.tx)
        .await?;
        let (conversation, waits) = (ConversationId(turn.conversation_id), word::<TurnState>(&turn.state)?);
        let turn_id = TurnId(turn.turn_id);
        let ends_call = turn.profile == CAMPAIGN_PROFILE;
        if ends_call {
            unit.hold_campaign_in(conversation).await?;
        }
        if let Some(message) = decided.message {
            unit.hold_conversation(conversation).await?;
            if let Some(known) = unit.accepted_before(conversation, message.client_id).await? {
                unit.let_go().await?;
                return Ok(known);
            }
        }
        let state: ApprovalState = word(&asked.state)?;
        if state.next(decided.input).is_err() {
            unit.let_go().await?;
            return Err(DecideError::Decided(id, state));
        }
        let late = asked.expires_at <= now && decided.channel != Channel::Clock;
        let decided = if late { Decided::by_nobody(ApprovalInput::Expire) } else { decided };
        let shown: Shown = value(asked.shown)?;
        let call = ToolCallId(asked.tool_call_id);
        let asking = LockedApproval { conversation, turn: turn_id, call, approval: id, state, ends_call };
        let actions = unit.end_approval(asking, &decided).await?;
        if decided.always && shown.can_always && decided.input == ApprovalInput::Approve {
            unit.always_allow(&turn.profile, &shown.tool, asked.created_at).await?;
        }
        for action in actions {
            match action {
                ApprovalAction::ResumeTurn => {
                    unit.advance(LockedTurn { conversation, turn: turn_id, state: waits }, TurnInput::Resume, None).await?;
                    let word = decided.word();
                    let client_id = word.and_then(|word| word.client_id).map(str::to_owned);
                    let content = word.map(|word| unit.clean(word.content).into_owned());
                    unit.append(conversation, TurnResumed { turn: turn_id, client_id, content }.into()).await?;
                }
            }
        }
        if let Some(message) = decided.said_instead() {
            unit.say_into(conversation, turn_id, TurnState::Queued, message).await?;
        }
        failpoint::hit(Point::MidDecision).map_err(sqlx::Error::Io)?;
        unit.commit().await?;
        if late {
            return Err(DecideError::Decided(id, ApprovalState::Expired));
        }
        Ok(Accepted { turn: turn_id, conversation, again: false })
    }

    /// Turns approvals that nobody decided in time into refusals.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn expire_approvals(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let due = query_scalar!("SELECT subject FROM wake_ups WHERE kind = 'approval' AND at <= $1 ORDER BY at, subject", now);
        for id in due.fetch_all(&self.pool).await? {
            match self.take_decision(ApprovalId(id), Decided::by_nobody(ApprovalInput::Expire), now).await {
                Ok(_) | Err(DecideError::Unknown(_) | DecideError::Decided(..) | DecideError::Rule) => {}
                Err(DecideError::Store(error)) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Unit {
    /// Allows a tool from now on, by a yes to a question of this time. It does not hold for an
    /// external tool whose definition changed after the question.
    async fn always_allow(&mut self, profile: &str, tool: &str, asked_at: DateTime<Utc>) -> Result<(), StoreError> {
        query!(
            "INSERT INTO tool_rules (profile, tool, rule, updated_at)
                 SELECT $1, $2, 'always', $3
                 WHERE NOT EXISTS (SELECT FROM mcp_tools WHERE tool = $2 AND changed_at > $4)
                 ON CONFLICT (profile, tool) DO UPDATE SET rule = 'always', updated_at = $3",
            profile,
            tool,
            self.now,
            asked_at
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// Ends an approval whose row the caller has locked, and carries out the transition's actions.
    async fn end_approval(&mut self, asking: LockedApproval, decided: &Decided<'_>) -> Result<Vec<ApprovalAction>, StoreError> {
        let LockedApproval { conversation, turn, call, approval, state: from, ends_call } = asking;
        let (state, actions) = from.next(decided.input)?;
        let reason = decided.reason.map(|reason| self.clean(reason).into_owned());
        let client_id = decided.word().and_then(|word| word.client_id);
        query!(
            "UPDATE approvals SET state = $2, decided_by = $3, channel = $4, reason = $5, client_id = $6, decided_at = $7
             WHERE approval_id = $1 AND state = $8",
            approval.0,
            state.as_str(),
            decided.channel.decider(),
            decided.channel.as_str(),
            reason,
            client_id,
            self.now,
            from.as_str()
        )
        .execute(&mut *self.tx)
        .await?;
        let client_id = client_id.map(str::to_owned);
        let channel = decided.channel;
        let refusal = refusal_by(state, reason.as_deref()).filter(|_| ends_call);
        let event = ApprovalDecided { turn, call, approval, state, channel, reason, client_id };
        self.append(conversation, event.into()).await?;
        if let Some(why) = refusal {
            self.end_refused_call(conversation, turn, call, approval, why).await?;
        }
        Ok(actions)
    }

    /// Voids the approvals that wait in a turn whose row the caller has locked.
    pub(super) async fn void_approvals(&mut self, conversation: ConversationId, turn: TurnId) -> Result<(), StoreError> {
        let waiting = query!(
            "SELECT approval_id, tool_call_id, state FROM approvals WHERE turn_id = $1 AND state = ANY($2) FOR UPDATE",
            turn.0,
            &ApprovalState::before(ApprovalInput::Void)
        );
        for row in waiting.fetch_all(&mut *self.tx).await? {
            let (call, approval) = (ToolCallId(row.tool_call_id), ApprovalId(row.approval_id));
            // The turn goes elsewhere by this same transition, so nothing else goes with it.
            let asking = LockedApproval { conversation, turn, call, approval, state: word(&row.state)?, ends_call: false };
            self.end_approval(asking, &Decided::by_nobody(ApprovalInput::Void)).await?;
        }
        Ok(())
    }
}
