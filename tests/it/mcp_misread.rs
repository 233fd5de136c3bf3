//! MCP in both directions, with messages that are none of the protocol's, or too many or too long.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::{ask, client as http, level3};
use crate::support::{Stranger, TestApp, adds, call, of_type};

#[tokio::test]
async fn a_request_that_cannot_be_read_is_refused_as_the_protocol_has_it() {
    let app = TestApp::start().await;
    let send = async |body: &str| {
        let request = http().post(format!("http://{}/mcp", app.address())).body(body.to_owned());
        let request = request.header("accept", "application/json, text/event-stream").header("content-type", "application/json");
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let ping = r#"{"jsonrpc":"2.0","id":4,"method":"ping"}"#;
    let greets = r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":[]}}"#;
    let sent = |arguments: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{{"name":"x","arguments":{arguments}}}}}"#)
    };
    for (body, code, id, says) in [
        ("{", -32700, Value::Null, "no JSON"),
        (&format!("[{ping}]"), -32600, Value::Null, "no batches"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null, "a request also has an `id`"),
        (ping, -32600, json!(4), "Session ID is required"),
        (greets, -32602, json!(5), "`clientInfo` an object"),
        (&sent(r#"{"e":18446744073709551616}"#), -32602, json!(6), "18446744073709551616 has more digits than a number keeps"),
        (&sent(r#"{"c":1.000000000000000000000001}"#), -32602, json!(6), "send it as a string"),
        (&sent(r#"{"a":1,"a":2}"#), -32602, json!(6), "the field `a` stands twice"),
    ] {
        let (status, answer) = send(body).await;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{body}: {answer}"));
        assert!(status == 400 && answer["jsonrpc"] == "2.0" && answer["id"] == id, "{body}: {answer}");
        assert!(answer["error"]["code"] == code && answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
    }
    let (status, told) = send(&" ".repeat((4 << 20) + 1)).await;
    assert!(status == 413 && told.contains("4194304 bytes"), "{status}: {told}");
}

#[tokio::test]
async fn a_client_for_which_there_is_no_place_hears_when_to_come_again() {
    let app = TestApp::start().await;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}});
    let greet = async || {
        let request = http().post(format!("http://{}/mcp", app.address())).json(&hello);
        request.header("accept", "application/json, text/event-stream").send().await.unwrap()
    };
    for _ in 0..256 {
        assert_eq!(greet().await.status(), 200);
    }
    let refused = greet().await;
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (503, "30"));
    let answer: Value = refused.json().await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32000)), "{answer}");
    assert_eq!(answer["error"]["message"], "too many MCP clients are connected");
}

#[tokio::test]
async fn a_name_that_would_have_to_be_cut_is_refused_with_the_call() {
    let app = TestApp::start().await;
    let (agent, _hears) = crate::mcp::agent(&"n".repeat(81));
    let client = crate::mcp::connect_as(&app, agent).await;
    let Err(rmcp::service::ServiceError::McpError(error)) =
        client.call_tool(crate::mcp::asks("write_capability", json!({}))).await
    else {
        panic!("the call was carried out")
    };
    assert!(error.message.contains("81 characters; 80 is the most"), "{error}");
    assert_eq!(app.count("SELECT count(*) FROM mcp_clients").await, 0);
    client.cancel().await.unwrap();
}

async fn add(app: &TestApp, transport: Value) -> (u16, Value) {
    ask(app, Method::PUT, "/api/mcp/far", Some(transport)).await
}

#[tokio::test]
async fn a_definition_that_is_none_is_left_out_alone() {
    let app = TestApp::start().await;
    let stranger = Stranger::start(vec![json!({"name": "bare"}), adds("Adds."), json!({"name": "odd", "inputSchema": 5})]).await;
    let (status, answer) = add(&app, json!({"url": stranger.url()})).await;
    assert_eq!((status, &answer["tools"][0]["tool"], answer["tools"].as_array().unwrap().len()), (201, &json!("far__add"), 1));
    assert!(answer["left_out"]["bare"].as_str().unwrap().contains("missing field `inputSchema`"), "{answer}");
    assert!(answer["left_out"]["odd"].as_str().unwrap().contains("not as the protocol has it"), "{answer}");
}

#[tokio::test]
async fn a_list_that_never_ends_is_read_so_far_and_says_so() {
    let app = TestApp::start().await;
    let stranger = Stranger::start(vec![]).await;
    stranger.goes_on();
    let (status, answer) = add(&app, json!({"url": stranger.url()})).await;
    assert_eq!(status, 201, "{answer}");
    assert!(answer["left_out"]["further tools"].as_str().unwrap().contains("after 16 pages"), "{answer}");
}

#[tokio::test]
async fn a_person_reads_the_words_of_a_server_in_words_for_a_person() {
    let app = TestApp::start().await;
    app.leaves("it is about the question");
    let stranger = Stranger::start(vec![adds("Adds two numbers.")]).await;
    let (_, answer) = add(&app, json!({"url": stranger.url()})).await;
    assert_eq!(answer["tools"][0]["description"], "Adds two numbers.");
    let old = "UPDATE mcp_tools SET description = '[tool of the external MCP server `far`; …] ' || description";
    sqlx::query(old).execute(&mut app.behind().await).await.unwrap();
    app.script([call("far__add", json!({"a": 1, "b": 2}))]);
    let mut client = app.connect().await;
    client.say("add").await;
    let frames = client.until(|frame| frame["type"] == "approval").await;
    assert_eq!(of_type(&frames, "approval")["what"][1], "The server says of it: Adds two numbers.");
    let listed = level3(&app, &["mcp", "tools", "far"]).await;
    assert!(listed.out.contains("Adds two numbers.") && !listed.out.contains("[tool of"), "{listed:?}");
}
