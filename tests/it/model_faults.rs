//! The model's faults as a turn meets them: a real client of a server that misbehaves, and what the
//! page, the model and the database show of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use level3::clock::{SeededRandom, SystemClock};
use level3::domain::{Budget, Budgets, Mode};
use level3::model::client::{ChatClient, Endpoint, ModelLimits, Target};
use level3::model::{Entry, Model, ModelErrorKind};
use serde_json::{Value, json};
use sqlx::Executor;

use crate::support::{Client, Reply, TestApp, call, calls, in_time, kinds, of_type, results, text};

#[allow(dead_code, reason = "shared with the tests of the client, which use the rest")]
#[path = "../model_wire/server.rs"]
mod server;

use server::{Do, Server, events, finish, good, piece, response};

/// A client of `server` that waits for a word no longer than this story can.
fn model(server: &Server) -> Arc<dyn Model> {
    let endpoint = Endpoint::new(&server.base_url(), None).unwrap();
    let target = Target { endpoint, model: Some("m".into()), provider: "custom".into(), kind: "configured" };
    let limits = ModelLimits { retry_base: Duration::from_millis(1), silence: Duration::from_secs(2), ..ModelLimits::default() };
    Arc::new(ChatClient::new(target, limits, Arc::new(SystemClock), Arc::new(SeededRandom::new(1))).unwrap())
}

/// An app whose model is a client of a server that plays these replies; the script holds so many
/// requests for it.
async fn app(replies: Vec<server::Reply>, asked: usize) -> (TestApp, Server) {
    let server = Server::playing(replies).await;
    let app = TestApp::start().await;
    let model = model(&server);
    app.script((0..asked).map(|_| Reply::Ask(Arc::clone(&model))));
    (app, server)
}

fn tool_calls(calls: Value) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "tool_calls": calls } }] }))
}

fn sql(id: &str, index: usize, query: &str) -> Value {
    json!({ "index": index, "id": id, "function": { "name": "execute_sql", "arguments": json!({ "query": query }).to_string() } })
}

/// Every call has exactly one outcome, and the turn is over.
async fn all_settled(app: &TestApp, calls: i64) {
    assert_eq!(app.count("SELECT count(*) FROM tool_calls").await, calls);
    assert_eq!(app.count("SELECT count(*) FROM tool_calls WHERE state = 'proposed'").await, 0);
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE role = 'tool'").await, calls);
    assert_eq!(app.count("SELECT count(*) FROM events WHERE kind = 'tool_call_ended'").await, calls);
    assert_eq!(app.store().open_turns().await.unwrap(), 0);
}

/// The message of the turn's error.
fn error(frames: &[Value]) -> &str {
    of_type(frames, "error")["content"].as_str().unwrap()
}

#[tokio::test]
async fn calls_of_an_answer_that_breaks_off_are_not_run() {
    let call = tool_calls(json!([sql("a", 0, "CREATE TABLE made (n int)")]));
    let trouble = Do::Send(b"data: {\"error\":{\"message\":\"boom\",\"code\":500}}\n\n".to_vec());
    // A server that tells of its trouble is asked once more, for the whole answer.
    for (end, requests) in [(vec![], 1), (vec![Do::Reset], 1), (vec![Do::Hang], 1), (vec![trouble], 2)] {
        let (app, server) = app(vec![[vec![Do::Send(events(piece("I make it.") + &call))], end].concat()], 1).await;
        let mut client = app.connect().await;
        let frames = client.ask("make a table").await;
        assert_eq!(kinds(&frames), ["turn queued", "turn running", "error"], "{frames:#?}");
        assert_eq!(server.requests(), requests, "nothing is asked again once text was shown");
        all_settled(&app, 0).await;
        assert_eq!(app.count("SELECT count(*) FROM steps").await, 0);
        assert_eq!(app.count("SELECT count(*) FROM pg_tables WHERE tablename = 'made'").await, 0);
        // The next turn goes on from there.
        app.script([text("fresh")]);
        assert_eq!(of_type(&client.ask("again").await, "assistant")["content"], "fresh");
    }
}

