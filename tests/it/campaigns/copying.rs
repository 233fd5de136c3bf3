//! A copy of a campaign names its own tasks, leads and versions, so it can be carried to its end;
//! and a chat that is forgotten takes its images with it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::TimeDelta;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, two_tasks};
use crate::images::PNG;
use crate::support::{call, text};

/// The note is there in this version.
fn note(version: i32) -> Value {
    json!({"kind": "artifact_exists", "type": "heuristic", "key": "note", "min_version": version})
}

/// Tasks of which the first is done with the first version of the note, and the other not with the
/// second.
fn first_tasks() -> Value {
    json!([
        {"description": "Keep a note", "requires": [note(1)]},
        {"description": "Improve the note", "preconditions": [{"kind": "task_done", "nth": 1}], "requires": [note(3)]},
    ])
}

/// Tasks that name a lead and tasks by their numbers, and are not done with the second version
/// either.
fn later_tasks() -> [Value; 2] {
    [
        json!({"description": "Look at Ada", "preconditions": [note(2)],
               "requires": [{"kind": "lead_status", "lead": 1, "status": "qualified"}]}),
        json!({"description": "Be ready", "preconditions": [{"kind": "task_done", "task": 3}],
               "requires": [{"kind": "task_done", "task": 1}]}),
    ]
}

async fn post(desk: &Desk, path: &str, body: Value) -> Value {
    let (status, told) = desk.ask(Method::POST, path, Some(body)).await;
    assert_eq!(status, 200, "{path}: {told}");
    told
}

/// A campaign with a task that is done, and two versions of a note and of a scoring config.
async fn half_done() -> Desk {
    let desk = Desk::start(first_tasks()).await;
    let csv = "full_name,profile_url,title\nAda,https://x.example/a,CTO\nBob,https://x.example/b,Cook\n";
    post(&desk, "/1/leads", json!({"csv": csv})).await;
    for task in later_tasks() {
        post(&desk, "/1/tasks", task).await;
    }
    for (content, weight) in [("Be brief", 5), ("Be brief and kind", 7)] {
        desk.keep("heuristic", "note", content).await;
        let config = json!({"rules": [{"attribute": "title", "equals": "cto", "weight": weight}]});
        desk.keep("lead_scoring_config", "scores", &config.to_string()).await;
    }
    let shown = desk.get("/1").await;
    let status: Vec<_> = shown["tasks"].as_array().unwrap().iter().map(|task| task["status"].clone()).collect();
    assert_eq!(status, ["done", "pending", "pending", "pending"], "{shown}");
    assert_eq!(desk.get("/1/leads").await["leads"][0]["scored"]["version"], 2);
    desk
}

