//! The cost of the law: a capability's call with policy, validation and audit, beside the bare call
//! in the sandbox and beside the commit that any record of it needs. Ratios count; times vary with
//! the machine.
//!
//! `cargo bench --bench law`

#![allow(missing_docs, clippy::print_stdout, reason = "a program that prints")]

mod common;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use level3::clock::{Clock, SystemClock, SystemRandom};
use level3::config::Config;
use level3::domain::{CallRequest, CapabilityVersion, Draft, Effect, Grants, Mode, SourceLanguage, ToolCallId, Toolset};
use level3::egress::{self, Egress, SystemResolver};
use level3::governor::{Evidence, Permit, Policy, Proposal, Verdict, authorize};
use level3::mcp::{self, Mcp};
use level3::postgres::Database;
use level3::profiles::Profiles;
use level3::sandbox::{Nothing, Sandbox, SandboxLimits};
use level3::secrets::Vault;
use level3::store::{CheckedComponent, Lease, NewStep, OpenCall, Store};
use level3::telemetry::Scrubber;
use level3::tools::{AfterCall, Hands, Marks, ToolSettings, Tools};
use serde_json::{Value, json};

use common::{Insert, percentile};

const REPETITIONS: usize = 300;
const SOURCE: &str = "export default function double(params) {\n  return params.n * 2;\n}";

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let settings: HashMap<String, String> = HashMap::new();
    let config = Config { data_dir: folder.path().join("data"), ..Config::read(&settings).unwrap() };
    std::fs::create_dir_all(&config.data_dir).unwrap();
    let database = Database::open(&config).await.unwrap();
    let store = Store::open(&database, &SystemRandom).await.unwrap();
    let (clock, random): (Arc<dyn Clock>, _) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    let sandbox =
        Sandbox::open(&config.data_dir.join("cache"), Arc::clone(&clock), random.clone(), SandboxLimits::default()).unwrap();
    let scrubber = Scrubber::default();
    let vault = Vault::open(&config.data_dir, store.clone(), random, scrubber.clone()).await.unwrap();
    let mcp = Mcp::new(vault.clone(), scrubber.clone(), Default::default(), mcp::McpLimits::default());
    let egress = Egress::new(Arc::new(SystemResolver), Default::default(), egress::EgressLimits::default(), scrubber);
    let marks = Marks::open(&config.data_dir.join("calls")).unwrap();
    let hands = Hands { sandbox: sandbox.clone(), egress, mcp, vault, marks };
    let settings = ToolSettings { approval_expiry: TimeDelta::days(1), safe_mode: false };
    let tools = Tools::new(store.clone(), hands, Arc::clone(&clock), Default::default(), settings, Vec::new());

    let (lease, calls) = prepared(&store, &sandbox, &*clock).await;
    let capability = store.capability("double").await.unwrap().unwrap();
    let mut insert = Insert::prepare(&config).await;
    let (mut floor, mut bare, mut judged, mut whole) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let profile = Profiles::default().get("builder").unwrap();
    // The calls take turns, so that a loud minute of the machine falls on all of them.
    for (n, open) in calls.iter().enumerate() {
        floor.push(timed(async || insert.once().await).await);
        bare.push(timed(async || called(&sandbox, &capability).await).await);
        judged.push(timed(async || assert!(permit(n as i64).approval().is_none())).await);
        whole.push(timed(async || assert_eq!(tools.run(&lease, &profile, open, None).await.unwrap(), AfterCall::Ended)).await);
    }
    let (floor_p50, bare_p50) = (percentile(&mut floor.clone(), 50), percentile(&mut bare.clone(), 50));
    let least = floor_p50 + bare_p50;
    println!("{:58} {:>10} {:>10} {:>12}", "", "p50", "p99", "p50 / least");
    for (what, mut times) in [
        ("floor: one insert, committed", floor),
        ("bare call: the sandbox, fresh instance", bare),
        ("the policy alone: proposal, sha256, verdict, permit", judged),
        ("whole call: policy, validation, audit, outcome, event", whole),
    ] {
        let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
        println!("{what:58} {p50:>10.1?} {p99:>10.1?} {:>11.2}x", p50.as_secs_f64() / least.as_secs_f64());
    }
    println!("least: the bare call and one committed insert, {least:.1?}");
    store.close().await;
    database.stop().await.unwrap();
}

/// A turn in hand whose one step asks for many calls of an installed capability.
async fn prepared(store: &Store, sandbox: &Sandbox, clock: &dyn Clock) -> (Lease, Vec<OpenCall>) {
    let now = clock.now();
    let conversation = store.main_conversation(now).await.unwrap();
    let draft = Draft {
        name: "double".into(),
        description: "d".into(),
        language: SourceLanguage::JavaScript,
        source: SOURCE.into(),
        parameters: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
        grants: Grants::harmless(),
        tests: Vec::new(),
    };
    let checked = sandbox.check(&draft).await.unwrap();
    let mut unit = store.begin(now).await.unwrap();
    let built = CheckedComponent { component: &checked.component, sha256: &checked.sha256, engine: &checked.engine };
    unit.install_capability(&permit(0), conversation, &draft, built, None).await.unwrap();
    unit.commit().await.unwrap();
    store.accept_message(conversation, None, "go", now).await.unwrap();
    let lease = store.claim("bench", &[], now).await.unwrap().unwrap();
    let request = |n: usize| CallRequest { id: n.to_string(), name: "double".into(), arguments: json!({"n": n}).to_string() };
    let calls: Vec<_> = (0..REPETITIONS).map(request).collect();
    let step = NewStep { number: 1, model: "bench", finish_reason: "tool_calls", calls: &calls, ..NewStep::default() };
    let open = store.store_step(&lease, step, now).await.unwrap().calls;
    (lease, open)
}

async fn called(sandbox: &Sandbox, capability: &CapabilityVersion) {
    let outcome = sandbox.call(&permit(1), capability, &json!({"n": 21}), Arc::new(Nothing)).await;
    assert_eq!(outcome.result, "42");
}

fn permit(call: i64) -> Permit {
    let policy = Policy { mode: Mode::Smart, governor: false, rules: BTreeMap::new(), tools: Toolset::Builder };
    let (call, arguments): (_, Value) = (ToolCallId(call), json!({"n": 21}));
    let proposal = Proposal { call, tool: "double".into(), arguments, effects: [Effect::Call].into(), version: Some(1) };
    match authorize(&policy, &proposal, Evidence::default()) {
        Verdict::Allow(permit) => permit,
        other => panic!("{other:?}"),
    }
}

async fn timed(work: impl AsyncFnOnce()) -> Duration {
    let start = Instant::now();
    work().await;
    start.elapsed()
}
