//! Limits that end or hold back work that nobody watches: the time of a turn, the turns that tasks
//! begin, their part of the day.

use chrono::{SecondsFormat, TimeDelta};
use level3::domain::{Budget, Budgets, ConversationId, Mode, TaskBudget};
use serde_json::{Value, json};

use crate::support::{Client, Peer, Reply, TestApp, call, in_time, kinds, make_tasks, of_type, text};

async fn limit(app: &TestApp, budgets: Budgets) {
    app.store().set_profile_policy("builder", Mode::Auto, false, &budgets, app.now()).await.unwrap();
}

fn last_words(frames: &[Value]) -> &str {
    frames.iter().rfind(|frame| frame["type"] == "assistant").expect("an answer")["content"].as_str().unwrap()
}

/// Lets the time of the running turn pass, and returns the frames of its end.
async fn time_is_over(app: &TestApp, client: &mut Client, at: &str) -> Vec<Value> {
    app.advance(3);
    let frames = client.turn().await;
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed", "{at}");
    let told = last_words(&frames);
    assert!(
        told.contains("this turn has worked for 3 seconds; the limit is 3.") && told.contains("`turn.wall_seconds`"),
        "{at}: {told}"
    );
    frames
}

/// The same in the middle of a call, whose outcome says that its time was over. Returns its words.
async fn call_is_cut(app: &TestApp, client: &mut Client, at: &str) -> String {
    let frames = time_is_over(app, client, at).await;
    let outcome = of_type(&frames, "tool_result");
    assert_eq!(outcome["ok"], false, "{at}");
    let told = outcome["result"].as_str().unwrap().to_owned();
    assert!(told.starts_with("Not finished: the time of the turn was over"), "{at}: {outcome}");
    told
}

const WRITES: &str = "export default async function writes() { await host.sql('INSERT INTO slept VALUES (2)'); while (true); }";

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_turn_cuts_whatever_it_is_doing() {
    let peer = Peer::start().await;
    let app = TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await;
    let mut client = app.connect().await;
    let write = |name: &str, code: &str, grants: Value| {
        call(
            "write_capability",
            json!({"name": name, "description": "Takes long.", "code": code, "grants": grants,
            "parameters_schema": {"type": "object", "properties": {}}, "tests": []}),
        )
    };
    let waits = format!("export default async function waits() {{ return (await fetch('{}/hang')).status; }}", peer.host());
    app.script([
        write("waits", &waits, json!({"http": {"hosts": [peer.host()]}})),
        write("spins", "export default function spins({ go }) { while (go === 'now'); return 1; }", json!({})),
        write("writes", WRITES, json!({"sql": {"access": "write"}})),
        call("execute_sql", json!({"query": "CREATE TABLE slept (n int)"})),
        text("Written."),
    ]);
    client.allow("write them").await;
    limit(&app, Budgets { turn: Budget { wall_seconds: Some(3), ..Budget::default() }, ..Budgets::default() }).await;

    app.script([call("execute_sql", json!({"query": "INSERT INTO slept SELECT 1 FROM pg_sleep(25)"}))]);
    client.say("sleep").await;
    let running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO slept%' AND state = 'active' AND datname = current_database()";
    client.until(|frame| frame["type"] == "tool_call").await;
    app.until(running, 1).await;
    let told = call_is_cut(&app, &mut client, "an SQL statement runs").await;
    assert!(told.contains("In this database nothing of it has happened."), "{told}");
    app.until(running, 0).await;
    assert_eq!(app.count("SELECT count(*) FROM agent.slept").await, 0);

    app.script([call("spins", json!({"go": "now"}))]);
    client.say("spin").await;
    // A mark lies in the folder for as long as a capability is at work.
    let marks = app.data().join("calls");
    let at_work = async {
        while std::fs::read_dir(&marks).unwrap().count() == 0 {
            tokio::task::yield_now().await;
        }
    };
    in_time("a capability at work", at_work).await;
    call_is_cut(&app, &mut client, "a capability computes").await;

    app.script([call("writes", json!({}))]);
    client.say("write and spin").await;
    app.until("SELECT count(*) FROM agent.slept WHERE n = 2", 1).await;
    let told = call_is_cut(&app, &mut client, "a capability computes after a statement").await;
    assert!(told.contains("not taken back: operation 1 (sql). Nothing else of it has happened"), "{told}");

    app.script([call("waits", json!({}))]);
    client.say("wait").await;
    peer.has(1).await;
    call_is_cut(&app, &mut client, "a request of a capability waits").await;

    for (said, at) in [("", "the model is silent"), ("I am saying", "the model speaks")] {
        app.script([Reply::Hang(said.into())]);
        let asked = app.script.requests().len() + 1;
        client.say("think").await;
        app.script.asked(asked).await;
        time_is_over(&app, &mut client, at).await;
    }
    // The next turn has its own time.
    app.script([text("I am here.")]);
    assert_eq!(last_words(&client.ask("still there?").await), "I am here.");
    app.check_replay().await;
}

