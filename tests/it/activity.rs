//! Events and things that are due, as a person looks them up, and capabilities called by hand.

use level3::domain::WakeUpKind;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor;

use crate::api::two_versions;
use crate::support::api::ask;
use crate::support::people::two_people;
use crate::support::{TestApp, call, text};

/// Something of each kind that is due tomorrow, for each of two users: 1000 is the first's, 2000
/// the second's.
const DUE: &str = "
    SET session_replication_role = replica;
    CREATE TEMP TABLE p AS
        SELECT u, 1000 * u AS n, '2026-11-20T08:00Z'::timestamptz AS made, '2026-11-21T08:00Z'::timestamptz AS at
        FROM generate_series(1, 2) u;
    INSERT INTO conversations (conversation_id, user_id, profile, created_at) SELECT n, u, 'builder', made FROM p;
    INSERT INTO tasks (task_id, conversation_id, user_id, title, due_at, remind_at, created_at, updated_at)
        SELECT n, n, u, 'Water', at, at, made, made FROM p;
    INSERT INTO timers (user_id, conversation_id, state, minutes, task_id, ends_at) SELECT u, n, 'running', 25, n, at FROM p;
    INSERT INTO voice_calls (voice_call_id, user_id, conversation_id, adapter, state, started_at, beat_at)
        SELECT n, u, n, 'browser', 'connecting', made, at FROM p;
    INSERT INTO approvals (approval_id, turn_id, tool_call_id, conversation_id, proposal_sha256, shown, state, created_at,
                           expires_at)
        SELECT n, n, n, n, '', '{\"tool\": \"execute_sql\"}', 'pending', made, at FROM p;
    INSERT INTO relay_instances (instance_id, conversation_id, channel, contact, objective, heartbeat_seconds, max_follow_ups,
                                 state, heartbeat_at, created_at, updated_at)
        SELECT n, n, 'loopback', '+49170' || n, 'Arrange', 1800, 5, 'WAITING_FOR_REPLY', at, made, made FROM p;
    INSERT INTO campaigns (id, conversation_id, name, status, next_at, cycles, idle_cycles, bad_answers, carried,
                           created_at, updated_at)
        SELECT n, n, 'Outreach', 'active', at, 0, 0, 0, '[]', made, made FROM p;
    INSERT INTO kept_calls (kept_id, room, tool_call_id, created_at) SELECT n, 0, n, made FROM p;
    INSERT INTO wake_ups (kind, subject, at) SELECT kind, subject, at FROM to_come;";

