//! One whole campaign in a real Chromium: twelve profiles are searched, read and scored, a message
//! is drafted, approved, typed and sent by a form. The model goes by what the snapshot shows and by
//! nothing else. Somebody refuses one message, goes away before another, and the process dies over
//! a third: the site counts exactly what was approved.

use chrono::TimeDelta;
use level3::model::{Entry, Request};
use reqwest::Method;
use serde_json::{Value, json};

use super::site::{PEOPLE, Site, name_of};
use super::{Desk, Visit};
use crate::support::proposer::{eligible, part, step_in, step_to};
use crate::support::{Chromium, Client, Reply, TestApp, api, call, text};

/// The answers of the model that the campaign may use up.
const ANSWERS: usize = 200;
/// The most times that the person looks.
const LOOKS: usize = 200;
/// The message.
const HELLO: &str = "Good day, may I show you something";
/// The config of scores.
const SCORES: &str = r#"{"rules": [{"attribute": "title", "equals": "CTO", "weight": 7}]}"#;

/// The tasks that a person writes at the beginning.
fn tasks(site: &Site) -> Value {
    let file = |key: &str| json!({"kind": "artifact_exists", "type": "file", "key": key});
    let read = |contains: String| json!({"kind": "page_read", "host": "127.0.0.1", "contains": contains});
    let search = json!({"description": format!("Search at {} for: engineer", site.at("/search")),
        "requires": [read(format!("{PEOPLE} people were found")), file("results")]});
    let person = |n: usize| {
        let requires = [read(format!("{} works as", name_of(n))), file(&format!("person-{n:02}"))];
        json!({"description": format!("Read {}", name_of(n)), "preconditions": [file("results")], "requires": requires,
            "needs": [{"type": "file", "key": "results"}]})
    };
    let people: Vec<_> = (1..=PEOPLE).map(|n| file(&format!("person-{n:02}"))).collect();
    let score = json!({"description": "Score them", "preconditions": people, "needs": [{"type": "file"}], "requires": [
        file("people"), {"kind": "artifact_exists", "type": "lead_scoring_config", "key": "scores"},
        {"kind": "tool_succeeded", "tool": "import_leads", "arguments": {"file": "people"}}]});
    let draft = json!({"description": "Draft it", "preconditions": [{"kind": "leads_at_least", "status": "new", "count": PEOPLE}],
        "requires": [{"kind": "artifact_exists", "type": "message", "key": "hello"}]});
    let mut all = vec![search];
    all.extend((1..=PEOPLE).map(person));
    all.extend([score, draft]);
    json!(all)
}

/// The artifacts of a snapshot: type and key, and the content.
fn artifacts(snapshot: &str) -> Vec<(String, String)> {
    let mut kept: Vec<(String, Vec<&str>)> = Vec::new();
    for line in part(snapshot, "Artifacts").lines().filter(|line| *line != "===") {
        match line.strip_prefix("<artifact ").and_then(|head| head.split_once(" version")) {
            Some((name, _)) => kept.push((name.to_owned(), Vec::new())),
            None => kept.last_mut().expect("the head of an artifact").1.push(line),
        }
    }
    kept.into_iter().map(|(name, content)| (name, content.join("\n"))).collect()
}

fn artifact(snapshot: &str, name: &str) -> String {
    let found = artifacts(snapshot).into_iter().find(|(kept, _)| kept == name);
    found.unwrap_or_else(|| panic!("no {name}: {snapshot}")).1
}

/// The lines of the page's links: name and address.
fn links(page: &str) -> Vec<String> {
    let link = |line: &str| {
        let (_, rest) = line.split_once("] link “")?;
        let (name, address) = rest.split_once("” → ")?;
        Some(format!("{name} {address}"))
    };
    page.lines().filter_map(link).collect()
}

