//! Cycles that are cut: by a pause, a stop, the end of their time, a limit, or a server that gave
//! them up. A deed outside the database begins with an event, so a cut knows what was under way: a
//! touch of a page is unknown, a script has no result, and the context that allowed it counts down.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::{query, query_as, query_scalar};

use super::came::CycleCame;
use super::cycle::{CUT_OFF, INPUT};
use super::rows::{Of, rows};
use crate::domain::campaign::page::PageTouch;
use crate::domain::campaign::{ApprovalContext, CampaignInput, CampaignState, CampaignStatus, ProposalKind};
use crate::domain::{ConversationId, OperationState, Origin, ToolCallId, TurnId};
use crate::facts::{CONTROLLER, CallBegun, ContextChanged, Event, PageTouched, ScriptRan, ToolCallEnded};
use crate::governor::Permit;
use crate::store::{Lease, NewOperation, Store, StoreError, Unit, value};

/// The words about a touch that was cut.
const UNKNOWN: &str = "Nobody knows whether this happened: its cycle was cut off in the middle of it. It is not repeated by itself; the person \
     looks at the page.";

/// $1 and $2: a conversation and a turn; $3 to $5: the newest call that began outside the database,
/// the number of that event, and if it tells of a run. The calls of the turn that failed after they
/// had begun, if nothing more is recorded of them, and the request of a touch whose end nobody
/// knows. The record of a deed stands behind its beginning.
const LOST: &str = "
SELECT k.tool_call_id, o.request
FROM tool_calls k
LEFT JOIN LATERAL (
    SELECT o.request FROM operations o WHERE o.tool_call_id = k.tool_call_id AND o.kind = 'browser' AND o.state = 'unknown'
    ORDER BY o.ordinal DESC LIMIT 1) o ON TRUE
WHERE k.turn_id = $2 AND k.state = 'failed' AND ((k.tool_call_id = $3 AND $5) OR o.request IS NOT NULL)
  AND NOT EXISTS (SELECT FROM events e WHERE e.conversation_id = $1 AND e.kind IN ('page_touched', 'script_ran')
                  AND e.sequence > CASE WHEN k.tool_call_id = $3 THEN $4::bigint ELSE 0 END AND e.payload -> 'call' = to_jsonb(k.tool_call_id))
ORDER BY k.tool_call_id";
/// $1 and $2: a conversation and a turn; $3: the name that stands in place of a model's. The last
/// step of a model, with the end of its last call.
const LAST: &str = "
SELECT e.payload
FROM (SELECT step_id FROM steps WHERE turn_id = $2 AND model <> $3 ORDER BY number DESC LIMIT 1) s
LEFT JOIN LATERAL (SELECT tool_call_id FROM tool_calls WHERE step_id = s.step_id ORDER BY position DESC LIMIT 1) k ON TRUE
LEFT JOIN LATERAL (
    SELECT e.payload FROM events e
    WHERE e.conversation_id = $1 AND e.kind = 'tool_call_ended' AND e.payload -> 'call' = to_jsonb(k.tool_call_id)
      AND k.tool_call_id IS NOT NULL
    ORDER BY e.sequence DESC LIMIT 1) e ON TRUE";

impl Store {
    /// Records that the deed of a proposal begins outside the database, before anything of it
    /// happens. `run` is the run of a script, as it is recorded if it is cut.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn begin_deed(
        &self,
        lease: &Lease,
        permit: &Permit,
        name: &str,
        run: Option<ScriptRan>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.record_begin(lease, permit, name, run).await?;
        unit.commit().await
    }

    /// The same of a touch, whose operation is intended with it.
    ///
    /// # Errors
    /// As for [`Store::intend_operation`].
    pub async fn begin_touch(
        &self,
        lease: &Lease,
        operation: &NewOperation<'_>,
        name: &str,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        unit.record_begin(lease, operation.permit, name, None).await?;
        unit.end_operation(lease, operation, OperationState::Intended, None).await?;
        unit.commit().await
    }
}

impl Unit {
    async fn record_begin(
        &mut self,
        lease: &Lease,
        permit: &Permit,
        name: &str,
        run: Option<ScriptRan>,
    ) -> Result<(), StoreError> {
        self.hold(lease).await?;
        let (turn, call, context) = (lease.turn, permit.call(), permit.context());
        let (name, verdict) = (name.to_owned(), permit.verdict().to_owned());
        // One that is run again after a crash began once, unless something else allows it now.
        let newest = self.newest_begun(lease.conversation).await?;
        if newest.is_some_and(|(_, begun)| (begun.call, begun.context) == (call, context) && begun.verdict == verdict) {
            return Ok(());
        }
        self.append(lease.conversation, CallBegun { turn, call, name, verdict, context, run }.into()).await
    }

