//! Replay: after everything that can happen, the tables follow from events. Replay finds and names
//! whatever is damaged afterwards.

use level3::domain::{Budgets, Mode, Rate};
use level3::model::ModelErrorKind;
use level3::wire::api::ReplayCheck;
use serde_json::{Value, json};
use sqlx::Executor;

use crate::support::api::level3;
use crate::support::{Client, Peer, Reply, TestApp, call, calls, text};

/// Lets a connection change rows past the guards of the state machines, as only Postgres'
/// administrator can.
const UNGUARDED: &str = "SET session_replication_role = replica";
const LOW: &str = r#"{"complexity":"low","risk":"high","impact":"local","requires_confirmation":false}"#;

fn capability(name: &str, body: &str, grants: Value) -> Value {
    json!({
        "name": name,
        "description": "For the test.",
        "code": format!("export default async function {name}(params) {{ {body} }}"),
        "parameters_schema": {"type": "object", "properties": {}},
        "grants": grants,
    })
}

fn sql(query: &str) -> (&'static str, Value) {
    ("execute_sql", json!({ "query": query }))
}

fn task(arguments: Value) -> (&'static str, Value) {
    ("manage_tasks", arguments)
}

/// Calls that are done, fail, are denied, expire or are void; a turn that is stopped, one that
/// fails.
async fn calls_and_approvals(app: &TestApp, client: &mut Client) {
    let rate = Rate { input_micros: 2_000_000, output_micros: 3_000_000 };
    app.store().set_rate("scripted", Some(rate), app.now()).await.unwrap();
    let done_and_failed = calls(&[sql("CREATE TABLE notes (n int)"), sql("INSERT INTO notes VALUES (1)"), sql("SELEC")]);
    app.script([Reply::Costs(100, 10, Box::new(done_and_failed)), text("half of it")]);
    client.ask("write").await;

    app.store().set_profile_policy("builder", Mode::Smart, true, &Budgets::default(), app.now()).await.unwrap();
    app.script([calls(&[sql("INSERT INTO notes VALUES (3)")]), text(LOW), text("looked")]);
    client.ask("look").await;
    app.store().set_profile_policy("builder", Mode::Smart, false, &Budgets::default(), app.now()).await.unwrap();

    let wants = |name: &str| ("write_capability", capability(name, "return 1", json!({"http": {"hosts": ["a.example"]}})));
    app.script([calls(&[wants("denied_one")]), text("as you like")]);
    client.say("ask me").await;
    let asking = client.asked().await;
    client.send(json!({"type": "deny", "approval": asking["id"], "reason": "Not today."})).await;
    client.turn().await;
    app.script([calls(&[wants("late_one")]), text("too late")]);
    client.say("ask me again").await;
    client.asked().await;
    app.advance(25 * 3600);
    client.turn().await;
    app.script([calls(&[wants("void_one"), sql("SELECT 2")])]);
    client.say("ask me once more").await;
    client.asked().await;
    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    app.store().owners().accept_message(main, None, "and then this", app.now()).await.unwrap();
    client.until(|frame| frame["state"] == "queued").await;
    client.stop().await;
    client.turn().await;
    client.turn().await;

    app.script([Reply::Hang("I was".into())]);
    client.say("go on").await;
    client.until(|frame| frame["type"] == "delta").await;
    client.stop().await;
    client.turn().await;
    app.script([Reply::Fail(ModelErrorKind::Malformed, "nothing came".into())]);
    client.ask("fail").await;
}

/// Tasks that are made, changed, fired and deleted, one of them from another conversation.
async fn tasks(app: &TestApp, client: &mut Client) {
    app.script([
        calls(&[
            task(json!({"action": "create", "title": "Soon", "due_at": "2026-11-21T10:00:00Z"})),
            task(json!({"action": "create", "title": "Also soon", "due_at": "2026-11-21T10:00:01Z"})),
            task(json!({"action": "create", "title": "Never"})),
            task(json!({"action": "update", "id": 3, "details": "really"})),
        ]),
        text("made"),
    ]);
    client.ask("make tasks").await;
    app.script([text("They are due.")]);
    app.advance(2 * 3600);
    client.turn().await;
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    let mut beside = app.connect().await;
    app.script([
        calls(&[task(json!({"action": "complete", "id": 1})), task(json!({"action": "delete", "id": 2}))]),
        text("gone"),
    ]);
    beside.send(json!({"type": "message", "content": "tidy up", "conversation": other})).await;
    beside.asked().await;
    beside.send(json!({"type": "message", "content": "CONFIRMAR", "conversation": other, "id": "word-1"})).await;
    beside.turn().await;
}

