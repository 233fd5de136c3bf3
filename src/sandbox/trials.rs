//! Calls without effects: the tests of a capability. The test itself answers their operations; they
//! have values of their own, in the memory of this run.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::domain::{CapabilityVersion, Outcome, SourceLanguage, TestCase, Toolset};
use crate::wire::api::TestedCase;

use super::component::{Bytes, Loaded, sha256};
use super::reach::{KvRequest, Missing, Nothing, Operation, OperationRefused, OperationRequest, Reach};
use super::run::RunEnd;
use super::template::Kind;
use super::{CallError, Inner, Sandbox, powers};

/// The outcome of a rehearsal.
pub struct Rehearsed {
    /// The result of the call, in the words for a model.
    pub result: Result<String, CallError>,
    /// The first grant that it lacked, if it has no result.
    pub missing: Option<Missing>,
}

impl Sandbox {
    /// Calls a capability without effects, as if for the first time. It has values of its own,
    /// which are kept nowhere, and reaches nothing else.
    pub async fn rehearse(&self, capability: &CapabilityVersion, params: &Value) -> Rehearsed {
        let loaded = match self.validate_params(capability, params) {
            Ok(()) => self.0.stored(capability).await,
            Err(error) => Err(error),
        };
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return Rehearsed { result: Err(error), missing: None },
        };
        let terms = self.0.terms_of_trial(Arc::<Trial>::default());
        let RunEnd { result, mut missing, .. } = self.0.run(&loaded, params, &terms).await;
        if result.is_err() && missing.is_none() {
            missing = self.0.lacking(capability, params).await;
        }
        Rehearsed { missing: missing.filter(|_| result.is_err()), result }
    }

    /// Makes a recorded call again, without effects. `None` if it asks for anything outside the
    /// sandbox: it gets nothing there, so its result says nothing of the code.
    pub async fn try_call(&self, capability: &CapabilityVersion, params: &Value) -> Option<Outcome> {
        let reach = Arc::<Refusing>::default();
        let outcome = self.outcome(capability, params, &self.0.terms_of_trial(reach.clone()), Toolset::Builder).await;
        (!reach.0.load(Ordering::Relaxed)).then_some(outcome)
    }
}

/// The reach of a recorded call that is made again: nothing. True once the call asked for
/// something.
#[derive(Default)]
struct Refusing(AtomicBool);

impl Reach for Refusing {
    fn perform(&self, operation: Operation) -> BoxFuture<'static, Result<String, OperationRefused>> {
        self.0.store(true, Ordering::Relaxed);
        Nothing.perform(operation)
    }

    fn secret(&self, name: &str) -> Result<String, OperationRefused> {
        self.0.store(true, Ordering::Relaxed);
        Nothing.secret(name)
    }
}

impl Inner {
    /// The first grant that a call lacks, if the host has not heard of it: a component that imports
    /// nothing of a power cannot ask for it. So the call is made once more, linked with every
    /// power, and still with only its own grants.
    async fn lacking(&self, capability: &CapabilityVersion, params: &Value) -> Option<Missing> {
        if capability.language != SourceLanguage::JavaScript {
            return None;
        }
        let every = powers::every();
        let component = self.templates.get(&every).ok()?.component(Kind::Run, &capability.source);
        let sha256 = sha256(&component);
        let bytes = Bytes { component: &component, sha256: &sha256, grants: &every, language: capability.language };
        let loaded = self.load(bytes).await.ok()?;
        let terms = self.terms_of_trial(Arc::<Trial>::default()).granting(&capability.grants);
        self.run(&loaded, params, &terms).await.missing
    }
}

/// The outcome of one test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestResult {
    /// The arguments.
    pub params: Value,
    /// The result that the author expected; absent if success is enough.
    pub expected: Option<Value>,
    /// The result in the words for a model; absent if the call failed.
    pub result: Option<String>,
    /// True if the result is the expected one.
    pub ok: bool,
    /// Why it has no result.
    pub error: Option<CallError>,
    /// The lines that the capability logged.
    pub logs: Vec<String>,
}

