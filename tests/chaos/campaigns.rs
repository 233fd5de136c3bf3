//! kill -9 while campaigns work: each effect is there once, and each task was done once. Deaths
//! over a touch of a page are in `pages`.
//!
//! In every second round a person approves each proposal, and the recovery from one death is the
//! victim of the next. In the others an approval context allows the first proposal of each
//! campaign, and nothing else is under way: so its effect and the end of its cycle are one
//! statement each, and the death is that of this statement.

use std::cell::RefCell;
use std::os::unix::process::ExitStatusExt;

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::Method;
use serde_json::{Value, json};

use crate::database::elsewhere;
use crate::number;
use crate::rig::Rig;
use crate::support::api::{ask_at, client};

/// The places to die at.
pub const DEATHS: [&str; 8] =
    ["after-load", "after-step", "mid-ask", "mid-decision", "mid-approval", "mid-proposal", "after-done", "mid-cycle-end"];
/// How often each place is tried for each of `CHAOS_POINTS`.
const ROUNDS: u64 = 8;
/// The end of the name of a campaign whose first proposal an approval context allows.
const ALLOWED: &str = "-allowed";

/// The tasks of a campaign.
fn tasks() -> Value {
    let note = |key: &str| {
        let kept = json!([{"kind": "artifact_exists", "type": "heuristic", "key": key}]);
        json!({"description": format!("Keep the note {key}"), "requires": kept})
    };
    json!([note("one"), note("two")])
}

/// The model's answer in a campaign's conversation, by what the snapshot shows alone. `None` if it
/// is asked elsewhere.
pub fn answer(messages: &[Value]) -> Option<Value> {
    if messages.iter().any(|message| message["content"] == "Answer with the word: ready") {
        return Some(json!({"role": "assistant", "content": "ready"}));
    }
    let shown =
        messages.iter().filter_map(|message| message["content"].as_str()).find(|content| content.starts_with("# Campaign "))?;
    let task = shown.lines().find_map(|line| line.strip_prefix("task ")?.strip_suffix(", still unproven:"))?;
    let (_, description) = shown.lines().find(|line| line.starts_with(&format!("{task} [")))?.split_once("] ")?;
    let key = description.strip_prefix("Keep the note ")?;
    let task: i64 = task.parse().ok()?;
    let arguments = json!({"task": task, "type": "heuristic", "key": key, "content": "Be brief"});
    let function = json!({"name": "persist_artifact", "arguments": arguments.to_string()});
    Some(json!({"role": "assistant", "content": "", "tool_calls": [{"id": "call_0", "type": "function", "function": function}]}))
}

/// A person who watches over campaigns, and approves what is asked.
pub struct Person<'a>(pub &'a Rig);