#[tokio::test]
async fn campaign_copy_names_its_own_tasks_leads_and_versions_and_comes_to_its_end() {
    let desk = half_done().await;
    let made = post(&desk, "/1/copy", json!({})).await;
    assert_eq!(made["id"], 2, "{made}");
    let shown = desk.get("/2").await;
    let tasks = shown["tasks"].as_array().unwrap();
    let conditions = |n: usize| (&tasks[n]["metadata"]["preconditions"], &tasks[n]["metadata"]["requires"]);
    let note = |version: i32| json!([note(version)]);
    let ids: Vec<_> = tasks.iter().map(|task| task["id"].clone()).collect();
    assert_eq!(ids, [5, 6, 7], "the task that is done stays behind: {shown}");
    assert_eq!(conditions(0), (&json!([]), &note(2)), "one more version is wanted, as before");
    assert_eq!(conditions(1), (&note(1), &json!([{"kind": "lead_status", "lead": 3, "status": "qualified"}])));
    let (begins, wanted) = conditions(2);
    assert_eq!(begins, &json!([{"kind": "task_done", "task": 6}]));
    assert_eq!((wanted.as_array().unwrap().len(), &wanted[0]["kind"]), (1, &json!("after")), "no person has to finish it");
    let leads = desk.get("/2/leads").await;
    let ada = &leads["leads"][0];
    assert_eq!((&ada["id"], &ada["full_name"], &ada["weight_score"]), (&json!(3), &json!("Ada"), &json!(7)), "{leads}");
    assert_eq!(ada["scored"]["version"], 1, "{leads}");

    desk.app.script([text("ready")]);
    post(&desk, "/2/start", json!({})).await;
    let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
    post(&desk, "/2/contexts", json!({"kind": "persist", "count": 2, "until": until})).await;
    let better = json!({"task": 5, "type": "heuristic", "key": "note", "content": "Be brief, kind and clear"});
    let fits = json!({"task": 6, "key": "ada", "analysis": "Ada fits", "leads": [3], "lead_status": "qualified"});
    desk.app.script([call("persist_artifact", better), call("analyze_leads", fits)]);
    post(&desk, "/2/present", json!({})).await;
    desk.app.run_until_idle().await;
    let shown = desk.get("/2").await;
    assert_eq!(shown["campaign"]["status"], "completed", "{shown}");
    assert_eq!(desk.get("/1").await["tasks"][2]["status"], "pending", "nothing of the copy is the original's");
    let [tables, events] = [desk.get("/2/export?from=tables").await, desk.get("/2/export?from=events").await];
    assert_eq!(tables.to_string(), events.to_string());
    let verified = post(&desk, "/2/verify", json!({})).await;
    assert_eq!(verified["clean"], true, "{verified}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_copy_takes_a_precondition_that_was_met_by_the_original_for_met() {
    let answered = |question: &str| json!({"kind": "user_answered", "question": question});
    let scored = json!({"kind": "tool_succeeded", "tool": "score_leads", "arguments": {}});
    let desk = Desk::start(json!([
        {"description": "Ask", "requires": [answered("tone")]},
        {"description": "Draft", "preconditions": [answered("tone"), scored.clone()],
         "requires": [{"kind": "artifact_exists", "type": "message", "key": "hello"}]},
    ]))
    .await;
    desk.app.script([call("request_user_input", json!({"task": 1, "question": "tone", "text": "Formal?"}))]);
    post(&desk, "/1/present", json!({})).await;
    desk.app.run_until_idle().await;
    post(&desk, "/1/answer", json!({"task": 1, "question": "tone", "answer": "Formal"})).await;
    let shown = desk.get("/1").await;
    assert_eq!(shown["tasks"][0]["status"], "done", "{shown}");
    post(&desk, "/1/copy", json!({})).await;
    let copy = desk.get("/2").await;
    let tasks = copy["tasks"].as_array().unwrap();
    assert_eq!((tasks.len(), &tasks[0]["description"]), (1, &json!("Draft")), "{copy}");
    assert_eq!(tasks[0]["metadata"]["preconditions"], json!([scored]), "the answer was given, and nothing was scored: {copy}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_copy_keeps_a_persons_answers_to_open_tasks_and_asks_nobody_again() {
    let hello = json!({"kind": "artifact_exists", "type": "message", "key": "hello"});
    let answered = json!({"kind": "user_answered", "question": "tone"});
    let desk = Desk::start(json!([{"description": "Draft", "requires": [answered, hello]}])).await;
    desk.app.script([call("request_user_input", json!({"task": 1, "question": "tone", "text": "Formal?"}))]);
    post(&desk, "/1/present", json!({})).await;
    desk.app.run_until_idle().await;
    desk.app.script([call("no_op", json!({"task": 1, "why": "enough"}))]);
    post(&desk, "/1/answer", json!({"task": 1, "question": "tone", "answer": "Formal"})).await;
    desk.app.run_until_idle().await;
    post(&desk, "/1/copy", json!({})).await;
    let copy = desk.get("/2").await;
    let task = &copy["tasks"][0];
    assert_eq!(task["metadata"]["questions"][0]["answer"], "Formal", "{copy}");
    let unproven = task["unproven"].as_array().unwrap();
    assert!(unproven.len() == 1 && unproven[0].as_str().unwrap().contains("hello"), "the answer counts: {copy}");
    desk.check().await;
}

/// An image of its own for each number.
fn image(number: u8) -> Value {
    let mut bytes = STANDARD.decode(PNG).unwrap();
    bytes.push(number);
    json!({"media_type": "image/png", "data": STANDARD.encode(bytes)})
}

#[tokio::test]
async fn campaign_chat_that_is_forgotten_takes_the_images_with_it_that_nothing_else_names() {
    let desk = Desk::start(two_tasks()).await;
    let conversation = desk.get("/1").await["campaign"]["conversation_id"].clone();
    let mut page = desk.app.connect().await;
    let images = [image(0), image(1), image(2)];
    let look = json!({"type": "message", "conversation": conversation, "content": "look", "id": "m1", "images": images});
    page.send(look).await;
    let queued = page.until(|frame| frame["id"] == "m1").await.pop().unwrap();
    let names: Vec<_> = (0..3_usize).map(|n| queued["images"][n]["sha256"].as_str().expect("a name").to_owned()).collect();
    desk.app.run_until_idle().await;
    // The second is a picture of the campaign as well, and the third came with a message to the
    // assistant.
    desk.keep("picture", "shot", &names[1]).await;
    desk.app.script([text("A pixel.")]);
    page.send(json!({"type": "message", "content": "look", "id": "m2", "images": [image(2)]})).await;
    page.until(|frame| frame["id"] == "m2").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM attachments").await, 3);
    let told = post(&desk, "/1/forget-chat", json!({})).await;
    assert!(told["told"].as_str().unwrap().ends_with("messages are forgotten."), "{told}");
    let said = "SELECT count(*) FROM messages JOIN conversations USING (conversation_id) WHERE profile = 'campaign'";
    assert_eq!(desk.app.count(said).await, 0);
    let left = sqlx::query_scalar::<_, String>("SELECT sha256 FROM attachments ORDER BY sha256");
    let left = left.fetch_all(&mut desk.app.behind().await).await.unwrap();
    let mut wanted = names[1..].to_vec();
    wanted.sort_unstable();
    assert_eq!(left, wanted);
    desk.check().await;

    // The same image may come again.
    desk.app.script([text("A pixel, again.")]);
    page.send(json!({"type": "message", "content": "look again", "id": "m3", "images": [image(0)]})).await;
    page.until(|frame| frame["id"] == "m3").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM attachments").await, 3);
    desk.check().await;
}
