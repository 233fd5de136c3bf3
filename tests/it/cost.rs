//! The cost of a turn in statements and commits, counted on the wire between the server and its
//! database. A statement more in a turn fails here. It counts whatever has something done, `BEGIN`
//! and `COMMIT` too; not what comes with time. A turn with a tool has two steps: it costs a simple
//! turn and a tool step more.
//!
//! The pool of sqlx pings a connection each time it is given back, and has no option against it
//! (`return_to_pool`): that is counted apart. The server's own connections stay out of the pool
//! while they are in use (`store::connections`), so only the agent's are pinged, what had a
//! transaction, and on a busy machine one that rested for a second.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::TimeDelta;
use level3::domain::ConversationId;
use serde_json::{Value, json};
use sqlx::Row;
use tokio::sync::Notify;

use crate::support::{Client, Reply, Sent, TestApp, call, in_time, make_tasks, text};

/// So many turns are counted together, so that one statement that comes a little late changes
/// nothing.
const TURNS: usize = 5;

/// The cost of one turn.
#[derive(Debug)]
pub struct Cost {
    /// Statements on the server's own login.
    pub server: usize,
    /// Statements on the agent's logins.
    pub agent: usize,
    /// Pings of connections that were given back, on all logins.
    pub pings: usize,
    /// Transactions that wrote something.
    pub commits: usize,
}

impl Cost {
    /// The failure says what it costs now: a figure that is lowered is lowered here as well.
    pub fn is_at_most(&self, most: &Cost) {
        self.with("it", most);
    }

    /// The same of a turn with this in it.
    fn with(&self, what: &str, most: &Cost) {
        let statements = self.server <= most.server && self.agent <= most.agent;
        let within = statements && self.pings <= most.pings && self.commits <= most.commits;
        assert!(within, "a turn costs {self:?}, and may cost {most:?}, with {what}; the statements stand above");
    }
}

/// The transactions whose rows are there.
async fn writers(app: &TestApp) -> BTreeSet<String> {
    let mut behind = app.behind().await;
    let tables = "SELECT string_agg(format('SELECT xmin::text AS writer FROM %I.%I', schemaname, tablename), ' UNION ')
                  FROM pg_tables WHERE schemaname IN ('level3', 'agent')";
    let every: String = sqlx::query_scalar(tables).fetch_one(&mut behind).await.unwrap();
    let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(every)).fetch_all(&mut behind).await.unwrap();
    rows.iter().map(|row| row.get("writer")).collect()
}

/// The cost of a turn with these replies of the model, in the middle of a conversation.
async fn cost(app: &TestApp, client: &mut Client, replies: impl Fn(usize) -> Vec<Reply>) -> Cost {
    let conversation = client.hello["conversation"].clone();
    cost_in(&conversation, app, client, replies).await
}

/// The same in this conversation.
async fn cost_in(conversation: &Value, app: &TestApp, client: &mut Client, replies: impl Fn(usize) -> Vec<Reply>) -> Cost {
    // The first turn opens connections and prepares statements.
    turn(conversation, app, client, replies(0)).await;
    counted(app, TURNS, async {
        for number in 1..=TURNS {
            turn(conversation, app, client, replies(number)).await;
        }
    })
    .await
}

/// The cost of each of so many turns that run here.
pub async fn counted(app: &TestApp, turns: usize, run: impl Future<Output = ()>) -> Cost {
    let before = writers(app).await;
    app.sent();
    run.await;
    let sent = app.sent();
    let commits = writers(app).await.difference(&before).count();
    let (pings, statements): (Vec<_>, Vec<_>) = sent.iter().partition(|sent| sent.text.is_empty());
    let (agent, server): (Vec<_>, Vec<_>) = statements.into_iter().partition(|sent| sent.login.contains("_agent"));
    tell(&sent);
    let each = |all: usize| (all + turns / 2) / turns;
    Cost { server: each(server.len()), agent: each(agent.len()), pings: each(pings.len()), commits: each(commits) }
}

async fn turn(conversation: &Value, app: &TestApp, client: &mut Client, replies: Vec<Reply>) {
    app.script(replies);
    client.send(json!({ "type": "message", "content": "go on", "conversation": conversation })).await;
    client.turn().await;
}