impl Person<'_> {
    /// One request; `None` if the server is gone.
    pub async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Option<Value> {
        let address = (*self.0.address.borrow())?;
        let mut request = client().request(method, format!("http://{address}/api{path}"));
        if let Some(body) = body {
            request = request.json(&body);
        }
        request.send().await.ok()?.json().await.ok()
    }

    /// The campaign of this name, if there is one.
    async fn named(&self, name: &str) -> Option<Option<Value>> {
        let listed = self.ask(Method::GET, "/campaigns", None).await?;
        Some(listed["campaigns"].as_array()?.iter().find(|campaign| campaign["name"] == name).cloned())
    }

    /// Makes the campaign of this name, unless a server before made it, and starts it.
    async fn order(&self, name: &str) -> Option<()> {
        let id = match self.named(name).await? {
            Some(made) => made["id"].clone(),
            None => {
                let new = json!({"name": name, "tasks": tasks()});
                self.ask(Method::POST, "/campaigns", Some(new)).await?["id"].clone()
            }
        };
        let shown = self.ask(Method::GET, &format!("/campaigns/{id}"), None).await?;
        let made = &shown["campaign"];
        assert_eq!(made["id"], id, "{shown}");
        if made["status"] == "initializing" {
            if name.ends_with(ALLOWED) && shown["contexts"] == json!([]) {
                self.allow(made).await?;
            }
            let started = self.ask(Method::POST, &format!("/campaigns/{}/start", made["id"]), None).await?;
            assert_eq!(started["status"], "active", "{started}");
        }
        Some(())
    }

    /// Lets one artifact of a campaign be kept without a question.
    async fn allow(&self, made: &Value) -> Option<()> {
        let at: DateTime<Utc> = serde_json::from_value(made["created_at"].clone()).expect("a time");
        let until = (at + TimeDelta::hours(1)).to_rfc3339();
        let word = json!({"kind": "persist", "type": "heuristic", "count": 1, "until": until});
        let told = self.ask(Method::POST, &format!("/campaigns/{}/contexts", made["id"]), Some(word)).await?;
        assert!(told["told"].is_string(), "{told}");
        Some(())
    }

    /// Is there for every campaign, and approves what waits. Gives those that have not ended.
    async fn look(&self) -> Option<Vec<Value>> {
        let listed = self.ask(Method::GET, "/campaigns", None).await?;
        let open: Vec<_> =
            listed["campaigns"].as_array()?.iter().filter(|campaign| campaign["status"] != "completed").cloned().collect();
        for campaign in &open {
            self.ask(Method::POST, &format!("/campaigns/{}/present", campaign["id"]), None).await?;
        }
        let waiting = self.ask(Method::GET, "/approvals?state=pending", None).await?;
        for approval in waiting["approvals"].as_array()? {
            self.ask(Method::POST, &format!("/approvals/{}/approve", approval["id"]), None).await?;
        }
        Some(open)
    }

    /// Orders, watches and approves until the server is gone.
    async fn die(&self, name: &str) {
        if self.order(name).await.is_some() {
            while self.look().await.is_some() {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Watches and approves until no campaign is open.
    async fn finish(&self) {
        let left = Left(RefCell::default());
        let finished = async {
            loop {
                let open = self.look().await.expect("the server answers");
                if open.is_empty() {
                    break;
                }
                left.0.replace(open);
                tokio::task::yield_now().await;
            }
        };
        crate::support::in_time("the end of all campaigns", finished).await;
    }
}

/// The campaigns that had not ended: if they never do, they are told.
struct Left(RefCell<Vec<Value>>);

impl Drop for Left {
    fn drop(&mut self) {
        if std::thread::panicking() {
            crate::tell(&format!("still open: {:#}", json!(*self.0.borrow())));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn death_at_every_point_of_a_cycle_loses_nothing_and_repeats_nothing() {
    let mut rig = Rig::on(elsewhere("campaigns").await).await;
    let rounds = number("CHAOS_POINTS", 1) * ROUNDS;
    let (mut orders, mut settled): (Vec<String>, usize) = (Vec::new(), 0);
    for round in 0..rounds {
        let allowed = round % 2 == 1;
        let end = if allowed { ALLOWED } else { "" };
        for (place, point) in DEATHS.iter().enumerate() {
            if allowed && place > 0 {
                settle(&mut rig, &orders[settled..]).await;
                settled = orders.len();
                rig.kill().await;
            }
            let armed = format!("{point}:abort:1");
            assert!(rig.start(&[("LEVEL3_FAILPOINT", &armed)]).await, "{}", rig.process().log());
            orders.push(format!("notes-{round:03}-{place}{end}"));
            crate::support::in_time(&armed, Person(&rig).die(&orders[orders.len() - 1])).await;
            let (ended, log) = rig.wait_for_end().await;
            assert_eq!(ended.signal(), Some(libc::SIGKILL), "{armed}: {log}");
            if round == 0 {
                rig.check_replay().await;
            }
        }
        settle(&mut rig, &orders[settled..]).await;
        settled = orders.len();
        if round + 1 < rounds {
            rig.kill().await;
        }
    }
    judge(&rig, &orders).await;
    rig.replays().await;
    crate::tell(&format!(
        "Campaigns: {} deaths at {} places of a cycle, {} campaigns: none lost, nothing repeated",
        orders.len(),
        DEATHS.len(),
        orders.len(),
    ));
    rig.stop().await;
}

/// A server that dies of nothing carries these orders to their end.
async fn settle(rig: &mut Rig, orders: &[String]) {
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    let person = Person(rig);
    for name in orders {
        person.order(name).await.expect("the server answers");
    }
    person.finish().await;
}

/// Counts the effects of each campaign.
async fn judge(rig: &Rig, orders: &[String]) {
    let address = rig.address.borrow().unwrap();
    let mut behind = rig.behind().await;
    let all: Vec<(i64, String, String)> =
        sqlx::query_as("SELECT id, name, status FROM campaigns ORDER BY name").fetch_all(&mut behind).await.unwrap();
    assert_eq!(
        all.iter().map(|(_, name, _)| name).collect::<Vec<_>>(),
        orders.iter().collect::<Vec<_>>(),
        "each order is there once"
    );
    for (id, name, status) in &all {
        assert_eq!(status, "completed", "{name}");
        let kept: Vec<String> = sqlx::query_scalar(
            "SELECT artifact_key || '@' || version FROM artifacts WHERE campaign_id = $1 AND source = 'agent' ORDER BY 1",
        )
        .bind(id)
        .fetch_all(&mut behind)
        .await
        .unwrap();
        assert_eq!(kept, ["one@1", "two@1"], "{name}");
        let (unasked, left): (i64, Option<i64>) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM artifacts WHERE campaign_id = $1 AND approval_id IS NULL),
                    (SELECT sum(uses_left) FROM campaign_contexts WHERE campaign_id = $1)",
        )
        .bind(id)
        .fetch_one(&mut behind)
        .await
        .unwrap();
        let expected = if name.ends_with(ALLOWED) { (1, Some(0)) } else { (0, None) };
        assert_eq!((unasked, left), expected, "a word is counted down with the one effect that it allowed: {name}");
        let done: Vec<i64> = sqlx::query_scalar(
            "SELECT count(*) FROM events JOIN campaigns c USING (conversation_id)
             WHERE c.id = $1 AND kind = 'campaign_task_changed' AND payload #>> '{task,status}' = 'done' GROUP BY payload #>> '{task,id}'",
        )
        .bind(id)
        .fetch_all(&mut behind)
        .await
        .unwrap();
        assert_eq!(done, [1, 1], "each task was done once: {name}");
        let (_, verified) = ask_at(&format!("http://{address}/api/campaigns/{id}/verify"), Method::POST, None).await;
        assert_eq!(verified["clean"], true, "{name}: {verified}");
    }
}
