//! Which model answers a turn: the one that is set, a profile's own, a task's own, and the next one
//! if one is down.

use axum::http::Method;
use level3::clock::SystemRandom;
use level3::domain::{Rate, Usage};
use level3::store::{NewStep, Store};
use serde_json::{Value, json};

use crate::support::api::{ask, level3, level3_with};
use crate::support::{Peer, TestApp, call, calls, of_type, text};

/// Two model servers, as llama.cpp and Ollama, and a server that knows their addresses.
async fn with_two() -> (TestApp, Peer, Peer) {
    let (first, second) = (Peer::start().await, Peer::start().await);
    let (at_first, at_second) = (format!("{}/v1", first.host()), format!("{}/v1", second.host()));
    let app = TestApp::with(&[("LLAMACPP_BASE_URL", &at_first), ("OLLAMA_BASE_URL", &at_second)]).await;
    (app, first, second)
}

fn says(peer: &Peer, model: &str, text: &str) {
    let message = json!({ "model": model, "choices": [{ "message": { "content": text }, "finish_reason": "stop" }] });
    peer.will_answer(200, "application/json", message.to_string());
}

/// How many requests of the models' interface a peer got.
fn asked(peer: &Peer) -> usize {
    peer.arrived().iter().filter(|arrived| arrived.path.starts_with("/v1/chat")).count()
}

async fn set_models(app: &TestApp, models: Value) -> (u16, Value) {
    ask(app, Method::PUT, "/api/policy/builder", Some(json!({ "models": models }))).await
}

#[tokio::test]
async fn a_profile_has_models_of_its_own_and_the_step_names_the_one_that_answered() {
    let (app, first, second) = with_two().await;
    let (status, policy) = set_models(&app, json!(["llama.cpp/one", "ollama/two"])).await;
    assert_eq!((status, &policy["models"], &policy["mode"]), (200, &json!(["llamacpp/one", "ollama/two"]), &json!("smart")));
    // The client first asks the server how much the model can take; this server does not say.
    first.will_answer(404, "text/plain", "");
    says(&first, "one", "I am the first.");
    let mut client = app.connect().await;
    assert_eq!(client.hello["model"]["provider"], "llamacpp", "the page names the one that will answer");
    let frames = client.ask("who are you?").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "I am the first.");
    assert_eq!(app.count("SELECT count(*) FROM steps WHERE model = 'one'").await, 1);
    assert_eq!((asked(&first), asked(&second)), (1, 0));
    let (_, policy) = set_models(&app, json!([])).await;
    assert_eq!(policy["models"], json!([]));
    app.script([text("I am the one that is set.")]);
    let frames = app.connect().await.ask("and now?").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "I am the one that is set.");
    app.check_replay().await;
}

#[tokio::test]
async fn where_all_models_of_a_profile_are_down_the_turn_fails_and_names_each() {
    let (app, first, second) = with_two().await;
    set_models(&app, json!(["llamacpp/one", "ollama/two"])).await;
    first.will_answer(404, "text/plain", "");
    for peer in [&first, &second] {
        for _ in 0..5 {
            peer.will_answer(401, "application/json", "{}");
        }
    }
    let frames = app.connect().await.ask("hello?").await;
    let told = of_type(&frames, "error")["content"].as_str().unwrap().to_owned();
    assert!(told.contains("llamacpp/one: ") && told.contains("ollama/two: ") && told.contains("LLM_API_KEY"), "{told}");
}

#[tokio::test]
async fn a_wrong_model_of_a_profile_is_refused_with_the_choices_and_nothing_is_set() {
    let (app, _first, _second) = with_two().await;
    for (models, told) in [
        (json!(["gpt-4"]), "anthropic, openai, groq, openrouter, mistral, gemini, ollama, lmstudio, llamacpp, custom"),
        (json!(["ollama/x", "groq/y"]), "set GROQ_API_KEY"),
        (
            json!(["ollama/1", "ollama/2", "ollama/3", "ollama/4", "ollama/5", "ollama/6", "ollama/7", "ollama/8", "ollama/9"]),
            "at most 8 models",
        ),
    ] {
        let change = json!({ "mode": "auto", "models": models });
        let (status, refused) = ask(&app, Method::PUT, "/api/policy/builder", Some(change)).await;
        assert_eq!(status, 400);
        assert!(refused["error"].as_str().unwrap().contains(told), "{refused}");
    }
    let (_, policy) = ask(&app, Method::GET, "/api/policy/builder", None).await;
    assert_eq!((&policy["models"], &policy["mode"]), (&json!([]), &json!("smart")));
    let out = level3(&app, &["policy", "models", "ollama/a", "llama.cpp/b"]).await;
    assert!(out.code == 0 && out.out.contains("ollama/a\n  llamacpp/b"), "{out:?}");
    let out = level3(&app, &["policy", "models", "nonsense"]).await;
    assert!(out.code == 1 && out.err.contains("names no model"), "{out:?}");
    let out = level3(&app, &["policy", "models", "none"]).await;
    assert!(out.code == 0 && !out.out.contains("Models"), "{out:?}");
}