impl From<TestResult> for TestedCase {
    fn from(TestResult { params, expected, result, ok, error, logs }: TestResult) -> Self {
        Self { error: error.map(|error| error.refusal().to_json()), expected, logs, ok, params, result }
    }
}

impl Inner {
    /// Runs one test. `values` are those that the tests before it kept.
    pub(super) async fn trial(&self, loaded: &Loaded, parameters: &Value, case: &TestCase, values: &Arc<Values>) -> TestResult {
        let ran = match self.validators.validate(parameters, &case.params) {
            Ok(()) => {
                let reach: Arc<dyn Reach> = match case.answers.is_empty() {
                    true => Arc::new(Rehearsal(Arc::clone(values))),
                    false => Arc::new(Answers(Mutex::new(case.answers.iter().cloned().collect()))),
                };
                let terms = self.terms_of_trial(reach);
                self.run(loaded, &case.params, &terms).await
            }
            Err(error) => RunEnd::failed(error),
        };
        let (result, error) = match ran.result {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        let ok = result.as_ref().is_some_and(|result| case.expect.as_ref().is_none_or(|expected| same(result, expected)));
        TestResult { params: case.params.clone(), expected: case.expect.clone(), result, ok, error, logs: ran.logs }
    }
}

/// Values of a capability's own while its tests run. The first test begins with none, and each
/// other one with those that the test before it left.
#[derive(Default)]
pub(super) struct Values(Mutex<BTreeMap<String, Value>>);

/// The most that the tests of one capability may keep, all together, in bytes of keys and of values
/// as JSON.
const KEPT_BYTES: usize = 1 << 20;

impl Values {
    /// Answers as the store does.
    fn answer(&self, request: &KvRequest) -> Result<String, OperationRefused> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match request {
            KvRequest::Get { key } => values.get(key).unwrap_or(&Value::Null).to_string(),
            KvRequest::Delete { key } => values.remove(key).is_some().to_string(),
            KvRequest::List { prefix } => {
                json!(values.keys().filter(|key| key.starts_with(prefix)).collect::<Vec<_>>()).to_string()
            }
            KvRequest::Set { key, value } => {
                let size = |key: &str, value: &Value| key.len() + value.to_string().len();
                let others = values.iter().filter(|(other, _)| *other != key);
                if others.map(|(key, value)| size(key, value)).sum::<usize>() + size(key, value) > KEPT_BYTES {
                    return Err(OperationRefused::new(format!(
                        "the tests of a capability can keep {KEPT_BYTES} bytes together; keep less in them"
                    )));
                }
                values.insert(key.clone(), value.clone());
                Value::Null.to_string()
            }
        })
    }
}

/// The reach of a test without answers: values of its own, and nothing else.
struct Rehearsal(Arc<Values>);

impl Reach for Rehearsal {
    fn perform(&self, operation: Operation) -> BoxFuture<'static, Result<String, OperationRefused>> {
        let answer = match &operation.request {
            OperationRequest::Kv(request) => self.0.answer(request),
            _ => answered(&operation, None),
        };
        std::future::ready(answer).boxed()
    }

    fn secret(&self, name: &str) -> Result<String, OperationRefused> {
        Ok(secret_of_a_test(name))
    }
}

/// The reach of a trial call: values of its own, kept nowhere.
#[derive(Default)]
pub(super) struct Trial(Values);

impl Reach for Trial {
    fn perform(&self, operation: Operation) -> BoxFuture<'static, Result<String, OperationRefused>> {
        match &operation.request {
            OperationRequest::Kv(request) => std::future::ready(self.0.answer(request)).boxed(),
            _ => Nothing.perform(operation),
        }
    }

    fn secret(&self, name: &str) -> Result<String, OperationRefused> {
        Nothing.secret(name)
    }
}

