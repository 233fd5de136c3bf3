//! One task at a time for the whole operator, also over a crash.

use level3::domain::ConversationId;
use level3::store::NewMessage;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, OWNER, judged, noted};
use crate::support::{Client, ModelServer, Reply, Server, asks_for, call, in_time, text};

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

/// The points at which the process dies, one for each run.
const POINTS: [&str; 6] = ["after-accept", "after-claim", "after-step", "mid-ask", "mid-decision", "after-done"];

/// The planner lists the scripts in the first task and answers the others at once; the governor
/// wants the first one confirmed.
fn decide(_: usize, body: &Value) -> Value {
    let messages = body["messages"].as_array().unwrap();
    if messages[0]["content"].as_str().is_some_and(|prompt| prompt.starts_with("You review one tool call")) {
        let judged = json!({"complexity": "high", "risk": "low", "impact": "local", "requires_confirmation": false});
        return json!({"role": "assistant", "content": judged.to_string()});
    }
    let order = messages.iter().rev().find(|message| message["role"] == "user").map(|message| message["content"].to_string());
    let first = order.is_some_and(|order| order.contains("first"));
    match messages.last().unwrap()["role"].as_str() {
        Some("tool") => json!({"role": "assistant", "content": "heard: first"}),
        _ if first => asks_for("list_scripts", &json!({})),
        _ => json!({"role": "assistant", "content": "heard"}),
    }
}

/// A process, and what its owner's phone says to it: what was said once is said again after a
/// crash, as a channel does.
struct Process {
    server: Option<Server>,
    data: std::path::PathBuf,
    model: ModelServer,
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

    /// Makes a request; if the process dies over it, a new one is started and asked again.
    async fn ask(&mut self, method: Method, path: &str, body: Option<Value>) -> Value {
        loop {
            let url = format!("http://{}{path}", self.server.as_ref().unwrap().address);
            let mut request = crate::support::api::client().request(method.clone(), url);
            if let Some(body) = &body {
                request = request.json(body);
            }
            if let Ok(response) = request.send().await
                && let Ok(answer) = response.json().await
            {
                return answer;
            }
            // Nothing else ends it: the failpoint was reached.
            assert_eq!(self.server.take().unwrap().exit_code().await, None, "it was killed");
            self.deaths += 1;
            self.start("").await;
        }
    }

    async fn says(&mut self, id: &str, words: &str) {
        let said = json!({"address": OWNER, "text": words, "id": id});
        self.ask(Method::POST, "/api/relay/loopback", Some(said)).await;
    }

    async fn until(&mut self, states: &[&str]) {
        let looked = async {
            loop {
                let shown = self.ask(Method::GET, "/api/operator/tasks", None).await;
                let mut now: Vec<_> = shown["tasks"].as_array().unwrap().iter().map(|task| task["state"].clone()).collect();
                now.reverse();
                if now == states {
                    return;
                }
                tokio::task::yield_now().await;
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
        let shown = self.ask(Method::GET, "/api/relay/loopback?address=%2B491701234567", None).await;
        shown["messages"].as_array().unwrap().iter().filter(|message| message["mine"] == false).cloned().collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn order_and_states_are_right_after_kill_9_at_six_points() {
    for point in POINTS {
        let folder = tempfile::tempdir().unwrap();
        let model = ModelServer::start(decide).await;
        let mut process = Process { server: None, data: folder.path().join("data"), model, deaths: 0 };
        process.start(&format!("{point}:abort")).await;
        process.says("M1", "first").await;
        process.until(&["AWAITING_CONFIRMATION"]).await;
        process.says("M2", "second").await;
        process.says("M3", "third").await;
        process.until(&["AWAITING_CONFIRMATION", "QUEUED", "QUEUED"]).await;
        process.hears(3).await;
        process.says("M4", "CONFIRMAR").await;
        process.until(&["COMPLETED", "COMPLETED", "COMPLETED"]).await;
        // Everything that is to be said is said once: a question, two places, three answers.
        process.hears(6).await;
        let words: Vec<_> =
            process.phone().await.into_iter().map(|message| message["text"].as_str().unwrap().to_owned()).collect();
        assert_eq!(words.iter().filter(|words| words.starts_with("heard")).count(), 3, "{point}: {words:#?}");
        let without_action = noted("heard", "none yet");
        assert_eq!(words.iter().filter(|words| **words == without_action).count(), 2, "{point}: {words:#?}");
        assert_eq!(words.iter().filter(|words| words.contains("CONFIRMAR")).count(), 1, "{point}: {words:#?}");
        let arrivals = process.phone().await.into_iter().filter(|message| message["arrivals"] != 1).count();
        assert_eq!((words.len(), arrivals), (6, 0), "{point}: {words:#?}");
        assert_eq!(process.deaths, 1, "{point} was not reached");
        process.server.take().unwrap().terminate().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_note_of_an_answer_without_an_action_is_said_once_after_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let model = ModelServer::start(decide).await;
    let mut process = Process { server: None, data: folder.path().join("data"), model, deaths: 0 };
    // The answer is stored and ends its task, and nobody was told.
    process.start("after-step:abort").await;
    process.says("M1", "hello").await;
    process.until(&["COMPLETED"]).await;
    process.hears(1).await;
    let shown = process.ask(Method::GET, "/api/operator/tasks", None).await;
    let phone = process.phone().await;
    let told = json!(noted("heard", "none yet"));
    assert_eq!((&phone[0]["text"], &phone[0]["arrivals"], phone.len()), (&told, &json!(1), 1), "{phone:#?}");
    assert_eq!((&shown["tasks"][0]["answer"], process.deaths), (&told, 1));
    process.server.take().unwrap().terminate().await;
}
