//! level3 as an MCP server. The client of another library speaks to it over HTTP.

use level3::domain::{ApprovalId, Budget, Budgets, Mode};
use level3::profiles;
use reqwest::Method;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ClientRequest, CustomRequest, ErrorCode,
    Implementation, ProgressNotificationParam, ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::api::{ask, client as http};
use crate::support::{TestApp, call, in_time, results, text};

/// The messages that a client heard of the server without having asked.
#[derive(Debug, PartialEq)]
pub enum Heard {
    ToolsChanged,
    Progress(String),
}

/// Another agent.
pub struct Agent {
    name: String,
    heard: mpsc::UnboundedSender<Heard>,
}

impl ClientHandler for Agent {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new(self.name.clone(), "1"))
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        let _ = self.heard.send(Heard::ToolsChanged);
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let _ = self.heard.send(Heard::Progress(progress.message.unwrap_or_default()));
    }
}

pub type Connected = (RunningService<RoleClient, Agent>, mpsc::UnboundedReceiver<Heard>);

pub fn agent(name: &str) -> (Agent, mpsc::UnboundedReceiver<Heard>) {
    let (heard, hears) = mpsc::unbounded_channel();
    (Agent { name: name.into(), heard }, hears)
}

fn transport(app: &TestApp) -> StreamableHttpClientTransport<reqwest::Client> {
    let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", app.address()));
    StreamableHttpClientTransport::with_client(http(), config)
}

async fn connect(app: &TestApp, name: &str) -> Connected {
    let (agent, hears) = agent(name);
    (connect_as(app, agent).await, hears)
}

pub async fn connect_as(app: &TestApp, agent: Agent) -> RunningService<RoleClient, Agent> {
    agent.serve(transport(app)).await.unwrap()
}

pub fn asks(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

/// The success of a call, and the text of the answer.
pub fn said(result: &CallToolResult) -> (bool, String) {
    let text = result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.as_str());
    (result.is_error != Some(true), text.collect())
}

pub fn writes(name: &str, code: &str, grants: Value) -> Value {
    json!({ "name": name, "description": format!("Does {name}."), "code": code,
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "number"}}}, "grants": grants })
}

pub fn counter() -> Value {
    writes(
        "count",
        "export default async function count() { const n = (await host.kv.get('n') ?? 0) + 1; await host.kv.set('n', n); return { n }; }",
        json!({"kv": {}}),
    )
}

/// A call that may have to wait for a person, who does not come in time.
async fn waits(app: &TestApp, (client, hears): &mut Connected, request: CallToolRequestParams) -> (bool, String) {
    let mut answer = std::pin::pin!(client.call_tool(request));
    loop {
        tokio::select! {
            result = &mut answer => return said(&result.unwrap()),
            heard = hears.recv() => if matches!(heard, Some(Heard::Progress(_))) { app.advance(31) },
        }
    }
}

pub async fn tools(client: &RunningService<RoleClient, Agent>) -> Vec<String> {
    client.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name.into_owned()).collect()
}

pub async fn pending(app: &TestApp) -> i64 {
    let (_, answer) = ask(app, Method::GET, "/api/approvals?state=pending", None).await;
    answer["approvals"][0]["id"].as_i64().expect("something waits")
}

async fn decide(app: &TestApp, approval: i64, how: &str) {
    let (status, answer) = ask(app, Method::POST, &format!("/api/approvals/{approval}/{how}"), Some(json!({}))).await;
    assert_eq!(status, 200, "{answer}");
}

/// A client that had the counter installed; a person approved it.
pub async fn with_counter(app: &TestApp) -> Connected {
    let mut connected = connect(app, "Builder").await;
    let asked = waits(app, &mut connected, asks("write_capability", counter())).await;
    assert!(!asked.0 && asked.1.contains("approval"), "{asked:?}");
    decide(app, pending(app).await, "approve").await;
    app.run_until_idle().await;
    let done = said(&connected.0.call_tool(asks("write_capability", counter())).await.unwrap());
    assert!(done.0, "{done:?}");
    connected
}

