//! One call: a slot, a fresh instance, a deadline, and its end.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use wasmtime::{Store, Trap, UpdateDeadline};

use crate::domain::{Grants, without_halves};

use super::component::Loaded;
use super::host::{HostState, Logs, MemoryLimit, Operations, TooManyOperations};
use super::reach::{Missing, Reach};
use super::{CallError, DEPTHS, Inner, SandboxLimits, ScriptLimits, explain, host, powers};
use crate::domain::SourcePlace;

/// The end of a call: its result and its log.
pub(super) struct RunEnd {
    pub(super) result: Result<String, CallError>,
    pub(super) logs: Vec<String>,
    /// The first grant that it lacked.
    pub(super) missing: Option<Missing>,
}

impl RunEnd {
    pub(super) fn failed(error: CallError) -> Self {
        Self { result: Err(error), logs: Vec::new(), missing: None }
    }
}

/// An instance's answer, before the host reads it.
pub(super) struct Answered {
    /// JSON text of the result, or of the thrown value.
    pub(super) answer: Result<Result<String, String>, CallError>,
    pub(super) logs: Vec<String>,
    missing: Option<Missing>,
    memory_refused: bool,
}

/// The terms on which an instance runs.
pub(super) struct RunTerms {
    reach: Arc<dyn Reach>,
    deadline: Duration,
    depth: usize,
    bounds: Bounds,
    /// The grants, if they are fewer than those the component is linked with.
    granted: Option<Arc<Grants>>,
    /// The words about an operation that no grant allows, if they are not those for the author of a
    /// capability.
    lacking: Option<String>,
}

/// The sizes that an instance may reach.
#[derive(Clone, Copy)]
struct Bounds {
    memory_bytes: usize,
    output_bytes: usize,
    log_bytes: usize,
}

impl Bounds {
    fn of_calls(limits: &SandboxLimits) -> Self {
        Self { memory_bytes: limits.memory_bytes, output_bytes: limits.output_bytes, log_bytes: limits.log_bytes }
    }
}

impl RunTerms {
    /// The same, with these grants and no others.
    pub(super) fn granting(self, grants: &Grants) -> Self {
        Self { granted: Some(Arc::new(grants.clone())), ..self }
    }
}

/// The reason why the host ended a call.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error("the call's deadline has passed")]
    DeadlinePassed,
    #[error("the call's deadline has passed, and the code had ended before")]
    LeftUnderWay,
}

impl Inner {
    /// The terms of a call.
    pub(super) fn terms(&self, grants: &Grants, reach: Arc<dyn Reach>) -> RunTerms {
        let deadline = if powers::take_time(grants) { self.limits.reaching_deadline } else { self.limits.deadline };
        RunTerms { deadline, depth: reach.depth(), reach, bounds: Bounds::of_calls(&self.limits), granted: None, lacking: None }
    }

    /// The terms of a call without effects, which waits for nothing outside.
    pub(super) fn terms_of_trial(&self, reach: Arc<dyn Reach>) -> RunTerms {
        let (deadline, bounds) = (self.limits.deadline, Bounds::of_calls(&self.limits));
        RunTerms { deadline, depth: 0, reach, bounds, granted: None, lacking: None }
    }

    /// The terms of a campaign's script, which hears these words of what it lacks.
    pub(super) fn terms_of_script(&self, reach: Arc<dyn Reach>, lacking: String) -> RunTerms {
        let ScriptLimits { memory_bytes, deadline, output_bytes, .. } = self.limits.script;
        let bounds = Bounds { memory_bytes, output_bytes, log_bytes: output_bytes };
        RunTerms { deadline, depth: 0, reach, bounds, granted: None, lacking: Some(lacking) }
    }

