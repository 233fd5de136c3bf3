//! A client that was written when approvals came, and never changed since: it sends the frames of
//! that time, reads their fields and leaves all else. A turn of today goes through it whole.

use serde_json::{Map, Value, json};

use crate::support::{Client, Reply, TestApp, call, kinds, of_type, text};

/// The frames of that time: the type, the fields without which the client cannot show one, and
/// those that it reads if they are there. This list is history: it does not change.
const FRAMES: &[(&str, &[&str], &[&str])] = &[
    ("hello", &["version", "conversation", "last_seq", "model", "safe_mode"], &[]),
    ("turn", &["turn", "state", "conversation", "seq"], &["id", "origin", "content", "reason"]),
    ("delta", &["conversation", "turn", "step", "attempt", "content"], &[]),
    ("assistant", &["content", "turn", "step", "final", "conversation", "seq"], &[]),
    ("tool_call", &["name", "arguments", "call", "turn", "conversation", "seq"], &[]),
    ("tool_result", &["name", "result", "ok", "call", "turn", "conversation", "seq"], &["logs"]),
    ("error", &["content"], &["turn", "failure", "id", "conversation", "seq"]),
    ("capability", &["name", "version", "enabled", "conversation", "seq"], &[]),
    (
        "approval",
        &["id", "state", "call", "turn", "conversation", "seq"],
        &["tool", "arguments", "what", "why", "can_always", "capability", "expires_at", "channel", "reason", "decided_at"],
    ),
];

/// The states of a turn that the client can show.
const STATES: [&str; 4] = ["queued", "running", "completed", "aborted"];

struct OldClient {
    socket: Client,
    /// The last `seq` that it has.
    last: i64,
}

impl OldClient {
    async fn connect(app: &TestApp, last: i64) -> Self {
        let socket = app.connect().await;
        read(&socket.hello).expect("it knows `hello`");
        Self { socket, last }
    }

    /// The next recorded frame that the client knows, as it knows it.
    async fn frame(&mut self) -> Value {
        loop {
            let Some(frame) = read(&self.socket.frame().await) else { continue };
            let Some(seq) = frame["seq"].as_i64() else { continue };
            assert!(seq > self.last, "it came twice or too late: {frame}");
            self.last = seq;
            return frame;
        }
    }

    /// Frames up to the first that satisfies, and with it.
    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            frames.push(self.frame().await);
            if frames.last().is_some_and(&wanted) {
                return frames;
            }
        }
    }

    /// Frames up to the end of a turn.
    async fn turn(&mut self) -> Vec<Value> {
        self.until(|frame| frame["type"] == "turn" && matches!(frame["state"].as_str(), Some("completed" | "aborted"))).await
    }
}

/// The frame with the fields of that time; `None` for one that came later.
fn read(frame: &Value) -> Option<Value> {
    let (kind, needed, known) = FRAMES.iter().find(|(kind, ..)| frame["type"] == *kind)?;
    for field in *needed {
        assert!(frame.get(field).is_some(), "`{kind}` has no `{field}` any more: {frame}");
    }
    if *kind == "turn" {
        assert!(STATES.iter().any(|state| frame["state"] == *state), "the client does not know this state: {frame}");
    }
    let fields = needed.iter().chain(*known).filter_map(|field| Some(((*field).to_owned(), frame.get(field)?.clone())));
    Some(Value::Object(fields.chain([("type".to_owned(), json!(kind))]).collect::<Map<_, _>>()))
}

#[tokio::test]
async fn a_client_of_the_first_approvals_lives_through_a_turn_of_today() {
    let app = TestApp::start().await;
    let mut client = OldClient::connect(&app, 0).await;
    let reaching = json!({
        "name": "look_up",
        "description": "Looks something up.",
        "code": "export default async function look_up(params) { return 'found'; }",
        "parameters_schema": {"type": "object", "properties": {}},
        "grants": {"http": {"hosts": ["api.example.com"]}},
    });
    app.script([
        call("execute_sql", json!({"query": "SELECT 1 AS one"})),
        call("write_capability", reaching),
        call("look_up", json!({})),
        text("There."),
    ]);
    client.socket.send(json!({"type": "message", "content": "count, then look it up", "id": "m1"})).await;
    let mut frames = client.until(|frame| frame["type"] == "approval").await;
    assert_eq!(
        kinds(&frames),
        ["turn queued", "turn running", "tool_call", "tool_result", "tool_call", "approval"],
        "{frames:#?}"
    );
    assert_eq!((&frames[0]["id"], &frames[0]["content"]), (&json!("m1"), &json!("count, then look it up")));
    assert_eq!((&frames[3]["ok"], &frames[3]["result"]), (&json!(true), &json!(r#"[{"one":1}]"#)));
    let question = frames.last().unwrap().clone();
    assert_eq!((&question["state"], &question["tool"]), (&json!("pending"), &json!("write_capability")));
    assert_eq!(question["capability"]["grants_in_words"], json!(["Send any request to https://api.example.com."]));
    for shown in ["what", "why", "arguments", "expires_at", "can_always"] {
        assert!(!question[shown].is_null(), "the card has no `{shown}`: {question}");
    }

    // The line breaks over the question; the client comes back with what it has, and decides.
    let last = client.last;
    drop(client);
    let mut client = OldClient::connect(&app, last).await;
    client.socket.send(json!({"type": "resume", "after": last})).await;
    client.socket.send(json!({"type": "approve", "approval": question["id"]})).await;
    frames.extend(client.turn().await);
    let decided = of_type(&frames[6..], "approval");
    assert_eq!((&decided["state"], &decided["channel"]), (&json!("approved"), &json!("page")));
    assert_eq!(
        kinds(&frames[6..]),
        [
            "approval",
            "turn queued",
            "turn running",
            "capability",
            "tool_result",
            "tool_call",
            "tool_result",
            "assistant",
            "turn completed"
        ]
    );
    assert_eq!((&frames[12]["ok"], &frames[12]["result"]), (&json!(true), &json!("found")));
    assert_eq!((&frames[13]["content"], &frames[13]["final"]), (&json!("There."), &json!(true)));

    // A fresh one that asks for everything has the same, each frame once.
    let mut fresh = OldClient::connect(&app, 0).await;
    fresh.socket.send(json!({"type": "resume", "after": 0})).await;
    assert_eq!(fresh.turn().await, frames);
}

#[tokio::test]
async fn a_client_of_the_first_approvals_refuses_and_stops() {
    let app = TestApp::start().await;
    let mut client = OldClient::connect(&app, 0).await;
    app.script([call("execute_sql", json!({"query": "DROP SCHEMA agent CASCADE"})), text("Then not.")]);
    client.socket.send(json!({"type": "message", "content": "drop it all"})).await;
    let question = client.until(|frame| frame["type"] == "approval").await.pop().unwrap();
    client.socket.send(json!({"type": "deny", "approval": question["id"], "reason": "I need it"})).await;
    let frames = client.turn().await;
    let (result, answer) = (of_type(&frames, "tool_result"), of_type(&frames, "assistant"));
    assert_eq!((&result["ok"], &answer["content"]), (&json!(false), &json!("Then not.")));

    app.script([Reply::Hang("I".into())]);
    client.socket.send(json!({"type": "message", "content": "go on"})).await;
    app.script.asked(3).await;
    client.socket.send(json!({"type": "stop"})).await;
    assert_eq!(client.turn().await.last().unwrap()["state"], "aborted");
}
