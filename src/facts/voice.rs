//! Calls with Law: begun, connected, ended. A beat is no event: it moves columns that say nothing
//! once the call has ended.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::{Fact, Reading};
use super::rows::{Table, time};
use crate::domain::voice::{VoiceAdapter, VoiceEnd};
use crate::domain::{UserId, VoiceCallId, VoiceState};
use crate::wire::ServerFrame;

/// Calls. The columns of a running call's clock, and of what Vapi sent of it, are of no event.
pub(super) static VOICE_CALLS: Table = Table {
    unsaid: &["beat_at", "counted_at", "limit_at", "vapi_id", "vapi_said", "vapi_heard", "reported_at"],
    ..Table::all("voice_calls", "voice_call_id::text")
};
/// The seconds of each call by the month of its person. Those of a call that goes on grow with each
/// beat, and are said with its end.
pub(super) static VOICE_SECONDS: Table = Table {
    rows: "(SELECT c.ended_at FROM voice_calls c WHERE c.voice_call_id = voice_seconds.voice_call_id) IS NOT NULL",
    ..Table::all("voice_seconds", "voice_call_id || '/' || month")
};

/// A call began, can be heard, or ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoiceCallChanged {
    /// The person.
    pub user: UserId,
    /// The call; `call` is a tool call in every event.
    #[serde(rename = "voice_call")]
    pub call: VoiceCallId,
    /// Its ears and mouth.
    pub adapter: VoiceAdapter,
    /// Its state now.
    pub state: VoiceState,
    /// When the person called.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<VoiceEnd>,
    /// Its seconds by month, with its end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seconds: BTreeMap<String, i64>,
}

impl VoiceCallChanged {
    fn words(&self) -> String {
        let seconds: i64 = self.seconds.values().sum();
        match self.reason {
            Some(reason) => format!("{} ({seconds} s)", reason.words()),
            None => format!("A call with Law is {}.", self.state),
        }
    }
}

impl Fact for VoiceCallChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { user, call, adapter, state, started_at, ended_at, reason, seconds } = self;
        to.rows(|at| {
            let row = json!({
                "voice_call_id": call, "user_id": user, "conversation_id": at.conversation, "adapter": adapter, "state": state,
                "started_at": time(*started_at), "ended_at": ended_at.map(time), "reason": reason,
            });
            let month = |(month, seconds): (&String, &i64)| {
                let row = json!({ "voice_call_id": call, "user_id": user, "month": month, "seconds": seconds });
                VOICE_SECONDS.set(format!("{call}/{month}"), row)
            };
            std::iter::once(VOICE_CALLS.set(call, row)).chain(seconds.iter().map(month)).collect::<Vec<_>>()
        })
        .frame(|_| ServerFrame::Voice { call: *call, state: *state, reason: *reason, content: self.words() })
        .print(|| (self.words(), ""));
    }
}
