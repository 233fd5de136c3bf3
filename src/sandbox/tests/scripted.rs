//! A [`Reach`] that records the operations and answers from a script.

use std::future::pending;
use std::sync::{Mutex, MutexGuard};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;

use super::*;
use crate::sandbox::{Operation, OperationRefused, OperationRequest};

type Answer = Box<dyn Fn(&OperationRequest) -> Result<String, OperationRefused> + Send + Sync>;

/// Records operations. None is answered before as many as `together` were asked for, so operations
/// that run one after the other wait forever.
pub(super) struct Scripted {
    operations: Mutex<Vec<Operation>>,
    answer: Answer,
    together: usize,
    asked: watch::Sender<usize>,
    most_at_once: Mutex<(usize, usize)>,
}

impl Scripted {
    pub(super) fn new(
        answer: impl Fn(&OperationRequest) -> Result<String, OperationRefused> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::together(0, answer)
    }

    pub(super) fn together(
        together: usize,
        answer: impl Fn(&OperationRequest) -> Result<String, OperationRefused> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (operations, answer) = (Mutex::default(), Box::new(answer) as Answer);
        Arc::new(Self { operations, answer, together, asked: watch::Sender::new(0), most_at_once: Mutex::default() })
    }

    /// Answers everything with this JSON.
    pub(super) fn answering(answer: Value) -> Arc<Self> {
        Self::new(move |_| Ok(answer.to_string()))
    }

    pub(super) fn operations(&self) -> MutexGuard<'_, Vec<Operation>> {
        self.operations.lock().unwrap()
    }

    pub(super) fn requests(&self) -> Vec<OperationRequest> {
        self.operations().iter().map(|operation| operation.request.clone()).collect()
    }

    /// The largest number of operations that were under way at one time.
    pub(super) fn most_at_once(&self) -> usize {
        self.most_at_once.lock().unwrap().1
    }
}

/// Counts an operation as under way while it lives.
struct UnderWay(Arc<Scripted>);

impl UnderWay {
    fn new(reach: &Arc<Scripted>) -> Self {
        let mut counts = reach.most_at_once.lock().unwrap();
        counts.0 += 1;
        counts.1 = counts.1.max(counts.0);
        drop(counts);
        Self(Arc::clone(reach))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.most_at_once.lock().unwrap().0 -= 1;
    }
}

/// The form in which a call gets a scripted reach.
pub(super) struct Shared(pub(super) Arc<Scripted>);

impl Reach for Shared {
    fn perform(&self, operation: Operation) -> BoxFuture<'static, Result<String, OperationRefused>> {
        let under_way = UnderWay::new(&self.0);
        let answer = (self.0.answer)(&operation.request);
        self.0.operations().push(operation);
        self.0.asked.send_modify(|asked| *asked += 1);
        let (mut asked, together) = (self.0.asked.subscribe(), self.0.together);
        async move {
            asked.wait_for(|asked| *asked >= together).await.unwrap();
            drop(under_way);
            answer
        }
        .boxed()
    }

    fn secret(&self, name: &str) -> Result<String, OperationRefused> {
        match name {
            "GONE" => Err(OperationRefused::new("there is no secret GONE; set it with `level3 secret set GONE`")),
            name => Ok(format!("<<{name}>>")),
        }
    }
}

/// Never answers.
pub(super) struct Silent;

impl Reach for Silent {
    fn perform(&self, _: Operation) -> BoxFuture<'static, Result<String, OperationRefused>> {
        pending().boxed()
    }

    fn secret(&self, _: &str) -> Result<String, OperationRefused> {
        Err(OperationRefused::new("no"))
    }
}

/// Every power, to a.example and b.example.
pub(super) fn all_grants() -> Grants {
    grants(json!({
        "log": {}, "clock": {}, "random": {}, "http": {"hosts": ["a.example", {"host": "b.example", "methods": ["GET"], "path": "/v1/"}]},
        "sql": {"access": "write"}, "kv": {}, "secrets": {"KEY": ["a.example"], "GONE": ["a.example"]}, "tools": {"names": ["other", "roman"]},
    }))
}

pub(super) fn grants(written: Value) -> Grants {
    serde_json::from_value(written).unwrap()
}

/// Calls `source` with every power, which reaches `reach`.
pub(super) async fn reaching(source: &str, reach: &Arc<Scripted>) -> Outcome {
    reaching_from(sandbox(), source, Arc::new(Shared(Arc::clone(reach)))).await
}

pub(super) async fn reaching_from(sandbox: &Sandbox, source: &str, reach: Arc<dyn Reach>) -> Outcome {
    let capability = built(sandbox, &Draft { grants: all_grants(), ..draft(source) }).await;
    sandbox.call(&permit(), &capability, &json!({}), reach).await
}

/// The JSON of a result that must be there.
pub(super) fn json_of(outcome: &Outcome) -> Value {
    assert!(outcome.ok, "{}", outcome.result);
    serde_json::from_str(&outcome.result).unwrap_or_else(|_| Value::from(outcome.result.as_str()))
}

/// The message of a call that must have failed.
pub(super) fn message_of(outcome: &Outcome) -> String {
    assert!(!outcome.ok, "{}", outcome.result);
    let error: Value = serde_json::from_str(&outcome.result).unwrap();
    error["message"].as_str().unwrap().to_owned()
}
