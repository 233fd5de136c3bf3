//! The house the faults are done to: the real program, its database, a peer, a scripted model, and
//! clients in many conversations.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use level3::clock::SystemRandom;
use level3::config::Config;
use level3::postgres::Database;
use level3::store::Store;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection};
use tempfile::TempDir;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::peer::Peer;
use crate::process::Process;
use crate::script;
use crate::support::api::ask_at;
use crate::support::{ModelServer, administrator, in_time, share_engine};
use crate::watcher::{Told, Watcher};

/// A database that is not the server's child: its address, as the server gets it and as we do.
#[derive(Clone)]
pub struct Elsewhere {
    pub url: String,
    pub options: PgConnectOptions,
}

pub struct Rig {
    pub folder: TempDir,
    pub data: PathBuf,
    pub peer: Peer,
    pub model: ModelServer,
    pub elsewhere: Option<Elsewhere>,
    pub process: Option<Process>,
    pub kills: usize,
    /// When each process was started.
    pub starts: Vec<DateTime<Utc>>,
    pub address: watch::Sender<Option<SocketAddr>>,
    pub enough: watch::Sender<bool>,
    pub progress: Arc<Notify>,
    /// The clients' conversations, and what each was told.
    pub told: Vec<(i64, Arc<Mutex<Told>>)>,
    pub working: Vec<JoinHandle<()>>,
}

impl Rig {
    /// With an embedded Postgres.
    pub async fn new() -> Self {
        Self::build(None, None).await
    }

    /// On a database elsewhere.
    pub async fn on(elsewhere: Elsewhere) -> Self {
        Self::build(Some(elsewhere), None).await
    }

    /// With its data folder in this place.
    pub async fn at(data: PathBuf) -> Self {
        Self::build(None, Some(data)).await
    }

    async fn build(elsewhere: Option<Elsewhere>, data: Option<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let peer = Peer::start(folder.path()).await;
        let model = script::model(&peer).await;
        let data = data.unwrap_or_else(|| folder.path().join("data"));
        std::fs::create_dir_all(&data).unwrap();
        share_engine(&data);
        Self {
            data,
            folder,
            peer,
            model,
            elsewhere,
            process: None,
            kills: 0,
            starts: Vec::new(),
            address: watch::channel(None).0,
            enough: watch::channel(false).0,
            progress: Arc::default(),
            told: Vec::new(),
            working: Vec::new(),
        }
    }

    /// The settings of a server of this rig, with these besides.
    pub fn settings(&self, more: &[(&str, &str)]) -> Vec<(String, String)> {
        let (base_url, allowed) = (self.model.base_url(), self.peer.address.to_string());
        let mut settings = vec![("LLM_BASE_URL", &*base_url), ("LLM_MODEL", "scripted"), ("LEVEL3_EGRESS_ALLOW", &allowed)];
        settings.push(("HEARTBEAT_INTERVAL", "1"));
        // It is the rig that kills, not the capability or the turn.
        settings.push(("LEVEL3_CAPABILITY_CRASHES", "1000000"));
        settings.push(("LEVEL3_TURN_CRASHES", "1000000"));
        settings.extend(self.elsewhere.as_ref().map(|elsewhere| ("DATABASE_URL", &*elsewhere.url)));
        settings.extend(more);
        settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Starts the server, without waiting for it.
    pub fn spawn(&mut self, more: &[(&str, &str)]) {
        // Nobody needs the model's earlier requests, and in a long run they would be many.
        self.model.requests.lock().unwrap().clear();
        let process = Process::spawn(&self.data, &self.settings(more));
        self.starts.push(process.spawned);
        self.process = Some(process);
    }

    /// Starts the server and lets the clients in; false when it ended before it was ready.
    pub async fn start(&mut self, more: &[(&str, &str)]) -> bool {
        self.spawn(more);
        let address = self.process.as_mut().unwrap().ready().await;
        self.address.send_replace(address);
        address.is_some()
    }

    pub fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("a server runs")
    }

    pub async fn kill(&mut self) {
        let process = self.process.take().expect("a server runs");
        process.kill().await;
        self.kills += 1;
        self.address.send_replace(None);
    }

    /// Waits until the server is gone of its own accord, and keeps its log for who asks why.
    pub async fn wait_for_end(&mut self) -> (std::process::ExitStatus, String) {
        let mut process = self.process.take().expect("a server runs");
        let status = process.ended().await;
        self.address.send_replace(None);
        (status, process.log())
    }