fn secret_of_a_test(name: &str) -> String {
    format!("the-secret-{name}-in-a-test")
}

/// The answers to the operations of a test, in order.
struct Answers(Mutex<VecDeque<Value>>);

impl Reach for Answers {
    fn perform(&self, operation: Operation) -> BoxFuture<'static, Result<String, OperationRefused>> {
        let answer = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        std::future::ready(answered(&operation, answer)).boxed()
    }

    fn secret(&self, name: &str) -> Result<String, OperationRefused> {
        Ok(secret_of_a_test(name))
    }
}

const FORM: &str = r#"{"ok": <what it answers>} or {"error": "message"}"#;

fn answered(operation: &Operation, answer: Option<Value>) -> Result<String, OperationRefused> {
    let number = operation.ordinal;
    let what = match &operation.request {
        OperationRequest::Http(request) => format!("{} {}", request.method, request.url),
        OperationRequest::Sql { text, .. } => format!("the SQL {text}"),
        OperationRequest::Kv(_) => "a use of host.kv".to_owned(),
        OperationRequest::Tool { name, .. } => format!("the call of {name}"),
    };
    let Some(answer) = answer else {
        return Err(OperationRefused::new(format!(
            "a test reaches nothing outside, and operation {number} ({what}) has no answer left; give the test \
             \"answers\": [{FORM}, …], one for each operation in order"
        )));
    };
    let fields = answer.as_object().filter(|fields| fields.len() == 1);
    let (ok, error) = (fields.and_then(|fields| fields.get("ok")), fields.and_then(|fields| fields.get("error")));
    match (ok, error.and_then(Value::as_str), &operation.request) {
        (Some(ok), _, OperationRequest::Http(request)) => http(ok, &request.url),
        (Some(ok), _, OperationRequest::Tool { .. }) if ok.is_string() => Ok(ok.as_str().unwrap_or_default().to_owned()),
        (Some(ok), ..) => Ok(ok.to_string()),
        (None, Some(message), _) => Err(OperationRefused::new(message.to_owned())),
        (None, None, _) => {
            Err(OperationRefused::new(format!("the test's answer for operation {number} ({what}) must be {FORM}, not {answer}")))
        }
    }
}

/// A response as an author writes it. Only the status has to be there; a body that is no text is
/// JSON.
fn http(written: &Value, url: &str) -> Result<String, OperationRefused> {
    let Some(status) = written.get("status").filter(|status| status.is_u64()) else {
        return Err(OperationRefused::new(format!(
            r#"what a test answers to fetch is {{"ok": {{"status": 200, "headers": {{"name": "value"}}, "body": <text or JSON>}}}}, not {written}"#
        )));
    };
    let of = |name: &str| written.get(name).cloned();
    let mut answer = json!({ "status": status, "status_text": of("status_text").unwrap_or_else(|| json!("")) });
    answer["url"] = of("url").unwrap_or_else(|| json!(url));
    answer["headers"] = match of("headers") {
        Some(Value::Object(headers)) => headers.into_iter().map(|(name, value)| json!([name.to_lowercase(), value])).collect(),
        other => other.unwrap_or_else(|| json!([])),
    };
    match (of("body_base64"), of("body")) {
        (Some(bytes), _) => answer["body_base64"] = bytes,
        (None, Some(text @ Value::String(_))) => answer["body"] = text,
        (None, body) => answer["body"] = body.map_or_else(|| json!(""), |body| json!(body.to_string())),
    }
    Ok(answer.to_string())
}

/// True if a caller could not tell the result from the expected one: the same text, or the same
/// JSON, in which 1 equals 1.0.
fn same(result: &str, expected: &Value) -> bool {
    expected.as_str() == Some(result) || serde_json::from_str(result).is_ok_and(|result| equal(&result, expected))
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len() && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests;
