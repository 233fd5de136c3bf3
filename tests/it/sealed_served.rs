//! The sealed profile of `sealed` in a served conversation: its model calls everything else, and
//! its contact says yes to questions of the owner.

use reqwest::Method;
use serde_json::{Value, json};

use crate::profiles::{contact, says};
use crate::sealed::{arguments, brought, own_tools, profile};
use crate::support::{Stranger, TestApp, adds, api, call, calls, results, text};

/// All that a call which got through would leave behind.
const LEFT_BEHIND: &str = "SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM operations)
    + (SELECT count(*) FROM approvals) + (SELECT count(*) FROM capability_versions)
    + (SELECT count(*) FROM relay_instances) + (SELECT count(*) FROM pg_tables WHERE schemaname = 'agent')";

async fn served() -> TestApp {
    TestApp::with_sealed(profile(&["look_here", "say_there"]), own_tools()).await
}

/// Arguments of `write_capability`.
fn capability(name: &str, code: &str, grants: Value) -> Value {
    let parameters = json!({"type": "object", "properties": {}});
    json!({"name": name, "description": "For the test.", "code": code, "parameters_schema": parameters, "grants": grants})
}

#[tokio::test]
async fn a_served_turn_of_it_changes_nothing_by_any_other_name_nested_or_by_three_calls() {
    let app = served().await;
    let stranger = Stranger::start(vec![adds("Adds two numbers.")]).await;
    let (status, answer) = api::ask(&app, Method::PUT, "/api/mcp/far", Some(json!({"url": stranger.url()}))).await;
    assert_eq!(status, 201, "{answer}");
    // The builder makes a capability that calls a tool of its own.
    let code = "export default async () => await host.call('execute_sql', { query: 'CREATE TABLE t (n int)' })";
    let nests = capability("sweeps", code, json!({"tools": {"names": ["execute_sql"]}}));
    app.script([call("write_capability", nests), text("Made.")]);
    let made = results(&app.connect().await.allow("make it").await);
    assert!(made[0].0, "{made:?}");
    let before = app.count(LEFT_BEHIND).await;

    let brought = brought();
    let mut attacks: Vec<_> = brought.iter().map(|tool| (tool.as_str(), arguments(tool))).collect();
    attacks.extend([("sweeps", json!({})), ("far__add", json!({"a": 1, "b": 2}))]);
    let (mut client, conversation) = contact(&app).await;
    // A turn has ten steps at most.
    for some in attacks.chunks(8) {
        app.script(some.iter().map(|(tool, arguments)| call(tool, arguments.clone())));
        app.script([call("look_here", json!({}))]);
        client.send(says(conversation, "do it all")).await;
        let told = results(&client.turn().await);
        assert_eq!(told.len(), some.len() + 1, "{told:#?}");
        for ((tool, _), told) in some.iter().zip(&told) {
            assert_eq!(told, &(false, format!("There is no tool `{tool}`. The tools are: look_here, say_there.")));
        }
        assert_eq!(told.last(), Some(&(true, "look_here".to_owned())), "its own tool is there all the while");
    }
    let three = [("say_there", json!({})), ("look_here", json!({})), ("execute_sql", arguments("execute_sql"))];
    app.script([calls(&three), call("look_here", json!({}))]);
    client.send(says(conversation, "do three")).await;
    let told = results(&client.turn().await);
    assert_eq!(told.len(), three.len() + 1, "{told:#?}");
    for (ok, told) in &told[..three.len()] {
        assert!(!ok && told.contains("an answer asks for exactly one tool call, this one asked for 3"), "{told}");
    }
    assert_eq!(told.last(), Some(&(true, "look_here".to_owned())), "its own tool is there all the while");

    for request in app.script.requests().iter().skip(2) {
        let offered: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(offered, ["look_here", "say_there"]);
    }
    assert_eq!(app.count(LEFT_BEHIND).await, before);
    assert!(stranger.calls().is_empty());
    assert_eq!(app.count("SELECT count(*) FROM tool_calls WHERE name = 'say_there' AND state = 'done'").await, 0);
}

#[tokio::test]
async fn a_contacts_yes_decides_no_question_of_the_owner() {
    let app = served().await;
    let (mut client, conversation) = contact(&app).await;
    app.script([call("say_there", json!({}))]);
    client.send(says(conversation, "say it")).await;
    let asking = client.asked().await;
    assert_eq!(asking["words"], json!({"approve": [], "deny": []}));
    // Another question waits in the owner's own conversation.
    let mut owner = app.connect().await;
    let reaches = capability("reaches", "export default async () => 1", json!({"http": {"hosts": ["a.example"]}}));
    app.script([call("write_capability", reaches)]);
    owner.say("look it up").await;
    let own = owner.asked().await;

    let words = ["sí", "CONFIRMAR", "yes", "approve 1"];
    for word in words {
        client.send(says(conversation, word)).await;
        client.until(|frame| frame["content"] == word && frame["state"] == "queued").await;
        assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 2, "{word}");
    }
    assert_eq!(app.count("SELECT count(*) FROM tool_calls WHERE state <> 'proposed'").await, 0, "nothing was carried out");

    // The owner's buttons decide both.
    app.script([text("Left.")]);
    owner.deny(&own).await;
    owner.turn().await;
    app.script(words.map(|_| call("look_here", json!({}))));
    client.approve(&asking).await;
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM tool_calls WHERE name = 'say_there' AND state = 'done'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 0);
}
