//! kill -9 while campaigns work: each effect is there once, each task was done once, and a touch of a page of which nobody knows is shown as
//! `unknown`. The recovery from one death is the victim of the next.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;

use reqwest::Method;
use serde_json::{Value, json};

use crate::database::elsewhere;
use crate::number;
use crate::rig::Rig;
use crate::support::Chromium;
use crate::support::api::{ask_at, client};

#[path = "../it/campaigns/browser/site.rs"]
#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
mod site;

use site::Site;

/// The place to die at, and the campaign that brings a server there: one that keeps notes, or one that sends a form.
pub const DEATHS: [(&str, &str); 11] = [
    ("after-load", "notes"),
    ("after-step", "notes"),
    ("mid-ask", "notes"),
    ("mid-decision", "notes"),
    ("mid-approval", "notes"),
    ("mid-proposal", "notes"),
    ("after-done", "notes"),
    ("mid-cycle-end", "notes"),
    ("before-intent", "form"),
    ("after-intent", "form"),
    ("after-send", "form"),
];
/// How often each place is tried for each of `CHAOS_POINTS`.
const ROUNDS: u64 = 6;

/// The tasks of a campaign of this name.
fn tasks(word: &str, name: &str, site: &Site) -> Value {
    let note = |key: &str| json!({"description": format!("Keep the note {key}"), "requires": [{"kind": "artifact_exists", "type": "heuristic", "key": key}]});
    let thanked = json!([{"kind": "page_read", "host": "127.0.0.1", "contains": "Thank you"}]);
    match word {
        "notes" => json!([note("one"), note("two")]),
        _ => json!([{"description": format!("Send {}", site.at(&format!("/ada/{name}"))), "requires": thanked}]),
    }
}

/// The model's answer in a campaign's conversation, by what the snapshot shows alone. `None` if it is asked elsewhere.
pub fn answer(messages: &[Value]) -> Option<Value> {
    if messages.iter().any(|message| message["content"] == "Answer with the word: ready") {
        return Some(json!({"role": "assistant", "content": "ready"}));
    }
    let shown =
        messages.iter().filter_map(|message| message["content"].as_str()).find(|content| content.starts_with("# Campaign "))?;
    let task = shown.lines().find_map(|line| line.strip_prefix("task ")?.strip_suffix(", still unproven:"))?;
    let (_, description) = shown.lines().find(|line| line.starts_with(&format!("{task} [")))?.split_once("] ")?;
    let task: i64 = task.parse().ok()?;
    let tool = |tool: &str, arguments: Value| ("execute_tool", json!({"task": task, "tool": tool, "arguments": arguments}));
    let open = json!({"address": description.strip_prefix("Send ")});
    let button =
        shown.lines().find_map(|line| line.trim().strip_prefix('[')?.strip_suffix("] button “Send”")?.parse::<i64>().ok());
    let (name, arguments) = if let Some(key) = description.strip_prefix("Keep the note ") {
        ("persist_artifact", json!({"task": task, "type": "heuristic", "key": key, "content": "Be brief"}))
    } else if shown.contains("propose browser_open") {
        tool("browser_open", open)
    } else if let Some(node) = button {
        tool("browser_click", json!({"node": node}))
    } else if shown.contains("\nThe page is now at ") {
        tool("browser_read", json!({}))
    } else {
        tool("browser_open", open)
    };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    Some(json!({"role": "assistant", "content": "", "tool_calls": [{"id": "call_0", "type": "function", "function": function}]}))
}

/// A person who watches over campaigns, and approves what is asked.
struct Person<'a> {
    rig: &'a Rig,
    site: &'a Site,
}

