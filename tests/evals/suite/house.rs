//! The whole server with a database of its own, a peer, and a person who decides.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use level3::app::{App, DataFolder, Opening, Outside, listen};
use level3::clock::{Clock, SystemClock, SystemRandom};
use level3::config::Config;
use level3::domain::{CallRequest, ConversationId, TurnId};
use level3::egress::SystemResolver;
use level3::model::choice::ModelSource;
use level3::postgres::{Database, logins};
use level3::telemetry::Scrubber;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::ConnectOptions;
use tempfile::TempDir;

use super::{Person, Task};
use crate::support::api::ask_at;
use crate::support::{Client, Peer, cluster, share_engine};

pub struct House {
    pub peer: Peer,
    app: App,
    database: String,
    /// The conversation in which the person talks to the agent.
    talk: ConversationId,
    /// The one of the person's orders.
    aside: ConversationId,
    _folder: TempDir,
}

impl House {
    /// Starts a server whose model is `models`, for a talk with this profile, with the settings of
    /// `config` as far as they are not about places.
    pub async fn start(profile: &str, models: Arc<ModelSource>, mut config: Config, peer: Peer) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let database = format!("evals{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = tempfile::tempdir().unwrap();
        config.data_dir = folder.path().to_owned();
        config.listen = "127.0.0.1:0".parse().unwrap();
        config.token = None;
        config.egress_allow = [peer.address].into();
        share_engine(folder.path());
        let outside = Outside {
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            models,
            scrubber: Scrubber::default(),
            profiles: Default::default(),
            tools: Vec::new(),
            resolver: Arc::new(SystemResolver),
            connections: level3::http::ConnectionLimits::within(1024),
            loopback: Default::default(),
        };
        let taken = DataFolder::take(&config.data_dir, &SystemRandom).unwrap();
        let listener = listen(config.listen).await.unwrap();
        let opening = Opening::begin(&taken, &outside);
        let inside = Database::inside(cluster(), &database);
        let app = App::start(&config, taken, opening, &inside, listener, outside).await.unwrap();
        let (owners, now) = (app.store().owners(), SystemClock.now());
        let talk = owners.main_conversation_of(profile, now).await.unwrap();
        let aside = owners.create_conversation_of(profile, now).await.unwrap();
        Self { peer, app, database, talk, aside, _folder: folder }
    }

    /// Makes everything that a task expects to find.
    pub async fn prepare(&self, task: &Task) {
        for (name, value) in &task.secrets {
            self.api(Method::PUT, &format!("secrets/{name}"), Some(json!({ "value": value }))).await;
        }
        for (tool, arguments) in &task.before {
            let (ok, result) = self.order(tool, arguments.clone()).await;
            assert!(ok, "{}: {tool}({arguments}): {result}", task.name);
        }
        if task.read_only {
            self.api(Method::PUT, "policy/builder", Some(json!({ "mode": "read_only" }))).await;
        }
    }

    /// Says something to the agent and lives through the turn.
    pub async fn say(&self, content: &str, person: Person) {
        let mut client = Client::connect(self.app.address()).await;
        client.send(json!({ "type": "message", "content": content, "conversation": self.talk })).await;
        let acknowledged = client.until(|frame| frame["state"] == "queued").await;
        let turn = acknowledged.last().unwrap()["turn"].as_i64().unwrap();
        self.live_through(turn, person).await;
    }

    /// Every event of the talk, oldest first.
    pub async fn transcript(&self) -> Vec<Value> {
        let said =
            sqlx::query_scalar("SELECT payload FROM events WHERE conversation_id = $1 ORDER BY sequence").bind(self.talk.0);
        said.fetch_all(&mut self.behind().await).await.unwrap()
    }

    /// Lives through the turn of a task that fell due. Returns at once if there is no such task,
    /// and none can still be made.
    pub async fn wake(&self, person: Person) {
        let mut events = self.app.store().signals().events();
        // In one statement: between two, the task could fire and be seen by neither.
        const FIRED_AND_WAITS: &str = "SELECT (SELECT max(turn_id) FROM turns WHERE origin = 'task'),
            EXISTS (SELECT FROM tasks WHERE due_at <= now() AND due_at IS DISTINCT FROM fired_due_at)";
        loop {
            let (turn, waits): (Option<i64>, bool) =
                sqlx::query_as(FIRED_AND_WAITS).fetch_one(&mut self.behind().await).await.unwrap();
            if let Some(turn) = turn {
                self.live_through(turn, person).await;
                return;
            }
            if !waits {
                return;
            }
            events.recv().await.ok();
        }
    }

    /// A call that the person makes, and its outcome.
    pub async fn order(&self, tool: &str, arguments: Value) -> (bool, String) {
        let request = CallRequest { id: "order".into(), name: tool.to_owned(), arguments: arguments.to_string() };
        let turn = self.app.store().owners().queue_command(self.aside, tool, request, SystemClock.now()).await.unwrap();
        let TurnId(turn) = turn;
        let told = self.live_through(turn, Person::Approves).await;
        let result = &told["results"][0];
        (result["ok"] == true, result["result"].as_str().unwrap_or("no result").to_owned())
    }

    /// Waits for the end of a turn, and decides its approvals.
    async fn live_through(&self, turn: i64, person: Person) -> Value {
        let word = match person {
            Person::Approves => "approve",
            Person::Denies => "deny",
        };
        loop {
            let told = self.api(Method::GET, &format!("turns/{turn}?wait=true"), None).await;
            if let Some(approval) = told["approval"].as_i64() {
                // A stop may have voided it meanwhile.
                self.api(Method::POST, &format!("approvals/{approval}/{word}"), Some(json!({}))).await;
            } else if !matches!(told["state"].as_str(), Some("queued" | "running" | "awaiting_approval")) {
                return told;
            }
        }
    }

    async fn api(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        ask_at(&format!("http://{}/api/{path}", self.app.address()), method, body).await.1
    }

    /// A connection that may read and change everything.
    pub async fn behind(&self) -> sqlx::PgConnection {
        cluster().database(&self.database).options([("search_path", "level3")]).connect().await.unwrap()
    }

    /// Takes it all down, whatever is under way.
    pub async fn end(self) {
        drop(self.app);
        logins::drop_database(&cluster(), &self.database).await.expect("the database goes");
    }
}
