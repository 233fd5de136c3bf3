//! The tools that exist. One set, a profile's, answers every question about them: which are
//! offered, found, judged, nested, and named.

use std::sync::Arc;

use super::kit::Kit;
use super::tool::{Fixed, FoundTool, Registry, Sources, Tool};
use crate::domain::{MCP_SEPARATOR, SharedSpec, Toolset};
use crate::store::Catalogue;

/// The tools that exist for a profile.
#[derive(Clone, Debug, Default)]
pub struct Offered {
    /// The tools that the program brings, in their order.
    pub first: Vec<SharedSpec>,
    /// The capabilities, in the order of their names.
    pub capabilities: Vec<SharedSpec>,
    /// The tools of external servers, as the servers last listed them.
    pub external: Vec<SharedSpec>,
}

impl Registry {
    /// `first` exist for every builder; `named` only for profiles that name them.
    pub(super) fn new(kit: Kit, first: Vec<Arc<dyn Tool>>, named: Vec<Arc<dyn Tool>>, sources: Sources) -> Self {
        let fixed = |named_only: bool| move |tool: Arc<dyn Tool>| Fixed { spec: tool.spec().into(), tool, named_only };
        let fixed = first.into_iter().map(fixed(false)).chain(named.into_iter().map(fixed(true))).collect();
        Self { kit, fixed, sources }
    }

    /// The tools that the program brings and the set has.
    fn fixed(&self, toolset: Toolset) -> impl Iterator<Item = &Fixed> {
        let there = move |fixed: &&Fixed| match toolset {
            Toolset::Builder => !fixed.named_only,
            Toolset::Only(_) => toolset.has(&fixed.spec.name),
        };
        self.fixed.iter().filter(there)
    }

    /// The tool of this name, if it exists for a profile with this set.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn find(&self, catalogue: &Catalogue, toolset: Toolset, name: &str) -> FoundTool {
        if let Some(fixed) = self.fixed(toolset).find(|fixed| fixed.spec.name == name) {
            return Ok(Some(Arc::clone(&fixed.tool)));
        }
        if toolset == Toolset::Builder
            && let Some(relay) = self.sources.relay.find(&self.kit, catalogue, name).await?
        {
            return Ok(Some(relay));
        }
        if self.kit.safe_mode || !toolset.has(name) {
            return Ok(None);
        }
        match self.sources.capabilities.find(&self.kit, catalogue, name).await? {
            Some(capability) => Ok(Some(capability)),
            None => self.sources.external.find(&self.kit, catalogue, name).await,
        }
    }

    /// The offer to a model of a profile with this set.
    pub fn offered(&self, catalogue: &Catalogue, toolset: Toolset) -> Offered {
        let mut first: Vec<_> = self.fixed(toolset).map(|fixed| fixed.spec.clone()).collect();
        if toolset == Toolset::Builder {
            first.extend(self.sources.relay.list(catalogue));
        }
        if self.kit.safe_mode {
            return Offered { first, ..Offered::default() };
        }
        let (mut capabilities, mut external) = (self.sources.capabilities.list(catalogue), self.sources.external.list(catalogue));
        // The program's own tool comes first if another has its name.
        let there = |spec: &SharedSpec| toolset.has(&spec.name) && first.iter().all(|first| first.name != spec.name);
        capabilities.retain(there);
        external.retain(there);
        Offered { first, capabilities, external }
    }

    /// The offer to a person of what a profile with this set can do.
    pub fn for_person(&self, catalogue: &Catalogue, toolset: Toolset) -> Vec<String> {
        self.fixed(toolset).filter_map(|fixed| fixed.tool.for_person(&self.kit, catalogue)).collect()
    }

    /// The tool of this name that the program brings, for whichever profile it exists.
    pub fn brought(&self, name: &str) -> Option<&dyn Tool> {
        self.fixed.iter().find(|fixed| fixed.spec.name == name).map(|fixed| &*fixed.tool)
    }

    /// The name under which calls of a tool are counted: its own only if the program brings it, so
    /// that nobody can make new names for the metrics.
    pub(super) fn counted_as(&self, name: &str) -> &str {
        let other = if name.contains(MCP_SEPARATOR) { "external" } else { "capability" };
        self.fixed.iter().find(|fixed| fixed.spec.name == name).map_or(other, |fixed| &fixed.spec.name)
    }
}

impl Offered {
    /// All names, in the order of the alphabet.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.all().map(|spec| spec.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// All of them, in the order of the offer.
    pub fn all(&self) -> impl Iterator<Item = &SharedSpec> {
        self.first.iter().chain(&self.capabilities).chain(&self.external)
    }
}
