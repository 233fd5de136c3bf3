//! How long a test waits for what must come.

use std::time::Duration;

/// Ends a test that hangs, and measures nothing: no machine is so slow that another one takes as
/// long.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Waits for what must come. `what` says in a failure what did not.
pub async fn in_time<T>(what: &str, waiting: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("still waiting after {PATIENCE:?}: {what}"))
}
