//! A person's work with existing capabilities: looking at every version, going back, disabling and
//! enabling.

use chrono::{DateTime, Utc};
use sqlx::{query, query_scalar};

use super::capabilities::VersionRow;
use crate::domain::{CapabilityVersion, ConversationId, Grants};
use crate::facts::CapabilityChanged;
use crate::store::{Store, StoreError, Unit, value};
use crate::wire::api::{CapabilityEntry, CapabilityUse, Version};

/// A kept version, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptVersion {
    /// The version.
    pub capability: CapabilityVersion,
    /// The time at which it was written.
    pub created_at: DateTime<Utc>,
    /// The version that is live.
    pub live: i32,
    /// False if a person disabled the capability.
    pub enabled: bool,
}

/// The reason why a capability was not changed.
#[derive(Debug, thiserror::Error)]
pub enum LifeError {
    /// No capability has this name.
    #[error("there is no capability `{0}`")]
    Unknown(String),
    /// It has no such version.
    #[error("`{0}` has no version {1}")]
    NoVersion(String, i32),
    /// That version is live already.
    #[error("version {1} of `{0}` is live already")]
    Live(String, i32),
    /// The version has powers that the live one does not have; these, in words.
    #[error("version {version} of `{name}` may do more than version {live}, which is live; confirm its grants to make it live")]
    Wider {
        /// The capability.
        name: String,
        /// The version that was asked for.
        version: i32,
        /// The live one.
        live: i32,
        /// The powers of that version, a sentence each.
        grants_in_words: Vec<String>,
    },
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for LifeError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// The live version, from its row, which is locked.
struct Live {
    version: i32,
    enabled: bool,
}

impl Store {
    /// Every capability by name, disabled ones too.
    ///
    /// # Errors
    /// If the database does not answer or holds grants this program cannot read.
    pub async fn capability_entries(&self) -> Result<Vec<CapabilityEntry>, StoreError> {
        let rows = query!(
            r#"SELECT name, version, state, description, grants, c.updated_at,
                      (SELECT count(*) FROM capability_versions kept WHERE kept.name = c.name) AS "versions!"
               FROM capabilities c JOIN capability_versions v USING (name, version) ORDER BY name"#
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                let grants: Grants = value(row.grants)?;
                Ok(CapabilityEntry {
                    name: row.name,
                    version: row.version,
                    state: row.state,
                    description: row.description,
                    grants_in_words: grants.in_words(),
                    grants,
                    versions: row.versions,
                    updated_at: row.updated_at,
                    calls: CapabilityUse::default(),
                })
            })
            .collect()
    }

