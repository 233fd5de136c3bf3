//! Secrets as the database holds them: sealed. The key is not in the database, and nothing in this
//! file can open one.

use chrono::{DateTime, Utc};
use sqlx::postgres::PgConnection;
use sqlx::{query, query_scalar};

use crate::store::{Store, StoreError};

/// A secret without its value.
#[derive(Clone, Debug, PartialEq)]
pub struct SealedSecret {
    /// Its name.
    pub name: String,
    /// Its value, sealed.
    pub sealed: Vec<u8>,
    /// The time at which it was first set.
    pub created_at: DateTime<Utc>,
    /// The time at which it was last set.
    pub updated_at: DateTime<Utc>,
    /// Capabilities whose live version has a grant that names it.
    pub used_by: Vec<String>,
}

impl Store {
    /// All secrets, by name.
    ///
    /// # Errors
    /// If the database does not answer.
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
    /// If the database does not answer.
    pub async fn sealed_secret(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let row = query!("SELECT sealed FROM secrets WHERE name = $1", name).fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.sealed))
    }

    /// The fingerprint of the key that seals the secrets; `None` if there are no secrets, or none
    /// since fingerprints are kept.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn key_of_secrets(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(query_scalar!("SELECT value FROM server_keys WHERE name = 'secrets'").fetch_optional(&self.pool).await?)
    }

    /// Records which key seals the secrets; false if another key does.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn claim_secrets(&self, fingerprint: &[u8]) -> Result<bool, StoreError> {
        Ok(claim(&mut *self.pool.acquire().await?, fingerprint).await?)
    }

    /// Keeps a value under a name in place of the old one, sealed with the key of this fingerprint.
    /// If another key seals the secrets, it returns false and keeps nothing.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn keep_secret(
        &self,
        name: &str,
        sealed: &[u8],
        fingerprint: &[u8],
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        if !claim(&mut tx, fingerprint).await? {
            return Ok(false);
        }
        query!(
            "INSERT INTO secrets (name, sealed, created_at, updated_at) VALUES ($1, $2, $3, $3)
             ON CONFLICT (name) DO UPDATE SET sealed = $2, updated_at = $3",
            name,
            sealed,
            now
        )
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Deletes a secret; false if none has this name. After the last one another key may be used.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn remove_secret(&self, name: &str) -> Result<bool, StoreError> {
        let mut tx = self.pool.begin().await?;
        // Waits for a transaction that keeps a secret at this moment, so that its key is not
        // forgotten.
        query!("SELECT name FROM server_keys WHERE name = 'secrets' FOR UPDATE").fetch_optional(&mut *tx).await?;
        let done = query!("DELETE FROM secrets WHERE name = $1", name).execute(&mut *tx).await?;
        query!("DELETE FROM server_keys WHERE name = 'secrets' AND NOT EXISTS (SELECT FROM secrets)").execute(&mut *tx).await?;
        tx.commit().await?;
        Ok(done.rows_affected() == 1)
    }
}

/// Writes the fingerprint down if there is none, and compares. The row stays locked until the
/// transaction ends.
async fn claim(connection: &mut PgConnection, fingerprint: &[u8]) -> Result<bool, sqlx::Error> {
    let known = query_scalar!(
        "INSERT INTO server_keys AS known (name, value) VALUES ('secrets', $1)
         ON CONFLICT (name) DO UPDATE SET value = known.value RETURNING value",
        fingerprint
    );
    Ok(known.fetch_one(connection).await? == fingerprint)
}
