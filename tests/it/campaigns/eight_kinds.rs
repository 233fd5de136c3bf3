//! Each of the eight kinds of proposals is carried out in a running campaign, and its effect stands
//! in the interface and in the audit.

use std::sync::Arc;

use level3::domain::campaign::ProposalKind;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::Desk;
use crate::support::{Reply, call};

const PEOPLE: &str = "full_name,profile_url,title\nAda,https://x.example/a,CTO\nBob,https://x.example/b,Cook\n";
const SCORES: &str = r#"{"rules": [{"attribute": "title", "equals": "cto", "weight": 7}]}"#;

/// The places of two proposals among all: the one that scores the leads, and the one that does
/// nothing.
const SCORING: usize = 5;
const IDLE: usize = 9;

/// A kind of proposal, with its fields.
type Proposed = (&'static str, Value);

fn three_tasks() -> Value {
    let imported = json!({"kind": "tool_succeeded", "tool": "import_leads", "arguments": {"file": "people"}});
    json!([
        {"description": "Import the people", "requires": [imported, {"kind": "leads_at_least", "status": "new", "count": 2}]},
        {"description": "Score them", "preconditions": [{"kind": "task_done", "nth": 1}],
         "requires": [{"kind": "tool_succeeded", "tool": "score_leads"}]},
        {"description": "Draft a message",
         "requires": [{"kind": "artifact_exists", "type": "message", "key": "hello"}, {"kind": "user_answered", "question": "tone"}]},
    ])
}

/// The proposals of the model, in their order. The fourth makes task 4.
fn proposals() -> Vec<Proposed> {
    let judged = json!([{"kind": "lead_status", "lead": 1, "status": "qualified"},
        {"kind": "artifact_exists", "type": "analysis", "key": "fit"}]);
    vec![
        ("select_next_task", json!({"task": 1})),
        ("persist_artifact", json!({"task": 1, "type": "file", "key": "people", "content": PEOPLE})),
        ("execute_tool", json!({"task": 1, "tool": "import_leads", "arguments": {"file": "people"}})),
        (
            "create_task",
            json!({"why": "They differ.", "description": "Judge the leads", "preconditions": [{"kind": "task_done", "task": 1}],
                "requires": judged}),
        ),
        ("persist_artifact", json!({"task": 2, "type": "lead_scoring_config", "key": "scores", "content": SCORES})),
        ("execute_tool", json!({"task": 2, "tool": "score_leads", "arguments": {}})),
        ("analyze_leads", json!({"task": 4, "key": "fit", "analysis": "Ada may fit."})),
        ("analyze_leads", json!({"task": 4, "key": "fit", "analysis": "Ada fits.", "leads": [1], "lead_status": "qualified"})),
        ("generate_message", json!({"task": 3, "key": "hello", "text": "Good day"})),
        ("no_op", json!({"task": 3, "why": "Nobody has said how formal it is."})),
        ("request_user_input", json!({"task": 3, "question": "tone", "text": "Formal?"})),
    ]
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().unwrap().iter()
}

/// All that a proposal can bring about, as the interface shows it: how far each task is, the leads,
/// the newest versions of artifacts.
async fn effects(desk: &Desk) -> Value {
    let (shown, leads) = (desk.get("/1").await, desk.get("/1/leads").await);
    let tasks: Vec<_> = each(&shown["tasks"]).map(|task| task["status"].clone()).collect();
    let leads: Vec<_> =
        each(&leads["leads"]).map(|lead| json!([lead["full_name"], lead["status"], lead["weight_score"]])).collect();
    let kept = each(&shown["artifacts"]).map(|kept| json!([kept["type"], kept["key"], kept["version"], kept["source"]]));
    let artifacts: Vec<_> = kept.collect();
    json!({"tasks": tasks, "leads": leads, "artifacts": artifacts})
}

/// The person is asked about a proposal in this line, sees that nothing more is there than before,
/// and says yes.
async fn approved(desk: &Desk, line: &str, there: &Value) -> Value {
    let approval = desk.asked().await;
    assert!(each(&approval["shown"]["what"]).any(|shown| shown == line), "{line}: {approval}");
    assert_eq!(effects(desk).await, *there, "before the person says yes to: {line}");
    desk.decide(&approval, "approve").await;
    approval
}

/// The one line of the audit about this very proposal.
async fn audited(desk: &Desk, kind: &str, proposed: &Value) -> Value {
    let audit = desk.get(&format!("/1/log?log=audit&kind={kind}")).await;
    let written = |line: &Value| serde_json::from_str::<Value>(line["arguments"].as_str().unwrap()).unwrap();
    let lines: Vec<Value> = each(&audit).map(|line| line["payload"].clone()).filter(|line| written(line) == *proposed).collect();
    assert_eq!(lines.len(), 1, "{kind} {proposed}: {audit}");
    lines[0].clone()
}

#[tokio::test]
async fn campaign_proposals_of_all_eight_kinds_are_carried_out_and_do_what_they_say() {
    let (desk, proposals) = (Desk::start(three_tasks()).await, proposals());
    for kind in ProposalKind::ALL {
        assert!(proposals.iter().any(|(proposed, _)| *proposed == kind.as_str()), "{kind}");
    }
    let says = |n: usize| call(proposals[n].0, proposals[n].1.clone());
    let gate = Arc::new(Notify::new());
    desk.app.script((0..SCORING).map(says));
    desk.app.script([Reply::After(Arc::clone(&gate), Box::new(says(SCORING)))]);
    desk.app.script((SCORING + 1..=IDLE).map(says));
    desk.present().await;

    let mut there = json!({"tasks": ["in_progress", "pending", "pending"], "leads": [], "artifacts": []});
    let kept = approved(&desk, "Keeps the file people, version 1.", &there).await;
    there["artifacts"] = json!([["file", "people", 1, "agent"]]);
    let imported = approved(&desk, "Runs import_leads with {\"file\":\"people\"}.", &there).await;
    there["tasks"][0] = json!("done");
    there["leads"] = json!([["Ada", "new", 0], ["Bob", "new", 0]]);
    let made = approved(&desk, "Makes the task: Judge the leads", &there).await;
    there["tasks"] = json!(["done", "pending", "pending", "pending"]);
    let config = approved(&desk, "Keeps the lead_scoring_config scores, version 1.", &there).await;

    // The model thinks about its next proposal, after the check of the start and those before it.
    desk.app.script.asked(1 + SCORING + 1).await;
    there["tasks"][1] = json!("in_progress");
    there["leads"][0] = json!(["Ada", "new", 7]);
    there["artifacts"] = json!([["lead_scoring_config", "scores", 1, "agent"], ["file", "people", 1, "agent"]]);
    assert_eq!(effects(&desk).await, there, "a config that is kept scores the leads");
    // A config and an import score the leads by themselves. So scores are lost behind the program's
    // back, which `score_leads` brings back.
    let lost =
        sqlx::query("UPDATE leads SET weight_score = 0, scored = NULL").execute(&mut desk.app.behind().await).await.unwrap();
    assert_eq!(lost.rows_affected(), 2);
    gate.notify_one();

    there["tasks"][1] = json!("done");
    let first = approved(&desk, "Keeps the analysis fit, version 1.", &there).await;
    assert!(!first["shown"]["what"].to_string().contains("Sets these leads"), "{first}");
    there["tasks"][3] = json!("in_progress");
    there["artifacts"] =
        json!([["lead_scoring_config", "scores", 1, "agent"], ["analysis", "fit", 1, "agent"], ["file", "people", 1, "agent"]]);
    let second = approved(&desk, "1, Ada, new → qualified", &there).await;
    there["tasks"][3] = json!("done");
    there["leads"][0] = json!(["Ada", "qualified", 7]);
    there["artifacts"][1] = json!(["analysis", "fit", 2, "agent"]);
    let drafted = approved(&desk, "Keeps the message hello as a draft, version 1; nothing is sent.", &there).await;
    desk.app.run_until_idle().await;
    there["tasks"][2] = json!("in_progress");
    there["artifacts"] = json!([
        ["lead_scoring_config", "scores", 1, "agent"],
        ["message", "hello", 1, "agent"],
        ["analysis", "fit", 2, "agent"],
        ["file", "people", 1, "agent"]
    ]);
    assert_eq!(effects(&desk).await, there, "`no_op` does nothing");
    let shown = desk.get("/1").await;
    assert_eq!(shown["campaign"]["idle_cycles"], 1, "{shown}");
    assert_eq!(shown["leads"], json!({"new": 1, "qualified": 1}), "{shown}");

    desk.app.script([says(IDLE + 1)]);
    desk.app.advance(1);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert_eq!(effects(&desk).await, there, "a question alone brings no task further");
    let shown = desk.get("/1").await;
    let asking = &shown["tasks"][2];
    let open = json!([{"question": "tone", "text": "Formal?", "answer": null}]);
    assert_eq!(
        (&asking["metadata"]["questions"], &asking["unproven"]),
        (&open, &json!(["the person has answered tone"])),
        "{shown}"
    );
    assert!(asking["hindrance"].as_str().unwrap().contains("the question tone waits for an answer: Formal?"), "{shown}");
    let answer = json!({"task": 3, "question": "tone", "answer": "Formal"});
    assert_eq!(desk.ask(Method::POST, "/1/answer", Some(answer)).await.0, 200);
    desk.app.run_until_idle().await;
    there["tasks"][2] = json!("done");
    assert_eq!(effects(&desk).await, there);

    let shown = desk.get("/1").await;
    assert_eq!((&shown["campaign"]["status"], &shown["campaign"]["cycles"]), (&json!("completed"), &json!(11)), "{shown}");
    let by_model = &shown["tasks"][3];
    assert_eq!(
        (&by_model["description"], &by_model["metadata"]["why"], &by_model["metadata"]["source"]),
        (&json!("Judge the leads"), &json!("They differ."), &json!("agent")),
        "{shown}"
    );
    for task in [0_usize, 1] {
        let evidence = &shown["tasks"][task]["metadata"]["evidence"];
        assert_eq!(evidence[0]["calls"].as_array().map(Vec::len), Some(1), "the call is the evidence: {evidence}");
    }
    let leads = desk.get("/1/leads").await;
    let scored = json!({"key": "scores", "version": 1, "points": [{"rule": 0, "weight": 7}], "sum": 7});
    assert_eq!(leads["leads"][0]["scored"], scored, "{leads}");
    let versions = desk.get("/1/artifacts/analysis/fit").await;
    let said: Vec<_> = each(&versions["versions"]).map(|version| version["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["Ada may fit.", "Ada fits."]);

    let approvals = [
        None,
        Some(&kept),
        Some(&imported),
        Some(&made),
        Some(&config),
        None,
        Some(&first),
        Some(&second),
        Some(&drafted),
        None,
        None,
    ];
    for ((kind, proposed), approval) in proposals.iter().zip(approvals) {
        let line = audited(&desk, kind, proposed).await;
        let verdict = if approval.is_some() { "ask" } else { "allow" };
        let allowed = approval.map_or(Value::Null, |approval| approval["id"].clone());
        assert_eq!(
            (&line["verdict"], &line["outcome"], &line["approval"]),
            (&json!(verdict), &json!("done"), &allowed),
            "{kind}: {line}"
        );
    }
    let ended = desk.get("/1/log?log=events&kind=cycle_ended").await;
    let came: Vec<_> = each(&ended).map(|event| event["payload"]["came"].as_str().unwrap()).collect();
    assert_eq!(
        came,
        [
            "select_next_task was done: Task 1 is in progress.",
            "persist_artifact was done: The file people is kept as version 1.",
            "execute_tool was done: 2 leads are new, 0 were changed.",
            "create_task was done: Task 4 is made.",
            "persist_artifact was done: The lead_scoring_config scores is kept as version 1.",
            "execute_tool was done: 2 leads have another score than before.",
            "analyze_leads was done: The analysis fit is kept as version 1.",
            "analyze_leads was done: The analysis fit is kept as version 2. 1 leads are qualified. Task 4 is done.",
            "generate_message was done: The message hello is kept as version 1. Nobody was sent anything.",
            "no_op was done: Nothing was done.",
            "request_user_input was done: The person is asked: tone.",
        ]
    );
    desk.check().await;
}

#[tokio::test]
async fn campaign_proposals_that_a_person_is_asked_about_do_nothing_if_they_say_no() {
    let desk = Desk::start(json!([{"description": "Work", "requires": [{"kind": "user_answered", "question": "enough"}]}])).await;
    desk.keep("file", "others", "full_name,profile_url\nEve,https://x.example/e\n").await;
    assert_eq!(desk.ask(Method::POST, "/1/leads", Some(json!({"csv": PEOPLE}))).await.0, 200);
    let before = effects(&desk).await;
    assert_eq!(before["leads"].as_array().map(Vec::len), Some(2), "{before}");
    let asking: [Proposed; 5] = [
        ("create_task", json!({"why": "More is better.", "description": "Do more"})),
        ("execute_tool", json!({"task": 1, "tool": "import_leads", "arguments": {"file": "others"}})),
        ("generate_message", json!({"task": 1, "key": "hello", "text": "Good day"})),
        ("analyze_leads", json!({"task": 1, "key": "fit", "analysis": "Ada fits.", "leads": [1], "lead_status": "qualified"})),
        ("persist_artifact", json!({"task": 1, "type": "heuristic", "key": "note", "content": "Be brief"})),
    ];
    for (kind, proposed) in &asking {
        desk.app.script([call(kind, proposed.clone())]);
        // Each no lets the next cycle wait longer.
        desk.app.advance(300);
        desk.present().await;
        let approval = desk.asked().await;
        assert_eq!(approval["shown"]["tool"], *kind, "{approval}");
        desk.decide(&approval, "deny").await;
        desk.app.run_until_idle().await;
        assert_eq!(effects(&desk).await, before, "{kind}");
        let line = audited(&desk, kind, proposed).await;
        assert_eq!(
            (&line["verdict"], &line["outcome"], &line["refusal"]),
            (&json!("deny"), &json!("failed"), &json!("denied")),
            "{kind}: {line}"
        );
        assert_eq!(line["approval"], approval["id"], "{kind}: {line}");
    }
    desk.check().await;
}
