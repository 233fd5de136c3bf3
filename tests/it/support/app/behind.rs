//! The database behind the server, as a story looks at it and changes it.

use sqlx::{ConnectOptions, PgConnection};

use super::super::{cluster, in_time};
use super::TestApp;

impl TestApp {
    /// A connection that may read and change everything, to look behind the scenes.
    pub async fn behind(&self) -> PgConnection {
        behind(&self.database).await
    }

    /// One number from the database.
    pub async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&mut self.behind().await).await.unwrap()
    }

    /// Waits until a query counts so many, for what no frame and no event of this server tells.
    pub async fn until(&self, query: &'static str, wanted: i64) {
        let mut behind = self.behind().await;
        let counted = async {
            while sqlx::query_scalar::<_, i64>(query).fetch_one(&mut behind).await.unwrap() != wanted {
                tokio::task::yield_now().await;
            }
        };
        in_time(query, counted).await;
    }
}

/// A connection that may read and change everything.
pub(super) async fn behind(database: &str) -> PgConnection {
    cluster().database(database).options([("search_path", "level3")]).connect().await.unwrap()
}