/// The model.
fn answer(request: &Request) -> Reply {
    let words = request.entries.iter().rev().find_map(|entry| if let Entry::User(words) = entry { Some(words) } else { None });
    let snapshot = words.expect("words");
    if !snapshot.starts_with("# Campaign ") {
        return text("ready");
    }
    let (task, description) = eligible(snapshot).swap_remove(0);
    let (verb, rest) = description.split_once(' ').expect("a verb");
    let keeps = |kind: &str, key: &str, content: &str| {
        call("persist_artifact", json!({"task": task, "type": kind, "key": key, "content": content}))
    };
    let page = part(snapshot, "Page");
    match verb {
        "Search" => {
            let (address, wanted) = rest.strip_prefix("at ").unwrap().split_once(" for: ").unwrap();
            goes(task, page, address).unwrap_or_else(|| {
                if page.contains(&format!("{PEOPLE} people were found")) {
                    keeps("file", "results", &links(page).join("\n"))
                } else {
                    fills(task, page, "searchbox “Find”", wanted, "button “Search”")
                }
            })
        }
        "Read" => {
            let results = artifact(snapshot, "file results");
            let address = results.lines().find_map(|line| line.strip_prefix(rest)?.strip_prefix(' ')).expect("its address");
            goes(task, page, address).unwrap_or_else(|| {
                let works = page.lines().find_map(|line| line.strip_prefix(&format!("{rest} works as "))).expect("the title");
                keeps("file", &rest.to_lowercase().replace(' ', "-"), &format!("{rest},{address},{works}"))
            })
        }
        "Score" if snapshot.contains("- the file people is kept") => {
            let people = artifacts(snapshot).into_iter().filter(|(name, _)| name.starts_with("file person-"));
            let rows: Vec<_> = people.map(|(_, content)| content).collect();
            keeps("file", "people", &format!("full_name,profile_url,title\n{}\n", rows.join("\n")))
        }
        "Score" if snapshot.contains("- the lead_scoring_config scores is kept") => {
            keeps("lead_scoring_config", "scores", SCORES)
        }
        "Score" => does(task, "import_leads", json!({"file": "people"})),
        "Draft" => call("generate_message", json!({"task": task, "key": "hello", "text": HELLO})),
        _ => {
            let address = rest.rsplit_once(' ').unwrap().1;
            let hello = artifact(snapshot, "message hello");
            goes(task, page, address).unwrap_or_else(|| fills(task, page, "textbox “Message”", &hello, "button “Send”"))
        }
    }
}

fn does(task: i64, tool: &str, arguments: Value) -> Reply {
    call("execute_tool", json!({"task": task, "tool": tool, "arguments": arguments}))
}

/// The step to a reading of this address; `None` if it is there.
fn goes(task: i64, page: &str, address: &str) -> Option<Reply> {
    step_to(page, address).map(|(tool, arguments)| does(task, tool, arguments))
}

/// Types into a field, or sends what was typed.
fn fills(task: i64, page: &str, field: &str, words: &str, button: &str) -> Reply {
    let (tool, arguments) = step_in(page, field, words, button);
    does(task, tool, arguments)
}

/// The person, at a page that is open.
struct Person {
    visit: Visit,
    page: Option<Client>,
    /// The numbers of those who are written to, the best first.
    best: Vec<usize>,
    /// True once the person went away and came back.
    was_away: bool,
}

/// The deed of the person about something that waits.
#[derive(Debug, PartialEq, Eq)]
enum Deed {
    Approve,
    /// The page is closed first.
    Away,
    /// The process dies while it is carried out.
    Die,
    Deny,
}

impl Person {
    /// Starts a campaign; `None` if there is no Chromium.
    async fn start() -> Option<Self> {
        let chromium = Chromium::start().await?;
        let site = Site::start().await;
        let app = TestApp::with(&[("LEVEL3_BROWSER", &chromium.port())]).await;
        let visit = Visit { desk: Desk { app }, site, chromium };
        visit.desk.app.script((0..ANSWERS).map(|_| Reply::By(answer)));
        let hosts = json!({"hosts": [visit.site.address.to_string()]}).to_string();
        let made = json!({"name": "Outreach", "tasks": tasks(&visit.site)});
        let kept = json!({"type": "environment", "key": "environment", "content": hosts});
        for (path, body) in [("", made), ("/1/artifacts", kept), ("/1/start", json!({}))] {
            let (status, told) = visit.desk.ask(Method::POST, path, Some(body)).await;
            assert_eq!(status, 200, "{path}: {told}");
        }
        // The search, and the opening of each profile; what is kept of them.
        visit.allow(3 + u32::try_from(PEOPLE).unwrap()).await;
        let until = (visit.desk.app.now() + TimeDelta::hours(20)).to_rfc3339();
        let files = json!({"kind": "persist", "type": "file", "count": 1 + PEOPLE, "until": until});
        assert_eq!(visit.desk.ask(Method::POST, "/1/contexts", Some(files)).await.0, 200);
        let page = Some(visit.desk.app.connect().await);
        Some(Self { visit, page, best: Vec::new(), was_away: false })
    }

