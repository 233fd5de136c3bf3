//! `clock`: the server's time, and waiting on it.

use std::time::Duration;

use chrono::TimeDelta;
use wasmtime::Result;

use super::HostState;
use super::bindings::level3::capability::clock;

impl clock::Host for HostState {
    fn now(&mut self) -> Result<u64> {
        Ok(self.clock.now().timestamp_nanos_opt().and_then(|now| now.try_into().ok()).unwrap_or(0))
    }

    async fn sleep(&mut self, milliseconds: u64) -> Result<()> {
        self.wait_on_the_clock(milliseconds).await;
        Ok(())
    }
}

impl HostState {
    pub(super) async fn wait_on_the_clock(&self, milliseconds: u64) {
        // A wait longer than this ends at the call's deadline anyway.
        const LONGEST: TimeDelta = TimeDelta::hours(24);
        let wait = TimeDelta::from_std(Duration::from_millis(milliseconds)).unwrap_or(LONGEST).min(LONGEST);
        self.clock.sleep_until(self.clock.now() + wait).await;
    }
}
