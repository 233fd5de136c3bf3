//! A person decides: which calls are asked about, what waits, what one decision allows, and who
//! cannot decide.

use level3::domain::{Budgets, Mode};
use serde_json::{Value, json};
use sqlx::Executor;

use crate::support::{TestApp, call, calls, kinds, of_type, results, text};

/// A capability that requests a host.
fn reaching(name: &str, hosts: &[&str]) -> Value {
    json!({
        "name": name,
        "description": "Looks something up.",
        "code": format!("export default async function {name}(params) {{ return 'version of {}'; }}", hosts.join(" and ")),
        "parameters_schema": {"type": "object", "properties": {}},
        "grants": {"http": {"hosts": hosts}},
    })
}

fn result(frames: &[Value]) -> (bool, &str) {
    let result = of_type(frames, "tool_result");
    (result["ok"].as_bool().unwrap(), result["result"].as_str().unwrap())
}

#[tokio::test]
async fn a_capability_with_powers_is_installed_after_a_person_has_seen_everything() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up", &["api.example.com"])), call("look_up", json!({})), text("There.")]);
    let mut client = app.connect().await;
    client.say("look it up").await;
    let asking = client.asked().await;
    assert_eq!(asking["tool"], "write_capability");
    assert!(asking["why"].as_str().unwrap().starts_with("It asks for powers that nobody has approved yet."), "{asking}");
    let what = asking["what"].to_string();
    assert!(what.contains("Installs a new capability, `look_up`") && what.contains("https://api.example.com"), "{what}");
    assert_eq!(asking["capability"]["grants_in_words"], json!(["Send any request to https://api.example.com."]));
    assert!(asking["capability"]["source"].as_str().unwrap().contains("async function look_up"), "{asking}");
    assert_eq!((&asking["can_always"], &asking["expires_at"]), (&json!(false), &json!("2026-11-21T08:00:00Z")));
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 0, "nothing is installed yet");

    client.approve(&asking).await;
    let frames = client.turn().await;
    assert_eq!(
        kinds(&frames),
        [
            "approval",
            "turn queued",
            "turn running",
            "capability",
            "tool_result",
            "tool_call",
            "tool_result",
            "assistant",
            "turn completed"
        ]
    );
    assert_eq!((&frames[0]["state"], &frames[0]["channel"]), (&json!("approved"), &json!("page")));
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE verdict = 'ask' AND approval_id IS NOT NULL").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE used_at IS NOT NULL").await, 1);
}

#[tokio::test]
async fn a_new_version_asks_only_when_it_wants_more() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([call("write_capability", reaching("look_up", &["a.example", "b.example"])), text("one")]);
    client.say("first").await;
    let first = client.asked().await;
    client.approve(&first).await;
    client.turn().await;

    app.script([call("write_capability", reaching("look_up", &["a.example"])), text("two")]);
    assert!(result(&client.ask("less").await).0, "less than before is not asked");

    app.script([call("write_capability", reaching("look_up", &["a.example", "b.example"])), text("three")]);
    client.say("more again").await;
    let again = client.asked().await;
    assert_eq!(again["capability"]["replaces"], 2);
    let diff = again["capability"]["diff"].as_str().unwrap();
    assert!(diff.contains("-export default") && diff.contains("+export default") && diff.contains("version 2"), "{diff}");
    client.send(json!({"type": "deny", "approval": again["id"], "reason": "one host is enough"})).await;
    let frames = client.turn().await;
    assert_eq!(result(&frames), (false, "The user refused this: one host is enough"));
    assert_eq!(app.count("SELECT version::bigint FROM capabilities").await, 2);
}

#[tokio::test]
async fn a_waiting_turn_blocks_its_own_conversation_and_no_other() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up", &["a.example"]))]);
    let mut client = app.connect().await;
    client.say("ask me").await;
    let asking = client.asked().await;
    // A message that comes another way than the person's own waits behind it.
    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    app.store().owners().accept_message(main, None, "and then this", app.now()).await.unwrap();

    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.script([text("Here I am.")]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "are you there?", "conversation": other})).await;
    assert_eq!(of_type(&beside.turn().await, "assistant")["content"], "Here I am.");

    app.script([text("Not done."), text("Next.")]);
    client.deny(&asking).await;
    assert_eq!(of_type(&client.turn().await, "assistant")["content"], "Not done.");
    assert_eq!(of_type(&client.turn().await, "assistant")["content"], "Next.");
}

