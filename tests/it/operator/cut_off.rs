//! The server is killed in the middle of a script: what counts against the script, what the planner
//! and its person are told, and what stays done.

use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::OWNER;
use crate::support::api::{ask_at, level3_with};
use crate::support::{ModelServer, Server, asks_for, in_time};

/// A script that writes something and then waits for a peer that the story plays.
fn paying(host: &str) -> Value {
    let pays = format!("await host.kv.set('paid', true); return (await fetch('http://{host}/')).status;");
    let answers = json!([{"ok": null}, {"ok": {"status": 200, "headers": {}, "body": "ok"}}]);
    json!({
        "name": "paying", "description": "Pays.", "code": format!("export default async function paying() {{ {pays} }}"),
        "grants": {"kv": {}, "http": {"hosts": [format!("http://{host}")]}},
        "parameters_schema": {"type": "object", "properties": {}},
        "tests": [{"params": {}, "expect": 200, "answers": answers}],
    })
}

/// A planner that writes the script at the order “write”, runs it at any other, and answers behind
/// a result. Its governor finds nothing, and wants a script that is run carefully to be confirmed.
async fn planner(host: &str, carefully: bool) -> ModelServer {
    let written = paying(host);
    let decide = move |_: usize, body: &Value| {
        let messages = body["messages"].as_array().unwrap();
        if messages[0]["content"].as_str().is_some_and(|prompt| prompt.starts_with("You review one tool call")) {
            let asks = carefully && messages[1].to_string().contains("execute_script");
            let judged = json!({"complexity": "low", "risk": "low", "impact": "local", "requires_confirmation": asks});
            return json!({"role": "assistant", "content": judged.to_string()});
        }
        if messages.last().unwrap()["role"] == "tool" {
            return json!({"role": "assistant", "content": "That is the end of it."});
        }
        let order = messages.iter().rev().find(|message| message["role"] == "user").unwrap();
        match order["content"].to_string().contains("write it") {
            true => asks_for("create_script", &written),
            false => asks_for("execute_script", &json!({"name": "paying", "arguments": {}})),
        }
    };
    ModelServer::start(decide).await
}

/// The operator as a server that can be killed, and the phone of its person.
struct Killed {
    server: Server,
    data: PathBuf,
    settings: Vec<(String, String)>,
}

impl Killed {
    async fn start(data: &Path, model: &ModelServer, host: &str) -> Self {
        let settings = [
            ("LLM_BASE_URL", model.base_url()),
            ("LLM_MODEL", "scripted".to_owned()),
            ("LEVEL3_EGRESS_ALLOW", host.to_owned()),
            ("LEVEL3_OPERATOR", format!("loopback:{OWNER}")),
        ];
        let settings: Vec<_> = settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { server: Self::begin(data, &settings).await, data: data.to_owned(), settings }
    }

    async fn begin(data: &Path, settings: &[(String, String)]) -> Server {
        let settings: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        Server::start(data, &settings).await
    }

    /// Kills the server in the middle of a script that waits for this peer, and starts it again.
    async fn again(self, peer: &TcpListener) -> Self {
        let connected = in_time("the script in its middle", peer.accept()).await.unwrap();
        self.server.kill().await;
        drop(connected);
        Self { server: Self::begin(&self.data, &self.settings).await, ..self }
    }

