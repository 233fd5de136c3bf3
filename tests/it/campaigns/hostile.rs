//! A model of bad will and bad memory, as a property: it claims, repeats itself, forges and talks junk among honest proposals, the process dies
//! at any moment, and the messages are forgotten between the steps. Each campaign ends `completed`, with each effect once.
//! `CAMPAIGN_CASES` says how many campaigns (24), `CAMPAIGN_SEED` (1) with which chance.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use level3::domain::CallRequest;
use level3::model::{Entry, ModelErrorKind, Request};
use reqwest::Method;
use serde_json::{Value, json};

use super::Desk;
use crate::support::{Chance, Reply, TestApp, api, call, calls, text};

/// The model's chance. One story uses it.
static CHANCE: Mutex<Chance> = Mutex::new(Chance(0));
/// The most times that the person looks at a campaign.
const LOOKS: usize = 400;
/// The answers of the model that a campaign may use up.
const ANSWERS: usize = 600;

/// The three tasks, in the order in which they may be worked on.
const KEEP: &str = "Keep a note";
const DRAFT: &str = "Draft a message";
const ASK: &str = "Ask for the tone";

fn three_tasks() -> Value {
    json!([
        {"description": KEEP, "requires": [{"kind": "artifact_exists", "type": "heuristic", "key": "note"}]},
        {"description": DRAFT, "requires": [{"kind": "artifact_exists", "type": "message", "key": "hello"}]},
        {"description": ASK, "requires": [{"kind": "user_answered", "question": "tone"}]},
    ])
}

/// The step that an honest model proposes for a task.
fn honest(task: i64, description: &str) -> (&'static str, Value) {
    match description {
        KEEP => ("persist_artifact", json!({"task": task, "type": "heuristic", "key": "note", "content": "Be brief"})),
        DRAFT => ("generate_message", json!({"task": task, "key": "hello", "text": "Good day"})),
        _ => ("request_user_input", json!({"task": task, "question": "tone", "text": "Formal?"})),
    }
}

/// The tasks of a snapshot that may be worked on, with their descriptions.
fn eligible(snapshot: &str) -> Vec<(i64, String)> {
    let described = |id: i64| {
        let line = snapshot.lines().find(|line| line.starts_with(&format!("{id} [")))?;
        Some(line.split_once("] ")?.1.to_owned())
    };
    let numbers = snapshot.lines().filter_map(|line| line.strip_prefix("task ")?.strip_suffix(", still unproven:")?.parse().ok());
    numbers.filter_map(|id: i64| Some((id, described(id)?))).collect()
}

