//! The rows of calls and of their seconds.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use sqlx::{query, query_as, query_scalar};

use super::VoiceError;
use crate::domain::todo::{TierLimits, local_month, zone_named};
use crate::domain::voice::{BEAT_SECONDS, VoiceAdapter, VoiceEnd, WARNED_SECONDS, counted, month_key};
use crate::domain::{ConversationId, Machine, UserId, VoiceCallId, VoiceInput, VoiceState};
use crate::facts::VoiceCallChanged;
use crate::store::{StoreError, Unit, word};
use crate::wire::api::VoiceCall;

/// An open call.
#[derive(Clone, Debug)]
pub(super) struct CallRow {
    call: VoiceCallId,
    user: UserId,
    conversation: ConversationId,
    adapter: VoiceAdapter,
    pub(super) state: VoiceState,
    started_at: DateTime<Utc>,
    pub(super) beat_at: DateTime<Utc>,
    pub(super) counted_at: Option<DateTime<Utc>>,
    pub(super) limit_at: Option<DateTime<Utc>>,
}

impl CallRow {
    pub(super) fn call(&self) -> VoiceCallId {
        self.call
    }

    pub(super) fn user(&self) -> UserId {
        self.user
    }

    /// The call as the page gets it, with so many seconds left of the month.
    pub(super) fn shown(&self, seconds_left: Option<u64>) -> VoiceCall {
        VoiceCall {
            call: self.call,
            conversation: self.conversation,
            adapter: self.adapter,
            state: self.state,
            started_at: self.started_at,
            seconds_left,
            warned: seconds_left.is_some_and(|left| left <= WARNED_SECONDS),
            beat_seconds: BEAT_SECONDS,
            room: None,
        }
    }
}

/// A row as the macros read it.
struct Row {
    voice_call_id: i64,
    user_id: i64,
    conversation_id: i64,
    adapter: String,
    state: String,
    started_at: DateTime<Utc>,
    beat_at: DateTime<Utc>,
    counted_at: Option<DateTime<Utc>>,
    limit_at: Option<DateTime<Utc>>,
    reason: Option<String>,
}

impl Row {
    /// The call, if it is open.
    ///
    /// # Errors
    /// [`VoiceError::Over`] if it is not.
    fn open(self) -> Result<CallRow, VoiceError> {
        if let Some(reason) = self.reason {
            return Err(VoiceError::Over(word(&reason)?));
        }
        Ok(self.row()?)
    }

    /// The call, open or not.
    fn row(self) -> Result<CallRow, StoreError> {
        Ok(CallRow {
            call: VoiceCallId(self.voice_call_id),
            user: UserId(self.user_id),
            conversation: ConversationId(self.conversation_id),
            adapter: word(&self.adapter)?,
            state: word(&self.state)?,
            started_at: self.started_at,
            beat_at: self.beat_at,
            counted_at: self.counted_at,
            limit_at: self.limit_at,
        })
    }
}

/// A person's month: how much they may talk, and how much they have.
pub(super) struct VoiceMonth {
    zone: Tz,
    limits: TierLimits,
    used: u64,
}

impl VoiceMonth {
    /// The zone of their clock.
    pub(super) fn zone(&self) -> Tz {
        self.zone
    }

    /// True if the tier has voice at all.
    pub(super) fn has_voice(&self) -> bool {
        self.limits.voice_seconds_left(0) != Some(0)
    }

    /// The seconds that are left; `None`: as many as one likes.
    pub(super) fn left(&self) -> Option<u64> {
        self.limits.voice_seconds_left(self.used)
    }
}

impl Unit {
    /// A person's month, at the time of this transaction.
    pub(super) async fn voice_month(&mut self, user: UserId) -> Result<VoiceMonth, StoreError> {
        let row = query!(
            r#"SELECT u.time_zone, t.messages_per_day AS "messages_per_day?", t.voice_minutes_per_month AS "voice_minutes_per_month?"
               FROM users u LEFT JOIN tiers t ON t.tier = u.tier WHERE u.id = $1"#,
            user.0
        );
        let row = row.fetch_one(&mut *self.tx).await?;
        let zone = zone_named(&row.time_zone).map_err(StoreError::Unreadable)?;
        let limit = |stored: Option<i32>| stored.map(|limit| u32::try_from(limit).unwrap_or_default());
        let limits = TierLimits {
            messages_per_day: limit(row.messages_per_day),
            voice_minutes_per_month: limit(row.voice_minutes_per_month),
        };
        let used = query_scalar!(
            r#"SELECT coalesce(sum(seconds), 0)::bigint AS "used!" FROM voice_seconds WHERE user_id = $1 AND month = $2"#,
            user.0,
            month_key(local_month(zone, self.now))
        );
        let used = used.fetch_one(&mut *self.tx).await?;
        Ok(VoiceMonth { zone, limits, used: u64::try_from(used).unwrap_or_default() })
    }

    /// The call that a person is in.
    pub(super) async fn open_call(&mut self, user: UserId) -> Result<Option<CallRow>, StoreError> {
        let row = query_as!(
            Row,
            "SELECT voice_call_id, user_id, conversation_id, adapter, state, started_at, beat_at, counted_at, limit_at, reason
             FROM voice_calls WHERE user_id = $1 AND ended_at IS NULL",
            user.0
        );
        match row.fetch_optional(&mut *self.tx).await?.map(Row::open) {
            Some(Ok(row)) => Ok(Some(row)),
            Some(Err(VoiceError::Store(error))) => Err(error),
            Some(Err(_)) | None => Ok(None),
        }
    }

