//! The end of the terminal, Ctrl-C and SIGTERM while a task is at hand and its model answers
//! slowly: the answer is kept, and the action that it asks for is carried out once, after the next
//! start.

use std::fs;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};

use super::terminal::{Operator, home_with, program};
use crate::support::{ModelServer, asks_for, in_time};

/// True for a request to the governor.
fn reviews(body: &Value) -> bool {
    body["messages"][0]["content"].as_str().is_some_and(|prompt| prompt.starts_with("You review one tool call"))
}

/// True for a request to the planner in which no action has a result yet.
fn plans(body: &Value) -> bool {
    !reviews(body) && body["messages"].as_array().unwrap().last().unwrap()["role"] != "tool"
}

/// A planner that remembers something; its plan comes once the sender is gone. Its governor and its
/// last words come at once.
async fn slow() -> (ModelServer, Sender<()>) {
    let (held, waits) = channel();
    let waits = Mutex::new(waits);
    let model = ModelServer::start(move |_, body| {
        if reviews(body) {
            let judged = json!({"complexity": "low", "risk": "low", "impact": "local", "requires_confirmation": false});
            return json!({"role": "assistant", "content": judged.to_string()});
        }
        if !plans(body) {
            return json!({"role": "assistant", "content": "It is kept."});
        }
        // Nothing is ever sent: this waits for the end of the sender.
        let _ = tokio::task::block_in_place(|| waits.lock().unwrap().recv());
        asks_for("update_global_context", &json!({"version": 0, "document": {"a": 1}}))
    });
    (model.await, held)
}

/// The operator is ended by this signal while its planner thinks, and started again.
async fn goes_on_after(signal: i32) {
    let folder = tempfile::tempdir().unwrap();
    let home = home_with(folder.path());
    let path = program(folder.path(), "keep one");
    let (model, held) = slow().await;
    let settings = [("LEVEL3_WHATSAPP", path.to_str().unwrap())];
    let mut operator = Operator::start(&home, &model, &[], &settings);
    let asked = async {
        while model.requests.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    in_time("a request to the planner", asked).await;
    operator.signal(signal);
    // From here on it ends; only the task holds it.
    operator.printed("The channel is off").await;
    drop(held);
    operator.ends().await;

    let mut operator = Operator::start(&home, &model, &[], &settings);
    operator.printed("task_completed").await;
    operator.ends_by(libc::SIGTERM).await;
    let log = fs::read_to_string(home.join("logs/turn-1.jsonl")).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let events: Vec<_> = lines.map(|line| line["event"].as_str().unwrap().to_owned()).collect();
    let before = ["task_started", "model_answered", "planner_output"];
    let acts = ["task_started", "governor_output", "decision", "execution_started", "execution_result"];
    let after = ["model_answered", "planner_output", "task_completed"];
    assert_eq!(events, [&before[..], &acts[..], &after[..]].concat());
    let requests = model.requests.lock().unwrap();
    assert_eq!(requests.iter().filter(|body| plans(body)).count(), 1, "the plan was kept: {requests:#?}");
    assert!(!home.join("logs/turn-2.jsonl").exists(), "the order came again, and is one task");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_terminal_lets_the_task_at_hand_reach_a_checkpoint_and_it_goes_on_once() {
    goes_on_after(libc::SIGHUP).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_lets_the_task_at_hand_reach_a_checkpoint_and_it_goes_on_once() {
    goes_on_after(libc::SIGINT).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_lets_the_task_at_hand_reach_a_checkpoint_and_it_goes_on_once() {
    goes_on_after(libc::SIGTERM).await;
}
