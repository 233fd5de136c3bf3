//! The host side of `capabilities/wit`: what a capability reaches when it was granted the power.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use wasmtime::component::{HasSelf, Linker};
use wasmtime::{ResourceLimiter, Result};

use crate::clock::{Clock, Random};
use crate::domain::{Grants, Power};

use super::engine::{MODULES, TABLE_ELEMENTS, TABLES};

#[allow(missing_docs)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "capabilities/wit",
        world: "capability",
        imports: { default: trappable, "level3:capability/clock.sleep": async | trappable },
        exports: { default: async },
    });
}

pub(super) use bindings::CapabilityPre;
use bindings::level3::capability::{clock, log, random};

/// What one call has: its instance's data on the host side.
pub(super) struct State {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) random: Arc<dyn Random>,
    pub(super) logs: Logs,
    pub(super) memory: MemoryLimit,
}

/// A linker that knows the granted powers and nothing else.
pub(super) fn linker(engine: &wasmtime::Engine, grants: &Grants) -> Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    for power in grants.powers() {
        match power {
            Power::Log => log::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?,
            Power::Clock => clock::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?,
            Power::Random => random::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?,
            Power::Http | Power::Sql | Power::Kv | Power::Secrets | Power::Tools => {}
        }
    }
    Ok(linker)
}

impl log::Host for State {
    fn log(&mut self, level: log::Level, message: String) -> Result<()> {
        self.logs.add(
            match level {
                log::Level::Debug => "debug: ",
                log::Level::Info => "",
                log::Level::Warn => "warning: ",
                log::Level::Error => "error: ",
            },
            &message,
        );
        Ok(())
    }
}

impl clock::Host for State {
    fn now(&mut self) -> Result<u64> {
        Ok(self.clock.now().timestamp_nanos_opt().and_then(|now| now.try_into().ok()).unwrap_or(0))
    }

    async fn sleep(&mut self, milliseconds: u64) -> Result<()> {
        // A wait longer than this ends at the call's deadline anyway.
        const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
        let wait = TimeDelta::from_std(Duration::from_millis(milliseconds).min(LONGEST))?;
        self.clock.sleep_until(self.clock.now() + wait).await;
        Ok(())
    }
}

impl random::Host for State {
    fn random(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }
}

/// What a call logged, bounded.
pub(super) struct Logs {
    entries: Vec<String>,
    left: usize,
    limit: usize,
    cut: usize,
}

impl Logs {
    pub(super) fn new(limit: usize) -> Self {
        Self { entries: Vec::new(), left: limit, limit, cut: 0 }
    }

    fn add(&mut self, prefix: &str, message: &str) {
        let size = prefix.len() + message.len() + 1; // an empty entry takes room, too
        if self.cut > 0 || size > self.left {
            if self.cut == 0 && self.left > prefix.len() + 1 {
                let end = message.floor_char_boundary(self.left - prefix.len() - 1);
                self.entries.push(format!("{prefix}{}", &message[..end]));
            }
            self.cut += 1;
            return;
        }
        self.left -= size;
        self.entries.push(format!("{prefix}{message}"));
    }

    /// The entries, and a note when some were cut.
    pub(super) fn into_entries(mut self) -> Vec<String> {
        if self.cut > 0 {
            let (limit, cut) = (self.limit, self.cut);
            self.entries.push(format!("[log cut at {limit} bytes: the last {cut} entries are missing or incomplete]"));
        }
        self.entries
    }
}

/// Refuses memory above the limit, and remembers that it did: the guest sees only a failed allocation.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_cut_at_their_limit_with_a_note() {
        let mut logs = Logs::new(10);
        logs.add("", "1234");
        logs.add("", "héllo");
        logs.add("", "more");
        assert_eq!(logs.into_entries(), ["1234", "hél", "[log cut at 10 bytes: the last 2 entries are missing or incomplete]"]);
    }

    #[test]
    fn logs_within_the_limit_are_whole() {
        let mut logs = Logs::new(10);
        logs.add("", "1234");
        logs.add("", "1234");
        assert_eq!(logs.into_entries(), ["1234", "1234"]);
    }
}
