//! Capabilities that may have ended the process: counted by version, and disabled at the third
//! time.

use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use super::turns::TurnEnd;
use crate::domain::{Machine, Origin, ToolCallId, TurnState};
use crate::facts::CapabilityChanged;
use crate::store::lease::LockedTurn;
use crate::store::{NewStep, Store, StoreError};

/// A call in whose middle the process ended.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Crash {
    /// The call.
    pub call: ToolCallId,
    /// The number of the attempt at it.
    pub fence: i64,
    /// The capability.
    pub name: String,
    /// Its version.
    pub version: i32,
}

impl Store {
    /// Counts a crash. After `limit` of them without a successful call of this capability between,
    /// the live version is disabled and the user told, in the same transaction. True if that
    /// happened now. The same crash counts once.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn record_crash(&self, crash: &Crash, limit: u32, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let main = self.owners().main_conversation(now).await?;
        let mut unit = self.begin(now).await?;
        // First the conversation, then the capability: every transaction that locks both does so.
        query_scalar!("SELECT conversation_id FROM conversations WHERE conversation_id = $1 FOR UPDATE", main.0)
            .fetch_one(&mut *unit.tx)
            .await?;
        let Crash { call, fence, name, version } = crash;
        query!(
            "INSERT INTO capability_crashes (tool_call_id, fence, name, version, created_at)
             SELECT c.tool_call_id, $2, v.name, v.version, $5 FROM capability_versions v, tool_calls c
             WHERE c.tool_call_id = $1 AND v.name = $3 AND v.version = $4
             ON CONFLICT DO NOTHING",
            call.0,
            fence,
            name,
            version,
            now
        )
        .execute(&mut *unit.tx)
        .await?;
        let disabled = query!(
            "UPDATE capabilities SET state = 'disabled', updated_at = $3
             WHERE name = $1 AND version = $2 AND state = 'installed'
               AND (SELECT count(*) FROM capability_crashes c
                    WHERE c.name = $1 AND c.version = $2
                      AND c.created_at > coalesce(
                          (SELECT max(ended_at) FROM tool_calls t WHERE t.name = $1 AND t.state = 'done'), '-infinity')) >= $4",
            name,
            version,
            now,
            i64::from(limit)
        )
        .execute(&mut *unit.tx)
        .await?
        .rows_affected()
            == 1;
        if disabled {
            let disabled = CapabilityChanged { name: name.clone(), version: *version, enabled: false };
            unit.append(main, disabled.into()).await?;
            // The controller's own words, as a turn that no runner has to take up.
            let turn = unit.queue_turn(main, Origin::Command, None, &format!("[controller] What became of `{name}`?")).await?;
            let content = format!(
                "The capability `{name}` (version {version}) is disabled: the server ended {limit} times in a row in the middle of a call of \
                 it. If something else ended the server, enable it again; else have it written anew, a new version begins at zero."
            );
            let step = NewStep {
                number: 1,
                model: "level3",
                finish_reason: "quarantine",
                content: &content,
                last: true,
                ..NewStep::default()
            };
            unit.insert_step(main, turn, &step, None).await?;
            let held = LockedTurn { conversation: main, turn, state: TurnState::FIRST };
            unit.end_turn(held, TurnEnd::Announced).await?;
        }
        unit.commit().await?;
        Ok(disabled)
    }
}