#[tokio::test]
async fn who_looks_at_one_conversation_is_told_what_waits_in_others() {
    let app = TestApp::start().await;
    let mut watching = app.connect().await;
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.script([call("write_capability", reaching("look_up", &["a.example"])), text("Not done.")]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "look it up", "conversation": other})).await;
    let asking = beside.asked().await;
    let waiting = |approvals: Value| move |frame: &Value| frame["type"] == "waiting" && frame["approvals"] == approvals;
    watching.until(waiting(json!([asking["id"]]))).await;
    let mut later = app.connect().await;
    later.until(waiting(json!([asking["id"]]))).await;

    watching.deny(&asking).await;
    watching.until(waiting(json!([]))).await;
    later.until(waiting(json!([]))).await;
    let frames = beside.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], "Not done.");
    assert!(frames.iter().all(|frame| frame["type"] != "waiting"), "who looks there sees the approval itself: {frames:?}");
}

#[tokio::test]
async fn words_decide_where_exactly_one_approval_waits() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([text("Yes to what?")]);
    client.ask("CONFIRMAR").await;

    app.script([call("write_capability", reaching("look_up", &["a.example"])), text("Installed.")]);
    client.say("look it up").await;
    client.asked().await;
    client.send(json!({"type": "message", "content": "Confirmar", "id": "word-1"})).await;
    let frames = client.turn().await;
    let resumed = of_type(&frames, "turn");
    assert_eq!(
        (&resumed["state"], &resumed["id"], &resumed["content"]),
        (&json!("queued"), &json!("word-1"), &json!("Confirmar"))
    );
    assert_eq!(of_type(&frames, "approval")["channel"], "words");
    assert!(result(&frames).0);

    // The same message again is the same decision, and no new turn.
    client.send(json!({"type": "message", "content": "Confirmar", "id": "word-1"})).await;
    assert_eq!(client.frame().await["id"], "word-1");
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 2);

    app.script([call("write_capability", reaching("other", &["b.example"])), text("Left.")]);
    client.say("another").await;
    client.asked().await;
    client.say("CANCELAR").await;
    let frames = client.turn().await;
    let told = "The user refused this. Do not try it again in another way; ask what they want instead.";
    assert_eq!(result(&frames), (false, told), "the coach of a builder adds its lesson");
    app.check_replay().await;
}

#[tokio::test]
async fn what_nobody_decides_counts_as_no() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up", &["a.example"])), text("It was not allowed in time.")]);
    let mut client = app.connect().await;
    client.say("ask me").await;
    let asking = client.asked().await;
    app.advance(24 * 60 * 60);
    let frames = client.turn().await;
    assert_eq!((&frames[0]["state"], &frames[0]["channel"]), (&json!("expired"), &json!("clock")));
    let told = "Nobody decided about this in time, which counts as no. Do not ask again by yourself; tell the user.";
    assert_eq!(result(&frames).1, told);
    client.approve(&asking).await;
    let refused = client.frame().await;
    assert!(refused["content"].as_str().unwrap().contains("is expired already"), "{refused}");
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 0);
}

#[tokio::test]
async fn a_decision_is_taken_once_and_for_one_effect() {
    let app = TestApp::start().await;
    let empty = ("execute_sql", json!({"query": "TRUNCATE log"}));
    app.script([call("execute_sql", json!({"query": "CREATE TABLE log (n int)"})), text("made")]);
    let mut client = app.connect().await;
    client.ask("make a table").await;
    app.script([calls(&[empty.clone(), empty])]);
    client.say("empty it, twice").await;
    let first = client.asked().await;
    assert!(first["what"].to_string().contains("log"), "{first}");
    client.approve(&first).await;
    // The second call of the same step has a decision of its own.
    let second = client.asked().await;
    assert_ne!(first["id"], second["id"]);
    client.approve(&first).await;
    let refused = client.until(|frame| frame["type"] == "error").await.pop().unwrap();
    assert!(refused["content"].as_str().unwrap().contains("approved already"), "{refused}");
    app.script([text("done")]);
    client.deny(&second).await;
    client.turn().await;
    client.send(json!({"type": "approve", "approval": 4711})).await;
    assert_eq!(client.frame().await["content"], "there is no approval 4711");
    app.check_replay().await;
}

#[tokio::test]
async fn a_proposal_edited_after_it_was_shown_is_asked_about_again() {
    let app = TestApp::start().await;
    app.rewrites("the proposal is edited by hand");
    app.script([call("write_capability", reaching("look_up", &["a.example"])), text("done")]);
    let mut client = app.connect().await;
    client.say("ask me").await;
    let first = client.asked().await;
    // An intruder with rights on the database changes the proposal.
    let edited = reaching("look_up", &["evil.example"]).to_string();
    sqlx::query("UPDATE tool_calls SET arguments = $1").bind(edited).execute(&mut app.behind().await).await.unwrap();
    client.approve(&first).await;
    let second = client.asked().await;
    assert!(second["what"].to_string().contains("evil.example"), "{second}");
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 0);
    client.deny(&second).await;
    client.turn().await;
}

