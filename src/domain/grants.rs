//! Grants: the powers one capability has, and no more than these. They are written as an object,
//! power → its settings:
//!
//! ```json
//! {"log": {}, "http": {"hosts": ["api.example.com", {"host": "*.example.org", "methods": ["GET"]}]}, "sql": {"access": "read"},
//!  "kv": {}, "secrets": {"API_KEY": ["api.example.com"]}, "tools": {"names": ["manage_tasks"]}}
//! ```

mod http;
mod written;

use std::collections::{BTreeMap, BTreeSet};

use super::turn::text_enum;

pub use http::{HttpGrant, Scheme, binding_matches};
pub use written::{GrantError, METHODS, SECRET_NAME_RULE, valid_secret_name};

text_enum! {
    /// One power a capability can be given; each is a WIT interface of its own. The order is that
    /// of the bits in the engine's shim.
    Power {
        /// `console.log`, kept with the call.
        Log = "log",
        /// The time, and timers.
        Clock = "clock",
        /// Random numbers.
        Random = "random",
        /// HTTP requests to named hosts.
        Http = "http",
        /// SQL on the agent's own tables.
        Sql = "sql",
        /// Values of its own that outlive a call.
        Kv = "kv",
        /// Secrets, put into requests to the hosts they are bound to.
        Secrets = "secrets",
        /// Calls of other tools.
        Tools = "tools",
    }
}

impl Power {
    /// True for powers that reach nothing outside the sandbox; every capability has them unasked.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::Log | Self::Clock | Self::Random)
    }
}

text_enum! {
    /// The SQL that a capability may run.
    SqlAccess {
        /// Queries.
        Read = "read",
        /// Queries, and changes in the schema `agent`.
        Write = "write",
    }
}

impl SqlAccess {
    /// True if `self` allows everything that `other` allows.
    pub fn covers(self, other: Self) -> bool {
        self == Self::Write || other == Self::Read
    }
}

/// The powers a capability has.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grants {
    /// The granted ones of `log`, `clock` and `random`.
    pub harmless: BTreeSet<Power>,
    /// The places that requests may go to; empty: none.
    pub http: BTreeSet<HttpGrant>,
    /// The SQL that it may run.
    pub sql: Option<SqlAccess>,
    /// True if it may keep values between calls.
    pub kv: bool,
    /// Secret's name → the places it may be sent to: `host` or `host:port`, the host as in
    /// [`HttpGrant::host`].
    pub secrets: BTreeMap<String, BTreeSet<String>>,
    /// Tools that it may call.
    pub tools: BTreeSet<String>,
}

impl Grants {
    /// The powers that every capability has unasked: none of them reaches outside the sandbox.
    pub fn harmless() -> Self {
        Self { harmless: Power::ALL.iter().copied().filter(|power| power.is_harmless()).collect(), ..Self::default() }
    }

    /// No power at all: the component imports nothing from the host.
    pub fn none() -> Self {
        Self::default()
    }

    /// True if this power is granted, to whatever extent.
    pub fn has(&self, power: Power) -> bool {
        match power {
            Power::Log | Power::Clock | Power::Random => self.harmless.contains(&power),
            Power::Http => !self.http.is_empty(),
            Power::Sql => self.sql.is_some(),
            Power::Kv => self.kv,
            Power::Secrets => !self.secrets.is_empty(),
            Power::Tools => !self.tools.is_empty(),
        }
    }

    /// The granted powers, in a fixed order.
    pub fn powers(&self) -> impl Iterator<Item = Power> {
        Power::ALL.iter().copied().filter(|power| self.has(*power))
    }

    /// True if a person has to approve, since the grants reach something outside the sandbox.
    pub fn need_approval(&self) -> bool {
        self.powers().any(|power| !power.is_harmless())
    }

    /// True if `self` allows everything that `other` allows, harmless powers aside.
    pub fn cover(&self, other: &Self) -> bool {
        let http = other.http.iter().all(|asked| self.http.iter().any(|given| given.covers(asked)));
        let sql = other.sql.is_none_or(|asked| self.sql.is_some_and(|given| given.covers(asked)));
        let hosts_covered = |given: &BTreeSet<String>, asked: &BTreeSet<String>| {
            asked.iter().all(|asked| given.iter().any(|given| http::binding_covers(given, asked)))
        };
        let secrets =
            other.secrets.iter().all(|(name, asked)| self.secrets.get(name).is_some_and(|given| hosts_covered(given, asked)));
        http && sql && (self.kv || !other.kv) && secrets && other.tools.is_subset(&self.tools)
    }

    /// The grants beyond the harmless, a sentence each, for the person who decides.
    pub fn in_words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.http.iter().map(HttpGrant::in_words).collect();
        match self.sql {
            Some(SqlAccess::Read) => {
                words.push("Read the agent's tables, and tasks, conversations, capabilities and audit.".into())
            }
            Some(SqlAccess::Write) => {
                words.push("Read and change the agent's own tables; read tasks, conversations, capabilities and audit.".into())
            }
            None => {}
        }
        if self.kv {
            words.push("Keep values of its own between calls.".into());
        }
        for (name, hosts) in &self.secrets {
            let hosts: Vec<_> = hosts.iter().map(|host| http::binding_in_words(host)).collect();
            words.push(format!("Use the secret {name} in requests to {}, and nowhere else.", hosts.join(", ")));
        }
        words.extend(self.tools.iter().map(|tool| format!("Call the tool {tool}, under the same law as the agent itself.")));
        words
    }
}

#[cfg(test)]
mod tests;
