//! One task at a time for the whole operator, also over a crash.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use chrono::{DateTime, FixedOffset};
use level3::domain::ConversationId;
use level3::store::NewMessage;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, OWNER, judged, noted};
use crate::support::{Client, ModelServer, Reply, Server, asks_for, call, in_time, text};
use crate::turn_log;

#[tokio::test]
async fn two_orders_and_a_third_while_the_first_waits_keep_their_order_over_a_crash() {
    let mut desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("first").await;
    desk.heard(1).await;
    desk.order("second").await;
    desk.order("third").await;
    desk.heard(3).await;
    desk.app.crash().await;
    desk.app.start_again().await;
    assert_eq!(desk.states().await, ["AWAITING_CONFIRMATION", "QUEUED", "QUEUED"]);
    let hangs = Reply::Hang("I think".into());
    desk.app.script([text("one"), hangs]);
    desk.order("CONFIRMAR").await;
    desk.until(&["COMPLETED", "RUNNING", "QUEUED"]).await;
    desk.app.script.asked(4).await;
    // A message that is on its way in a crash may be lost, and is not sent again: the first answer
    // is there before it.
    desk.heard(4).await;
    desk.app.crash().await;
    desk.app.script([text("two"), text("three")]);
    desk.app.start_again().await;
    desk.until(&["COMPLETED", "COMPLETED", "COMPLETED"]).await;
    let words: Vec<_> = desk.tasks().await.iter().map(|task| task["answer"].clone()).collect();
    assert_eq!(words, ["one".to_owned(), noted("two", "none yet"), noted("three", "none yet")]);
    // Everything was said once: a question, two places, three answers.
    desk.heard(6).await;
    assert_eq!(desk.phone(OWNER).await.len(), 6);
}

#[tokio::test]
async fn the_orders_of_several_numbers_wait_in_one_queue() {
    let second = "+491701111111";
    let own = format!("loopback:{OWNER},{second}");
    let desk = Desk::with(&[("LEVEL3_OPERATOR", &own)]).await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("first").await;
    desk.heard(1).await;
    assert_eq!(desk.says(json!({"address": second, "text": "second"})).await, "order");
    assert_eq!(desk.heard_by(second, 1).await, "Task 2 is queued: 1 task is before it.");
    assert_eq!(desk.states().await, ["AWAITING_CONFIRMATION", "QUEUED"]);
    desk.app.script([text("one"), text("two")]);
    desk.order("CONFIRMAR").await;
    assert_eq!((desk.heard(2).await, desk.heard_by(second, 2).await), ("one".to_owned(), noted("two", "none yet")));
    assert_eq!(desk.states().await, ["COMPLETED", "COMPLETED"]);
}

/// A desk whose task, an order of the page, waits for a person; with the page, and its question.
async fn asked_by_page() -> (Desk, Client, Value) {
    let desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    let mut page = desk.app.connect().await;
    page.send(json!({"type": "message", "content": "first", "profile": "operator"})).await;
    let question = page.asked().await;
    (desk, page, question)
}

#[tokio::test]
async fn an_order_that_is_to_steer_queues_behind_the_question_and_runs_after_a_no() {
    let (desk, mut page, question) = asked_by_page().await;
    let queueing = desk.app.connect().await.hello["queueing"].clone();
    assert_eq!(queueing, json!([question["conversation"]]), "a client knows it beforehand");
    page.send(json!({"type": "message", "content": "second", "profile": "operator", "steer": true, "id": "P2"})).await;
    let taken = page.until(|frame| frame["id"] == "P2").await.pop().unwrap();
    assert_eq!((&taken["state"], taken.get("message")), (&json!("queued"), None), "{taken}");
    assert_eq!(desk.states().await, ["AWAITING_CONFIRMATION", "QUEUED"]);
    desk.app.script([text("It is noon.")]);
    page.deny(&question).await;
    desk.until(&["ABORTED", "COMPLETED"]).await;
    assert_eq!(desk.tasks().await[1]["answer"], noted("It is noon.", "none yet"));
}

#[tokio::test]
async fn words_that_stand_in_a_task_when_a_no_aborts_it_become_the_next_task() {
    let (desk, mut page, question) = asked_by_page().await;
    // No door says anything into such a turn; an older version did.
    let said = NewMessage { content: "second", client_id: Some("P2"), steer: true, ..NewMessage::default() };
    let conversation = ConversationId(question["conversation"].as_i64().unwrap());
    desk.app.store().owners().accept(conversation, said, desk.app.now()).await.unwrap();
    assert_eq!(desk.states().await, ["AWAITING_CONFIRMATION"]);
    desk.app.script([text("It is noon.")]);
    page.deny(&question).await;
    desk.until(&["ABORTED", "COMPLETED"]).await;
    assert_eq!(desk.tasks().await[1]["answer"], noted("It is noon.", "none yet"));
}