    pub async fn api(&self, method: Method, path: &str) -> (u16, Value) {
        let address = self.address.borrow().expect("a server runs");
        let body = (method == Method::POST).then(|| json!({}));
        ask_at(&format!("http://{address}/api/{path}"), method, body).await
    }

    /// The approvals that wait, by tool call's arguments' name.
    pub async fn waiting(&self) -> Vec<Value> {
        let (_, listed) = self.api(Method::GET, "approvals?state=pending").await;
        listed["approvals"].as_array().expect("a list").clone()
    }

    /// Makes the tables and the capability with an effect of every class; approves it.
    pub async fn set_up(&mut self) {
        // Due tasks are a fault among others here, and a long run has more of them than people let
        // tasks begin turns in an hour.
        let url = format!("http://{}/api/policy/builder", self.address.borrow().expect("a server runs"));
        let (status, told) = ask_at(&url, Method::PUT, Some(json!({"budgets": {"tasks": {"turns_per_hour": null}}}))).await;
        assert_eq!(status, 200, "{told}");
        let mut setting = self.watcher(false).await;
        let said = tokio::spawn(async move { setting.say("setup_0", "setup").await });
        self.approve_next().await;
        said.await.unwrap();
    }

    /// The approvals that wait, as soon as there is one.
    pub async fn asked(&self) -> Vec<Value> {
        loop {
            let next = self.progress.notified();
            let waiting = self.waiting().await;
            if !waiting.is_empty() {
                return waiting;
            }
            in_time("a question", next).await;
        }
    }

    /// Approves the next thing that waits.
    pub async fn approve_next(&self) -> i64 {
        let id = self.asked().await[0]["id"].as_i64().unwrap();
        let (status, told) = self.api(Method::POST, &format!("approvals/{id}/approve")).await;
        assert_eq!(status, 200, "{told}");
        id
    }

    /// A client in a new conversation.
    pub async fn watcher(&mut self, vanishes: bool) -> Watcher {
        let (status, made) = self.api(Method::POST, "conversations").await;
        assert!((200..300).contains(&status), "{made}");
        let conversation = made["conversation"].as_i64().unwrap();
        let told: Arc<Mutex<Told>> = Arc::default();
        self.told.push((conversation, Arc::clone(&told)));
        Watcher {
            conversation,
            vanishes,
            told,
            address: self.address.subscribe(),
            enough: self.enough.subscribe(),
            progress: Arc::clone(&self.progress),
        }
    }

    /// Clients that keep working in `count` conversations at once; every third vanishes again and
    /// again.
    pub async fn work_in(&mut self, count: usize) {
        for number in 0..count {
            let watcher = self.watcher(number % 3 == 2).await;
            self.working.push(tokio::spawn(watcher.keep_saying("work")));
        }
    }

    /// Lets every client come to its end.
    pub async fn finish(&mut self) {
        self.enough.send_replace(true);
        for working in self.working.drain(..) {
            working.await.expect("a client came to its end");
        }
    }

    /// Says one thing in a conversation of its own, through whatever happens.
    pub async fn say(&mut self, id: &str, content: &str) {
        let mut watcher = self.watcher(false).await;
        let (id, content) = (id.to_owned(), content.to_owned());
        self.working.push(tokio::spawn(async move { watcher.say(&id, &content).await }));
    }

    /// Approves whatever waits, as far as the server still answers.
    async fn approve_all(&self) -> Option<()> {
        let address = (*self.address.borrow())?;
        let client = crate::support::api::client();
        let listed = client.get(format!("http://{address}/api/approvals?state=pending")).send().await.ok()?;
        let listed: Value = listed.json().await.ok()?;
        for waiting in listed["approvals"].as_array()? {
            let url = format!("http://{address}/api/approvals/{}/approve", waiting["id"]);
            client.post(url).json(&json!({})).send().await.ok()?;
        }
        Some(())
    }

    /// Approves whatever is asked until the server is dead.
    pub async fn die_approving(&mut self) -> std::process::ExitStatus {
        let mut process = self.process.take().expect("a server runs");
        let status = {
            let ended = process.ended();
            tokio::pin!(ended);
            loop {
                let next = self.progress.notified();
                tokio::select! {
                    status = &mut ended => break status,
                    _ = async { self.approve_all().await; next.await } => {}
                }
            }
        };
        self.kills += 1;
        self.address.send_replace(None);
        status
    }

