//! The hosts of a script in Python: those of its approval, by the way that JavaScript takes.

use std::path::Path;

use level3::sandbox::InstalledPython;
use reqwest::Method;
use serde_json::{Value, json};

use super::Desk;
use super::python::{bring, python};
use super::scripts::wants;
use crate::support::{Peer, Reply, TestApp, api, call};

/// Sends to the peer what `/tmp` held, and gives parts of its answer.
const SEND: &str = "open('/tmp/words', 'w').write('from ' + input['name'])\n\
                    answer = fetch(input['url'], 'POST', {'Authorization': input['key']}, open('/tmp/words').read())\n\
                    return [answer.ok, answer.status, answer.headers['Content-Type'], answer.json()['path']]";
/// Stands for a component of a recipe without `http`: it answers every script with 42.
pub(super) const OLDER: &str = r#"(component
  (import "log" (func (param "line" string)))
  (core module $Run
    (memory (export "memory") 2)
    (data (i32.const 4) "\10\00\00\00\02\00\00\00")
    (data (i32.const 16) "42")
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64))
    (func (export "run") (param i32 i32 i32 i32) (result i32) (i32.const 0)))
  (core instance $run (instantiate $Run))
  (func (export "run") (param "source" string) (param "given" string) (result (result string (error string)))
    (canon lift (core func $run "run") (memory (core memory $run "memory")) (realloc (core func $run "realloc")))))"#;

fn runs(input: &Value, hosts: Value) -> Reply {
    let arguments = json!({"script": "send", "input": input, "hosts": hosts});
    call("execute_tool", json!({"task": 1, "tool": "run_script", "arguments": arguments}))
}

/// A campaign with a script that sends, and a peer that the server may reach.
async fn start(installed: &Path, source: &str) -> (Desk, Peer) {
    let peer = Peer::start().await;
    let desk = Desk::start_on(TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await, wants("send")).await;
    bring(installed, desk.app.data());
    desk.keep("python_script", "send", source).await;
    (desk, peer)
}

/// Approves the one question, and gives the words that were shown.
async fn approve(desk: &Desk) -> String {
    let approval = desk.asked().await;
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    approval["shown"]["what"].to_string()
}

#[tokio::test]
async fn campaign_scripts_in_python_reach_the_hosts_of_their_approval_without_secrets_and_the_ledger_has_it() {
    let Some(installed) = python().await else { return };
    let (desk, peer) = start(installed, SEND).await;
    let set = api::ask(&desk.app, Method::PUT, "/api/secrets/API_KEY", Some(json!({"value": "canary-value-1"}))).await;
    assert_eq!(set.0, 200, "{}", set.1);
    // The texts that would stand for the secret in a capability that has it.
    let stands_for = |call: i32| desk.app.store().derived_key(&format!("placeholder:{call}:API_KEY"));
    let key = (1..=3).map(|call| format!("secret_{}", hex::encode(&stands_for(call)[..16]))).collect::<Vec<_>>().join(" ");
    let input = json!({"url": format!("{}/echo", peer.host()), "name": "Ada", "key": key});
    desk.app.script([runs(&input, json!([peer.host()]))]);
    desk.present().await;
    let shown = approve(&desk).await;
    assert!(shown.contains(&format!("It may: Send any request to {}", peer.host())), "{shown}");
    let arrived = peer.arrived();
    assert_eq!((arrived.len(), arrived[0].method.as_str(), arrived[0].body.as_str()), (1, "POST", "from Ada"), "{arrived:?}");
    assert_eq!(arrived[0].header("content-type"), Some("text/plain;charset=UTF-8"));
    assert_eq!(arrived[0].header("authorization"), Some(key.as_str()), "nothing is put in place of it");
    assert_eq!(desk.app.count("SELECT count(*) FROM tool_calls WHERE tool_call_id BETWEEN 1 AND 3").await, 1);
    let shown = desk.get("/1").await;
    assert_eq!(shown["campaign"]["status"], "completed", "{shown}");
    let ran = desk.audit("script").await.pop().unwrap();
    assert!(ran["hosts"][0].as_str().unwrap().contains(&peer.host()) && ran["ok"] == true, "{ran}");
    assert_eq!(ran["output"], r#"[true, 200, "application/json", "/echo"]"#, "{ran}");
    let operation = desk.audit("http").await.pop().unwrap();
    assert_eq!(operation["request"]["method"], "POST", "{operation}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_in_python_reach_no_other_host_than_those_of_their_approval() {
    let Some(installed) = python().await else { return };
    let (desk, peer) = start(installed, SEND).await;
    let input = json!({"url": "https://elsewhere.example/", "name": "Ada", "key": "none"});
    desk.app.script([runs(&input, json!([peer.host()]))]);
    desk.present().await;
    approve(&desk).await;
    let came = desk.came().await;
    assert!(came.contains("OSError: a script reaches only what its approval grants: Send any request to"), "{came}");
    // Without a grant, none at all; a star is refused before anybody is asked.
    desk.app.script([runs(&input, json!(["*.example.com"])), runs(&input, json!([]))]);
    desk.app.advance(5);
    desk.present().await;
    let shown = approve(&desk).await;
    assert!(shown.contains("It reaches no network."), "{shown}");
    let came = desk.came().await;
    assert!(came.contains("a script reaches nothing: it has no network"), "{came}");
    let refused = desk.get("/1/log?log=events&kind=proposal_refused").await.to_string();
    assert!(refused.contains("`*.example.com` is no single host"), "{refused}");
    assert_eq!(peer.arrived().len(), 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_in_python_follow_no_redirect_to_another_host_and_ask_for_none_that_is_private() {
    let Some(installed) = python().await else { return };
    let (desk, peer) = start(installed, "return fetch(input['url']).status").await;
    let other = Peer::start().await;
    let input = json!({"url": format!("{}/to?{}/", peer.host(), other.host())});
    desk.app.script([runs(&input, json!([other.host()])), runs(&input, json!([peer.host()]))]);
    desk.present().await;
    approve(&desk).await;
    let refused = desk.get("/1/log?log=events&kind=proposal_refused").await.to_string();
    assert!(refused.contains("arguments.hosts: 127.0.0.1 is at ") && refused.contains("this machine (loopback)"), "{refused}");
    let came = desk.came().await;
    let script = "in `hosts` when you propose a script";
    assert!(came.contains("OSError: GET ") && came.contains("is not granted") && came.contains(script), "{came}");
    assert_eq!((peer.arrived().len(), other.arrived().len()), (1, 0));
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_in_python_run_in_a_component_of_an_older_recipe_which_is_to_be_made_anew_for_hosts() {
    let desk = Desk::start(wants("send")).await;
    InstalledPython::put(&desk.app.data().join("python"), wat::parse_str(OLDER).unwrap()).await.unwrap();
    desk.keep("python_script", "send", "return 6 * 7").await;
    desk.app.script([runs(&json!(null), json!(["api.example.com"]))]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals").await, 0, "nobody is asked for hosts");
    let came = desk.came().await;
    let words = "whose scripts reach no host; install the one of this version with `level3 python install`";
    assert!(came.contains(words), "{came}");
    desk.app.script([runs(&json!(null), json!([]))]);
    desk.app.advance(5);
    desk.present().await;
    assert!(approve(&desk).await.contains("It reaches no network."));
    let ran = desk.audit("script").await;
    assert_eq!((ran.len(), &ran[0]["output"]), (1, &json!("42")), "{ran:?}");
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed");
    desk.check().await;
}
