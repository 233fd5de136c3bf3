//! The HTTP interface: its answers, and how it refuses each wrong request.

use level3::domain::{ApprovalState, Channel, Origin};
use level3::facts::Event;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::{ask, client, waiting_approval};
use crate::support::{TestApp, call, text};

fn written(name: &str, code: &str) -> Value {
    json!({"name": name, "description": "For the test.", "code": code, "parameters_schema": {"type": "object"}})
}

/// A server with two versions of `greet`.
pub async fn two_versions() -> TestApp {
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    for code in ["export default () => 'hello'", "export default () => 'good day'"] {
        app.script([call("write_capability", written("greet", code)), text("done")]);
        talk.ask("write").await;
    }
    app
}

async fn get(app: &TestApp, path: &str) -> Value {
    let (status, answer) = ask(app, Method::GET, path, None).await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

async fn post(app: &TestApp, path: &str, body: Value) -> (u16, Value) {
    ask(app, Method::POST, path, Some(body)).await
}

#[tokio::test]
async fn an_approval_is_shown_and_decided_once() {
    let app = TestApp::start().await;
    app.rewrites("its question is written by hand");
    let id = waiting_approval(&app).await;
    let pending = get(&app, "/api/approvals?state=pending").await;
    assert_eq!(pending["approvals"][0]["id"], json!(id));
    let shown = get(&app, &format!("/api/approvals/{id}")).await;
    assert_eq!((&shown["state"], &shown["shown"]["why"]), (&json!("pending"), &json!("It asks for a power.")));
    app.script([text("done")]);
    let (status, approved) = post(&app, &format!("/api/approvals/{id}/approve"), json!({"always": false})).await;
    assert_eq!((status, &approved["state"], &approved["channel"]), (200, &json!("approved"), &json!("api")));
    app.run_until_idle().await;
    let (status, refused) = post(&app, &format!("/api/approvals/{id}/deny"), json!({"reason": "no"})).await;
    assert_eq!(
        (status, &refused["error"]),
        (409, &json!(format!("approval {id} is approved already; a decision is taken once")))
    );
    assert_eq!(get(&app, "/api/approvals?state=pending").await["approvals"], json!([]));
    assert_eq!(get(&app, "/api/approvals").await["approvals"][0]["state"], "approved");
}

#[tokio::test]
async fn a_refusal_keeps_its_reason_and_the_way_it_came_in() {
    let app = TestApp::start().await;
    app.rewrites("its question is written by hand");
    let id = waiting_approval(&app).await;
    app.script([text("I see.")]);
    let (status, denied) = post(&app, &format!("/api/approvals/{id}/deny"), json!({"reason": "Not today."})).await;
    assert_eq!((status, &denied["state"], &denied["reason"]), (200, &json!("denied"), &json!("Not today.")));
    app.run_until_idle().await;
    let approval = app.store().owners().approval(id).await.unwrap().unwrap();
    assert_eq!((approval.state, approval.channel), (ApprovalState::Denied, Some(Channel::Api)));
}

/// A request, and the status and words of its refusal.
type Wrong<'a> = (Method, &'a str, Option<Value>, u16, &'a str);

async fn refuses(app: &TestApp, rows: &[Wrong<'_>]) {
    for (method, path, body, status, said) in rows {
        let (answered, refused) = ask(app, method.clone(), path, body.clone()).await;
        let told = refused["error"].as_str().unwrap_or_default();
        assert!(answered == *status && told.contains(said), "{path}: {answered} {refused}");
    }
}

#[tokio::test]
async fn every_wrong_request_is_refused_with_a_sentence() {
    let app = two_versions().await;
    let (get, post, put) = (Method::GET, Method::POST, Method::PUT);
    let rows = [
        (get.clone(), "/api/nothing", None, 404, "docs/api.md"),
        (post.clone(), "/api/secrets", Some(json!({})), 405, "no such method"),
        (get.clone(), "/api/approvals/7", None, 404, "there is no approval 7"),
        (get.clone(), "/api/approvals/x", None, 400, "the address cannot be read: `x` is no number"),
        (get.clone(), "/api/approvals?state=open", None, 400, "query cannot be read"),
        (post.clone(), "/api/approvals/7/approve", None, 404, "there is no approval 7"),
        (post.clone(), "/api/approvals/7/approve", Some(json!({"always": "yes"})), 400, "`always`: expected true or false"),
        (post.clone(), "/api/approvals/7/approve", Some(json!([true])), 400, "must be a JSON object"),
        (post.clone(), "/api/approvals/7/deny", Some(json!({"confirmed": true})), 400, "confirmed"),
        (get.clone(), "/api/conversations?after=x", None, 400, "no place in the list"),
        (get.clone(), "/api/conversations/99/frames", None, 404, "99"),
        (get.clone(), "/api/conversations/1/frames?limit=0", None, 400, "a number from 1 to 1000"),
        (get.clone(), "/api/search", None, 400, "query cannot be read: missing field `q`"),
        (Method::PATCH, "/api/conversations/99", Some(json!({"pinned": true})), 404, "99"),
        (Method::PATCH, "/api/conversations/1", Some(Value::Null), 400, "must be a JSON object"),
        (Method::PATCH, "/api/conversations/1", Some(json!({"titel": "x"})), 400, "titel"),
        (Method::PATCH, "/api/conversations/1", Some(json!({"title": "x".repeat(401)})), 400, "longer than 400 bytes"),
        (Method::DELETE, "/api/conversations/99", None, 404, "99"),
        (post.clone(), "/api/tasks", Some(json!({"title": " "})), 400, "a task needs a `title`"),
        (post.clone(), "/api/tasks", Some(json!({"title": "t", "status": "done"})), 400, "no `status` yet"),
        (post.clone(), "/api/tasks", Some(json!({"title": "t", "due_at": "tomorrow"})), 400, "`due_at` is no time"),
        (Method::PATCH, "/api/tasks/99", Some(json!({"status": "done"})), 404, "there is no task 99"),
        (Method::DELETE, "/api/tasks/99", None, 404, "there is no task 99"),
        (Method::PATCH, "/api/tasks/99", Some(json!({})), 400, "nothing is to be changed"),
        (Method::PATCH, "/api/tasks/1", Some(json!({"status": "finished"})), 400, "finished"),
        (get.clone(), "/api/turns/99", None, 404, "there is no turn 99"),
        (get.clone(), "/api/capabilities/nobody", None, 404, "there is no capability `nobody`"),
        (get.clone(), "/api/capabilities/greet?version=9", None, 404, "`greet` has no version 9"),
        (get.clone(), "/api/capabilities/greet/diff?to=1", None, 409, "no version before 1"),
        (post.clone(), "/api/capabilities/nobody/disable", None, 404, "there is no capability `nobody`"),
        (post.clone(), "/api/capabilities/greet/rollback", Some(json!({"version": 9})), 404, "no version 9"),
        (post.clone(), "/api/capabilities/greet/rollback", Some(json!({"version": 2})), 409, "live already"),
        (post.clone(), "/api/capabilities/import", Some(json!({})), 400, "there is no `capability.json`"),
        (post.clone(), "/api/shipped/nobody/install", None, 404, "no capability `nobody` comes with level3"),
        (get.clone(), "/api/policy/No%20Profile", None, 400, "there is no profile `No Profile`"),
        (put.clone(), "/api/policy/builder", Some(json!({"mode": "wild"})), 400, "body cannot be taken"),
        (put.clone(), "/api/policy/builder", Some(json!({"budgets": {"turn": {"steps": -1}}})), 400, "`turn`"),
        (put.clone(), "/api/policy/operator", Some(json!({"governor": false})), 400, "the governor is always on"),
        (get.clone(), "/api/conversations?archived=x", None, 400, "`archived`: true or false is expected"),
        (put.clone(), "/api/policy/builder/rules/restart", Some(json!({})), 400, "missing field `rule`"),
        (put.clone(), "/api/policy/builder/rules/restart", Some(json!({"rule": "sometimes"})), 400, "sometimes"),
        (
            put.clone(),
            "/api/policy/builder/rules/nope",
            Some(json!({"rule": "always"})),
            400,
            "there is no tool `nope`; there are: execute_sql, write_capability, manage_tasks, restart, relay",
        ),
        (put.clone(), "/api/rates/m", Some(json!({"input_micros": -1, "output_micros": 0})), 400, "body cannot be taken"),
        (put.clone(), "/api/rates/m", None, 400, "missing field"),
    ];
    refuses(&app, &rows).await;
}

#[tokio::test]
async fn wrong_requests_about_branches_events_calls_and_the_server_are_refused_too() {
    let app = two_versions().await;
    let (get, post, put) = (Method::GET, Method::POST, Method::PUT);
    let rows = [
        (post.clone(), "/api/conversations", Some(json!({"from": {"conversation": 99, "seq": 0}})), 404, "99"),
        (post.clone(), "/api/conversations", Some(json!({"from": {"conversation": 1, "seq": 9999}})), 400, "no frame 9999"),
        (
            post.clone(),
            "/api/conversations",
            Some(json!({"profile": "builder", "from": {"conversation": 1, "seq": 0}})),
            400,
            "leave `profile` out",
        ),
        (get.clone(), "/api/conversations/99", None, 404, "99"),
        (get.clone(), "/api/conversations/99/export", None, 404, "99"),
        (get.clone(), "/api/conversations/1/export?format=pdf", None, 400, "query cannot be read"),
        (get.clone(), "/api/events?outcome=maybe", None, 400, "query cannot be read"),
        (get.clone(), "/api/events?from=yesterday", None, 400, "query cannot be read"),
        (get.clone(), "/api/events?tool=%00", None, 400, "characters"),
        (post.clone(), "/api/capabilities/nobody/call", None, 404, "there is no capability `nobody`"),
        (post.clone(), "/api/capabilities/greet/call", Some(json!({"arguments": [1]})), 400, "body cannot be taken"),
        (post.clone(), "/api/capabilities/greet/call", Some(json!({"conversation": 99})), 404, "99"),
        (put.clone(), "/api/settings", Some(json!({"NOPE": "1"})), 400, "there is no setting `NOPE`"),
        (put.clone(), "/api/settings", Some(json!({"LEVEL3_TOKEN": "x"})), 400, "in the environment or in .env only"),
        (put.clone(), "/api/settings", Some(json!({"HEARTBEAT_INTERVAL": "0"})), 400, "HEARTBEAT_INTERVAL"),
        (put.clone(), "/api/settings", Some(json!({"LLM_MODEL": "nowhere/x"})), 400, "LLM_MODEL"),
        (put.clone(), "/api/settings", Some(json!({"LLM_MODEL": 3})), 400, "body cannot be taken"),
        (post.clone(), "/api/models/test", Some(json!({"model": "nowhere/x"})), 400, "names no model"),
        (get.clone(), "/api/backup", None, 405, "no such method"),
    ];
    refuses(&app, &rows).await;
}

#[tokio::test]
async fn only_json_changes_something() {
    let app = TestApp::start().await;
    app.rewrites("its question is written by hand");
    app.leaves("nobody decides its question");
    let id = waiting_approval(&app).await;
    let at = format!("http://{}/api/approvals/{id}/approve", app.address());
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp"] {
        let refused = client().post(&at).header("content-type", kind).body("{}").send().await.unwrap();
        assert_eq!(refused.status(), 415, "{kind}");
        assert!(refused.json::<Value>().await.unwrap()["error"].as_str().unwrap().contains("application/json"));
    }
    for origin in ["http://evil.example", "null"] {
        let refused = client().post(&at).header("origin", origin).send().await.unwrap();
        assert_eq!(refused.status(), 403, "{origin}");
    }
    let huge = client().post(&at).header("content-type", "application/json").body(vec![b' '; 5 << 20]).send().await.unwrap();
    assert_eq!(huge.status(), 413);
    assert_eq!(app.store().owners().approval(id).await.unwrap().unwrap().state, ApprovalState::Pending);
}

#[tokio::test]
async fn capabilities_are_listed_shown_and_compared() {
    let app = two_versions().await;
    let list = get(&app, "/api/capabilities").await;
    let entry = &list["capabilities"][0];
    assert_eq!((&entry["name"], &entry["version"], &entry["versions"]), (&json!("greet"), &json!(2), &json!(2)));
    assert_eq!((&entry["state"], &entry["grants_in_words"]), (&json!("installed"), &json!([])));
    let old = get(&app, "/api/capabilities/greet?version=1").await;
    assert_eq!((&old["version"], &old["live"]), (&json!(1), &json!(2)));
    assert!(old["source"].as_str().unwrap().contains("hello"), "{old}");
    assert_eq!(old["versions"].as_array().unwrap().len(), 2);
    assert_eq!(old["sha256"].as_str().unwrap().len(), 64);
    let difference = get(&app, "/api/capabilities/greet/diff").await;
    assert_eq!((&difference["from"], &difference["to"]), (&json!(1), &json!(2)));
    let text = difference["diff"].as_str().unwrap();
    assert!(text.contains("--- source of version 1") && text.contains("'good day'") && !text.contains("grants"), "{text}");
    let same = get(&app, "/api/capabilities/greet/diff?from=2&to=2").await;
    assert_eq!(same["diff"], "");
}

#[tokio::test]
async fn a_person_goes_back_a_version_disables_and_enables() {
    let app = two_versions().await;
    let (status, done) = post(&app, "/api/capabilities/greet/rollback", json!({})).await;
    assert_eq!((status, done), (200, json!({"name": "greet", "version": 1, "state": "installed"})));
    app.script([call("greet", json!({})), text("hello")]);
    app.connect().await.ask("greet").await;
    let result = "SELECT count(*) FROM messages WHERE role = 'tool' AND content = 'hello'";
    assert_eq!(app.count(result).await, 1);
    let (status, nothing) = post(&app, "/api/capabilities/greet/rollback", json!({})).await;
    assert!(status == 409 && nothing["error"].as_str().unwrap().contains("no version before 1"), "{nothing}");
    let (_, disabled) = ask(&app, Method::POST, "/api/capabilities/greet/disable", None).await;
    assert_eq!(disabled["state"], "disabled");
    assert!(app.store().capability("greet").await.unwrap().is_none());
    assert!(app.store().capabilities().await.unwrap().is_empty());
    assert_eq!(get(&app, "/api/capabilities/greet").await["state"], "disabled");
    let (_, enabled) = ask(&app, Method::POST, "/api/capabilities/greet/enable", None).await;
    assert_eq!(enabled["state"], "installed");
    // To enable it once more changes nothing.
    ask(&app, Method::POST, "/api/capabilities/greet/enable", None).await;
    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    let events = app.store().owners().events_after(main, 0, 1000).await.unwrap();
    let changes = events.into_iter().filter_map(|record| match record.event {
        Event::CapabilityChanged(live) => Some((live.version, live.enabled)),
        _ => None,
    });
    assert_eq!(changes.collect::<Vec<_>>(), [(1, true), (1, false), (1, true)]);
}

#[tokio::test]
async fn a_version_that_may_do_more_comes_back_only_when_its_grants_are_confirmed() {
    let app = two_versions().await;
    app.rewrites("the grants of a version are changed by hand");
    let grants = json!({"log": {}, "clock": {}, "random": {}, "kv": {}});
    sqlx::query("UPDATE capability_versions SET grants = $1 WHERE version = 1")
        .bind(grants)
        .execute(&mut app.behind().await)
        .await
        .unwrap();
    sqlx::query("INSERT INTO tool_rules (profile, tool, rule, updated_at) VALUES ('builder', 'greet', 'always', now())")
        .execute(&mut app.behind().await)
        .await
        .unwrap();
    let (status, refused) = post(&app, "/api/capabilities/greet/rollback", json!({})).await;
    assert_eq!((status, &refused["grants_in_words"]), (409, &json!(["Keep values of its own between calls."])));
    assert!(refused["error"].as_str().unwrap().contains("confirm"), "{refused}");
    assert_eq!(get(&app, "/api/capabilities/greet").await["live"], 2);
    let (status, done) = post(&app, "/api/capabilities/greet/rollback", json!({"confirm_grants": true})).await;
    assert_eq!((status, &done["version"]), (200, &json!(1)));
    assert_eq!(app.count("SELECT count(*) FROM tool_rules").await, 0, "`always` was said of less");
    // A version with fewer grants needs no confirmation.
    assert_eq!(post(&app, "/api/capabilities/greet/rollback", json!({"version": 2})).await.0, 200);
}

#[tokio::test]
async fn an_exported_capability_comes_in_again_through_the_same_checks() {
    let app = two_versions().await;
    let mut folder = get(&app, "/api/capabilities/greet/export?version=1").await;
    assert_eq!(folder["capability.json"]["name"], "greet");
    folder["capability.json"]["name"] = json!("welcome");
    folder["capability.json"]["tests"] = json!([{"params": {}, "expect": "hello"}]);
    let (status, queued) = post(&app, "/api/capabilities/import", folder.clone()).await;
    assert_eq!(status, 202, "{queued}");
    let turn = get(&app, &format!("/api/turns/{}?wait=true", queued["turn"])).await;
    assert_eq!((&turn["state"], &turn["approval"]), (&json!("completed"), &Value::Null), "{turn}");
    assert_eq!((&turn["results"][0]["tool"], &turn["results"][0]["ok"]), (&json!("write_capability"), &json!(true)), "{turn}");
    assert_eq!(get(&app, "/api/capabilities/welcome").await["version"], 1);
    let (_, tested) = post(&app, "/api/capabilities/welcome/test", json!({})).await;
    assert_eq!(
        (&tested["passed"], &tested["failed"], &tested["results"][0]["ok"]),
        (&json!(1), &json!(0), &json!(true)),
        "{tested}"
    );
    folder["capability.json"]["tests"] = json!([{"params": {}, "expect": "something else"}]);
    let (_, queued) = post(&app, "/api/capabilities/import", folder).await;
    let turn = get(&app, &format!("/api/turns/{}?wait=true", queued["turn"])).await;
    assert_eq!(turn["results"][0]["ok"], false, "{turn}");
    assert_eq!(get(&app, "/api/capabilities/welcome").await["version"], 1);
    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    let events = app.store().owners().events_after(main, 0, 1000).await.unwrap();
    let orders = events.into_iter().filter_map(|record| match record.event {
        Event::TurnQueued(queued) if queued.origin == Origin::Command => Some(queued.content),
        _ => None,
    });
    assert_eq!(orders.collect::<Vec<_>>(), ["Import welcome", "Import welcome"]);
}

#[tokio::test]
async fn an_import_that_asks_for_a_power_waits_for_a_person() {
    let app = TestApp::start().await;
    let folder = json!({
        "capability.json": {"name": "counter", "description": "Counts.", "parameters": {"type": "object"}, "grants": {"kv": {}}},
        "source.js": "export default () => 1",
    });
    let (_, queued) = post(&app, "/api/capabilities/import", folder).await;
    let turn = get(&app, &format!("/api/turns/{}?wait=true", queued["turn"])).await;
    assert_eq!(turn["state"], "awaiting_approval", "{turn}");
    let shown = get(&app, &format!("/api/approvals/{}", turn["approval"])).await;
    assert_eq!(shown["shown"]["capability"]["grants_in_words"], json!(["Keep values of its own between calls."]), "{shown}");
    post(&app, &format!("/api/approvals/{}/deny", turn["approval"]), json!({})).await;
    let turn = get(&app, &format!("/api/turns/{}?wait=true", queued["turn"])).await;
    assert_eq!((&turn["state"], &turn["results"][0]["ok"]), (&json!("completed"), &json!(false)), "{turn}");
    assert_eq!(get(&app, "/api/capabilities").await["capabilities"], json!([]));
}

#[tokio::test]
async fn what_comes_with_level3_is_listed_and_not_installed() {
    let app = TestApp::start().await;
    let shipped = get(&app, "/api/shipped").await;
    for entry in shipped["shipped"].as_array().unwrap() {
        assert!(entry["installed"].is_null() && !entry["description"].as_str().unwrap().is_empty(), "{entry}");
    }
    assert_eq!(get(&app, "/api/capabilities").await["capabilities"], json!([]));
}

#[tokio::test]
async fn policy_rules_and_rates_are_set_and_read_back() {
    let app = TestApp::start().await;
    let before = get(&app, "/api/policy/builder").await;
    assert_eq!((&before["mode"], &before["governor"], &before["rules"]), (&json!("smart"), &json!(false), &json!({})));
    let change = json!({"mode": "ask", "budgets": {"day": {"steps": 100}}});
    let (_, after) = ask(&app, Method::PUT, "/api/policy/builder", Some(change)).await;
    assert_eq!(
        (&after["mode"], &after["governor"], &after["budgets"]["day"]["steps"]),
        (&json!("ask"), &json!(false), &json!(100))
    );
    let (_, ruled) = ask(&app, Method::PUT, "/api/policy/builder/rules/restart", Some(json!({"rule": "never"}))).await;
    assert_eq!((&ruled["mode"], &ruled["rules"]), (&json!("ask"), &json!({"restart": "never"})));
    let (_, free) = ask(&app, Method::PUT, "/api/policy/builder/rules/restart", Some(json!({"rule": null}))).await;
    assert_eq!(free["rules"], json!({}));
    let rate = json!({"input_micros": 2_500_000, "output_micros": 10_000_000});
    let (_, rates) = ask(&app, Method::PUT, "/api/rates/maker%2Fmodel-1", Some(rate.clone())).await;
    assert_eq!(rates, json!({"rates": {"maker/model-1": rate}}));
    let (_, rates) = ask(&app, Method::PUT, "/api/rates/maker%2Fmodel-1", Some(Value::Null)).await;
    assert_eq!((&rates, get(&app, "/api/rates").await), (&json!({"rates": {}}), rates.clone()));
}

#[tokio::test]
async fn usage_counts_what_was_asked() {
    let app = TestApp::start().await;
    app.script([call("execute_sql", json!({"query": "SELECT 1"})), text("one")]);
    app.connect().await.ask("look").await;
    let usage = get(&app, "/api/usage").await;
    assert_eq!((&usage["today"]["requests"], &usage["today"]["tool_calls"]["done"]), (&json!(2), &json!(1)), "{usage}");
    assert_eq!((&usage["models"][0]["model"], &usage["today"]["cost_micros"]), (&json!("scripted"), &Value::Null));
    assert_eq!(usage["models"][0]["p50_ms"], 0, "the clock of the test stands still");
}
