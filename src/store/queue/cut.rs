//! Calls without an outcome: ended as their turn ends, and those that began before the process
//! ended and cannot go on.

use sqlx::{PgExecutor, query, query_as, query_scalar};

use crate::domain::{
    ApprovalId, ApprovalInput, ApprovalState, CallAccount, CallAction, CallInput, CallState, ConversationId, Machine,
    OperationState, Outcome, ToolCallId, TurnId,
};
use crate::facts::ToolCallEnded;
use crate::store::unit::kept_of;
use crate::store::{InterruptedCall, Lease, Store, StoreError, Unit};

/// A call without an outcome that was begun, and so was allowed.
struct BegunCall {
    call: i64,
    /// The tool's name.
    name: String,
    /// The law's word: `allow`, or `ask` if a person allowed it.
    verdict: String,
    /// The approval that allowed it, which is used up, and the fingerprint of its proposal.
    approval: Option<(i64, Vec<u8>)>,
    /// True if its beginning is an event of its own.
    told: bool,
}

impl Unit {
    /// Ends every call without an outcome: it was not run, or was cut in the middle. Its own
    /// effects in this database cannot have happened, since effect and outcome commit together; the
    /// ledger has all others. One that was begun has its audit entry. `first` is said of the first
    /// such call, if anything is known of it, and what the ledger says.
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
        let mut any_begun = false;
        for (place, row) in open.into_iter().enumerate() {
            let mut uncertain = false;
            for action in &actions {
                match action {
                    CallAction::LoseOperations => uncertain = self.lose_operations(conversation, turn, row.tool_call_id).await?,
                }
            }
            let begun = self.begun_call(conversation, row.tool_call_id, &row.name, row.begun).await?;
            any_begun |= begun.is_some();
            let told = match first.filter(|_| place == 0) {
                Some(first) => format!("{first} {}", self.ledger_in_words(row.tool_call_id).await?),
                None if begun.is_some() => CUT.to_owned(),
                None => NOT_RUN.to_owned(),
            };
            self.tell_of_call(conversation, turn, row.tool_call_id, &told).await?;
            if let Some(begun) = &begun {
                let came = if uncertain { OperationState::Unknown.as_str() } else { cut.as_str() };
                self.audit_cut(turn, begun, came).await?;
            }
            let told_before = begun.as_ref().is_some_and(|begun| begun.told);
            let account = CallAccount { uncertain, begun: told_before, cut: begun.is_some(), ..CallAccount::default() };
            let (call, outcome) = (ToolCallId(row.tool_call_id), Outcome { account, ..Outcome::failed(told) });
            // A person can also put back the rows that operations of the call deleted before the
            // cut.
            let kept = kept_of(&mut *self.tx, call).await?;
            let approval = begun.as_ref().and_then(|begun| begun.approval.as_ref()).map(|(id, _)| ApprovalId(*id));
            let verdict = begun.map(|begun| begun.verdict);
            let ended = ToolCallEnded { turn, call, name: row.name, outcome, verdict, approval, kept };
            self.append(conversation, ended.into()).await?;
        }
        if any_begun {
            self.record_lost_deeds(conversation, turn).await?;
        }
        Ok(())
    }

    /// Each operation of a call that has no end is lost. True if nobody knows of one whether it
    /// happened.
    pub(in crate::store) async fn lose_operations(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        call: i64,
    ) -> Result<bool, StoreError> {
        query!("SELECT settle_operations($1, $2, $3, $4)", conversation.0, turn.0, call, self.now)
            .fetch_one(&mut *self.tx)
            .await?;
        let unknown = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM operations WHERE tool_call_id = $1 AND state = 'unknown') AS "unknown!""#,
            call
        );
        Ok(unknown.fetch_one(&mut *self.tx).await?)
    }

    /// Stores the outcome of a call as its message.
    pub(in crate::store) async fn tell_of_call(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        call: i64,
        told: &str,
    ) -> Result<(), StoreError> {
        query!(
            "INSERT INTO messages (conversation_id, turn_id, role, content, tool_call_id, created_at)
                 VALUES ($1, $2, 'tool', $3, $4, $5)",
            conversation.0,
            turn.0,
            told,
            call,
            self.now
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// The beginning of a call without an outcome, by an event of its own or, if it `operates`, by
    /// its operations; `None` if it was not begun. An approval that allowed it is used up.
    async fn begun_call(
        &mut self,
        conversation: ConversationId,
        call: i64,
        name: &str,
        operates: bool,
    ) -> Result<Option<BegunCall>, StoreError> {
        // If no event says that a person allowed it, an approval did only if something happened
        // after it.
        const USED: &str = "UPDATE approvals SET used_at = $3 WHERE approval_id = (
                 SELECT max(approval_id) FROM approvals WHERE tool_call_id = $1 AND state = ANY($2) AND used_at IS NULL
                   AND ($4 OR decided_at <= (SELECT max(o.created_at) FROM operations o WHERE o.tool_call_id = $1)))
             RETURNING approval_id, proposal_sha256";
        let newest = self.newest_begun(conversation).await?;
        let told = newest.filter(|(_, begun)| begun.call == ToolCallId(call)).map(|(_, begun)| begun.verdict);
        if told.is_none() && !operates {
            return Ok(None);
        }
        let used = query_as::<_, (i64, Vec<u8>)>(USED).bind(call).bind(ApprovalState::before(ApprovalInput::Use)).bind(self.now);
        let used = used.bind(told.is_some());
        let approval = match told.as_deref() {
            Some("allow") => None,
            _ => used.fetch_optional(&mut *self.tx).await?,
        };
        let word = if approval.is_some() { "ask" } else { "allow" };
        let (verdict, told) = (told.clone().unwrap_or_else(|| word.to_owned()), told.is_some());
        Ok(Some(BegunCall { call, name: name.to_owned(), verdict, approval, told }))
    }

    /// The audit entry of a call that was begun and cut, and `came` to this. The fingerprint of a
    /// proposal that nobody was asked about is not recorded with its beginning.
    async fn audit_cut(&mut self, turn: TurnId, begun: &BegunCall, came: &str) -> Result<(), StoreError> {
        let BegunCall { call, name, verdict, approval, told: _ } = begun;
        let (approval, sha256) = approval.as_ref().map(|(id, sha256)| (*id, sha256.as_slice())).unzip();
        let entry = query(
            "INSERT INTO audit_entries (turn_id, tool_call_id, tool, proposal_sha256, verdict, outcome, created_at, approval_id)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        );
        let entry = entry.bind(turn.0).bind(call).bind(name).bind(sha256).bind(verdict).bind(came).bind(self.now).bind(approval);
        entry.execute(&mut *self.tx).await?;
        Ok(())
    }

    /// The outcome of a call that was cut, as its operations have it.
    pub(in crate::store) async fn ledger_in_words(&mut self, call: i64) -> Result<String, StoreError> {
        ledger_in_words(&mut *self.tx, call).await
    }
}

impl Store {
    /// A call without an outcome that began before the process ended, with the fingerprint of the
    /// call as it is now; `None` if it never began.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn interrupted(
        &self,
        lease: &Lease,
        call: ToolCallId,
        now_sha256: [u8; 32],
    ) -> Result<Option<InterruptedCall>, StoreError> {
        // Each of these stands before anything of the call can have happened: the event of a call
        // of the operator, the mark of a capability's call, which a crash turned into a row, and
        // the ledger.
        let begun = query_as::<_, (Option<String>, bool, Option<Vec<u8>>)>(
            "SELECT (SELECT verdict FROM (
                         SELECT payload ->> 'call' AS call, payload ->> 'verdict' AS verdict FROM events
                         WHERE conversation_id = $1 AND kind = 'call_begun' ORDER BY sequence DESC LIMIT 1) newest
                     WHERE call = ($2::bigint)::text),
                    EXISTS (SELECT FROM operations WHERE tool_call_id = $2)
                        OR EXISTS (SELECT FROM capability_crashes WHERE tool_call_id = $2),
                    (SELECT proposal_sha256 FROM approvals WHERE tool_call_id = $2 AND state = ANY($3) AND used_at IS NULL
                     ORDER BY approval_id DESC LIMIT 1)",
        );
        let begun = begun.bind(lease.conversation.0).bind(call.0).bind(ApprovalState::before(ApprovalInput::Use));
        let (verdict, at_work, approved) = begun.fetch_one(&self.pool).await?;
        if verdict.is_none() && !at_work {
            return Ok(None);
        }
        let approved = approved.filter(|_| verdict.as_deref() != Some("allow"));
        let approved = approved.and_then(|sha256| <[u8; 32]>::try_from(sha256).ok());
        let ledger = ledger_in_words(&self.pool, call.0).await?;
        let (proposal_sha256, asked, told) = (approved.unwrap_or(now_sha256), approved.is_some(), verdict.is_some());
        Ok(Some(InterruptedCall { call, proposal_sha256, asked, told, ledger }))
    }
}

/// The outcome of a call that was cut, as its operations have it.
async fn ledger_in_words(database: impl PgExecutor<'_>, call: i64) -> Result<String, StoreError> {
    const OPERATIONS: &str = "SELECT ordinal, kind, state FROM operations WHERE tool_call_id = $1 ORDER BY ordinal";
    let operations: Vec<(i32, String, String)> = query_as(OPERATIONS).bind(call).fetch_all(database).await?;
    let named = |wanted: &str| {
        let those = operations.iter().filter(|(_, _, state)| state == wanted);
        those.map(|(ordinal, kind, _)| format!("operation {ordinal} ({kind})")).collect::<Vec<_>>().join(", ")
    };
    let (done, unknown) = (named(OperationState::Done.as_str()), named(OperationState::Unknown.as_str()));
    let mut told = match done.as_str() {
        "" => "In this database nothing of it has happened.".to_owned(),
        done => format!("Done before that, and not taken back: {done}. Nothing else of it has happened in this database."),
    };
    if !unknown.is_empty() {
        told += &format!(" Nobody knows whether this happened: {unknown}.");
    }
    Ok(told + " What it sent elsewhere may have arrived: look before it is done again.")
}