#[tokio::test]
async fn another_agent_writes_a_capability_is_told_of_it_and_calls_it() {
    let app = TestApp::start().await;
    let (client, mut hears) = connect(&app, "Some Editor").await;
    assert_eq!(tools(&client).await, ["write_capability"], "none of the tools that are the agent's own");
    let double = writes("double", "export default function double({ n }) { return { twice: 2 * n }; }", json!({}));
    let written = said(&client.call_tool(asks("write_capability", double)).await.unwrap());
    assert!(written.0, "{written:?}");
    assert_eq!(hears.recv().await, Some(Heard::ToolsChanged));
    assert_eq!(tools(&client).await, ["write_capability", "double"]);
    let result = client.call_tool(asks("double", json!({"n": 21}))).await.unwrap();
    assert_eq!(said(&result), (true, "{\"twice\":42}".into()));
    assert_eq!(result.structured_content, Some(json!({"twice": 42})));
    // Arguments that do not fit, and a tool that is not there.
    let wrong = said(&client.call_tool(asks("double", json!({"n": "x"}))).await.unwrap());
    assert!(!wrong.0 && wrong.1.contains("number"), "{wrong:?}");
    for absent in ["execute_sql", "manage_tasks", "restart", "nobody"] {
        let Err(ServiceError::McpError(error)) = client.call_tool(asks(absent, json!({}))).await else { panic!("{absent}") };
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
        assert!(error.message.contains("write_capability, double"), "{error}");
    }
    // Calls of a client are kept as the agent's are: turns, audit, a conversation of the client's
    // own.
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'command'").await, 3);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE verdict = 'allow'").await, 2);
    assert_eq!(app.count("SELECT count(*) FROM conversations WHERE profile = 'mcp' AND NOT is_main").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM messages JOIN conversations USING (conversation_id) WHERE is_main").await, 0);
    client.cancel().await.unwrap();
    app.check_replay().await;
}

