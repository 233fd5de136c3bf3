//! Versions as they come out of the database. A version that was made for another engine is made
//! again from its source.

use std::sync::Arc;

use crate::domain::{CapabilityVersion, Draft, SourceLanguage, WRITE_CAPABILITY};

use super::component::{Bytes, LoadError, Loaded, sha256};
use super::{CallError, ENGINE_NAME, Inner};

impl Inner {
    /// Gives a kept version ready to run.
    pub(super) async fn stored(&self, capability: &CapabilityVersion) -> Result<Arc<Loaded>, CallError> {
        let bytes = Bytes {
            component: &capability.component,
            sha256: &capability.sha256,
            grants: &capability.grants,
            language: capability.language,
        };
        if capability.engine == ENGINE_NAME || capability.engine.is_empty() {
            return self.load(bytes).await.map_err(|error| CallError::Unusable(error.to_string()));
        }
        if let Some(loaded) = self.kept(bytes) {
            return Ok(loaded);
        }
        self.made_again(capability, bytes).await.map_err(|problem| {
            let engine = &capability.engine;
            CallError::Unusable(format!(
                "it was made for {engine}, and this server has {ENGINE_NAME}; {problem}; write it again with {WRITE_CAPABILITY}"
            ))
        })
    }

    /// Only the bytes around the source differ between engines. The sum covers the source, too: it
    /// is in the component.
    async fn made_again(&self, capability: &CapabilityVersion, old: Bytes<'_>) -> Result<Arc<Loaded>, String> {
        if capability.language != SourceLanguage::JavaScript {
            return Err("it cannot be made anew, since it is not JavaScript".into());
        }
        if sha256(old.component) != old.sha256 {
            return Err(LoadError::Damaged.to_string());
        }
        let segment = super::template::segment(&capability.source);
        if !old.component.windows(segment.len()).any(|window| window == segment) {
            return Err("its stored source is not the one its component was made of".into());
        }
        let draft = Draft {
            name: capability.name.clone(),
            description: String::new(),
            language: capability.language,
            source: capability.source.clone(),
            parameters: capability.parameters.clone(),
            grants: capability.grants.clone(),
            tests: Vec::new(),
        };
        let made = self.build_javascript(&draft).await.map_err(|error| error.to_string().trim_end_matches('.').to_owned())?;
        let sha256 = sha256(&made.bytes);
        let new = Bytes { component: &made.bytes, sha256: &sha256, ..old };
        let loaded = self.load(new).await.map_err(|error| error.to_string())?;
        tracing::info!(capability = %capability.name, version = capability.version, from = %capability.engine, "made again for {ENGINE_NAME}");
        self.keep(old, &loaded);
        Ok(loaded)
    }
}
