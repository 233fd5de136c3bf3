//! One call: a slot, a fresh instance, a deadline, and what came of it.

use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;
use wasmtime::{Store, Trap, UpdateDeadline};

use super::component::Loaded;
use super::error::Place;
use super::host::{Logs, MemoryLimit, State};
use super::{CallError, Inner, explain};

/// What came of a call.
pub(super) struct Ran {
    pub(super) result: Result<String, CallError>,
    pub(super) logs: Vec<String>,
}

impl Ran {
    pub(super) fn failed(error: CallError) -> Self {
        Self { result: Err(error), logs: Vec::new() }
    }
}

/// What an instance answered, before anything is read into it.
pub(super) struct Answered {
    /// JSON text of the result, or of what was thrown.
    pub(super) answer: Result<Result<String, String>, CallError>,
    pub(super) logs: Vec<String>,
    memory_refused: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("the call's deadline has passed")]
struct DeadlinePassed;

impl Inner {
    /// Calls a capability with parameters that fit its schema.
    pub(super) async fn run(&self, loaded: &Loaded, params: &Value) -> Ran {
        let answered = self.answer(loaded, &params.to_string()).await;
        let result = answered.answer.and_then(|answer| match answer {
            Ok(json) => self.result(json),
            Err(json) => Err(self.thrown(&json, answered.memory_refused)),
        });
        Ran { result, logs: answered.logs }
    }

    /// Runs one instance to its end.
    pub(super) async fn answer(&self, loaded: &Loaded, params: &str) -> Answered {
        let slot = self.slots.acquire().await;
        let running = self.ticker.running();
        let mut store = self.store();
        let call = async {
            let instance = loaded.0.instantiate_async(&mut store).await?;
            instance.call_run(&mut store, params).await
        };
        // The epochs stop code that computes, this stops code that waits.
        let ended = tokio::time::timeout(self.limits.deadline, call).await;
        let answer = ended.unwrap_or_else(|_| Err(DeadlinePassed.into()));
        let state = store.into_data();
        drop((running, slot));
        Answered {
            answer: answer.map_err(|error| self.stopped(&error, state.memory.refused)),
            logs: state.logs.into_entries(),
            memory_refused: state.memory.refused,
        }
    }

    fn store(&self) -> Store<State> {
        let mut store = Store::new(
            &self.engine,
            State {
                clock: self.clock.clone(),
                random: self.random.clone(),
                logs: Logs::new(self.limits.log_bytes),
                memory: MemoryLimit { bytes: self.limits.memory_bytes, refused: false },
            },
        );
        store.limiter(|state| &mut state.memory);
        store.set_epoch_deadline(1);
        let end = Instant::now() + self.limits.deadline;
        store.epoch_deadline_callback(move |_| {
            if Instant::now() >= end { Err(DeadlinePassed.into()) } else { Ok(UpdateDeadline::Yield(1)) }
        });
        store
    }

    /// What the model reads: a string as it is, anything else as JSON.
    fn result(&self, json: String) -> Result<String, CallError> {
        let text = if json.starts_with('"') { serde_json::from_str(&json).unwrap_or(json) } else { json };
        let (size, limit) = (text.len(), self.limits.output_bytes);
        if size > limit {
            return Err(CallError::Limit(format!(
                "the result has {size} bytes and may have {limit}; return less, for example a summary or one page"
            )));
        }
        Ok(text)
    }

    /// Reads what was thrown.
    pub(super) fn thrown(&self, json: &str, memory_refused: bool) -> CallError {
        #[derive(Deserialize)]
        struct Thrown {
            #[serde(default)]
            name: Value,
            #[serde(default)]
            message: Value,
            #[serde(default)]
            stack: Value,
        }
        let Ok(thrown) = serde_json::from_str::<Thrown>(json) else {
            return CallError::Threw { name: "Error".into(), message: explain::clip(json), place: None };
        };
        let message = thrown.message.as_str().unwrap_or_default();
        if memory_refused && message == "out of memory" {
            return self.memory_exceeded();
        }
        CallError::Threw {
            name: explain::clip(thrown.name.as_str().unwrap_or("Error")),
            message: explain::with_hint(message),
            place: thrown.stack.as_str().and_then(place),
        }
    }

    /// Reads why the host stopped it.
    fn stopped(&self, error: &wasmtime::Error, memory_refused: bool) -> CallError {
        if error.is::<DeadlinePassed>() {
            return CallError::Limit(format!(
                "stopped after {:?}: it did not finish in time; look for an endless loop, a promise that waits forever, or do less per call",
                self.limits.deadline
            ));
        }
        match error.downcast_ref::<Trap>() {
            _ if memory_refused => self.memory_exceeded(),
            Some(Trap::StackOverflow) => CallError::Limit(
                "stopped: the call stack is exhausted; look for recursion that does not end, or for deeply nested data".into(),
            ),
            Some(trap) => CallError::Unusable(format!("it broke down: {trap}")),
            None => CallError::Unusable(explain::clip(&format!("{error:#}"))),
        }
    }

    fn memory_exceeded(&self) -> CallError {
        let limit = self.limits.memory_bytes >> 20;
        CallError::Limit(format!("stopped: it needs more than {limit} MiB of memory; keep less data at once"))
    }
}

/// The first place inside the capability's own source that a stack names, as in `at f (capability.js:2:13)`.
fn place(stack: &str) -> Option<Place> {
    let (_, rest) = stack.split_once("capability.js:")?;
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
    Some(Place { line: numbers.next()?.parse().ok()?, offset: numbers.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_the_first_one_in_the_capability() {
        let stack = "    at parse (native)\n    at inner (capability.js:12:3)\n    at capability.js:1:1\n";
        assert_eq!(place(stack), Some(Place { line: 12, offset: 3 }));
        assert_eq!(place("    at capability.js:2:13\n"), Some(Place { line: 2, offset: 13 }));
        assert_eq!(place("    at <prelude>:2:13\n"), None);
        assert_eq!(place("capability.js:x"), None);
    }
}
