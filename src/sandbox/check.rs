//! The way of a draft: name and schema, syntax, loads, has its function, passes its own tests. Each failure says how to
//! put it right, and ends the way.

use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::domain::{Draft, Language, NAME_RULE, valid_name};

use super::component::{Bytes, LoadError, Loaded};
use super::error::{CheckErrorKind, FailedTest};
use super::{CheckError, Inner, MAX_SOURCE_BYTES, Sandbox, schema, wat};

/// How many tests a draft may bring.
const MAX_TESTS: usize = 50;

/// A draft that passed: what is to be kept with its version.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The source as it is run: the author's, perhaps with an `export default` added at its end.
    pub source: String,
    /// The component's bytes.
    pub component: Vec<u8>,
    /// sha256 of `component`, in hexadecimal.
    pub sha256: String,
    /// The engine it was made for; empty for components that bring their own code.
    pub engine: String,
    /// What the draft's own tests gave, in their order.
    pub tests: Vec<TestResult>,
}

/// A test that held.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TestResult {
    /// The arguments.
    pub params: Value,
    /// What the call gave, as the model would read it.
    pub result: String,
    /// What it logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
}

/// A component that was built and not yet tried.
pub(super) struct Component {
    pub(super) source: String,
    pub(super) bytes: Vec<u8>,
    pub(super) engine: String,
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

impl Sandbox {
    /// Checks a draft and builds its component. The draft's code runs only inside the sandbox, with what it asks for.
    ///
    /// # Errors
    /// The first check that fails.
    pub async fn check(&self, draft: &Draft) -> Result<Checked, CheckError> {
        check_form(draft)?;
        schema::check(&draft.parameters)?;
        let component = match draft.language {
            Language::JavaScript => self.0.build_javascript(draft).await?,
            Language::Wat => wat::build(draft)?,
            Language::Wasm => wat::decode(draft)?,
        };
        let sha256 = sha256(&component.bytes);
        let bytes = Bytes { component: &component.bytes, sha256: &sha256, grants: &draft.grants, language: draft.language };
        let loaded = self.0.load(bytes).await.map_err(load_failed)?;
        let tests = self.0.tests(draft, &loaded, self.0.limits.deadline * 3).await?;
        Ok(Checked { source: component.source, component: component.bytes, sha256, engine: component.engine, tests })
    }
}

fn check_form(draft: &Draft) -> Result<(), CheckError> {
    if !valid_name(&draft.name) {
        return Err(CheckError::new(
            CheckErrorKind::InvalidName,
            format!("the name `{}` cannot be used: {NAME_RULE}", draft.name),
        ));
    }
    if draft.source.len() > MAX_SOURCE_BYTES {
        let size = draft.source.len();
        return Err(CheckError::new(
            CheckErrorKind::TooLarge,
            format!("the source has {size} bytes and may have {MAX_SOURCE_BYTES}; keep data in the database, not in the code"),
        ));
    }
    if draft.tests.len() > MAX_TESTS {
        return Err(CheckError::new(
            CheckErrorKind::TooLarge,
            format!("there are {} tests and there may be {MAX_TESTS}; keep those that say most", draft.tests.len()),
        ));
    }
    Ok(())
}

fn load_failed(error: LoadError) -> CheckError {
    let kind = match error {
        LoadError::NoRun => CheckErrorKind::MissingFunction,
        LoadError::Damaged | LoadError::NotGranted { .. } | LoadError::Invalid(_) => CheckErrorKind::ImportError,
    };
    CheckError::new(kind, error.to_string())
}

impl Inner {
    /// Runs the draft's tests, which have `limit` together.
    pub(super) async fn tests(&self, draft: &Draft, loaded: &Loaded, limit: Duration) -> Result<Vec<TestResult>, CheckError> {
        let start = Instant::now();
        let mut results = Vec::with_capacity(draft.tests.len());
        for case in 0..draft.tests.len() {
            if start.elapsed() > limit {
                let message = format!("the first {case} tests took more than {limit:?} together; keep fewer, or smaller ones");
                return Err(CheckError::new(CheckErrorKind::TestFailed, message));
            }
            results.push(self.test(draft, loaded, case).await?);
        }
        Ok(results)
    }

    async fn test(&self, draft: &Draft, loaded: &Loaded, case: usize) -> Result<TestResult, CheckError> {
        let test = &draft.tests[case];
        let call = format!("test {} of {}: {}({})", case + 1, draft.tests.len(), draft.name, test.params);
        let failed = |message: String, got: Option<Value>, logs: Vec<String>| CheckError {
            test: Some(Box::new(FailedTest { case: case + 1, expected: test.expect.clone(), got, logs })),
            ..CheckError::new(CheckErrorKind::TestFailed, message)
        };
        if let Err(error) = schema::validate(&draft.parameters, &test.params) {
            return Err(failed(format!("{call} does not fit the parameters: {error}"), None, Vec::new()));
        }
        let ran = self.run(loaded, &test.params).await;
        match (ran.result, &test.expect) {
            (Err(error), _) => Err(failed(format!("{call} failed: {error}"), None, ran.logs).at(error.place())),
            (Ok(result), Some(expected)) if !same(&result, expected) => {
                // What a function gives that takes its arguments one by one.
                let hint = if result == "null" { "; the function takes ONE object: read arguments as params.x" } else { "" };
                let message = format!("{call} gave {result}, but {expected} was expected; correct the code or the test{hint}");
                Err(failed(super::explain::clip(&message), Some(json_of(result)), ran.logs))
            }
            (Ok(result), _) => Ok(TestResult { params: test.params.clone(), result, logs: ran.logs }),
        }
    }
}

fn json_of(result: String) -> Value {
    serde_json::from_str(&result).unwrap_or(Value::String(result))
}

/// True when a caller could not tell the result from the expected one: the same text, or the same JSON, where 1 is 1.0.
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
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_compared_as_a_caller_would_see_them() {
        assert!(same("XIV", &json!("XIV")));
        assert!(same("1.0", &json!(1)));
        assert!(same(r#"{"b":[1,null],"a":2}"#, &json!({"a": 2.0, "b": [1, null]})));
        assert!(same("42", &json!("42")));
        assert!(!same("XV", &json!("XIV")));
        assert!(!same(r#"{"a":2}"#, &json!({"a": 2, "b": 3})));
        assert!(!same("[1,2]", &json!([2, 1])));
    }
}
