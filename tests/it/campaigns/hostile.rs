//! A model of bad will and bad memory, as a property: it claims, repeats itself, forges and talks
//! junk among honest proposals, the process dies at any moment, and all messages of all
//! conversations are deleted by hand between the steps. Each campaign ends `completed`, with each
//! effect once. `CAMPAIGN_CASES` says how many campaigns (256), `CAMPAIGN_SEED` (1) with which
//! chance. Some of them are under way at once, so one death meets each at another step.
//!
//! In all of these no message outlives the transaction that wrote it, so none is there between any
//! two steps. In a quarter as many again, a person deletes all of them by hand, before each
//! decision, after it, and over each death. In both, chats are forgotten in good order as well. The
//! deleted rows are put aside, and come back when all campaigns have ended: so the check of the end
//! compares all tables.
//!
//! In every second campaign an approval context allows the message, whose effect then is one
//! statement with the end of its call.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use chrono::TimeDelta;
use level3::domain::CallRequest;
use level3::model::{Entry, ModelErrorKind, Request};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{PgConnection, query, query_as, query_scalar, raw_sql};

use super::{Desk, note, two_tasks};
use crate::support::proposer::eligible;
use crate::support::{Chance, Reply, TestApp, api, call, calls, text};

/// The model's chance. One story uses it.
static CHANCE: Mutex<Chance> = Mutex::new(Chance(0));
/// The campaigns that are under way at once.
const WAVE: u64 = 32;
/// The most times that the person looks at them.
const LOOKS: usize = 600;
/// The answers of the model that each may use up.
const ANSWERS: usize = 600;

/// The place of the deleted messages, and the function that deletes a message in the transaction
/// that wrote it.
const ASIDE: &str = "CREATE SCHEMA aside;
    CREATE TABLE aside.messages AS SELECT * FROM level3.messages WHERE FALSE;
    CREATE FUNCTION aside.put() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
    BEGIN
        WITH gone AS (DELETE FROM messages WHERE message_id = NEW.message_id RETURNING *)
        INSERT INTO aside.messages SELECT * FROM gone;
        RETURN NULL;
    END $$";
/// From now on no message outlives its transaction.
const AT_ONCE: &str = "CREATE CONSTRAINT TRIGGER put_aside AFTER INSERT ON level3.messages DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION aside.put()";
const NOT_AT_ONCE: &str = "DROP TRIGGER put_aside ON level3.messages";
/// Deletes all messages of all conversations.
const BY_HAND: &str = "WITH gone AS (DELETE FROM level3.messages RETURNING *) INSERT INTO aside.messages SELECT * FROM gone";
const BACK: &str = "INSERT INTO level3.messages SELECT * FROM aside.messages; DROP SCHEMA aside CASCADE";

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

/// The honest call of a task, again or under another number.
fn once_more(task: i64, description: &str) -> Reply {
    let (tool, arguments) = honest(task, description);
    call(tool, arguments)
}

/// The tasks of a snapshot that are done.
fn done(snapshot: &str) -> Vec<(i64, &str)> {
    let lines = snapshot.lines().filter_map(|line| line.split_once(" [done] "));
    lines.filter_map(|(id, description)| Some((id.parse().ok()?, description))).collect()
}

/// True if an approval context allows the message of a campaign.
fn has_word(id: i64) -> bool {
    id % 2 == 0
}

/// The step that an honest model proposes for a task.
fn honest(task: i64, description: &str) -> (&'static str, Value) {
    match description {
        KEEP => ("persist_artifact", json!({"task": task, "type": "heuristic", "key": "note", "content": "Be brief"})),
        DRAFT => ("generate_message", json!({"task": task, "key": "hello", "text": "Good day"})),
        _ => ("request_user_input", json!({"task": task, "question": "tone", "text": "Formal?"})),
    }
}