    /// Approves whatever is asked until every client has come to its end.
    pub async fn finish_approving(&mut self) {
        self.enough.send_replace(true);
        while let Some(working) = self.working.pop() {
            tokio::pin!(working);
            loop {
                let next = self.progress.notified();
                tokio::select! {
                    done = &mut working => break done.expect("a client came to its end"),
                    _ = async { self.approve_all().await; next.await } => {}
                }
            }
        }
    }

    /// Completes when no turn is queued or running, those of due tasks too, which no client waits
    /// for.
    pub async fn settle(&mut self) {
        // The heartbeat of every task that is due is a turn by then, because the server stops only
        // after it.
        let mut watcher = self.watcher(false).await;
        loop {
            let open: i64 = sqlx::query_scalar(
                "SELECT (SELECT count(*) FROM turns WHERE state IN ('queued', 'running'))
                      + (SELECT count(*) FROM tasks WHERE due_at IS NOT NULL AND due_at IS DISTINCT FROM fired_due_at)",
            )
            .fetch_one(&mut self.behind().await)
            .await
            .unwrap();
            if open == 0 {
                return;
            }
            let id = format!("work_settle_{}", watcher.told.lock().unwrap().said);
            watcher.say(&id, &format!("work {id}")).await;
        }
    }

    /// How often the turn of this message was taken up.
    pub async fn fences_of(&self, id: &str) -> i64 {
        let fence = sqlx::query_scalar("SELECT fence FROM turns WHERE client_id = $1").bind(id);
        fence.fetch_one(&mut self.behind().await).await.unwrap()
    }

    /// How many messages are answered so far.
    pub fn answered(&self) -> usize {
        self.told.iter().map(|(_, told)| told.lock().unwrap().ended.len()).sum()
    }

    /// Completes when so many more messages are answered.
    pub async fn answers(&self, more: usize) {
        let wanted = self.answered() + more;
        loop {
            let next = self.progress.notified();
            if self.answered() >= wanted {
                return;
            }
            in_time("answers to messages", next).await;
        }
    }

    /// Completes when the server has logged this, or has ended.
    pub async fn logs(&mut self, words: &str) {
        let process = self.process.as_mut().expect("a server runs");
        let logged = process.logs(words);
        in_time(words, logged).await;
    }

    /// As [`Rig::answers`]; `None` when the server ended first.
    pub async fn answers_or_end(&mut self, more: usize) -> Option<()> {
        let mut process = self.process.take().expect("a server runs");
        let answered = tokio::select! {
            () = self.answers(more) => Some(()),
            _ = process.ended_ever() => None,
        };
        self.process = Some(process);
        answered
    }

    /// A connection that may read and change everything.
    pub async fn behind(&self) -> PgConnection {
        let options = match &self.elsewhere {
            Some(elsewhere) => elsewhere.options.clone(),
            None => administrator(&self.data, "level3"),
        };
        options.options([("search_path", "level3")]).connect().await.unwrap()
    }

    /// Checks the database as the dead left it, as `level3 replay --check` does; no server runs.
    pub async fn check_replay(&self) {
        let url = &self.elsewhere.as_ref().expect("a database that outlives the server").url;
        let settings = [("DATABASE_URL".to_owned(), url.clone())].into();
        let database = Database::open(&Config::read(&settings).unwrap()).await.unwrap();
        let store = Store::open(&database, &SystemRandom).await.unwrap();
        let found = level3::replay::check(&store).await.unwrap();
        store.close().await;
        assert!(found.clean, "what was recorded is not what there is: {found:#?}");
    }

    /// The same, of a running server.
    pub async fn replays(&self) {
        let checked = async {
            loop {
                // A connection that a fault has cut is noticed by whoever uses it next, and told
                // as 503.
                let (status, found) = self.api(Method::GET, "replay/check").await;
                if status != 503 {
                    return (status, found);
                }
            }
        };
        let (status, found) = in_time("an answer of the database", checked).await;
        assert!(status == 200 && found["clean"] == json!(true), "what was recorded is not what there is: {status} {found:#}");
    }

    /// Ends the server in good order.
    pub async fn stop(mut self) {
        self.process().signal(libc::SIGTERM);
        let (status, log) = self.wait_for_end().await;
        assert_eq!(status.code(), Some(0), "{log}");
    }
}
