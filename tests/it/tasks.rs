//! Tasks and the heartbeat.

use std::sync::Arc;

use level3::domain::{Task, TaskId, ToolCallId};
use level3::model::Entry;
use level3::store::StoreError;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::api::ask;
use crate::support::{Reply, TestApp, call, calls, kinds, of_type, permit, text};

fn result(frame: &Value) -> Value {
    serde_json::from_str(frame["result"].as_str().unwrap()).unwrap()
}

async fn make_task(app: &TestApp, title: &str, due_at: &str) {
    app.script([call("manage_tasks", json!({"action": "create", "title": title, "due_at": due_at})), text("made")]);
    app.connect().await.ask("make it").await;
}

#[tokio::test]
async fn a_task_is_made_read_changed_completed_and_deleted() {
    let app = TestApp::start().await;
    let act = |arguments: Value| ("manage_tasks", arguments);
    app.script([
        calls(&[
            act(json!({"action": "create", "title": "Water the plants", "details": "all of them", "due_at": "2026-11-21T09:00:00+01:00"})),
            act(json!({"action": "get", "id": 1})),
            act(json!({"action": "update", "id": "1", "status": "in_progress", "due_at": ""})),
            act(json!({"action": "complete", "id": 1})),
            act(json!({"action": "list"})),
            act(json!({"action": "delete", "id": 1})),
            act(json!({"action": "list"})),
        ]),
        text("done"),
    ]);
    let mut client = app.connect().await;
    client.say("tasks").await;
    // A person decides about deleting.
    let mut frames = client.until(|frame| frame["type"] == "approval").await;
    client.approve(frames.last().unwrap()).await;
    frames.extend(client.turn().await);
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").map(result).collect();
    assert_eq!(results[0]["due_at"], "2026-11-21T08:00:00Z");
    assert_eq!((&results[1]["title"], &results[1]["status"]), (&json!("Water the plants"), &json!("pending")));
    assert_eq!((&results[2]["status"], &results[2]["due_at"]), (&json!("in_progress"), &json!(null)));
    assert_eq!(results[3]["status"], "done");
    assert_eq!(results[4].as_array().unwrap().len(), 1);
    assert_eq!(results[5]["deleted"]["id"], 1);
    assert_eq!(results[6], json!([]));
    let shown: Vec<_> = frames.iter().filter(|frame| frame["type"] == "task").collect();
    assert_eq!(shown.len(), 4);
    assert_eq!(shown[3]["deleted"], true);
    app.check_replay().await;
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_named() {
    let app = TestApp::start().await;
    let wrong = [
        (json!({"action": "create"}), "`title` is missing; the action `create` needs it"),
        (json!({"action": "get"}), "`id` is missing"),
        (json!({"action": "complete"}), "`id` is missing"),
        (json!({"action": "get", "id": 9}), "there is no task 9"),
        (json!({"action": "remove", "id": 9}), "must be one of: create, list, get, update, complete, delete"),
        (json!({"action": "create", "title": "x", "due_at": "tomorrow"}), "no date that can be read"),
        (json!({"action": "update", "id": 1, "status": "finished"}), "`finished` is none of: pending"),
        (json!({"id": 1}), "missing field `action`"),
        (json!({"action": "create", "title": "x", "description": "y"}), "there is no argument `description`; the arguments are"),
        (json!({"action": "create", "title": "Buy\nmilk"}), "A title stands on one line."),
        (json!({"action": "create", "title": "x".repeat(201)}), "200 is the most"),
    ];
    let asked: Vec<_> = wrong.iter().map(|(arguments, _)| ("manage_tasks", arguments.clone())).collect();
    app.script([calls(&asked), text("I see")]);
    let frames = app.connect().await.ask("go").await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    for (frame, (arguments, expected)) in results.iter().zip(&wrong) {
        assert_eq!(frame["ok"], false, "{arguments}");
        let told = frame["result"].as_str().unwrap();
        assert!(told.contains(expected), "{arguments}: {told}");
    }
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 0);
}