/// Capabilities that are installed, replaced, rolled back and disabled.
async fn capabilities(app: &TestApp, client: &mut Client) {
    for body in ["console.log('first'); return 'hello'", "return 'good day'"] {
        app.script([calls(&[("write_capability", capability("greet", body, json!({}))), ("greet", json!({}))]), text("done")]);
        client.ask("write").await;
    }
    app.store().roll_back("greet", 1, false, app.now()).await.unwrap();
    app.advance(1);
    app.store().enable_capability("greet", false, app.now()).await.unwrap();
}

/// Operations that are done, and one that a crash cut, so that nobody knows its end.
async fn operations(app: &mut TestApp, peer: &Peer, client: &mut Client) {
    let body = format!(
        "await host.sql('INSERT INTO notes VALUES (2)'); await host.kv.set('a', 1);
         try {{ await host.sql('SELEC') }} catch {{}}
         await fetch('{0}/first', {{method: 'PUT', body: 'x'}}); await fetch('{0}/hang', {{method: 'POST', body: 'pay'}}); return 'paid';",
        peer.host()
    );
    let grants = json!({"sql": {"access": "write"}, "kv": {}, "http": {"hosts": [peer.host()]}});
    app.script([calls(&[("write_capability", capability("pay", &body, grants))]), text("ready")]);
    client.allow("prepare").await;
    app.script([call("pay", json!({}))]);
    client.say("pay").await;
    peer.has(2).await;
    app.crash().await;
    app.script([text("I do not know whether it was paid.")]);
    app.start_again().await;
    app.run_until_idle().await;
}

/// A server to which everything has happened.
pub async fn with_a_past() -> TestApp {
    let peer = Peer::start().await;
    let mut app = TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await;
    let mut client = app.connect().await;
    calls_and_approvals(&app, &mut client).await;
    tasks(&app, &mut client).await;
    capabilities(&app, &mut client).await;
    operations(&mut app, &peer, &mut client).await;
    app
}

async fn check(app: &TestApp) -> ReplayCheck {
    level3::replay::check(app.store()).await.unwrap()
}

#[tokio::test]
async fn whatever_has_happened_follows_from_events() {
    let app = with_a_past().await;
    app.check_replay().await;
    // The past holds every kind of row that could differ.
    for (what, there) in [
        ("SELECT count(DISTINCT kind) FROM events", 15),
        ("SELECT count(DISTINCT state) FROM turns", 3),
        ("SELECT count(DISTINCT state) FROM approvals", 4),
        ("SELECT count(DISTINCT state) FROM operations", 3),
        ("SELECT count(DISTINCT verdict) FROM audit_entries", 3),
        ("SELECT (count(*) > 0)::int::bigint FROM turns WHERE fence > 1", 1),
        ("SELECT count(*) FROM approvals WHERE client_id = 'word-1' AND used_at IS NOT NULL", 1),
        ("SELECT (count(*) > 0)::int::bigint FROM steps WHERE cost_micros > 0 AND input_tokens = 100", 1),
        ("SELECT count(*) FROM tool_calls WHERE classification IS NOT NULL", 1),
        ("SELECT (count(*) > 0)::int::bigint FROM tool_calls WHERE logs <> '[]' AND position > 0", 1),
        ("SELECT count(*) FROM tasks WHERE fired_due_at IS NOT NULL AND updated_at > created_at", 1),
        ("SELECT count(*) FROM capabilities WHERE state = 'disabled' AND version = 1", 1),
        ("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'replay%'", 0),
    ] {
        assert_eq!(app.count(what).await, there, "{what}");
    }
    let ran = level3(&app, &["replay", "--check"]).await;
    assert!(ran.code == 0 && ran.out.contains("events replayed: none was changed"), "{ran:?}");
}

/// Changes something behind the server's back, returns what replay finds, and takes it back.
async fn damaged(app: &TestApp, damage: &'static str, undo: &'static str) -> ReplayCheck {
    let mut behind = app.behind().await;
    behind.execute(UNGUARDED).await.unwrap();
    let done = behind.execute(damage).await.unwrap();
    assert!(done.rows_affected() > 0, "nothing was damaged: {damage}");
    let found = check(app).await;
    behind.execute(undo).await.unwrap();
    assert!(!found.clean, "not found: {damage}");
    found
}

