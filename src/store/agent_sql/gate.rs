//! Counts the statements of the agent that run or wait for a connection, so that turns without any
//! do not wait for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// So many at once; most of them then wait for a connection. Each is a turn that takes no place of
/// a runner, and some memory.
const MOST: usize = 40;

/// The gate before the agent's SQL.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    inside: AtomicUsize,
    entered: Notify,
}

/// A statement inside; dropping this lets it out.
#[derive(Debug)]
pub(super) struct Entered(Arc<Count>);

impl Gate {
    /// How many statements are inside.
    pub fn inside(&self) -> usize {
        self.0.inside.load(Ordering::Relaxed)
    }

    /// Completes once a statement has come in since the last look.
    pub async fn entered(&self) {
        self.0.entered.notified().await;
    }

    /// Lets a statement in; `None` if there are too many.
    pub(super) fn enter(&self) -> Option<Entered> {
        let before = self.0.inside.fetch_add(1, Ordering::Relaxed);
        let entered = Entered(Arc::clone(&self.0));
        if before >= MOST {
            return None;
        }
        self.0.entered.notify_one();
        Some(entered)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