#[tokio::test]
async fn who_names_no_task_is_told_which_there_are_and_who_hides_a_date_where_it_belongs() {
    let app = TestApp::start().await;
    app.script([
        calls(&[
            ("manage_tasks", json!({"action": "create", "title": "Buy stamps"})),
            ("manage_tasks", json!({"action": "create", "title": "Call the dentist on 15 March 2031 at 14:30"})),
            ("manage_tasks", json!({"action": "create", "title": "Watch the film of 2001", "due_at": ""})),
            ("manage_tasks", json!({"action": "complete", "id": 1})),
            ("manage_tasks", json!({"action": "complete", "title": "Call the dentist"})),
            ("manage_tasks", json!({"action": "get", "id": 7})),
            ("manage_tasks", json!({"action": "create", "title": "Buy milk"})),
            ("manage_tasks", json!({"action": "update", "id": 2, "title": "buy milk", "status": "done"})),
            ("manage_tasks", json!({"action": "complete", "id": 2, "title": "Buy milk"})),
            ("manage_tasks", json!({"action": "delete", "id": 2, "title": "Buy milk"})),
            ("manage_tasks", json!({"action": "create", "title": "Buy milk"})),
            ("manage_tasks", json!({"action": "complete", "id": 4, "title": "Buy milk"})),
        ]),
        text("I see"),
    ]);
    let frames = app.connect().await.ask("go").await;
    let results: Vec<Value> = frames
        .iter()
        .filter(|frame| frame["type"] == "tool_result")
        .map(|frame| serde_json::from_str(frame["result"].as_str().unwrap()).unwrap())
        .collect();
    let message = |result: usize| results[result]["message"].as_str().unwrap_or_default();
    assert!(message(1).contains("`due_at` is missing"), "{}", results[1]);
    assert_eq!(results[1]["call"]["due_at"], "YYYY-MM-DDTHH:MM:SSZ");
    assert_eq!((&results[2]["title"], &results[2]["due_at"]), (&json!("Watch the film of 2001"), &json!(null)));
    let film = json!({"id": 2, "title": "Watch the film of 2001"});
    assert_eq!((&results[4]["open_tasks"], &results[5]["open_tasks"]), (&json!([film]), &json!([film])));
    assert_eq!(results[7]["call"], json!({"action": "update", "id": 3, "status": "done"}));
    for result in 7..=9 {
        assert_eq!(message(result), "task 3 has this title, not task 2: call again with `id` 3");
    }
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 4, "none was deleted");
    assert_eq!(results[11]["status"], "done", "its own title is no other's");
    let done = app.count("SELECT count(*) FROM tasks WHERE status = 'done' AND task_id IN (1, 4)").await;
    assert_eq!((done, app.count("SELECT count(*) FROM tasks WHERE status = 'done'").await), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_others_change_in_the_same_moment_gets_each_change_and_none_twice() {
    const AT_ONCE: usize = 5;
    let app = TestApp::start().await;
    make_task(&app, "Water the plants", "").await;
    let change = || call("manage_tasks", json!({"action": "update", "id": 1, "details": "all of them"}));
    app.script((0..AT_ONCE).map(|_| change()).chain((0..AT_ONCE).map(|_| text("I see."))));
    let mut client = app.connect().await;
    for _ in 0..AT_ONCE {
        let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
        client.send(json!({"type": "message", "conversation": conversation, "content": "change it"})).await;
    }
    app.until("SELECT count(*) FROM turns WHERE state = 'completed'", 1 + AT_ONCE as i64).await;
    let changed = "SELECT count(*) FROM events WHERE kind = 'task_changed'";
    assert_eq!(app.count(changed).await, 1 + AT_ONCE as i64);
    assert_eq!(app.count("SELECT count(*) FROM tool_calls WHERE state = 'done'").await, 1 + AT_ONCE as i64);
    app.check_replay().await;
}

#[tokio::test]
async fn the_most_open_tasks_are_counted_where_a_task_is_written() {
    let app = TestApp::start().await;
    make_task(&app, "Water the plants", "").await;
    app.rewrites("the tasks were not made one by one");
    let more = "INSERT INTO tasks (conversation_id, title, created_at, updated_at)
        SELECT conversation_id, 'another', '2026-11-20', '2026-11-20' FROM tasks, generate_series(2, 999)";
    sqlx::query(more).execute(&mut app.behind().await).await.unwrap();
    let act = |arguments: Value| ("manage_tasks", arguments);
    app.script([
        calls(&[
            act(json!({"action": "create", "title": "The last one"})),
            act(json!({"action": "create", "title": "One too many"})),
            act(json!({"action": "complete", "id": 1})),
            act(json!({"action": "create", "title": "In its place"})),
            act(json!({"action": "update", "id": 1, "status": "pending"})),
        ]),
        text("I see"),
    ]);
    let frames = app.connect().await.ask("go").await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    assert_eq!(results.iter().map(|frame| frame["ok"] == true).collect::<Vec<_>>(), [true, false, true, true, false]);
    for refused in [results[1], results[4]] {
        let told = "You have 1000 open tasks, and 1000 is the most. Complete or delete some first.";
        assert_eq!((&result(refused)["error"], &result(refused)["message"]), (&json!("too_many"), &json!(told)));
    }
    let open = "SELECT count(*) FROM tasks WHERE status = 'pending'";
    assert_eq!(app.count(open).await, 1000);
    // A person who has more already may change them, and is told how many they are.
    sqlx::query("UPDATE tasks SET status = 'pending'").execute(&mut app.behind().await).await.unwrap();
    app.script([
        calls(&[
            act(json!({"action": "update", "id": 1, "details": "all of them"})),
            act(json!({"action": "create", "title": "One too many"})),
        ]),
        text("I see"),
    ]);
    let frames = app.connect().await.ask("go").await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    assert_eq!(results[0]["ok"], true, "{}", results[0]);
    let told = "You have 1001 open tasks, and 1000 is the most. Complete or delete some first.";
    assert_eq!(result(results[1])["message"], told);
}

#[tokio::test]
async fn what_was_decided_by_to_dos_that_are_others_by_now_is_not_written() {
    let app = TestApp::start().await;
    make_task(&app, "Water the plants", "").await;
    let (store, conversation) = (app.store(), app.store().owners().create_conversation(app.now()).await.unwrap());
    let task = TaskId(1);
    let (all, one) = (store.todos(conversation).await.unwrap(), store.tasks_for(conversation, Some(task), false).await.unwrap());
    let one = one.one.unwrap();
    let change = |title: &str| Task { title: title.into(), ..one.task.clone() };
    let stale =
        [("all", store.todo_changes(app.now()).decided_by(&all), None), ("the task", store.todo_changes(app.now()), Some(&one))];
    let mut first = store.todo_changes(app.now());
    first.change(&permit(ToolCallId(0)), change("Water the garden"), Some(&one));
    let mut unit = store.begin(app.now()).await.unwrap();
    unit.change_todos(conversation, first).await.unwrap();
    unit.commit().await.unwrap();
    for (what, mut changes, seen) in stale {
        changes.change(&permit(ToolCallId(0)), change("Water nothing"), seen);
        let written = store.begin(app.now()).await.unwrap().change_todos(conversation, changes).await;
        assert!(matches!(written, Err(StoreError::TodosChanged)), "{what}: {written:?}");
    }
    assert_eq!(app.count("SELECT count(*) FROM tasks WHERE title = 'Water the garden'").await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn a_due_task_wakes_the_agent_at_its_moment_and_once() {
    let app = TestApp::start().await;
    make_task(&app, "Call Ada", "2026-11-20T08:00:30Z").await;
    let mut client = app.connect().await;
    client.follow().await;
    app.script([call("manage_tasks", json!({"action": "complete", "id": 1})), text("Time to call Ada.")]);
    app.advance(30);
    let frames = client.turn().await;
    assert_eq!((&frames[0]["type"], &frames[0]["origin"]), (&json!("turn"), &json!("task")));
    assert!(frames[0]["content"].as_str().unwrap().starts_with("[heartbeat]"));
    assert_eq!(of_type(&frames, "fired")["content"], "The task “Call Ada” fell due.", "the words for a person");
    assert_eq!(of_type(&frames, "assistant")["content"], "Time to call Ada.");
    app.advance(3600);
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'task'").await, 1);
    let found = async |word: &str| ask(&app, Method::GET, &format!("/api/search?q={word}"), None).await.1["found"].clone();
    assert_eq!(found("heartbeat").await, json!([]), "its words are for a model");
    assert_eq!(found("time").await[0]["role"], "assistant");
}

#[tokio::test]
async fn tasks_that_fell_due_together_or_while_the_server_was_off_are_one_turn() {
    let mut app = TestApp::start().await;
    make_task(&app, "One", "2026-11-20T08:01:00Z").await;
    make_task(&app, "Two", "2026-11-20T09:00:00Z").await;
    app.stop().await;
    app.advance(6 * 3600);
    app.script([text("Both are due.")]);
    app.start_again().await;
    let mut client = app.connect().await;
    client.resume(0).await;
    let frames = client.until(|frame| frame["content"] == "Both are due.").await;
    let fired: Vec<_> = frames.iter().filter(|frame| frame["origin"] == "task").collect();
    assert_eq!(fired.len(), 1);
    let input = fired[0]["content"].as_str().unwrap();
    assert!(input.contains("One") && input.contains("Two"), "{input}");
}

#[tokio::test]
async fn a_due_task_cannot_make_one_that_is_due_already() {
    let app = TestApp::start().await;
    make_task(&app, "Water the plants", "2026-11-20T08:00:30Z").await;
    let mut client = app.connect().await;
    client.follow().await;
    let again = |due_at: &str| ("manage_tasks", json!({"action": "create", "title": "Once more", "due_at": due_at}));
    let moved = ("manage_tasks", json!({"action": "update", "id": 1, "due_at": "2020-01-01T00:00:00Z"}));
    app.script([calls(&[again("2026-11-20T08:00:30Z"), moved, again("2026-11-20T08:10:00Z")]), text("Done.")]);
    app.advance(30);
    let frames = client.turn().await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    for refused in &results[..2] {
        let told = refused["result"].as_str().unwrap();
        assert!(told.contains("in the past (it is 2026-11-20T08:00:30Z now)") && told.contains("give a later time"), "{told}");
    }
    assert_eq!(results[2]["ok"], true);
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'task'").await, 1);
}

#[tokio::test]
async fn a_due_date_that_is_moved_fires_again() {
    let app = TestApp::start().await;
    make_task(&app, "Stretch", "2026-11-20T08:00:10Z").await;
    let mut client = app.connect().await;
    client.follow().await;
    app.script([
        call("manage_tasks", json!({"action": "update", "id": 1, "due_at": "2026-11-20T08:05:00Z"})),
        text("later then"),
    ]);
    app.advance(10);
    client.turn().await;
    app.script([text("now")]);
    app.advance(290);
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], "now");
    app.check_replay().await;
}

#[tokio::test]
async fn nothing_due_nothing_spent() {
    let app = TestApp::start().await;
    make_task(&app, "Far away", "2027-11-20T08:00:00Z").await;
    let asked = app.script.requests().len();
    for _ in 0..100 {
        app.advance(300);
        tokio::task::yield_now().await;
    }
    app.run_until_idle().await;
    assert_eq!(app.script.requests().len(), asked);
}

#[tokio::test]
async fn tasks_due_within_the_hour_are_in_the_prompt() {
    let app = TestApp::start().await;
    make_task(&app, "Soon", "2026-11-20T08:45:00Z").await;
    make_task(&app, "Not yet", "2026-11-20T09:30:00Z").await;
    app.script([text("ok")]);
    app.connect().await.ask("what now?").await;
    let Some(Entry::System(prompt)) = app.script.requests().last().unwrap().entries.first().cloned() else { panic!("no prompt") };
    assert!(prompt.contains("Current tasks due soon:") && prompt.contains("Soon") && !prompt.contains("Not yet"), "{prompt}");
}

#[tokio::test]
async fn a_due_task_that_was_completed_before_does_not_fire() {
    let app = TestApp::start().await;
    make_task(&app, "Done early", "2026-11-20T08:10:00Z").await;
    app.script([call("manage_tasks", json!({"action": "complete", "id": 1})), text("done")]);
    let frames = app.connect().await.ask("complete it").await;
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    app.advance(700);
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'task'").await, 0);
}

#[tokio::test]
async fn a_queued_heartbeat_leaves_alone_what_was_done_before_it_is_taken_up() {
    let app = TestApp::start().await;
    for (title, due_at) in [("One", "08:00:30"), ("Two", "08:00:30"), ("Three", "08:01:00")] {
        make_task(&app, title, &format!("2026-11-20T{due_at}Z")).await;
    }
    let complete = |id: i64| call("manage_tasks", json!({"action": "complete", "id": id}));
    let mut client = app.connect().await;
    // A message's turn is at work while they fall due, and completes one of them.
    for (turns, id, replies) in [(1, 1, vec![complete(2), text("The other one, too.")]), (2, 3, Vec::new())] {
        let (signal, asked, further) = (Arc::new(Notify::new()), app.script.requests().len(), replies.len());
        app.script([Reply::After(Arc::clone(&signal), Box::new(complete(id))), text("It is.")]).script(replies);
        client.say("complete it").await;
        app.script.asked(asked + 1).await;
        app.advance(30);
        app.until("SELECT count(*) FROM turns WHERE origin = 'task'", turns).await;
        signal.notify_one();
        app.run_until_idle().await;
        assert_eq!(app.script.requests().len(), asked + 2 + further);
    }
    let requests = app.script.requests();
    let told = |entry: &Entry| match entry {
        Entry::User(said) => said.contains("task 2, due") && said.ends_with("since: task 1. Do nothing about these."),
        _ => false,
    };
    for request in &requests[requests.len() - 4..requests.len() - 2] {
        assert!(request.entries.iter().any(told), "the first step of the turn, and its next: {:?}", request.entries);
    }
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'task' AND state = 'completed'").await, 2);
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE content LIKE 'Nothing is left to do: %'").await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn a_crash_between_firing_and_working_loses_no_due_task() {
    let mut app = TestApp::start().await;
    make_task(&app, "Survive", "2026-11-20T08:00:30Z").await;
    app.script([Reply::Hang("about to".into())]);
    let asked = app.script.requests().len();
    app.advance(30);
    app.script.asked(asked + 1).await;
    app.crash().await;
    app.script([text("It is time.")]);
    app.start_again().await;
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'task' AND state = 'completed'").await, 1);
}

#[tokio::test]
async fn a_person_makes_and_changes_a_task_by_hand_under_the_same_law() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    client.follow().await;
    let order = async |method: Method, path: &str, body: Value| {
        let (status, queued) = ask(&app, method, path, Some(body)).await;
        assert_eq!(status, 202, "{queued}");
    };
    order(Method::POST, "/api/tasks", json!({"title": " Call Ada at 14:30 ", "details": "all of them"})).await;
    let frames = client.turn().await;
    assert_eq!((&frames[0]["origin"], &frames[0]["content"]), (&json!("command"), &json!("Add the task “Call Ada at 14:30”")));
    let on_the_list = "The task “Call Ada at 14:30” is on the list.";
    assert_eq!(of_type(&frames, "tool_result")["said"], on_the_list);
    assert_eq!(of_type(&frames, "assistant")["content"], on_the_list, "what a screen reader and a client hear");
    app.script([text("Hello.")]);
    client.ask("hello").await;
    let request = app.script.requests().pop().unwrap();
    assert!(!format!("{:?}", request.entries).contains(on_the_list), "it is no text for a model");
    let at = format!("http://{}/api/conversations/{}/export", app.address(), client.hello["conversation"]);
    let export = crate::support::api::client().get(at).send().await.unwrap().text().await.unwrap();
    assert!(export.matches(on_the_list).count() == 1 && !export.contains("\"title\""), "{export}");
    let made = &of_type(&frames, "task")["task"];
    assert_eq!(
        (&made["title"], &made["due_at"]),
        (&json!("Call Ada at 14:30"), &json!(null)),
        "a title with a time needs no date"
    );

    order(Method::PATCH, "/api/tasks/1", json!({"status": "done", "due_at": "2026-11-21T09:00:00+01:00"})).await;
    let frames = client.turn().await;
    let said = "Change the task 1, “Call Ada at 14:30”: done, due 2026-11-21 08:00 UTC";
    assert_eq!(frames[0]["content"], said);
    let task = &of_type(&frames, "task")["task"];
    assert_eq!((&task["status"], &task["due_at"]), (&json!("done"), &json!("2026-11-21T08:00:00Z")));
    assert_eq!(task["details"], "all of them", "what is left out stays");
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE tool = 'manage_tasks' AND verdict = 'allow'").await, 2);

    // The law refuses the person's order as it would refuse the agent's call.
    let mode = Some(json!({"mode": "read_only"}));
    assert_eq!(ask(&app, Method::PUT, "/api/policy/builder", mode).await.0, 200);
    order(Method::PATCH, "/api/tasks/1", json!({"due_at": ""})).await;
    let refused = client.turn().await;
    assert_eq!(of_type(&refused, "tool_result")["refusal"], "forbidden");
    assert_eq!(app.count("SELECT count(*) FROM tasks WHERE due_at IS NULL").await, 0);
    app.check_replay().await;
}