#[tokio::test]
async fn a_rule_of_the_profile_offers_another_agent_nothing_more() {
    let app = TestApp::start().await;
    let (status, set) = ask(&app, Method::PUT, "/api/policy/mcp/rules/relay", Some(json!({"rule": "always"}))).await;
    assert_eq!(status, 200, "{set}");
    let (client, _hears) = connect(&app, "Some Editor").await;
    assert_eq!(tools(&client).await, ["write_capability"]);
    let Err(ServiceError::McpError(error)) = client.call_tool(asks("relay", json!({"action": "list"}))).await else { panic!() };
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_call_whose_parameters_cannot_be_read_is_told_so() {
    let app = TestApp::start().await;
    let (client, _hears) = connect(&app, "Careless").await;
    let refusal = async |method: &str, params: Value| {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        let Err(ServiceError::McpError(error)) = client.send_request(request).await else { panic!("{method} was carried out") };
        error
    };
    for params in [json!({"name": "write_capability", "arguments": ["x"]}), json!({"arguments": {}})] {
        let error = refusal("tools/call", params).await;
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{error}");
        assert!(error.message.contains("cannot be read") && error.message.contains("`arguments` an object"), "{error}");
    }
    assert_eq!(refusal("tools/walk", json!({})).await.code, ErrorCode::METHOD_NOT_FOUND);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_call_that_needs_a_person_says_so_and_asking_again_gives_its_outcome_once() {
    let app = TestApp::start().await;
    let mut connected = connect(&app, "Editor").await;
    let (ok, told) = waits(&app, &mut connected, asks("write_capability", counter())).await;
    let approval = pending(&app).await;
    assert!(!ok && told.contains(&format!("approval {approval}")), "{told}");
    assert!(
        told.contains(&format!("level3 approvals approve {approval}")) && told.contains(&app.address().to_string()),
        "{told}"
    );
    assert!(told.contains("Keep values of its own between calls."), "{told}");
    // The client asks again before the decision: it is the same turn, and still waits.
    let again = waits(&app, &mut connected, asks("write_capability", counter())).await;
    let (client, _hears) = connected;
    assert!(!again.0 && again.1.contains(&format!("approval {approval}")), "{again:?}");
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 1);
    // Other calls of the client do not queue behind it.
    let other = writes("one", "export default function one() { return 1; }", json!({}));
    assert!(said(&client.call_tool(asks("write_capability", other)).await.unwrap()).0);
    assert_eq!(app.count("SELECT count(*) FROM mcp_conversations").await, 2);

    decide(&app, approval, "approve").await;
    app.run_until_idle().await;
    let done = client.call_tool(asks("write_capability", counter())).await.unwrap();
    assert!(said(&done).0, "{done:?}");
    assert_eq!(done.meta.unwrap().0["level3/joined"], json!(true));
    assert_eq!(app.count("SELECT count(*) FROM capability_versions WHERE name = 'count'").await, 1);
    // The client has the outcome: from now on the same call is a new one.
    for n in 1..=2 {
        assert_eq!(said(&client.call_tool(asks("count", json!({}))).await.unwrap()), (true, format!("{{\"n\":{n}}}")));
    }
    client.cancel().await.unwrap();
    app.check_replay().await;
}

#[tokio::test]
async fn a_refusal_by_a_person_is_told_with_its_reason() {
    let app = TestApp::start().await;
    app.leaves("nobody decides its last question");
    let mut connected = connect(&app, "Editor").await;
    assert!(!waits(&app, &mut connected, asks("write_capability", counter())).await.0);
    let deny = format!("/api/approvals/{}/deny", pending(&app).await);
    ask(&app, Method::POST, &deny, Some(json!({"reason": "no counters here"}))).await;
    app.run_until_idle().await;
    let told = waits(&app, &mut connected, asks("write_capability", counter())).await;
    assert_eq!(told, (false, "The user refused this: no counters here".into()));
    // The client was told of the refusal. If it asks once more, the person is asked once more.
    let anew = waits(&app, &mut connected, asks("write_capability", counter())).await;
    assert!(!anew.0 && anew.1.contains("approval"), "{anew:?}");
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 2);
    connected.0.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_that_can_be_told_meanwhile_waits_for_the_decision_a_bounded_time() {
    let app = TestApp::start().await;
    let (client, mut hears) = connect(&app, "Patient").await;
    // rmcp sends a progress token with every request of this kind.
    let request = || ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(asks("write_capability", counter())));
    let handle = client.send_cancellable_request(request(), PeerRequestOptions::no_options()).await.unwrap();
    let Some(Heard::Progress(told)) = hears.recv().await else { panic!("no progress") };
    let approval = pending(&app).await;
    assert_eq!(told, format!("`write_capability` waits for a person: approval {approval}"));
    app.advance(31);
    let answer = serde_json::to_value(handle.await_response().await.unwrap()).unwrap();
    assert_eq!(answer["isError"], true, "{answer}");
    // A person decides about the next one in time.
    let handle = client.send_cancellable_request(request(), PeerRequestOptions::no_options()).await.unwrap();
    hears.recv().await.unwrap();
    decide(&app, approval, "approve").await;
    let answer = serde_json::to_value(handle.await_response().await.unwrap()).unwrap();
    assert_ne!(answer["isError"], true, "{answer}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_request_that_the_client_cancels_stops_its_turn() {
    let app = TestApp::start().await;
    let (client, mut hears) = connect(&app, "Hasty").await;
    let request = ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(asks("write_capability", counter())));
    let handle = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    hears.recv().await.unwrap();
    handle.cancel(Some("changed my mind".into())).await.unwrap();
    app.until("SELECT count(*) FROM turns WHERE state = 'aborted'", 1).await;
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'void'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 0);
    client.cancel().await.unwrap();
    app.check_replay().await;
}

