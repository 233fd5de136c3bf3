//! The model is told of an effect that nobody is sure of, also if the capability keeps it to
//! itself. Found by the long run: a call that its deadline ended while the database stood still
//! left an unknown effect of which the model heard nothing.

use serde_json::json;

use crate::support::{Peer, TestApp, call, results, text};

#[tokio::test]
async fn an_uncertain_effect_that_the_capability_hides_is_told_all_the_same() {
    let peer = Peer::start().await;
    let mut app = TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await;
    let code = format!(
        "export default async function pay() {{
            try {{ await fetch('{}/hang', {{ method: 'POST' }}); }} catch (error) {{}}
            return 'all is well';
        }}",
        peer.host()
    );
    let written = json!({
        "name": "pay", "description": "For the test.", "code": code, "parameters_schema": {"type": "object", "properties": {}},
        "grants": {"http": {"hosts": [peer.host()]}},
    });
    let mut client = app.connect().await;
    app.script([call("write_capability", written), text("ready")]);
    client.allow("prepare").await;
    app.script([call("pay", json!({}))]);
    client.say("pay").await;
    peer.has(1).await;
    app.crash().await;
    app.script([text("I do not know whether it was paid.")]);
    app.start_again().await;
    app.run_until_idle().await;
    let mut client = app.connect().await;
    client.send(json!({"type": "resume", "after": 0})).await;
    let frames = client.until(|frame| frame["content"] == "I do not know whether it was paid.").await;
    let told = results(&frames).pop().unwrap().1;
    assert!(told.starts_with("all is well\n[controller] Nobody knows whether this arrived"), "{told}");
    assert!(told.contains(&format!("POST {}/hang", peer.host())), "{told}");
    assert_eq!(peer.arrived().len(), 1);
}
