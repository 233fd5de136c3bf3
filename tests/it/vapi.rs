//! Calls by Vapi: the server makes them, Vapi asks it what to say and tells what happens, and
//! whatever else comes under the public name finds nothing.

use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::sync::Notify;

use crate::support::{Peer, Reply, TestApp, api, call, in_time, text};
use crate::todo::breakdown;

mod language;
mod order;
mod settings;
mod takes_over;

const PUBLIC: &str = "law.example.test";
const MADE: &str =
    r#"{"id": "7420f27a", "webCallUrl": "https://vapi.daily.co/room", "transport": {"provider": "daily", "callToken": "eyJ"}}"#;
const SECONDS: &str = "SELECT coalesce(sum(seconds), 0)::bigint FROM voice_seconds";

/// A server that Vapi reaches, and Vapi.
struct Vapi {
    app: TestApp,
    peer: Peer,
}

/// A call, with what Vapi was told of it.
struct Made {
    call: i64,
    bearer: String,
    key: String,
    assistant: Value,
}

impl Vapi {
    async fn with(more: &[(&str, &str)]) -> Self {
        let peer = Peer::start().await;
        let url = format!("{}/call/web", peer.host());
        let public = format!("https://{PUBLIC}");
        let own = [("VOICE_VAPI_URL", &*url), ("VOICE_VAPI_KEY", "VAPI"), ("VOICE_PUBLIC_URL", &*public)];
        let app = TestApp::with(&[&own[..], more].concat()).await;
        let set = api::ask(&app, Method::PUT, "/api/secrets/VAPI", Some(json!({"value": "vapi-12345678"}))).await;
        assert_eq!(set.0, 200, "{set:?}");
        Self { app, peer }
    }

    async fn begin(&self) -> (u16, Value) {
        api::ask(&self.app, Method::POST, "/api/voice/calls", Some(json!({"adapter": "vapi"}))).await
    }

    async fn beat(&self, call: i64) -> (u16, Value) {
        api::ask(&self.app, Method::POST, &format!("/api/voice/calls/{call}/beat"), Some(json!({}))).await
    }

    /// A call that is made, and joined by the page.
    async fn made(&self) -> Made {
        let made = self.rings().await;
        assert_eq!(self.beat(made.call).await.1["state"], "active");
        made
    }

    /// A call that is made, and that nobody has joined yet.
    async fn rings(&self) -> Made {
        self.peer.will_answer(201, "application/json", MADE);
        let (status, begun) = self.begin().await;
        assert_eq!(status, 200, "{begun}");
        assert_eq!(begun["room"], json!({"url": "https://vapi.daily.co/room", "token": "eyJ"}));
        let call = begun["call"].as_i64().unwrap();
        let asked = self.peer.arrived().pop().unwrap();
        let assistant = serde_json::from_str::<Value>(&asked.body).unwrap()["assistant"].clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let bearer = text(&assistant["credentials"][0]["apiKey"]);
        let key = text(&assistant["credentials"][1]["authenticationPlan"]["secretKey"]);
        Made { call, bearer, key, assistant }
    }

    /// A request as it comes through the tunnel.
    async fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut request = api::client().post(format!("http://{}{path}", self.app.address())).header("host", PUBLIC);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.header("content-type", "application/json").body(body.to_owned()).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Asks for the next words, after these of the person; the text of the answer.
    async fn asks(&self, made: &Made, said: &[&str]) -> String {
        let (status, answer) = self.completion(made, said, &format!("Bearer {}", made.bearer), "").await;
        assert_eq!(status, 200, "{answer}");
        words_of(&answer)
    }

