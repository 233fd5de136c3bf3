//! Operations that a call has started outside and whose end it has not yet heard. The host does
//! them side by side, a few at a time, while the guest computes or waits; it polls them within the
//! call, so none goes on after it.

use std::sync::Arc;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use wasmtime::Result;

use crate::domain::{Grants, Power, without_halves};

use super::super::SandboxLimits;
use super::super::reach::{Missing, Operation, OperationRefused, OperationRequest, Reach, RefusedOperation};
use super::bindings::level3::capability::operations::{self, Completion};
use super::{HostState, numbers};

/// The operations of one call, as its instance sees them.
pub(in crate::sandbox) struct Operations {
    limits: SandboxLimits,
    started: u32,
    /// How many were started and have no end yet that the guest was told.
    open: u32,
    /// The guest has ended. The queue does not tell: it also counts as closed once a deadline has
    /// dropped the future that does them.
    closed: bool,
    /// The way to the future that does them.
    queue: UnboundedSender<Started>,
    ended: UnboundedSender<Completion>,
    told: UnboundedReceiver<Completion>,
}

/// An operation on its way to the reach.
enum Started {
    /// It is to be done.
    Allowed(Operation),
    /// It is refused, and the guest knows.
    Refused(RefusedOperation),
}

/// The guest went on starting operations long after they were refused.
#[derive(Debug, thiserror::Error)]
#[error("stopped: it started more than {0} operations")]
pub(in crate::sandbox) struct TooManyOperations(u32);

impl Operations {
    /// The guest's side, and the future that does the operations it starts. The future ends once
    /// the guest's side is closed and everything is done.
    pub(in crate::sandbox) fn new(reach: Arc<dyn Reach>, limits: &SandboxLimits) -> (Self, BoxFuture<'static, ()>) {
        let ((queue, queued), (ended, told)) = (unbounded(), unbounded());
        let (answers, at_once, most) = (ended.clone(), limits.operations_at_once, limits.answer_bytes);
        let doing = queued
            .map(move |started| match started {
                Started::Allowed(operation) => {
                    let id = operation.ordinal;
                    let held = move |answer| within(answer, most).map(numbers::held);
                    reach.perform(operation).map(move |answer| Some(completion(id, answer.and_then(held)))).boxed()
                }
                Started::Refused(operation) => reach.refused(operation).map(|()| None).boxed(),
            })
            .buffer_unordered(at_once)
            .for_each(move |completion| {
                // Once the guest has ended, nobody listens any more.
                let _ = completion.map(|completion| answers.unbounded_send(completion));
                std::future::ready(())
            })
            .boxed();
        (Self { limits: *limits, started: 0, open: 0, closed: false, queue, ended, told }, doing)
    }

    /// Starts no further operation.
    pub(in crate::sandbox) fn close(&mut self) {
        self.closed = true;
        self.queue.close_channel();
    }

    /// True once the guest has ended.
    pub(in crate::sandbox) fn is_closed(&self) -> bool {
        self.closed
    }

    /// The failures of operations whose end the guest never heard.
    pub(in crate::sandbox) fn unheard_failures(&mut self) -> Vec<String> {
        let ends = std::iter::from_fn(|| self.told.next().now_or_never().flatten());
        ends.filter(|end| !end.ok).map(|end| end.value).collect()
    }

    /// Reads a request that is not too long, and compares it with the grants.
    pub(super) fn read(&self, grants: &Grants, request: &str, read: ReadRequest) -> Result<OperationRequest, OperationRefused> {
        let (size, most) = (request.len(), self.limits.request_bytes);
        match size <= most {
            true => read(grants, &without_halves(request)),
            false => Err(OperationRefused::new(format!("the request has {size} bytes and may have {most}; send less at once"))),
        }
    }

    /// Does what was started until one is done, for a guest that does nothing meanwhile.
    pub(super) async fn next_end(&mut self, doing: &mut BoxFuture<'static, ()>) -> Option<Completion> {
        let ended = tokio::select! {
            biased;
            ended = self.told.next() => ended,
            () = doing => None,
        };
        self.open -= u32::from(ended.is_some());
        ended
    }