#[tokio::test]
async fn damage_to_the_chain_of_events_is_found_and_named() {
    let app = with_a_past().await;
    app.rewrites("it does damage by hand");
    let broken = |found: &ReplayCheck| -> Vec<(i64, i64, String)> {
        found.broken.iter().map(|link| (link.conversation.0, link.sequence, link.what.clone())).collect()
    };
    let last = app.count("SELECT last_sequence FROM conversations WHERE conversation_id = 1").await;
    let changed = |sequence: i64| {
        (1, sequence, "does not fit its hash: it, or the event before it, was changed after it was written".to_owned())
    };

    let flipped =
        "UPDATE events SET payload = jsonb_set(payload, '{content}', to_jsonb(overlay(payload ->> 'content' placing 'x' from 1)))
        WHERE conversation_id = 1 AND sequence = 1";
    let undo =
        "UPDATE events SET payload = jsonb_set(payload, '{content}', to_jsonb(overlay(payload ->> 'content' placing 'w' from 1)))
        WHERE conversation_id = 1 AND sequence = 1";
    let found = damaged(&app, flipped, undo).await;
    assert_eq!(broken(&found), [changed(1)]);
    assert_eq!((&*found.differences[0].table, &*found.differences[0].row), ("messages", "user/1"));

    let sooner =
        "UPDATE events SET created_at = created_at - interval '1 microsecond' WHERE conversation_id = 1 AND sequence = 2";
    let undo = "UPDATE events SET created_at = created_at + interval '1 microsecond' WHERE conversation_id = 1 AND sequence = 2";
    assert_eq!(broken(&damaged(&app, sooner, undo).await), [changed(2)]);

    let gone = "CREATE TABLE kept AS SELECT * FROM events WHERE conversation_id = 1 AND sequence = 5;
        DELETE FROM events WHERE conversation_id = 1 AND sequence = 5";
    let back = "INSERT INTO events SELECT * FROM kept; DROP TABLE kept";
    assert_eq!(broken(&damaged(&app, gone, back).await), [(1, 5, "is missing".to_owned())]);
    let gone = "CREATE TABLE kept AS SELECT * FROM events WHERE conversation_id = 1 AND sequence BETWEEN 1 AND 3;
        DELETE FROM events WHERE conversation_id = 1 AND sequence BETWEEN 1 AND 3";
    assert_eq!(broken(&damaged(&app, gone, back).await), [(1, 1, "to 3 are missing".to_owned())]);

    let cut = "CREATE TABLE kept AS SELECT * FROM events WHERE conversation_id = 1 ORDER BY sequence DESC LIMIT 2;
        DELETE FROM events WHERE (conversation_id, sequence) IN (SELECT conversation_id, sequence FROM kept)";
    let found = damaged(&app, cut, back).await;
    assert_eq!(broken(&found), [(1, last - 1, format!("was cut off, with everything up to {last}"))]);
    assert!(found.differences.iter().any(|row| row.table == "turns" && row.column.as_deref() == Some("state")), "{found:#?}");
    let short = "UPDATE conversations SET last_sequence = last_sequence - 1 WHERE conversation_id = 1";
    let undo = "UPDATE conversations SET last_sequence = last_sequence + 1 WHERE conversation_id = 1";
    let ends = format!("is the newest there is, but the conversation says that its stream ends with {}", last - 1);
    assert_eq!(broken(&damaged(&app, short, undo).await), [(1, last, ends)]);

    let swapped = "UPDATE events e SET payload = o.payload, kind = o.kind FROM events o
        WHERE e.conversation_id = 1 AND o.conversation_id = 1 AND e.sequence + o.sequence = 9 AND e.sequence IN (4, 5)";
    assert_eq!(broken(&damaged(&app, swapped, swapped).await), [changed(4), changed(5)]);
    // These events move together with their hashes.
    let moved = "UPDATE events SET sequence = -sequence WHERE conversation_id = 1 AND sequence IN (4, 5);
        UPDATE events SET sequence = 9 + sequence WHERE conversation_id = 1 AND sequence IN (-4, -5)";
    assert_eq!(broken(&damaged(&app, moved, moved).await), [changed(4), changed(5), changed(6)]);

    let odd = "UPDATE events SET payload = payload || '{\"kind\": \"odd\"}' WHERE conversation_id = 1 AND sequence = 2";
    let undo =
        "UPDATE events SET payload = payload || jsonb_build_object('kind', kind) WHERE conversation_id = 1 AND sequence = 2";
    let found = damaged(&app, odd, undo).await;
    assert!(broken(&found).len() == 2 && found.broken[1].what.starts_with("cannot be read: "), "{found:#?}");

    app.check_replay().await;
    app.behind().await.execute("DELETE FROM events WHERE conversation_id = 1 AND sequence = 5").await.unwrap();
    let ran = level3(&app, &["replay", "--check"]).await;
    assert!(ran.code == 1 && ran.out.contains("  conversation 1, event 5 is missing\n"), "{ran:?}");
    assert_eq!(ran.err, "level3: what the server works with is not what was recorded\n");
}