    async fn completion(&self, made: &Made, said: &[&str], bearer: &str, more: &str) -> (u16, String) {
        let answer = self.opens(made, said, bearer, more).await;
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// The same, to be read as it comes.
    async fn opens(&self, made: &Made, said: &[&str], bearer: &str, more: &str) -> reqwest::Response {
        let mut messages = vec![json!({"role": "system", "content": ""}), json!({"role": "assistant", "content": "Hey!"})];
        messages.extend(said.iter().map(|said| json!({"role": "user", "content": said})));
        let body = json!({
            "model": "law", "messages": messages, "stream": true, "temperature": 0.3, "call": {"id": "7420f27a"}, "metadata": {}, "customer": null,
        });
        let url = format!("http://{}/voice/vapi/{}/chat/completions{more}", self.app.address(), made.call);
        let request = api::client().post(url).header("host", PUBLIC).header("authorization", bearer);
        request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap()
    }

    /// Tells what happened, signed now.
    async fn tells(&self, made: &Made, message: Value) -> (u16, String) {
        let body = json!({ "message": message }).to_string();
        let at = self.app.now().timestamp().to_string();
        let signature = sign(&made.key, &at, &body);
        self.post(&format!("/voice/vapi/{}/events", made.call), &[("x-signature", &signature), ("x-timestamp", &at)], &body).await
    }
}

fn sign(key: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
    mac.update(format!("{timestamp}.{body}").as_bytes());
    hex::encode(mac.finalize().into_bytes())
}

/// The words of a stream, whose form is looked at.
fn words_of(stream: &str) -> String {
    let lines: Vec<&str> = stream.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(lines.last(), Some(&"[DONE]"), "{stream}");
    let chunks: Vec<Value> = lines[..lines.len() - 1].iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (place, chunk) in chunks.iter().enumerate() {
        let last = place + 1 == chunks.len();
        assert_eq!((&chunk["object"], &chunk["model"]), (&json!("chat.completion.chunk"), &json!("law")));
        assert_eq!((&chunk["choices"][0]["index"], chunk["created"].is_i64()), (&json!(0), true));
        assert_eq!(chunk["choices"][0]["finish_reason"], if last { json!("stop") } else { Value::Null }, "{stream}");
    }
    chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect()
}

#[tokio::test]
async fn a_whole_call_makes_a_task_and_its_report_counts_once() {
    let vapi = Vapi::with(&[]).await;
    assert_eq!(api::ask(&vapi.app, Method::GET, "/api/voice", None).await.1["servers"]["vapi"], true);
    let made = vapi.made().await;
    let asked = vapi.peer.arrived().pop().unwrap();
    assert_eq!((&*asked.path, asked.header("authorization")), ("/call/web", Some("Bearer vapi-12345678")));
    assert_eq!(asked.header("idempotency-key"), Some(&*format!("level3-voice-{}", made.call)));
    let base = format!("https://{PUBLIC}/voice/vapi/{}", made.call);
    let model = json!({
        "provider": "custom-llm", "url": format!("{base}/chat/completions"), "model": "law", "metadataSendMode": "variable",
        "timeoutSeconds": 20,
    });
    assert_eq!((&made.assistant["model"], &made.assistant["server"]["url"]), (&model, &json!(format!("{base}/events"))));
    assert_eq!(made.assistant["maxDurationSeconds"], 3600);
    assert_eq!(made.assistant["artifactPlan"]["recordingEnabled"], false);
    let messages = json!(["status-update", "end-of-call-report", "transcript[transcriptType='final']", "tool-calls", "hang"]);
    assert_eq!(made.assistant["serverMessages"], messages);
    assert_eq!(vapi.tells(&made, json!({"type": "status-update", "status": "in-progress"})).await, (200, "{}".into()));

    vapi.app.script([call("createTask", json!({"description": "milk", "confirmed": false}))]);
    let question = vapi.asks(&made, &["add buy milk"]).await;
    assert!(question.contains("Should I create a task called “milk”?"), "{question}");
    assert_eq!(vapi.app.count("SELECT count(*) FROM tasks").await, 0);
    vapi.app.script([breakdown(&["Go to the shop", "Find the milk", "Carry it home"]), text("Done! You're crushing it!")]);
    assert_eq!(vapi.asks(&made, &["add buy milk", "Go ahead."]).await, "Done! You're crushing it!");
    assert_eq!(vapi.app.count("SELECT count(*) FROM approvals WHERE channel = 'voice' AND state = 'approved'").await, 1);
    assert_eq!(vapi.app.count("SELECT count(*) FROM tasks").await, 1);

    // The call had 40 s by our clock; Vapi says 47, five times, each signed anew, and its page
    // hangs up meanwhile.
    for _ in 0..4 {
        vapi.app.advance(10);
        assert_eq!(vapi.beat(made.call).await.0, 200);
    }
    let report = json!({"type": "end-of-call-report", "startedAt": "2026-11-20T08:00:00.100Z", "endedAt": "2026-11-20T08:00:47.900Z", "endedReason": "customer-ended-call"});
    for _ in 0..5 {
        assert_eq!(vapi.tells(&made, report.clone()).await, (200, "{}".into()));
        vapi.app.advance(1);
    }
    assert_eq!(
        (vapi.app.count(SECONDS).await, vapi.app.count("SELECT count(*) FROM voice_calls WHERE ended_at IS NULL").await),
        (47, 0)
    );
    assert_eq!(vapi.beat(made.call).await.0, 410);
    vapi.app.check_replay().await;
    // The secrets die with the call: at once for words, in a while for what is told of its end.
    let bearer = format!("Bearer {}", made.bearer);
    assert_eq!(vapi.completion(&made, &["hello"], &bearer, "").await, (401, String::new()));
    vapi.app.advance(11 * 60);
    assert_eq!(vapi.tells(&made, report).await.0, 401);
}

#[tokio::test]
async fn a_report_is_believed_no_further_than_our_own_clock_and_lowers_what_was_counted() {
    let vapi = Vapi::with(&[]).await;
    let report = |seconds: i64| {
        let end = vapi.app.now() + chrono::TimeDelta::seconds(seconds);
        json!({"type": "end-of-call-report", "call": {"startedAt": vapi.app.now(), "endedAt": end}})
    };
    for (says, counts) in [(100_000, 40), (4, 4), (0, 1), (-50, 10)] {
        let made = vapi.made().await;
        vapi.app.advance(10);
        vapi.tells(&made, json!({"type": "status-update", "status": "ended"})).await;
        let before = vapi.app.count(SECONDS).await - 10;
        assert_eq!(vapi.tells(&made, report(says)).await.0, 200);
        assert_eq!(vapi.app.count(SECONDS).await - before, counts, "{says}");
    }
    assert_eq!(vapi.app.count("SELECT count(*) FROM voice_calls WHERE vapi_id = '7420f27a' AND reason = 'hung_up'").await, 4);
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn what_is_forged_late_unsigned_or_sent_again_changes_nothing() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    let path = format!("/voice/vapi/{}/events", made.call);
    let body = json!({"message": {"type": "status-update", "status": "ended"}}).to_string();
    let now = vapi.app.now().timestamp();
    let at = now.to_string();
    let right = sign(&made.key, &at, &body);
    let nothing = (401, String::new());
    let cookie = ("cookie", "level3_session=x");
    for headers in [
        &[][..],
        &[("x-timestamp", &*at)],
        &[("x-signature", &right)],
        &[("x-signature", &sign("another key", &at, &body)), ("x-timestamp", &at)],
        &[("x-signature", &sign(&made.key, &at, "{}")), ("x-timestamp", &at)],
        &[("x-signature", &right), ("x-timestamp", &(now + 1).to_string())],
        &[("x-signature", &right[..62]), ("x-timestamp", &at)],
        &[("x-signature", "zz"), ("x-timestamp", &at), cookie],
        &[("x-vapi-secret", &made.key)],
        &[("authorization", &format!("Bearer {}", made.bearer))],
    ] {
        assert_eq!(vapi.post(&path, headers, &body).await, nothing, "{headers:?}");
    }
    for late in [now - 301, now + 301] {
        let at = late.to_string();
        let signed = sign(&made.key, &at, &body);
        assert_eq!(vapi.post(&path, &[("x-signature", &signed), ("x-timestamp", &at)], &body).await, nothing, "{late}");
    }
    // Nor is the signature of one call good for another.
    let other = format!("/voice/vapi/{}/events", made.call + 1);
    assert_eq!(vapi.post(&other, &[("x-signature", &right), ("x-timestamp", &at)], &body).await, nothing);
    for bearer in ["", "Bearer ", "Bearer x", &format!("Bearer {}", made.key), &format!("Basic {}", made.bearer)] {
        assert_eq!(vapi.completion(&made, &["hello"], bearer, "").await, nothing, "{bearer}");
    }
    assert_eq!(vapi.app.count("SELECT count(*) FROM messages").await, 0);
    // The right one is taken once.
    let odd = json!({"message": {"type": "speech-update"}}).to_string();
    let signed = sign(&made.key, &at, &odd);
    let headers = [("x-signature", &*signed), ("x-timestamp", &*at)];
    assert_eq!(vapi.post(&path, &headers, &odd).await, (200, "{}".into()));
    assert_eq!(vapi.post(&path, &headers, &odd).await, nothing);
    let upper = signed.to_uppercase();
    assert_eq!(vapi.post(&path, &[("x-signature", &upper), ("x-timestamp", &at)], &odd).await, nothing);
    assert_eq!(vapi.app.count("SELECT count(*) FROM voice_calls WHERE state = 'active'").await, 1);
    // Also what is authentic and broken is answered with 200.
    for broken in ["", "[]", "{\"message\": 7}", "{\"message\": {\"type\": \"tool-calls\"}}"] {
        let signed = sign(&made.key, &at, broken);
        let (status, _) = vapi.post(&path, &[("x-signature", &signed), ("x-timestamp", &at)], broken).await;
        assert_eq!(status, 200, "{broken}");
    }
    assert_eq!(vapi.tells(&made, json!({"type": "status-update", "status": "ended"})).await.0, 200);
    assert_eq!(vapi.app.count("SELECT count(*) FROM voice_calls WHERE reason = 'hung_up'").await, 1);
}

#[tokio::test]
async fn an_assistant_of_the_dashboard_signs_in_its_own_way() {
    let plan = r#"{"signature": "x-hub", "timestamp": "x-time", "prefix": "sha256=", "encoding": "base64", "plain": true}"#;
    let vapi = Vapi::with(&[("VOICE_VAPI_SIGNATURE", plan), ("VOICE_VAPI_SECRET", "SHARED")]).await;
    api::ask(&vapi.app, Method::PUT, "/api/secrets/SHARED", Some(json!({"value": "shared-secret"}))).await;
    let made = vapi.made().await;
    let path = format!("/voice/vapi/{}/events", made.call);
    let of = |id: &str| json!({"message": {"type": "status-update", "status": "queued", "call": {"id": id}}}).to_string();
    let body = of("7420f27a");
    let at = vapi.app.now().timestamp_millis().to_string();
    let digest_of = |body: &str| {
        let mut mac = Hmac::<Sha256>::new_from_slice(b"shared-secret").unwrap();
        mac.update(format!("{at}.{body}").as_bytes());
        base64::Engine::encode(&base64::prelude::BASE64_STANDARD, mac.finalize().into_bytes())
    };
    let digest = digest_of(&body);
    assert_eq!(vapi.post(&path, &[("x-hub", &digest), ("x-time", &at)], &body).await.0, 401, "the prefix is missing");
    let signature = format!("sha256={digest}");
    assert_eq!(vapi.post(&path, &[("x-hub", &signature), ("x-time", &at)], &body).await.0, 200);
    // The secret is one for all calls of the assistant, so a message that was caught is no message
    // of another one.
    for caught in [of("another"), json!({"message": {"type": "status-update", "status": "ended"}}).to_string()] {
        let signature = format!("sha256={}", digest_of(&caught));
        assert_eq!(vapi.post(&path, &[("x-hub", &signature), ("x-time", &at)], &caught).await, (401, String::new()), "{caught}");
        assert_eq!(vapi.post(&path, &[("x-vapi-secret", "shared-secret")], &caught).await.0, 401, "{caught}");
    }
    assert_eq!(vapi.post(&path, &[("x-vapi-secret", "shared-secret")], &body).await.0, 200);
    assert_eq!(vapi.post(&path, &[("x-vapi-secret", "shared-secre")], &body).await.0, 401);
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
}

#[tokio::test]
async fn a_request_that_comes_again_joins_its_turn_and_one_that_breaks_off_ends_none() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    let (begin, end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    vapi.app.script([Reply::After(Arc::clone(&begin), Box::new(text("You have one task.")))]);
    // No word for three seconds: the person hears that Law is at it, once.
    let mut first = vapi.opens(&made, &["list"], &format!("Bearer {}", made.bearer), "").await;
    vapi.app.script.asked(1).await;
    vapi.app.advance(3);
    let mut heard = String::new();
    while !heard.contains("One moment.") {
        heard.push_str(&String::from_utf8_lossy(&in_time("a word", first.chunk()).await.unwrap().unwrap()));
    }
    vapi.app.advance(3);
    begin.notify_one();
    heard.push_str(&in_time("the answer", first.text()).await.unwrap());
    assert_eq!(words_of(&heard), "One moment. You have one task.");
    // The same request again, by the other form of the address: the same turn, no model request.
    let bearer = format!("Bearer {}", made.bearer);
    let (status, again) = vapi.completion(&made, &["list"], &bearer, "/chat/completions").await;
    assert_eq!((status, words_of(&again)), (200, "You have one task.".to_owned()));
    assert_eq!(vapi.app.count("SELECT count(*) FROM turns").await, 1);
    // The person speaks on: the first request is dropped, what they said joins the turn.
    vapi.app.script([Reply::After(Arc::clone(&end), Box::new(text("Adding milk."))), text("Milk and bread it is.")]);
    let cut = in_time("a cut request", async {
        tokio::select! {
            answered = vapi.asks(&made, &["list", "add milk"]) => Some(answered),
            () = vapi.app.script.asked(2) => None,
        }
    });
    assert_eq!(cut.await, None);
    let more = vapi.asks(&made, &["list", "add milk and bread"]);
    let goes_on = async {
        vapi.app.until("SELECT count(*) FROM messages WHERE role = 'user' AND content = 'add milk and bread'", 1).await;
        end.notify_one();
    };
    let (words, ()) = in_time("the answer", async { tokio::join!(more, goes_on) }).await;
    assert!(words.contains("Milk and bread it is."), "{words}");
    assert_eq!(vapi.app.count("SELECT count(*) FROM turns WHERE state = 'completed'").await, 2);
    // Nothing was said yet: there is nothing to answer.
    assert_eq!(vapi.asks(&made, &[]).await, "");
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn a_transcript_decides_before_the_models_side_and_counts_once() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    let says = |kind: &str, role: &str, said: &str, form: &str| json!({"type": kind, "role": role, "transcriptType": form, "transcript": said});
    vapi.app.script([call("createTask", json!({"description": "milk", "confirmed": false}))]);
    vapi.asks(&made, &["add buy milk"]).await;
    // An old answer, somebody else's, an interim one and other words decide nothing.
    for message in [
        says("transcript", "user", "Add buy milk!", "final"),
        says("transcript", "assistant", "yes", "final"),
        says("transcript", "user", "yes", "partial"),
        says("transcript", "user", "the weather", "final"),
    ] {
        assert_eq!(vapi.tells(&made, message).await.0, 200);
    }
    assert_eq!(vapi.app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1);
    vapi.app.script([breakdown(&["Go to the shop", "Find the milk", "Carry it home"]), text("Done!")]);
    vapi.tells(&made, says("transcript[transcriptType=\"final\"]", "user", "Go ahead.", "")).await;
    vapi.app.run_until_idle().await;
    assert_eq!(vapi.app.count("SELECT count(*) FROM approvals WHERE channel = 'voice' AND state = 'approved'").await, 1);
    // The model's side brings the same words: they are the same message.
    assert_eq!(vapi.asks(&made, &["add buy milk", "go ahead"]).await, "Done!");
    assert_eq!(vapi.app.count("SELECT count(*) FROM turns").await, 1);
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn a_sound_without_a_word_declines_no_question_and_has_it_said_once_more() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    vapi.app.script([call("createTask", json!({"description": "milk", "confirmed": false}))]);
    vapi.asks(&made, &["add buy milk"]).await;
    let said = ["add buy milk", "Uhm, ähm…", "Hmmm.", "Go ahead."];
    for (count, heard, again) in [(2, &said[..2], "Should I create a task called “milk”?"), (3, &said[..3], "")] {
        let passes = async {
            vapi.app.until("SELECT vapi_said::bigint FROM voice_calls", count).await;
            vapi.app.advance(3);
        };
        let (answer, ()) = in_time("the question", async { tokio::join!(vapi.asks(&made, heard), passes) }).await;
        assert_eq!(answer, again, "{heard:?}");
    }
    assert_eq!(vapi.app.count("SELECT count(*) FROM messages WHERE content LIKE '%hm%'").await, 0);
    vapi.app.script([breakdown(&["Go to the shop", "Find the milk", "Carry it home"]), text("Done!")]);
    assert_eq!(vapi.asks(&made, &said).await, "Done!");
    assert_eq!(vapi.app.count("SELECT count(*) FROM approvals WHERE channel = 'voice' AND state = 'approved'").await, 1);
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn calls_of_functions_run_once_under_the_same_law() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    let message = json!({"type": "tool-calls", "toolCallList": [
        {"id": "a", "type": "function", "function": {"name": "listTasks", "arguments": "{}"}},
        {"id": "b", "name": "launchRockets", "parameters": {}},
        {"id": "c", "name": "listTasks", "arguments": "{"},
    ]});
    let (status, answer) = vapi.tells(&made, message.clone()).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let results = answer["results"].as_array().unwrap();
    assert_eq!((status, results.len()), (200, 3), "{answer}");
    assert_eq!((&results[0]["toolCallId"], &results[0]["name"]), (&json!("a"), &json!("listTasks")));
    let line = results[0]["result"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(!line.is_empty() && !line.contains('\n'), "{line}");
    assert_eq!(results[1]["error"], "there is no function `launchRockets`");
    assert_eq!(results[2]["error"], "the arguments cannot be read: they must be a JSON object");
    vapi.app.advance(1);
    let (_, again) = vapi.tells(&made, message).await;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!((&again, vapi.app.count("SELECT count(*) FROM turns").await), (&answer, 1));
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn a_call_of_a_function_that_says_it_is_confirmed_waits_for_the_persons_yes() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    let order = json!({"id": "a", "name": "createTask", "parameters": {"description": "milk", "confirmed": true}});
    let (status, answer) = vapi.tells(&made, json!({"type": "tool-calls", "toolCallList": [order]})).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let waits = "it waits for a yes: say “go ahead” to do it, or “no”";
    assert_eq!((status, &answer["results"][0]["error"]), (200, &json!(waits)), "{answer}");
    assert_eq!(vapi.app.count("SELECT count(*) FROM tasks").await, 0);
    vapi.app.script([breakdown(&["Go to the shop", "Find the milk", "Carry it home"])]);
    let yes = json!({"type": "transcript", "role": "user", "transcriptType": "final", "transcript": "Go ahead."});
    vapi.tells(&made, yes).await;
    vapi.app.run_until_idle().await;
    assert_eq!(vapi.app.count("SELECT count(*) FROM approvals WHERE channel = 'voice' AND state = 'approved'").await, 1);
    assert_eq!(vapi.app.count("SELECT count(*) FROM tasks").await, 1);
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn a_call_that_vapi_does_not_make_begins_not_and_says_why() {
    let vapi = Vapi::with(&[]).await;
    for (status, body, answered, said) in [
        (401, r#"{"message": "Invalid Key."}"#, 502, "Vapi made no call (status 401): “Invalid Key.”; set VOICE_VAPI_KEY"),
        (500, "<html>", 502, "Vapi made no call (status 500)"),
        (200, "<html>", 502, "Vapi's answer has no webCallUrl"),
    ] {
        vapi.peer.will_answer(status, "application/json", body);
        let (got, told) = vapi.begin().await;
        let told = told["error"].as_str().unwrap().to_owned();
        assert!(got == answered && told.starts_with(said), "{got} {told}");
    }
    vapi.peer.hang_next();
    let silent = vapi.begin();
    let turns = async {
        vapi.peer.has(4).await;
        vapi.app.advance(20);
    };
    let ((status, told), ()) = in_time("the end of patience", async { tokio::join!(silent, turns) }).await;
    assert_eq!((status, &told["error"]), (504, &json!("Vapi did not make a call within 20 seconds; try again.")));
    vapi.peer.release();
    assert_eq!(vapi.app.count("SELECT count(*) FROM voice_calls").await, 0);
    api::ask(&vapi.app, Method::DELETE, "/api/secrets/VAPI", None).await;
    let (status, told) = vapi.begin().await;
    assert_eq!(status, 503);
    assert_eq!(told["error"], "VOICE_VAPI_KEY names the secret VAPI, and there is none: `level3 secret set VAPI` sets it");
    assert_eq!(vapi.app.count(SECONDS).await, 0);
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn a_call_lasts_no_longer_than_the_minutes_and_its_secrets_outlive_a_restart() {
    let mut vapi = Vapi::with(&[]).await;
    let paid = json!({"messages_per_day": null, "voice_minutes_per_month": 2});
    assert_eq!(api::ask(&vapi.app, Method::PUT, "/api/tiers/paid", Some(paid)).await.0, 200);
    let made = vapi.made().await;
    assert_eq!(made.assistant["maxDurationSeconds"], 120);
    vapi.app.crash().await;
    vapi.app.start_again().await;
    vapi.app.script([text("Still here.")]);
    assert_eq!(vapi.asks(&made, &["are you there"]).await, "Still here.");
    for _ in 0..11 {
        vapi.app.advance(10);
        assert_eq!(vapi.beat(made.call).await.0, 200);
    }
    vapi.app.advance(2);
    assert_eq!(vapi.tells(&made, json!({"type": "status-update", "status": "ended"})).await.0, 200);
    // Eight seconds are left. A call of Vapi's would be longer, so the minutes are used up.
    let asked = vapi.peer.arrived().len();
    let (status, told) = vapi.begin().await;
    let used_up = "You've used your voice minutes for this month.";
    assert_eq!((status, &told["error"], vapi.peer.arrived().len()), (429, &json!(used_up), asked));
    vapi.app.check_replay().await;
}
