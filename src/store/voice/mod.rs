//! Calls with Law: one at a time for each person, their seconds, and their end. A change of a call
//! holds the person's row first, so two tabs, a beat and the heartbeat come one after the other.

mod rows;
mod vapi;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_scalar};

use self::rows::CallRow;
use super::{Store, StoreError, Theirs, Unit};
use crate::domain::todo::QuotaReached;
use crate::domain::voice::{SILENCE, VoiceAdapter, VoiceEnd, ended_by_itself};
use crate::domain::{ConversationId, Machine, VoiceAction, VoiceCallId, VoiceInput, VoiceState};
use crate::wire::api::{SpeechPlaces, VoiceCall, VoiceLine};

pub use vapi::VapiCall;

/// A call that is to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewCall<'a> {
    /// Everything is said there.
    pub conversation: ConversationId,
    /// The ears and the mouth.
    pub adapter: VoiceAdapter,
    /// True to end the call that goes on in another tab.
    pub take_over: bool,
    /// If Vapi has made it: the number that it was made with, and Vapi's own id of it.
    pub made: Option<(VoiceCallId, &'a str)>,
}

/// The reason why a call does not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum VoiceError {
    /// The person's tier has no voice.
    #[error("Talking with Law is not part of your tier.")]
    NoVoice,
    /// The minutes of the month are used up.
    #[error(transparent)]
    Quota(QuotaReached),
    /// The person is in a call.
    #[error("You are in a call already, in another tab; it can be taken over")]
    Busy(VoiceCallId),
    /// The person has no such call.
    #[error("there is no call {0}")]
    Unknown(VoiceCallId),
    /// It has ended.
    #[error("{}", .0.words())]
    Over(VoiceEnd),
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for VoiceError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Theirs {
    /// The open call, and how much may be talked this month.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn voice_line(&self, now: DateTime<Utc>) -> Result<VoiceLine, StoreError> {
        let mut unit = self.store.begin(now).await?;
        let month = unit.voice_month(self.user).await?;
        let call = match unit.open_call(self.user).await? {
            // It ends as soon as the heartbeat comes to it.
            Some(row) if ended_by_itself(row.beat_at, row.limit_at, now).is_some() => None,
            row => row.map(|row| row.shown(month.left())),
        };
        Ok(VoiceLine { voice: month.has_voice(), seconds_left: month.left(), call, servers: SpeechPlaces::default() })
    }

    /// Begins a call in a conversation of theirs. If they are in one, it is ended first if it is to
    /// be taken over.
    ///
    /// # Errors
    /// [`VoiceError`]; then nothing has changed.
    pub async fn begin_call(&self, new: NewCall<'_>, now: DateTime<Utc>) -> Result<VoiceCall, VoiceError> {
        let (unit, call) = self.begun(new, now).await?;
        unit.commit().await?;
        Ok(call)
    }

    /// The call that would begin now, with its number, which no other gets. Nothing changes:
    /// somebody else is to make the call first.
    ///
    /// # Errors
    /// As [`Theirs::begin_call`].
    pub async fn try_call(&self, new: NewCall<'_>, now: DateTime<Utc>) -> Result<VoiceCall, VoiceError> {
        self.begun(new, now).await.map(|(_not_committed, call)| call)
    }

    async fn begun(&self, new: NewCall<'_>, now: DateTime<Utc>) -> Result<(Unit, VoiceCall), VoiceError> {
        let NewCall { conversation, adapter, take_over, made } = new;
        self.store.has_room()?;
        self.own(conversation).await?;
        let mut unit = self.store.begin(now).await?;
        unit.hold_user_of(conversation).await?;
        if !unit.voice_month(self.user).await?.has_voice() {
            return Err(VoiceError::NoVoice);
        }
        if let Some(open) = unit.open_call(self.user).await? {
            let by_itself = ended_by_itself(open.beat_at, open.limit_at, now);
            let (reason, at) = match by_itself {
                Some(end) => end,
                None if take_over => (VoiceEnd::TakenOver, now),
                None => return Err(VoiceError::Busy(open.call())),
            };
            unit.end_call_of(open, VoiceInput::End, reason, at).await?;
        }
        let left = unit.voice_month(self.user).await?.left();
        if left == Some(0) {
            return Err(VoiceError::Quota(QuotaReached::Voice));
        }
        let row = unit.insert_call(self.user, conversation, adapter, made).await?;
        unit.tell_call(&row, None).await?;
        Ok((unit, row.shown(left)))
    }

    /// The page says that a call goes on; with its first beat both can talk.
    ///
    /// # Errors
    /// [`VoiceError`]: [`VoiceError::Over`] if it has ended, just now or before.
    pub async fn beat_call(&self, call: VoiceCallId, now: DateTime<Utc>) -> Result<VoiceCall, VoiceError> {
        let mut unit = self.store.begin(now).await?;
        let mut row = unit.call_of(self.user, call).await?;
        if let Some((reason, at)) = ended_by_itself(row.beat_at, row.limit_at, now) {
            unit.end_call_of(row, VoiceInput::End, reason, at).await?;
            unit.commit().await?;
            return Err(VoiceError::Over(reason));
        }
        let before = row.state;
        let (state, actions) = before.next(VoiceInput::Beat).map_err(StoreError::from)?;
        for action in actions {
            match action {
                VoiceAction::StartCounting => row.counted_at = Some(now),
                VoiceAction::CountSeconds => unit.count_seconds(&mut row, now).await?,
            }
        }
        let left = unit.voice_month(self.user).await?.left();
        (row.state, row.beat_at) = (state, now);
        // The tier and the zone may be others by now.
        row.limit_at = left.map(|left| now + TimeDelta::seconds(left.min(i64::from(i32::MAX).unsigned_abs()).cast_signed()));
        if left == Some(0) {
            unit.keep_beat(&row).await?;
            unit.end_call_of(row, VoiceInput::End, VoiceEnd::Minutes, now).await?;
            unit.commit().await?;
            return Err(VoiceError::Over(VoiceEnd::Minutes));
        }
        unit.keep_beat(&row).await?;
        if before != state {
            unit.tell_call(&row, None).await?;
        }
        unit.commit().await?;
        // The minutes may be used up before the heartbeat would look.
        let due = row.limit_at.map_or(now + SILENCE, |limit| limit.min(now + SILENCE));
        self.store.signals.due_at(due);
        Ok(row.shown(left))
    }

    /// Ends a call of theirs: the person hung up, or the page cannot go on. One that has ended
    /// stays as it is.
    ///
    /// # Errors
    /// [`VoiceError::Unknown`], or if the database does not answer.
    pub async fn end_call(&self, call: VoiceCallId, failed: bool, now: DateTime<Utc>) -> Result<VoiceEnd, VoiceError> {
        let mut unit = self.store.begin(now).await?;
        let row = match unit.call_of(self.user, call).await {
            Err(VoiceError::Over(reason)) => return Ok(reason),
            row => row?,
        };
        let wanted = if failed { VoiceEnd::Failed } else { VoiceEnd::HungUp };
        let (reason, at) = ended_by_itself(row.beat_at, row.limit_at, now).unwrap_or((wanted, now));
        let input = if reason == VoiceEnd::Failed { VoiceInput::Fail } else { VoiceInput::End };
        unit.end_call_of(row, input, reason, at).await?;
        unit.commit().await?;
        Ok(reason)
    }

    /// True if they are in this call, and it is in this conversation: words that come with it were
    /// spoken.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn is_talking(
        &self,
        call: VoiceCallId,
        conversation: ConversationId,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let open = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM voice_calls WHERE voice_call_id = $1 AND user_id = $2 AND conversation_id = $3
                 AND ended_at IS NULL AND state = $4 AND beat_at > $5) AS "open!""#,
            call.0,
            self.user.0,
            conversation.0,
            VoiceState::Active.as_str(),
            now - SILENCE
        );
        Ok(open.fetch_one(&self.store.pool).await?)
    }
}

