//! Capabilities at work: drafts are checked, components are built, and each call runs in a fresh
//! instance with exactly its grants. Nothing that a capability does can harm the host, only its own
//! call.
//!
//! The engine that runs JavaScript is `capabilities/engine`; the host functions are
//! `capabilities/wit`.

mod cache;
mod check;
mod component;
mod engine;
mod error;
mod explain;
mod host;
mod javascript;
mod powers;
mod python;
mod reach;
mod run;
mod schema;
mod script;
mod stored;
pub mod teaching;
mod template;
#[cfg(test)]
mod tests;
mod ticker;
mod trials;
mod wat;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;

use crate::clock::{Clock, Random};
use crate::domain::{CapabilityVersion, Outcome, Toolset};
use crate::governor::Permit;

pub use check::CheckedDraft;
pub use error::{CallError, CheckError, SandboxError};
pub use python::{InstalledPython, PythonError};
pub use reach::{KvRequest, Missing, Nothing, Operation, OperationRefused, OperationRequest, Reach, RefusedOperation};
pub use script::{ScriptEnd, ScriptSlot, ScriptText};
pub use trials::{Rehearsed, TestResult};

/// The engine that JavaScript capabilities are made for; each version keeps it. A component made
/// for one engine runs on no other: if the contract between component and engine changes, so does
/// the name.
pub const ENGINE_NAME: &str = "level3-js-engine-v2";

/// How deep calls may be nested: a turn's call, one within it, and one within that.
pub const DEPTHS: usize = 3;

/// How many bytes of source a capability may have.
pub const MAX_SOURCE_BYTES: usize = 200 * 1024;

/// The bounds of one call.
#[derive(Clone, Copy, Debug)]
pub struct SandboxLimits {
    /// Linear memory of one instance, in bytes. The engine itself takes about 2 MiB of it.
    pub memory_bytes: usize,
    /// Wall clock time of one call, waiting included.
    pub deadline: Duration,
    /// The same for a call with a power that waits on the outside.
    pub reaching_deadline: Duration,
    /// Size of a result, in bytes.
    pub output_bytes: usize,
    /// Size of everything one call logs, in bytes.
    pub log_bytes: usize,
    /// How many calls run at once, at each depth of calls within calls; more wait for their turn.
    pub concurrent: u32,
    /// How many operations of one call are done at once; more wait.
    pub operations_at_once: usize,
    /// How many operations one call may start.
    pub operations: u32,
    /// Size of one operation's request, in bytes.
    pub request_bytes: usize,
    /// Size of one operation's answer, in bytes.
    pub answer_bytes: usize,
    /// The bounds of a campaign's script.
    pub script: ScriptLimits,
}

/// The bounds of one run of a campaign's script.
#[derive(Clone, Copy, Debug)]
pub struct ScriptLimits {
    /// Linear memory of its instance, in bytes.
    pub memory_bytes: usize,
    /// Wall clock time of one run.
    pub deadline: Duration,
    /// Size of its result and of all that it logs, together, in bytes.
    pub output_bytes: usize,
    /// How many scripts run at once; more wait for their turn.
    pub concurrent: usize,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self { memory_bytes: 256 << 20, deadline: Duration::from_secs(30), output_bytes: 64 << 10, concurrent: 2 }
    }
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 64 << 20,
            deadline: Duration::from_secs(10),
            reaching_deadline: Duration::from_secs(30),
            output_bytes: 256 << 10,
            log_bytes: 16 << 10,
            concurrent: 32,
            operations_at_once: 8,
            operations: 64,
            request_bytes: 256 << 10,
            answer_bytes: 1 << 20,
            script: ScriptLimits::default(),
        }
    }
}

/// Checks drafts and calls capabilities. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

struct Inner {
    engine: wasmtime::Engine,
    javascript: wasmtime::Module,
    ticker: ticker::Ticker,
    templates: template::Templates,
    components: component::Components,
    validators: schema::Validators,
    /// One for each depth of calls within calls.
    slots: [Semaphore; DEPTHS],
    /// For scripts of campaigns, beside a slot of the first depth.
    scripts: Semaphore,
    python: python::Python,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    limits: SandboxLimits,
}

