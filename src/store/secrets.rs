//! Secrets as they lie here: sealed. The key is not in the database, and nothing in this file can open one.

use chrono::{DateTime, Utc};
use sqlx::query;

use super::{Store, StoreError};

/// A secret without its value.
#[derive(Clone, Debug, PartialEq)]
pub struct SealedSecret {
    /// Its name.
    pub name: String,
    /// Its value, sealed.
    pub sealed: Vec<u8>,
    /// When it was first set.
    pub created_at: DateTime<Utc>,
    /// When it was last set.
    pub updated_at: DateTime<Utc>,
    /// Capabilities whose live version is granted it by name.
    pub used_by: Vec<String>,
}

impl Store {
    /// All secrets, by name.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn sealed_secrets(&self) -> Result<Vec<SealedSecret>, StoreError> {
        let rows = query!(
            r#"SELECT s.name, s.sealed, s.created_at, s.updated_at,
                      ARRAY(SELECT c.name FROM capabilities c JOIN capability_versions v USING (name, version)
                            WHERE v.grants -> 'secrets' ? s.name ORDER BY c.name) AS "used_by!"
               FROM secrets s ORDER BY s.name"#
        )
        .fetch_all(&self.pool)
        .await?;
        let secret =
            |name, sealed, created_at, updated_at, used_by| SealedSecret { name, sealed, created_at, updated_at, used_by };
        Ok(rows.into_iter().map(|row| secret(row.name, row.sealed, row.created_at, row.updated_at, row.used_by)).collect())
    }

    /// The sealed value of one secret.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn sealed_secret(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let row = query!("SELECT sealed FROM secrets WHERE name = $1", name).fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.sealed))
    }

    /// Keeps a sealed value under a name, in place of the one before.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn keep_secret(&self, name: &str, sealed: &[u8], now: DateTime<Utc>) -> Result<(), StoreError> {
        query!(
            "INSERT INTO secrets (name, sealed, created_at, updated_at) VALUES ($1, $2, $3, $3)
             ON CONFLICT (name) DO UPDATE SET sealed = $2, updated_at = $3",
            name,
            sealed,
            now
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Deletes a secret; false when there is none of this name.
    ///
    /// # Errors
    /// When the database is not there.
    pub async fn remove_secret(&self, name: &str) -> Result<bool, StoreError> {
        let done = query!("DELETE FROM secrets WHERE name = $1", name).execute(&self.pool).await?;
        Ok(done.rows_affected() == 1)
    }
}