/// Shown if the test fails.
#[allow(clippy::print_stdout, reason = "a test that fails shows what it printed")]
fn tell(sent: &[Sent]) {
    for Sent { connection, login, text } in sent {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        println!("{connection} {login}: {}", words.chars().take(110).collect::<String>());
    }
    println!();
}

async fn started() -> (TestApp, Client) {
    let app = TestApp::counted().await;
    let client = app.connect().await;
    (app, client)
}

#[tokio::test]
async fn a_turn_without_tools() {
    let (app, mut client) = started().await;
    let cost = cost(&app, &mut client, |_| vec![text("yes")]).await;
    cost.is_at_most(&Cost { server: 2, agent: 0, pings: 1, commits: 2 });
}

#[tokio::test]
async fn a_turn_beside_another_server() {
    let (app, mut client) = started().await;
    let other = app.beside().await;
    // Both servers are counted. The other one is told of what each of the two statements committed,
    // and of the text between, and has nothing to look for: the turn was taken up at once.
    let cost = cost(&app, &mut client, |_| vec![text("yes")]).await;
    cost.is_at_most(&Cost { server: 5, agent: 0, pings: 1, commits: 2 });
    drop(other);
}

/// Has the model answer once this is told, and waits until it is asked.
async fn held(app: &TestApp, client: &mut Client, reply: Reply) -> Arc<Notify> {
    let (asked, goes_on) = (app.script.requests().len(), Arc::new(Notify::new()));
    app.script([Reply::After(Arc::clone(&goes_on), Box::new(reply)), text("yes")]);
    client.say("go on").await;
    app.script.asked(asked + 1).await;
    goes_on
}

#[tokio::test]
async fn a_turn_has_one_connection_and_gives_it_back_while_the_model_is_asked() {
    let (app, mut client) = started().await;
    let read = || call("execute_sql", json!({ "query": "SELECT 1 AS one" }));
    app.script([read(), text("yes")]);
    client.ask("it opens connections").await;
    for _ in 0..TURNS {
        app.sent();
        let goes_on = held(&app, &mut client, read()).await;
        let in_use = || app.store().pools().iter().map(|(_, in_use, _)| in_use).sum::<u32>();
        let given_back = async {
            while in_use() > 0 {
                tokio::task::yield_now().await;
            }
        };
        in_time("the turn gives its connection back", given_back).await;
        goes_on.notify_one();
        client.turn().await;
        // A session of the agent is emptied behind the call, perhaps while the next turn begins.
        let sent: Vec<_> = app.sent().into_iter().filter(|sent| !["", "DISCARD ALL"].contains(&sent.text.as_str())).collect();
        let logins: BTreeSet<_> = sent.iter().map(|sent| &sent.login).collect();
        let connections: BTreeSet<_> = sent.iter().map(|sent| sent.connection).collect();
        tell(&sent);
        assert_eq!((logins.len(), connections.len()), (2, 2), "the agent's statement is on a login of its own");
    }
}

#[tokio::test]
async fn words_said_into_a_turn_look_up_no_profile() {
    let (app, mut client) = started().await;
    app.script([Reply::Hang(String::new())]);
    client.say("think").await;
    app.script.asked(1).await;
    app.sent();
    client.send(json!({ "type": "message", "content": "in German", "id": "s1", "steer": true })).await;
    client.until(|frame| frame["id"] == "s1").await;
    let sent = app.sent();
    let looks = |sent: &Sent| sent.text.starts_with("SELECT profile FROM conversations");
    assert!(!sent.is_empty() && !sent.iter().any(looks), "{sent:?}");
    client.stop().await;
    client.until(|frame| frame["state"] == "aborted").await;
}

#[tokio::test]
async fn a_call_of_a_capability() {
    let (app, mut client) = started().await;
    app.script([written("mine"), text("done")]);
    client.ask("write it").await;
    let cost = cost(&app, &mut client, |_| vec![call("mine", json!({})), text("yes")]).await;
    cost.is_at_most(&Cost { server: 4, agent: 0, pings: 1, commits: 4 });
}

#[tokio::test]
async fn a_new_capability() {
    let (app, mut client) = started().await;
    let cost = cost(&app, &mut client, |turn| vec![written(&format!("mine_{turn}")), text("yes")]).await;
    // Connections rest while it is checked, and one that rested is asked whether it lives.
    cost.is_at_most(&Cost { server: 10, agent: 0, pings: cost.pings, commits: 4 });
}