#[tokio::test]
async fn a_task_that_a_person_deletes_by_hand_is_asked_about_like_any_other() {
    let app = TestApp::start().await;
    make_task(&app, "Call Ada", "2026-11-21T08:00:00Z").await;
    let mut client = app.connect().await;
    client.follow().await;
    for (approved, left) in [(false, 1), (true, 0)] {
        assert_eq!(ask(&app, Method::DELETE, "/api/tasks/1", None).await.0, 202);
        let asking = client.asked().await;
        assert_eq!((&asking["tool"], &asking["arguments"]["action"]), (&json!("manage_tasks"), &json!("delete")));
        if approved {
            client.approve(&asking).await;
        } else {
            client.deny(&asking).await;
        }
        client.turn().await;
        assert_eq!(app.count("SELECT count(*) FROM tasks").await, left);
    }
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'command'").await, 2);
    app.check_replay().await;
}

#[tokio::test]
async fn a_client_hears_that_a_list_changed_in_a_conversation_that_it_does_not_follow() {
    let app = TestApp::start().await;
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    let mut watching = app.connect().await;
    watching.follow().await;
    let mut beside = app.connect().await;
    let written = json!({
        "name": "double", "description": "For the test.", "code": "export default ({ n }) => n * 2",
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    });
    let made = ("manage_tasks", json!({"action": "create", "title": "Water the plants"}));
    app.script([calls(&[made, ("write_capability", written)]), text("Made.")]);
    beside.send(json!({"type": "message", "content": "make both", "conversation": other})).await;
    let heard = watching.until(|frame| frame["list"] == "capabilities").await;
    let changed = ["conversations", "tasks", "capabilities"].map(|list| json!({"type": "changed", "list": list}));
    assert_eq!(heard, changed, "and that something runs there");
    let frames = beside.turn().await;
    assert!(frames.iter().all(|frame| frame["type"] != "changed"), "who follows it sees the change itself: {frames:?}");
}
