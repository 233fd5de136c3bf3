//! Secrets: values that capabilities may send to the hosts they are bound to, and that nobody is
//! ever shown. They are sealed in the database under a key that lies in the data folder, so that
//! neither a copy of the one nor of the other gives a value away.

mod key;
mod seal;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;

use crate::clock::Random;
use crate::domain::{SECRET_NAME_RULE, valid_secret_name};
use crate::lasting::Lasting;
use crate::store::{Store, StoreError};
use crate::telemetry::{SHORTEST_HIDDEN, Scrubber};
use crate::wire::api::Secret;

pub use key::{FILE as KEY_FILE, KeyError};

/// The shortest value, in characters: the shortest that is hidden everywhere.
pub const MIN_VALUE_CHARS: usize = SHORTEST_HIDDEN;
/// The longest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 8 * 1024;

/// Keeps secrets. Cheap to clone.
#[derive(Clone)]
pub struct Vault(Arc<Inner>);

struct Inner {
    store: Store,
    random: Arc<dyn Random>,
    key_file: PathBuf,
    scrubber: Scrubber,
    /// Held by whoever changes something, so that the scrubber is told of changes in their order.
    /// Inside: values that were replaced or removed since the start. A request that was under way
    /// then may still bring them back, so they stay hidden.
    retired: Mutex<Vec<(String, SecretString)>>,
}

/// Why a secret cannot be kept or had; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The name breaks the rule.
    #[error("`{0}` cannot be a secret's name: {SECRET_NAME_RULE}")]
    Name(String),
    /// The value is too short; how many characters it has between the blanks around it.
    #[error(
        "the value has {0} character{s}; a secret has at least {MIN_VALUE_CHARS}, blanks around it not counted, because a shorter one stands \
         in other texts by chance and cannot be kept out of them",
        s = if *.0 == 1 { "" } else { "s" }
    )]
    Short(usize),
    /// The value is too long; how many bytes it has.
    #[error("the value has {0} bytes; a secret has at most {MAX_VALUE_BYTES}")]
    Long(usize),
    /// The value cannot be sent anywhere.
    #[error("the value holds a zero character; no secret does, so it was read wrongly")]
    ZeroCharacter,
    /// The key does not open it.
    #[error(
        "the secret {name} cannot be opened with the key in {file}: restore that file from your backup of the data folder, or set the \
         secret anew with `level3 secret set {name}`"
    )]
    Unreadable {
        /// Its name.
        name: String,
        /// The place of the key, or the place it should have.
        file: PathBuf,
    },
    /// Another key is in use; two would each open a part of the secrets.
    #[error(
        "the secrets in this database are sealed with another key than {0}: put the file {FILE} there that lies in the data folder of \
         the server that set them, or in its backup. Where it is lost, remove every secret first (`level3 secret remove NAME`; a \
         server whose data folder has no {FILE} starts), and set them anew",
        FILE = key::FILE
    )]
    OtherKey(PathBuf),
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The database is not there.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Lasting for SecretError {
    fn lasts(&self) -> bool {
        match self {
            Self::Store(source) => source.lasts(),
            Self::Key(KeyError::Io { source, .. }) => source.lasts(),
            _ => true,
        }
    }
}

impl Vault {
    /// Opens the vault and tells the scrubber what to hide. A secret that the key does not open is
    /// warned about and stays as it is.
    ///
    /// # Errors
    /// When the key file is there and cannot be used, or is not the one the secrets are sealed
    /// with, or the database is not there.
    pub async fn open(folder: &Path, store: Store, random: Arc<dyn Random>, scrubber: Scrubber) -> Result<Self, SecretError> {
        let key_file = folder.join(key::FILE);
        let vault = Self(Arc::new(Inner { store, random, key_file, scrubber, retired: Mutex::default() }));
        let secrets = vault.list().await?;
        vault.check_key(&secrets).await?;
        for secret in secrets.iter().filter(|secret| !secret.readable) {
            tracing::warn!("{}", vault.unreadable(&secret.name));
        }
        vault.tell_scrubber(&vault.0.retired.lock().await, None).await?;
        Ok(vault)
    }

    /// Sets a secret, in place of the value before. Newlines at the end are not part of a value.
    ///
    /// # Errors
    /// [`SecretError`]; then nothing was changed.
    pub async fn set(&self, name: &str, value: SecretString, now: DateTime<Utc>) -> Result<(), SecretError> {
        if !valid_secret_name(name) {
            return Err(SecretError::Name(name.to_owned()));
        }
        let value = trimmed(value)?;
        let mut retired = self.0.retired.lock().await;
        let other_key = || SecretError::OtherKey(self.0.key_file.clone());
        let key = match key::read(&self.0.key_file)? {
            Some(key) => key,
            None if self.0.store.sealed_secrets().await?.is_empty() => key::make(&self.0.key_file, &*self.0.random)?,
            // Only a key that was lost is missing here: one that is made now would open none of
            // them.
            None => return Err(other_key()),
        };
        let sealed = seal::seal(&key, name, value.expose_secret(), &*self.0.random);
        self.retire(&mut retired, name).await?;
        // Hidden first, then usable.
        self.tell_scrubber(&retired, Some((name.to_owned(), value))).await?;
        let kept = self.0.store.keep_secret(name, &sealed, &key.fingerprint(), now).await?;
        if kept { Ok(()) } else { Err(other_key()) }
    }

