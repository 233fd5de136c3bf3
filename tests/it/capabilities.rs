//! The agent builds a tool for itself and uses it.

use level3::model::Entry;
use serde_json::{Value, json};
use sqlx::Executor;

use crate::support::{TestApp, call, calls, of_type, text};

fn capability(name: &str, code: &str) -> Value {
    json!({
        "name": name,
        "description": "For the test.",
        "code": code,
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    })
}

fn results(frames: &[Value]) -> Vec<(bool, String)> {
    let results = frames.iter().filter(|frame| frame["type"] == "tool_result");
    results.map(|frame| (frame["ok"].as_bool().unwrap(), frame["result"].as_str().unwrap().to_owned())).collect()
}

const DOUBLE: &str = "export default async function double(params) { console.log('doubling', params.n); return params.n * 2 }";

#[tokio::test]
async fn a_capability_is_built_and_used_in_the_same_turn() {
    let app = TestApp::start().await;
    let mut written = capability("double", DOUBLE);
    written["tests"] = json!([{"params": {"n": 2}, "expect": 4}]);
    app.script([call("write_capability", written), call("double", json!({"n": 21})), text("42")]);
    let frames = app.connect().await.ask("double 21").await;
    let results = results(&frames);
    assert!(results[0].0 && results[0].1.contains(r#""version":1"#), "{results:?}");
    assert_eq!(results[1], (true, "42".to_owned()));
    let live = of_type(&frames, "capability");
    assert_eq!((&live["name"], &live["version"]), (&json!("double"), &json!(1)));
    let logged = frames.iter().filter(|frame| frame["type"] == "tool_result").nth(1).unwrap();
    assert!(logged["logs"][0].as_str().unwrap().contains("doubling 21"), "{logged}");
    let offered: Vec<_> = app.script.requests()[1].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["execute_sql", "write_capability", "manage_tasks", "restart", "double"]);
}

#[tokio::test]
async fn without_tests_a_trial_call_shows_what_the_function_does() {
    let app = TestApp::start().await;
    let positional = capability("double", "export default async function double(n) { return n * 2 }");
    app.script([call("write_capability", positional), text("I see.")]);
    let results = results(&app.connect().await.ask("write").await);
    let told: Value = serde_json::from_str(&results[0].1).unwrap();
    let trial = told["trial"].as_str().unwrap();
    assert!(trial.starts_with(r#"With made-up arguments, double({"n":12}) gave null. Is that meant?"#), "{trial}");
    assert!(trial.contains("ONE object"), "{trial}");
}

#[tokio::test]
async fn a_draft_that_uses_what_it_asked_no_grant_for_is_refused_with_the_grants_it_needs() {
    let app = TestApp::start().await;
    let look = "export default async (params) => (await fetch(params.url)).status";
    let mut written = capability("look", look);
    written["parameters_schema"] = json!({"type": "object", "properties": {"url": {"type": "string"}}});
    app.script([call("write_capability", written), text("I see.")]);
    let results = results(&app.connect().await.ask("write").await);
    let told: Value = serde_json::from_str(&results[0].1).unwrap();
    assert_eq!((results[0].0, &told["error"]), (false, &json!("missing_grant")));
    assert!(told["message"].as_str().unwrap().ends_with("write it again with these grants"), "{told}");
    assert_eq!(told["grants"]["http"]["hosts"], json!(["example.com"]), "made up, so that nobody is asked about it");
    assert_eq!(app.count("SELECT count(*) FROM capability_versions").await, 0);
}

#[tokio::test]
async fn a_new_version_is_live_for_the_next_call_everywhere() {
    let app = TestApp::start().await;
    let triple = "export default async function double(params) { return params.n * 3 }";
    app.script([call("write_capability", capability("double", DOUBLE)), text("one")]);
    let mut here = app.connect().await;
    here.ask("write").await;
    app.script([calls(&[("write_capability", capability("double", triple)), ("double", json!({"n": 5}))]), text("two")]);
    let frames = here.ask("rewrite").await;
    assert_eq!(results(&frames)[1].1, "15");
    app.script([call("double", json!({"n": 1})), text("three")]);
    assert_eq!(results(&app.connect().await.ask("call").await)[0].1, "3");
    assert_eq!(app.count("SELECT count(*) FROM capability_versions WHERE name = 'double'").await, 2);
}

#[tokio::test]
async fn each_check_fails_with_its_own_error_and_keeps_nothing() {
    let app = TestApp::start().await;
    let with = |change: &dyn Fn(&mut Value)| {
        let mut written = capability("double", DOUBLE);
        change(&mut written);
        ("write_capability", written)
    };
    let asked = [
        with(&|w| w["code"] = json!("export default async function double(params) {\n  return params.n * ;\n}")),
        with(&|w| w["code"] = json!("import fs from 'fs';\nexport default () => 1")),
        with(&|w| w["code"] = json!("throw new Error('at load')")),
        with(&|w| w["code"] = json!("export const other = 1;")),
        with(&|w| w["name"] = json!("Double It")),
        with(&|w| w["parameters_schema"] = json!({"type": "object", "properties": {"n": {"type": "nonsense"}}})),
        with(&|w| w["tests"] = json!([{"params": {"n": 2}, "expect": 5}])),
        with(&|w| w["name"] = json!("restart")),
        with(&|w| w["grants"] = json!({"network": {}})),
        with(&|w| w["description"] = json!(" \n")),
        with(&|w| w["description"] = json!("x".repeat(4097))),
        with(&|w| w["code"] = json!([DOUBLE])),
    ];
    app.script([calls(&asked), text("nothing worked")]);
    let frames = app.connect().await.ask("try").await;
    let told: Vec<Value> = results(&frames)
        .iter()
        .map(|(ok, result)| {
            assert!(!ok, "{result}");
            serde_json::from_str(result).unwrap()
        })
        .collect();
    let kinds: Vec<_> = told.iter().map(|error| error["error"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "syntax_error",
            "import_error",
            "import_error",
            "missing_function",
            "invalid_name",
            "invalid_schema",
            "test_failed",
            "invalid_name",
            "unknown_grant",
            "invalid_arguments",
            "too_large",
            "invalid_arguments",
        ]
    );
    assert!(
        told[10]["message"].as_str().unwrap().starts_with("the description has 4097 bytes and may have 4096"),
        "{}",
        told[10]
    );
    assert!(told[11]["message"].as_str().unwrap().starts_with("`code`: invalid type: sequence"), "{}", told[11]);
    assert_eq!((&told[0]["line"], told[0]["offset"].is_u64()), (&json!(2), true));
    assert!(told.iter().all(|error| error["message"].as_str().is_some_and(|message| message.len() > 10)), "{told:#?}");
    assert_eq!(app.count("SELECT count(*) FROM capability_versions").await, 0);
}

#[tokio::test]
async fn arguments_are_checked_against_the_schema_before_the_call() {
    let app = TestApp::start().await;
    app.script([
        calls(&[("write_capability", capability("double", DOUBLE)), ("double", json!({"n": "two"})), ("double", json!({}))]),
        text("no"),
    ]);
    let results = results(&app.connect().await.ask("call wrongly").await);
    assert!(!results[1].0 && results[1].1.contains("/n") && results[1].1.contains("integer"), "{}", results[1].1);
    assert!(!results[2].0 && results[2].1.contains('n'), "{}", results[2].1);
}

#[tokio::test]
async fn a_capability_in_wat_is_the_same_kind_of_thing() {
    let app = TestApp::start().await;
    let mut written = capability("echo", include_str!("../../capabilities/examples/echo/source.wat"));
    written["language"] = json!("wat");
    written["parameters_schema"] = json!({"type": "object"});
    app.script([calls(&[("write_capability", written), ("echo", json!({"a": 1}))]), text("echoed")]);
    let results = results(&app.connect().await.ask("echo").await);
    assert!(results[0].0, "{}", results[0].1);
    assert!(results[1].0 && results[1].1.contains(r#"{"a":1}"#), "{}", results[1].1);
}

#[tokio::test]
async fn one_broken_capability_never_stops_the_others() {
    let app = TestApp::start().await;
    app.rewrites("a component is broken by hand");
    let good = capability("good", "export default async function good(params) { return 'fine' }");
    app.script([calls(&[("write_capability", capability("double", DOUBLE)), ("write_capability", good)]), text("two")]);
    let mut client = app.connect().await;
    client.ask("write").await;
    app.behind().await.execute("UPDATE capability_versions SET component = 'garbage' WHERE name = 'double'").await.unwrap();
    app.script([calls(&[("restart", json!({})), ("good", json!({"n": 1})), ("double", json!({"n": 1}))]), text("one")]);
    let results = results(&client.ask("reload").await);
    let reloaded: Value = serde_json::from_str(&results[0].1).unwrap();
    assert_eq!((&reloaded["reloaded"], &reloaded["broken"][0]["name"]), (&json!(["good"]), &json!("double")));
    assert_eq!(results[1], (true, "fine".to_owned()));
    assert!(!results[2].0, "{}", results[2].1);
}

#[tokio::test]
async fn in_safe_mode_no_capability_is_offered_or_called() {
    let app = TestApp::with(&[("LEVEL3_SAFE_MODE", "1")]).await;
    app.script([calls(&[("write_capability", capability("double", DOUBLE)), ("double", json!({"n": 1}))]), text("not now")]);
    let mut client = app.connect().await;
    assert_eq!(client.hello["safe_mode"], true);
    let results = results(&client.ask("go").await);
    assert!(results[0].0, "writing is still possible, so that a broken one can be mended");
    assert!(!results[1].0 && results[1].1.contains("no tool `double`"), "{}", results[1].1);
}

#[tokio::test]
async fn capabilities_survive_a_restart() {
    let mut app = TestApp::start().await;
    app.script([call("write_capability", capability("double", DOUBLE)), text("kept")]);
    app.connect().await.ask("write").await;
    app.restart().await;
    app.script([call("double", json!({"n": 4})), text("8")]);
    assert_eq!(results(&app.connect().await.ask("call").await)[0].1, "8");
}

#[tokio::test]
async fn what_a_capability_logged_is_told_in_number_and_read_by_the_statement_beside_it() {
    let app = TestApp::start().await;
    let code = "export default function chatty(params) { for (let n = 0; n < params.n; n++) console.log(`line ${n} é'\"`); return 'done' }";
    let long = call("chatty", json!({"n": 5000}));
    app.script([call("write_capability", capability("chatty", code)), call("chatty", json!({"n": 2})), long, text("done")]);
    let mut client = app.connect().await;
    let frames = client.ask("be chatty").await;
    let shown = |request: &level3::model::Request| match request.entries.last() {
        Some(Entry::Tool { content, .. }) => content.clone(),
        other => panic!("{other:?}"),
    };
    let requests = app.script.requests();
    assert!(!shown(&requests[1]).contains("[logged"), "the trial logged nothing that is kept: {}", shown(&requests[1]));
    let told = shown(&requests[2]);
    let (result, note) = told.split_once("\n[logged 2 lines; ").unwrap();
    assert_eq!(result, "done");
    let statement = |note: &str| note[note.find("SELECT").unwrap()..].trim_end_matches(']').to_owned();
    app.script([call("execute_sql", json!({"query": statement(note)})), text("read")]);
    let read = results(&client.ask("what did it log?").await);
    let lines: Value = serde_json::from_str(&read[0].1).unwrap();
    assert_eq!(lines, json!([{"logs": "line 0 é'\"\nline 1 é'\""}]));

    // A long log is read in pieces, as far as it was kept; its end says that the rest was not.
    let whole: Vec<_> =
        frames.iter().filter(|frame| frame["type"] == "tool_result").nth(2).unwrap()["logs"].as_array().unwrap().clone();
    let whole = whole.iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n");
    let (statement, mut found) = (statement(&shown(&requests[3])), String::new());
    while found.len() < whole.len() {
        let piece = format!("substr(logs, {}, 6000) AS logs", found.chars().count() + 1);
        app.script([call("execute_sql", json!({"query": statement.replace("logs", &piece)})), text("read")]);
        let read: Value = serde_json::from_str(&results(&client.ask("go on").await)[0].1).unwrap();
        found += read[0]["logs"].as_str().filter(|piece| !piece.is_empty()).unwrap();
    }
    assert_eq!(found, whole);
    assert!(whole.len() < 17_000 && whole.contains("\n[log cut at 16384 bytes: the last "));
    app.check_replay().await;
}