#[tokio::test]
async fn a_task_is_worked_on_with_the_model_it_names_each_model_in_a_turn_of_its_own() {
    let (app, first, second) = with_two().await;
    let create = |title: &str, model: &str| {
        ("manage_tasks", json!({ "action": "create", "title": title, "due_at": "2026-11-20T08:01:00Z", "model": model }))
    };
    app.script([
        calls(&[create("a", "llama.cpp/one"), create("b", "ollama/two"), create("c", "llamacpp/one"), create("d", "no-such")]),
        call("manage_tasks", json!({ "action": "update", "id": 2, "model": "" })),
        call("manage_tasks", json!({ "action": "update", "id": 2, "model": "ollama/two" })),
        text("made"),
    ]);
    let frames = app.connect().await.ask("make them").await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    assert!(results[0]["result"].as_str().unwrap().contains("\"model\":\"llamacpp/one\""), "{results:?}");
    assert_eq!(results[3]["ok"], false);
    assert!(results[3]["result"].as_str().unwrap().contains("llamacpp, custom"), "{results:?}");
    assert!(!results[4]["result"].as_str().unwrap().contains("\"model\""), "{results:?}");
    // Room enough for what was said before.
    first.will_answer(200, "application/json", json!({ "default_generation_settings": { "n_ctx": 32768 } }).to_string());
    // The server does not show how its model reads a conversation either.
    first.will_answer(404, "text/plain", "");
    says(&first, "one", "a and c.");
    // The client asks Ollama in two places how much its model can take.
    let running = json!({ "models": [{ "name": "two", "context_length": 32768 }] });
    second.will_answer(200, "application/json", running.to_string());
    second.will_answer(404, "text/plain", "");
    says(&second, "two", "b.");
    let mut client = app.connect().await;
    client.follow().await;
    app.advance(60);
    client.turn().await;
    client.turn().await;
    assert_eq!((asked(&first), asked(&second)), (1, 1));
    let body = first.arrived().iter().find(|arrived| arrived.path.starts_with("/v1/chat")).unwrap().body.clone();
    assert!(body.contains("task 1") && body.contains("task 3") && body.contains("\"model\":\"one\""), "{body}");
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE task_model = 'llamacpp/one' AND state = 'completed'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE task_model = 'ollama/two' AND state = 'completed'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM shared.tasks WHERE model IS NOT NULL").await, 3);
    app.check_replay().await;
}