    /// The page says that somebody is there; it is opened if it was closed.
    async fn present(&mut self) {
        if self.page.is_none() {
            self.page = Some(self.visit.desk.app.connect().await);
        }
        self.page.as_mut().unwrap().send(json!({"type": "present", "campaign": 1})).await;
        // The frames have an order: this one is answered after the sign was taken.
        self.page.as_mut().unwrap().send(json!({"type": "present", "campaign": 9})).await;
        self.page.as_mut().unwrap().until(|frame| frame["type"] == "error").await;
    }

    /// Looks, and decides what waits, until the campaign waits for nothing but a task that is
    /// blocked.
    async fn watch(&mut self) {
        for _ in 0..LOOKS {
            self.present().await;
            let app = &self.visit.desk.app;
            app.until("SELECT count(*) FROM turns WHERE state IN ('queued', 'running')", 0).await;
            let (_, found) = api::ask(app, Method::GET, "/api/approvals?state=pending", None).await;
            match found["approvals"].as_array().unwrap().first().cloned() {
                Some(approval) => self.decide(&approval).await,
                None => {
                    let shown = self.visit.desk.get("/1").await;
                    let waits = shown["campaign"]["waits_for"].as_str().unwrap_or_default();
                    if waits.contains("it is blocked") {
                        return;
                    }
                    self.visit.desk.app.advance(5);
                }
            }
        }
        panic!("it has no end: {}", self.visit.desk.get("/1").await);
    }

    async fn decide(&mut self, approval: &Value) {
        let shown = approval["shown"]["what"].to_string();
        if shown.contains("Keeps the message hello") {
            self.choose().await;
        }
        match self.deed(&shown) {
            Deed::Approve => self.visit.desk.decide(approval, "approve").await,
            Deed::Away => self.leave(approval).await,
            Deed::Die => self.die(approval).await,
            Deed::Deny => {
                self.visit.desk.decide(approval, "deny").await;
                let tasks = self.visit.desk.get("/1").await["tasks"].clone();
                let refused = format!("Write to {}", name_of(self.best[3]));
                let task =
                    tasks.as_array().unwrap().iter().find(|task| task["description"].as_str().unwrap().starts_with(&refused));
                let path = format!("/1/tasks/{}", task.unwrap()["id"]);
                let block = json!({"deed": "block", "reason": "not this one"});
                assert_eq!(self.visit.desk.ask(Method::POST, &path, Some(block)).await.0, 200);
            }
        }
    }

    fn deed(&self, shown: &str) -> Deed {
        let of = |nth: usize| {
            let sends = self.best.get(nth).is_some_and(|n| shown.contains(&format!("/people/{n}\"")));
            sends && shown.contains("button “Send”")
        };
        match (of(1) && !self.was_away, of(2), of(3)) {
            (true, ..) => Deed::Away,
            (_, true, _) => Deed::Die,
            (_, _, true) => Deed::Deny,
            _ => Deed::Approve,
        }
    }

