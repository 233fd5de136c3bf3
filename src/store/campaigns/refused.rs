//! A decision that is no yes ends the call of a cycle in the transaction that takes it, and the
//! campaign remembers the no with it. So a pause, a stop or a crash finds both, whenever it
//! comes.

use sqlx::{query, query_as};

use super::came::CycleCame;
use super::cycle::remember;
use super::loading::LastCall;
use super::rows::{Of, rows};
use crate::domain::campaign::CampaignState;
use crate::domain::campaign::state::MadeCall;
use crate::domain::{
    ApprovalId, CallAction, CallInput, CallRequest, CallState, ConversationId, Machine, OperationState, Outcome, Refusal, StepId,
    ToolCallId, TurnId,
};
use crate::facts::{DENIED, ToolCallEnded};
use crate::store::{StoreError, Unit};

impl Unit {
    /// Ends the call of a cycle that waited for this approval with a refusal, as the door would.
    /// The caller holds the turn and the campaign.
    pub(in crate::store) async fn end_refused_call(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        call: ToolCallId,
        approval: ApprovalId,
        why: Refusal,
    ) -> Result<(), StoreError> {
        // The model of a campaign is told no lesson.
        let why = why.without_lesson();
        let refusal = why.code.as_str();
        let (state, actions) = CallState::FIRST.next(CallInput::Fail)?;
        let open = query_as::<_, (i64, String, String, String)>(
            "UPDATE tool_calls SET state = $2, ended_at = $3, refusal = $4 WHERE tool_call_id = $1 AND state = ANY($5)
             RETURNING step_id, request_id, name, arguments",
        );
        let open = open.bind(call.0).bind(state.as_str()).bind(self.now).bind(refusal);
        let open = open.bind(CallState::before(CallInput::Fail)).fetch_optional(&mut *self.tx).await?;
        let Some((step, id, name, arguments)) = open else { return Ok(()) };
        let mut outcome = Outcome::refused(&why);
        for action in actions {
            match action {
                // An earlier run of the call may have begun something that it cannot do now.
                CallAction::LoseOperations => {
                    outcome.account.uncertain = self.lose_operations(conversation, turn, call.0).await?;
                }
            }
        }
        if outcome.account.uncertain {
            outcome.result = format!("{} {}", outcome.result, self.ledger_in_words(call.0).await?);
        }
        let outcome = outcome.bounded();
        self.tell_of_call(conversation, turn, call.0, &outcome.result).await?;
        let came = if outcome.account.uncertain { OperationState::Unknown.as_str() } else { state.as_str() };
        let entry = query(
            "INSERT INTO audit_entries (turn_id, tool_call_id, tool, proposal_sha256, verdict, outcome, created_at, approval_id)
             SELECT $1, $2, $3, proposal_sha256, $4, $5, $6, approval_id FROM approvals WHERE approval_id = $7",
        );
        let entry = entry.bind(turn.0).bind(call.0).bind(&name).bind(DENIED).bind(came).bind(self.now).bind(approval.0);
        entry.execute(&mut *self.tx).await?;
        let mut made = MadeCall::proposed(call, StepId(step), &CallRequest { id, name: name.clone(), arguments });
        (made.state, made.refusal, made.ended_at) = (state, Some(refusal.to_owned()), Some(self.now));
        let last = LastCall { made, result: outcome.result.clone() };
        let (verdict, approval) = (Some(DENIED.to_owned()), Some(approval));
        let ended = ToolCallEnded { turn, call, name, outcome, verdict, approval, kept: None };
        self.append(conversation, ended.into()).await?;
        self.record_lost_deeds(conversation, turn).await?;
        self.remember_no(conversation, &last).await
    }

    /// Remembers that a person refused a proposal, or did not decide about it in time.
    async fn remember_no(&mut self, conversation: ConversationId, last: &LastCall) -> Result<(), StoreError> {
        let came = CycleCame::of_call(last);
        if came.judged.as_ref().and_then(|judged| judged.refused) != Some(true) {
            return Ok(());
        }
        let Some(rows) = rows(&mut *self.tx, Of::Conversation(conversation)).await? else { return Ok(()) };
        // The next reading of its state finds out that a campaign is broken.
        let Ok(state) = CampaignState::of(rows) else { return Ok(()) };
        let came = CycleCame { words: self.clean(&came.words).into_owned(), ..came };
        let mut campaign = state.campaign.clone();
        remember(&mut campaign, state.sha256(), &came);
        self.record_campaign(campaign, None, "remembers a no").await.map(drop)
    }
}