    /// The versions kept under a name, oldest first; empty if there are none.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn capability_versions(&self, name: &str) -> Result<Vec<Version>, StoreError> {
        let rows = query!("SELECT version, created_at, sha256 FROM capability_versions WHERE name = $1 ORDER BY version", name)
            .fetch_all(&self.pool)
            .await?;
        let entry = |version, created_at, sha256| Version { version, created_at, sha256 };
        Ok(rows.into_iter().map(|row| entry(row.version, row.created_at, row.sha256)).collect())
    }

    /// One version of a capability, or the live one. It may be disabled.
    ///
    /// # Errors
    /// [`LifeError::Unknown`], [`LifeError::NoVersion`], or if the database does not answer.
    pub async fn kept_version(&self, name: &str, version: Option<i32>) -> Result<KeptVersion, LifeError> {
        let live = query!("SELECT version, state FROM capabilities WHERE name = $1", name)
            .fetch_optional(&self.pool)
            .await?
            .ok_or_else(|| LifeError::Unknown(name.to_owned()))?;
        let wanted = version.unwrap_or(live.version);
        let row = sqlx::query_as!(
            VersionRow,
            "SELECT name, version, description, language, source, parameters, grants, tests, component, sha256, engine, created_at
             FROM capability_versions WHERE name = $1 AND version = $2",
            name,
            wanted
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or_else(|| LifeError::NoVersion(name.to_owned(), wanted))?;
        let created_at = row.created_at;
        let capability = CapabilityVersion::try_from(row)?;
        Ok(KeptVersion { capability, created_at, live: live.version, enabled: live.state == "installed" })
    }

    /// Makes another version live, usually an earlier one. If it has powers that the live one
    /// lacks, it needs `confirmed`, and a person who had said "always" is asked about its calls
    /// again.
    ///
    /// # Errors
    /// [`LifeError`]; then nothing was changed.
    pub async fn roll_back(&self, name: &str, version: i32, confirmed: bool, now: DateTime<Utc>) -> Result<(), LifeError> {
        let main = self.owners().main_conversation(now).await?;
        let mut unit = self.begin(now).await?;
        let live = unit.lock_capability(name).await?;
        if version == live.version {
            return Err(LifeError::Live(name.to_owned(), version));
        }
        let has = unit.grants_of(name, live.version).await?;
        let asked = unit.grants_of(name, version).await?;
        if !has.cover(&asked) {
            if !confirmed {
                let grants_in_words = asked.in_words();
                return Err(LifeError::Wider { name: name.to_owned(), version, live: live.version, grants_in_words });
            }
            query!("DELETE FROM tool_rules WHERE tool = $1 AND rule = 'always'", name).execute(&mut *unit.tx).await?;
        }
        query!("UPDATE capabilities SET version = $2, updated_at = $3 WHERE name = $1", name, version, now)
            .execute(&mut *unit.tx)
            .await?;
        unit.append_change(main, name, Live { version, enabled: live.enabled }).await?;
        Ok(unit.commit().await?)
    }

    /// Disables a capability, so that it is neither offered nor callable, or enables it again.
    /// Returns the live version.
    ///
    /// # Errors
    /// [`LifeError::Unknown`], or if the database does not answer.
    pub async fn enable_capability(&self, name: &str, enabled: bool, now: DateTime<Utc>) -> Result<i32, LifeError> {
        let main = self.owners().main_conversation(now).await?;
        let mut unit = self.begin(now).await?;
        let Live { version, enabled: was } = unit.lock_capability(name).await?;
        if was != enabled {
            let state = if enabled { "installed" } else { "disabled" };
            query!("UPDATE capabilities SET state = $2, updated_at = $3 WHERE name = $1", name, state, now)
                .execute(&mut *unit.tx)
                .await?;
            // A person who enables it takes it for harmless.
            query!("DELETE FROM capability_crashes WHERE name = $1 AND $2", name, enabled).execute(&mut *unit.tx).await?;
            unit.append_change(main, name, Live { version, enabled }).await?;
            unit.commit().await?;
        }
        Ok(version)
    }
}

impl Unit {
    /// Reads the live version and keeps it live until the transaction ends; a turn that makes
    /// another version live waits.
    async fn lock_capability(&mut self, name: &str) -> Result<Live, LifeError> {
        let row = query!("SELECT version, state FROM capabilities WHERE name = $1 FOR UPDATE", name)
            .fetch_optional(&mut *self.tx)
            .await?
            .ok_or_else(|| LifeError::Unknown(name.to_owned()))?;
        Ok(Live { version: row.version, enabled: row.state == "installed" })
    }

    async fn append_change(&mut self, main: ConversationId, name: &str, live: Live) -> Result<(), StoreError> {
        let event = CapabilityChanged { name: name.to_owned(), version: live.version, enabled: live.enabled };
        self.append(main, event.into()).await
    }

    async fn grants_of(&mut self, name: &str, version: i32) -> Result<Grants, LifeError> {
        let grants = query_scalar!("SELECT grants FROM capability_versions WHERE name = $1 AND version = $2", name, version)
            .fetch_optional(&mut *self.tx)
            .await?
            .ok_or_else(|| LifeError::NoVersion(name.to_owned(), version))?;
        Ok(value(grants)?)
    }
}
