//! The sandbox as a whole: real engine, real components, a clock that a test turns and randomness
//! that it knows.

mod calls;
mod checks;
mod examples;
mod halves;
mod operations;
mod powers;
mod python;
mod refusals;
mod safety;
mod scripted;
mod scripts;
mod stored;
mod teaching;
mod trials;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{CheckError, CheckedDraft, Nothing, Reach, Sandbox, SandboxLimits};
use crate::clock::{ManualClock, SeededRandom};
use crate::domain::{CapabilityVersion, Draft, Effect, Grants, Mode, Outcome, SourceLanguage, TestCase, ToolCallId, Toolset};
use crate::governor::{Evidence, Permit, Policy, Proposal, Verdict, authorize};

/// The moment the tests' clock shows.
const NOW: &str = "2030-01-02T03:04:05.678Z";

/// Compiled engines of all tests, and of later runs; beside the test program.
fn cache() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("test-engines")
}

fn clock() -> ManualClock {
    ManualClock::at(NOW.parse::<DateTime<Utc>>().unwrap())
}

fn open(limits: SandboxLimits) -> Sandbox {
    Sandbox::open(&cache(), Arc::new(clock()), Arc::new(SeededRandom::new(1)), limits).unwrap()
}

/// The sandbox that most tests share.
fn sandbox() -> &'static Sandbox {
    static SHARED: OnceLock<Sandbox> = OnceLock::new();
    SHARED.get_or_init(|| open(SandboxLimits::default()))
}

/// A sandbox whose calls end soon, for code that never would.
fn impatient() -> &'static Sandbox {
    static SHARED: OnceLock<Sandbox> = OnceLock::new();
    SHARED.get_or_init(|| open(SandboxLimits { deadline: Duration::from_millis(300), ..SandboxLimits::default() }))
}

fn permit() -> Permit {
    let policy = Policy { mode: Mode::Auto, governor: false, rules: BTreeMap::new(), tools: Toolset::Builder };
    let (call, effects) = (ToolCallId(1), [Effect::Call].into());
    let proposal = Proposal { call, tool: "probe".into(), arguments: json!({}), effects, version: Some(1), losses: Vec::new() };
    match authorize(&policy, &proposal, Evidence::default()) {
        Verdict::Allow(permit) => permit,
        other => panic!("{other:?}"),
    }
}

fn nothing() -> Arc<dyn Reach> {
    Arc::new(Nothing)
}

/// A draft of the capability `probe` that takes any arguments.
fn draft(source: &str) -> Draft {
    Draft {
        name: "probe".into(),
        description: "A test".into(),
        language: SourceLanguage::JavaScript,
        source: source.into(),
        parameters: json!({"type": "object"}),
        grants: Grants::harmless(),
        tests: vec![],
    }
}

fn test(params: Value, expect: Value) -> TestCase {
    TestCase { params, expect: Some(expect), answers: vec![] }
}

/// The version that a draft becomes.
fn version(draft: &Draft, checked: CheckedDraft) -> CapabilityVersion {
    CapabilityVersion {
        name: draft.name.clone(),
        version: 1,
        description: draft.description.clone(),
        language: draft.language,
        source: checked.source,
        parameters: draft.parameters.clone(),
        grants: draft.grants.clone(),
        tests: draft.tests.clone(),
        component: checked.component,
        sha256: checked.sha256,
        engine: checked.engine,
    }
}

async fn built(sandbox: &Sandbox, draft: &Draft) -> CapabilityVersion {
    version(draft, sandbox.check(draft).await.unwrap_or_else(|error| panic!("{error}")))
}

async fn call(caller: &Sandbox, source: &str, params: Value) -> Outcome {
    caller.call(&permit(), &built(sandbox(), &draft(source)).await, &params, nothing()).await
}

/// The result of a call that must succeed.
async fn result(source: &str, params: Value) -> String {
    let outcome = call(sandbox(), source, params).await;
    assert!(outcome.ok, "{}", outcome.result);
    outcome.result
}

/// The error of a call that must fail.
async fn failure(sandbox: &Sandbox, source: &str) -> Value {
    let outcome = call(sandbox, source, json!({})).await;
    assert!(!outcome.ok, "{}", outcome.result);
    serde_json::from_str(&outcome.result).unwrap()
}

/// The error of a draft that must not pass.
async fn refused(draft: &Draft) -> CheckError {
    sandbox().check(draft).await.map(|_| ()).unwrap_err()
}
