//! The operator: takes orders from its person's numbers by a channel, tells them what came of each,
//! and keeps copies of its scripts, its memory and its recordings where a person finds them. The
//! turns themselves run like all others.

mod desk;
mod mirror;
mod orders;
mod recordings;

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::channels::Channels;
use crate::clock::Clock;
use crate::config::{OperatorLimits, OperatorNumbers};
use crate::domain::relay::ContactAddress;
use crate::domain::{ConversationId, Mode};
use crate::profiles::{OPERATOR, Profiles};
use crate::store::{Store, StoreError};

pub use orders::OperatorOrders;

/// The numbers that may order, and the places of things.
#[derive(Clone, Debug)]
pub struct OperatorSettings {
    /// The numbers whose messages are orders.
    pub numbers: Vec<ContactAddress>,
    /// The channel by which they write.
    pub channel: String,
    /// The folder for scripts, recordings and the copy of the global context.
    pub home: PathBuf,
}

impl OperatorSettings {
    /// True if the messages of this number on this channel are orders: exactly as it stands in the
    /// settings, since a number in another spelling is another author.
    fn takes(&self, channel: &str, from: &str) -> bool {
        self.channel == channel && self.numbers.iter().any(|number| number.as_str() == from)
    }
}

/// The operator's desk. Cheap to clone.
#[derive(Clone)]
pub struct Operator {
    store: Store,
    clock: Arc<dyn Clock>,
    profiles: Profiles,
    settings: Arc<OperatorSettings>,
}

impl Operator {
    /// A desk for these numbers.
    pub fn new(store: Store, clock: Arc<dyn Clock>, profiles: Profiles, settings: OperatorSettings) -> Self {
        Self { store, clock, profiles, settings: Arc::new(settings) }
    }

    /// Takes the orders of these numbers.
    pub fn orders(&self) -> Arc<OperatorOrders> {
        Arc::new(OperatorOrders::new(self.clone()))
    }

    /// Works until `shutdown`.
    pub async fn run(self, channels: Channels, shutdown: tokio_util::sync::CancellationToken) {
        desk::Desk::new(self, channels).run(shutdown).await;
    }

    /// The one conversation of the operator.
    async fn conversation(&self) -> Result<ConversationId, StoreError> {
        self.store.owners().main_conversation_of(OPERATOR, self.clock.now()).await
    }
}

/// Brings what is kept into line with the settings of a start: who may order by which channel, and
/// so is no contact of Relay's there, and the limits of a task.
///
/// # Errors
/// If the database does not answer.
pub async fn settle(
    store: &Store,
    OperatorNumbers { channel, numbers, limits, .. }: &OperatorNumbers,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    for task in store.only_these_order(channel, &numbers, now).await? {
        tracing::warn!(%task, "a task is aborted: its number may give orders no more by its channel");
    }
    for instance in store.end_with_those_who_order(now).await? {
        tracing::warn!(%instance, "a conversation of Relay is ended: its contact gives orders to the operator now");
    }
    match limits {
        Some(limits) => set_limits(store, *limits, now).await,
        None => Ok(()),
    }
}

/// Writes the limits of a task into the operator's policy, for turns that begin or go on after
/// this. The rest of it is a person's to set.
async fn set_limits(store: &Store, limits: OperatorLimits, now: DateTime<Utc>) -> Result<(), StoreError> {
    let policy = store.policy(OPERATOR).await?;
    let mut budgets = policy.budgets;
    budgets.turn.steps = Some(limits.max_iterations);
    budgets.turn.wall_seconds = Some(limits.max_runtime_minutes.saturating_mul(60));
    budgets.turn.tokens = Some(limits.max_tokens_per_session);
    if budgets == policy.budgets {
        return Ok(());
    }
    let mode = if policy.mode == Mode::Auto { Mode::Smart } else { policy.mode };
    store.set_profile_policy(OPERATOR, mode, true, &budgets, now).await
}