#[tokio::test]
async fn what_passes_is_not_even_seen() {
    let busy = |status: &str| vec![Do::Send(response(status, "retry-after: 0\r\n", "<html>busy</html>"))];
    let replies = vec![busy("429 Slow"), vec![Do::Reset], busy("529 Overloaded"), good("there you are")];
    let (app, server) = app(replies, 1).await;
    let frames = app.connect().await.ask("hello").await;
    assert_eq!(kinds(&frames), ["turn queued", "turn running", "assistant", "turn completed"]);
    assert_eq!((server.requests(), app.count("SELECT count(*) FROM steps").await), (4, 1));
}

#[tokio::test]
async fn what_does_not_pass_is_one_sentence_and_one_failed_turn() {
    for (status, headers, says) in [
        ("401 Unauthorized", "", "LLM_API_KEY"),
        ("402 Payment Required", "", "out of money"),
        ("503 Unavailable", "", "Tried 4 times"),
        ("429 Too Many", "retry-after: 3600\r\n", "asks to wait 60 minutes"),
    ] {
        let (app, _server) = app(vec![vec![Do::Send(response(status, headers, "<html>no</html>"))]], 1).await;
        let frames = app.connect().await.ask("hello").await;
        assert!(error(&frames).contains(says), "{}", error(&frames));
        assert_eq!(app.count("SELECT count(*) FROM turns WHERE state = 'failed' AND reason IS NOT NULL").await, 1);
        assert_eq!(app.count("SELECT count(*) FROM events WHERE kind = 'turn_ended'").await, 1);
        all_settled(&app, 0).await;
    }
}

#[tokio::test]
async fn too_many_requests_at_the_provider_are_told_to_openai_clients_as_that() {
    for (header, after) in [("retry-after: 3600\r\n", "3600"), ("retry-after: 0\r\n", "1")] {
        let refused = || vec![Do::Send(response("429 Too Many", header, "{}"))];
        let (app, _server) = app((0..12).map(|_| refused()).collect(), 2).await;
        let body = crate::v1::body(&[crate::v1::user("hello")]);
        let answer = crate::v1::post(&app, &body).header("Idempotency-Key", "k").send().await.unwrap();
        let head = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!((answer.status().as_u16(), head("retry-after"), head("x-should-retry")), (429, after.into(), "false".into()));
        let told: Value = answer.json().await.unwrap();
        let error = (&told["error"]["type"], &told["error"]["code"]);
        assert_eq!(error, (&json!("rate_limit_error"), &json!("rate_limit_exceeded")), "{told}");
        let stream = [("model", json!("level3")), ("messages", body["messages"].clone()), ("stream", json!(true))];
        let stream: Value = stream.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let answer = crate::v1::post(&app, &stream).send().await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].to_str().unwrap()), (429, after));
        // A client that asks again gets the same answer, and the provider is not asked for it.
        let again = crate::v1::post(&app, &body).header("Idempotency-Key", "k").send().await.unwrap();
        assert_eq!((again.status().as_u16(), again.headers()["retry-after"].to_str().unwrap()), (429, after));
        assert_eq!(app.count("SELECT count(*) FROM turns").await, 2);
        app.check_replay().await;
    }
}

#[tokio::test]
async fn too_many_requests_after_the_first_word_are_the_end_of_the_stream() {
    let refused = vec![Do::Send(response("429 Too Many", "retry-after: 3600\r\n", "{}"))];
    let first = vec![Do::Send(events(piece("Looking.") + &tool_calls(json!([sql("a", 0, "SELECT 1 AS n")])) + &finish()))];
    let (app, _server) = app(vec![first, refused], 2).await;
    let stream = json!({"model": "level3", "messages": [crate::v1::user("hello")], "stream": true});
    let answer = crate::v1::post(&app, &stream).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let told = answer.text().await.unwrap();
    assert!(told.contains("Looking.") && told.contains("rate_limit_exceeded") && !told.contains("[DONE]"), "{told}");
}