    /// A call of a person, whose row is held from now on.
    ///
    /// # Errors
    /// [`VoiceError::Unknown`], [`VoiceError::Over`].
    pub(super) async fn call_of(&mut self, user: UserId, call: VoiceCallId) -> Result<CallRow, VoiceError> {
        query_scalar!("SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE", user.0).fetch_optional(&mut *self.tx).await?;
        let row = query_as!(
            Row,
            "SELECT voice_call_id, user_id, conversation_id, adapter, state, started_at, beat_at, counted_at, limit_at, reason
             FROM voice_calls WHERE voice_call_id = $2 AND user_id = $1 FOR UPDATE",
            user.0,
            call.0
        );
        row.fetch_optional(&mut *self.tx).await?.ok_or(VoiceError::Unknown(call))?.open()
    }

    /// A call of a person that has ended, with its end.
    pub(super) async fn ended_call(
        &mut self,
        user: UserId,
        call: VoiceCallId,
    ) -> Result<Option<(CallRow, (VoiceEnd, DateTime<Utc>))>, StoreError> {
        let row = query_as!(
            Row,
            "SELECT voice_call_id, user_id, conversation_id, adapter, state, started_at, beat_at, counted_at, limit_at, reason
             FROM voice_calls WHERE voice_call_id = $2 AND user_id = $1 AND ended_at IS NOT NULL FOR UPDATE",
            user.0,
            call.0
        );
        let Some(row) = row.fetch_optional(&mut *self.tx).await? else { return Ok(None) };
        let ended_at = query_scalar!("SELECT ended_at FROM voice_calls WHERE voice_call_id = $1", call.0);
        let Some(ended_at) = ended_at.fetch_one(&mut *self.tx).await? else { return Ok(None) };
        let Some(reason) = row.reason.as_deref().map(word).transpose()? else { return Ok(None) };
        Ok(Some((row.row()?, (reason, ended_at))))
    }

    /// Makes the row of a call that begins now. `made`: the number that it has already, and Vapi's
    /// id.
    pub(super) async fn insert_call(
        &mut self,
        user: UserId,
        conversation: ConversationId,
        adapter: VoiceAdapter,
        made: Option<(VoiceCallId, &str)>,
    ) -> Result<CallRow, StoreError> {
        let (state, _) = VoiceState::FIRST.next(VoiceInput::Call)?;
        let (number, vapi_id) = made.unzip();
        let call = query_scalar::<_, i64>(
            "INSERT INTO voice_calls (voice_call_id, user_id, conversation_id, adapter, state, started_at, beat_at, vapi_id)
             VALUES (coalesce($6, nextval(pg_get_serial_sequence('voice_calls', 'voice_call_id'))), $1, $2, $3, $4, $5, $5, $7)
             RETURNING voice_call_id",
        );
        let call = call.bind(user.0).bind(conversation.0).bind(adapter.as_str()).bind(state.as_str()).bind(self.now);
        let call = call.bind(number.map(|number| number.0)).bind(vapi_id);
        let call = VoiceCallId(call.fetch_one(&mut *self.tx).await?);
        let (started_at, beat_at) = (self.now, self.now);
        Ok(CallRow { call, user, conversation, adapter, state, started_at, beat_at, counted_at: None, limit_at: None })
    }

    /// Adds the seconds of a call since its last count to the month of its person.
    pub(super) async fn count_seconds(&mut self, row: &mut CallRow, until: DateTime<Utc>) -> Result<(), StoreError> {
        let Some(from) = row.counted_at else { return Ok(()) };
        let (seconds, next) = counted(from, until);
        row.counted_at = Some(next);
        if seconds == 0 {
            return Ok(());
        }
        let zone = self.voice_month(row.user).await?.zone;
        query!(
            "INSERT INTO voice_seconds AS s (voice_call_id, user_id, month, seconds) VALUES ($1, $2, $3, $4)
             ON CONFLICT (voice_call_id, month) DO UPDATE SET seconds = s.seconds + EXCLUDED.seconds",
            row.call.0,
            row.user.0,
            month_key(local_month(zone, until)),
            seconds
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// Keeps a call after a beat.
    pub(super) async fn keep_beat(&mut self, row: &CallRow) -> Result<(), StoreError> {
        query!(
            "UPDATE voice_calls SET state = $2, beat_at = $3, counted_at = $4, limit_at = $5 WHERE voice_call_id = $1",
            row.call.0,
            row.state.as_str(),
            row.beat_at,
            row.counted_at,
            row.limit_at
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// Keeps the end of a call.
    pub(super) async fn keep_end(&mut self, row: &CallRow, reason: VoiceEnd, at: DateTime<Utc>) -> Result<(), StoreError> {
        query!(
            "UPDATE voice_calls SET state = $2, counted_at = $3, ended_at = $4, reason = $5 WHERE voice_call_id = $1",
            row.call.0,
            row.state.as_str(),
            row.counted_at,
            at,
            reason.as_str()
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// Records what a call is now, and, with its end, its seconds.
    pub(super) async fn tell_call(&mut self, row: &CallRow, ended: Option<(VoiceEnd, DateTime<Utc>)>) -> Result<(), StoreError> {
        let mut seconds = BTreeMap::new();
        if ended.is_some() {
            let counted = query!("SELECT month, seconds FROM voice_seconds WHERE voice_call_id = $1", row.call.0);
            seconds = counted.fetch_all(&mut *self.tx).await?.into_iter().map(|row| (row.month, row.seconds)).collect();
        }
        let &CallRow { call, user, conversation, adapter, state, started_at, .. } = row;
        let (reason, ended_at) = ended.unzip();
        let event = VoiceCallChanged { user, call, adapter, state, started_at, ended_at, reason, seconds };
        self.append(conversation, event.into()).await
    }
}