#[tokio::test]
async fn a_new_capability_alone() {
    let (app, mut client) = started().await;
    app.script([written("first"), text("yes")]);
    client.ask("write one").await;
    let goes_on = held(&app, &mut client, written("second")).await;
    app.sent();
    goes_on.notify_one();
    client.turn().await;
    let sent: Vec<_> = app.sent().into_iter().filter(|sent| !sent.text.is_empty()).collect();
    tell(&sent);
    // The step with the proposal; the number of the catalogue by which it is judged; and the
    // transaction: its two ends, the new version, and the end of the call.
    let committed = sent.iter().position(|sent| sent.text == "COMMIT").expect("a capability is written in a transaction");
    assert_eq!(committed + 1, 6, "statements from the model's answer until the outcome is committed");
}

#[tokio::test]
async fn a_statement_that_reads() {
    let (app, mut client) = started().await;
    let read = || call("execute_sql", json!({ "query": "SELECT 1 AS one" }));
    let cost = cost(&app, &mut client, |_| vec![read(), text("yes")]).await;
    cost.is_at_most(&Cost { server: 4, agent: 4, pings: 2, commits: 4 });
}

#[tokio::test]
async fn a_statement_that_writes() {
    let (app, mut client) = started().await;
    app.script([call("execute_sql", json!({ "query": "CREATE TABLE t (id int)" })), text("done")]);
    client.ask("make a table").await;
    let write = || call("execute_sql", json!({ "query": "INSERT INTO t VALUES (1)" }));
    let cost = cost(&app, &mut client, |_| vec![write(), text("yes")]).await;
    // On the agent's login: the beginning with its looks; the statement, with the look behind it;
    // the rows that it lost; the outcome with the commit; and the emptying of the session. The
    // third is one of its own, since it proves with a token that it is the server's, and nothing of
    // the agent may run in a message with a token: deferred triggers run in the second one, and
    // could read it.
    cost.is_at_most(&Cost { server: 5, agent: 5, pings: 2, commits: 4 });
}

/// The most that a turn may cost with one tool that writes what is the server's own: a step, what
/// the tool reads, and the end of the call, which tells where the turn goes on.
const ONE_TOOL: Cost = Cost { server: 5, agent: 0, pings: 1, commits: 4 };

#[tokio::test]
async fn a_task() {
    let (app, mut client) = started().await;
    let create = |turn: usize| call("manage_tasks", json!({ "action": "create", "title": format!("task {turn}") }));
    cost(&app, &mut client, |turn| vec![create(turn), text("yes")]).await.is_at_most(&ONE_TOOL);
    // The heartbeat is told when a task is due, and asks nothing.
    let due = |turn: usize| json!({ "action": "create", "title": format!("due {turn}"), "due_at": "2031-01-01" });
    cost(&app, &mut client, |turn| vec![call("manage_tasks", due(turn)), text("yes")]).await.is_at_most(&ONE_TOOL);
    for deed in [
        json!({ "action": "list" }),
        json!({ "action": "get", "id": 1 }),
        json!({ "action": "get", "id": 1000 }),
        json!({ "action": "update", "id": 1, "title": "another", "details": "long", "due_at": "2031-01-01T10:00:00Z" }),
        json!({ "action": "complete", "id": 1 }),
    ] {
        let cost = cost(&app, &mut client, |_| vec![call("manage_tasks", deed.clone()), text("yes")]).await;
        cost.with(&deed.to_string(), &ONE_TOOL);
    }
    app.check_replay().await;
}

