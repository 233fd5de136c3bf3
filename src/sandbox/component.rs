//! Components, compiled at their first call and kept in memory for the next. Native code is never
//! stored with a capability: the database holds the component, and its sha256 must be right.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use wasmtime::component::Component;

use crate::domain::{Grants, SourceLanguage, WRITE_CAPABILITY};

use super::host::{self, CapabilityPre, HostState};
use super::powers::INTERFACES;
use super::{ENGINE_NAME, Inner};

/// How many compiled components are kept; each takes about 70 KiB.
const KEPT: usize = 64;

/// The bytes of a page of memory.
const PAGE: u64 = 64 << 10;

/// A component from a draft or the database.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub(super) component: &'a [u8],
    pub(super) sha256: &'a str,
    pub(super) grants: &'a Grants,
    pub(super) language: SourceLanguage,
}

impl Bytes<'_> {
    fn key(&self) -> Key {
        (self.sha256.to_owned(), self.grants.clone(), self.language)
    }
}

/// A component that was built from a draft and not yet tried.
pub(super) struct BuiltComponent {
    pub(super) source: String,
    pub(super) bytes: Vec<u8>,
    pub(super) engine: String,
}

/// The sum by which a component is known, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// A component ready to be instantiated.
pub(super) struct Loaded {
    pub(super) component: CapabilityPre<HostState>,
    /// The grants that it was linked with.
    pub(super) grants: Arc<Grants>,
}

/// Why a component cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error("its stored bytes are damaged: their sha256 is not the recorded one; write it again with {}", WRITE_CAPABILITY)]
    Damaged,
    #[error("it imports {}, which it was not granted; it may import: {allowed}", .imports.join(", "))]
    NotGranted { imports: Vec<String>, allowed: String },
    #[error("it does not export `run` as `func(params-json: string) -> result<string, string>`")]
    NoRun,
    #[error("it is not a valid component: {0}")]
    Invalid(String),
}

/// Compiled components. If there are too many, the least recently used is dropped.
#[derive(Default)]
pub(super) struct Components(Mutex<ComponentCache>);

#[derive(Default)]
struct ComponentCache {
    uses: u64,
    entries: HashMap<Key, (Arc<Loaded>, u64)>,
}

type Key = (String, Grants, SourceLanguage);

impl Components {
    fn get(&self, key: &Key) -> Option<Arc<Loaded>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        let (loaded, used) = kept.entries.get_mut(key)?;
        *used = now;
        Some(Arc::clone(loaded))
    }

    fn put(&self, key: Key, loaded: &Arc<Loaded>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        kept.entries.insert(key, (Arc::clone(loaded), now));
        if kept.entries.len() > KEPT {
            let oldest = kept.entries.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.map(|key| kept.entries.remove(&key));
        }
    }

    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.clear();
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.len()
    }
}

impl Inner {
    /// The component, if it is kept in memory.
    pub(super) fn kept(&self, bytes: Bytes<'_>) -> Option<Arc<Loaded>> {
        self.components.get(&bytes.key())
    }

    /// Keeps the component under these bytes.
    pub(super) fn keep(&self, bytes: Bytes<'_>, loaded: &Arc<Loaded>) {
        self.components.put(bytes.key(), loaded);
    }

    /// The component ready to run, compiled now if it was not before.
    pub(super) async fn load(&self, bytes: Bytes<'_>) -> Result<Arc<Loaded>, LoadError> {
        if let Some(loaded) = self.kept(bytes) {
            return Ok(loaded);
        }
        if sha256(bytes.component) != bytes.sha256 {
            return Err(LoadError::Damaged);
        }
        let (engine, javascript, component) = (self.engine.clone(), self.javascript.clone(), bytes.component.to_vec());
        let (grants, language, memory) = (bytes.grants.clone(), bytes.language, self.limits.memory_bytes as u64);
        // JavaScript takes milliseconds; a component that somebody wrote may take any time.
        let compiled = tokio::task::spawn_blocking(move || compile(&engine, &javascript, &component, &grants, memory, language));
        let loaded = Arc::new(compiled.await.map_err(|error| LoadError::Invalid(error.to_string()))??);
        self.keep(bytes, &loaded);
        Ok(loaded)
    }
}

fn compile(
    engine: &wasmtime::Engine,
    javascript: &wasmtime::Module,
    bytes: &[u8],
    grants: &Grants,
    memory: u64,
    language: SourceLanguage,
) -> Result<Loaded, LoadError> {
    let invalid = |error: wasmtime::Error| LoadError::Invalid(format!("{error:#}"));
    let component = Component::new(engine, bytes).map_err(invalid)?;
    // The pool has room for more: a script may have more.
    let begins_with = component.resources_required().and_then(|needs| needs.max_initial_memory_size).unwrap_or_default();
    if begins_with > memory / PAGE {
        return Err(LoadError::Invalid(format!(
            "its memory begins with {begins_with} pages of {PAGE} bytes and may have {memory} bytes"
        )));
    }
    let mut allowed: Vec<_> =
        INTERFACES.iter().filter(|interface| interface.is_for(grants)).map(|interface| interface.import()).collect();
    let mut linker = host::linker(engine, grants).map_err(invalid)?;
    if language == SourceLanguage::JavaScript {
        linker.root().module(ENGINE_NAME, javascript).map_err(invalid)?;
        allowed.push(ENGINE_NAME.to_owned());
    }
    let imports: Vec<_> = component
        .component_type()
        .imports(engine)
        .map(|(name, _)| name.to_owned())
        .filter(|name| !allowed.contains(name))
        .collect();
    if !imports.is_empty() {
        let allowed = if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") };
        return Err(LoadError::NotGranted { imports, allowed });
    }
    let linked = linker.instantiate_pre(&component).map_err(invalid)?;
    let component = CapabilityPre::new(linked).map_err(|_| LoadError::NoRun)?;
    Ok(Loaded { component, grants: Arc::new(grants.clone()) })
}