async fn get(app: &TestApp, path: &str) -> Value {
    let (status, answer) = ask(app, Method::GET, path, None).await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

/// The sentences of the events that are found.
async fn said(app: &TestApp, query: &str) -> Vec<String> {
    let found = get(app, &format!("/api/events{query}")).await;
    let events = found["events"].as_array().unwrap().iter();
    events.map(|event| event["said"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn events_are_found_by_kind_tool_outcome_conversation_and_time() {
    let app = TestApp::start().await;
    app.script([
        call("execute_sql", json!({"query": "SELECT 1 AS one"})),
        call("execute_sql", json!({"query": "SELEC"})),
        text("I see."),
    ]);
    let mut talk = app.connect().await;
    let main = talk.ask("look").await[0]["conversation"].clone();
    app.advance(3600);
    app.script([call("manage_tasks", json!({"action": "list"})), text("None.")]);
    talk.ask("tasks?").await;

    let ended = "?kind=tool_call_ended";
    let refused = "The database refused the statement; nothing of it was kept. The reason: syntax error at or near \"SELEC\".";
    assert_eq!(said(&app, ended).await, ["The tasks were looked at.", refused, "It gave 1 row."]);
    assert_eq!(said(&app, &format!("{ended}&tool=execute_sql&outcome=done")).await, ["It gave 1 row."]);
    assert_eq!(said(&app, &format!("{ended}&outcome=failed")).await, [refused]);
    assert_eq!(said(&app, &format!("{ended}&from=2026-11-20T08:30:00Z")).await, ["The tasks were looked at."]);
    assert_eq!(said(&app, &format!("{ended}&to=2026-11-20T08:30:00Z")).await.len(), 2);
    assert_eq!(said(&app, &format!("{ended}&conversation={main}")).await.len(), 3);
    assert!(said(&app, "?conversation=99").await.is_empty());
    let of_tool = get(&app, "/api/events?tool=manage_tasks").await;
    let kinds: Vec<_> = of_tool["events"].as_array().unwrap().iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds, ["tool_call_ended", "tool_call_proposed"]);
    assert_eq!(said(&app, "?outcome=done&kind=turn_ended").await.len(), 2);

    // Each comes whole beside its sentence, so that a page can say it in words of its own; the same
    // sentence stands in the turn's replay.
    let found = get(&app, "/api/events?kind=tool_call_ended&tool=manage_tasks").await;
    let event = &found["events"][0]["event"];
    assert_eq!((&event["kind"], &event["name"]), (&json!("tool_call_ended"), &json!("manage_tasks")));
    let turn = get(&app, &format!("/api/replay/turns/{}", event["turn"])).await;
    assert_eq!((&found["events"][0]["profile"], &turn["profile"]), (&json!("builder"), &json!("builder")));
    let replayed = turn["events"].as_array().unwrap().iter().find(|event| event["kind"] == "tool_call_ended").unwrap();
    assert_eq!((&replayed["said"], &replayed["call"]), (&json!("The tasks were looked at."), &event["call"]));
    let long: String = (0..1000).map(|number| format!("{number} ")).collect();
    app.script([text(&long)]);
    talk.ask("write").await;
    let found = get(&app, "/api/events?kind=step_answered").await;
    let content = found["events"][0]["event"]["content"].as_str().unwrap();
    assert!(content.starts_with("0 1 2 ") && content.len() < 600, "{content}");
}

#[tokio::test]
async fn events_come_in_pages_and_none_twice() {
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    for number in 0..40 {
        app.script([text("I see.")]);
        talk.ask(&format!("number {number}")).await;
    }
    let (mut positions, mut before) = (Vec::new(), String::new());
    loop {
        let page = get(&app, &format!("/api/events{before}")).await;
        let events = page["events"].as_array().unwrap();
        assert!(events.len() <= 100);
        positions.extend(events.iter().map(|event| event["position"].as_i64().unwrap()));
        let Some(next) = page["next"].as_i64() else { break };
        before = format!("?before={next}");
    }
    assert!(positions.is_sorted_by(|newer, older| newer > older), "{positions:?}");
    assert_eq!(i64::try_from(positions.len()).unwrap(), app.count("SELECT count(*) FROM events").await);
}

#[tokio::test]
async fn the_heartbeat_tells_what_it_did_and_what_is_next() {
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    for (title, due_at) in [("Call Ada", "2026-11-20T08:00:30Z"), ("Call Bob", "2026-11-21T08:00:00Z")] {
        app.script([call("manage_tasks", json!({"action": "create", "title": title, "due_at": due_at})), text("made")]);
        talk.ask("make it").await;
    }
    app.script([call("manage_tasks", json!({"action": "complete", "id": 1})), text("Time to call Ada.")]);
    app.advance(30);
    talk.turn().await;
    let told = get(&app, "/api/heartbeat").await;
    assert_eq!(told["did"][0]["said"], "The task “Call Ada” fell due.");
    let next = &told["next"][0];
    assert_eq!(
        (&next["kind"], &next["title"], &next["at"]),
        (&json!("task"), &json!("Call Bob"), &json!("2026-11-21T08:00:00Z"))
    );
}

#[tokio::test]
async fn what_is_due_is_told_to_the_user_whose_it_is_whatever_its_kind() {
    let (app, owner, ana) = two_people().await;
    app.leaves("its rows were made by hand");
    app.rewrites("its rows were made by hand");
    app.behind().await.execute(DUE).await.unwrap();
    for (person, user, number) in [(owner, 1, 1000), (ana, 2, 2000)] {
        let next = person.ask(Method::GET, "/api/heartbeat", None).await.1["next"].clone();
        let told = next.as_array().unwrap().iter();
        let mut told: Vec<_> = told.map(|due| (due["kind"].as_str().unwrap(), due["subject"].as_i64().unwrap())).collect();
        // A new kind has to be told, too.
        let mut theirs: Vec<_> = WakeUpKind::ALL
            .iter()
            .filter(|kind| **kind != WakeUpKind::Kept)
            .map(|kind| (kind.as_str(), if *kind == WakeUpKind::Timer { user } else { number }))
            .collect();
        if user == 1 {
            theirs.extend([("kept", 1000), ("kept", 2000)]);
        }
        told.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(told, theirs);
        let title = |kind: &str| next.as_array().unwrap().iter().find(|due| due["kind"] == kind).unwrap()["title"].clone();
        let titles = ["task", "reminder", "timer", "voice", "approval", "campaign"].map(title);
        assert_eq!(json!(titles), json!(["Water", "Water", "Water", null, "execute_sql", "Outreach"]));
        assert_eq!(title("follow_up"), format!("+49170{number}"));
    }
}

#[tokio::test]
async fn a_capability_is_called_by_hand_under_the_same_law_and_its_calls_are_counted() {
    let app = two_versions().await;
    let call = async |body: Value| ask(&app, Method::POST, "/api/capabilities/greet/call", Some(body)).await;
    let (status, queued) = call(json!({"arguments": {}})).await;
    assert_eq!(status, 202, "{queued}");
    let turn = get(&app, &format!("/api/turns/{}?wait=true", queued["turn"])).await;
    assert_eq!((&turn["results"][0]["ok"], &turn["results"][0]["result"]), (&json!(true), &json!("good day")), "{turn}");
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE tool = 'greet' AND verdict = 'allow'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'command'").await, 1);

    // The law refuses the person's call as it would refuse the agent's.
    let rule = Some(json!({"rule": "never"}));
    assert_eq!(ask(&app, Method::PUT, "/api/policy/builder/rules/greet", rule).await.0, 200);
    let (_, queued) = call(json!({})).await;
    let turn = get(&app, &format!("/api/turns/{}?wait=true", queued["turn"])).await;
    assert_eq!(turn["results"][0]["ok"], false, "{turn}");

    let listed = get(&app, "/api/capabilities").await;
    let calls = &listed["capabilities"][0]["calls"];
    assert_eq!((&calls["calls"], &calls["failures"]), (&json!(2), &json!(1)));
    assert!(calls["p50_ms"].is_i64(), "{calls}");
    assert_eq!(calls["per_day"].as_array().unwrap().last().unwrap(), 2);
    assert_eq!(calls["last_error"]["said"], "The rules do not allow it, so nothing was done.");

    ask(&app, Method::POST, "/api/capabilities/greet/disable", None).await;
    let (status, refused) = call(json!({})).await;
    assert!(status == 409 && refused["error"].as_str().unwrap().contains("disabled"), "{refused}");
    app.check_replay().await;
}

#[tokio::test]
async fn a_call_by_hand_that_the_rules_ask_about_waits_for_a_person_and_is_not_made_if_they_refuse() {
    let app = two_versions().await;
    let rule = Some(json!({"rule": "ask"}));
    assert_eq!(ask(&app, Method::PUT, "/api/policy/builder/rules/greet", rule).await.0, 200);
    let mut last = Value::Null;
    for (decision, body) in [("deny", json!({"reason": "not today"})), ("approve", json!({"always": false}))] {
        let (status, queued) = ask(&app, Method::POST, "/api/capabilities/greet/call", Some(json!({"arguments": {}}))).await;
        assert_eq!(status, 202, "{queued}");
        let turn = format!("/api/turns/{}?wait=true", queued["turn"]);
        let waits = get(&app, &turn).await;
        assert_eq!((&waits["state"], &waits["results"]), (&json!("awaiting_approval"), &json!([])), "{waits}");
        let question = get(&app, &format!("/api/approvals/{}", waits["approval"])).await;
        assert_eq!((&question["state"], &question["shown"]["tool"]), (&json!("pending"), &json!("greet")), "{question}");
        let path = format!("/api/approvals/{}/{decision}", waits["approval"]);
        assert_eq!(ask(&app, Method::POST, &path, Some(body)).await.0, 200);
        let done = get(&app, &turn).await;
        let page = get(&app, &format!("/api/conversations/{}/frames", queued["conversation"])).await;
        last = page["frames"].as_array().unwrap().iter().rfind(|frame| frame["type"] == "tool_result").cloned().unwrap();
        let was_made = decision == "approve";
        assert_eq!((&done["results"][0]["ok"], last["ms"].is_i64()), (&json!(was_made), was_made), "{done} {last}");
        let permits = app.count("SELECT count(*) FROM audit_entries WHERE tool = 'greet' AND verdict = 'ask'").await;
        assert_eq!(permits, i64::from(was_made));
    }
    assert_eq!(last["result"], "good day");
    app.check_replay().await;
}

#[tokio::test]
async fn the_fault_of_a_call_is_told_to_a_person_without_the_advice_to_a_model() {
    let app = TestApp::start().await;
    let code = "export default function half(params) { if (params.n % 2) throw new Error('it is odd'); return params.n / 2 }";
    let half = json!({
        "name": "half",
        "description": "For the test.",
        "code": code,
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    });
    app.script([call("write_capability", half), text("done")]);
    app.connect().await.ask("write").await;
    let called = async |n: Value| {
        let body = Some(json!({"arguments": {"n": n}}));
        let (_, queued) = ask(&app, Method::POST, "/api/capabilities/half/call", body).await;
        get(&app, &format!("/api/turns/{}?wait=true", queued["turn"])).await;
        let page = get(&app, &format!("/api/conversations/{}/frames", queued["conversation"])).await;
        let ended = page["frames"].as_array().unwrap().iter().rfind(|frame| frame["type"] == "tool_result").cloned().unwrap();
        let listed = get(&app, "/api/capabilities").await;
        (ended, listed["capabilities"][0]["calls"]["last_error"]["said"].clone())
    };
    let (ended, last) = called(json!("x")).await;
    assert!(ended["result"].as_str().unwrap().contains("The parameters schema is: {"), "{ended}");
    let said = "The arguments did not fit, so nothing was done. The reason: `/n`: \"x\" is not of type \"integer\".";
    assert_eq!((&ended["said"], &ended["fault"]), (&json!(said), &Value::Null), "the sentence says all there is");
    assert_eq!(last, "The arguments did not fit, so nothing was done.");
    let (ended, last) = called(json!(3)).await;
    assert!(ended["fault"]["message"] == "it is odd" && ended["fault"]["line"].is_u64(), "{ended}");
    assert_eq!(last, "it is odd");
    app.check_replay().await;
}
