//! Requests of a guest that waits for each, as scripts in Python do: under the same grants and
//! bounds as those that are done side by side.

use std::sync::Arc;

use futures::future::BoxFuture;
use wasmtime::Result;

use crate::domain::Grants;

use super::super::SandboxLimits;
use super::super::reach::{OperationRefused, Reach};
use super::bindings::level3::capability::operations::Completion;
use super::http;
use super::operations::Operations;

/// The requests of one run.
pub(in crate::sandbox) struct OneByOne {
    grants: Grants,
    /// The words about a request that no grant allows.
    lacking: String,
    operations: Operations,
    doing: BoxFuture<'static, ()>,
}

impl OneByOne {
    /// For a run with these grants, which hears `lacking` of a request that they do not allow.
    pub(in crate::sandbox) fn new(grants: Grants, reach: Arc<dyn Reach>, limits: &SandboxLimits, lacking: String) -> Self {
        let (operations, doing) = Operations::new(reach, limits);
        Self { grants, lacking, operations, doing }
    }

    /// Sends a request and waits for its answer; both are the JSON of `http.wit`. The guest hears a
    /// refusal in words.
    pub(in crate::sandbox) async fn http(&mut self, request: &str) -> Result<Result<String, String>> {
        let asked = self.operations.read(&self.grants, request, http::read).map_err(|refused| match refused.missing {
            Some(_) => OperationRefused::new(self.lacking.clone()),
            None => refused,
        });
        self.operations.start(request, asked)?;
        let ended = self.operations.next_end(&mut self.doing).await;
        let Completion { ok, value, .. } = ended.ok_or_else(|| wasmtime::Error::msg("a request was given up"))?;
        Ok(if ok { Ok(value) } else { Err(value) })
    }
}
