//! The cost of a capability, beside the least that wasmtime can do. Ratios count; times vary with
//! the machine.
//!
//! `cargo bench --bench capability`

#![allow(missing_docs, clippy::print_stdout, reason = "a program that prints")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use level3::clock::{SystemClock, SystemRandom};
use level3::domain::{CapabilityVersion, Draft, Effect, Grants, Mode, SourceLanguage, TestCase, ToolCallId, Toolset};
use level3::governor::{Evidence, Permit, Policy, Proposal, Verdict, authorize};
use level3::sandbox::{CheckedDraft, Nothing, Sandbox, SandboxLimits};
use serde_json::{Value, json};
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

use common::percentile;

const SMALL: &str = "async function probe(params) {\n  return params.n * 2;\n}";
const FLOOR: &str = include_str!("../capabilities/examples/echo/source.wat");

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(bench());
}

async fn bench() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-engines");
    let start = Instant::now();
    drop(open(&cache));
    println!("sandbox opened, engine perhaps compiled   {:>10.1?}", start.elapsed());
    let start = Instant::now();
    let sandbox = open(&cache);
    println!("sandbox opened, engine from its file      {:>10.1?}", start.elapsed());
    println!("memory resident after opening             {:>7.1} MiB", resident());

    let (mut small, mut medium) = (Vec::new(), Vec::new());
    for n in 0..100 {
        small.push(written(&sandbox, &format!("{SMALL}// {n}")).await);
        medium.push(written(&sandbox, &format!("{}// {n}", medium_source())).await);
    }
    let floor_call = floor(1000);
    let small_call = called(&sandbox, SMALL).await;
    let medium_call = called(&sandbox, &medium_source()).await;
    let echo = Draft { language: SourceLanguage::Wat, ..draft(FLOOR) };
    let echo_call = calls(&sandbox, &version(&echo, sandbox.check(&echo).await.unwrap())).await;

    println!("{:41} {:>10} {:>10} {:>9}", "", "p50", "p99", "p50/floor");
    let floor_p50 = percentile(&mut floor_call.clone(), 50);
    for (what, mut times) in [
        ("floor: bare wasmtime, echo component, call", floor_call),
        ("call: the same component in the sandbox", echo_call),
        ("call: small JavaScript (60 B)", small_call),
        ("call: medium JavaScript (2.6 KB)", medium_call),
        ("check with a test, then first result, small", small),
        ("check with a test, then first result, medium", medium),
    ] {
        let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
        println!("{what:44} {p50:>8.1?} {p99:>10.1?} {:>8.1}x", p50.as_secs_f64() / floor_p50.as_secs_f64());
    }
    println!("memory resident, 64 compiled and kept     {:>7.1} MiB", resident());
    at_once(&sandbox, 32).await;
    println!("memory resident after 32 calls at once    {:>7.1} MiB", resident());
}

/// So many calls, all of them in the middle at the same time.
async fn at_once(sandbox: &Sandbox, count: usize) {
    let source =
        medium_source().replace("return n * 2;", "await new Promise((resolve) => setTimeout(resolve, 50)); return n * 2;");
    let draft = draft(&source);
    let capability = version(&draft, sandbox.check(&draft).await.unwrap());
    let (permits, params): (Vec<_>, _) = ((0..count).map(|_| permit()).collect(), json!({"n": 4}));
    let calls = permits.iter().map(|permit| sandbox.call(permit, &capability, &params, Arc::new(Nothing)));
    assert!(futures::future::join_all(calls).await.iter().all(|outcome| outcome.result == "8"));
}

fn open(cache: &Path) -> Sandbox {
    Sandbox::open(cache, Arc::new(SystemClock), Arc::new(SystemRandom), SandboxLimits::default()).unwrap()
}

fn permit() -> Permit {
    let policy = Policy { mode: Mode::Auto, governor: false, rules: BTreeMap::new(), tools: Toolset::Builder };
    let (call, effects) = (ToolCallId(1), [Effect::Call].into());
    let proposal = Proposal { call, tool: "probe".into(), arguments: json!({"n": 4}), effects, version: Some(1) };
    match authorize(&policy, &proposal, Evidence::default()) {
        Verdict::Allow(permit) => permit,
        other => panic!("{other:?}"),
    }
}

fn draft(source: &str) -> Draft {
    Draft {
        name: "probe".into(),
        description: "A probe".into(),
        language: SourceLanguage::JavaScript,
        source: source.into(),
        parameters: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
        grants: Grants::harmless(),
        tests: vec![],
    }
}