#[tokio::test]
async fn tasks_that_were_held_begin_when_the_limit_is_raised() {
    let app = TestApp::start().await;
    let most =
        |turns| Budgets { tasks: TaskBudget { turns_per_hour: Some(turns), ..TaskBudget::default() }, ..Budgets::default() };
    limit(&app, most(0)).await;
    let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
    make_tasks(&app, conversation, [app.now() + TimeDelta::seconds(60)]).await;
    app.advance(60);
    let mut client = app.connect().await;
    client.send(json!({"type": "resume", "after": 0, "conversation": conversation})).await;
    client.until(|frame| frame["type"] == "held").await;
    app.script([text("I see.")]);
    limit(&app, most(30)).await;
    client.until(|frame| frame["type"] == "turn" && frame["state"] == "completed").await;
    assert_eq!(app.count(TURNS).await, 1, "with the clock where it was");
}

const TURNS: &str = "SELECT count(*) FROM turns WHERE origin = 'task'";
const TOLD: &str = "SELECT count(*) FROM events WHERE kind = 'tasks_held'";

#[tokio::test]
async fn tasks_beyond_the_limit_of_an_hour_wait_and_the_person_is_told_once() {
    let app = TestApp::start().await;
    let tasks = TaskBudget { turns_per_hour: Some(2), ..TaskBudget::default() };
    limit(&app, Budgets { tasks, ..Budgets::default() }).await;
    let mut conversations = Vec::new();
    for seconds in [63, 62, 61, 60] {
        let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
        make_tasks(&app, conversation, [app.now() + TimeDelta::seconds(seconds)]).await;
        conversations.push(conversation);
    }
    app.script([text("one"), text("two")]);
    app.advance(120);
    let mut client = app.connect().await;
    client.send(json!({"type": "resume", "after": 0, "conversation": conversations[0]})).await;
    let held = client.until(|frame| frame["type"] == "held").await.pop().unwrap();
    assert_eq!((&held["tasks"], &held["until"]), (&json!([1]), &json!("2026-11-20T09:02:00Z")), "those due last wait");
    let told = held["content"].as_str().unwrap();
    assert!(
        told.contains("2 turns within an hour") && told.contains("`tasks.turns_per_hour`") && told.contains("09:02 UTC"),
        "{told}"
    );
    app.run_until_idle().await;
    for minutes in [10, 20] {
        app.advance(minutes * 60);
        make_tasks(&app, conversations[0], [app.now() - TimeDelta::seconds(1)]).await;
        app.run_until_idle().await;
    }
    assert_eq!((app.count(TURNS).await, app.count(TOLD).await), (2, 2), "one line in each conversation, and no turn more");
    // The tasks that fell due meanwhile in one conversation share one turn.
    app.script([text("three"), text("four")]);
    app.advance(30 * 60);
    let frames = client.until(|frame| frame["type"] == "turn" && frame["state"] == "completed").await;
    assert_eq!(of_type(&frames, "turn")["content"].as_str().unwrap().matches("- task").count(), 3);
    app.run_until_idle().await;
    assert_eq!((app.count(TURNS).await, app.count(TOLD).await), (4, 2), "nothing is lost");
    app.check_replay().await;
}

#[tokio::test]
async fn tasks_that_breed_tasks_stop_at_thirty_turns_and_the_person_is_answered() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    client.follow().await;
    let breed = |app: &TestApp, seconds: i64| {
        let due_at = (app.now() + TimeDelta::seconds(seconds)).to_rfc3339_opts(SecondsFormat::Secs, true);
        app.script([call("manage_tasks", json!({"action": "create", "title": "Again", "due_at": due_at})), text("made")]);
    };
    breed(&app, 1);
    client.ask("begin").await;
    for _ in 0..30 {
        // For the turn that begins in this second, this task is the next one.
        breed(&app, 2);
        app.advance(1);
        client.turn().await;
    }
    let asked = app.script.requests().len();
    app.advance(1);
    client.until(|frame| frame["type"] == "held").await;
    for _ in 0..60 {
        app.advance(10);
        app.run_until_idle().await;
    }
    assert_eq!((app.count(TURNS).await, app.script.requests().len()), (30, asked));
    app.script([text("I am here.")]);
    assert_eq!(last_words(&client.ask("are you there?").await), "I am here.");
    app.check_replay().await;
}

#[tokio::test]
async fn turns_of_tasks_leave_half_of_the_day_to_the_person() {
    let app = TestApp::start().await;
    limit(&app, Budgets { day: Budget { input_tokens: Some(100), ..Budget::default() }, ..Budgets::default() }).await;
    let costs = |input, reply| Reply::Costs(input, 1, Box::new(reply));
    let mut client = app.connect().await;
    client.follow().await;
    let conversation = ConversationId(client.hello["conversation"].as_i64().unwrap());
    make_tasks(&app, conversation, [app.now() + TimeDelta::seconds(60)]).await;
    app.script([costs(60, call("execute_sql", json!({"query": "SELECT 1"})))]);
    app.advance(60);
    let frames = client.turn().await;
    let told = last_words(&frames);
    assert!(told.contains("today the turns that tasks began together have had models read 60 tokens; the limit is 50"), "{told}");
    assert!(told.contains("`tasks.percent_of_day`"), "{told}");
    app.script([costs(39, text("Here."))]);
    assert_eq!(last_words(&client.ask("and me?").await), "Here.");
    app.script([costs(1, text("Still."))]);
    assert_eq!(last_words(&client.ask("and now?").await), "Still.");
    assert!(
        last_words(&client.ask("and then?").await).contains("today all conversations together have had models read 100 tokens")
    );
    app.check_replay().await;
}