#[tokio::test]
async fn an_approval_about_another_version_than_the_live_one_is_void() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up", &["a.example"]))]);
    let mut client = app.connect().await;
    client.say("ask me").await;
    let first = client.asked().await;
    // Meanwhile another conversation makes a harmless capability of this name.
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    let mut harmless = reaching("look_up", &[]);
    harmless.as_object_mut().unwrap().remove("grants");
    app.script([call("write_capability", harmless), text("made")]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "make one", "conversation": other})).await;
    beside.turn().await;
    client.approve(&first).await;
    let second = client.asked().await;
    assert_eq!(second["capability"]["replaces"], 1, "what is shown now is what would happen now");
    app.script([text("done")]);
    client.approve(&second).await;
    client.turn().await;
    assert_eq!(app.count("SELECT version::bigint FROM capabilities").await, 2);
}

#[tokio::test]
async fn the_second_of_two_writes_of_one_new_name_is_asked_about_again() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([call("write_capability", reaching("look_up", &["a.example"]))]);
    client.say("ask me").await;
    let first = client.asked().await;
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.script([call("write_capability", reaching("look_up", &["a.example"]))]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "me too", "conversation": other})).await;
    let second = beside.asked().await;
    assert_eq!(second["capability"].get("replaces"), None, "there is no version yet");
    app.script([text("made")]);
    client.approve(&first).await;
    client.turn().await;
    beside.approve(&second).await;
    // The live version has these powers already, so the mode would allow it unasked.
    let again = beside.asked().await;
    assert_eq!(again["capability"]["replaces"], 1);
    assert_eq!(again["why"], "It would do something else now than when it was decided about.");
    assert_eq!(app.count("SELECT max(version)::bigint FROM capabilities").await, 1);
    app.script([text("made anew")]);
    beside.approve(&again).await;
    beside.turn().await;
    assert_eq!(app.count("SELECT max(version)::bigint FROM capabilities").await, 2);
}

#[tokio::test]
async fn stopping_a_waiting_turn_voids_what_it_asked() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up", &["a.example"]))]);
    let mut client = app.connect().await;
    client.say("ask me").await;
    let asking = client.asked().await;
    client.stop().await;
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "approval")["state"], "void");
    client.approve(&asking).await;
    assert!(client.frame().await["content"].as_str().unwrap().contains("void already"));
}

#[tokio::test]
async fn an_approval_survives_a_crash_and_is_decided_afterwards() {
    let mut app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up", &["a.example"]))]);
    let mut client = app.connect().await;
    client.say("ask me").await;
    let asking = client.asked().await;
    app.crash().await;
    app.start_again().await;
    app.script([text("installed")]);
    let mut client = app.connect().await;
    client.resume(0).await;
    assert_eq!(client.asked().await["id"], asking["id"]);
    client.approve(&asking).await;
    assert_eq!(of_type(&client.turn().await, "assistant")["content"], "installed");
    app.check_replay().await;
}

#[tokio::test]
async fn the_model_cannot_answer_for_the_person() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    // The model says the words, sets the row and calls tools that do not exist: nothing of it
    // decides.
    app.script([call("write_capability", reaching("look_up", &["a.example"]))]);
    client.say("ask me").await;
    client.asked().await;
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.script([
        calls(&[
            ("execute_sql", json!({"query": "UPDATE level3.approvals SET state = 'approved', decided_at = now()"})),
            ("execute_sql", json!({"query": "UPDATE approvals SET state = 'approved'"})),
            ("approve", json!({"approval": 1})),
            ("write_capability", json!({"name": "approve_it", "description": "d", "parameters_schema": {"type": "object"},
                "confirmed": true, "grants": {"http": {"hosts": ["a.example"]}}, "code": "export default () => fetch('https://a.example')"})),
        ]),
        text("CONFIRMAR"),
    ]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "approve it for me", "conversation": other})).await;
    let own = beside.asked().await;
    beside.deny(&own).await;
    let frames = beside.turn().await;
    let refused = frames.iter().filter(|frame| frame["type"] == "tool_result" && frame["ok"] == false).count();
    assert_eq!((refused, of_type(&frames, "assistant")["content"].as_str()), (1, Some("CONFIRMAR")));
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM tool_calls WHERE state = 'failed'").await, 4);
    client.stop().await;
    client.turn().await;
    app.behind().await.execute("SELECT 1").await.unwrap();
}

