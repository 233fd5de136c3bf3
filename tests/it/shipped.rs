//! The capabilities that come with level3: a person installs and approves them, and the model calls
//! them. A peer on loopback plays a host out there, so the installed copy names the peer instead.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::ask;
use crate::support::{Peer, TestApp, call, calls, results, text};

const CANARY: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

async fn with_peer() -> (TestApp, Peer) {
    let peer = Peer::start().await;
    let app = TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await;
    (app, peer)
}

/// Follows an order of installing through the approval; returns the approval as the person saw it.
async fn approve(app: &TestApp, (status, queued): (u16, Value)) -> Value {
    assert_eq!(status, 202, "{queued}");
    let turn_at = format!("/api/turns/{}?wait=true", queued["turn"]);
    let (_, turn) = ask(app, Method::GET, &turn_at, None).await;
    assert_eq!(turn["state"], "awaiting_approval", "{turn}");
    let approval_at = format!("/api/approvals/{}", turn["approval"]);
    let (_, approval) = ask(app, Method::GET, &approval_at, None).await;
    let (status, approved) = ask(app, Method::POST, &format!("{approval_at}/approve"), Some(json!({}))).await;
    assert_eq!(status, 200, "{approved}");
    app.run_until_idle().await;
    let (_, turn) = ask(app, Method::GET, &turn_at, None).await;
    assert_eq!((&turn["state"], &turn["results"][0]["ok"]), (&json!("completed"), &json!(true)), "{turn}");
    approval["shown"]["capability"].clone()
}

async fn install(app: &TestApp, name: &str) -> Value {
    approve(app, ask(app, Method::POST, &format!("/api/shipped/{name}/install"), None).await).await
}

/// Imports a shipped capability with the peer in place of `host`.
async fn install_for(app: &TestApp, name: &str, host: &str, peer: &Peer) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("capabilities/shipped").join(name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let source = read("source.js").replace(&format!("https://{host}"), &peer.host());
    let mut described: Value = serde_json::from_str(&read("capability.json")).unwrap();
    // Only its host changes: path, methods and `keyed` stay.
    let grant = &mut described["grants"]["http"]["hosts"][0];
    assert_eq!(grant["host"], host);
    grant["host"] = json!(peer.host());
    if let Some(secrets) = described["grants"]["secrets"].as_object_mut() {
        secrets.values_mut().for_each(|hosts| *hosts = json!(["127.0.0.1"]));
    }
    // A recorded answer names the host it came from, so the tests do not fit the peer.
    described["tests"] = json!([]);
    let folder = json!({ "capability.json": described, "source.js": source });
    approve(app, ask(app, Method::POST, "/api/capabilities/import", Some(folder)).await).await;
}

async fn set_secret(app: &TestApp, name: &str, value: &str) {
    let (status, answer) = ask(app, Method::PUT, &format!("/api/secrets/{name}"), Some(json!({ "value": value }))).await;
    assert_eq!(status, 200, "{answer}");
}

/// The model calls a tool. Returns whether it succeeded, and the result for the model.
async fn use_tool(app: &TestApp, name: &str, params: Value) -> (bool, String) {
    app.script([call(name, params), text("done")]);
    results(&app.connect().await.ask("do it").await).remove(0)
}

fn json_of((ok, told): &(bool, String)) -> Value {
    assert!(*ok, "{told}");
    serde_json::from_str(told).unwrap()
}

/// No table holds the value.
async fn nowhere(app: &TestApp, value: &str) {
    let tables = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname IN ('level3', 'agent')";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut app.behind().await).await.unwrap();
    assert!(tables.len() > 15, "{tables:?}");
    for table in tables {
        let query = format!("SELECT count(*) FROM {table} t WHERE strpos(t::text, $1) > 0");
        let query = sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(query)).bind(value);
        assert_eq!(query.fetch_one(&mut app.behind().await).await.unwrap(), 0, "{table}");
    }
}

