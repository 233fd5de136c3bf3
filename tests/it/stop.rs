//! A stop: how much it keeps, and how fast it is.

use std::io::Write;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Client, Peer, Reply, TestApp, call, kinds, text};

#[tokio::test]
async fn what_was_said_until_a_stop_is_on_record_marked_and_shown_to_the_next_turn() {
    let app = TestApp::start().await;
    app.script([call("execute_sql", json!({"query": "SELECT 1 AS one"})), Reply::Hang("The answer to everything".into())]);
    let mut client = app.connect().await;
    client.say("tell me").await;
    client.until(|frame| frame["type"] == "delta" && frame["step"] == 2).await;
    client.stop().await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["assistant", "turn aborted"]);
    assert_eq!(
        (&frames[0]["content"], &frames[0]["final"], &frames[0]["stopped"], &frames[0]["step"]),
        (&json!("The answer to everything"), &json!(false), &json!(true), &json!(2))
    );
    app.script([text("As I said.")]);
    client.ask("go on").await;
    let entries = &app.script.requests()[2].entries;
    let told = format!("{:?}", entries[entries.len() - 2]);
    assert!(told.contains("The answer to everything") && told.contains("stopped this turn here"), "{told}");
    assert_eq!(app.count("SELECT count(*) FROM tool_calls").await, 1, "a stream that was cut asks for nothing");
    app.check_replay().await;
}

#[tokio::test]
async fn a_stop_before_the_first_word_keeps_nothing_and_one_after_the_answer_keeps_it_once() {
    let app = TestApp::start().await;
    app.script([Reply::Hang(String::new())]);
    let mut client = app.connect().await;
    client.say("think").await;
    app.script.asked(1).await;
    client.stop().await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames).last().unwrap(), "turn aborted");
    assert_eq!(app.count("SELECT count(*) FROM steps").await, 0);
    // An answer whose calls run is a stored step already.
    let mut asking = call("execute_sql", json!({"query": "SELECT pg_sleep(20)"}));
    if let Reply::Answer(content, _) = &mut asking {
        *content = "Let me sleep on it.".into();
    }
    app.script([asking]);
    client.say("sleep").await;
    client.until(|frame| frame["type"] == "tool_call").await;
    client.stop().await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["tool_result", "turn aborted"]);
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE content = 'Let me sleep on it.'").await, 1);
    app.check_replay().await;
}

/// Stops the running turn, and prints how long that took.
async fn stopped(client: &mut Client, at: &str) -> Vec<Value> {
    let asked = Instant::now();
    client.stop().await;
    let frames = client.turn().await;
    // The time is printed and not judged: `docs/protocol.md` says what to expect.
    let told = writeln!(std::io::stderr(), "stop to `aborted`, while {at}: {:.1} ms", asked.elapsed().as_secs_f64() * 1e3);
    told.expect("it is told");
    assert_eq!(kinds(&frames).last().unwrap(), "turn aborted");
    frames
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_does_not_wait_for_whatever_the_turn_is_doing() {
    let peer = Peer::start().await;
    let app = TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await;
    let mut client = app.connect().await;
    let write = |name: &str, code: &str, grants: Value| {
        call(
            "write_capability",
            json!({"name": name, "description": "Takes long.", "code": code, "grants": grants,
            "parameters_schema": {"type": "object", "properties": {}}, "tests": []}),
        )
    };
    let waits = format!("export default async function waits() {{ return (await fetch('{}/hang')).status; }}", peer.host());
    let nests = "export default async function nests() { return await host.call('waits', {}); }";
    app.script([
        write("waits", &waits, json!({"http": {"hosts": [peer.host()]}})),
        write("nests", nests, json!({"tools": {"names": ["waits"]}})),
        write("spins", "export default function spins({ go }) { while (go === 'now'); return 1; }", json!({})),
        text("Written."),
    ]);
    client.allow("write them").await;

    app.script([call("spins", json!({"go": "now"}))]);
    client.say("spin").await;
    client.until(|frame| frame["type"] == "tool_call").await;
    stopped(&mut client, "a capability computes").await;

    app.script([Reply::Hang(String::new())]);
    let asked = app.script.requests().len() + 1;
    client.say("think").await;
    app.script.asked(asked).await;
    stopped(&mut client, "the model is silent").await;

    app.script([Reply::Hang("I am saying".into())]);
    client.say("speak").await;
    client.until(|frame| frame["type"] == "delta").await;
    stopped(&mut client, "the model speaks").await;

    app.script([call("execute_sql", json!({"query": "SELECT pg_sleep(25)"}))]);
    client.say("sleep").await;
    client.until(|frame| frame["type"] == "tool_call").await;
    stopped(&mut client, "an SQL statement runs").await;

    for (count, name) in (1..).zip(["waits", "nests"]) {
        app.script([call(name, json!({}))]);
        client.say("run").await;
        peer.has(count).await;
        let at = if name == "nests" { "a request of a nested call waits" } else { "a request of a capability waits" };
        stopped(&mut client, at).await;
    }
    app.check_replay().await;
}