#[tokio::test]
async fn a_row_changed_by_hand_is_found_in_every_table() {
    let app = with_a_past().await;
    app.rewrites("it does damage by hand");
    for (table, column, damage, undo) in [
        (
            "turns",
            "state",
            "UPDATE turns SET state = 'failed' WHERE turn_id = 1",
            "UPDATE turns SET state = 'completed' WHERE turn_id = 1",
        ),
        ("turns", "fence", "UPDATE turns SET fence = 9 WHERE turn_id = 1", "UPDATE turns SET fence = 1 WHERE turn_id = 1"),
        (
            "steps",
            "model",
            "UPDATE steps SET model = 'other' WHERE step_id = 1",
            "UPDATE steps SET model = 'scripted' WHERE step_id = 1",
        ),
        (
            "steps",
            "cost_micros",
            "UPDATE steps SET cost_micros = cost_micros + 1 WHERE step_id = 1",
            "UPDATE steps SET cost_micros = cost_micros - 1 WHERE step_id = 1",
        ),
        (
            "tool_calls",
            "arguments",
            "UPDATE tool_calls SET arguments = arguments || ' ' WHERE tool_call_id = 1",
            "UPDATE tool_calls SET arguments = rtrim(arguments) WHERE tool_call_id = 1",
        ),
        (
            "tool_calls",
            "position",
            "UPDATE tool_calls SET position = 7 WHERE tool_call_id = 2",
            "UPDATE tool_calls SET position = 1 WHERE tool_call_id = 2",
        ),
        (
            "messages",
            "content",
            "UPDATE messages SET content = content || ' ' WHERE tool_call_id = 1",
            "UPDATE messages SET content = rtrim(content) WHERE tool_call_id = 1",
        ),
        (
            "approvals",
            "used_at",
            "UPDATE approvals SET used_at = used_at + interval '1 s' WHERE client_id = 'word-1'",
            "UPDATE approvals SET used_at = used_at - interval '1 s' WHERE client_id = 'word-1'",
        ),
        (
            "approvals",
            "proposal_sha256",
            "UPDATE approvals SET proposal_sha256 = proposal_sha256 || '\\x00' WHERE approval_id = 1",
            "UPDATE approvals SET proposal_sha256 = substring(proposal_sha256 FROM 1 FOR 32) WHERE approval_id = 1",
        ),
        (
            "operations",
            "answer_sha256",
            "UPDATE operations SET answer = answer || ' ' WHERE ordinal = 1",
            "UPDATE operations SET answer = rtrim(answer) WHERE ordinal = 1",
        ),
        (
            "operations",
            "state",
            "UPDATE operations SET state = 'done' WHERE state = 'unknown'",
            "UPDATE operations SET state = 'unknown' WHERE request::text LIKE '%/hang%'",
        ),
        (
            "tasks",
            "fired_due_at",
            "UPDATE tasks SET fired_due_at = NULL WHERE task_id = 1",
            "UPDATE tasks SET fired_due_at = due_at WHERE task_id = 1",
        ),
        (
            "tasks",
            "title",
            "UPDATE tasks SET title = 'x' WHERE task_id = 3",
            "UPDATE tasks SET title = 'Never' WHERE task_id = 3",
        ),
        (
            "capability_versions",
            "fingerprint",
            "UPDATE capability_versions SET source = source || ' ' WHERE name = 'greet' AND version = 2",
            "UPDATE capability_versions SET source = rtrim(source) WHERE name = 'greet' AND version = 2",
        ),
        (
            "capabilities",
            "version",
            "UPDATE capabilities SET version = 2 WHERE name = 'greet'",
            "UPDATE capabilities SET version = 1 WHERE name = 'greet'",
        ),
        (
            "conversations",
            "last_sequence",
            "UPDATE conversations SET last_sequence = last_sequence + 1 WHERE conversation_id = 1",
            "UPDATE conversations SET last_sequence = last_sequence - 1 WHERE conversation_id = 1",
        ),
    ] {
        let found = damaged(&app, damage, undo).await;
        let [row] = &found.differences[..] else { panic!("{damage}: {found:#?}") };
        assert_eq!((&*row.table, row.column.as_deref()), (table, Some(column)), "{damage}: {row:#?}");
        assert_ne!(row.live, row.events);
    }
    let gone = "CREATE TABLE kept AS SELECT * FROM tasks WHERE task_id = 3; DELETE FROM tasks WHERE task_id = 3";
    let found = damaged(&app, gone, "INSERT INTO tasks SELECT * FROM kept; DROP TABLE kept").await;
    let [row] = &found.differences[..] else { panic!("{found:#?}") };
    assert_eq!((&*row.table, &*row.row, &row.column, &row.live), ("tasks", "3", &None, &None));
    let made_up = "INSERT INTO tasks (task_id, conversation_id, title, created_at, updated_at) VALUES (99, 1, 'x', now(), now())";
    let found = damaged(&app, made_up, "DELETE FROM tasks WHERE task_id = 99").await;
    assert_eq!((&*found.differences[0].row, &found.differences[0].events), ("99", &None));
    app.check_replay().await;

    let mut behind = app.behind().await;
    behind.execute(UNGUARDED).await.unwrap();
    behind.execute("UPDATE turns SET state = 'failed' WHERE turn_id = 1").await.unwrap();
    let ran = level3(&app, &["replay", "--check"]).await;
    assert!(ran.code == 1 && ran.out.contains("  turns 1, state: is failed; events say completed\n"), "{ran:?}");
}