/// The orders of a crash's story. The first two come at once, so either may be the first task.
const ORDERS: [&str; 3] = ["alpha", "bravo", "charlie"];

/// A place in that story at which the process dies.
struct Death {
    /// The failpoint, and at which of its hits.
    point: &'static str,
    /// The task, from 0, from which on the model is silent until the states were looked at.
    silent_from: usize,
    /// The states after the next start, before anybody says anything.
    states: &'static [&'static str],
}

/// Six points, each reached with at least two tasks in the queue. The first one is reached twice:
/// also with the second of the two orders that come at once.
const DEATHS: [Death; 7] = [
    Death { point: "after-accept:abort:2", silent_from: 0, states: &["RUNNING", "QUEUED"] },
    Death { point: "after-accept:abort:3", silent_from: 1, states: &["AWAITING_CONFIRMATION", "QUEUED", "QUEUED"] },
    Death { point: "mid-ask:abort", silent_from: 1, states: &["AWAITING_CONFIRMATION", "QUEUED"] },
    Death { point: "mid-decision:abort", silent_from: 1, states: &["AWAITING_CONFIRMATION", "QUEUED", "QUEUED"] },
    // The first task is taken up for the second time, after the yes.
    Death { point: "after-claim:abort:2", silent_from: 0, states: &["RUNNING", "QUEUED", "QUEUED"] },
    Death { point: "after-done:abort", silent_from: 0, states: &["RUNNING", "QUEUED", "QUEUED"] },
    // The answer of the first task is stored, and nobody was told.
    Death { point: "after-step:abort:2", silent_from: 1, states: &["COMPLETED", "RUNNING", "QUEUED"] },
];

/// The planner lists the scripts in the task that it hears of first, and answers the others at
/// once; the governor wants that one confirmed.
fn planner() -> impl Fn(usize, &Value) -> Value + Send + Sync + 'static {
    let heard_first = OnceLock::new();
    move |_, body| {
        let messages = body["messages"].as_array().unwrap();
        if messages[0]["content"].as_str().is_some_and(|prompt| prompt.starts_with("You review one tool call")) {
            let judged = json!({"complexity": "high", "risk": "low", "impact": "local", "requires_confirmation": false});
            return json!({"role": "assistant", "content": judged.to_string()});
        }
        let mut said = messages.iter().rev().filter(|message| message["role"] == "user");
        let order = said.find_map(|said| ORDERS.into_iter().find(|order| said["content"].to_string().contains(order)));
        let order = order.unwrap();
        let is_new = messages.last().unwrap()["role"] != "tool";
        if is_new && *heard_first.get_or_init(|| order) == order {
            return asks_for("list_scripts", &json!({}));
        }
        json!({"role": "assistant", "content": format!("heard: {order}")})
    }
}

/// The address at which phones of the loopback channel speak.
const LOOPBACK: &str = "/api/relay/loopback";

/// A message of the owner, for [`LOOPBACK`].
fn said(id: &str, words: &str) -> Option<Value> {
    Some(json!({"address": OWNER, "text": words, "id": id}))
}

/// True if tasks stand in one queue: those that are over, one at most that is at work or waits for
/// its person, and those behind it.
fn is_one_queue(states: &[String]) -> bool {
    let places: Vec<_> = states
        .iter()
        .map(|state| match &**state {
            "COMPLETED" => 0,
            "RUNNING" | "AWAITING_CONFIRMATION" => 1,
            "QUEUED" => 2,
            _ => 3,
        })
        .collect();
    places.is_sorted() && places.iter().filter(|place| **place == 1).count() <= 1 && !places.contains(&3)
}

/// A process, and what its owner's phone says to it: what was said once is said again after a
/// crash, as a channel does.
struct Process {
    server: Option<Server>,
    data: PathBuf,
    model: ModelServer,
    /// The states of the tasks after its death.
    after: &'static [&'static str],
    /// How often it died by its failpoint.
    deaths: usize,
}

impl Process {
    async fn start(&mut self, failpoint: &str) {
        let (own, base_url) = (format!("loopback:{OWNER}"), self.model.base_url());
        let settings = [
            ("LEVEL3_OPERATOR", &*own),
            ("LLM_BASE_URL", &*base_url),
            ("LLM_MODEL", "scripted"),
            ("LEVEL3_FAILPOINT", failpoint),
        ];
        self.server = Some(Server::start(&self.data, &settings).await);
    }

    /// Makes a request; `None` if the process dies over it.
    async fn tries(&self, method: Method, path: &str, body: Option<&Value>) -> Option<Value> {
        let url = format!("http://{}{path}", self.server.as_ref().unwrap().address);
        let mut request = crate::support::api::client().request(method, url);
        if let Some(body) = body {
            request = request.json(body);
        }
        request.send().await.ok()?.json().await.ok()
    }

