//! Scripts in Python as the host sees them: a component that stands for CPython sends its source as
//! a request, and gives the answer.

use std::collections::BTreeSet;

use super::scripted::{Scripted, Shared, Silent};
use super::*;
use crate::domain::campaign::script::ScriptLanguage;
use crate::domain::{HttpGrant, HttpRequest};
use crate::sandbox::{OperationRequest, ScriptLimits, ScriptText};

/// The component, which sends so many times and gives the last answer.
fn sends(times: usize) -> String {
    let send = "(call $http (local.get 0) (local.get 1) (i32.const 0))".repeat(times);
    format!(
        r#"(component
  (import "log" (func (param "line" string)))
  (import "http" (func $http (param "request" string) (result (result string (error string)))))
  (core module $Memory
    (memory (export "memory") 8)
    (global $free (mut i32) (i32.const 64))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.get $free)
      (global.set $free (i32.add (global.get $free) (local.get 3)))))
  (core instance $memory (instantiate $Memory))
  (core func $send (canon lower (func $http) (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core module $Run
    (import "" "http" (func $http (param i32 i32 i32)))
    (func (export "run") (param i32 i32 i32 i32) (result i32) {send} (i32.const 0)))
  (core instance $run (instantiate $Run (with "" (instance (export "http" (func $send))))))
  (func (export "run") (param "source" string) (param "given" string) (result (result string (error string)))
    (canon lift (core func $run "run") (memory (core memory $memory "memory")) (realloc (core func $memory "realloc")))))"#
    )
}

/// A sandbox whose Python is this component.
fn python(component: &str, deadline: Duration) -> (Sandbox, tempfile::TempDir) {
    let (folder, bytes) = (tempfile::tempdir().unwrap(), ::wat::parse_str(component).unwrap());
    let sum = crate::sandbox::component::sha256(&bytes);
    std::fs::write(folder.path().join("python.wasm"), bytes).unwrap();
    std::fs::write(folder.path().join("python.wasm.sha256"), sum).unwrap();
    let script = ScriptLimits { deadline, ..ScriptLimits::default() };
    (open(SandboxLimits { script, ..SandboxLimits::default() }).with_python(folder.path().to_owned()), folder)
}

fn unhurried(component: &str) -> (Sandbox, tempfile::TempDir) {
    python(component, ScriptLimits::default().deadline)
}

async fn run(sandbox: &Sandbox, request: &str, hosts: &[&str], reach: Arc<dyn Reach>) -> Result<String, String> {
    let script = ScriptText { language: ScriptLanguage::Python, source: request };
    let hosts: BTreeSet<_> = hosts.iter().map(|host| HttpGrant::host(host)).collect();
    sandbox.script_slot().await.reaching(hosts, reach).run(&permit(), script, &json!(null), &json!({})).await.result
}

#[tokio::test]
async fn a_python_script_sends_to_the_hosts_of_its_approval_and_hears_where_others_are_asked_for() {
    let ((sandbox, _folder), reach) = (unhurried(&sends(1)), Scripted::answering(json!({"status": 200})));
    let send = async |url: &str, hosts: &[&str]| {
        let request = json!({"method": "post", "url": url, "headers": [["A", "b"]], "body": "text"}).to_string();
        run(&sandbox, &request, hosts, Arc::new(Shared(Arc::clone(&reach)))).await
    };
    assert_eq!(send("https://a.example/x#part", &["a.example"]).await.as_deref(), Ok(r#"{"status":200}"#));
    let why = send("https://b.example/", &["a.example"]).await.unwrap_err();
    assert!(why.starts_with("a script reaches only what its approval grants: Send any request to https://a.example"), "{why}");
    let why = send("https://a.example/", &[]).await.unwrap_err();
    assert!(why.starts_with("a script reaches nothing") && why.contains("arguments.hosts of run_script"), "{why}");
    let why = send("nonsense", &["a.example"]).await.unwrap_err();
    assert!(why.contains("`nonsense` is no address"), "{why}");
    let sent = HttpRequest {
        method: "POST".to_owned(),
        url: "https://a.example/x".to_owned(),
        headers: vec![("a".to_owned(), "b".to_owned())],
        body: Some(b"text".to_vec()),
        ..HttpRequest::default()
    };
    assert_eq!(reach.requests(), [OperationRequest::Http(sent)]);
}

#[tokio::test]
async fn requests_of_a_python_script_have_the_bounds_of_operations() {
    let request = json!({"url": "https://a.example/"}).to_string();
    for (times, words) in [
        (65, "a call may start 64 operations, and this is one more; do less per call"),
        (129, "stopped: it started more than 64 operations"),
    ] {
        let ((sandbox, _folder), reach) = (unhurried(&sends(times)), Scripted::answering(json!(1)));
        let ended = run(&sandbox, &request, &["a.example"], Arc::new(Shared(Arc::clone(&reach)))).await;
        assert_eq!(ended, Err(words.to_owned()));
        assert_eq!((reach.operations().len(), reach.most_at_once()), (64, 1));
        assert!(reach.operations().iter().map(|operation| operation.ordinal).eq(1..=64));
    }
    let (sandbox, _folder) = unhurried(&sends(1));
    let reach = Scripted::new(|_| Ok("x".repeat((1 << 20) + 1)));
    let why = run(&sandbox, &request, &["a.example"], Arc::new(Shared(Arc::clone(&reach)))).await.unwrap_err();
    assert!(why.contains("the answer has 1048577 bytes and may have 1048576"), "{why}");
    let why = run(&sandbox, &"x".repeat(300_000), &["a.example"], Arc::new(Shared(reach))).await.unwrap_err();
    assert!(why.contains("the request has 300000 bytes and may have 262144"), "{why}");
    let (sandbox, _folder) = python(&sends(1), Duration::from_millis(200));
    let why = run(&sandbox, &request, &["a.example"], Arc::new(Silent)).await.unwrap_err();
    assert!(why.contains("did not finish in time"), "{why}");
}
