//! Capabilities that may have ended the process: counted by version, and disabled at the third
//! time.

use chrono::{DateTime, Utc};
use sqlx::{query, query_as};

use super::turns::TurnEnd;
use crate::domain::operator::{OrderSource, Subject};
use crate::domain::{ConversationId, Machine, Origin, ToolCallId, TurnId, TurnState};
use crate::facts::CapabilityChanged;
use crate::store::lease::LockedTurn;
use crate::store::{NewStep, OperatorWords, Store, StoreError, Unit};

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
    /// by whichever tool, the live version is disabled and the conversation of the call told, in
    /// the same transaction. So is the phone that ordered it. True if that happened now. The same
    /// crash counts once.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn record_crash(&self, crash: &Crash, limit: u32, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let Crash { call, fence, name, version } = crash;
        let mut unit = self.begin(now).await?;
        let of_call = query_as::<_, (i64, i64, Option<String>)>(
            "SELECT t.conversation_id, t.turn_id, t.client_id FROM tool_calls c JOIN turns t USING (turn_id)
             WHERE c.tool_call_id = $1",
        );
        let of_call = of_call.bind(call.0).fetch_optional(&mut *unit.tx).await?;
        // A call that is not there any more counts for nothing, and nobody is left to be told.
        let Some((conversation, ordered, client_id)) = of_call else { return Ok(false) };
        let conversation = ConversationId(conversation);
        // First the conversation, then the capability: every transaction that locks both does so.
        unit.hold_conversation(conversation).await?;
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
                          greatest((SELECT max(ended_at) FROM tool_calls t WHERE t.name = $1 AND t.state = 'done'),
                                   (SELECT max(created_at) FROM events e
                                    WHERE e.kind = 'tool_call_ended' AND e.payload #>> '{outcome,ok}' = 'true'
                                      AND e.payload #>> '{outcome,account,capability}' = $1)), '-infinity')) >= $4",
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
            unit.append(conversation, disabled.into()).await?;
            let content = format!(
                "The server ended {limit} times in a row in the middle of a call of `{name}`, so version {version} of this \
                 capability is disabled. To enable it again, use the page's place Capabilities, or level3 capability enable {name}. \
                 If nothing else ended the server, such as a power cut, have it written anew then, before it is called: a new \
                 version begins at zero."
            );
            let turn = unit.announce(conversation, &format!("`{name}` is disabled"), &content).await?;
            if let Some(OrderSource { channel, address, .. }) = client_id.as_deref().and_then(OrderSource::of) {
                let (key, about) = (Subject::Notice.key(turn.0), Some(TurnId(ordered)));
                let (channel, address) = (channel.as_str(), address.as_str());
                let words = OperatorWords { conversation, channel, address, key: &key, text: &content, turn: about, media: None };
                unit.put_out_for_operator(words).await?;
            }
        }
        unit.commit().await?;
        Ok(disabled)
    }
}

impl Unit {
    /// Says something in the controller's own words, as a turn that no runner has to take up: a
    /// person reads its `title` and its `content`.
    async fn announce(&mut self, conversation: ConversationId, title: &str, content: &str) -> Result<TurnId, StoreError> {
        let turn = self.queue_turn(conversation, Origin::Command, None, title).await?;
        let step = NewStep { number: 1, model: "level3", finish_reason: "quarantine", content, last: true, ..NewStep::default() };
        self.insert_step(conversation, turn, &step, None).await?;
        let held = LockedTurn { conversation, turn, state: TurnState::FIRST };
        self.end_turn(held, TurnEnd::Announced).await?;
        Ok(turn)
    }
}
