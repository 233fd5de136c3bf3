//! Conditions and proposals name tasks and leads of their own campaign; in the list that makes one,
//! tasks name each other by their places.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, two_tasks};
use crate::support::{TestApp, call, text};

const PEOPLE: &str = "full_name,profile_url\nAda,https://x.example/a\n";

fn done(nth: i64) -> Value {
    json!([{"kind": "task_done", "nth": nth}])
}

impl Desk {
    /// The words of a refusal of what does not fit.
    async fn refused(&self, path: &str, body: Value) -> String {
        let (status, refused) = self.ask(Method::POST, path, Some(body)).await;
        assert_eq!(status, 400, "{path}: {refused}");
        refused["error"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn campaign_conditions_name_tasks_and_leads_of_their_own_campaign() {
    let desk = Desk::start(two_tasks()).await;
    assert_eq!(desk.ask(Method::POST, "/1/leads", Some(json!({"csv": PEOPLE}))).await.0, 200);
    for (first, second, told) in [
        (
            json!([]),
            json!([{"kind": "task_done", "task": 1}]),
            "tasks[1].preconditions[0]: the tasks of a new campaign have no numbers",
        ),
        (json!([]), done(3), "tasks[1].preconditions[0].nth: is 3; the places are 1 to 2"),
        (json!([]), done(0), "tasks[1].preconditions[0].nth: is 0; the places are 1 to 2"),
        (done(2), done(1), "tasks[0]: waits for good"),
        (
            json!([]),
            json!([{"kind": "lead_status", "lead": 1, "status": "won"}]),
            "tasks[1].preconditions[0].lead: a new campaign has no leads yet",
        ),
    ] {
        let tasks = json!([{"description": "One", "preconditions": first}, {"description": "Two", "preconditions": second}]);
        let refused = desk.refused("", json!({"name": "Second", "tasks": tasks})).await;
        assert!(refused.starts_with(told), "{told}: {refused}");
    }
    assert_eq!(desk.app.count("SELECT count(*) FROM campaigns").await, 1);

    // Numbers count over all campaigns, and places within the list.
    let tasks = json!([{"description": "Two", "preconditions": done(2)}, {"description": "One"}]);
    let (status, made) = desk.ask(Method::POST, "", Some(json!({"name": "Second", "tasks": tasks}))).await;
    assert_eq!(status, 200, "{made}");
    let second = format!("/{}", made["id"]);
    let tasks = desk.get(&second).await["tasks"].clone();
    assert_eq!(tasks[0]["metadata"]["preconditions"], json!([{"kind": "task_done", "task": tasks[1]["id"]}]), "{tasks}");
    for (conditions, told) in [
        (
            json!({"preconditions": [{"kind": "task_done", "task": 1}]}),
            "preconditions[0].task: this campaign has no task 1; its tasks are",
        ),
        (
            json!({"requires": [{"kind": "lead_status", "lead": 1, "status": "won"}]}),
            "requires[0].lead: there is no lead 1 in this campaign",
        ),
    ] {
        let mut task = conditions;
        task["description"] = json!("Three");
        let refused = desk.refused(&format!("{second}/tasks"), task.clone()).await;
        assert!(refused.starts_with(told), "{told}: {refused}");
        let (status, taken) = desk.ask(Method::POST, "/1/tasks", Some(task)).await;
        assert_eq!(status, 200, "it is the first campaign's own: {taken}");
    }
    desk.check().await;
}

#[tokio::test]
async fn campaign_conditions_that_nothing_can_meet_are_refused_with_their_place() {
    let desk = Desk::start(two_tasks()).await;
    let script = |name: &str| json!({"kind": "script_succeeded", "artifact": name});
    let asks = |question: &str| json!({"kind": "user_answered", "question": question});
    let runs = |arguments: Value| json!({"kind": "tool_succeeded", "tool": "run_script", "arguments": arguments});
    for (condition, told) in [
        (asks(""), "requires[0].question: `` is no key"),
        (asks("Q"), "requires[0].question: `Q` is no key"),
        (script("file/x"), "requires[0].artifact: `file/x` is no script: name it by KEY, js_script/KEY or python_script/KEY"),
        (script("js_script/X"), "requires[0].artifact: `X` is no key"),
        (script(""), "requires[0].artifact: `` is no key"),
        (runs(json!([])), "requires[0].arguments: is []; a tool is given an object"),
        (runs(json!("sum")), "requires[0].arguments: is \"sum\"; a tool is given an object"),
    ] {
        let task = json!({"description": "More", "requires": [condition]});
        let refused = desk.refused("/1/tasks", task.clone()).await;
        assert!(refused.starts_with(told), "{told}: {refused}");
        let refused = desk.refused("", json!({"name": "Second", "tasks": [task]})).await;
        assert!(refused.starts_with(&format!("tasks[0].{told}")), "{told}: {refused}");
    }
    for condition in [asks("tone"), script("sum"), script("python_script/sum"), runs(json!({})), runs(Value::Null)] {
        let task = json!({"description": "More", "requires": [condition]});
        let (status, taken) = desk.ask(Method::POST, "/1/tasks", Some(task)).await;
        assert_eq!(status, 200, "{taken}");
    }
    desk.check().await;
}

#[tokio::test]
async fn campaign_proposals_that_name_what_is_none_of_the_campaign_are_refused_before_anybody_is_asked() {
    let desk = Desk::start(two_tasks()).await;
    let new = |field: &str, conditions: Value| {
        let mut task = json!({"why": "More", "description": "Another"});
        task[field] = conditions;
        call("create_task", task)
    };
    desk.app.script([
        call("analyze_leads", json!({"task": 1, "key": "fit", "analysis": "Fits", "leads": [7], "lead_status": "won"})),
        new("preconditions", json!([{"kind": "task_done", "task": 9}])),
        new("requires", json!([{"kind": "lead_status", "lead": 7, "status": "won"}])),
    ]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals").await, 0);
    let refused = desk.get("/1/log?log=events&kind=proposal_refused").await.to_string();
    for told in [
        "leads: there is no lead 7 in this campaign",
        "preconditions[0].task: this campaign has no task 9; its tasks are 1, 2",
        "requires[0].lead: there is no lead 7 in this campaign",
    ] {
        assert!(refused.contains(told), "{told}: {refused}");
    }
    desk.check().await;
}

#[tokio::test]
async fn campaign_hosts_are_read_at_the_door_and_the_advice_of_a_start_leads_out() {
    let desk = Desk { app: TestApp::start().await };
    let reads = |host: &str| json!({"description": "Read", "requires": [{"kind": "page_read", "host": host, "contains": "x"}]});
    for host in ["http://127.0.0.1:21402/", "http://x/", "127.0.0.1:21402", "*.example.com", "a b"] {
        let refused = desk.refused("", json!({"name": "Pages", "tasks": [reads(host)]})).await;
        assert!(refused.starts_with("tasks[0].requires[0].host: `"), "{host}: {refused}");
    }
    let tasks = json!([reads("Example.com"), reads("127.0.0.1")]);
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Pages", "tasks": tasks}))).await.0, 200);
    let keep = |content: &str| json!({"type": "environment", "key": "environment", "content": content});
    for host in ["*", "user@x", "x:0", "127.0.0.1:99999", "a b"] {
        let refused = desk.refused("/1/artifacts", keep(&json!({"hosts": ["shop.test", host]}).to_string())).await;
        assert!(refused.starts_with(&format!("content: hosts[1]: `{host}` is no host")), "{refused}");
    }
    let kept = keep(r#"{"settings": {"word": "hi"}, "hosts": ["shop.test"]}"#);
    assert_eq!(desk.ask(Method::POST, "/1/artifacts", Some(kept)).await.0, 200);

    desk.app.script([text("ready"), text("ready")]);
    let (status, refused) = desk.ask(Method::POST, "/1/start", None).await;
    let told = refused["error"].as_str().unwrap();
    assert!(status == 409 && told.contains("task 1 reads a page of example.com, which is no host of this campaign"), "{told}");
    let advice = told.split_once(" FILE with ").unwrap().1.lines().next().unwrap();
    let content: Value = serde_json::from_str(advice).unwrap();
    assert_eq!(content, json!({"settings": {"word": "hi"}, "hosts": ["shop.test", "127.0.0.1", "example.com"]}));
    assert_eq!(desk.ask(Method::POST, "/1/artifacts", Some(keep(advice))).await.0, 200);
    let (_, again) = desk.ask(Method::POST, "/1/start", None).await;
    assert!(!again.to_string().contains("no host"), "{again}");
}