#[tokio::test]
async fn of_two_hundred_calls_128_are_made_and_each_of_the_others_is_told_why_not() {
    let wanted: Vec<_> = (0..200).map(|n| sql(&format!("c{n}"), n, &format!("SELECT {n} AS n"))).collect();
    let (app, server) = app(vec![vec![Do::Send(events(tool_calls(json!(wanted)) + &finish()))], good("done")], 2).await;
    no_budget(&app).await;
    let frames = app.connect().await.ask("two hundred").await;
    let results = results(&frames);
    assert_eq!(results.len(), 200);
    for (n, (ok, told)) in results.iter().enumerate() {
        match n {
            0..128 => assert_eq!((*ok, told.as_str()), (true, format!("[{{\"n\":{n}}}]").as_str())),
            _ => assert!(!ok && told.contains("too_many_calls") && told.contains("asked for 200"), "{n}: {told}"),
        }
    }
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    all_settled(&app, 200).await;
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE verdict = 'deny'").await, 72);
    // The model gets each result under the id of its call.
    let asked: Value = serde_json::from_str(server.asked.lock().unwrap()[1].split_once("\r\n\r\n").unwrap().1).unwrap();
    let answered = asked["messages"].as_array().unwrap().iter().filter_map(|message| message["tool_call_id"].as_str());
    assert_eq!(answered.collect::<BTreeSet<_>>().len(), 200);
}

#[tokio::test]
async fn two_hundred_calls_end_a_turn_at_its_budget_and_each_has_an_outcome() {
    let wanted: Vec<_> = (0..200).map(|n| sql(&format!("c{n}"), n, &format!("SELECT {n} AS n"))).collect();
    let (app, _server) = app(vec![vec![Do::Send(events(tool_calls(json!(wanted)) + &finish()))]], 1).await;
    let frames = app.connect().await.ask("two hundred").await;
    let made = results(&frames).iter().filter(|(ok, _)| *ok).count();
    let not_run = results(&frames).iter().filter(|(_, told)| told.contains("Not run")).count();
    assert!(made > 0 && not_run > 0 && made + not_run == 200, "{made} and {not_run}");
    let said = frames.iter().rfind(|frame| frame["type"] == "assistant").unwrap()["content"].as_str().unwrap();
    assert!(said.contains("I stopped here") && said.contains("tool calls"), "{said}");
    all_settled(&app, 200).await;
}

/// Tokens read and written by answers that broke off, and how many of them the provider counted.
async fn broken_off(app: &TestApp) -> Vec<(i64, i64, bool)> {
    let rows = "SELECT input_tokens, output_tokens, counted FROM broken_answers ORDER BY broken_answer_id";
    sqlx::query_as(rows).fetch_all(&mut app.behind().await).await.unwrap()
}

#[tokio::test]
async fn the_tokens_of_answers_that_break_off_count() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":700,\"completion_tokens\":30}}\n\n".to_owned();
    let thinks = "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"a long way to go\"}}]}\n\n".to_owned();
    let trouble = "data: {\"error\":{\"message\":\"boom\",\"code\":400}}\n\n".to_owned();
    let said = piece("I am saying");
    for (body, end, counted) in [
        (said.clone(), vec![], false),
        (said.clone(), vec![Do::Reset], false),
        (said.clone(), vec![Do::Hang], false),
        (thinks + &said, vec![Do::Reset], false),
        (said.clone() + &trouble, vec![], false),
        (said + &usage, vec![Do::Reset], true),
    ] {
        let (app, server) = app(vec![[vec![Do::Send(events(&body))], end].concat()], 1).await;
        let frames = app.connect().await.ask("tell me").await;
        assert!(!error(&frames).is_empty());
        let [(input, output, said)] = broken_off(&app).await[..] else { panic!("one broke off: {body}") };
        assert_eq!((server.requests(), said), (1, counted), "{body}");
        match (counted, body.contains("reasoning")) {
            (true, _) => assert_eq!((input, output), (700, 30)),
            // 11 bytes of text, and 16 of thoughts.
            (false, thought) => assert!(input > 500 && output == if thought { 7 } else { 3 }, "{input} {output}: {body}"),
        }
        let report = app.store().owners().usage_report(app.now()).await.unwrap();
        assert_eq!((report.today.model.requests, report.today.model.input_tokens), (1, u64::try_from(input).unwrap()));
        app.check_replay().await;
    }
}

