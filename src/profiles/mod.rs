//! The profiles of the program: one file for each, beside its prompt.

mod builder;
mod campaign;
mod contact;
mod law;
mod lea;
pub mod mcp;
mod operator;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::{DEFAULT_PROFILE, Profile, UserRole};

pub use contact::CONTACT_TOOLS;
pub use lea::{TALKING, Talking};
pub use operator::{NAME as OPERATOR, OPERATOR_TOOLS};

/// All profiles, by name. Made once; cheap to clone.
#[derive(Clone, Debug)]
pub struct Profiles(Arc<BTreeMap<&'static str, Arc<Profile>>>);

/// The profile of a member's conversation for which they name none.
const MEMBERS_PROFILE: &str = "lea";

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
        let own = Self(Arc::default()).with(builder::profile()).with(lea::profile()).with(law::profile());
        own.with(mcp::profile()).with(contact::profile()).with(operator::profile()).with(campaign::profile())
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

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Profile> {
        self.0.values().map(|profile| &**profile)
    }

    /// The names of the profiles whose messages are counted.
    pub fn counted(&self) -> Vec<String> {
        self.0.values().filter(|profile| profile.counted).map(|profile| profile.name.to_owned()).collect()
    }

    /// As [`Profiles::get`], for a user of this role: a profile that is not open to them reads like
    /// one that does not exist.
    ///
    /// # Errors
    /// [`UnknownProfile`], with the names of those that are open to them.
    pub fn open_to(&self, role: UserRole, name: &str) -> Result<Arc<Profile>, UnknownProfile> {
        // A conversation with a contact is made by its instance alone, and one of a campaign by the
        // campaign.
        let open = |profile: &Arc<Profile>| role.reaches(profile.open_to) && !profile.is_relays() && !profile.is_campaigns();
        let there = || self.0.values().filter(|profile| open(profile)).map(|profile| profile.name).collect();
        self.0
            .get(name)
            .filter(|profile| open(profile))
            .cloned()
            .ok_or_else(|| UnknownProfile { name: name.to_owned(), there: there() })
    }

    /// The profile of a conversation for which a user of this role names none.
    pub fn default_of(role: UserRole) -> &'static str {
        match role {
            UserRole::Owner => DEFAULT_PROFILE,
            UserRole::Member => MEMBERS_PROFILE,
        }
    }

    /// The names of the profiles with which a user of this role talks, and so has a main
    /// conversation.
    pub fn mains(&self, role: UserRole) -> Vec<String> {
        let talks = |profile: &&Arc<Profile>| profile.audience.may_decide() && role.reaches(profile.open_to);
        self.0.values().filter(talks).map(|profile| profile.name.to_owned()).collect()
    }
}

#[cfg(test)]
mod tests;
