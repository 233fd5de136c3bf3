//! The tools that exist. One set, a profile's, answers every question about them: which are
//! offered, found, judged, nested, and named.

use std::sync::Arc;

use super::kit::Kit;
use super::tool::{Exists, Fixed, FoundTool, Registry, Sources, Tool, ToolsOf};
use crate::domain::{MCP_SEPARATOR, Refusal, RefusalCode, Rule, SharedSpec, Toolset};
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
    /// `first` exist for every builder, `by_rule` for those that have a rule which allows them, and
    /// `named` only for profiles that name them.
    pub(super) fn new(
        kit: Kit,
        first: Vec<Arc<dyn Tool>>,
        by_rule: Vec<Arc<dyn Tool>>,
        named: Vec<Arc<dyn Tool>>,
        sources: Sources,
    ) -> Self {
        let fixed = |exists: Exists| move |tool: Arc<dyn Tool>| Fixed { spec: tool.spec().into(), tool, exists };
        let first = first.into_iter().map(fixed(Exists::ForAll));
        let by_rule = by_rule.into_iter().map(fixed(Exists::ByRule));
        let fixed = first.chain(by_rule).chain(named.into_iter().map(fixed(Exists::ForNone))).collect();
        Self { kit, fixed, sources }
    }

    /// The tools that the program brings and that a profile with this set can have.
    fn possible(&self, toolset: Toolset) -> impl Iterator<Item = &Fixed> {
        self.fixed.iter().filter(move |fixed| match toolset {
            Toolset::Builder => fixed.exists != Exists::ForNone,
            Toolset::Capabilities(tools) | Toolset::Only(tools) => tools.contains(&fixed.spec.name.as_str()),
        })
    }

    /// Those of them that a profile has.
    fn fixed<'a>(&'a self, catalogue: &'a Catalogue, of: ToolsOf<'a>) -> impl Iterator<Item = &'a Fixed> {
        self.possible(of.toolset).filter(move |fixed| {
            let by_rule = of.toolset == Toolset::Builder && fixed.exists == Exists::ByRule;
            !by_rule || matches!(catalogue.rule(of.profile, &fixed.spec.name), Some(Rule::Always | Rule::Ask))
        })
    }

    /// The tool of this name, if a profile has it.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(super) async fn find(&self, catalogue: &Catalogue, of: ToolsOf<'_>, name: &str) -> FoundTool {
        if let Some(fixed) = self.fixed(catalogue, of).find(|fixed| fixed.spec.name == name) {
            return Ok(Some(Arc::clone(&fixed.tool)));
        }
        if self.kit.safe_mode || !of.toolset.has(name) {
            return Ok(None);
        }
        match self.sources.capabilities.find(&self.kit, catalogue, name).await? {
            Some(capability) => Ok(Some(capability)),
            None if of.toolset.has_external(name) => self.sources.external.find(&self.kit, catalogue, name).await,
            None => Ok(None),
        }
    }

    /// The refusal of a call of a tool that a profile does not have, if it is a capability that
    /// comes back once a person enables it.
    pub(super) fn disabled(&self, catalogue: &Catalogue, of: ToolsOf<'_>, name: &str) -> Option<Refusal> {
        let has = !self.kit.safe_mode && of.toolset.has(name);
        catalogue.capability(name).filter(|listed| has && !listed.enabled)?;
        let told = format!("the capability `{name}` is disabled; ask the user to enable it, or do without it");
        Some(Refusal::new(RefusalCode::Disabled, told))
    }

    /// The offer to a model of a profile, or to those who give orders there.
    pub(super) fn offered(&self, catalogue: &Catalogue, of: ToolsOf<'_>) -> Offered {
        let first: Vec<_> = self.fixed(catalogue, of).map(|fixed| fixed.spec.clone()).collect();
        if self.kit.safe_mode {
            return Offered { first, ..Offered::default() };
        }
        let (mut capabilities, mut external) = (self.sources.capabilities.list(catalogue), self.sources.external.list(catalogue));
        // The program's own tool comes first if another has its name.
        let free = |spec: &SharedSpec| first.iter().all(|first| first.name != spec.name);
        capabilities.retain(|spec| of.toolset.has(&spec.name) && free(spec));
        external.retain(|spec| of.toolset.has_external(&spec.name) && free(spec));
        Offered { first, capabilities, external }
    }

    /// The offer to a person of what a profile can do.
    pub(super) fn for_person(&self, catalogue: &Catalogue, of: ToolsOf<'_>) -> Vec<String> {
        self.fixed(catalogue, of).filter_map(|fixed| fixed.tool.for_person(&self.kit, catalogue)).collect()
    }

    /// The names of all tools that a profile with this set has, or can have: once a rule allows
    /// one, or a person enables it.
    pub(super) fn known<'a>(&'a self, catalogue: &'a Catalogue, toolset: Toolset) -> Vec<&'a str> {
        if let Toolset::Only(tools) = toolset {
            return tools.to_vec();
        }
        let brought = self.possible(toolset).map(|fixed| fixed.spec.name.as_str());
        let external = catalogue.external().map(|listed| listed.tool.tool.as_str()).filter(|tool| toolset.has_external(tool));
        brought.chain(catalogue.capability_names()).chain(external).collect()
    }

    /// The tool of this name that the program brings for profiles with this set.
    pub(super) fn brought(&self, toolset: Toolset, name: &str) -> Option<&dyn Tool> {
        self.possible(toolset).find(|fixed| fixed.spec.name == name).map(|fixed| &*fixed.tool)
    }

    /// The tool that the program brings under this name, for whichever profile: no capability takes
    /// the name.
    pub(super) fn taken(&self, name: &str) -> Option<&dyn Tool> {
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