#[tokio::test]
async fn a_known_price_counts_only_where_the_table_of_rates_has_none() {
    let mut app = TestApp::start().await;
    app.leaves("no server works on its turn");
    app.stop().await;
    let store = Store::open(&app.database_behind(), &SystemRandom).await.unwrap();
    let now = app.now();
    let main = store.owners().main_conversation(now).await.unwrap();
    store.owners().accept_message(main, None, "work", now).await.unwrap();
    let lease = store.claim("one", &[], now).await.unwrap().expect("a turn");
    let known = Some(Rate { input_micros: 3_000_000, output_micros: 15_000_000 });
    let usage = Some(Usage { input: 1000, output: 100 });
    let step = |number, usage| NewStep { number, model: "m", finish_reason: "length", usage, content: "x", ..NewStep::default() };
    store.store_priced_step(&lease, step(1, usage), known, now).await.unwrap();
    store.store_priced_step(&lease, step(2, None), known, now).await.unwrap();
    store.store_step(&lease, step(3, usage), now).await.unwrap();
    store.set_rate("m", Some(Rate { input_micros: 1_000_000, output_micros: 0 }), now).await.unwrap();
    store.store_priced_step(&lease, step(4, usage), known, now).await.unwrap();
    store.store_priced_step(&lease, step(5, None), known, now).await.unwrap();
    let costs = store.owners().usage_report(now).await.unwrap();
    assert_eq!(costs.today.model.cost_micros, None, "three of the five are not known");
    assert_eq!(app.count("SELECT count(*) FROM steps WHERE number = 1 AND cost_micros = 4500").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM steps WHERE number IN (2, 3, 5) AND cost_micros IS NULL").await, 3);
    assert_eq!(app.count("SELECT count(*) FROM steps WHERE number = 4 AND cost_micros = 1000").await, 1);
    store.close().await;
}

#[tokio::test]
async fn the_doctor_needs_no_server_and_says_in_its_exit_code_whether_all_is_well() {
    let peer = Peer::start().await;
    let base_url = format!("{}/v1", peer.host());
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "m"), ("LEVEL3_LISTEN", "127.0.0.1:0")];
    let list = json!({ "data": [{ "id": "m" }] }).to_string();
    let ping = json!({ "choices": [{ "message": { "tool_calls": [{ "function": { "name": "ping", "arguments": { "word": "hello" } } }] }, "finish_reason": "tool_calls" }] });
    peer.will_answer(200, "application/json", list.clone());
    // The server does not say how much its model can take.
    peer.will_answer(404, "text/plain", "");
    says(&peer, "m", "one two three");
    peer.will_answer(200, "application/json", ping.to_string());
    let well = level3_with(&settings, &["doctor"], "").await;
    assert_eq!((well.code, well.err.as_str()), (0, ""), "{well:?}");
    assert!(well.out.contains("custom/m (in use)  tool calls") && well.out.ends_with("All is well.\n"), "{well:?}");
    assert!(well.out.contains("a private Postgres") && well.out.contains("is free"), "{well:?}");
    // The second time the model talks instead of calling.
    peer.will_answer(200, "application/json", list);
    peer.will_answer(404, "text/plain", "");
    says(&peer, "m", "one two three");
    says(&peer, "m", "I would call ping.");
    let unwell = level3_with(&settings, &["doctor", "--json"], "").await;
    let report: Value = serde_json::from_str(&unwell.out).unwrap();
    assert_eq!((unwell.code, &report["well"]), (1, &json!(false)));
    assert_eq!(report["models"][0]["checks"][4]["state"], "failed", "{report}");
    let app = TestApp::start().await;
    let taken = level3(&app, &["doctor"]).await;
    assert!(taken.out.contains("a level3 is at"), "{taken:?}");
    let busy = level3_with(&[("LEVEL3_LISTEN", &peer.address.to_string()), ("LLM_MODLE", "m")], &["doctor"], "").await;
    assert!(
        busy.code == 1 && busy.out.contains("To mend first, server, address: ") && busy.out.contains("LEVEL3_LISTEN"),
        "{busy:?}"
    );
    assert!(busy.out.contains("LLM_MODLE is set, and there is no such setting; the nearest is LLM_MODEL"), "{busy:?}");
}

#[tokio::test]
async fn models_are_listed_without_a_server_with_what_is_missing() {
    let peer = Peer::start().await;
    peer.will_answer(
        200,
        "application/json",
        json!({ "data": [{ "id": "a" }, { "id": "b" }, { "id": "c" }, { "id": "d" }] }).to_string(),
    );
    let base_url = format!("{}/v1", peer.host());
    let listed =
        level3_with(&[("LLM_BASE_URL", &base_url), ("LLM_MODEL", "b"), ("LLM_FALLBACK", "ollama/q")], &["models"], "").await;
    assert_eq!((listed.code, listed.err.as_str()), (0, ""), "{listed:?}");
    let line = |name: &str| {
        listed.out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {listed:?}")).to_owned()
    };
    assert!(
        line("custom").contains("ready")
            && line("custom").contains("a, b, c and 1 more")
            && line("custom").ends_with("in use: custom/b")
    );
    assert!(line("groq").contains("not configured") && line("groq").contains("GROQ_API_KEY"), "{listed:?}");
    assert!(line("ollama").contains("unreachable") && line("ollama").ends_with("fallback: ollama/q"), "{listed:?}");
    peer.will_answer(200, "text/html", "<html>somebody's page</html>");
    let page = level3_with(&[("LLM_BASE_URL", &base_url), ("LLM_MODEL", "b")], &["models"], "").await;
    let custom = page.out.lines().find(|line| line.starts_with("custom")).expect("it is listed");
    assert!(custom.contains("refused") && custom.contains("something else than a list of models"), "{custom}");
    let wrong = level3_with(&[("LLM_PROVIDER", "azure")], &["models"], "").await;
    assert!(wrong.code == 1 && wrong.out.contains("LLM_PROVIDER is `azure`"), "{wrong:?}");
}
