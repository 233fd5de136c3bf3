//! The way of a draft: name and schema, syntax, loads, has its function, passes its own tests. Each
//! failure says how to put it right, and ends the way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::domain::{Draft, NAME_RULE, SourceLanguage, valid_name};

use super::component::{Bytes, LoadError, Loaded, sha256};
use super::error::FailedTest;
use super::{CallError, CheckError, Inner, MAX_SOURCE_BYTES, Sandbox, TestResult, explain, schema, wat};
use crate::domain::RefusalCode;

/// How many tests a draft may bring.
const MAX_TESTS: usize = 50;

/// The most bytes of a description. Each request to a model shows the descriptions of its tools.
const MAX_DESCRIPTION_BYTES: usize = 4 * 1024;

/// A draft that passed: everything to keep with its version.
#[derive(Clone, Debug)]
pub struct CheckedDraft {
    /// The source that runs: the author's, perhaps with an `export default` added at its end.
    pub source: String,
    /// The component's bytes.
    pub component: Vec<u8>,
    /// sha256 of `component`, in hexadecimal.
    pub sha256: String,
    /// The engine it was made for; empty for components that bring their own code.
    pub engine: String,
    /// The results of the draft's own tests, in their order.
    pub tests: Vec<TestResult>,
}

impl Sandbox {
    /// Checks a draft and builds its component. The draft's code runs only inside the sandbox, with
    /// what it asks for.
    ///
    /// # Errors
    /// The first check that fails.
    pub async fn check(&self, draft: &Draft) -> Result<CheckedDraft, CheckError> {
        check_form(draft)?;
        schema::check(&draft.parameters)?;
        let component = match draft.language {
            SourceLanguage::JavaScript => self.0.build_javascript(draft).await?,
            SourceLanguage::Wat => wat::build(draft)?,
            SourceLanguage::Wasm => wat::decode(draft)?,
        };
        let sha256 = sha256(&component.bytes);
        let bytes = Bytes { component: &component.bytes, sha256: &sha256, grants: &draft.grants, language: draft.language };
        let loaded = self.0.load(bytes).await.map_err(load_failed)?;
        let tests = self.0.tests(draft, &loaded, self.0.limits.deadline * 3).await?;
        Ok(CheckedDraft { source: component.source, component: component.bytes, sha256, engine: component.engine, tests })
    }
}

fn check_form(draft: &Draft) -> Result<(), CheckError> {
    if !valid_name(&draft.name) {
        return Err(CheckError::new(RefusalCode::InvalidName, format!("the name `{}` cannot be used: {NAME_RULE}", draft.name)));
    }
    if draft.description.trim().is_empty() {
        let message = "the description is empty; say what the capability does: a model decides by it whether to call it";
        return Err(CheckError::new(RefusalCode::InvalidArguments, message));
    }
    if draft.description.len() > MAX_DESCRIPTION_BYTES {
        let size = draft.description.len();
        let message = format!(
            "the description has {size} bytes and may have {MAX_DESCRIPTION_BYTES}; say only what it does and when to call it"
        );
        return Err(CheckError::new(RefusalCode::TooLarge, message));
    }
    if draft.source.len() > MAX_SOURCE_BYTES {
        let size = draft.source.len();
        return Err(CheckError::new(
            RefusalCode::TooLarge,
            format!("the source has {size} bytes and may have {MAX_SOURCE_BYTES}; keep data in the database, not in the code"),
        ));
    }
    if draft.tests.len() > MAX_TESTS {
        return Err(CheckError::new(
            RefusalCode::TooLarge,
            format!("there are {} tests and there may be {MAX_TESTS}; keep those that say most", draft.tests.len()),
        ));
    }
    Ok(())
}

fn load_failed(error: LoadError) -> CheckError {
    let kind = match error {
        LoadError::NoRun => RefusalCode::MissingFunction,
        LoadError::Damaged | LoadError::NotGranted { .. } | LoadError::Invalid(_) => RefusalCode::ImportError,
    };
    CheckError::new(kind, error.to_string())
}

impl Inner {
    /// Runs the draft's tests, which have `limit` together.
    pub(super) async fn tests(&self, draft: &Draft, loaded: &Loaded, limit: Duration) -> Result<Vec<TestResult>, CheckError> {
        let start = Instant::now();
        let mut results = Vec::with_capacity(draft.tests.len());
        let values = Arc::default();
        for (before, case) in draft.tests.iter().enumerate() {
            if start.elapsed() > limit {
                let message = format!("the first {before} tests took more than {limit:?} together; keep fewer, or smaller ones");
                return Err(CheckError::new(RefusalCode::TestFailed, message));
            }
            let result = self.trial(loaded, &draft.parameters, case, &values).await;
            if !result.ok {
                return Err(test_failed(draft, before + 1, result));
            }
            results.push(result);
        }
        Ok(results)
    }
}

fn test_failed(draft: &Draft, case: usize, test: TestResult) -> CheckError {
    let call = format!("test {case} of {}: {}({})", draft.tests.len(), draft.name, test.params);
    let place = test.error.as_ref().and_then(CallError::place);
    let message = match (&test.error, &test.result, &test.expected) {
        (Some(error @ CallError::InvalidArguments { .. }), ..) => format!("{call} does not fit the parameters: {error}"),
        (Some(error), ..) => format!("{call} failed: {error}"),
        (None, result, expected) => {
            let (result, expected) = (result.as_deref().unwrap_or_default(), expected.clone().unwrap_or_default());
            // A function that takes its arguments one by one gives null here.
            let hint = if result == "null" { "; the function takes ONE object: read arguments as params.x" } else { "" };
            explain::clip(&format!("{call} gave {result}, but {expected} was expected; correct the code or the test{hint}"))
        }
    };
    let got = test.result.map(|result| serde_json::from_str(&result).unwrap_or(Value::String(result)));
    let failed = FailedTest { case, expected: test.expected, got, logs: test.logs };
    CheckError { test: Some(Box::new(failed)), ..CheckError::new(RefusalCode::TestFailed, message) }.at(place)
}
