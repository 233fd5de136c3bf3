//! The operator: its orders over the test channel and over a scripted program, its planner and its
//! governor by a script, judged by what its person reads on the phone and by what the interface and
//! the files show.

mod begun;
mod checklist;
mod confirming;
mod contacts;
mod context;
mod cut_off;
mod former;
mod hostile;
mod judged;
mod limits;
mod linked;
mod no_action;
mod own;
mod queue;
mod recorded;
mod screen;
mod scripts;
mod session;
mod signals;
mod spelled;
mod terminal;
mod undelivered;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Reply, TestApp, api::ask, call, in_time, text};

/// The number that may give orders.
pub const OWNER: &str = "+491701234567";
/// A number that may not.
pub const STRANGER: &str = "+491709999999";

/// A classification in the governor's words.
pub fn judged(complexity: &str, risk: &str, impact: &str, confirm: bool) -> Reply {
    text(&json!({"complexity": complexity, "risk": risk, "impact": impact, "requires_confirmation": confirm}).to_string())
}

/// The governor finds nothing.
pub fn harmless() -> Reply {
    judged("low", "low", "local", false)
}

/// The planner lists the scripts, and the governor lets it.
pub fn lists() -> [Reply; 2] {
    [call("list_scripts", json!({})), harmless()]
}

/// A script that doubles a number, as the planner writes it.
pub fn doubling(factor: i64) -> Value {
    json!({
        "name": "double", "description": "Doubles a number.",
        "code": format!("export default function double(params) {{ return params.n * {factor}; }}"),
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]},
        "tests": [{"params": {"n": 2}, "expect": 2 * factor}],
    })
}

/// An answer with the note behind it that says that no action was taken, of a desk without a screen
/// that has these scripts.
pub fn noted(answer: &str, scripts: &str) -> String {
    format!(
        "{answer}\n\nNo action was taken for this order; I can run a script ({scripts}), write a new script or remember a fact."
    )
}

/// A channel program made of a shell's script.
pub fn write_program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("program.sh");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// The operator, and its person with a phone.
pub struct Desk {
    pub app: TestApp,
}

impl Desk {
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    pub async fn with(settings: &[(&str, &str)]) -> Self {
        let own = format!("loopback:{OWNER}");
        let all: Vec<_> = [("LEVEL3_OPERATOR", own.as_str())].into_iter().chain(settings.iter().copied()).collect();
        Self { app: TestApp::with(&all).await }
    }

    /// One whose channel WhatsApp is this program.
    pub async fn over(program: &Path, more: &[(&str, &str)]) -> Self {
        let (own, search) = (format!("whatsapp:{OWNER}"), std::env::var("PATH").unwrap());
        let settings = [("LEVEL3_OPERATOR", &*own), ("LEVEL3_WHATSAPP", program.to_str().unwrap()), ("PATH", &search)];
        Self { app: TestApp::with(&[&settings, more].concat()).await }
    }

    pub async fn done(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let (status, answer) = ask(&self.app, method, path, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Says something on a phone; how it came.
    pub async fn says(&self, said: Value) -> String {
        self.done(Method::POST, "/api/relay/loopback", Some(said)).await["came"].as_str().unwrap().to_owned()
    }

    /// The owner says something.
    pub async fn order(&self, words: &str) {
        assert_eq!(self.says(json!({"address": OWNER, "text": words})).await, "order");
    }

    /// The messages that came to a phone, oldest first.
    pub async fn phone(&self, address: &str) -> Vec<Value> {
        let address = address.replace('+', "%2B");
        let shown = self.done(Method::GET, &format!("/api/relay/loopback?address={address}"), None).await;
        let messages = shown["messages"].as_array().unwrap().iter();
        messages.filter(|message| message["mine"] == false).cloned().collect()
    }

    /// Waits until so many messages came to the owner; the last one's words.
    pub async fn heard(&self, many: usize) -> String {
        self.heard_by(OWNER, many).await
    }

    /// The same for any phone.
    pub async fn heard_by(&self, address: &str, many: usize) -> String {
        let mut events = self.app.store().signals().events();
        loop {
            let messages = self.phone(address).await;
            if messages.len() >= many {
                return messages[many - 1]["text"].as_str().unwrap().to_owned();
            }
            in_time(&format!("message {many} after {messages:?}"), events.recv()).await.ok();
        }
    }

    pub async fn tasks(&self) -> Vec<Value> {
        let shown = self.done(Method::GET, "/api/operator/tasks", None).await;
        let mut tasks = shown["tasks"].as_array().unwrap().clone();
        tasks.reverse();
        tasks
    }

    /// The states of the tasks, oldest first.
    pub async fn states(&self) -> Vec<String> {
        self.tasks().await.iter().map(|task| task["state"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until the tasks are in these states.
    pub async fn until(&self, states: &[&str]) {
        let mut events = self.app.store().signals().events();
        loop {
            let now = self.states().await;
            if now == states {
                return;
            }
            in_time(&format!("{states:?} after {now:?}"), events.recv()).await.ok();
        }
    }

    /// The file in its home, once it is there.
    pub async fn file(&self, path: &str) -> String {
        let path = self.home().join(path);
        let looked = async {
            loop {
                match std::fs::read_to_string(&path) {
                    Ok(text) if !text.is_empty() => return text,
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        in_time(&path.display().to_string(), looked).await
    }

    pub fn home(&self) -> PathBuf {
        self.app.data().to_owned()
    }

    /// The lines of the log of a task, once it has this many.
    pub async fn log(&self, task: i64, last: &str) -> Vec<Value> {
        let path = self.home().join(format!("logs/turn-{task}.jsonl"));
        let looked = async {
            loop {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
                if lines.iter().any(|line| line["event"] == last) {
                    return lines;
                }
                tokio::task::yield_now().await;
            }
        };
        in_time(&format!("{last} in {}", path.display()), looked).await
    }

    /// How many tool calls were carried out.
    pub async fn carried_out(&self) -> i64 {
        self.app.count("SELECT count(*) FROM tool_calls WHERE state = 'done'").await
    }
}

/// The one line of an event, without its place.
pub fn body(lines: &[Value], event: &str) -> Value {
    let mut line =
        lines.iter().find(|line| line["event"] == event).cloned().unwrap_or_else(|| panic!("no {event} in {lines:#?}"));
    for place in ["event", "at", "conversation", "turn", "seq", "part", "step", "call"] {
        line.as_object_mut().unwrap().remove(place);
    }
    line
}
