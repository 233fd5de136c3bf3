//! The profiles of the program: one file for each, beside its prompt.

mod builder;
pub mod mcp;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::Profile;

/// All profiles, by name. Made once; cheap to clone.
#[derive(Clone, Debug)]
pub struct Profiles(Arc<BTreeMap<&'static str, Arc<Profile>>>);

/// No profile has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{name}`; there are: {}", .there.join(", "))]
pub struct UnknownProfile {
    name: String,
    there: Vec<&'static str>,
}

impl Default for Profiles {
    /// The program's own profiles.
    fn default() -> Self {
        Self(Arc::default()).with(builder::profile()).with(mcp::profile())
    }
}

impl Profiles {
    /// These and one more. If two have the same name, the last one counts.
    pub fn with(self, profile: Profile) -> Self {
        let mut all = Arc::unwrap_or_clone(self.0);
        all.insert(profile.name, Arc::new(profile));
        Self(Arc::new(all))
    }

    /// The profile of this name.
    ///
    /// # Errors
    /// [`UnknownProfile`], with the names of all.
    pub fn get(&self, name: &str) -> Result<Arc<Profile>, UnknownProfile> {
        let unknown = || UnknownProfile { name: name.to_owned(), there: self.0.keys().copied().collect() };
        self.0.get(name).cloned().ok_or_else(unknown)
    }

    /// The names of the owner's profiles: each has a main conversation.
    pub fn of_the_owner(&self) -> Vec<String> {
        self.0.values().filter(|profile| profile.audience.may_decide()).map(|profile| profile.name.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests;
