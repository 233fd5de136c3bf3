//! The connections of the server's own login. The one that was used last is used next: it is at
//! once at hand, its process in Postgres is warm, and nothing is asked of it when it is given back.
//!
//! The pool of sqlx gives out the one that has rested longest, and pings each that comes back. So a
//! turn went over all of them in a circle, and each statement met a process whose memory was cold.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Connection, Either, Error, Execute, Executor, PgPool, Postgres, Transaction};
use sqlx_core::describe::Describe;
use sqlx_core::sql_str::SqlStr;
use tokio::time::Instant;

/// How long an idle connection counts as alive without a question.
pub(super) const FRESH: Duration = Duration::from_secs(1);
/// After so long the pool is given a connection that was in use all the time: it ends those that
/// are old.
const LONGEST: Duration = Duration::from_secs(60);

/// The connections. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    pool: PgPool,
    warm: Arc<Mutex<Warm>>,
}

/// The connections that were used lately, the last one at the end.
#[derive(Debug, Default)]
struct Warm {
    kept: Vec<Kept>,
    /// How many wait for one of the pool: what is given back meanwhile is for them.
    waiting: usize,
}

/// A connection out of the pool.
#[derive(Debug)]
struct Kept {
    connection: PoolConnection<Postgres>,
    /// The time when it was taken from the pool.
    since: Instant,
    /// The time when it was last used.
    used: Instant,
}

/// A place in the line for the pool; dropped, it is given up.
struct Waiting<'a>(&'a Connections);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.with(|warm| warm.waiting -= 1);
    }
}

impl Connections {
    pub(super) fn new(pool: PgPool) -> Self {
        Self { pool, warm: Arc::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Warm) -> T) -> T {
        work(&mut self.warm.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn take(&self) -> Result<Kept, Error> {
        loop {
            let kept = self.with(|warm| {
                let kept = warm.kept.pop();
                warm.waiting += usize::from(kept.is_none());
                kept
            });
            let Some(mut kept) = kept else {
                let _waiting = Waiting(self);
                let connection = self.pool.acquire().await?;
                let now = Instant::now();
                return Ok(Kept { connection, since: now, used: now });
            };
            if kept.used.elapsed() <= FRESH || kept.connection.ping().await.is_ok() {
                return Ok(kept);
            }
            kept.connection.close_on_drop();
        }
    }

    /// Keeps a connection whose statement is over. Dropped instead it goes to the pool, which finds
    /// out how it is.
    fn give_back(&self, kept: Kept) {
        let now = Instant::now();
        let rest = self.with(|warm| {
            if warm.waiting > 0 || self.pool.is_closed() || now - kept.since > LONGEST {
                return Some(kept);
            }
            warm.kept.push(Kept { used: now, ..kept });
            // More were needed a while ago than now.
            (now - warm.kept[0].used > FRESH).then(|| warm.kept.remove(0))
        });
        drop(rest);
    }

    /// A connection for several statements.
    pub(super) async fn acquire(&self) -> Result<PoolConnection<Postgres>, Error> {
        Ok(self.take().await?.connection)
    }

    /// Begins a transaction.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Postgres>, Error> {
        let connection = self.acquire().await?;
        // If the caller is dropped meanwhile, sqlx knows of no transaction yet and rolls none back:
        // statements of others would be in it then, and be lost. So each BEGIN is waited for.
        let begun = tokio::spawn(Transaction::begin(connection, None)).await;
        begun.unwrap_or_else(|ended| Err(Error::Io(io::Error::other(ended))))
    }

    /// How many there are, and how many of them nobody uses.
    pub(super) fn counts(&self) -> (u32, u32) {
        let idle = self.pool.num_idle() + self.with(|warm| warm.kept.len());
        (self.pool.size(), u32::try_from(idle).unwrap_or(u32::MAX))
    }

    /// Gives the pool those that nobody has used for a moment: it ends them in time.
    pub(super) fn rest(&self) {
        drop(self.with(|warm| std::mem::take(&mut warm.kept)));
    }

    /// Ends all of them; further statements fail.
    pub(super) async fn close(&self) {
        // Closed first: what comes back from now on is not kept.
        let closing = self.pool.close();
        self.rest();
        closing.await;
    }
}

impl<'p> Executor<'p> for &'_ Connections {
    type Database = Postgres;

    /// Reads all rows before it gives the first.
    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let all = self.clone();
        let read = async move {
            let mut kept = all.take().await?;
            let read: Vec<_> = kept.connection.fetch_many(query).try_collect().await?;
            all.give_back(kept);
            Ok::<_, Error>(stream::iter(read.into_iter().map(Ok)))
        };
        stream::once(read).try_flatten().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let all = self.clone();
        Box::pin(async move {
            let mut kept = all.take().await?;
            let row = kept.connection.fetch_optional(query).await?;
            all.give_back(kept);
            Ok(row)
        })
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [PgTypeInfo]) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'p: 'e,
    {
        let all = self.clone();
        Box::pin(async move { all.acquire().await?.prepare_with(sql, parameters).await })
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, Error>>
    where
        'p: 'e,
    {
        let all = self.clone();
        Box::pin(async move { all.acquire().await?.describe(sql).await })
    }
}
