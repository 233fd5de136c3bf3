//! The powers of granted capabilities: hosts, tables, values of their own, other tools. And what
//! they do not reach.

use serde_json::{Value, json};

use crate::support::{Peer, Reply, TestApp, call, calls, kinds, of_type, results, text};

/// Arguments of `write_capability`.
fn capability(name: &str, body: &str, grants: Value) -> Value {
    json!({
        "name": name,
        "description": "For the test.",
        "code": format!("export default async function {name}(params) {{ {body} }}"),
        "parameters_schema": {"type": "object", "properties": {}},
        "grants": grants,
    })
}

async fn with_peer() -> (TestApp, Peer) {
    let peer = Peer::start().await;
    let app = TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await;
    (app, peer)
}

/// Writes a capability, has it approved, and calls it.
async fn build_and_call(app: &TestApp, written: Value) -> Vec<Value> {
    let name = written["name"].as_str().unwrap().to_owned();
    app.script([call("write_capability", written), call(&name, json!({})), text("done")]);
    app.connect().await.allow("build it and call it").await
}

#[tokio::test]
async fn a_granted_host_is_reached_and_what_was_sent_is_recorded() {
    let (app, peer) = with_peer().await;
    let body = format!(
        "const r = await fetch('{}/hook?x=1', {{method: 'POST', headers: {{'x-mine': 'yes'}}, body: JSON.stringify({{a: 1}})}}); return [r.status, await r.json()];",
        peer.host()
    );
    let frames = build_and_call(&app, capability("hook", &body, json!({"http": {"hosts": [peer.host()]}}))).await;
    assert_eq!(results(&frames)[1], (true, r#"[200,{"ok":true}]"#.to_owned()));
    let arrived = &peer.arrived()[0];
    assert_eq!((&*arrived.method, &*arrived.path, &*arrived.body), ("POST", "/hook?x=1", r#"{"a":1}"#));
    assert_eq!(arrived.header("x-mine"), Some("yes"));
    assert_eq!(arrived.header("idempotency-key").map(str::len), Some(32));
    let states: Vec<_> = frames.iter().filter(|frame| frame["type"] == "operation").map(|frame| frame["state"].clone()).collect();
    assert_eq!(states, ["intended", "done"]);
    assert_eq!(of_type(&frames, "operation")["request"]["url"], format!("{}/hook?x=1", peer.host()));
    assert_eq!(app.count("SELECT count(*) FROM operations WHERE class = 'N' AND state = 'done'").await, 1);
}

#[tokio::test]
async fn what_was_not_granted_is_refused_with_the_grant_to_ask_for() {
    let (app, peer) = with_peer().await;
    let body = format!(
        "const told = []; for (const f of [() => fetch('{0}/elsewhere'), () => host.sql('SELECT 1'), () => host.kv.get('a'), () => host.call('manage_tasks', {{action: 'list'}}), async () => host.secret('A_KEY')]) {{ try {{ await f(); told.push('done') }} catch (e) {{ told.push(e.message) }} }} return told;",
        peer.host()
    );
    let frames = build_and_call(&app, capability("reacher", &body, json!({"http": {"hosts": ["api.example.com"]}}))).await;
    let told: Vec<String> = serde_json::from_str(&results(&frames)[1].1).unwrap();
    for (said, power) in told.iter().zip(["http", "sql", "kv", "tools", "secrets"]) {
        assert!(said.contains(power) && said.contains("grant"), "{power}: {said}");
    }
    assert!(peer.arrived().is_empty());
}

#[tokio::test]
async fn grants_that_the_author_forgot_are_asked_for_in_their_place_and_the_person_decides() {
    let (app, peer) = with_peer().await;
    let body = format!("await host.kv.set('seen', true); return (await fetch('{}/hook')).status;", peer.host());
    let mut written = capability("hook", &body, json!({}));
    written.as_object_mut().unwrap().remove("grants");
    let frames = build_and_call(&app, written).await;
    let shown = &of_type(&frames, "approval")["capability"]["grants_in_words"];
    let reaches = format!("Send any request to {}. It is not encrypted.", peer.host());
    assert_eq!(*shown, json!([reaches, "Keep values of its own between calls."]));
    assert_eq!(results(&frames)[1], (true, "200".to_owned()));
    assert_eq!(peer.arrived().len(), 1);
}

#[tokio::test]
async fn tables_and_values_of_its_own_are_kept_between_calls() {
    let app = TestApp::start().await;
    let body = "await host.sql('CREATE TABLE IF NOT EXISTS visits (who text, n int)');
        await host.sql('INSERT INTO visits VALUES ($1, $2)', [\"O'Hara\", 7]);
        const n = (await host.kv.get('count') ?? 0) + 1; await host.kv.set('count', n);
        return [n, await host.sql('SELECT who, n FROM visits ORDER BY n'), await host.kv.list('c')];";
    let mut client = app.connect().await;
    let written = capability("visit", body, json!({"sql": {"access": "write"}, "kv": {}}));
    app.script([call("write_capability", written), calls(&[("visit", json!({})), ("visit", json!({}))]), text("done")]);
    let told = results(&client.allow("visit twice").await);
    assert_eq!(
        told[1].1,
        r#"[1,[{"n":7,"who":"O'Hara"}],["count"]]"#.replace(r#""n":7,"who":"O'Hara""#, r#""who":"O'Hara","n":7"#),
        "{told:#?}"
    );
    assert!(told[2].1.starts_with("[2,"), "{told:#?}");
    // Another capability has values of its own.
    let other = capability("other", "return await host.kv.get('count');", json!({"kv": {}}));
    assert_eq!(results(&build_and_call(&app, other).await)[1].1, "null");
}

#[tokio::test]
async fn other_tools_are_called_under_the_same_law() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let inner = capability("inner", "return await host.kv.set('k', 1), 'inner was here';", json!({"kv": {}}));
    let body = "const told = [await host.call('inner', {}), (await host.call('manage_tasks', {action: 'create', title: 'from inside'})).title];
        for (const [tool, params] of [['manage_tasks', {action: 'delete', id: 1}], ['outer', {}]]) {
            try { await host.call(tool, params); told.push('done') } catch (e) { told.push(e.message) } }
        return told;";
    let outer = capability("outer", body, json!({"tools": {"names": ["inner", "manage_tasks", "outer"]}}));
    app.script([calls(&[("write_capability", inner), ("write_capability", outer), ("outer", json!({}))]), text("done")]);
    let told: Vec<String> = serde_json::from_str(&results(&client.allow("go").await)[2].1).unwrap();
    assert_eq!(told[..2], ["inner was here", "from inside"]);
    assert!(told[2].contains("A person has to decide about this"), "{told:#?}");
    // It calls itself until the depth ends. The third cannot call `inner` any more, so it makes no
    // task.
    assert_eq!(told[3], "done", "{told:#?}");
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 2);
    assert_eq!(app.count("SELECT count(*) FROM operations WHERE kind = 'tools' AND state = 'done'").await, 2);
    let refused = capability("greedy", "return 1;", json!({"tools": {"names": ["write_capability"]}}));
    app.script([call("write_capability", refused), text("no")]);
    assert!(results(&client.allow("greedy").await)[0].1.contains("for the agent itself"));
    app.check_replay().await;
}

#[tokio::test]
async fn sql_of_a_capability_does_no_more_than_it_was_judged_by() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    // Postgres cuts the longer name; the look before the statement finds no table of that name.
    let name = "t".repeat(63);
    let body = format!(
        "try {{ return await host.call('execute_sql', {{query: 'DROP TABLE IF EXISTS {name}_old'}}) }}
         catch (e) {{ return e.message }}"
    );
    let written = capability("sweep", &body, json!({"tools": {"names": ["execute_sql"]}}));
    let table = json!({ "query": format!("CREATE TABLE {name} (i int)") });
    app.script([calls(&[("execute_sql", table), ("write_capability", written), ("sweep", json!({}))]), text("done")]);
    let told = results(&client.allow("sweep").await);
    assert!(told[2].1.contains("Drops the table") && told[2].1.contains("A person has to decide about this"), "{told:#?}");
    assert_eq!(app.count("SELECT count(*) FROM pg_class WHERE relname = repeat('t', 63)").await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn a_call_that_is_run_again_after_a_crash_repeats_nothing() {
    let (mut app, peer) = with_peer().await;
    let body = format!(
        "await host.sql('INSERT INTO log VALUES (1)'); await host.kv.set('a', 1); await fetch('{0}/first', {{method: 'POST'}});
         await fetch('{0}/keyed', {{method: 'PUT', body: 'same'}}); await fetch('{0}/hang', {{method: 'PUT'}});
         await host.sql('INSERT INTO log VALUES (2)'); return 'through';",
        peer.host()
    );
    let written = capability("chain", &body, json!({"sql": {"access": "write"}, "kv": {}, "http": {"hosts": [peer.host()]}}));
    let mut client = app.connect().await;
    app.script([
        calls(&[("execute_sql", json!({"query": "CREATE TABLE log (n int)"})), ("write_capability", written)]),
        text("ready"),
    ]);
    client.allow("prepare").await;
    app.script([call("chain", json!({}))]);
    client.say("go").await;
    peer.has(3).await;
    app.crash().await;
    app.script([text("done")]);
    app.start_again().await;
    peer.has(4).await;
    peer.release();
    app.run_until_idle().await;
    let paths: Vec<_> = peer.arrived().iter().map(|arrived| arrived.path.clone()).collect();
    assert_eq!(paths, ["/first", "/keyed", "/hang", "/hang"], "only what was in the middle is sent again");
    let keys: Vec<_> = peer.arrived().iter().map(|arrived| arrived.header("idempotency-key").unwrap().to_owned()).collect();
    assert_eq!(keys[2], keys[3], "under the same key");
    assert_eq!(app.count("SELECT count(*) FROM agent.log").await, 2);
    assert_eq!(app.count("SELECT count(*) FROM operations WHERE state = 'done'").await, 6);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE tool = 'chain' AND outcome = 'done'").await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn what_may_have_happened_is_shown_as_unknown_and_never_sent_again() {
    let (mut app, peer) = with_peer().await;
    let body = format!("await fetch('{}/hang', {{method: 'POST', body: 'pay'}}); return 'paid';", peer.host());
    let mut client = app.connect().await;
    app.script([call("write_capability", capability("pay", &body, json!({"http": {"hosts": [peer.host()]}}))), text("ready")]);
    client.allow("prepare").await;
    app.script([call("pay", json!({}))]);
    client.say("pay").await;
    peer.has(1).await;
    app.crash().await;
    app.script([text("I do not know whether it was paid.")]);
    app.start_again().await;
    app.run_until_idle().await;
    assert_eq!(peer.arrived().len(), 1);
    assert_eq!(app.count("SELECT count(*) FROM operations WHERE state = 'unknown'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE tool = 'pay' AND outcome = 'unknown'").await, 1);
    let mut client = app.connect().await;
    client.resume(0).await;
    let frames = client.until(|frame| frame["content"] == "I do not know whether it was paid.").await;
    let told = results(&frames).pop().unwrap();
    assert!(!told.0 && told.1.contains("Nobody knows whether this request arrived"), "{told:?}");
    assert!(frames.iter().any(|frame| frame["type"] == "operation" && frame["state"] == "unknown"), "{:?}", kinds(&frames));
    app.check_replay().await;
}

#[tokio::test]
async fn stopping_in_the_middle_of_a_request_leaves_it_unknown() {
    let (app, peer) = with_peer().await;
    let body = format!("await fetch('{}/hang', {{method: 'POST'}}); return 1;", peer.host());
    let mut client = app.connect().await;
    app.script([call("write_capability", capability("slow", &body, json!({"http": {"hosts": [peer.host()]}}))), text("ready")]);
    client.allow("prepare").await;
    app.script([call("slow", json!({}))]);
    client.say("go").await;
    peer.has(1).await;
    client.stop().await;
    let frames = client.turn().await;
    assert!(results(&frames)[0].1.starts_with("Cut off in the middle"), "{frames:#?}");
    assert_eq!(app.count("SELECT count(*) FROM operations WHERE state = 'unknown'").await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn a_new_version_is_tried_on_recorded_calls_and_the_differences_are_shown() {
    let app = TestApp::start().await;
    let version = |body: &str, grants: Value| {
        let mut written = capability("greet", body, grants);
        written["parameters_schema"] = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        written
    };
    let mut client = app.connect().await;
    app.script([
        call("write_capability", version("return params.n + 1;", json!({"log": {}}))),
        calls(&[("greet", json!({"n": 1})), ("greet", json!({"n": 2}))]),
        text("done"),
    ]);
    client.ask("write and call").await;
    app.script([call("write_capability", version("return params.n === 1 ? 2 : 'other';", json!({"kv": {}}))), text("no")]);
    client.say("rewrite with more").await;
    let asking = client.asked().await;
    assert_eq!(asking["capability"]["differences"], json!([{"params": {"n": 2}, "before": "3", "now": "other"}]));
    client.deny(&asking).await;
    client.turn().await;
    app.script([call("write_capability", version("return 'all new';", json!({}))), text("ok")]);
    let told = results(&client.ask("rewrite with less").await)[0].1.clone();
    assert!(told.contains("earlier_calls_that_now_give_something_else"), "{told}");
}

#[tokio::test]
async fn a_call_that_reaches_outside_or_depends_on_chance_says_nothing_of_a_new_version() {
    let app = TestApp::start().await;
    let written = |name: &str, body: &str| capability(name, body, json!({"sql": {"access": "read"}}));
    let (rows, chance) = ("return (await host.sql('SELECT 1 AS a')).length;", "return Math.random();");
    app.script([
        calls(&[("write_capability", written("rows", rows)), ("write_capability", written("chance", chance))]),
        calls(&[("rows", json!({})), ("chance", json!({}))]),
        text("done"),
    ]);
    let mut client = app.connect().await;
    assert_eq!(results(&client.allow("write and call").await)[2], (true, "1".to_owned()));
    let again = |body: &str| format!("{body} /* the same */");
    app.script([
        calls(&[("write_capability", written("rows", &again(rows))), ("write_capability", written("chance", &again(chance)))]),
        text("ok"),
    ]);
    for (ok, told) in results(&client.ask("rewrite").await) {
        assert!(ok && told.contains("\"version\":2") && !told.contains("earlier_calls"), "{told}");
    }
}

#[tokio::test]
async fn a_call_that_fails_tells_the_operations_that_were_done_before() {
    let (app, peer) = with_peer().await;
    let body = format!(
        "await fetch('{0}/read'); await host.kv.set('seen', 1); await host.sql('CREATE TABLE agent.eff (n int)');
         await fetch('{0}/hook', {{method: 'POST', body: '1'}}); const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(7));",
        peer.host()
    );
    let grants = json!({"http": {"hosts": [peer.host()]}, "sql": {"access": "write"}, "kv": {}});
    let (ok, told) = results(&build_and_call(&app, capability("eff", &body, grants)).await)[1].clone();
    let done = format!(
        "\n[controller] Done before it failed, and not taken back: the value seen was set; CREATE TABLE agent.eff (n int); \
         POST {}/hook (answered 200). Another call does it again.",
        peer.host()
    );
    assert!(!ok && told.contains("MiB") && told.ends_with(&done), "{told}");
}

#[tokio::test]
async fn a_number_that_javascript_cannot_hold_names_the_same_row_again() {
    let app = TestApp::start().await;
    let body = "if (params.id === undefined) {
            await host.sql('CREATE TABLE agent.acc (id bigint PRIMARY KEY, name text)');
            await host.sql(\"INSERT INTO agent.acc VALUES (9007199254740992, 'Ana'), (9007199254740993, 'Bob'), (3, 'Eve')\");
            await host.sql('UPDATE agent.acc SET name = $2 WHERE id = $1', [(await host.sql(\"SELECT id FROM agent.acc WHERE name = 'Bob'\"))[0].id, 'B']);
        } else await host.sql('UPDATE agent.acc SET name = $2 WHERE id = $1', [params.id, 'A']);
        return host.sql('SELECT * FROM agent.acc ORDER BY id');";
    let mut written = capability("acc", body, json!({"sql": {"access": "write"}}));
    written["parameters_schema"]["properties"]["id"] = json!({"type": "integer"});
    let second = call("acc", json!({"id": 9_007_199_254_740_992_u64}));
    app.script([call("write_capability", written), call("acc", json!({})), second, text("done")]);
    let told = results(&app.connect().await.allow("build it and call it").await);
    let rows = |number: usize| -> Vec<Value> {
        let rows: Vec<Value> = serde_json::from_str(&told[number].1).unwrap_or_else(|_| panic!("{told:?}"));
        rows.iter().map(|row| json!([row["id"], row["name"]])).collect()
    };
    let expected = |ana: &str| [json!([3, "Eve"]), json!(["9007199254740992", ana]), json!(["9007199254740993", "B"])];
    assert_eq!(rows(1), expected("Ana"));
    assert_eq!(rows(2), expected("A"));
}

#[tokio::test]
async fn a_capability_that_waits_is_ended_by_its_deadline_and_others_go_on() {
    let (app, peer) = with_peer().await;
    let body = format!("await fetch('{}/hang'); return 1;", peer.host());
    let mut client = app.connect().await;
    app.script([call("write_capability", capability("slow", &body, json!({"http": {"hosts": [peer.host()]}}))), text("ready")]);
    client.allow("prepare").await;
    app.script([call("slow", json!({}))]);
    client.say("go").await;
    peer.has(1).await;
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.script([Reply::Answer("still here".into(), Vec::new()), text("slow is done")]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "hello?", "conversation": other})).await;
    assert_eq!(of_type(&beside.turn().await, "assistant")["content"], "still here");
    peer.release();
    client.turn().await;
}

#[tokio::test]
async fn a_capability_cannot_hide_what_is_uncertain_behind_words_of_its_own() {
    let (app, peer) = with_peer().await;
    // The peer redirects to a host that was not granted. The first request arrived, and nobody
    // knows what it did.
    let body = format!(
        "try {{ await fetch('{}/to?https://b.example/', {{method: 'POST'}}) }} catch {{}} return 'Nobody knows whether it rains.';",
        peer.host()
    );
    let frames = build_and_call(&app, capability("hide", &body, json!({"http": {"hosts": [peer.host()]}}))).await;
    let told = &results(&frames)[1].1;
    assert!(told.contains("[controller] Nobody knows whether this arrived") && told.contains("/to?"), "{told}");
    assert_eq!(app.count("SELECT count(*) FROM operations WHERE state = 'unknown'").await, 1);
}
