//! Tells the neighbours, the other servers on this database, of the commits here, of the text that
//! models write, and of those who watch over campaigns, and hears of theirs. All of it goes over
//! one connection, and after the commit: no transaction of a turn says anything. See ADR 31.

mod outbox;

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgListener, PgPoolOptions};
use sqlx::{PgPool, query, query_scalar};
use tokio_util::sync::CancellationToken;

use super::{Signals, Store, StoreError};
use crate::clock::Clock;
use crate::wire::ServerFrame;

pub use outbox::Hint;
pub(super) use outbox::Outbox;
use outbox::{Answers, Word};

/// The name of the connections that listen, by which servers find out whether they are alone.
pub(super) const EARS: &str = "level3 ears";
/// How often a server makes sure that it still hears, and asks who else is there, in real time: it
/// guards against connections that hang.
const ROLL_CALL: Duration = Duration::from_secs(30);
/// How long the database gets to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// How soon to try again after the database did not answer.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Tells neighbours and hears them.
pub struct Neighbours {
    pool: PgPool,
    channel: String,
    signals: Signals,
    read: Answers,
    clock: Arc<dyn Clock>,
}

/// A pool for the one connection that listens. A connection that is given back is closed, so that
/// no server counts it as one.
pub(super) fn ears(options: sqlx::postgres::PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(2)
        .idle_timeout(None)
        .max_lifetime(None)
        .after_release(|_, _| Box::pin(async { Ok(false) }))
        .connect_lazy_with(options.application_name(EARS))
}

impl Store {
    /// The part that tells and hears. No statement of the agent can know the channel's name, so
    /// none can listen or speak there. A sign of presence counts from the time by `clock` at which
    /// it is heard, since the clocks of servers need not agree.
    pub fn neighbours(&self, clock: Arc<dyn Clock>) -> Neighbours {
        let channel = format!("level3_{}", hex::encode(&self.derived_key("channel")[..16]));
        Neighbours { pool: self.ears.clone(), channel, signals: self.signals.clone(), read: Answers::default(), clock }
    }
}

impl Neighbours {
    /// Tells and hears until `ended`, then sends the words that are left.
    pub async fn run(mut self, ended: CancellationToken) {
        let mut again = false;
        while let Err(error) = self.attend(again, &ended).await {
            again = true;
            tracing::warn!(error = &error as &dyn std::error::Error, "other servers cannot be heard; trying again soon");
            // Another server may come meanwhile.
            self.signals.set_company(true);
            if tokio::time::timeout(RETRY_AFTER, ended.cancelled()).await.is_ok() {
                return;
            }
        }
    }

    async fn attend(&mut self, again: bool, ended: &CancellationToken) -> Result<(), StoreError> {
        let (mut ears, own) = tokio::select! {
            listening = self.listen(again) => listening?,
            () = ended.cancelled() => return Ok(()),
        };
        let mut roll = tokio::time::interval(ROLL_CALL);
        roll.reset();
        loop {
            tokio::select! {
                heard = ears.try_recv() => match heard? {
                    Some(heard) if heard.process_id() == own => {}
                    Some(heard) => self.hear(heard.payload()),
                    None => return Err(StoreError::broken(std::io::ErrorKind::ConnectionReset.into())),
                },
                () = self.signals.outbox().ready() => self.tell(&mut ears).await?,
                _ = roll.tick() => drop(self.call_the_roll(&mut ears).await?),
                () = ended.cancelled() => return self.tell(&mut ears).await,
            }
        }
    }

    /// Begins to listen. Returns the connection, and the number that its own notifications carry.
    async fn listen(&self, again: bool) -> Result<(PgListener, u32), StoreError> {
        let mut ears = PgListener::connect_with(&self.pool).await?;
        // A lost connection is made anew here, and everything that it missed is read.
        ears.eager_reconnect(false);
        ears.listen(&self.channel).await?;
        let own = query_scalar!(r#"SELECT pg_backend_pid() AS "pid!""#).fetch_one(&mut ears).await?.cast_unsigned();
        // Servers that listen already are counted now. A server that comes later says hello, which
        // is heard from now on.
        if self.call_the_roll(&mut ears).await? || again {
            self.signals.outbox().say(Word::Hello);
            self.signals.missed();
        }
        Ok((ears, own))
    }

    /// Finds out whether another server listens.
    async fn call_the_roll(&self, ears: &mut PgListener) -> Result<bool, StoreError> {
        let others = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1
                              AND pid <> pg_backend_pid()) AS "others!""#,
            EARS
        );
        let others = in_time(others.fetch_one(ears)).await?;
        self.signals.set_company(others);
        Ok(others)
    }

    /// Sends all waiting words in one statement. A transaction that only notifies waits for no
    /// disk. All notifying commits of a Postgres share a lock, and this holds it only for its own
    /// short time.
    async fn tell(&self, ears: &mut PgListener) -> Result<(), StoreError> {
        let words = self.signals.outbox().take();
        if !words.is_empty() {
            let told = query!("SELECT pg_notify($1, word) FROM unnest($2::text[]) word", self.channel, &words);
            in_time(told.fetch_all(ears)).await?;
        }
        Ok(())
    }

    fn hear(&mut self, payload: &str) {
        self.signals.set_company(true);
        match serde_json::from_str(payload) {
            Ok(Word::Event(hint)) => {
                if let ("turn_ended", Some(turn)) = (hint.kind.as_str(), hint.turn) {
                    self.read.forget(turn);
                }
                self.signals.hear(hint);
            }
            Ok(Word::Text(piece)) => {
                if self.read.read(&piece) {
                    let outbox::AnswerPiece { conversation, turn, step, attempt, content, .. } = piece;
                    self.signals.pass(ServerFrame::Delta { conversation, turn, step, attempt, content });
                }
            }
            Ok(Word::Watched(campaign)) => self.signals.presences().note(campaign, self.clock.now()),
            Ok(Word::Hello) => {
                // Commits while we believed ourselves alone were not told.
                self.signals.outbox().say(Word::Missed);
                self.signals.missed();
            }
            // A word of another version may say anything.
            Ok(Word::Missed) | Err(_) => self.signals.missed(),
        }
    }
}

/// The database's answer, or an error if the connection is dead and nobody said so.
async fn in_time<T>(asked: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, StoreError> {
    let answered = tokio::time::timeout(ANSWER_WITHIN, asked).await;
    Ok(answered.map_err(|_| StoreError::broken(std::io::ErrorKind::TimedOut.into()))??)
}