#[tokio::test]
async fn every_shipped_capability_is_installed_by_its_name_once_a_person_has_seen_what_it_may() {
    let app = TestApp::start().await;
    for (name, said) in [
        ("http_get", vec!["Send GET requests to any public host over https."]),
        ("notify_ntfy", vec!["Send POST requests to https://ntfy.sh.", "Use the secret NTFY_TOPIC in requests to ntfy.sh"]),
        ("notify_telegram", vec!["https://api.telegram.org.", "Keep values of its own", "secret TELEGRAM_BOT_TOKEN"]),
        ("recall", vec!["Read the agent's tables"]),
        ("remember", vec!["Read and change the agent's own tables"]),
        (
            "send_email",
            vec![
                "https://api.resend.com/emails. The peer is said to honour Idempotency-Key",
                "Keep values",
                "secret RESEND_API_KEY",
            ],
        ),
    ] {
        let shown = install(&app, name).await;
        let words = shown["grants_in_words"].as_array().unwrap();
        for (words, said) in words.iter().zip(&said) {
            assert!(words.as_str().unwrap().contains(said), "{name}: {words}");
        }
        assert_eq!(words.len(), said.len(), "{name}: {words:?}");
    }
    let (_, shipped) = ask(&app, Method::GET, "/api/shipped", None).await;
    let shipped = shipped["shipped"].as_array().unwrap();
    assert!(shipped.len() == 6 && shipped.iter().all(|entry| entry["installed"] == 1), "{shipped:?}");
}

#[tokio::test]
async fn without_its_secret_each_says_how_the_user_sets_it() {
    let app = TestApp::start().await;
    for (name, params, secret) in [
        ("notify_ntfy", json!({"message": "hello"}), "NTFY_TOPIC"),
        ("notify_telegram", json!({"text": "hello", "chat_id": 1}), "TELEGRAM_BOT_TOKEN"),
        ("send_email", json!({"to": ["a@example.com"], "subject": "s", "text": "t", "from": "b@example.org"}), "RESEND_API_KEY"),
    ] {
        install(&app, name).await;
        let (ok, told) = use_tool(&app, name, params).await;
        assert!(!ok && told.contains(&format!("level3 secret set {secret}")), "{told}");
    }
    for (name, params, missing) in [
        ("notify_telegram", json!({"text": "hello"}), "give chat_id"),
        ("send_email", json!({"to": ["a@example.com"], "subject": "s", "text": "t"}), "give from"),
    ] {
        let (ok, told) = use_tool(&app, name, params).await;
        assert!(!ok && told.contains(missing) && told.contains("make_default"), "{told}");
    }
}

#[tokio::test]
async fn http_get_gives_what_the_peer_says_and_refuses_what_is_not_public() {
    let (app, peer) = with_peer().await;
    install(&app, "http_get").await;
    for (url, said) in [
        (format!("https://{}/x", peer.address), ""),
        ("https://127.0.0.2/".to_owned(), "loopback"),
        ("https://169.254.169.254/latest/".to_owned(), "metadata"),
        ("http://example.com/".to_owned(), "https://"),
        ("file:///etc/passwd".to_owned(), "https://"),
    ] {
        let (ok, told) = use_tool(&app, "http_get", json!({ "url": url })).await;
        assert!(!ok && told.contains(said), "{url}: {told}");
    }
    assert!(peer.arrived().is_empty());
}

#[tokio::test]
async fn http_get_bounds_what_it_gives() {
    let (app, peer) = with_peer().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("capabilities/shipped/http_get");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let mut described: Value = serde_json::from_str(&read("capability.json")).unwrap();
    described["grants"]["http"]["hosts"][0]["host"] = json!(peer.host());
    described["tests"] = json!([]);
    // This one line of the source insists on https; here the grant decides.
    let source = read("source.js").replace("/^https:", "/^http:");
    let folder = json!({ "capability.json": described, "source.js": source });
    approve(&app, ask(&app, Method::POST, "/api/capabilities/import", Some(folder)).await).await;

    let url = format!("{}/page", peer.host());
    let asked = json!({ "url": url, "headers": {"accept": "application/json", "x-mine": "yes"} });
    assert_eq!(
        json_of(&use_tool(&app, "http_get", asked).await),
        json!({"status": 200, "content_type": "application/json", "url": url, "bytes": 11, "json": {"ok": true}})
    );
    let arrived = peer.arrived().remove(0);
    assert_eq!((&*arrived.method, &*arrived.path, &*arrived.body), ("GET", "/page", ""));
    assert_eq!((arrived.header("accept"), arrived.header("x-mine")), (Some("application/json"), Some("yes")));

    peer.will_answer(500, "text/html; charset=utf-8", "<p>Größe</p>".repeat(10_000));
    let long = json_of(&use_tool(&app, "http_get", json!({ "url": url, "max_bytes": 6 })).await);
    assert_eq!((&long["status"], &long["text"], &long["bytes"]), (&json!(500), &json!("<p>Gr"), &json!(140_000)));
    assert!(long["note"].as_str().unwrap().contains("first 6 of 140000"), "{long}");
    peer.will_answer(200, "application/octet-stream", [0u8, 159, 146, 150]);
    let bytes = json_of(&use_tool(&app, "http_get", json!({ "url": url })).await);
    assert!(bytes.get("text").is_none() && bytes["note"].as_str().unwrap().contains("no text"), "{bytes}");
    peer.will_answer(204, "text/plain", "");
    let empty = json_of(&use_tool(&app, "http_get", json!({ "url": url })).await);
    assert_eq!((&empty["status"], &empty["bytes"]), (&json!(204), &json!(0)));
    let (ok, told) = use_tool(&app, "http_get", json!({ "url": "http://127.0.0.2:9/" })).await;
    assert!(!ok && told.contains("not granted"), "{told}");
}