    /// Removes a secret; false when there is none of this name.
    ///
    /// # Errors
    /// If the database does not answer or the key file cannot be used.
    pub async fn remove(&self, name: &str) -> Result<bool, SecretError> {
        let mut retired = self.0.retired.lock().await;
        self.retire(&mut retired, name).await?;
        let removed = self.0.store.remove_secret(name).await?;
        self.tell_scrubber(&retired, None).await?;
        Ok(removed)
    }

    /// All secrets by name, without their values.
    ///
    /// # Errors
    /// If the database does not answer or the key file cannot be used.
    pub async fn list(&self) -> Result<Vec<Secret>, SecretError> {
        let key = key::read(&self.0.key_file)?;
        let sealed = self.0.store.sealed_secrets().await?;
        let info = |secret: crate::store::SealedSecret| Secret {
            readable: key.as_ref().is_some_and(|key| seal::open(key, &secret.name, &secret.sealed).is_some()),
            name: secret.name,
            created_at: secret.created_at,
            updated_at: secret.updated_at,
            used_by: secret.used_by,
        };
        Ok(sealed.into_iter().map(info).collect())
    }

    /// The value of a secret; `None` when there is none of this name.
    ///
    /// # Errors
    /// [`SecretError::Unreadable`], when the key file cannot be used, or when the database is not
    /// there.
    pub async fn get(&self, name: &str) -> Result<Option<SecretString>, SecretError> {
        let Some(sealed) = self.0.store.sealed_secret(name).await? else { return Ok(None) };
        let key = key::read(&self.0.key_file)?;
        let value = key.and_then(|key| seal::open(&key, name, &sealed));
        value.map(Some).ok_or_else(|| self.unreadable(name))
    }

    /// Every value that can be opened, with its name.
    ///
    /// # Errors
    /// When the key file cannot be used or the database is not there.
    pub async fn all(&self) -> Result<Vec<(String, SecretString)>, SecretError> {
        let Some(key) = key::read(&self.0.key_file)? else { return Ok(Vec::new()) };
        let sealed = self.0.store.sealed_secrets().await?.into_iter();
        Ok(sealed
            .filter_map(|secret| Some((seal::open(&key, &secret.name, &secret.sealed)?, secret.name)))
            .map(swapped)
            .collect())
    }

    /// Refuses a key other than the one the secrets are sealed with.
    async fn check_key(&self, secrets: &[Secret]) -> Result<(), SecretError> {
        let Some(key) = key::read(&self.0.key_file)? else { return Ok(()) };
        let fits = match self.0.store.key_of_secrets().await? {
            Some(known) => known == key.fingerprint(),
            None if secrets.is_empty() => true,
            // Set before fingerprints were kept.
            None => secrets.iter().any(|secret| secret.readable) && self.0.store.claim_secrets(&key.fingerprint()).await?,
        };
        if fits { Ok(()) } else { Err(SecretError::OtherKey(self.0.key_file.clone())) }
    }

    /// Remembers the value that a name has now as one to hide until the process ends.
    async fn retire(&self, retired: &mut Vec<(String, SecretString)>, name: &str) -> Result<(), SecretError> {
        match self.get(name).await {
            Ok(Some(value)) => retired.push((name.to_owned(), value)),
            // A value that cannot be opened can also not have been sent.
            Ok(None) | Err(SecretError::Unreadable { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn tell_scrubber(
        &self,
        retired: &[(String, SecretString)],
        coming: Option<(String, SecretString)>,
    ) -> Result<(), SecretError> {
        let mut values = self.all().await?;
        values.extend(coming);
        values.extend(retired.iter().cloned());
        self.0.scrubber.set(&values);
        Ok(())
    }

    fn unreadable(&self, name: &str) -> SecretError {
        SecretError::Unreadable { name: name.to_owned(), file: self.0.key_file.clone() }
    }
}

fn swapped<A, B>((a, b): (A, B)) -> (B, A) {
    (b, a)
}

fn trimmed(value: SecretString) -> Result<SecretString, SecretError> {
    let plain = value.expose_secret().trim_end_matches(['\r', '\n']);
    // Blanks stand in every text, so they do not help to tell a value from other text.
    let chars = plain.trim().chars().count();
    if chars < MIN_VALUE_CHARS {
        return Err(SecretError::Short(chars));
    }
    if plain.len() > MAX_VALUE_BYTES {
        return Err(SecretError::Long(plain.len()));
    }
    if plain.contains('\0') {
        return Err(SecretError::ZeroCharacter);
    }
    Ok(SecretString::from(plain))
}

#[cfg(test)]
mod tests;