    /// Makes a request; if the process dies over it, a new one is started and asked again.
    async fn ask(&mut self, method: Method, path: &str, body: Option<Value>) -> Value {
        loop {
            if let Some(answer) = self.tries(method.clone(), path, body.as_ref()).await {
                return answer;
            }
            self.dies().await;
        }
    }

    /// Waits for its death. A new process has the states of before, before anybody says anything to
    /// it.
    async fn dies(&mut self) {
        // Nothing else ends it: the failpoint was reached.
        assert_eq!(self.server.take().unwrap().exit_code().await, None, "it was killed");
        self.deaths += 1;
        self.start("").await;
        let looked = async {
            while self.states().await.expect("it dies once") != self.after {
                tokio::task::yield_now().await;
            }
        };
        in_time(&format!("{:?} after the death", self.after), looked).await;
    }

    async fn says(&mut self, id: &str, words: &str) {
        self.ask(Method::POST, LOOPBACK, said(id, words)).await;
    }

    /// Says two things at once.
    async fn says_both(&mut self, [one, other]: [(&str, &str); 2]) {
        let bodies = [one, other].map(|(id, words)| said(id, words));
        let send = |body| self.tries(Method::POST, LOOPBACK, body);
        let came = tokio::join!(send(bodies[0].as_ref()), send(bodies[1].as_ref()));
        for (came, (id, words)) in [came.0, came.1].into_iter().zip([one, other]) {
            if came.is_none() {
                self.says(id, words).await;
            }
        }
    }

    /// The tasks, oldest first.
    async fn tasks(&mut self) -> Vec<Value> {
        oldest_first(&self.ask(Method::GET, "/api/operator/tasks", None).await)
    }

    /// The states of the tasks, oldest first, which stand in one queue whenever anybody looks;
    /// `None` if the process dies over it.
    async fn states(&self) -> Option<Vec<String>> {
        let shown = self.tries(Method::GET, "/api/operator/tasks", None).await?;
        let states: Vec<_> = oldest_first(&shown).iter().map(|task| task["state"].as_str().unwrap().to_owned()).collect();
        assert!(is_one_queue(&states), "{states:?}");
        Some(states)
    }

    async fn until(&mut self, states: &[&str]) {
        let looked = async {
            loop {
                match self.states().await {
                    Some(now) if now == states => return,
                    Some(_) => tokio::task::yield_now().await,
                    None => self.dies().await,
                }
            }
        };
        in_time(&format!("{states:?}"), looked).await;
    }

    /// Waits until so many messages came to the owner's phone.
    async fn hears(&mut self, many: usize) {
        let heard = async {
            while self.phone().await.len() < many {
                tokio::task::yield_now().await;
            }
        };
        in_time(&format!("message {many}"), heard).await;
    }

    async fn phone(&mut self) -> Vec<Value> {
        let shown = self.ask(Method::GET, &format!("{LOOPBACK}?address=%2B491701234567"), None).await;
        shown["messages"].as_array().unwrap().iter().filter(|message| message["mine"] == false).cloned().collect()
    }

    /// Ends it in good order. The log of each of these tasks then has each of its events, once.
    async fn ends(mut self, tasks: &[Value]) {
        let mut recorded = Vec::new();
        for task in tasks {
            recorded.push(self.ask(Method::GET, &format!("/api/replay/turns/{}", task["id"]), None).await);
        }
        self.server.take().unwrap().terminate().await;
        for turn in &recorded {
            is_logged_whole(&self.data, turn);
        }
    }
}

fn oldest_first(shown: &Value) -> Vec<Value> {
    shown["tasks"].as_array().unwrap().iter().rev().cloned().collect()
}

/// The kinds of events that a task without a fault has, with their lines in its log.
const LOGGED: [(&str, &str); 8] = [
    ("turn_started", "task_started"),
    ("step_answered", "model_answered"),
    ("tool_call_proposed", "planner_output"),
    ("proposal_classified", "governor_output"),
    ("approval_requested", "confirmation_required"),
    ("approval_decided", "decision"),
    ("tool_call_ended", "execution_result"),
    ("turn_ended", "task_completed"),
];

