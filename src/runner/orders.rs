//! Carries out an order of a person, or of another agent over MCP: its call, then its outcome in a
//! sentence for a person. No model is asked.

use tokio_util::sync::CancellationToken;

use super::Runner;
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
            let ended = self.executor.store.end_of_order(lease).await?;
            let words = ended.map(|ended| ended.said()).unwrap_or_default();
            self.executor.close_for_person(lease, turn.steps + 1, "command", &words).await
        };
        self.executor.within(time, lease, work).await
    }
}