#[tokio::test]
async fn ntfy_gets_the_message_under_the_secret_topic_or_a_named_one() {
    let (app, peer) = with_peer().await;
    install_for(&app, "notify_ntfy", "ntfy.sh", &peer).await;
    set_secret(&app, "NTFY_TOPIC", "canary_topic_9Zq4").await;
    // The peer repeats the topic, as ntfy does.
    peer.will_answer(200, "application/json", r#"{"id":"x1","event":"message","topic":"canary_topic_9Zq4"}"#);
    let asked = json!({"message": "Der Kuchen \"Ü\" ist fertig 🎂", "title": "Küche", "priority": 5, "tags": ["cake"]});
    let told = use_tool(&app, "notify_ntfy", asked).await;
    assert_eq!(json_of(&told), json!({"sent": true, "id": "x1"}));
    let arrived = peer.arrived().remove(0);
    assert_eq!((&*arrived.method, &*arrived.path, arrived.header("content-type")), ("POST", "/", Some("application/json")));
    assert_eq!(
        serde_json::from_str::<Value>(&arrived.body).unwrap(),
        json!({"topic": "canary_topic_9Zq4", "message": "Der Kuchen \"Ü\" ist fertig 🎂", "title": "Küche", "priority": 5, "tags": ["cake"]})
    );
    nowhere(&app, "canary_topic_9Zq4").await;
    peer.will_answer(429, "application/json", r#"{"code":42908,"http":429,"error":"limit reached: daily message quota"}"#);
    let (ok, told) = use_tool(&app, "notify_ntfy", json!({"message": "m", "topic": "my-door"})).await;
    assert!(!ok && told.contains("429 limit reached: daily message quota"), "{told}");
    assert_eq!(serde_json::from_str::<Value>(&peer.arrived()[1].body).unwrap(), json!({"topic": "my-door", "message": "m"}));
    peer.will_answer(502, "text/html", "<h1>Bad gateway</h1>");
    let (ok, told) = use_tool(&app, "notify_ntfy", json!({"message": "m"})).await;
    assert!(!ok && told.contains("502 <h1>Bad gateway"), "{told}");
}

#[tokio::test]
async fn telegram_gets_the_token_in_the_path_and_nobody_else_sees_it() {
    let (app, peer) = with_peer().await;
    install_for(&app, "notify_telegram", "api.telegram.org", &peer).await;
    set_secret(&app, "TELEGRAM_BOT_TOKEN", CANARY).await;
    let taken = |id: i64| json!({"ok": true, "result": {"message_id": id, "text": "Grüße"}}).to_string();
    peer.will_answer(200, "application/json", taken(7));
    let told = use_tool(&app, "notify_telegram", json!({"text": "Grüße", "chat_id": -1001, "make_default": true})).await;
    assert_eq!(json_of(&told), json!({"sent": true, "message_id": 7}));
    peer.will_answer(200, "application/json", taken(8));
    let told = use_tool(&app, "notify_telegram", json!({"text": "again", "silent": true})).await;
    assert_eq!(json_of(&told)["message_id"], 8);
    let arrived = peer.arrived();
    assert_eq!((&*arrived[0].method, &*arrived[0].path), ("POST", &*format!("/bot{CANARY}/sendMessage")));
    let bodies: Vec<Value> = arrived.iter().map(|arrived| serde_json::from_str(&arrived.body).unwrap()).collect();
    assert_eq!(bodies[0], json!({"chat_id": -1001, "text": "Grüße", "disable_notification": false}));
    assert_eq!(bodies[1], json!({"chat_id": -1001, "text": "again", "disable_notification": true}));
    for (status, answer, said) in [
        (401, json!({"ok": false, "error_code": 401, "description": "Unauthorized"}), "level3 secret set TELEGRAM_BOT_TOKEN"),
        (403, json!({"ok": false, "error_code": 403, "description": "Forbidden: bot was blocked"}), "unblock it"),
        (
            429,
            json!({"ok": false, "error_code": 429, "description": "Too Many Requests", "parameters": {"retry_after": 30}}),
            "again in 30 seconds",
        ),
        (400, json!(format!("no JSON object, and it repeats {CANARY}")), "did not take"),
    ] {
        peer.will_answer(status, "application/json", answer.to_string());
        let (ok, told) = use_tool(&app, "notify_telegram", json!({"text": format!("m{status}")})).await;
        assert!(!ok && told.contains(said) && !told.contains(CANARY), "{told}");
    }
    nowhere(&app, CANARY).await;
}

#[tokio::test]
async fn a_mail_has_its_key_and_its_idempotency_key_and_survives_a_crash_in_the_middle() {
    let (mut app, peer) = with_peer().await;
    install_for(&app, "send_email", "api.resend.com", &peer).await;
    set_secret(&app, "RESEND_API_KEY", "re_canary_4kQ7").await;
    peer.will_answer(200, "application/json", r#"{"id":"49a3"}"#);
    let mail = json!({
        "to": ["ada@example.com"], "subject": "Grüße", "text": "It's \"done\".\nBye", "from": "L <l@example.org>", "make_default": true,
    });
    assert_eq!(json_of(&use_tool(&app, "send_email", mail).await), json!({"sent": true, "id": "49a3"}));
    let arrived = peer.arrived().remove(0);
    assert_eq!((&*arrived.method, &*arrived.path), ("POST", "/emails"));
    assert_eq!(arrived.header("authorization"), Some("Bearer re_canary_4kQ7"));
    assert_eq!(arrived.header("idempotency-key").map(str::len), Some(32));
    assert_eq!(
        serde_json::from_str::<Value>(&arrived.body).unwrap(),
        json!({"from": "L <l@example.org>", "to": ["ada@example.com"], "subject": "Grüße", "text": "It's \"done\".\nBye"})
    );
    peer.will_answer(422, "application/json", r#"{"statusCode":422,"name":"validation_error","message":"Invalid `to` field"}"#);
    let (ok, told) = use_tool(&app, "send_email", json!({"to": ["x@y"], "subject": "s", "text": "t"})).await;
    assert!(!ok && told.contains("422 Invalid `to` field"), "{told}");
    nowhere(&app, "re_canary_4kQ7").await;

    // The process is killed after the mail has left and before its answer has come. The next start
    // sends it again under the same key.
    let hanging = app.count("SELECT count(*) FROM operations WHERE class = 'K' AND kind = 'http'").await;
    assert_eq!(hanging, 2, "both requests may be repeated");
    peer.hang_next();
    app.script([call("send_email", json!({"to": ["b@example.com"], "subject": "once", "text": "t"}))]);
    let mut client = app.connect().await;
    client.say("mail it").await;
    peer.has(3).await;
    app.crash().await;
    peer.will_answer(200, "application/json", r#"{"id":"same"}"#);
    app.script([text("sent")]);
    app.start_again().await;
    app.run_until_idle().await;
    let arrived = peer.arrived();
    assert_eq!(arrived.len(), 4);
    assert_eq!(
        (arrived[2].header("idempotency-key"), &arrived[2].body),
        (arrived[3].header("idempotency-key"), &arrived[3].body)
    );
    assert_ne!(arrived[1].header("idempotency-key"), arrived[2].header("idempotency-key"));
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE tool = 'send_email' AND outcome = 'done'").await, 2);
}

#[tokio::test]
async fn what_is_remembered_is_recalled_by_words_stems_and_misspelled() {
    let app = TestApp::start().await;
    install(&app, "recall").await;
    let empty = json_of(&use_tool(&app, "recall", json!({"query": "anything"})).await);
    assert_eq!(empty, json!({"notes": [], "hint": "Nothing has been remembered yet."}));
    install(&app, "remember").await;
    let notes = [
        (1, "Der Zahnarzt heißt Dr. Müller, Straße der Künste 5.", "german"),
        (2, "Ada's motto: \"It's; DROP TABLE agent.remembered_notes; --\" \\ $1", "simple"),
        (3, "The deployment runs on Kubernetes in Frankfurt.", "english"),
        (4, "Frankfurt has an airport. The dentist there is expensive, and the motto of the airport is unknown.", "english"),
        (5, "Пароль от сейфа хранится у Анны", "russian"),
    ];
    let asked: Vec<_> =
        notes.iter().map(|(_, text, language)| ("remember", json!({"text": text, "language": language}))).collect();
    app.script([calls(&asked), text("kept")]);
    for ((id, ..), told) in notes.iter().zip(results(&app.connect().await.ask("remember").await)) {
        assert_eq!(json_of(&told)["note_id"], json!(id), "{told:?}");
    }
    // The same text again is the same note. 1,000 others stand beside it.
    let again = json_of(&use_tool(&app, "remember", json!({"text": notes[2].1})).await);
    assert_eq!(again["note_id"], 3);
    let language = json_of(&use_tool(&app, "remember", json!({"text": notes[2].1, "language": "english"})).await);
    assert_eq!(language["note_id"], 3);
    sqlx::query(
        "INSERT INTO agent.remembered_notes (text, words, language)
         SELECT w, '  ' || replace(w, ' ', '   ') || ' ', 'simple' FROM (SELECT 'invoice number ' || n || ' about filler material' AS w FROM generate_series(1, 1000) n) f",
    )
    .execute(&mut app.behind().await)
    .await
    .unwrap();

    for (query, language, found) in [
        ("MÜLLER", "simple", vec![1]),
        ("muller", "simple", vec![1]),
        ("Künste Strasse", "simple", vec![1]),
        ("Zahnartz Mueller", "simple", vec![1]),
        ("arzt", "simple", vec![1]),
        ("deploying", "english", vec![3]),
        ("kubernets", "simple", vec![3]),
        ("it's; drop table", "simple", vec![2]),
        ("' OR TRUE; --", "simple", vec![]),
        ("frankfurt airport", "english", vec![4, 3]),
        ("airport", "simple", vec![4]),
        ("паролем", "russian", vec![5]),
        ("zebra", "simple", vec![]),
        ("xylophone concert", "english", vec![]),
    ] {
        let told = json_of(&use_tool(&app, "recall", json!({"query": query, "language": language})).await);
        let ids: Vec<_> = told["notes"].as_array().unwrap().iter().map(|note| note["note_id"].as_i64().unwrap()).collect();
        assert_eq!(ids, found, "{query}: {told}");
    }
    let one = json_of(&use_tool(&app, "recall", json!({"query": "invoice 777"})).await);
    assert_eq!(one["notes"][0]["text"], "invoice number 777 about filler material");
    assert_eq!(one["notes"].as_array().unwrap().len(), 5);
    assert!(one["notes"][0].get("only_similar").is_none() && one["notes"][1].get("only_similar").is_some(), "{one}");
    let (ok, told) = use_tool(&app, "recall", json!({"query": "?!"})).await;
    assert!(!ok && told.contains("give words to look for"), "{told}");
    let (ok, told) = use_tool(&app, "remember", json!({"text": " … "})).await;
    assert!(!ok && told.contains("no words"), "{told}");
    let (ok, told) = use_tool(&app, "recall", json!({"query": "x", "language": "klingon"})).await;
    assert!(!ok && told.contains("english"), "{told}");
    assert_eq!(app.count("SELECT count(*) FROM agent.remembered_notes").await, 1005);
}

#[tokio::test]
async fn recall_finds_a_misspelled_word_among_long_notes_and_changes_nothing() {
    let app = TestApp::start().await;
    install(&app, "remember").await;
    install(&app, "recall").await;
    use_tool(&app, "remember", json!({"text": "The spare key lies under the third flowerpot."})).await;
    // Long notes hold by chance many pieces of any word; in the end they are compared word by word.
    sqlx::query(
        "INSERT INTO agent.remembered_notes (text, words, language)
         SELECT w, '  ' || replace(w, ' ', '   ') || ' ', 'simple' FROM (
             SELECT n || ' ' || string_agg(translate(left(md5(n || ':' || m), 4 + m % 7), '0123456789', 'lowerpstink'), ' ') AS w
             FROM generate_series(1, 2000) n, generate_series(1, 250) m GROUP BY n) f",
    )
    .execute(&mut app.behind().await)
    .await
    .unwrap();
    let told = json_of(&use_tool(&app, "recall", json!({"query": "flowerpott"})).await);
    assert_eq!(told["notes"][0]["text"], "The spare key lies under the third flowerpot.", "{told}");
    assert_eq!(told["notes"].as_array().unwrap().len(), 1, "{told}");
    // The most there is to compare: as many words as fit, in pieces that nearly every note has.
    let letters = "lowerpstinabcdef";
    let words: Vec<_> = (0..33).map(|n| [n % 16, (n * 7 + n / 16) % 16].map(|at| &letters[at..=at]).concat()).collect();
    let (ok, told) = use_tool(&app, "recall", json!({"query": words.join(" ")})).await;
    assert!(ok, "{told}");
    assert_eq!(
        app.count("SELECT count(*) FROM operations o JOIN tool_calls c USING (tool_call_id) WHERE c.name = 'recall'").await,
        0
    );
}