/// The log of a turn has each event that was recorded of it, once and in order, and no other.
fn is_logged_whole(data: &Path, recorded: &Value) {
    let turn = recorded["turn"].as_i64().unwrap();
    let lines = turn_log::lines(data, turn);
    turn_log::each_once(&lines, turn);
    assert_eq!(lines.last().unwrap()["event"], "task_completed", "{lines:#?}");
    let events = recorded["events"].as_array().unwrap();
    let of_kind = |event: &Value| LOGGED.iter().find(|(kind, _)| event["kind"] == *kind).map(|(_, line)| *line);
    let expected: Vec<_> = events.iter().filter_map(|event| Some((&event["sequence"], of_kind(event)?))).collect();
    assert!(expected.len() >= 3, "{events:#?}");
    for (seq, name) in expected {
        assert!(lines.iter().any(|line| line["seq"] == *seq && line["event"] == name), "{name} {seq} is not in {lines:#?}");
    }
    for line in &lines {
        assert!(events.iter().any(|event| event["sequence"] == line["seq"]), "nothing recorded says {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn order_and_states_are_right_after_kill_9_at_six_points() {
    for Death { point, silent_from, states } in DEATHS {
        let folder = tempfile::tempdir().unwrap();
        let model = ModelServer::start(planner()).await;
        // Both orders are in the queue before the planner says anything.
        model.hold("messages");
        let mut process = Process { server: None, data: folder.path().join("data"), model, after: states, deaths: 0 };
        process.start(point).await;
        process.says_both([("M1", ORDERS[0]), ("M2", ORDERS[1])]).await;
        process.until(&["RUNNING", "QUEUED"]).await;
        // A message that is on its way in a crash may be lost: each is there before a death.
        process.hears(1).await;
        let tasks = process.tasks().await;
        let goals = [&tasks[0]["goal"], &tasks[1]["goal"], &json!(ORDERS[2])].map(|goal| goal.as_str().unwrap().to_owned());
        process.model.hold(&goals[1]);
        process.until(&["AWAITING_CONFIRMATION", "QUEUED"]).await;
        process.hears(2).await;
        process.says("M3", ORDERS[2]).await;
        process.until(&["AWAITING_CONFIRMATION", "QUEUED", "QUEUED"]).await;
        process.hears(3).await;
        process.model.hold(&goals[silent_from]);
        process.says("M4", "CONFIRMAR").await;
        if process.deaths == 0 {
            process.dies().await;
        }
        process.model.hold("");
        process.until(&["COMPLETED", "COMPLETED", "COMPLETED"]).await;
        process.hears(6).await;
        ended_in_order(&mut process, point, &goals).await;
        let tasks = process.tasks().await;
        process.ends(&tasks).await;
    }
}

/// Each order has its own answer, in the order in which they came; and everything was said once: a
/// place, a question, another place, three answers.
async fn ended_in_order(process: &mut Process, point: &str, goals: &[String; 3]) {
    let answers = [
        format!("heard: {}", goals[0]),
        noted(&format!("heard: {}", goals[1]), "none yet"),
        noted(&format!("heard: {}", goals[2]), "none yet"),
    ];
    let tasks = process.tasks().await;
    let ended: Vec<_> = tasks.iter().map(|task| (task["goal"].clone(), task["answer"].clone())).collect();
    let expected: Vec<_> = goals.iter().zip(&answers).map(|(goal, answer)| (json!(goal), json!(answer))).collect();
    assert_eq!(ended, expected, "{point}");
    let at = |task: &Value| -> DateTime<FixedOffset> { task["ended_at"].as_str().unwrap().parse().unwrap() };
    assert!(tasks.windows(2).all(|pair| at(&pair[0]) < at(&pair[1])), "{point}: {tasks:#?}");
    let phone = process.phone().await;
    let words: Vec<_> = phone.iter().map(|message| message["text"].as_str().unwrap()).collect();
    let places = [
        format!("Task {} is queued: 1 task is before it.", tasks[1]["id"]),
        format!("Task {} is queued: 2 tasks are before it.", tasks[2]["id"]),
    ];
    assert!(words[1].contains("CONFIRMAR"), "{point}: {words:#?}");
    assert_eq!(words, [&*places[0], words[1], &*places[1], &*answers[0], &*answers[1], &*answers[2]], "{point}");
    assert!(phone.iter().all(|message| message["arrivals"] == 1), "{point}: {phone:#?}");
    assert_eq!(process.deaths, 1, "{point} was not reached");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_note_of_an_answer_without_an_action_is_said_once_after_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "heard"})).await;
    let mut process = Process { server: None, data: folder.path().join("data"), model, after: &["COMPLETED"], deaths: 0 };
    // The answer is stored and ends its task, and nobody was told.
    process.start("after-step:abort").await;
    process.says("M1", "hello").await;
    process.until(&["COMPLETED"]).await;
    process.hears(1).await;
    let (tasks, phone) = (process.tasks().await, process.phone().await);
    let told = json!(noted("heard", "none yet"));
    assert_eq!((&phone[0]["text"], &phone[0]["arrivals"], phone.len()), (&told, &json!(1), 1), "{phone:#?}");
    assert_eq!((&tasks[0]["answer"], process.deaths), (&told, 1));
    process.ends(&tasks).await;
}