fn version(draft: &Draft, checked: CheckedDraft) -> CapabilityVersion {
    CapabilityVersion {
        name: draft.name.clone(),
        version: 1,
        description: draft.description.clone(),
        language: draft.language,
        source: checked.source,
        parameters: draft.parameters.clone(),
        grants: draft.grants.clone(),
        tests: vec![],
        component: checked.component,
        sha256: checked.sha256,
        engine: checked.engine,
    }
}

/// From the draft, with one test of its own, to the result of the first call.
async fn written(sandbox: &Sandbox, source: &str) -> Duration {
    let tests = vec![TestCase { params: json!({"n": 4}), expect: Some(json!(8)), answers: vec![] }];
    let draft = Draft { tests, ..draft(source) };
    let start = Instant::now();
    let capability = version(&draft, sandbox.check(&draft).await.unwrap());
    let outcome = sandbox.call(&permit(), &capability, &json!({"n": 4}), Arc::new(Nothing)).await;
    assert_eq!(outcome.result, "8");
    start.elapsed()
}

async fn called(sandbox: &Sandbox, source: &str) -> Vec<Duration> {
    let draft = draft(source);
    calls(sandbox, &version(&draft, sandbox.check(&draft).await.unwrap())).await
}

async fn calls(sandbox: &Sandbox, capability: &CapabilityVersion) -> Vec<Duration> {
    let params: Value = json!({"n": 4});
    let mut times = Vec::new();
    for _ in 0..2000 {
        let permit = permit();
        let start = Instant::now();
        let outcome = sandbox.call(&permit, capability, &params, Arc::new(Nothing)).await;
        times.push(start.elapsed());
        assert!(outcome.ok, "{}", outcome.result);
    }
    times
}

/// A fresh instance of the echo component for each call, with plain wasmtime.
fn floor(count: usize) -> Vec<Duration> {
    let engine = Engine::default();
    let component = Component::new(&engine, wat::parse_str(FLOOR).unwrap()).unwrap();
    let linked = Linker::<()>::new(&engine).instantiate_pre(&component).unwrap();
    let mut times = Vec::new();
    for _ in 0..count {
        let start = Instant::now();
        let mut store = Store::new(&engine, ());
        let instance = linked.instantiate(&mut store).unwrap();
        let run = instance.get_typed_func::<(&str,), (Result<String, String>,)>(&mut store, "run").unwrap();
        let (answer,) = run.call(&mut store, (r#"{"n":4}"#,)).unwrap();
        times.push(start.elapsed());
        assert_eq!(answer.as_deref(), Ok(r#"{"n":4}"#));
    }
    times
}

fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

/// 2.6 KB of the kind of code models write.
fn medium_source() -> String {
    let mut source = String::from(MEDIUM);
    let mut n = 0;
    while source.len() < 2600 {
        n += 1;
        source.push_str(&format!(
            "function helper{n}(list) {{ return list.filter((one) => one > {n}).map((one) => one * {n}); }}\n"
        ));
    }
    source
}

const MEDIUM: &str = r#"
class Money {
  #cents;
  constructor(cents) { this.#cents = cents; }
  static parse(text) {
    const match = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<part>\d{1,2}))?$/.exec(text);
    if (!match) throw new TypeError(`not an amount: ${text}`);
    const { sign, whole, part = '0' } = match.groups;
    return new Money((sign ? -1 : 1) * (Number(whole) * 100 + Number(part.padEnd(2, '0'))));
  }
  plus(other) { return new Money(this.#cents + other.#cents); }
  toString() { return (this.#cents / 100).toFixed(2); }
}
const validate = (params) => {
  const problems = [];
  if (!Number.isInteger(params.n)) problems.push('n must be a whole number');
  if (params.lines && !Array.isArray(params.lines)) problems.push('lines must be a list');
  if (problems.length) throw new Error(problems.join('; '));
  return params;
};
async function total(lines) {
  let sum = new Money(0);
  for (const line of lines) sum = sum.plus(Money.parse(line.amount));
  return sum.toString();
}
export default async function probe(params) {
  const { n, lines = [{ amount: '12.50' }, { amount: '3' }] } = validate(params);
  const sum = await total(lines);
  if (sum !== '15.50') throw new Error(`wrong sum ${sum}`);
  return n * 2;
}
"#;