#[tokio::test]
async fn after_a_restart_the_same_call_joins_the_turn_that_was_begun() {
    let mut app = TestApp::start().await;
    let mut connected = connect(&app, "Editor").await;
    assert!(!waits(&app, &mut connected, asks("write_capability", counter())).await.0);
    let approval = pending(&app).await;
    app.restart().await;
    decide(&app, approval, "approve").await;
    app.run_until_idle().await;
    // The old connection is gone; the client makes a new one, and asks as before.
    drop(connected);
    let (client, _hears) = connect(&app, "Editor").await;
    let done = said(&client.call_tool(asks("write_capability", counter())).await.unwrap());
    assert!(done.0, "{done:?}");
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 1);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn an_outcome_that_nobody_fetched_for_a_day_is_asked_for_anew() {
    let app = TestApp::start().await;
    let mut connected = connect(&app, "Forgetful").await;
    assert!(!waits(&app, &mut connected, asks("write_capability", counter())).await.0);
    let (client, _hears) = connected;
    decide(&app, pending(&app).await, "approve").await;
    app.run_until_idle().await;
    app.advance(24 * 3600 + 1);
    let fresh = said(&client.call_tool(asks("write_capability", counter())).await.unwrap());
    assert!(fresh.0, "its powers are those of the live version: {fresh:?}");
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 2);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn the_profile_mcp_has_a_law_of_its_own() {
    let app = TestApp::start().await;
    app.leaves("nobody decides its last question");
    let mut connected = with_counter(&app).await;
    let law = async |mode, governor, budgets| {
        app.store().set_profile_policy(profiles::mcp::NAME, mode, governor, &budgets, app.now()).await.unwrap();
    };
    law(Mode::ReadOnly, false, Budgets::default()).await;
    let refused = waits(&app, &mut connected, asks("count", json!({}))).await;
    let told = "This profile may only read (mode `read_only`), and this call of `count` would do more.";
    assert_eq!(refused, (false, told.to_owned()), "no lesson is given to a model that is not helped");
    law(Mode::Ask, false, Budgets::default()).await;
    let asked = waits(&app, &mut connected, asks("count", json!({}))).await;
    assert!(!asked.0 && asked.1.contains("Calls the capability `count`"), "{asked:?}");
    decide(&app, pending(&app).await, "approve").await;
    app.run_until_idle().await;
    assert_eq!(waits(&app, &mut connected, asks("count", json!({}))).await, (true, "{\"n\":1}".into()));
    // The page's own agent notices nothing of it.
    app.script([call("count", json!({})), text("counted")]);
    assert_eq!(results(&app.connect().await.ask("count").await), [(true, "{\"n\":2}".to_owned())]);
    // The governor's model looks at another agent's proposals as it does at the agent's own.
    law(Mode::Smart, true, Budgets::default()).await;
    app.script([text(r#"{"complexity":"low","risk":"low","impact":"systemic","requires_confirmation":false}"#)]);
    let reviewed = waits(&app, &mut connected, asks("count", json!({}))).await;
    assert!(!reviewed.0 && reviewed.1.contains("The governor says"), "{reviewed:?}");
    // A budget ends the call and says which budget it was.
    let day = Budget { tool_calls: Some(1), ..Budget::default() };
    law(Mode::Smart, false, Budgets { day, ..Budgets::default() }).await;
    let spent = waits(&app, &mut connected, asks("count", json!({"n": 1}))).await;
    assert!(!spent.0 && spent.1.contains("I stopped here") && spent.1.contains("tool calls"), "{spent:?}");
    connected.0.cancel().await.unwrap();
}

#[tokio::test]
async fn too_many_calls_that_wait_are_refused_and_each_client_has_its_own_measure() {
    let app = TestApp::start().await;
    app.leaves("it is about calls that wait");
    let mut greedy = connect(&app, "Greedy").await;
    let wants = |n: i64| writes(&format!("count_{n}"), "export default () => 1", json!({"kv": {}}));
    for n in 0..level3::store::MCP_WAITING {
        assert!(waits(&app, &mut greedy, asks("write_capability", wants(n))).await.1.contains("approval"));
    }
    let refused = waits(&app, &mut greedy, asks("write_capability", wants(99))).await;
    assert!(!refused.0 && refused.1.contains("Too many of your calls"), "{refused:?}");
    let mut modest = connect(&app, "Modest").await;
    assert!(waits(&app, &mut modest, asks("write_capability", wants(99))).await.1.contains("approval"));
    greedy.0.cancel().await.unwrap();
    modest.0.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_of_the_newest_protocol_keeps_no_connection_and_is_told_of_changes_all_the_same() {
    let app = TestApp::start().await;
    let (agent, _hears) = agent("Newest");
    let mode = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client = agent.serve_with_lifecycle(transport(&app), mode).await.unwrap();
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut changes = client.listen(filter).await.unwrap();
    let double = writes("double", "export default function double({ n }) { return 2 * n; }", json!({}));
    assert!(said(&client.call_tool(asks("write_capability", double)).await.unwrap()).0);
    let heard = in_time("a word of the change", changes.next()).await;
    assert!(format!("{heard:?}").contains("ToolListChanged"), "{heard:?}");
    let result = client.call_tool(asks("double", json!({"n": 2}))).await.unwrap();
    assert_eq!((said(&result), result.structured_content), ((true, "4".into()), None));
    let names: Vec<String> = sqlx::query_scalar("SELECT name FROM mcp_clients").fetch_all(&mut app.behind().await).await.unwrap();
    assert_eq!(names, ["Newest"]);
    drop(changes);
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn in_safe_mode_nothing_is_offered() {
    let mut app = TestApp::start().await;
    with_counter(&app).await.0.cancel().await.unwrap();
    app.set("LEVEL3_SAFE_MODE", "1");
    app.restart().await;
    let (client, _hears) = connect(&app, "Editor").await;
    assert!(tools(&client).await.is_empty());
    let told = said(&client.call_tool(asks("count", json!({}))).await.unwrap());
    assert!(!told.0 && told.1.contains("safe mode"), "{told:?}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn the_guard_of_the_doors_stands_before_mcp_too() {
    let app = TestApp::with(&[("LEVEL3_TOKEN", "s3cret-token")]).await;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}});
    let send = |headers: &[(&'static str, &'static str)]| {
        let mut request = http().post(format!("http://{}/mcp", app.address())).json(&hello);
        request = request.header("accept", "application/json, text/event-stream");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        async { request.send().await.unwrap().status().as_u16() }
    };
    let token = ("authorization", "Bearer s3cret-token");
    assert_eq!(send(&[]).await, 401);
    assert_eq!(send(&[("authorization", "Bearer other")]).await, 401);
    assert_eq!(send(&[token, ("host", "evil.example")]).await, 421);
    assert_eq!(send(&[token, ("origin", "http://evil.example")]).await, 403);
    assert_eq!(send(&[token]).await, 200);
}

#[tokio::test]
async fn two_clients_that_ask_for_the_same_do_not_get_each_others_outcomes() {
    let app = TestApp::start().await;
    let (first, _a) = with_counter(&app).await;
    let (second, _b) = connect(&app, "Another").await;
    assert_eq!(said(&first.call_tool(asks("count", json!({}))).await.unwrap()).1, "{\"n\":1}");
    assert_eq!(said(&second.call_tool(asks("count", json!({}))).await.unwrap()).1, "{\"n\":2}");
    let approval = ApprovalId(1);
    assert!(app.store().owners().approval(approval).await.unwrap().is_some());
    assert_eq!(app.count("SELECT count(*) FROM mcp_clients").await, 2);
    first.cancel().await.unwrap();
    second.cancel().await.unwrap();
}

#[tokio::test]
async fn two_equal_calls_with_keys_of_their_own_are_two_and_the_same_key_is_the_same_call() {
    let app = TestApp::start().await;
    let (client, _hears) = with_counter(&app).await;
    let keyed = async |key: Value| {
        let mut request = asks("count", json!({}));
        let meta = request.meta.get_or_insert_default();
        meta.0.0.insert("level3/key".into(), key);
        client.call_tool(request).await
    };
    let (first, second) = tokio::join!(keyed("a".into()), keyed("b".into()));
    let mut counts = [said(first.as_ref().unwrap()).1, said(&second.unwrap()).1];
    let of_a = counts[0].clone();
    counts.sort();
    assert_eq!(counts, ["{\"n\":1}", "{\"n\":2}"]);
    // A client asks again for an answer that was lost on its way. Even after it was told, nothing
    // happens twice.
    let again = keyed("a".into()).await.unwrap();
    assert_eq!((said(&again).1, &again.meta.as_ref().unwrap().0["level3/joined"]), (of_a, &json!(true)));
    assert_eq!(said(&client.call_tool(asks("count", json!({}))).await.unwrap()).1, "{\"n\":3}");
    let Err(ServiceError::McpError(error)) = keyed(7.into()).await else { panic!("a number is no key") };
    assert!(error.code == ErrorCode::INVALID_PARAMS && error.message.contains("level3/key"), "{error}");
    client.cancel().await.unwrap();
    app.check_replay().await;
}