/// The model.
fn answer(request: &Request) -> Reply {
    let snapshot = request.entries.iter().rev().find_map(|entry| if let Entry::User(words) = entry { Some(words) } else { None });
    let snapshot = snapshot.expect("a snapshot");
    if !snapshot.starts_with("# Campaign ") {
        return text("ready");
    }
    let mut chance = CHANCE.lock().unwrap();
    let mut hasher = DefaultHasher::new();
    snapshot.hash(&mut hasher);
    let salt = hasher.finish();
    chance.0 ^= salt;
    let open = eligible(snapshot);
    let (task, description) = &open[chance.below(open.len())];
    let (task, description) = (*task, description.as_str());
    let past = done(snapshot);
    let (before, was) = if past.is_empty() { (task, description) } else { past[chance.below(past.len())] };
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
    match chance.below(77) {
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
        // The honest call of a task that is done, under its own number, and under that of another.
        // To be asked for the tone in another task is no repetition.
        26 => once_more(before, was),
        27 | 28 => once_more(task, if was == ASK { description } else { was }),
        29 => call("no_op", json!({"task": task, "why": "nothing to do"})),
        _ => call(tool, arguments),
    }
}

/// Campaigns that are under way, with a person who approves what is honest and nothing else.
struct Wave<'a> {
    desk: &'a mut Desk,
    /// The superuser's connection.
    behind: &'a mut PgConnection,
    /// Those that have not ended.
    open: Vec<i64>,
    chance: Chance,
    /// True if no message outlives its transaction.
    at_once: bool,
    /// How often the process has died.
    deaths: u64,
}