impl Store {
    /// Ends every call that nobody was heard in for long, or whose person has no minute left.
    ///
    /// # Errors
    /// If the database does not answer; those that were ended until then stay so.
    pub async fn end_voice_calls(&self, now: DateTime<Utc>) -> Result<(), StoreError> {
        let due = query!(
            "SELECT c.voice_call_id, c.user_id FROM wake_ups w JOIN voice_calls c ON c.voice_call_id = w.subject
             WHERE w.kind = 'voice' AND w.at <= $1 ORDER BY w.at, w.subject",
            now
        );
        for found in due.fetch_all(&self.pool).await? {
            let mut unit = self.begin(now).await?;
            let row = match unit.call_of(crate::domain::UserId(found.user_id), VoiceCallId(found.voice_call_id)).await {
                Ok(row) => row,
                // Somebody was faster.
                Err(VoiceError::Store(error)) => return Err(error),
                Err(_) => continue,
            };
            if let Some((reason, at)) = ended_by_itself(row.beat_at, row.limit_at, now) {
                unit.end_call_of(row, VoiceInput::End, reason, at).await?;
                unit.commit().await?;
            }
        }
        Ok(())
    }
}

impl Unit {
    /// Ends a call whose row is held, and says so.
    async fn end_call_of(
        &mut self,
        mut row: CallRow,
        input: VoiceInput,
        reason: VoiceEnd,
        at: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let (state, actions) = row.state.next(input)?;
        for action in actions {
            match action {
                VoiceAction::StartCounting => row.counted_at = Some(at),
                VoiceAction::CountSeconds => self.count_seconds(&mut row, at).await?,
            }
        }
        row.state = state;
        self.keep_end(&row, reason, at).await?;
        self.tell_call(&row, Some((reason, at))).await
    }
}