    /// Calls a capability with parameters that fit its schema, as JavaScript can hold them.
    pub(super) async fn run(&self, loaded: &Loaded, params: &Value, terms: &RunTerms) -> RunEnd {
        let answered = self.answer(loaded, &host::held(params.to_string()), terms).await;
        let result = answered.answer.and_then(|answer| match answer {
            Ok(json) => result(json, terms.bounds.output_bytes),
            Err(json) => Err(thrown(&json, answered.memory_refused.then_some(terms.bounds.memory_bytes))),
        });
        RunEnd { result, logs: answered.logs, missing: answered.missing }
    }

    /// Runs one instance to its end.
    pub(super) async fn answer(&self, loaded: &Loaded, params: &str, terms: &RunTerms) -> Answered {
        let Some(slots) = self.slots.get(terms.depth) else {
            let fault = format!("not called: calls within calls may be {DEPTHS} deep, and this is one more");
            let error = CallError::Limit { fault, advice: "" };
            return Answered { answer: Err(error), logs: Vec::new(), missing: None, memory_refused: false };
        };
        let slot = slots.acquire().await;
        let running = self.ticker.running();
        let (operations, doing) = match powers::take_time(&loaded.grants) {
            true => Some(Operations::new(Arc::clone(&terms.reach), &self.limits)).unzip(),
            false => (None, None),
        };
        let mut store = self.store(loaded, terms, operations);
        // The epochs stop code that computes; this stops code that waits.
        let ended = tokio::time::timeout(terms.deadline, call(&mut store, loaded, params, doing)).await;
        let answer = ended.unwrap_or_else(|_| match &store.data().operations {
            Some(operations) if operations.is_closed() => Err(Stopped::LeftUnderWay.into()),
            _ => Err(deadline_passed()),
        });
        let mut state = store.into_data();
        for failure in state.operations.iter_mut().flat_map(Operations::unheard_failures) {
            state.logs.add("warning: ", &format!("an operation that was not awaited failed: {}", explain::clip(&failure)));
        }
        drop((running, slot));
        Answered {
            answer: answer
                .map_err(|error| stopped(&error, state.memory.refused.then_some(terms.bounds.memory_bytes), terms.deadline)),
            logs: state.logs.into_entries(),
            missing: state.missing,
            memory_refused: state.memory.refused,
        }
    }

    fn store(&self, loaded: &Loaded, terms: &RunTerms, operations: Option<Operations>) -> Store<HostState> {
        let mut store = Store::new(
            &self.engine,
            HostState {
                clock: self.clock.clone(),
                random: self.random.clone(),
                logs: Logs::new(terms.bounds.log_bytes),
                memory: MemoryLimit { bytes: terms.bounds.memory_bytes, refused: false },
                grants: Arc::clone(terms.granted.as_ref().unwrap_or(&loaded.grants)),
                reach: Arc::clone(&terms.reach),
                operations,
                missing: None,
                lacking: terms.lacking.clone(),
            },
        );
        store.limiter(|state| &mut state.memory);
        end_in_time(&mut store, terms.deadline);
        store
    }
}

/// Lets the epochs stop what computes longer than this; others get their turn meanwhile.
pub(super) fn end_in_time<T>(store: &mut Store<T>, deadline: Duration) {
    store.set_epoch_deadline(1);
    let end = Instant::now() + deadline;
    store.epoch_deadline_callback(move |_| {
        if Instant::now() >= end { Err(Stopped::DeadlinePassed.into()) } else { Ok(UpdateDeadline::Yield(1)) }
    });
}

/// The error of a guest whose time is over while it waits.
pub(super) fn deadline_passed() -> wasmtime::Error {
    Stopped::DeadlinePassed.into()
}

/// The result for the model: a string as it is, anything else as JSON.
pub(super) fn result(mut json: String, limit: usize) -> Result<String, CallError> {
    if let Cow::Owned(marked) = without_halves(&json) {
        json = marked;
    }
    let text = if json.starts_with('"') { serde_json::from_str(&json).unwrap_or(json) } else { json };
    let size = text.len();
    if size > limit {
        return Err(CallError::Limit {
            fault: format!("the result has {size} bytes and may have {limit}"),
            advice: "; return less, for example a summary or one page",
        });
    }
    Ok(text)
}