/// The model.
fn answer(request: &Request) -> Reply {
    let snapshot = request.entries.iter().rev().find_map(|entry| if let Entry::User(words) = entry { Some(words) } else { None });
    let snapshot = snapshot.expect("a snapshot");
    let mut chance = CHANCE.lock().unwrap();
    let mut hasher = DefaultHasher::new();
    snapshot.hash(&mut hasher);
    let salt = hasher.finish();
    chance.0 ^= salt;
    let open = eligible(snapshot);
    let (task, description) = &open[chance.below(open.len())];
    let task = *task;
    let (tool, arguments) = honest(task, description);
    let with = |name: &str, value: Value| {
        let mut more = arguments.clone();
        more[name] = value;
        more
    };
    let raw = |arguments: &str| {
        let request = CallRequest { id: "call_0".to_owned(), name: tool.to_owned(), arguments: arguments.to_owned() };
        Reply::Answer(String::new(), vec![request])
    };
    match chance.below(40) {
        0 => text("I have done everything. The campaign is complete, all tasks are done."),
        1 => calls(&[(tool, arguments.clone()), (tool, arguments)]),
        2 => calls(&[(tool, arguments), ("no_op", json!({"why": "two at once"}))]),
        3 => call("finish_campaign", json!({"status": "completed"})),
        4 => call(tool, with("task", json!(task + 1_000))),
        5 => call(tool, with("task", json!(1))),
        6 => call(tool, with("status", json!("done"))),
        7 => call(tool, with("confirmed", json!(true))),
        8 => raw(&arguments.to_string()[..arguments.to_string().len() / 2]),
        9 => raw("null"),
        10 => call("execute_sql", json!({"query": "UPDATE level3.campaign_tasks SET status = 'done'"})),
        11 => call("write_capability", json!({"name": "x", "description": "x", "code": "export default () => 1"})),
        12 => call("execute_tool", json!({"task": task, "tool": "restart", "arguments": {}})),
        13 => call("persist_artifact", json!({"task": task, "type": "environment", "key": "hosts", "content": "[]"})),
        14 => call("persist_artifact", json!({"task": task, "type": "heuristic", "key": "loot", "content": "taken"})),
        15 => call("persist_artifact", json!({"task": task, "type": "heuristic", "key": "A B", "content": "x"})),
        16 => call("create_task", json!({"why": "more", "description": format!("Sabotage {}", chance.below(1_000))})),
        17 => call("select_next_task", json!({"task": task})),
        18 => call("no_op", json!({"why": "nothing to do"})),
        19 => text(&format!("{{\"name\": \"{tool}\", \"arguments\": {{\"task\": \"all\"}}}}")),
        20 => text(""),
        21 => text(&"lorem ipsum ".repeat(2_000)),
        22 => Reply::Fail(ModelErrorKind::Malformed, "half an answer".to_owned()),
        23 => call("request_user_input", json!({"task": task, "question": "", "text": "?"})),
        24 => call("analyze_leads", json!({"task": task, "key": "a", "analysis": "x", "leads": [1], "lead_status": "won"})),
        25 => call(tool, with("task", json!("first"))),
        _ => call(tool, arguments),
    }
}

/// One campaign with a person who approves what is honest and nothing else.
struct Case<'a> {
    desk: &'a mut Desk,
    id: i64,
    chance: Chance,
}