    /// Records the lost deeds of a turn: a touch is unknown, so its page is to be read anew and no
    /// context allows the next; a script was cut. Gives the number of the last event, if there is
    /// one.
    pub(in crate::store) async fn record_lost_deeds(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
    ) -> Result<Option<i64>, StoreError> {
        let newest = self.newest_begun(conversation).await?;
        let lost = query_as::<_, (i64, Option<Value>)>(LOST).bind(conversation.0).bind(turn.0);
        let lost = lost.bind(newest.as_ref().map(|(_, begun)| begun.call.0)).bind(newest.as_ref().map(|(sequence, _)| *sequence));
        let lost = lost.bind(newest.as_ref().is_some_and(|(_, begun)| begun.run.is_some()));
        let mut last = None;
        for (call, request) in lost.fetch_all(&mut *self.tx).await? {
            let call = ToolCallId(call);
            let begun = newest.as_ref().map(|(_, begun)| begun).filter(|begun| begun.call == call);
            let (context, run) = begun.map(|begun| (begun.context, begun.run.clone())).unwrap_or_default();
            let deed = match request {
                Some(request) => Some(Event::from(PageTouched { turn, call, touch: PageTouch::lost(&request, UNKNOWN) })),
                None => run.map(Event::from),
            };
            let facts: Vec<_> = self.counted_down(context).await?.into_iter().chain(deed).collect();
            last = Some(self.record(conversation, &facts).await?);
        }
        Ok(last)
    }

    /// The approval context that allowed a lost deed, counted down; `None` if it allows nothing
    /// any more.
    async fn counted_down(&mut self, context: Option<i64>) -> Result<Option<Event>, StoreError> {
        let Some(id) = context else { return Ok(None) };
        let live =
            query_scalar::<_, Value>("SELECT to_jsonb(x) FROM campaign_contexts x WHERE id = $1 AND NOT void AND uses_left > 0");
        let live = live.bind(id).fetch_optional(&mut *self.tx).await?;
        let context = live.and_then(|row| serde_json::from_value::<ApprovalContext>(row).ok());
        let used = |context: ApprovalContext| ApprovalContext { uses_left: context.uses_left - 1, ..context };
        Ok(context.map(|context| ContextChanged { context: used(context) }.into()))
    }

    /// Holds the campaign whose cycle may be cut. It comes before all that is written into the
    /// conversation.
    pub(in crate::store) async fn hold_campaign_of(&mut self, lease: &Lease) -> Result<(), StoreError> {
        if lease.origin == Origin::Cycle { self.hold_campaign_in(lease.conversation).await } else { Ok(()) }
    }

    /// The same of a conversation.
    pub(in crate::store) async fn hold_campaign_in(&mut self, conversation: ConversationId) -> Result<(), StoreError> {
        let held = query("SELECT FROM campaigns WHERE conversation_id = $1 FOR UPDATE").bind(conversation.0);
        held.execute(&mut *self.tx).await?;
        Ok(())
    }

    /// Ends a cycle whose turn this transaction has ended before the cycle was over, for this
    /// reason. If it brought nothing, the next one waits.
    pub(in crate::store) async fn settle_cut_cycle(&mut self, lease: &Lease, why: &str) -> Result<(), StoreError> {
        if lease.origin != Origin::Cycle {
            return Ok(());
        }
        let Some(rows) = rows(&mut *self.tx, Of::Conversation(lease.conversation)).await? else { return Ok(()) };
        // The next reading of its state finds out that a campaign is broken.
        let state = CampaignState::of(rows).ok().filter(|state| state.campaign.status == CampaignStatus::Active);
        let Some(mut state) = state else { return Ok(()) };
        self.settle_tasks(&mut state).await?;
        let came = self.came_of_cut(lease, why).await?;
        let presence = self.signals.presences().of(state.campaign.id, self.now);
        let ending = self.write_cycle_end(lease, state, None, &came, presence).await?;
        if ending.pauses {
            let why = format!("{CUT_OFF}. {}", came.words);
            self.move_campaign(&ending.state, CampaignInput::Pause, Some(&why)).await?;
        } else if ending.goes_on() {
            self.queue_turn(lease.conversation, Origin::Cycle, None, INPUT).await?;
        }
        Ok(())
    }

    /// The result of a cut cycle: that of the last call that its model proposed. A call that was
    /// refused has been judged, and is no proposal. If the turn has no step of a model, none has
    /// answered.
    async fn came_of_cut(&mut self, lease: &Lease, why: &str) -> Result<CycleCame, StoreError> {
        let last = query_scalar::<_, Option<Value>>(LAST).bind(lease.conversation.0).bind(lease.turn.0).bind(CONTROLLER);
        let Some(last) = last.fetch_optional(&mut *self.tx).await? else {
            return Ok(CycleCame { words: why.to_owned(), silent: true, ..CycleCame::default() });
        };
        let ended = last.map(value::<ToolCallEnded>).transpose()?;
        let Some(ended) = ended.filter(|ended| ended.outcome.refusal.is_none()) else {
            return Ok(CycleCame { words: why.to_owned(), ..CycleCame::default() });
        };
        let said = ended.said();
        let ToolCallEnded { name, outcome, verdict, .. } = ended;
        let how = match (outcome.ok, outcome.account.cut) {
            (true, _) => "done",
            (false, true) => "cut off",
            (false, false) => "not done",
        };
        let in_words = |result: &str| format!("{name} was {how}: {result} {why}");
        // The result of a call that the cut ended tells the model what to do next.
        let by_the_cut = outcome.account.cut || verdict.is_none();
        let words = in_words(if by_the_cut { &said } else { &outcome.result });
        let told = by_the_cut.then(|| in_words(&outcome.result));
        let fruitful = outcome.ok && name != ProposalKind::NoOp.as_str();
        Ok(CycleCame { proposal: Some(name), words, told, fruitful, ..CycleCame::default() })
    }
}
