//! Counts time for running calls: an epoch every 10 ms, so that guest code gives way to others and
//! can be stopped. A thread of its own, since guest code may hold every worker of the runtime. It
//! sleeps while nothing runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

const TICK: Duration = Duration::from_millis(10);

pub(super) struct Ticker(Arc<Shared>);

#[derive(Default)]
struct Shared {
    running: AtomicUsize,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    idle: bool,
    stopped: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick_until_stopped(&self, engine: &EngineWeak) {
        let mut state = self.lock();
        while !state.stopped {
            if self.running.load(Ordering::SeqCst) == 0 {
                state.idle = true;
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.idle = false;
            state = self.wake.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            let Some(engine) = engine.upgrade() else { return };
            engine.increment_epoch();
        }
    }
}

/// The time is counted while one of these lives.
pub(super) struct Running<'a>(&'a Shared);

impl Ticker {
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (engine, thread) = (engine.weak(), Arc::clone(&shared));
        std::thread::Builder::new().name("capability-ticks".into()).spawn(move || thread.tick_until_stopped(&engine))?;
        Ok(Self(shared))
    }

    pub(super) fn running(&self) -> Running<'_> {
        // Between calls in quick succession the thread does not fall asleep, so waking it is rare.
        if self.0.running.fetch_add(1, Ordering::SeqCst) == 0 && self.0.lock().idle {
            self.0.wake.notify_one();
        }
        Running(&self.0)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.lock().stopped = true;
        self.0.wake.notify_one();
    }
}
