//! The cost of answers that never come to their end. Each request to a model begins an attempt
//! here. An attempt that is not completed, for whatever reason, counts. It lives in memory until
//! the turn's next write: a crash loses it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::query_scalar;

use crate::domain::{ConversationId, Rate, TurnId, Usage};
use crate::facts::AnswerBrokenOff;
use crate::store::{Lease, Store, StoreError, Unit, storable};

/// Bytes of a token, if nobody counted: a little less than in English prose, more than in code.
const TOKEN_BYTES: u64 = 4;

/// An answer that broke off, and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenAnswer {
    /// The model that was asked.
    pub model: String,
    /// Tokens that the provider counted, else an estimate from the bytes that were sent and
    /// received.
    pub usage: Usage,
    /// True if the provider counted.
    pub counted: bool,
    /// The model's rate, for a model without one in the table of rates.
    pub rate: Option<Rate>,
}

/// Counts the attempts of one turn. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<Mutex<Attempts>>);

#[derive(Debug, Default)]
struct Attempts {
    begun: u64,
    open: BTreeMap<u64, BrokenAnswer>,
}

/// Requests are compared without their meters.
impl PartialEq for Meter {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A request that a provider accepted, and whose answer is coming in.
#[derive(Debug)]
pub struct Attempt {
    meter: Meter,
    number: u64,
}

/// Tokens in so many bytes, if nobody counted.
pub fn estimated(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(TOKEN_BYTES)
}

impl Meter {
    /// A provider has accepted a request of so many bytes.
    pub fn begin(&self, model: &str, bytes: usize, rate: Option<Rate>) -> Attempt {
        let usage = Usage { input: estimated(bytes), output: 0 };
        let mut attempts = self.lock();
        attempts.begun += 1;
        let number = attempts.begun;
        attempts.open.insert(number, BrokenAnswer { model: model.to_owned(), usage, counted: false, rate });
        drop(attempts);
        Attempt { meter: self.clone(), number }
    }

    /// The answers that broke off since the last call.
    pub fn take(&self) -> Vec<BrokenAnswer> {
        std::mem::take(&mut self.lock().open).into_values().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Attempts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt {
    /// So much of the answer has come in altogether; `counted` is the provider's own count, if it
    /// gave one.
    pub fn received(&self, bytes: usize, counted: Option<Usage>) {
        let mut attempts = self.meter.lock();
        let Some(answer) = attempts.open.get_mut(&self.number) else { return };
        answer.usage.output = estimated(bytes);
        if let Some(usage) = counted {
            // Some providers count as they write, so the last bytes are not in their count yet.
            answer.usage = Usage { input: usage.input, output: usage.output.max(answer.usage.output) };
            answer.counted = true;
        }
    }

    /// True if nothing of an answer has come.
    pub fn is_empty(&self) -> bool {
        self.usage().is_none_or(|usage| usage.output == 0)
    }

    /// The tokens so far.
    pub fn usage(&self) -> Option<Usage> {
        self.meter.lock().open.get(&self.number).map(|answer| answer.usage)
    }

    /// The answer is whole, and its step counts it; or nothing was used up.
    pub fn complete(self) {
        self.meter.lock().open.remove(&self.number);
    }
}

/// The meters of the turns at work in this process, so that a stop counts the answers that it cuts.
/// Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Meters(Arc<Mutex<HashMap<TurnId, (i64, Meter)>>>);

/// A turn's meter, which a stop finds until this is dropped.
#[derive(Debug)]
pub struct Metered {
    meters: Meters,
    turn: TurnId,
    fence: i64,
    /// The meter.
    pub meter: Meter,
}

impl Meters {
    /// Work on a turn begins.
    pub fn begin(&self, lease: &Lease) -> Metered {
        let meter = Meter::default();
        self.lock().insert(lease.turn, (lease.fence, meter.clone()));
        Metered { meters: self.clone(), turn: lease.turn, fence: lease.fence, meter }
    }

    /// The answers that broke off in a turn, if this process works on it under this fence.
    pub(super) fn take(&self, turn: TurnId, fence: i64) -> Vec<BrokenAnswer> {
        let meters = self.lock();
        meters.get(&turn).filter(|(held, _)| *held == fence).map(|(_, meter)| meter.take()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TurnId, (i64, Meter)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        let mut meters = self.meters.lock();
        if meters.get(&self.turn).is_some_and(|(fence, _)| *fence == self.fence) {
            meters.remove(&self.turn);
        }
    }
}

impl Store {
    /// The meters of the turns at work in this process.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// Records the answers that broke off in a turn.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn count_broken(
        &self,
        lease: &Lease,
        broken: &[BrokenAnswer],
        now: chrono::DateTime<chrono::Utc>,
    ) -> Result<(), StoreError> {
        if broken.is_empty() {
            return Ok(());
        }
        let mut unit = self.begin(now).await?;
        unit.hold(lease).await?;
        unit.count_broken(lease.conversation, lease.turn, broken).await?;
        unit.commit().await
    }
}

impl Unit {
    /// Records the answers that broke off in a turn whose row the caller has locked.
    pub(super) async fn count_broken(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        broken: &[BrokenAnswer],
    ) -> Result<(), StoreError> {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        for BrokenAnswer { model, usage, counted, rate } in broken {
            let model = storable(model);
            let kept = sqlx::query!(
                "INSERT INTO broken_answers (turn_id, model, input_tokens, output_tokens, counted, cost_micros, created_at)
                 VALUES ($1, $2, $3, $4, $5, cost_at($2, $3, $4, $7, $8), $6) RETURNING broken_answer_id, cost_micros",
                turn.0,
                &*model,
                number(usage.input),
                number(usage.output),
                counted,
                self.now,
                rate.map(|rate| number(rate.input_micros)),
                rate.map(|rate| number(rate.output_micros))
            )
            .fetch_one(&mut *self.tx)
            .await?;
            let event = AnswerBrokenOff {
                turn,
                answer: kept.broken_answer_id,
                model: model.into_owned(),
                usage: *usage,
                counted: *counted,
                cost_micros: kept.cost_micros,
            };
            self.append(conversation, event.into()).await?;
        }
        Ok(())
    }

    /// The number of the turn's next step.
    pub(super) async fn next_step(&mut self, turn: TurnId) -> Result<i32, StoreError> {
        let next = query_scalar!(r#"SELECT coalesce(max(number), 0) + 1 AS "next!" FROM steps WHERE turn_id = $1"#, turn.0);
        Ok(next.fetch_one(&mut *self.tx).await?)
    }
}

#[cfg(test)]
mod tests;
