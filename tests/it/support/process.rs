//! The real program as a process of its own, and a model server for it, for stories that one
//! process cannot show.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::in_time;

/// A server of the OpenAI protocol; a function makes the answer to each request.
pub struct ModelServer {
    pub address: SocketAddr,
    pub requests: Arc<Mutex<Vec<Value>>>,
    held: watch::Sender<String>,
}

type Decide = Arc<dyn Fn(usize, &Value) -> Value + Send + Sync>;

/// The parts of a model's server that each of its answers needs.
#[derive(Clone)]
struct Answering {
    requests: Arc<Mutex<Vec<Value>>>,
    decide: Decide,
    held: watch::Sender<String>,
}

impl ModelServer {
    /// `decide` gets the number of the request, from 0, and its body. It returns the assistant's
    /// message, perhaps with a `finish_reason` of its own, or an object with `error`, which is
    /// answered with status 400.
    pub async fn start(decide: impl Fn(usize, &Value) -> Value + Send + Sync + 'static) -> Self {
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (decide, held): (Decide, _) = (Arc::new(decide), watch::Sender::default());
        let router = axum::Router::new()
            .route("/v1/models", get(|| async { Json(json!({"data": [{"id": "scripted"}]})) }))
            .route("/v1/chat/completions", post(answer))
            .with_state(Answering { requests: Arc::clone(&requests), decide, held: held.clone() });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, requests, held }
    }

    /// Requests with these words in them wait for their answer, until others are held or, with no
    /// words, none.
    pub fn hold(&self, words: &str) {
        self.held.send_replace(words.to_owned());
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

async fn answer(
    State(Answering { requests, decide, held }): State<Answering>,
    Json(body): Json<Value>,
) -> axum::response::Response {
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(body.clone());
        requests.len() - 1
    };
    let text = body.to_string();
    drop(held.subscribe().wait_for(|words| words.is_empty() || !text.contains(&**words)).await);
    let mut delta = decide(number, &body);
    if delta.get("error").is_some() {
        return (axum::http::StatusCode::BAD_REQUEST, Json(delta)).into_response();
    }
    let natural = if delta.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
    let told = delta.as_object_mut().and_then(|delta| delta.remove("finish_reason"));
    let finish_reason = told.unwrap_or_else(|| natural.into());
    if let Some(calls) = delta.get_mut("tool_calls").and_then(Value::as_array_mut) {
        for (index, call) in calls.iter_mut().enumerate() {
            call["index"] = json!(index);
        }
    }
    let chunk = |choice: Value| format!("data: {}\n\n", json!({"id": "c", "model": "scripted", "choices": [choice]}));
    let body = chunk(json!({"index": 0, "delta": delta}))
        + &chunk(json!({"index": 0, "delta": {}, "finish_reason": finish_reason}))
        + "data: [DONE]\n\n";
    ([("content-type", "text/event-stream")], body).into_response()
}

/// An assistant's message that asks for one tool.
pub fn asks_for(name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": function}]})
}

/// The administrator's way into a database of the Postgres that runs in this data folder.
pub fn administrator(data: &Path, database: &str) -> PgConnectOptions {
    let file = std::fs::read_to_string(data.join("postgres/postmaster.pid")).expect("Postgres runs there");
    // Lines 4 and 5 hold the port and the socket's folder.
    let mut lines = file.lines().skip(3);
    let (port, socket) = (lines.next().unwrap().parse().unwrap(), lines.next().unwrap());
    PgConnectOptions::new_without_pgpass().socket(socket).port(port).username("postgres").database(database)
}

/// The program, started with `level3 serve`.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// Its log so far.
    pub log: Arc<Mutex<String>>,
    /// Told of every line.
    lines: watch::Receiver<()>,
}

impl Server {
    /// Starts on a data folder and waits until it is ready.
    pub async fn start(data: &Path, settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_level3"));
        command.arg("serve");
        Self::begin(command, data, settings).await
    }

    /// The same with limits on open files: the soft one, and the hard one.
    pub async fn start_with_files(data: &Path, settings: &[(&str, &str)], soft: u32, hard: u32) -> Self {
        let mut command = Command::new("sh");
        let script = format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$0\" serve");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_level3")]);
        Self::begin(command, data, settings).await
    }

    async fn begin(mut command: Command, data: &Path, settings: &[(&str, &str)]) -> Self {
        command.env_clear().env("PATH", std::env::var("PATH").unwrap_or_default());
        command.env("LEVEL3_DATA_DIR", data).env("LEVEL3_LISTEN", "127.0.0.1:0").envs(settings.iter().copied());
        command.current_dir(data.parent().unwrap()).stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log: Arc<Mutex<String>> = Arc::default();
        let ready = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                *log.lock().unwrap() += &format!("{line}\n");
                if let Some((_, address)) = line.split_once("ready: http://") {
                    return address.trim().parse().unwrap();
                }
            }
            panic!("the program ended before it was ready:\n{}", log.lock().unwrap());
        };
        let address = in_time("a server that is ready", ready).await;
        let (told, heard) = watch::channel(());
        // If nobody reads on, the program blocks on a full pipe.
        tokio::spawn({
            let log = Arc::clone(&log);
            async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    *log.lock().unwrap() += &format!("{line}\n");
                    told.send_replace(());
                }
            }
        });
        Self { child, address, log, lines: heard }
    }

    /// Completes when it has logged these words. Its last lines may be read after its end.
    pub async fn logged(&mut self, words: &str) {
        let log = Arc::clone(&self.log);
        let logged = in_time(words, self.lines.wait_for(|()| log.lock().unwrap().contains(words))).await.is_ok();
        assert!(logged, "it ended without `{words}`:\n{}", log.lock().unwrap());
    }

    /// kill -9.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Asks the process to end, and returns its exit code.
    pub async fn terminate(mut self) -> Option<i32> {
        self.signal();
        self.exit_code().await
    }

    /// The most memory that it has had so far, in MiB.
    pub fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux says it");
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// SIGTERM.
    pub fn signal(&self) {
        let pid = self.child.id().expect("it runs").try_into().unwrap();
        // SAFETY: kill only sends a signal, to a child that has not been waited for.
        unsafe { libc::kill(pid, libc::SIGTERM) };
    }

    /// Waits until the process ends by itself.
    pub async fn exit_code(&mut self) -> Option<i32> {
        in_time("the end of the process", self.child.wait()).await.unwrap().code()
    }
}