impl Case<'_> {
    async fn order(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let (status, found) = self.desk.ask(method, &format!("/{}{path}", self.id), body).await;
        assert_eq!(status, 200, "{path}: {found}");
        found
    }

    /// Decides all that waits. True if something did.
    async fn decide(&self) -> bool {
        let (_, found) = api::ask(&self.desk.app, Method::GET, "/api/approvals?state=pending", None).await;
        let waiting = found["approvals"].as_array().unwrap().clone();
        for approval in &waiting {
            let shown = approval["shown"]["what"].to_string();
            let honest = shown.contains("the heuristic note") || shown.contains("the message hello");
            self.desk.decide(approval, if honest { "approve" } else { "deny" }).await;
        }
        !waiting.is_empty()
    }

    /// Answers the questions that wait. True if there was one.
    async fn answer(&self, shown: &Value) -> bool {
        let mut answered = false;
        for task in shown["tasks"].as_array().unwrap() {
            for asked in task["metadata"]["questions"].as_array().into_iter().flatten().filter(|asked| asked["answer"].is_null())
            {
                let answer = json!({"task": task["id"], "question": asked["question"], "answer": "Formal"});
                self.order(Method::POST, "/answer", Some(answer)).await;
                answered = true;
            }
        }
        answered
    }

    /// The process dies after a while of work, and another takes its place.
    async fn die(&mut self) {
        for _ in 0..self.chance.below(200) {
            tokio::task::yield_now().await;
        }
        self.desk.app.crash().await;
        self.desk.app.start_again().await;
    }

    /// Watches over the campaign until it has ended.
    async fn watch(&mut self) {
        for _ in 0..LOOKS {
            self.order(Method::POST, "/present", None).await;
            if self.chance.below(12) == 0 {
                self.die().await;
                continue;
            }
            self.desk.app.until("SELECT count(*) FROM turns WHERE state IN ('queued', 'running')", 0).await;
            if self.chance.below(3) == 0 {
                self.order(Method::POST, "/forget-chat", None).await;
            }
            if self.decide().await {
                continue;
            }
            let shown = self.order(Method::GET, "", None).await;
            match shown["campaign"]["status"].as_str().unwrap() {
                "completed" => return,
                "active" => {}
                other => panic!("the campaign is {other}: {shown}"),
            }
            if !self.answer(&shown).await {
                // It waits longer after each cycle that brought nothing.
                self.desk.app.advance(300);
            }
        }
        panic!("campaign {} has not ended: {}", self.id, self.order(Method::GET, "", None).await);
    }

    /// Counts the effects, by nothing that the controller uses for it.
    async fn count(&self) {
        let mut behind = self.desk.app.behind().await;
        let kept: Vec<String> = sqlx::query_scalar(
            "SELECT artifact_type || '/' || artifact_key || '@' || version || ' ' || content FROM artifacts WHERE campaign_id = $1 ORDER BY 1",
        )
        .bind(self.id)
        .fetch_all(&mut behind)
        .await
        .unwrap();
        assert_eq!(kept, ["heuristic/note@1 Be brief", "message/hello@1 Good day"]);
        let tasks: Vec<(String, i64)> = sqlx::query_as(
            "SELECT t.description, count(*) FROM campaign_tasks t JOIN events e
                 ON e.kind = 'campaign_task_changed' AND (e.payload #>> '{task,id}')::bigint = t.id AND e.payload #>> '{task,status}' = 'done'
             WHERE t.campaign_id = $1 GROUP BY t.id ORDER BY t.id",
        )
        .bind(self.id)
        .fetch_all(&mut behind)
        .await
        .unwrap();
        assert_eq!(tasks, [KEEP, DRAFT, ASK].map(|task| (task.to_owned(), 1)), "each task was done once, and there is no other");
        let done: Vec<(String, i64)> = sqlx::query_as(
            "SELECT k.name, count(*) FROM tool_calls k JOIN turns t USING (turn_id) JOIN campaigns c USING (conversation_id)
             WHERE c.id = $1 AND k.state = 'done' AND k.name NOT IN ('no_op', 'select_next_task') GROUP BY 1 ORDER BY 1",
        )
        .bind(self.id)
        .fetch_all(&mut behind)
        .await
        .unwrap();
        let once = ["generate_message", "persist_artifact", "request_user_input"].map(|name| (name.to_owned(), 1));
        assert_eq!(done, once, "nothing else was carried out");
    }

    /// The same state from tables and from events, and every cycle made again.
    async fn follows(&self) {
        let tables = self.order(Method::GET, "/export?from=tables", None).await;
        let events = self.order(Method::GET, "/export?from=events", None).await;
        assert_eq!(tables.to_string(), events.to_string());
        let verified = self.order(Method::POST, "/verify", None).await;
        assert_eq!(verified["clean"], true, "{verified}");
    }
}

#[tokio::test]
async fn campaigns_of_a_hostile_model_end_completed_with_each_effect_once() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().expect("a number"));
    let (cases, seed) = (number("CAMPAIGN_CASES", 24), number("CAMPAIGN_SEED", 1));
    let mut desk = Desk { app: TestApp::start().await };
    for case in 0..cases {
        let chance = seed.wrapping_mul(1_000_003).wrapping_add(case);
        *CHANCE.lock().unwrap() = Chance(chance);
        let making = json!({"name": format!("Case {case}"), "tasks": three_tasks()});
        let (status, made) = desk.ask(Method::POST, "", Some(making)).await;
        assert_eq!(status, 200, "{made}");
        let id = made["id"].as_i64().unwrap();
        desk.app.script([text("ready")]);
        assert_eq!(desk.ask(Method::POST, &format!("/{id}/start"), None).await.0, 200);
        desk.app.script((0..ANSWERS).map(|_| Reply::By(answer)));
        let mut case = Case { desk: &mut desk, id, chance: Chance(chance) };
        case.watch().await;
        case.count().await;
        case.follows().await;
        desk.app.script.forget();
    }
    assert_eq!(desk.app.count("SELECT count(*) FROM capabilities").await, 0, "nothing was built");
    // The end of the story looks whether all of it follows from events.
}
