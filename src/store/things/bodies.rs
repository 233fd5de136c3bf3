//! Whole versions of capabilities that were called lately: source, component and all. The catalogue
//! says which version is live, and by its stamp whether somebody changed the row since.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::capabilities::VersionRow;
use crate::domain::CapabilityVersion;
use crate::store::{Store, StoreError};

/// The most bytes that are kept; a small capability takes about 4 KiB.
const MOST_BYTES: usize = 2 << 20;

/// Name, version, stamp.
type Key = (String, i32, i64);

/// The versions. If they are too large together, the least recently used is dropped.
#[derive(Clone, Default)]
pub(super) struct Bodies(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    uses: u64,
    bytes: usize,
    entries: HashMap<Key, (Arc<CapabilityVersion>, u64)>,
}

fn bytes(whole: &CapabilityVersion) -> usize {
    whole.source.len() + whole.component.len()
}

impl Bodies {
    fn get(&self, key: &Key) -> Option<Arc<CapabilityVersion>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        let (whole, used) = kept.entries.get_mut(key)?;
        *used = now;
        Some(Arc::clone(whole))
    }

    fn put(&self, key: Key, whole: &Arc<CapabilityVersion>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        kept.bytes += bytes(whole);
        if let Some((before, _)) = kept.entries.insert(key, (Arc::clone(whole), now)) {
            kept.bytes -= bytes(&before);
        }
        while kept.bytes > MOST_BYTES {
            let oldest = kept.entries.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            let Some((gone, _)) = oldest.and_then(|key| kept.entries.remove(&key)) else { break };
            kept.bytes -= bytes(&gone);
        }
    }
}

impl Store {
    /// A version, whole.
    pub(super) async fn body(&self, name: &str, version: i32, stamp: i64) -> Result<Arc<CapabilityVersion>, StoreError> {
        let key = (name.to_owned(), version, stamp);
        if let Some(whole) = self.catalogue.bodies.get(&key) {
            return Ok(whole);
        }
        let row = sqlx::query_as!(
            VersionRow,
            "SELECT name, version, description, language, source, parameters, grants, tests, component, sha256, engine, created_at
             FROM capability_versions WHERE name = $1 AND version = $2",
            name,
            version
        );
        let whole = Arc::new(CapabilityVersion::try_from(row.fetch_one(&self.pool).await?)?);
        self.catalogue.bodies.put(key, &whole);
        Ok(whole)
    }
}

#[cfg(test)]
mod tests;