#[tokio::test]
async fn a_function_of_lea() {
    let (app, mut client) = started().await;
    app.script([text("yes")]);
    client.send(json!({ "type": "message", "content": "hello", "profile": "lea" })).await;
    client.turn().await;
    let main = conversation_of("lea", &app).await;
    let lea = json!(main);
    let simple = cost_in(&lea, &app, &mut client, |_| vec![text("yes")]).await;
    simple.is_at_most(&Cost { server: 2, agent: 0, pings: 1, commits: 2 });
    make_tasks(&app, main, [app.now() + TimeDelta::days(1), app.now() + TimeDelta::days(2)]).await;
    // A number for what is made is one statement more.
    let added = |turn: usize| json!({ "taskName": "#1", "subtaskName": format!("step {turn}") });
    let add = cost_in(&lea, &app, &mut client, |turn| vec![call("addSubtask", added(turn)), text("yes")]).await;
    add.is_at_most(&Cost { server: 6, ..ONE_TOOL });
    for (function, arguments) in [
        ("listTasks", json!({})),
        ("getTaskDetails", json!({ "taskName": "#1" })),
        ("getNextSubtask", json!({})),
        ("setReminder", json!({ "taskName": "#1", "at": "2031-01-01T10:00" })),
        ("removeReminder", json!({ "taskName": "#1" })),
        ("setRecurrence", json!({ "taskName": "#1", "rule": "daily" })),
        ("completeSubtask", json!({ "subtaskName": "step 1", "taskName": "#1" })),
        ("startTimer", json!({ "minutes": 5, "taskName": "#1" })),
        ("pauseTimer", json!({})),
        ("resumeTimer", json!({})),
        ("getTimerStatus", json!({})),
        ("stopTimer", json!({})),
        ("completeTask", json!({ "taskName": "no such task" })),
    ] {
        let cost = cost_in(&lea, &app, &mut client, |_| vec![call(function, arguments.clone()), text("yes")]).await;
        cost.with(function, &ONE_TOOL);
    }
    let rename = |turn: usize| json!({ "taskName": "#2", "newName": format!("name {turn}") });
    let cost = cost_in(&lea, &app, &mut client, |turn| vec![call("renameTask", rename(turn)), text("yes")]).await;
    cost.is_at_most(&ONE_TOOL);
    app.check_replay().await;
}

#[tokio::test]
async fn seconds_in_which_nothing_is_due() {
    let (app, mut client) = started().await;
    let conversation = client.hello["conversation"].clone();
    turn(&conversation, &app, &mut client, vec![text("yes")]).await;
    // Signs of life, and looks for those of other servers, are not counted.
    let cost = counted(&app, TURNS, async {
        for _ in 0..TURNS {
            for _ in 0..10 {
                app.advance(1);
                tokio::task::yield_now().await;
            }
            turn(&conversation, &app, &mut client, vec![text("yes")]).await;
        }
    });
    let cost = cost.await;
    // Connections that rested are asked whether they live.
    cost.with("ten idle seconds before it", &Cost { server: 2, agent: 0, pings: cost.pings, commits: 2 });
}

#[tokio::test]
async fn a_question_that_every_socket_of_a_person_hears_of() {
    let (app, mut client) = started().await;
    let mut watching = [app.connect().await, app.connect().await, app.connect().await];
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.script([call("execute_sql", json!({ "query": "DROP FUNCTION IF EXISTS nothing()" })), text("Not done.")]);
    client.send(json!({ "type": "message", "content": "drop it", "conversation": other })).await;
    let asking = client.asked().await;
    for socket in &mut watching {
        socket.until(|frame| frame["type"] == "waiting" && frame["approvals"] == json!([asking["id"]])).await;
    }
    watching[0].deny(&asking).await;
    for socket in &mut watching {
        socket.until(|frame| frame["type"] == "waiting" && frame["approvals"] == json!([])).await;
    }
    client.turn().await;
    let sent = app.sent();
    let read = sent.iter().filter(|sent| sent.text.contains("state = 'pending' AND user_id = $1")).count();
    assert_eq!(read, 4, "each socket reads what waits as it begins, and never again");
}

/// The main conversation of a profile.
async fn conversation_of(profile: &str, app: &TestApp) -> ConversationId {
    let found = "SELECT conversation_id FROM level3.conversations WHERE is_main AND profile = $1";
    ConversationId(sqlx::query_scalar(found).bind(profile).fetch_one(&mut app.behind().await).await.unwrap())
}

/// A call that writes a capability of this name, with a test.
pub fn written(name: &str) -> Reply {
    let source = format!("function {name}() {{ return 1; }}");
    call(
        "write_capability",
        json!({
            "name": name, "description": "One.", "code": source, "parameters_schema": { "type": "object", "properties": {} },
            "tests": [{ "params": {}, "expect": 1 }],
        }),
    )
}