#[tokio::test]
async fn a_stop_and_a_further_try_count_and_what_was_refused_does_not() {
    // The first answer is cut before its first word, so the client asks again; a person stops the
    // second.
    let busy = vec![Do::Send(response("429 Slow", "retry-after: 0\r\n", "<html>busy</html>"))];
    let cut = vec![Do::Send(events(": hello\n\n")), Do::Reset];
    let (app, server) = app(vec![busy, cut, vec![Do::Send(events(piece("I am saying"))), Do::Hang]], 1).await;
    let mut client = app.connect().await;
    client.say("tell me").await;
    client.until(|frame| frame["type"] == "delta").await;
    client.stop().await;
    client.turn().await;
    let tokens = broken_off(&app).await;
    assert_eq!((server.requests(), tokens.len()), (3, 2), "{tokens:?}");
    let mut written: Vec<_> = tokens.iter().map(|(_, output, _)| *output).collect();
    written.sort_unstable();
    assert_eq!(written, [0, 3]);
    app.check_replay().await;
}

#[tokio::test]
async fn a_day_is_used_up_by_answers_that_break_off_and_by_those_that_are_cut_here() {
    let again = "the same words again and again, ".repeat(600);
    let broken = vec![Do::Send(events(piece(&"x".repeat(400)))), Do::Reset];
    let (app, server) = app(vec![vec![Do::Send(events(piece(&again)))], broken], 2).await;
    let day = Budget { output_tokens: Some(1_000), ..Budget::default() };
    let budgets = Budgets { day, ..Budgets::default() };
    app.store().set_profile_policy("builder", Mode::Smart, false, &budgets, app.now()).await.unwrap();
    let mut client = app.connect().await;
    client.ask("repeat").await;
    let written = app.count("SELECT coalesce(max(output_tokens), 0) FROM steps").await;
    assert!(written > 200, "an answer that was ended from this side is counted by its bytes: {written}");
    let mut asked = server.requests();
    for _ in 0..20 {
        let frames = client.ask("go on").await;
        if server.requests() == asked {
            let told = of_type(&frames, "assistant")["content"].as_str().unwrap();
            assert!(told.contains("have had models write") && told.contains("`day.output_tokens`"), "{told}");
            app.script.forget();
            return;
        }
        asked = server.requests();
        let model = model(&server);
        app.script([Reply::Ask(model)]);
    }
    panic!("the day was never used up");
}

/// Lets a turn make as many calls as it likes.
async fn no_budget(app: &TestApp) {
    let none = Budget::default();
    let budgets = Budgets { turn: none, conversation: none, day: none, ..Budgets::default() };
    app.store().set_profile_policy("builder", Mode::Smart, false, &budgets, app.now()).await.unwrap();
}

#[tokio::test]
async fn the_calls_of_one_answer_are_counted_on_after_a_crash_in_the_middle() {
    let mut app = TestApp::start().await;
    no_budget(&app).await;
    app.script([call("execute_sql", json!({ "query": "CREATE TABLE log (n int PRIMARY KEY)" })), text("ready")]);
    let mut client = app.connect().await;
    client.ask("prepare").await;
    // The call in the middle waits for a lock that the test holds, so the crash falls into it.
    let mut behind = app.behind().await;
    behind.execute("BEGIN").await.unwrap();
    behind.execute("INSERT INTO agent.log VALUES (60)").await.unwrap();
    let wanted: Vec<_> = (0..130).map(|n| ("execute_sql", json!({ "query": format!("INSERT INTO log VALUES ({n})") }))).collect();
    app.script([calls(&wanted)]);
    client.say("many").await;
    client.until(|frame| frame["type"] == "tool_result" && frame["call"] == 61).await;
    app.crash().await;
    behind.execute("ROLLBACK").await.unwrap();
    app.script([text("done")]);
    app.start_again().await;
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM agent.log").await, 128);
    all_settled(&app, 131).await;
    let turned_away = "SELECT count(*) FROM messages WHERE role = 'tool' AND content LIKE '%too_many_calls%'";
    assert_eq!(app.count(turned_away).await, 2);
}