#[tokio::test]
async fn a_turn_is_shown_step_by_step() {
    let app = with_a_past().await;
    let paid = app.count("SELECT max(turn_id) FROM turns").await;
    let ran = level3(&app, &["replay", "--turn", &paid.to_string()]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut rest = &*ran.out;
    for part in [
        "queued, from a message",
        "taken up, fence 1",
        "step 1, scripted answered (tool_calls)",
        " of pay proposed",
        "of class N: intended",
        "taken up, fence 2",
        "of class N: unknown",
        "of pay failed (verdict allow)",
        "step 2, scripted answered (stop)",
        "I do not know whether it was paid.",
        "completed",
    ] {
        rest = &rest[rest.find(part).unwrap_or_else(|| panic!("{part}: {}", ran.out))..];
    }
    let asked = level3(&app, &["replay", "--turn", "3"]).await;
    assert!(asked.out.contains("verdict on call") && asked.out.contains("denied, by page"), "{asked:?}");
    let none = level3(&app, &["replay", "--turn", "999"]).await;
    assert!(none.code == 1 && none.err.contains("there is no turn 999"), "{none:?}");
    for wrong in [&["replay"][..], &["replay", "--check", "--turn", "1"]] {
        assert_eq!(level3(&app, wrong).await.code, 2);
    }
}

#[tokio::test]
async fn events_of_an_older_version_are_chained_when_it_is_updated() {
    let mut app = with_a_past().await;
    app.stop().await;
    // The database as that version left it.
    let back = "DROP VIEW shared.audit_log, audit_log, shared.event_log, event_log;
        DROP INDEX events_in_order;
        ALTER TABLE events DROP COLUMN hash, DROP COLUMN position;
        DROP SEQUENCE event_positions;
        DROP FUNCTION event_hash, capability_fingerprint, text_fingerprint;
        UPDATE events SET payload = payload - 'cost_micros' WHERE kind = 'step_answered';
        UPDATE events SET payload = payload - 'position' WHERE kind = 'tool_call_proposed';
        UPDATE events SET payload = payload - 'verdict' - 'approval' WHERE kind = 'tool_call_ended';
        UPDATE events SET payload = payload - 'client_id' WHERE kind = 'approval_decided';
        UPDATE events SET payload = payload - 'request_sha256' - 'answer_sha256' WHERE kind = 'operation_recorded';
        UPDATE events SET payload = payload - 'fingerprint' WHERE kind = 'capability_installed';
        UPDATE events SET payload = payload - 'due_at' WHERE kind = 'tasks_fired';
        ALTER TABLE operations RENAME COLUMN kind TO power;
        ALTER TABLE operations RENAME CONSTRAINT operations_kind_check TO operations_power_check;
        DELETE FROM _sqlx_migrations WHERE version IN (20261120120000, 20261122100100)";
    app.behind().await.execute(back).await.unwrap();
    app.start_again().await;
    app.check_replay().await;
    app.script([text("I am still here.")]);
    app.connect().await.ask("go on").await;
    app.check_replay().await;
}
