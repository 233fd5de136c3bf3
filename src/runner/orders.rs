//! Carries out an order of a person, or of another agent over MCP: its call, then words on the
//! outcome. No model is asked.

use tokio_util::sync::CancellationToken;

use super::Runner;
use crate::domain::{Exchange, HistoryEntry};
use crate::executor::Worked;
use crate::store::{Lease, StoreError};

impl Runner {
    /// Carries out the order that is this turn.
    pub(super) async fn carry_out(&self, lease: &Lease, shutdown: &CancellationToken) -> Result<Worked, StoreError> {
        let Some(mut turn) = self.executor.begin(lease, None).await? else { return Ok(Worked::Ended) };
        let time = self.executor.allowance(&turn);
        let work = async {
            if let Some(worked) = self.executor.calls(&mut turn, shutdown).await? {
                return Ok(worked);
            }
            let standing = self.executor.standing(&mut turn).await?;
            let words = standing.history.exchanges.last().map(what_came_of).unwrap_or_default();
            self.executor.close(lease, turn.steps + 1, "command", &words).await
        };
        self.executor.within(time, lease, work).await
    }
}

/// The last words of an order: those of its calls.
fn what_came_of(order: &Exchange) -> String {
    let said = order.entries.iter().filter_map(|entry| match entry {
        HistoryEntry::Tool(_, result, ..) => Some(match serde_json::from_str::<serde_json::Value>(result) {
            Ok(told) => told["message"].as_str().map_or_else(|| result.clone(), str::to_owned),
            Err(_) => result.clone(),
        }),
        HistoryEntry::User(..) | HistoryEntry::Steered(..) | HistoryEntry::Images(..) | HistoryEntry::Assistant(..) => None,
    });
    said.collect::<Vec<_>>().join("\n\n")
}