/// Reads the value that the code threw. `memory_refused`: the memory it could have, if it wanted
/// more.
pub(super) fn thrown(json: &str, memory_refused: Option<usize>) -> CallError {
    #[derive(Deserialize)]
    struct Thrown {
        #[serde(default)]
        name: Value,
        #[serde(default)]
        message: Value,
        #[serde(default)]
        stack: Value,
    }
    let json = without_halves(json);
    let Ok(thrown) = serde_json::from_str::<Thrown>(&json) else {
        return CallError::Threw { name: "Error".into(), message: explain::clip(&json), place: None };
    };
    let message = thrown.message.as_str().unwrap_or_default();
    if let Some(limit) = memory_refused
        && message == "out of memory"
    {
        return memory_exceeded(limit);
    }
    let (name, message) = match thrown.name.as_str() {
        Some(name) => (explain::clip(name), explain::with_hint(message)),
        // The engine names only what is an `Error`.
        None => ("Error".to_owned(), explain::of_no_error(message)),
    };
    CallError::Threw { name, message, place: thrown.stack.as_str().and_then(place) }
}

/// Reads the reason why the host stopped the call; `memory_refused` as in [`thrown`].
pub(super) fn stopped(error: &wasmtime::Error, memory_refused: Option<usize>, deadline: Duration) -> CallError {
    match error.downcast_ref() {
        Some(Stopped::DeadlinePassed) => {
            return CallError::Limit {
                fault: format!("stopped after {deadline:?}: it did not finish in time"),
                advice: "; look for an endless loop, a promise that waits forever, or do less per call",
            };
        }
        Some(Stopped::LeftUnderWay) => {
            return CallError::Limit {
                fault: format!(
                    "stopped after {deadline:?}: it had ended, but an operation it had started was still under way and did not \
                     finish in time"
                ),
                advice: "; `await` each one",
            };
        }
        None => {}
    }
    if let Some(error) = error.downcast_ref::<TooManyOperations>() {
        return CallError::Limit { fault: error.to_string(), advice: "" };
    }
    if let Some(limit) = memory_refused {
        return memory_exceeded(limit);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => CallError::Limit {
            fault: "stopped: the call stack is exhausted".into(),
            advice: "; look for recursion that does not end, or for deeply nested data",
        },
        Some(trap) => CallError::Unusable(format!("it broke down: {trap}")),
        None => CallError::Unusable(explain::clip(&format!("{error:#}"))),
    }
}

pub(super) fn memory_exceeded(bytes: usize) -> CallError {
    let limit = bytes >> 20;
    CallError::Limit { fault: format!("stopped: it needs more than {limit} MiB of memory"), advice: "; keep less data at once" }
}

/// Runs the guest with its operations beside it, then waits for the operations that it left.
async fn call(
    store: &mut Store<HostState>,
    loaded: &Loaded,
    params: &str,
    doing: Option<BoxFuture<'static, ()>>,
) -> wasmtime::Result<Result<String, String>> {
    let guest = async {
        let instance = loaded.component.instantiate_async(&mut *store).await?;
        instance.call_run(&mut *store, params).await
    };
    let Some(doing) = doing else { return guest.await };
    let mut doing = doing.fuse();
    let answer = {
        let mut guest = std::pin::pin!(guest);
        std::future::poll_fn(|context| {
            let polled = guest.as_mut().poll(context);
            if polled.is_pending() {
                let _ = doing.poll_unpin(context);
            }
            polled
        })
        .await
    };
    if let Some(operations) = &mut store.data_mut().operations {
        operations.close();
    }
    doing.await;
    answer
}

/// The first place inside the capability's own source that a stack names, as in
/// `at f (capability.js:2:13)`.
fn place(stack: &str) -> Option<SourcePlace> {
    let (_, rest) = stack.split_once("capability.js:")?;
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
    Some(SourcePlace { line: numbers.next()?.parse().ok()?, offset: numbers.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests;