impl Person<'_> {
    /// One request; `None` if the server is gone.
    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Option<Value> {
        let address = (*self.rig.address.borrow())?;
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
    async fn order(&self, name: &str, word: &str) -> Option<()> {
        let id = match self.named(name).await? {
            Some(made) => made["id"].clone(),
            None => {
                let new = json!({"name": name, "tasks": tasks(word, name, self.site)});
                self.ask(Method::POST, "/campaigns", Some(new)).await?["id"].clone()
            }
        };
        let made = self.ask(Method::GET, &format!("/campaigns/{id}"), None).await?["campaign"].clone();
        if made["status"] == "initializing" {
            let hosts = json!({"hosts": [self.site.address.to_string()]}).to_string();
            let setting = json!({"type": "environment", "key": "environment", "content": hosts});
            self.ask(Method::POST, &format!("/campaigns/{}/artifacts", made["id"]), Some(setting)).await?;
            let started = self.ask(Method::POST, &format!("/campaigns/{}/start", made["id"]), None).await?;
            assert_eq!(started["status"], "active", "{started}");
        }
        Some(())
    }

    /// Is there for every campaign, and approves what waits. A form that the site has is not sent again. Gives how many have not ended.
    async fn look(&self) -> Option<usize> {
        let listed = self.ask(Method::GET, "/campaigns", None).await?;
        let open: Vec<_> =
            listed["campaigns"].as_array()?.iter().filter(|campaign| campaign["status"] != "completed").cloned().collect();
        for campaign in &open {
            self.ask(Method::POST, &format!("/campaigns/{}/present", campaign["id"]), None).await?;
        }
        let waiting = self.ask(Method::GET, "/approvals?state=pending", None).await?;
        for approval in waiting["approvals"].as_array()? {
            let what = approval["shown"]["what"].to_string();
            let named =
                open.iter().find(|campaign| what.contains(&format!("({}).", campaign["name"].as_str().unwrap_or_default())));
            let sent = named.is_some_and(|campaign| self.site.count(&sends(campaign["name"].as_str().unwrap_or_default())) > 0);
            let deed = if what.contains("Clicks ") && sent { "deny" } else { "approve" };
            self.ask(Method::POST, &format!("/approvals/{}/{deed}", approval["id"]), None).await?;
        }
        Some(open.len())
    }

    /// Orders, watches and approves until the server is gone.
    async fn die(&self, name: &str, word: &str) {
        if self.order(name, word).await.is_some() {
            while self.look().await.is_some() {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Watches and approves until no campaign is open.
    async fn finish(&self) {
        let finished = async {
            while self.look().await.expect("the server answers") > 0 {
                tokio::task::yield_now().await;
            }
        };
        crate::support::in_time("the end of all campaigns", finished).await;
    }
}

/// The request by which the form of a campaign is sent.
fn sends(name: &str) -> String {
    format!("POST /send/{name} text=")
}

#[tokio::test(flavor = "multi_thread")]
async fn death_at_every_point_of_a_cycle_loses_nothing_and_repeats_nothing() {
    let chromium = Chromium::start().await;
    let site = Site::start().await;
    let mut rig = Rig::on(elsewhere("campaigns").await).await;
    let browser = chromium.as_ref().map(|chromium| ("LEVEL3_BROWSER", &*chromium.socket));
    let deaths: Vec<_> = DEATHS.iter().filter(|(_, word)| *word == "notes" || chromium.is_some()).collect();
    let rounds = number("CHAOS_POINTS", 1) * ROUNDS;
    let mut orders = BTreeMap::new();
    for round in 0..rounds {
        for (place, (point, word)) in deaths.iter().enumerate() {
            let (armed, name) = (format!("{point}:abort:1"), format!("{word}-{round}-{place}"));
            assert!(rig.start(&settings(browser, Some(&armed))).await, "{}", rig.process().log());
            orders.insert(name.clone(), *word);
            crate::support::in_time(&armed, Person { rig: &rig, site: &site }.die(&name, word)).await;
            let (ended, log) = rig.wait_for_end().await;
            assert_eq!(ended.signal(), Some(libc::SIGKILL), "{armed}: {log}");
            if round == 0 {
                rig.check_replay().await;
            }
        }
        assert!(rig.start(&settings(browser, None)).await, "{}", rig.process().log());
        let person = Person { rig: &rig, site: &site };
        for (name, word) in &orders {
            person.order(name, word).await.expect("the server answers");
        }
        person.finish().await;
        if round + 1 < rounds {
            rig.kill().await;
        }
    }
    let unknown = judge(&rig, &site, &orders).await;
    let uncertain = deaths.iter().filter(|(point, _)| ["after-intent", "after-send"].contains(point)).count();
    assert_eq!(
        unknown,
        i64::try_from(uncertain).unwrap() * i64::try_from(rounds).unwrap(),
        "after the intent and after the touch nobody knows"
    );
    rig.replays().await;
    crate::tell(&format!(
        "Campaigns: {} deaths at {} places of a cycle, {} campaigns: none lost, nothing repeated, {unknown} unknown",
        u64::try_from(deaths.len()).unwrap() * rounds,
        deaths.len(),
        orders.len(),
    ));
    rig.stop().await;
}

/// The settings of a server that has this browser, with a place to die at.
fn settings<'a>(browser: Option<(&'a str, &'a str)>, armed: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    browser.into_iter().chain(armed.map(|armed| ("LEVEL3_FAILPOINT", armed))).collect()
}

/// Counts the effects of each campaign; gives how many touches are unknown, as the interface shows them.
async fn judge(rig: &Rig, site: &Site, orders: &BTreeMap<String, &str>) -> i64 {
    let address = rig.address.borrow().unwrap();
    let mut behind = rig.behind().await;
    let all: Vec<(i64, String, String)> =
        sqlx::query_as("SELECT id, name, status FROM campaigns ORDER BY name").fetch_all(&mut behind).await.unwrap();
    assert_eq!(
        all.iter().map(|(_, name, _)| name).collect::<Vec<_>>(),
        orders.keys().collect::<Vec<_>>(),
        "each order is there once"
    );
    let mut unknown = 0;
    for (id, name, status) in &all {
        assert_eq!(status, "completed", "{name}");
        let kept: Vec<String> = sqlx::query_scalar(
            "SELECT artifact_key || '@' || version FROM artifacts WHERE campaign_id = $1 AND source = 'agent' ORDER BY 1",
        )
        .bind(id)
        .fetch_all(&mut behind)
        .await
        .unwrap();
        let (wanted, sent) = if orders[name] == "notes" { (vec!["one@1", "two@1"], 0) } else { (vec![], 1) };
        assert_eq!((kept, site.count(&sends(name))), (wanted.into_iter().map(str::to_owned).collect(), sent), "{name}");
        let twice: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT payload #>> '{task,id}' FROM events JOIN campaigns c USING (conversation_id)
                 WHERE c.id = $1 AND kind = 'campaign_task_changed' AND payload #>> '{task,status}' = 'done' GROUP BY 1 HAVING count(*) > 1) AS t",
        )
        .bind(id)
        .fetch_one(&mut behind)
        .await
        .unwrap();
        assert_eq!(twice, 0, "each task was done once: {name}");
        let at = |path: &str| format!("http://{address}/api/campaigns/{id}{path}");
        let (_, verified) = ask_at(&at("/verify"), Method::POST, None).await;
        assert_eq!(verified["clean"], true, "{name}: {verified}");
        let (_, touched) = ask_at(&at("/log?log=events&kind=page_touched"), Method::GET, None).await;
        let shown = touched.as_array().unwrap().iter().filter(|event| event["payload"]["touch"]["state"] == "unknown").count();
        unknown += i64::try_from(shown).unwrap();
    }
    let recorded = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM operations WHERE kind = 'browser' AND state = 'unknown'");
    assert_eq!(recorded.fetch_one(&mut behind).await.unwrap(), unknown, "the ledger says the same");
    unknown
}
