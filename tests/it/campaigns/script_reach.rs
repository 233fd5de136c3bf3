//! The hosts of a script, if its approval grants them, and its `/tmp` in memory.

use serde_json::{Value, json};

use super::Desk;
use super::scripts::wants;
use crate::support::{Peer, Reply, TestApp, call, text};
use reqwest::Method;

/// Sends to the peer what `/tmp` held, and gives the peer's answer.
const SEND: &str = "tmp.write('/tmp/words', 'from ' + input.name);\nconst answer = await fetch(input.url, { method: 'POST', body: tmp.read('words') });\n\
                    return [tmp.list(), answer.status]";

fn runs(input: Value, hosts: Value) -> Reply {
    let arguments = json!({"script": "send", "input": input, "hosts": hosts});
    call("execute_tool", json!({"task": 1, "tool": "run_script", "arguments": arguments}))
}

/// A campaign with a script that sends, and a peer that the server may reach.
async fn start(source: &str) -> (Desk, Peer) {
    let peer = Peer::start().await;
    let app = TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await;
    let desk = Desk { app };
    let made = desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": wants("send")}))).await;
    assert_eq!(made.0, 200, "{made:?}");
    desk.keep("js_script", "send", source).await;
    desk.app.script([text("ready")]);
    assert_eq!(desk.ask(Method::POST, "/1/start", None).await.0, 200);
    (desk, peer)
}

#[tokio::test]
async fn campaign_scripts_reach_the_hosts_of_their_approval_and_the_ledger_has_it() {
    let (desk, peer) = start(SEND).await;
    // A context for scripts is none for hosts.
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "script", "count": 2, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    let input = json!({"url": format!("{}/plain", peer.host()), "name": "Ada"});
    desk.app.script([runs(input, json!([peer.host()]))]);
    desk.present().await;
    let approval = desk.asked().await;
    let shown = approval["shown"]["what"].to_string();
    assert!(shown.contains(&format!("It may: Send any request to {}", peer.host())), "{shown}");
    assert_eq!(peer.arrived().len(), 0);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let arrived = peer.arrived();
    assert_eq!((arrived.len(), arrived[0].body.as_str()), (1, "from Ada"), "{arrived:?}");
    let shown = desk.get("/1").await;
    assert_eq!((&shown["campaign"]["status"], &shown["contexts"][0]["uses_left"]), (&json!("completed"), &json!(2)), "{shown}");
    let audit = desk.get("/1/log?log=audit&kind=script").await;
    let ran = &audit[0]["payload"];
    assert!(ran["hosts"][0].as_str().unwrap().contains(&peer.host()) && ran["ok"] == true, "{audit}");
    assert!(ran["output"].as_str().unwrap().starts_with("[[\"words\"],"), "{audit}");
    let operations = desk.get("/1/log?log=audit&kind=http").await;
    assert_eq!(operations[0]["payload"]["request"]["method"], "POST", "{operations}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_reach_no_other_host_than_those_of_their_approval() {
    let (desk, peer) = start(SEND).await;
    let input = json!({"url": "https://elsewhere.example/", "name": "Ada"});
    desk.app.script([runs(input.clone(), json!([peer.host()]))]);
    desk.present().await;
    let approval = desk.asked().await;
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let came = desk.came().await;
    assert!(came.contains("a script reaches only what its approval grants: Send any request to"), "{came}");
    // Without a grant, none at all; a star is refused before anybody is asked.
    desk.app.script([runs(input.clone(), json!(["*.example.com"])), runs(input, json!([]))]);
    desk.app.advance(5);
    desk.present().await;
    let approval = desk.asked().await;
    assert!(approval["shown"]["what"].to_string().contains("It reaches no network."), "{approval}");
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let came = desk.came().await;
    assert!(came.contains("a script reaches nothing: it has no network"), "{came}");
    let refused = desk.get("/1/log?log=events&kind=proposal_refused").await.to_string();
    assert!(refused.contains("`*.example.com` is no single host"), "{refused}");
    assert_eq!(peer.arrived().len(), 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_that_die_over_a_request_say_so_and_do_not_send_it_again() {
    let (mut desk, peer) = start(SEND).await;
    let input = json!({"url": format!("{}/hang", peer.host()), "name": "Ada"});
    desk.app.script([runs(input, json!([peer.host()]))]);
    desk.present().await;
    let approval = desk.asked().await;
    desk.decide(&approval, "approve").await;
    peer.has(1).await;
    desk.app.crash().await;
    desk.app.start_again().await;
    desk.app.run_until_idle().await;
    let came = desk.came().await;
    for words in ["may have been cut off", "nobody is there", "Nobody knows whether this arrived", "/hang"] {
        assert!(came.contains(words), "{words}: {came}");
    }
    assert_eq!(peer.arrived().len(), 1);
    let shown = desk.get("/1").await;
    assert_eq!(shown["tasks"][0]["status"], "pending", "{shown}");
    // The run that the crash cut stands in the audit, although it was not made again.
    let ran = desk.audit("script").await;
    assert_eq!((ran.len(), &ran[0]["ok"]), (1, &json!(false)), "{ran:?}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_ask_for_no_host_that_the_way_out_refuses_and_hear_where_hosts_are_asked_for() {
    let (desk, peer) = start("return await fetch(input.url).catch((error) => error.message)").await;
    let input = json!({"url": "https://elsewhere.example/"});
    desk.app.script([runs(input.clone(), json!(["http://127.0.0.1:9"])), runs(input, json!([peer.host()]))]);
    desk.present().await;
    let approval = desk.asked().await;
    assert!(approval["shown"]["what"].to_string().contains("has named that address in LEVEL3_EGRESS_ALLOW"), "{approval}");
    let refused = desk.get("/1/log?log=events&kind=proposal_refused").await.to_string();
    assert!(refused.contains("arguments.hosts: 127.0.0.1 is at 127.0.0.1:9, which is for this machine (loopback)"), "{refused}");
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let came = desk.came().await;
    assert!(came.contains("Propose it again with what it needs in arguments.hosts"), "{came}");
    assert!(!came.contains("write it again"), "{came}");
    desk.check().await;
}
