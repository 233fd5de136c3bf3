//! Calls without an outcome, ended as their turn ends.

use sqlx::{query, query_as, query_scalar};

use crate::domain::{
    CallAccount, CallAction, CallInput, CallState, ConversationId, Machine, OperationState, Outcome, ToolCallId, TurnId,
};
use crate::facts::ToolCallEnded;
use crate::store::unit::kept_of;
use crate::store::{StoreError, Unit};

impl Unit {
    /// Ends every call without an outcome: it was not run, or was cut in the middle. Its own
    /// effects in this database cannot have happened, since effect and outcome commit together; the
    /// ledger has all others. `first` is said of the first such call, if anything is known of it,
    /// and what the ledger says.
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
            let told = match first.filter(|_| place == 0) {
                Some(first) => format!("{first} {}", self.ledger_in_words(row.tool_call_id).await?),
                None if row.begun => CUT.to_owned(),
                None => NOT_RUN.to_owned(),
            };
            query!(
                "INSERT INTO messages (conversation_id, turn_id, role, content, tool_call_id, created_at)
                 VALUES ($1, $2, 'tool', $3, $4, $5)",
                conversation.0,
                turn.0,
                told.as_str(),
                row.tool_call_id,
                self.now
            )
            .execute(&mut *self.tx)
            .await?;
            let unknown = query_scalar!(
                r#"SELECT EXISTS (SELECT FROM operations WHERE tool_call_id = $1 AND state = 'unknown') AS "unknown!""#,
                row.tool_call_id
            );
            let account = CallAccount { uncertain: unknown.fetch_one(&mut *self.tx).await?, ..CallAccount::default() };
            let (call, outcome) = (ToolCallId(row.tool_call_id), Outcome { account, ..Outcome::failed(told) });
            // A person can also put back the rows that operations of the call deleted before the
            // cut.
            let kept = kept_of(&mut *self.tx, call).await?;
            let ended = ToolCallEnded { turn, call, name: row.name, outcome, verdict: None, approval: None, kept };
            self.append(conversation, ended.into()).await?;
        }
        Ok(())
    }

    /// The outcome of a call that was cut, as its operations have it.
    async fn ledger_in_words(&mut self, call: i64) -> Result<String, StoreError> {
        const OPERATIONS: &str = "SELECT ordinal, kind, state FROM operations WHERE tool_call_id = $1 ORDER BY ordinal";
        let operations: Vec<(i32, String, String)> = query_as(OPERATIONS).bind(call).fetch_all(&mut *self.tx).await?;
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
}