    async fn done(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let (status, answer) = ask_at(&format!("http://{}{path}", self.server.address), method, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    async fn says(&self, words: &str) {
        let said = json!({"address": OWNER, "text": words});
        assert_eq!(self.done(Method::POST, "/api/relay/loopback", Some(said)).await["came"], "order");
    }

    /// Waits until so many messages with this part came to the phone; the last one.
    async fn heard(&self, part: &str, many: usize) -> String {
        let path = format!("/api/relay/loopback?address={}", OWNER.replace('+', "%2B"));
        let heard = async {
            loop {
                let shown = self.done(Method::GET, &path, None).await;
                let messages = shown["messages"].as_array().unwrap().iter().filter(|message| message["mine"] == false);
                let texts = messages.map(|message| message["text"].as_str().unwrap());
                let with_it: Vec<_> = texts.filter(|text| text.contains(part)).collect();
                if with_it.len() >= many {
                    return with_it[many - 1].to_owned();
                }
            }
        };
        in_time(part, heard).await
    }

    /// The orders and the states of the tasks, oldest first.
    async fn tasks(&self) -> Vec<(String, String)> {
        let shown = self.done(Method::GET, "/api/operator/tasks", None).await;
        let tasks = shown["tasks"].as_array().unwrap().iter().rev();
        let word = |task: &Value, field: &str| task[field].as_str().unwrap().to_owned();
        tasks.map(|task| (word(task, "goal"), word(task, "state"))).collect()
    }

    /// The script is written, and its powers are confirmed.
    async fn writes(&self) {
        self.says("write it").await;
        self.heard("asks before it goes on", 1).await;
        self.says("CONFIRMAR").await;
        self.heard("That is the end of it.", 1).await;
    }
}

/// The peer answers one request.
async fn answered(peer: &TcpListener) -> TcpStream {
    let (mut stream, _) = in_time("the script that goes on", peer.accept()).await.unwrap();
    let mut head = [0; 64];
    assert!(stream.read(&mut head).await.unwrap() > 0);
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_goes_well_between_its_crashes_is_not_disabled() {
    let peer = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = peer.local_addr().unwrap().to_string();
    let (place, model) = (tempfile::tempdir().unwrap(), planner(&host, false).await);
    let mut desk = Killed::start(&place.path().join("data"), &model, &host).await;
    desk.writes().await;
    for crash in 1..=4 {
        desk.says("run it").await;
        desk = desk.again(&peer).await;
        let _answered = answered(&peer).await;
        desk.heard("That is the end of it.", crash + 1).await;
    }
    let shown = desk.done(Method::GET, "/api/capabilities/paying", None).await;
    assert_eq!(shown["state"], "installed", "{shown}");
    assert!(desk.tasks().await.iter().all(|(_, state)| state == "COMPLETED"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_cut_and_whose_script_is_disabled_says_what_is_done_and_its_person_is_told() {
    let peer = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = peer.local_addr().unwrap().to_string();
    let (place, model) = (tempfile::tempdir().unwrap(), planner(&host, true).await);
    let mut desk = Killed::start(&place.path().join("data"), &model, &host).await;
    desk.writes().await;
    desk.says("run it").await;
    desk.heard("asks before it goes on", 2).await;
    desk.says("CONFIRMAR").await;
    for _ in 0..3 {
        desk = desk.again(&peer).await;
    }
    let ended = desk.heard("That is the end of it.", 2).await;
    assert!(!ended.contains("No action was taken"), "{ended}");
    let notice = desk.heard("3 times in a row", 1).await;
    assert!(notice.contains("level3 capability enable paying"), "{notice}");

    // The planner hears of the write that stands.
    let told = {
        let requests = model.requests.lock().unwrap();
        requests.last().unwrap()["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    for part in ["Interrupted", "the script `paying` is disabled", "not taken back: operation 1 (kv)"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("there is no script"), "{told}");
    // It was allowed once, and is not judged anew.
    let file = desk.data.join("logs/turn-2.jsonl");
    let written = async {
        while !fs::read_to_string(&file).unwrap_or_default().contains("task_completed") {
            tokio::task::yield_now().await;
        }
    };
    in_time("the end in the log", written).await;
    let log = fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    assert!(!lines.iter().any(|line| line["decision"] == "deny"), "{log}");
    assert_eq!((count("execution_error"), count("task_completed")), (1, 1), "{log}");

    // The notice is no task.
    let orders = ["write it", "run it"].map(|goal| (goal.to_owned(), "COMPLETED".to_owned()));
    assert_eq!(desk.tasks().await, orders);
    let checked = level3_with(&[("LEVEL3_LISTEN", &desk.server.address.to_string())], &["replay", "--check"], "").await;
    assert_eq!(checked.code, 0, "{checked:?}");
    assert_eq!(desk.server.terminate().await, Some(0));
}