impl Wave<'_> {
    async fn order(&self, id: i64, method: Method, path: &str, body: Option<Value>) -> Value {
        let (status, found) = self.desk.ask(method, &format!("/{id}{path}"), body).await;
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
                self.order(shown["campaign"]["id"].as_i64().unwrap(), Method::POST, "/answer", Some(answer)).await;
                answered = true;
            }
        }
        answered
    }

    /// The process dies after a while of work, and another takes its place, which finds no message.
    async fn die(&mut self) {
        for _ in 0..self.chance.below(1_000) {
            tokio::task::yield_now().await;
        }
        self.desk.app.crash().await;
        self.deaths += 1;
        self.delete().await;
        self.desk.app.start_again().await;
    }

    /// Forgets the chats of some campaigns in good order, and then deletes all messages, also those
    /// of turns that wait.
    async fn forget(&mut self) {
        for id in self.open.clone() {
            if self.chance.below(4) == 0 {
                self.order(id, Method::POST, "/forget-chat", None).await;
            }
        }
        self.delete().await;
    }

    /// Deletes all messages of all conversations by hand.
    async fn delete(&mut self) {
        let gone = query(BY_HAND).execute(&mut *self.behind).await.unwrap().rows_affected();
        assert!(gone == 0 || !self.at_once, "{gone} messages have outlived the transactions that wrote them");
    }

    /// Watches over the campaigns until all have ended.
    async fn watch(&mut self) {
        let mut watched = false;
        for look in 0..LOOKS {
            // A sign holds until the clock is turned, or the process that has it dies.
            for id in self.open.iter().filter(|_| !watched) {
                self.order(*id, Method::POST, "/present", None).await;
            }
            watched = true;
            // In each wave at least once: after one look no campaign can have ended.
            if self.chance.below(8) == 0 || (look == 1 && self.deaths == 0) {
                self.die().await;
                watched = false;
                continue;
            }
            self.desk.app.until("SELECT count(*) FROM turns WHERE state IN ('queued', 'running')", 0).await;
            self.forget().await;
            let mut moved = self.decide().await;
            // The turns that go on by these decisions are under way.
            self.delete().await;
            let (_, listed) = self.desk.ask(Method::GET, "", None).await;
            for campaign in listed["campaigns"].as_array().unwrap() {
                let id = campaign["id"].as_i64().unwrap();
                match campaign["status"].as_str().unwrap() {
                    "completed" => self.open.retain(|open| *open != id),
                    "active" if campaign["waits_for"].as_str().is_some_and(|why| why.contains("waits for an answer")) => {
                        let shown = self.order(id, Method::GET, "", None).await;
                        moved |= self.answer(&shown).await;
                    }
                    "active" => {}
                    other => panic!("the campaign is {other}: {campaign}"),
                }
            }
            if self.open.is_empty() {
                return;
            }
            if !moved {
                // They wait longer after each cycle that brought nothing.
                self.desk.app.advance(300);
                watched = false;
            }
        }
        panic!("these have not ended: {:?}, {}", self.open, self.order(self.open[0], Method::GET, "", None).await);
    }

    /// Counts the effects of a campaign, by nothing that the controller uses for it. True if an
    /// approval context allowed one.
    async fn count(&mut self, id: i64) -> bool {
        let kept: Vec<String> = query_scalar(
            "SELECT artifact_type || '/' || artifact_key || '@' || version || ' ' || content FROM artifacts WHERE campaign_id = $1 ORDER BY 1",
        )
        .bind(id)
        .fetch_all(&mut *self.behind)
        .await
        .unwrap();
        assert_eq!(kept, ["heuristic/note@1 Be brief", "message/hello@1 Good day"]);
        let tasks: Vec<(String, i64)> = sqlx::query_as(
            "SELECT t.description, count(*) FROM campaign_tasks t JOIN campaigns c ON c.id = t.campaign_id JOIN events e USING (conversation_id)
             WHERE e.kind = 'campaign_task_changed' AND (e.payload #>> '{task,id}')::bigint = t.id AND e.payload #>> '{task,status}' = 'done'
               AND t.campaign_id = $1 GROUP BY t.id ORDER BY t.id",
        )
        .bind(id)
        .fetch_all(&mut *self.behind)
        .await
        .unwrap();
        assert_eq!(tasks, [KEEP, DRAFT, ASK].map(|task| (task.to_owned(), 1)), "each task was done once, and there is no other");
        let done: Vec<(String, i64)> = sqlx::query_as(
            "SELECT k.name, count(*) FROM tool_calls k JOIN turns t USING (turn_id) JOIN campaigns c USING (conversation_id)
             WHERE c.id = $1 AND k.state = 'done' AND k.name NOT IN ('no_op', 'select_next_task') GROUP BY 1 ORDER BY 1",
        )
        .bind(id)
        .fetch_all(&mut *self.behind)
        .await
        .unwrap();
        let once = ["generate_message", "persist_artifact", "request_user_input"].map(|name| (name.to_owned(), 1));
        assert_eq!(done, once, "nothing else was carried out");
        let word: Option<(i64, i64)> = query_as(
            "SELECT uses_left::bigint, (SELECT count(*) FROM artifacts a WHERE a.campaign_id = c.campaign_id AND a.approval_id IS NULL)
             FROM campaign_contexts c WHERE campaign_id = $1",
        )
        .bind(id)
        .fetch_optional(&mut *self.behind)
        .await
        .unwrap();
        let counted = word.map(|(left, unasked)| left + unasked);
        assert_eq!(counted, has_word(id).then_some(1), "a word is counted down with the one effect that it allowed");
        word.is_some_and(|(left, _)| left == 0)
    }

    /// The same state from tables and from events, and every cycle made again.
    async fn follows(&self, id: i64) {
        let tables = self.order(id, Method::GET, "/export?from=tables", None).await;
        let events = self.order(id, Method::GET, "/export?from=events", None).await;
        assert_eq!(tables.to_string(), events.to_string());
        let verified = self.order(id, Method::POST, "/verify", None).await;
        assert_eq!(verified["clean"], true, "{verified}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn campaigns_of_a_hostile_model_end_completed_with_each_effect_once() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().expect("a number"));
    let (cases, seed) = (number("CAMPAIGN_CASES", 256), number("CAMPAIGN_SEED", 1));
    let mut desk = Desk { app: TestApp::start().await };
    let mut behind = desk.app.behind().await;
    raw_sql(ASIDE).execute(&mut behind).await.unwrap();
    raw_sql(AT_ONCE).execute(&mut behind).await.unwrap();
    let all = cases + cases.div_ceil(4);
    let (mut made, mut by_word, mut waves, mut deaths) = (0, 0, 0, 0);
    while made < all {
        let at_once = made < cases;
        if made == cases {
            raw_sql(NOT_AT_ONCE).execute(&mut behind).await.unwrap();
        }
        let end = (made + WAVE).min(if at_once { cases } else { all });
        let chance = seed.wrapping_mul(1_000_003).wrapping_add(made);
        *CHANCE.lock().unwrap() = Chance(chance);
        let ids: Vec<_> = (made..end).map(|case| i64::try_from(case + 1).unwrap()).collect();
        made = end;
        desk.app.script((0..ids.len() * ANSWERS).map(|_| Reply::By(answer)));
        for id in &ids {
            let making = json!({"name": format!("Case {id}"), "tasks": three_tasks()});
            let (status, made) = desk.ask(Method::POST, "", Some(making)).await;
            assert_eq!((status, made["id"].as_i64()), (200, Some(*id)), "{made}");
            assert_eq!(desk.ask(Method::POST, &format!("/{id}/start"), None).await.0, 200);
            if has_word(*id) {
                let until = (desk.app.now() + TimeDelta::hours(24)).to_rfc3339();
                let word = json!({"kind": "persist", "type": "message", "count": 1, "until": until});
                assert_eq!(desk.ask(Method::POST, &format!("/{id}/contexts"), Some(word)).await.0, 200);
            }
        }
        let (chance, open) = (Chance(chance), ids.clone());
        let mut wave = Wave { desk: &mut desk, behind: &mut behind, open, chance, at_once, deaths: 0 };
        wave.watch().await;
        (waves, deaths) = (waves + 1, deaths + wave.deaths);
        for id in ids {
            by_word += u64::from(wave.count(id).await);
            wave.follows(id).await;
        }
        desk.app.script.forget();
    }
    let aside: i64 = query_scalar("SELECT count(*) FROM aside.messages").fetch_one(&mut behind).await.unwrap();
    assert!(aside >= i64::try_from(all).unwrap(), "only {aside} messages were deleted");
    assert!(by_word >= all / 4, "only {by_word} of {all} messages were allowed by a word");
    assert!(deaths >= waves, "only {deaths} deaths in {waves} waves");
    for fault in ["%it is done; %", "%has this very content already%"] {
        let refused = "SELECT count(*) FROM events WHERE kind = 'proposal_refused' AND payload ->> 'why' LIKE $1";
        let refused: i64 = query_scalar(refused).bind(fault).fetch_one(&mut behind).await.unwrap();
        assert!(refused > 0 || cases < WAVE * 8, "no step of a task that is done was repeated: {fault}");
    }
    raw_sql(BACK).execute(&mut behind).await.unwrap();
    assert_eq!(desk.app.count("SELECT count(*) FROM capabilities").await, 0, "nothing was built");
    // The end of the story looks whether all of it follows from events.
}

/// Deletes all messages as a person does it in psql. There were some.
async fn delete_all(desk: &Desk) {
    let gone = query("DELETE FROM messages").execute(&mut desk.app.behind().await).await.unwrap();
    assert!(gone.rows_affected() > 0);
}

#[tokio::test]
async fn campaign_messages_that_are_deleted_by_hand_in_psql_stop_nothing() {
    let mut desk = Desk::start(two_tasks()).await;
    desk.app.rewrites("messages are deleted by hand");
    desk.app.script([call("persist_artifact", note())]);
    desk.present().await;
    // A proposal waits for the person, and the next process finds no message of its turn.
    let approval = desk.asked().await;
    desk.app.crash().await;
    delete_all(&desk).await;
    desk.app.start_again().await;
    desk.present().await;
    desk.app.script([call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}))]);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!(shown["tasks"][0]["status"], "done", "{shown}");
    assert_eq!(shown["tasks"][1]["metadata"]["questions"][0]["text"], "Formal?", "the open question stays: {shown}");
    delete_all(&desk).await;

    desk.app.script([call("generate_message", json!({"task": 2, "key": "hello", "text": "Good day"}))]);
    let answer = json!({"task": 2, "question": "tone", "answer": "Formal"});
    assert_eq!(desk.ask(Method::POST, "/1/answer", Some(answer)).await.0, 200);
    let approval = desk.asked().await;
    delete_all(&desk).await;
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    delete_all(&desk).await;
    let shown = desk.get("/1").await;
    assert_eq!(shown["campaign"]["status"], "completed", "{shown}");
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts WHERE version = 1 AND source = 'agent'").await, 2);

    // The campaign is whole, and replay names what was deleted and nothing else.
    let [tables, events] = [desk.get("/1/export?from=tables").await, desk.get("/1/export?from=events").await];
    assert_eq!(tables.to_string(), events.to_string());
    let (_, verified) = desk.ask(Method::POST, "/1/verify", None).await;
    assert_eq!((&verified["clean"], &verified["requests"]), (&json!(true), &json!(3)), "{verified}");
    let found = level3::replay::check(desk.app.store()).await.unwrap();
    assert!(found.broken.is_empty() && !found.differences.is_empty(), "{found:#?}");
    for row in found.differences {
        assert_eq!((row.table.as_str(), row.column, row.live), ("messages", None, None), "{}", row.row);
    }
}
