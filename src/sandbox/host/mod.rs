//! The host side of `capabilities/wit`: the reach of a capability that was granted the power. Each
//! power has a file; operations that take time go through `operations`.

mod clock;
mod http;
mod kv;
mod log;
mod numbers;
mod one_by_one;
mod operations;
mod random;
mod secrets;
mod sql;
mod tools;

use std::sync::Arc;

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{ResourceLimiter, Result};

use crate::clock::{Clock, Random};
use crate::domain::{Grants, Power};

use super::engine::{MODULES, TABLE_ELEMENTS, TABLES};
use super::powers;
use super::reach::{Missing, OperationRefused, Reach};

pub(super) use log::Logs;
pub(super) use numbers::held;
pub(super) use one_by_one::OneByOne;
pub(super) use operations::{Operations, TooManyOperations};

#[allow(missing_docs)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../../capabilities/wit",
        world: "capability",
        imports: {
            default: trappable,
            "level3:capability/clock.sleep": async | trappable,
            "level3:capability/operations.wait": async | trappable,
        },
        exports: { default: async },
    });
}

pub(super) use bindings::CapabilityPre;
use bindings::level3::capability as wit;

/// The host's side of one call: its instance's data.
pub(super) struct HostState {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) random: Arc<dyn Random>,
    pub(super) logs: Logs,
    pub(super) memory: MemoryLimit,
    /// The grants of this version. The host compares each operation with them, whatever the guest's
    /// code believes.
    pub(super) grants: Arc<Grants>,
    pub(super) reach: Arc<dyn Reach>,
    /// There if the capability has a power whose operations take time.
    pub(super) operations: Option<Operations>,
    /// The first grant that the capability lacked.
    pub(super) missing: Option<Missing>,
    /// The words about it, if they are not those for the author of a capability.
    pub(super) lacking: Option<String>,
}

impl HostState {
    /// Remembers the grant that the capability lacked.
    fn noted<T>(&mut self, answer: std::result::Result<T, OperationRefused>) -> std::result::Result<T, OperationRefused> {
        answer.map_err(|refused| {
            let Some(missing) = &refused.missing else { return refused };
            self.missing.get_or_insert_with(|| (**missing).clone());
            self.lacking.clone().map_or(refused, OperationRefused::new)
        })
    }
}

/// A linker that knows the granted powers and nothing else.
pub(super) fn linker(engine: &wasmtime::Engine, grants: &Grants) -> Result<Linker<HostState>> {
    type Own = HasSelf<HostState>;
    let mut linker = Linker::new(engine);
    for power in grants.powers() {
        match power {
            Power::Log => wit::log::add_to_linker::<HostState, Own>(&mut linker, |state| state)?,
            Power::Clock => wit::clock::add_to_linker::<HostState, Own>(&mut linker, |state| state)?,
            Power::Random => wit::random::add_to_linker::<HostState, Own>(&mut linker, |state| state)?,
            Power::Http => wit::http::add_to_linker::<HostState, Own>(&mut linker, |state| state)?,
            Power::Sql => wit::sql::add_to_linker::<HostState, Own>(&mut linker, |state| state)?,
            Power::Kv => wit::kv::add_to_linker::<HostState, Own>(&mut linker, |state| state)?,
            Power::Secrets => wit::secrets::add_to_linker::<HostState, Own>(&mut linker, |state| state)?,
            Power::Tools => wit::tools::add_to_linker::<HostState, Own>(&mut linker, |state| state)?,
        }
    }
    if powers::take_time(grants) {
        wit::operations::add_to_linker::<HostState, Own>(&mut linker, |state| state)?;
    }
    Ok(linker)
}

/// Refuses memory above the limit, and remembers that it did: the guest sees only a failed
/// allocation.
pub(super) struct MemoryLimit {
    pub(super) bytes: usize,
    pub(super) refused: bool,
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let allowed = desired <= self.bytes;
        self.refused |= !allowed;
        Ok(allowed)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        Ok(desired <= TABLE_ELEMENTS)
    }

    // The pool has these limits, too; without a pool they hold here.
    fn instances(&self) -> usize {
        MODULES as usize
    }

    fn memories(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        TABLES as usize
    }
}
