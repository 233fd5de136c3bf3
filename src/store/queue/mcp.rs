//! Calls that other agents make over MCP. Each is a turn with one call. The client, the tool and
//! the arguments find it again until the client has its outcome. So a client that asks again after
//! a restart, a lost connection or an approval joins the same turn, and nothing happens twice.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_scalar};

use super::turns::TurnEnd;
use crate::domain::{CallRequest, ConversationId, Machine, TurnId, TurnInput, TurnState};
use crate::store::lease::LockedTurn;
use crate::store::{Store, StoreError, word};

/// How many calls of one client may wait for a person at the same time.
pub const MCP_WAITING: i64 = 16;

/// How long an outcome that the client did not fetch is kept for it. A later call is a new one.
const KEPT: TimeDelta = TimeDelta::days(1);

/// A call from an MCP client.
#[derive(Clone, Debug)]
pub struct McpCall<'a> {
    /// The profile of the client's conversations.
    pub profile: &'a str,
    /// The client's own name.
    pub client: &'a str,
    /// Fingerprint of tool and arguments.
    pub key: [u8; 32],
    /// The order, as the conversation shows it.
    pub content: &'a str,
    /// The call.
    pub request: CallRequest,
}

/// The turn of an MCP client's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpTurn {
    /// The turn.
    pub turn: TurnId,
    /// True if it existed already: the client had asked for it and has no answer yet.
    pub joined: bool,
}

impl Store {
    /// Queues the turn of a call, or finds the one that the same client asked for with the same
    /// arguments and has no outcome of. `None`: too many calls of this client wait for a person
    /// already.
    ///
    /// # Errors
    /// If the database does not answer; then nothing was queued.
    pub async fn mcp_call(&self, call: McpCall<'_>, now: DateTime<Utc>) -> Result<Option<McpTurn>, StoreError> {
        self.has_room()?;
        let mut unit = self.begin(now).await?;
        // The lock of the client's row puts its calls in one order.
        query!("INSERT INTO mcp_clients (name, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", call.client, now)
            .execute(&mut *unit.tx)
            .await?;
        query!("SELECT FROM mcp_clients WHERE name = $1 FOR UPDATE", call.client).fetch_one(&mut *unit.tx).await?;
        let open = query!(
            "SELECT turn_id, ended_at FROM mcp_calls JOIN turns USING (turn_id)
             WHERE client = $1 AND key = $2 AND delivered_at IS NULL",
            call.client,
            &call.key[..]
        )
        .fetch_optional(&mut *unit.tx)
        .await?;
        if let Some(open) = open {
            if open.ended_at.is_none_or(|ended| ended + KEPT > now) {
                return Ok(Some(McpTurn { turn: TurnId(open.turn_id), joined: true }));
            }
            query!("UPDATE mcp_calls SET delivered_at = $2 WHERE turn_id = $1", open.turn_id, now).execute(&mut *unit.tx).await?;
        }
        let conversations = query!(
            r#"SELECT conversation_id, EXISTS (
                   SELECT FROM turns t WHERE t.conversation_id = c.conversation_id AND t.state = 'awaiting_approval') AS "waits!"
               FROM mcp_conversations c WHERE client = $1 ORDER BY conversation_id"#,
            call.client
        )
        .fetch_all(&mut *unit.tx)
        .await?;
        let conversation = match conversations.iter().find(|row| !row.waits) {
            Some(row) => row.conversation_id,
            None if i64::try_from(conversations.len()).is_ok_and(|many| many >= MCP_WAITING) => return Ok(None),
            None => {
                let made = query_scalar!(
                    "INSERT INTO conversations (profile, created_at) VALUES ($1, $2) RETURNING conversation_id",
                    call.profile,
                    now
                )
                .fetch_one(&mut *unit.tx)
                .await?;
                query!("INSERT INTO mcp_conversations (conversation_id, client) VALUES ($1, $2)", made, call.client)
                    .execute(&mut *unit.tx)
                    .await?;
                made
            }
        };
        let turn = unit.queue_command(ConversationId(conversation), None, call.content, call.request).await?;
        query!("INSERT INTO mcp_calls (turn_id, client, key) VALUES ($1, $2, $3)", turn.0, call.client, &call.key[..])
            .execute(&mut *unit.tx)
            .await?;
        unit.commit().await?;
        Ok(Some(McpTurn { turn, joined: false }))
    }

    /// Notes that the client gets the outcome of this turn: the same call is a new one from now on.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn mcp_delivered(&self, turn: TurnId, now: DateTime<Utc>) -> Result<(), StoreError> {
        query!("UPDATE mcp_calls SET delivered_at = $2 WHERE turn_id = $1 AND delivered_at IS NULL", turn.0, now)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Ends one turn because its client took the call back. A turn that is over stays as it is.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn stop_turn(&self, turn: TurnId, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.begin(now).await?;
        let open = query!(
            "SELECT conversation_id, state FROM turns WHERE turn_id = $1 AND state = ANY($2) FOR UPDATE",
            turn.0,
            &TurnState::before(TurnInput::Stop)
        );
        if let Some(open) = open.fetch_optional(&mut *unit.tx).await? {
            let held = LockedTurn { conversation: ConversationId(open.conversation_id), turn, state: word(&open.state)? };
            unit.end_turn(held, TurnEnd::Stopped).await?;
            unit.commit().await?;
        }
        Ok(())
    }

    /// A turn's last words if a limit ended it; `None` if none did.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn limit_told(&self, turn: TurnId) -> Result<Option<String>, StoreError> {
        let said = query_scalar!(
            "SELECT content FROM steps s JOIN messages m USING (step_id) WHERE s.turn_id = $1 AND m.turn_id = $1 AND finish_reason = 'limit'",
            turn.0
        );
        Ok(said.fetch_optional(&self.pool).await?)
    }
}