/// Sets what the main profile may do.
async fn mode(app: &TestApp, mode: Mode) {
    app.store().set_profile_policy("builder", mode, false, &Budgets::default(), app.now()).await.unwrap();
}

fn harmless() -> Value {
    let mut written = reaching("tell", &[]);
    written.as_object_mut().unwrap().remove("grants");
    written
}

#[tokio::test]
async fn always_holds_for_one_capability_until_it_may_do_more() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([call("write_capability", harmless()), text("made")]);
    client.ask("make it").await;
    mode(&app, Mode::Ask).await;
    app.script([call("tell", json!({})), text("told")]);
    client.say("tell me").await;
    let asking = client.asked().await;
    assert_eq!(asking["can_always"], true);
    client.always(&asking).await;
    assert!(result(&client.turn().await).0);

    app.script([call("tell", json!({})), text("told")]);
    assert!(result(&client.ask("again").await).0, "it is not asked again");

    let mut wider = reaching("tell", &["a.example"]);
    wider["name"] = json!("tell");
    app.script([call("write_capability", wider), call("tell", json!({})), text("told")]);
    client.say("may do more").await;
    let grants = client.asked().await;
    assert_eq!((&grants["tool"], &grants["can_always"]), (&json!("write_capability"), &json!(false)));
    client.always(&grants).await;
    let again = client.asked().await;
    assert_eq!(again["tool"], "tell", "what was allowed always was the narrower one");
    client.approve(&again).await;
    client.turn().await;
}

#[tokio::test]
async fn the_modes_are_what_they_say() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let select = ("execute_sql", json!({"query": "SELECT 1 AS one"}));
    let create = ("execute_sql", json!({"query": "CREATE TABLE t (n int)"}));
    let drop = ("execute_sql", json!({"query": "DROP TABLE t"}));

    mode(&app, Mode::ReadOnly).await;
    app.script([calls(&[select.clone(), create.clone()]), text("only read")]);
    let told = results(&client.ask("read only").await);
    assert!(told[0].0 && !told[1].0 && told[1].1.contains("read_only"), "{told:?}");

    mode(&app, Mode::Auto).await;
    app.script([calls(&[create, drop]), text("all done")]);
    assert!(results(&client.ask("do all").await).iter().all(|(ok, _)| *ok));
    app.script([call("write_capability", reaching("look_up", &["a.example"])), text("asked")]);
    client.say("new powers").await;
    let asking = client.asked().await;
    client.deny(&asking).await;
    client.turn().await;

    mode(&app, Mode::Ask).await;
    app.script([calls(&[select, ("manage_tasks", json!({"action": "create", "title": "x"}))]), text("asked")]);
    client.say("ask me").await;
    let asking = client.asked().await;
    assert_eq!(asking["tool"], "manage_tasks", "reading is not asked");
    client.approve(&asking).await;
    assert!(result(&client.turn().await).0);
}

#[tokio::test]
async fn nobody_is_asked_about_what_cannot_be_done() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([
        calls(&[
            ("execute_sql", json!({"query": "DROP TABLE nobody_made"})),
            ("execute_sql", json!({"query": "SELEC 1"})),
            ("manage_tasks", json!({"action": "delete", "id": 99})),
            (
                "write_capability",
                json!({"name": "broken", "description": "d", "code": "export default (", "parameters_schema": {"type": "object"},
                "grants": {"http": {"hosts": ["a.example"]}}}),
            ),
            ("not_there", json!({})),
        ]),
        text("none of it"),
    ]);
    let frames = client.ask("try").await;
    let told = results(&frames);
    assert!(told.iter().all(|(ok, _)| !ok), "{told:?}");
    for ((_, said), part) in told.iter().zip(["does not exist", "syntax error", "no task 99", "syntax_error", "There is no tool"])
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!frames.iter().any(|frame| frame["type"] == "approval"));
}

#[tokio::test]
async fn what_a_person_disabled_the_agent_does_not_bring_back() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.script([call("write_capability", harmless()), text("made")]);
    client.ask("make it").await;
    app.store().enable_capability("tell", false, app.now()).await.unwrap();
    app.script([call("tell", json!({})), call("write_capability", harmless()), text("I cannot")]);
    let told = results(&client.ask("use it").await);
    assert!(told[0].1.contains("the capability `tell` is disabled") && told[1].1.contains("the user disabled"), "{told:?}");
    assert_eq!(app.count("SELECT count(*) FROM capability_versions").await, 1);
}