    /// The four best are to be written to, by the scores that the person sees.
    async fn choose(&mut self) {
        let leads = self.visit.desk.get("/1/leads").await;
        let leads = leads["leads"].as_array().unwrap().clone();
        assert_eq!(leads.len(), PEOPLE);
        for lead in &leads[..4] {
            assert_eq!((&lead["weight_score"], &lead["attributes"]["title"]), (&json!(7), &json!("CTO")), "{lead}");
            let address = lead["profile_url"].as_str().unwrap();
            self.best.push(address.rsplit_once('/').unwrap().1.parse().unwrap());
            let name = lead["full_name"].as_str().unwrap();
            let requires =
                json!([{"kind": "page_read", "host": "127.0.0.1", "contains": format!("Thank you, {name} has your message")}]);
            let task = json!({"description": format!("Write to {name} at {address}"), "requires": requires,
                "preconditions": [{"kind": "artifact_exists", "type": "message", "key": "hello"}],
                "needs": [{"type": "message", "key": "hello"}]});
            assert_eq!(self.visit.desk.ask(Method::POST, "/1/tasks", Some(task)).await.0, 200);
        }
        assert_eq!(leads[4]["weight_score"], 0, "nobody else has points");
    }

    /// The page is closed with the approval given: nothing is sent, and the campaign waits.
    async fn leave(&mut self, approval: &Value) {
        let desk = &self.visit.desk;
        self.page = None;
        desk.app.advance(41);
        let before = self.visit.site.sent();
        desk.decide(approval, "approve").await;
        desk.app.run_until_idle().await;
        let shown = desk.get("/1").await;
        assert!(shown["campaign"]["waits_for"].as_str().unwrap().contains("nobody is there"), "{shown}");
        let ended = desk.get("/1/log?log=events&kind=cycle_ended").await;
        assert!(ended.as_array().unwrap().last().unwrap().to_string().contains("not run: nobody is there"), "{ended}");
        assert_eq!(self.visit.site.sent(), before);
        self.was_away = true;
    }

    /// The process dies after the site has the message, and before it has answered.
    async fn die(&mut self, approval: &Value) {
        let message = sent_to(self.best[2]);
        self.visit.site.holds_answers().await;
        self.visit.desk.decide(approval, "approve").await;
        self.visit.site.asked_for(&message).await;
        self.page = None;
        self.visit.desk.app.crash().await;
        self.visit.desk.app.start_again().await;
        self.visit.desk.app.run_until_idle().await;
        let touch = self.visit.touch().await;
        assert_eq!(touch["state"], "unknown", "{touch}");
        assert_eq!(self.visit.site.count(&message), 1);
    }
}

/// The message as the site has it.
fn sent_to(number: usize) -> String {
    format!("POST /people/{number}/send text={}", HELLO.replace(", ", "%2C+").replace(' ', "+"))
}

#[tokio::test(flavor = "multi_thread")]
async fn campaign_of_twelve_profiles_writes_to_those_whom_a_person_approved_and_to_nobody_else() {
    let Some(mut person) = Person::start().await else { return };
    person.watch().await;
    let Person { visit, best, .. } = person;
    let desk = &visit.desk;
    assert_eq!(best, [3, 6, 9, 12]);
    assert_eq!(visit.site.sent(), [3, 6, 9].map(sent_to), "each that was approved once, and no other");
    for n in 1..=PEOPLE {
        assert!(visit.site.count(&format!("GET /people/{n}")) > 0, "profile {n} was read");
    }
    let shown = desk.get("/1").await;
    let open: Vec<_> = shown["tasks"].as_array().unwrap().iter().filter(|task| task["status"] != "done").collect();
    assert!(open.len() == 1 && open[0]["status"] == "blocked", "{open:?}");
    let unknown = "SELECT count(*) FROM operations WHERE kind = 'browser' AND state = 'unknown'";
    assert_eq!(desk.app.count(unknown).await, 1, "the one over which the process died");
    let sends = "SELECT count(*) FROM events WHERE kind = 'page_touched' AND payload #>> '{touch,node,name}' = 'Send'
                 AND payload #>> '{touch,state}' IN ('done', 'unknown')";
    assert_eq!(desk.app.count(sends).await, 3);
    let requests = desk.app.script.requests();
    assert!(requests.iter().skip(1).all(|request| request.entries.len() == 2), "rules and snapshot, no message");
    desk.app.script.forget();
    desk.check().await;
}