    /// Starts the operation that the guest wrote as `written`.
    pub(super) fn start(&mut self, written: &str, request: Result<OperationRequest, OperationRefused>) -> Result<u32> {
        let most = self.limits.operations;
        self.started += 1;
        self.open += 1;
        // Each refusal takes a little of the host's memory until it is told.
        if self.started > most.saturating_mul(2) {
            return Err(TooManyOperations(most).into());
        }
        let ordinal = self.started;
        let request = request.and_then(|request| match ordinal {
            _ if ordinal <= most => Ok(request),
            _ => {
                Err(OperationRefused::new(format!("a call may start {most} operations, and this is one more; do less per call")))
            }
        });
        match request {
            Ok(request) => {
                let operation = Started::Allowed(Operation { ordinal, request });
                self.queue.unbounded_send(operation).map_err(wasmtime::Error::new)?;
            }
            Err(refused) => {
                let request = written[..written.floor_char_boundary(self.limits.request_bytes)].to_owned();
                let operation = Started::Refused(RefusedOperation { ordinal, request, why: refused.message.clone() });
                self.queue.unbounded_send(operation).map_err(wasmtime::Error::new)?;
                self.ended.unbounded_send(completion(ordinal, Err(refused))).map_err(wasmtime::Error::new)?;
            }
        }
        Ok(ordinal)
    }
}

fn completion(id: u32, answer: Result<String, OperationRefused>) -> Completion {
    match answer {
        Ok(value) => Completion { id, ok: true, value },
        Err(OperationRefused { message, .. }) => Completion { id, ok: false, value: message },
    }
}

fn within(answer: String, most: usize) -> Result<String, OperationRefused> {
    if answer.len() <= most {
        return Ok(answer);
    }
    let size = answer.len();
    Err(OperationRefused::new(format!(
        "the answer has {size} bytes and may have {most}; ask for less at once, for example one page"
    )))
}

/// Reads an operation's JSON and compares it with the grants.
pub(super) type ReadRequest = fn(&Grants, &str) -> Result<OperationRequest, OperationRefused>;

impl HostState {
    /// Starts an operation. The guest hears of a fault in the request as the operation's end, like
    /// any other failure.
    pub(super) fn start(&mut self, request: &str, read: ReadRequest) -> Result<u32> {
        let none = || wasmtime::Error::msg("no power that has operations was granted");
        let asked = self.operations.as_ref().ok_or_else(none)?.read(&self.grants, request, read);
        let asked = self.noted(asked);
        self.operations.as_mut().ok_or_else(none)?.start(request, asked)
    }
}

impl operations::Host for HostState {
    async fn wait(&mut self, milliseconds: u64) -> Result<Option<Completion>> {
        let Some(mut operations) = self.operations.take() else { return Ok(None) };
        let ended = match operations.open {
            0 => None,
            _ => tokio::select! {
                biased;
                ended = operations.told.next() => ended,
                // Waiting for no time lets operations go on, too.
                () = async { tokio::task::yield_now().await; self.wait_on_the_clock(milliseconds).await } => None,
            },
        };
        operations.open -= u32::from(ended.is_some());
        self.operations = Some(operations);
        Ok(ended)
    }
}

/// The grant that a capability lacks, with these grants and the addition that would do.
pub(super) fn lacking(grants: &Grants, lacks: String, add: impl FnOnce(&mut Grants)) -> Missing {
    let mut wider = grants.clone();
    add(&mut wider);
    Missing { lacks, grants: serde_json::Value::Object(wider.to_json()), after: "", whole: true }
}

/// The grant that a capability lacks if it has nothing of a power; the engine's prelude says the
/// same of a power that is not linked.
pub(super) fn lacking_power(grants: &Grants, power: Power, purpose: &str, add: impl FnOnce(&mut Grants)) -> Missing {
    let after = if grants.need_approval() { " beside those it has" } else { "" };
    let lacks = format!("this capability was not granted `{power}`; to {purpose}");
    Missing { after, ..lacking(&Grants::none(), lacks, add) }
}

/// Reads a request's JSON. The engine writes it, so the place of a fault in it is no place in the
/// source.
pub(super) fn json<'a, T: serde::Deserialize<'a>>(request: &'a str) -> Result<T, OperationRefused> {
    serde_json::from_str(request).map_err(|error| {
        let error = error.to_string();
        let fault = error.rsplit_once(" at line ").map_or(error.as_str(), |(fault, _)| fault);
        OperationRefused::new(match fault {
            "recursion limit exceeded" => TOO_DEEP.to_owned(),
            fault => format!("this is no request: {fault}"),
        })
    })
}

const TOO_DEEP: &str =
    "the request has values nested more than 120 deep; nest them less, or send them as one text: JSON.stringify(value)";