impl Sandbox {
    /// Makes a sandbox. It loads the JavaScript engine from `cache_dir`, or compiles it and puts it
    /// there, which takes about a second; so call this only if the caller may block. The folder
    /// must be this program's own, since its files are executed.
    ///
    /// # Errors
    /// If the machine cannot run WebAssembly at all. An unusable cache folder only brings a
    /// warning.
    pub fn open(
        cache_dir: &Path,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        limits: SandboxLimits,
    ) -> Result<Self, SandboxError> {
        let engine = engine::make(&limits)?;
        let javascript = cache::load_or_compile(&engine, engine::JAVASCRIPT, cache_dir)?;
        Ok(Self(Arc::new(Inner {
            ticker: ticker::Ticker::start(&engine).map_err(SandboxError::Thread)?,
            engine,
            javascript,
            templates: template::Templates::default(),
            components: component::Components::default(),
            validators: schema::Validators::default(),
            scripts: Semaphore::new(limits.script.concurrent),
            python: python::Python::default(),
            slots: std::array::from_fn(|_| Semaphore::new(limits.concurrent as usize)),
            clock,
            random,
            limits,
        })))
    }

    /// The same with the Python that is, or will be, installed in a folder.
    pub fn with_python(mut self, folder: PathBuf) -> Self {
        let inner = Arc::get_mut(&mut self.0).expect("it was just opened, so nobody shares it");
        inner.python.folder = Some(folder);
        self
    }

    /// Says whether a call of this capability may have `params` as its arguments.
    ///
    /// # Errors
    /// [`CallError::InvalidArguments`], with the path of each wrong one and the value expected
    /// there.
    pub fn validate_params(&self, capability: &CapabilityVersion, params: &Value) -> Result<(), CallError> {
        self.0.validators.validate(&capability.parameters, params)
    }

    /// Calls a capability: validates the arguments, runs it in a fresh instance, and returns the
    /// text for the model. A string is handed on as it is, any other result as compact JSON, and a
    /// failure as JSON of [`CallError`]. `reach` does its work outside, within its grants; once the
    /// call has ended, no operation of it is under way any more.
    pub async fn call(&self, permit: &Permit, capability: &CapabilityVersion, params: &Value, reach: Arc<dyn Reach>) -> Outcome {
        tracing::debug!(call = %permit.call(), capability = %capability.name, version = capability.version, "capability called");
        let terms = self.0.terms(&capability.grants, reach);
        self.outcome(capability, params, &terms, permit.tools()).await
    }

    /// The outcome for a model with these tools.
    async fn outcome(&self, capability: &CapabilityVersion, params: &Value, terms: &run::RunTerms, tools: Toolset) -> Outcome {
        let ready = match self.validate_params(capability, params) {
            Ok(()) => self.0.stored(capability).await,
            Err(error) => Err(error),
        };
        let ran = match ready {
            Ok(loaded) => self.0.run(&loaded, params, terms).await,
            Err(error) => run::RunEnd::failed(error),
        };
        let outcome = match ran.result {
            Ok(result) => Outcome::ok(result),
            Err(error) => Outcome::refused(&error.refusal().among(tools)),
        };
        Outcome { logs: ran.logs, ..outcome }
    }

    /// Runs the tests kept with a version. They reach nothing but their own answers, and values
    /// that last as long as this run.
    ///
    /// # Errors
    /// [`CallError::Unusable`] if it cannot be loaded.
    pub async fn run_tests(&self, version: &CapabilityVersion) -> Result<Vec<TestResult>, CallError> {
        let loaded = self.0.stored(version).await?;
        let mut results = Vec::with_capacity(version.tests.len());
        let values = Arc::default();
        for case in &version.tests {
            results.push(self.0.trial(&loaded, &version.parameters, case, &values).await);
        }
        Ok(results)
    }

    /// Forgets every compiled capability; its next call compiles it again.
    pub fn forget(&self) {
        self.0.components.clear();
    }

    /// Loads a capability without calling it.
    ///
    /// # Errors
    /// [`CallError::Unusable`] with the fault.
    pub async fn load(&self, capability: &CapabilityVersion) -> Result<(), CallError> {
        self.0.stored(capability).await.map(drop)
    }
}