#[tokio::test]
async fn calls_with_one_id_each_get_their_own_result() {
    let wanted = json!([sql("same", 0, "SELECT 1 AS a"), sql("same", 1, "SELECT 2 AS b"), sql("same", 2, "SELECT 3 AS c")]);
    let (app, server) = app(vec![vec![Do::Send(events(tool_calls(wanted) + &finish()))], good("done")], 2).await;
    let frames = app.connect().await.ask("three").await;
    assert_eq!(
        results(&frames).iter().map(|(_, told)| told.as_str()).collect::<Vec<_>>(),
        [r#"[{"a":1}]"#, r#"[{"b":2}]"#, r#"[{"c":3}]"#]
    );
    all_settled(&app, 3).await;
    let asked: Value = serde_json::from_str(server.asked.lock().unwrap()[1].split_once("\r\n\r\n").unwrap().1).unwrap();
    let messages = asked["messages"].as_array().unwrap();
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
    let ids: Vec<_> =
        messages.iter().find_map(|message| message["tool_calls"].as_array()).unwrap().iter().map(|call| &call["id"]).collect();
    assert_eq!(ids, results.iter().map(|result| &result["tool_call_id"]).collect::<Vec<_>>());
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 3);
}

#[tokio::test]
async fn unknown_tools_cut_arguments_and_zero_characters_are_each_told_and_the_turn_goes_on() {
    let odd = json!([
        { "index": 0, "id": "a", "function": { "name": "send_email", "arguments": "{}" } },
        { "index": 1, "id": "b", "function": { "name": "", "arguments": "" } },
        { "index": 2, "id": "c", "function": { "name": "execute_sql", "arguments": "{\"query\": \"SEL" } },
        { "index": 3, "id": "d", "function": { "name": "execute_sql", "arguments": "[7]" } },
        { "index": 4, "id": "e\u{0}", "function": { "name": "x\u{0}y", "arguments": "{\"a\u{0}\": 1}" } },
        { "index": 5, "id": "f", "function": { "name": "execute_sql", "arguments": { "query": "SELECT 1 AS a" } } },
    ]);
    let spoiled = events(piece("zero \u{0} here") + &tool_calls(odd) + &finish());
    let (app, _server) = app(vec![vec![Do::Send(spoiled)], good("done")], 2).await;
    let frames = app.connect().await.ask("odd").await;
    let results = results(&frames);
    assert_eq!(results.iter().map(|(ok, _)| *ok).collect::<Vec<_>>(), [false, false, false, false, false, true]);
    for (place, told) in [(0, "no tool `send_email`"), (1, "no tool ``"), (2, "cut off"), (3, "one JSON object")] {
        assert!(results[place].1.contains(told), "{}", results[place].1);
    }
    assert_eq!(of_type(&frames, "assistant")["content"], "zero \u{fffd} here");
    all_settled(&app, 6).await;
}

#[tokio::test]
async fn counts_of_tokens_that_cannot_be_do_not_spoil_the_turn() {
    let counted =
        format!("data: {}\n\n", json!({ "choices": [], "usage": { "prompt_tokens": u64::MAX, "completion_tokens": -4 } }));
    let (app, _server) = app(vec![vec![Do::Send(events(piece("a") + &finish() + &counted))]], 1).await;
    let frames = app.connect().await.ask("count").await;
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    assert_eq!(app.count("SELECT count(*) FROM steps WHERE coalesce(input_tokens, 0) = 0").await, 1);
}

const LLAMA: &str = r#"{"error":{"code":400,"message":"request (40030 tokens) exceeds the available context size (8192 tokens)","type":"exceed_context_size_error"}}"#;

fn too_long() -> server::Reply {
    vec![Do::Send(response("400 Bad Request", "", LLAMA))]
}

/// Says this many things before the model finds the request too long.
async fn talk(app: &TestApp, client: &mut Client, turns: usize) {
    app.script((0..turns).map(|n| text(&format!("answer {n} {}", "word ".repeat(200)))));
    for n in 0..turns {
        client.ask(&format!("question {n}")).await;
    }
}

