//! Calls by Vapi: whose call knocks, what came already, and the seconds that its report corrects.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_scalar};

use super::VoiceError;
use super::rows::CallRow;
use crate::domain::todo::local_month;
use crate::domain::voice::{VoiceAdapter, VoiceEnd, month_key, reported_seconds};
use crate::domain::{ConversationId, UserId, VoiceCallId, VoiceInput};
use crate::store::{Store, StoreError, Theirs, Unit};

/// So long after its end a call's messages are still taken: the report of its end comes behind it.
const AFTER_THE_END: TimeDelta = TimeDelta::minutes(10);

/// A call that Vapi makes, as it is known before anybody has shown to be it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VapiCall {
    /// The call.
    pub call: VoiceCallId,
    /// Its person.
    pub user: UserId,
    /// Everything is said there.
    pub conversation: ConversationId,
    /// True while it goes on.
    pub open: bool,
    /// How many messages of the person the model's side has brought.
    pub said: i32,
    /// The last of them.
    pub heard: Option<String>,
    /// Vapi's own id of it.
    pub id: Option<String>,
}

impl Store {
    /// The call of this number, if Vapi makes it and its secrets live.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn vapi_call(&self, call: VoiceCallId, now: DateTime<Utc>) -> Result<Option<VapiCall>, StoreError> {
        let row = query!(
            r#"SELECT user_id, conversation_id, ended_at IS NULL AS "open!", vapi_said, vapi_heard, vapi_id
               FROM voice_calls JOIN users u ON u.id = user_id
               WHERE voice_call_id = $1 AND adapter = $2 AND (ended_at IS NULL OR ended_at > $3) AND disabled_at IS NULL"#,
            call.0,
            VoiceAdapter::Vapi.as_str(),
            now - AFTER_THE_END
        );
        Ok(row.fetch_optional(&self.pool).await?.map(|row| VapiCall {
            call,
            user: UserId(row.user_id),
            conversation: ConversationId(row.conversation_id),
            open: row.open,
            said: row.vapi_said,
            heard: row.vapi_heard,
            id: row.vapi_id,
        }))
    }
}

impl Theirs {
    /// True if this comes for the first time in a call.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn comes_first(&self, call: VoiceCallId, what: &str) -> Result<bool, StoreError> {
        let kept = query!(
            "INSERT INTO voice_seen (voice_call_id, what)
             SELECT voice_call_id, $2 FROM voice_calls WHERE voice_call_id = $1 AND user_id = $3 ON CONFLICT DO NOTHING",
            call.0,
            what,
            self.user.0
        );
        Ok(kept.execute(&self.store.pool).await?.rows_affected() == 1)
    }

    /// Keeps what the model's side has brought last.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn keep_vapi_heard(&self, call: VoiceCallId, said: i32, heard: &str) -> Result<(), StoreError> {
        let kept = query!(
            "UPDATE voice_calls SET vapi_said = $2, vapi_heard = $3 WHERE voice_call_id = $1 AND vapi_said <= $2 AND user_id = $4",
            call.0,
            said,
            heard,
            self.user.0
        );
        kept.execute(&self.store.pool).await?;
        Ok(())
    }

    /// The report of a call's end has come: the call is over, and its seconds are those of the
    /// report, as far as our own clock can bear that. A report that comes again changes nothing.
    /// `seconds` is `None` if the report does not say them.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn report_call(&self, call: VoiceCallId, seconds: Option<i64>, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut unit = self.store.begin(now).await?;
        match unit.call_of(self.user, call).await {
            Ok(row) => unit.end_call_of(row, VoiceInput::End, VoiceEnd::HungUp, now).await?,
            Err(VoiceError::Store(error)) => return Err(error),
            // It has ended before.
            Err(VoiceError::Over(_)) => {}
            Err(_) => return Ok(()),
        }
        let reported =
            query!("UPDATE voice_calls SET reported_at = $2 WHERE voice_call_id = $1 AND reported_at IS NULL", call.0, now);
        if reported.execute(&mut *unit.tx).await?.rows_affected() == 1
            && let Some(seconds) = seconds
            && let Some((row, ended)) = unit.ended_call(self.user, call).await?
        {
            unit.correct_seconds(&row, seconds, ended.1).await?;
            unit.tell_call(&row, Some(ended)).await?;
        }
        unit.commit().await
    }
}

impl Unit {
    /// Makes the seconds of a call those that were reported, within what the clock here saw.
    async fn correct_seconds(&mut self, row: &CallRow, reported: i64, ended_at: DateTime<Utc>) -> Result<(), StoreError> {
        let call = row.call().0;
        let counted = query_scalar!(
            r#"SELECT coalesce(sum(seconds), 0)::bigint AS "counted!" FROM voice_seconds WHERE voice_call_id = $1"#,
            call
        );
        let counted = counted.fetch_one(&mut *self.tx).await?;
        let mut difference = reported_seconds(counted, reported) - counted;
        if difference > 0 {
            let zone = self.voice_month(row.user()).await?.zone();
            query!(
                "INSERT INTO voice_seconds AS s (voice_call_id, user_id, month, seconds) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (voice_call_id, month) DO UPDATE SET seconds = s.seconds + EXCLUDED.seconds",
                call,
                row.user().0,
                month_key(local_month(zone, ended_at)),
                difference
            )
            .execute(&mut *self.tx)
            .await?;
            return Ok(());
        }
        // The end of a call goes first, which may be in another month than its beginning.
        let months = query!("SELECT month, seconds FROM voice_seconds WHERE voice_call_id = $1 ORDER BY month DESC", call);
        for month in months.fetch_all(&mut *self.tx).await? {
            // A month in which somebody talked keeps a second: events say which months a call was
            // in.
            let taken = (month.seconds - 1).min(-difference);
            difference += taken;
            if taken > 0 {
                query!(
                    "UPDATE voice_seconds SET seconds = seconds - $3 WHERE voice_call_id = $1 AND month = $2",
                    call,
                    month.month,
                    taken
                )
                .execute(&mut *self.tx)
                .await?;
            }
        }
        Ok(())
    }
}
