//! `random`: random bits of the server's source.

use wasmtime::Result;

use super::HostState;
use super::bindings::level3::capability::random;

impl random::Host for HostState {
    fn random(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }
}