#[tokio::test]
async fn a_conversation_too_long_is_shortened_and_every_message_is_kept() {
    let server =
        Server::playing(vec![too_long(), good("short enough"), good("They spoke."), good("this turn"), good("at once")]).await;
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    talk(&app, &mut client, 4).await;
    let model = model(&server);
    for (question, answer, asked) in [("first", "short enough", 2), ("second", "this turn", 2), ("third", "at once", 1)] {
        app.script((0..asked).map(|_| Reply::Ask(Arc::clone(&model))));
        let frames = client.ask(question).await;
        assert_eq!(of_type(&frames, "assistant")["content"], answer);
        assert_eq!(kinds(&frames), ["turn queued", "turn running", "assistant", "turn completed"]);
    }
    let shown = |request: usize| {
        let requests = app.script.requests();
        let said = requests[request].entries.iter().filter_map(|entry| match entry {
            Entry::User(said) => Some(said.rsplit("Z] ").next().unwrap().to_owned()),
            _ => None,
        });
        said.collect::<Vec<_>>()
    };
    assert_eq!(shown(4), ["question 0", "question 1", "question 2", "question 3", "first"]);
    assert_eq!(shown(5), ["question 2", "question 3", "first"]);
    // Entries that the model refused once are not sent again, neither in the next turn nor later.
    assert!(app.script.requests()[6].tools.is_empty(), "a summary of the older turns");
    assert!(shown(7)[0].contains("They spoke.") && shown(7).len() < 5 && shown(7).last().unwrap() == "second", "{:?}", shown(7));
    assert_eq!(app.script.requests().len(), 9, "the third is not refused");
    let summary = shown(8).remove(0);
    let hint = summary.rsplit("SELECT").next().unwrap().lines().next().unwrap();
    assert_eq!(app.count("SELECT count(*) FROM messages").await, 14, "nothing is thrown away");
    // The statement that the model is told works.
    app.script([call("execute_sql", json!({ "query": format!("SELECT{hint}") })), text("found")]);
    assert!(results(&client.ask("look it up").await)[0].1.contains("question 0"));
}

#[tokio::test]
async fn a_turn_too_long_goes_on_with_its_results_cut_and_stays_so() {
    let app = TestApp::start().await;
    let too_long = || Reply::Fail(ModelErrorKind::ContextOverflow, "too long".into());
    let big = || call("execute_sql", json!({ "query": "SELECT repeat('x', 20000) AS x" }));
    app.script([big(), too_long(), call("execute_sql", json!({ "query": "SELECT 1 AS a" })), text("done")]);
    let frames = app.connect().await.ask("big").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "done");
    let requests = app.script.requests();
    let result = |request: usize| match &requests[request].entries[3] {
        Entry::Tool { content, .. } => content.clone(),
        other => panic!("{other:?}"),
    };
    assert!(result(1).len() > 8000 && result(2).len() < 3000 && result(2).contains("left out here"), "{}", result(2));
    assert_eq!((requests.len(), result(3)), (4, result(2)), "it is not found too long again in each step");
    let kept = app.count("SELECT max(octet_length(content))::bigint FROM messages").await;
    assert_eq!(usize::try_from(kept).unwrap(), result(1).len(), "what was found is kept whole");
}

#[tokio::test]
async fn where_nothing_is_left_to_leave_out_it_is_said() {
    let (app, server) = app(vec![too_long()], 1).await;
    let frames = app.connect().await.ask(&"long ".repeat(1000)).await;
    let said = error(&frames);
    assert!(said.contains("40030 tokens") && said.contains("say less at once") && said.contains("LLM_MODEL"), "{said}");
    assert_eq!(server.requests(), 1);
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE length(content) >= 5000").await, 1);
}

#[tokio::test]
async fn ten_thousand_tiny_pieces_and_a_client_that_does_not_read_end_in_the_whole_answer() {
    let body: String = (0..10_000).map(|n| piece(&format!("{n} "))).collect();
    let whole: String = (0..10_000).map(|n| format!("{n} ")).collect();
    let (app, _server) = app(vec![vec![Do::Send(events(body + &finish()))]], 1).await;
    let (mut slow, mut quick) = (app.connect().await, app.connect().await);
    quick.resume(0).await;
    slow.say("count").await;
    // The slow client reads nothing until all is over.
    assert_eq!(of_type(&quick.turn().await, "assistant")["content"], whole.as_str());
    let frames = slow.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], whole.as_str());
    assert_eq!(kinds(&frames), ["turn queued", "turn running", "assistant", "turn completed"]);
}

#[tokio::test]
async fn megabytes_in_one_line_are_refused_in_a_sentence() {
    let (app, _server) = app(vec![vec![Do::Send(events(piece(&"x".repeat(10 << 20))))]], 1).await;
    let frames = app.connect().await.ask("long line").await;
    assert!(error(&frames).contains("one line is longer than 8388608 bytes"), "{}", error(&frames));
    all_settled(&app, 0).await;
}
