//! The HTTP interface and the command line, as their users reach them.

use std::process::Stdio;
use std::sync::LazyLock;

use level3::domain::ApprovalId;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::{TestApp, in_time};

/// One request; its status and the JSON of the answer.
pub async fn ask(app: &TestApp, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
    ask_at(&format!("http://{}{path}", app.address()), method, body).await
}

/// The same at a whole address.
pub async fn ask_at(url: &str, method: Method, body: Option<Value>) -> (u16, Value) {
    let mut request = client().request(method, url);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/json", "{url}");
    (status, response.json().await.unwrap())
}

/// The one client of all stories. To make one reads all certificates of the machine, which takes
/// longer than most requests. It keeps no connection, since each story has a runtime of its own.
pub fn client() -> reqwest::Client {
    static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap()
    });
    CLIENT.clone()
}

/// The printed text of a run of the program, and its exit code.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the program against this server.
pub async fn level3(app: &TestApp, arguments: &[&str]) -> Ran {
    level3_with(&[("LEVEL3_LISTEN", &app.address().to_string())], arguments, "").await
}

/// Runs the program with these settings and this on its standard input.
pub async fn level3_with(settings: &[(&str, &str)], arguments: &[&str], input: &str) -> Ran {
    let place = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_level3"));
    command.args(arguments).env_clear().envs(settings.iter().copied()).current_dir(place.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("the program starts");
    // It may end without having read anything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes()).await;
    let output = in_time("the end of the program", child.wait_with_output()).await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// A turn that waits for a person about a query, as if it had been asked a moment ago.
pub async fn waiting_approval(app: &TestApp) -> ApprovalId {
    let conversation = app.store().owners().main_conversation(app.now()).await.unwrap();
    let shown = json!({
        "tool": "write_capability",
        "arguments": {"name": "fetcher", "description": "\u{1b}[2Jhidden"},
        "what": ["Install fetcher."],
        "why": "It asks for a power.",
        "can_always": true,
        "capability": {"name": "fetcher", "language": "javascript", "source": "export default () => fetch('https://a.example')",
            "replaces": 1, "diff": "-old\n+new", "grants": {"http": {"hosts": ["a.example"]}},
            "grants_in_words": ["Send requests to a.example."], "differences": [{"was": 1, "is": 2}]},
    });
    let waiting = "WITH turn AS (
            INSERT INTO turns (conversation_id, origin, state, created_at) VALUES ($1, 'message', 'awaiting_approval', $2) RETURNING turn_id),
        said AS (
            INSERT INTO messages (conversation_id, turn_id, role, content, created_at)
            SELECT $1, turn_id, 'user', 'look', $2 FROM turn),
        step AS (
            INSERT INTO steps (turn_id, number, model, finish_reason, created_at)
            SELECT turn_id, 1, 'scripted', 'tool_calls', $2 FROM turn RETURNING step_id, turn_id),
        answer AS (
            INSERT INTO messages (conversation_id, turn_id, role, content, step_id, created_at)
            SELECT $1, turn_id, 'assistant', '', step_id, $2 FROM step),
        call AS (
            INSERT INTO tool_calls (turn_id, step_id, position, request_id, name, arguments, created_at)
            SELECT turn_id, step_id, 0, 'a', 'execute_sql', '{\"query\": \"SELECT 1 AS one\"}', $2 FROM step RETURNING tool_call_id, turn_id)
        INSERT INTO approvals (conversation_id, turn_id, tool_call_id, proposal_sha256, shown, expires_at, created_at)
        SELECT $1, turn_id, tool_call_id, '\\x00', $3, $2 + interval '1 hour', $2 FROM call RETURNING approval_id";
    let id = sqlx::query_scalar(waiting).bind(conversation.0).bind(app.now()).bind(shown);
    ApprovalId(id.fetch_one(&mut app.behind().await).await.unwrap())
}
