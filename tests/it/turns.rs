//! A turn from its message to its answer.

use std::sync::Arc;

use level3::model::{Entry, ModelErrorKind};
use serde_json::json;
use sqlx::Executor;
use tokio::sync::Notify;

use crate::support::{Reply, TestApp, call, calls, kinds, of_type, text};

fn hold(reply: Reply) -> (Arc<Notify>, Reply) {
    let signal = Arc::new(Notify::new());
    (Arc::clone(&signal), Reply::After(signal, Box::new(reply)))
}

#[tokio::test]
async fn a_message_is_acknowledged_then_answered() {
    let app = TestApp::start().await;
    app.script([text("Hello to you.")]);
    let mut client = app.connect().await;
    client.send(json!({"type": "message", "content": "hi", "id": "m1"})).await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames), ["turn queued", "turn running", "assistant", "turn completed"]);
    assert_eq!((&frames[0]["id"], &frames[0]["content"], &frames[0]["origin"]), (&json!("m1"), &json!("hi"), &json!("message")));
    assert_eq!((&frames[2]["content"], &frames[2]["final"]), (&json!("Hello to you."), &json!(true)));
    let numbers: Vec<_> = frames.iter().map(|frame| frame["seq"].as_i64().unwrap()).collect();
    assert!(numbers.is_sorted() && numbers[0] == 1, "{numbers:?}");
}

#[tokio::test]
async fn text_is_streamed_before_it_is_recorded() {
    let app = TestApp::start().await;
    app.script([text("one two")]);
    let mut client = app.connect().await;
    client.say("count").await;
    let frames = client.until(|frame| frame["type"] == "assistant").await;
    let streamed: String =
        frames.iter().filter(|frame| frame["type"] == "delta").filter_map(|frame| frame["content"].as_str()).collect();
    assert_eq!(streamed, "one two");
}

#[tokio::test]
async fn the_same_message_sent_again_gives_the_same_turn() {
    let app = TestApp::start().await;
    app.script([text("once")]);
    let mut client = app.connect().await;
    let message = json!({"type": "message", "content": "hi", "id": "m1"});
    client.send(message.clone()).await;
    let first = client.turn().await;
    client.send(message).await;
    let again = client.frame().await;
    assert_eq!((&again["turn"], &again["state"], &again["id"]), (&first[0]["turn"], &json!("queued"), &json!("m1")));
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 1);
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_goes_back_to_the_model() {
    let app = TestApp::start().await;
    app.script([call("execute_sql", json!({"query": "SELECT 6 * 7 AS answer"})), text("It is 42.")]);
    let mut client = app.connect().await;
    let frames = client.ask("compute").await;
    assert_eq!(kinds(&frames), ["turn queued", "turn running", "tool_call", "tool_result", "assistant", "turn completed"]);
    assert_eq!(of_type(&frames, "tool_result")["result"], r#"[{"answer":42}]"#);
    let requests = app.script.requests();
    let Some(Entry::Tool { call_id, content, .. }) = requests[1].entries.last() else { panic!("{:?}", requests[1].entries) };
    assert_eq!((call_id.as_str(), content.as_str()), ("call_0", r#"[{"answer":42}]"#));
}

#[tokio::test]
async fn the_conversation_is_remembered_up_to_its_limit() {
    let app = TestApp::with(&[("MAX_CONVERSATION_HISTORY", "2")]).await;
    app.script([text("a1"), text("a2"), text("a3")]);
    let mut client = app.connect().await;
    for question in ["q1", "q2", "q3"] {
        client.ask(question).await;
    }
    let entries = &app.script.requests()[2].entries;
    let shown: Vec<_> = entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::User(content) | Entry::Assistant { content, .. } => content.split(' ').next_back(),
            _ => None,
        })
        .collect();
    assert_eq!(shown, ["q2", "a2", "q3"]);
}

#[tokio::test]
async fn at_the_limit_of_steps_the_turn_ends_with_an_answer_that_says_so() {
    let app = TestApp::with(&[("MAX_TOOL_ITERATIONS", "2")]).await;
    let again = || call("execute_sql", json!({"query": "SELECT 1"}));
    app.script([again(), again()]);
    let frames = app.connect().await.ask("loop").await;
    let answer = of_type(&frames, "assistant")["content"].as_str().unwrap();
    assert!(answer.contains("2 model requests") && answer.contains("MAX_TOOL_ITERATIONS"), "{answer}");
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more() {
    let app = TestApp::start().await;
    app.script([text(" "), text("Here I am.")]);
    let frames = app.connect().await.ask("hello?").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "Here I am.");
    let Some(Entry::User(nudge)) = app.script.requests()[1].entries.last().cloned() else { panic!("no nudge") };
    assert!(nudge.contains("says nothing"), "{nudge}");
}

#[tokio::test]
async fn an_answer_that_is_the_question_is_asked_for_once_more() {
    let app = TestApp::start().await;
    app.script([text("[2026-11-20T08:00:00Z] Add eggs to the list."), text("There is no list yet.")]);
    let frames = app.connect().await.ask("Add eggs to the list.").await;
    let answers: Vec<_> = frames.iter().filter(|frame| frame["type"] == "assistant").collect();
    assert_eq!((&answers[0]["final"], &answers[1]["content"]), (&json!(false), &json!("There is no list yet.")));
}

#[tokio::test]
async fn the_text_of_a_call_is_answered_with_the_way_to_make_it_and_a_third_one_is_shown() {
    let app = TestApp::start().await;
    let written = "```json\n{\"name\": \"gcd\", \"arguments\": {\"a\": 6, \"b\": 4}}\n```";
    app.script([text(written), text(written), text(written)]);
    let frames = app.connect().await.ask("Build gcd and use it.").await;
    let answers: Vec<_> = frames.iter().filter(|frame| frame["type"] == "assistant").map(|frame| &frame["final"]).collect();
    assert_eq!(answers, [&json!(false), &json!(false), &json!(true)]);
    let asked = app.script.requests().swap_remove(1);
    let [.., Entry::Assistant { content, calls }, Entry::Tool { call_id, content: told, .. }] = &*asked.entries else {
        panic!("it is not shown as a call that was refused")
    };
    assert_eq!((content.as_str(), calls[0].name.as_str(), &calls[0].id), ("", "gcd", call_id));
    assert!(
        told.contains("was the text of a call, and nothing was called. There is no tool `gcd`. The tools are: execute_sql"),
        "{told}"
    );
    assert_eq!(app.count("SELECT count(*) FROM tool_calls").await, 0);
    // A text that a person saw stays as it is.
    app.script([text("Yes?")]);
    app.connect().await.ask("And now?").await;
    let entries = app.script.requests().pop().unwrap().entries;
    let texts = entries.iter().filter(|entry| matches!(entry, Entry::Assistant { content, .. } if content == written));
    assert_eq!(texts.count(), 1);
}

#[tokio::test]
async fn after_a_mistake_a_call_is_wanted_and_after_a_result_or_a_word_of_the_controller_any_answer_will_do() {
    let app = TestApp::start().await;
    let wrong = || call("execute_sql", json!({"query": "SELECT nothing_like_it"}));
    app.script([call("gcd", json!({"a": 6, "b": 4})), wrong(), call("execute_sql", json!({"query": "SELECT 2"})), text("2")]);
    app.connect().await.ask("go").await;
    let wanted = |app: &TestApp| app.script.requests().iter().map(|request| request.must_call).collect::<Vec<_>>();
    assert_eq!(wanted(&app), [false, true, true, false]);
    let app = TestApp::start().await;
    app.script([wrong(), wrong(), wrong(), text("It cannot be done.")]);
    app.connect().await.ask("go").await;
    assert_eq!(wanted(&app), [false, true, true, false], "the third equal call is warned about, and that may be answered");
}

#[tokio::test]
async fn an_answer_that_stays_empty_is_said_to_be_empty() {
    let app = TestApp::start().await;
    app.script([text(""), text("")]);
    let frames = app.connect().await.ask("hello?").await;
    let said = of_type(&frames, "assistant")["content"].as_str().unwrap();
    assert!(said.contains("empty answer twice"), "{said}");
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_and_the_next_turn_knows() {
    let app = TestApp::start().await;
    app.script([Reply::Fail(ModelErrorKind::Unreachable, "nobody answers at LLM_BASE_URL".into()), text("back again")]);
    let mut client = app.connect().await;
    let frames = client.ask("first").await;
    assert_eq!(frames.last().unwrap()["content"], "nobody answers at LLM_BASE_URL");
    client.ask("second").await;
    let shown = format!("{:?}", app.script.requests()[1].entries);
    assert!(shown.contains("This turn failed: nobody answers at LLM_BASE_URL"), "{shown}");
}

#[tokio::test]
async fn a_conversation_too_long_for_the_model_goes_on_with_the_turn_alone() {
    let app = TestApp::start().await;
    let too_long = Reply::Fail(ModelErrorKind::ContextOverflow, "too long".into());
    app.script([text("a1"), too_long, text("a2")]);
    let mut client = app.connect().await;
    client.ask("q1").await;
    let frames = client.ask("q2").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "a2");
    assert_eq!(app.script.requests()[2].entries.len(), 2);
}

#[tokio::test]
async fn turns_of_one_conversation_run_one_after_the_other() {
    let app = TestApp::start().await;
    let (signal, held) = hold(text("first answer"));
    app.script([held, text("second answer")]);
    let mut client = app.connect().await;
    client.say("first").await;
    client.say("second").await;
    app.script.asked(1).await;
    client.until(|frame| frame["content"] == "second").await;
    assert_eq!(app.script.requests().len(), 1, "the second turn waits");
    signal.notify_one();
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], "first answer");
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], "second answer");
}

#[tokio::test]
async fn a_turn_that_a_claim_passed_over_is_found_again_after_a_rollback() {
    let app = TestApp::start().await;
    // The first look finds nothing, after which a server alone does not look.
    app.advance(3);
    app.until(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT t.lease_owner%'",
        1,
    )
    .await;
    let (signal, held) = hold(text("first answer"));
    app.script([held, text("aside"), text("second answer")]);
    let mut client = app.connect().await;
    client.say("first").await;
    client.say("second").await;
    app.script.asked(1).await;
    client.until(|frame| frame["content"] == "second").await;
    let mut order = app.behind().await;
    order.execute("BEGIN").await.unwrap();
    order.execute("SELECT FROM turns ORDER BY turn_id DESC LIMIT 1 FOR UPDATE").await.unwrap();
    signal.notify_one();
    client.turn().await;
    // Once a turn that was accepted later is answered, a claim has passed over the second one.
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    client.send(json!({"type": "message", "content": "meanwhile", "conversation": other})).await;
    client.until(|frame| frame["conversation"] == json!(other) && frame["state"] == "completed").await;
    order.execute("ROLLBACK").await.unwrap();
    // No commit, no notice, and nobody else who could wake this server.
    app.advance(3);
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], "second answer");
}

#[tokio::test]
async fn turns_of_different_conversations_run_side_by_side() {
    let app = TestApp::start().await;
    let (signal, held) = hold(text("slow"));
    app.script([held, text("quick")]);
    let mut client = app.connect().await;
    client.say("slow one").await;
    app.script.asked(1).await;
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    client.send(json!({"type": "message", "content": "quick one", "conversation": other})).await;
    let frames = client.until(|frame| frame["type"] == "assistant").await;
    assert_eq!((&frames.last().unwrap()["content"], &frames.last().unwrap()["conversation"]), (&json!("quick"), &json!(other)));
    signal.notify_one();
    app.run_until_idle().await;
    app.check_replay().await;
}

#[tokio::test]
async fn stop_ends_what_runs_and_what_waits() {
    let app = TestApp::start().await;
    app.script([Reply::Hang("I am thinking about".into())]);
    let mut client = app.connect().await;
    client.say("think").await;
    client.say("and this too").await;
    client.until(|frame| frame["type"] == "delta").await;
    client.stop().await;
    for _ in 0..2 {
        let frames = client.turn().await;
        assert_eq!(kinds(&frames).last().unwrap(), "turn aborted");
    }
    app.script([text("fresh")]);
    let frames = client.ask("again").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "fresh");
    app.check_replay().await;
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_list_and_the_way_to_make_one() {
    let app = TestApp::start().await;
    app.script([call("send_email", json!({})), text("I see.")]);
    let frames = app.connect().await.ask("mail").await;
    let result = of_type(&frames, "tool_result");
    assert_eq!(result["ok"], false);
    let told = result["result"].as_str().unwrap();
    assert!(told.contains("no tool `send_email`") && told.contains("execute_sql") && told.contains("write_capability"), "{told}");
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE verdict = 'deny'").await, 1);
}

#[tokio::test]
async fn arguments_that_are_no_json_come_back_as_an_error_and_the_turn_goes_on() {
    let app = TestApp::start().await;
    let mut broken = call("execute_sql", json!({}));
    if let Reply::Answer(_, calls) = &mut broken {
        calls[0].arguments = "{\"query\": ".into();
    }
    app.script([broken, call("execute_sql", json!({})), text("done")]);
    let frames = app.connect().await.ask("go").await;
    let results: Vec<_> = frames.iter().filter(|f| f["type"] == "tool_result").filter_map(|f| f["result"].as_str()).collect();
    assert!(results[0].contains("not valid JSON, they seem to be cut off"), "{}", results[0]);
    assert!(results[1].contains("missing field `query`"), "{}", results[1]);
}

#[tokio::test]
async fn several_calls_of_one_step_run_in_order_and_what_is_said_beside_them_is_not_final() {
    let app = TestApp::start().await;
    let mut step = calls(&[
        ("execute_sql", json!({"query": "CREATE TABLE t (n int)"})),
        ("execute_sql", json!({"query": "INSERT INTO t VALUES (1), (2)"})),
        ("execute_sql", json!({"query": "SELECT sum(n) AS sum FROM t"})),
    ]);
    if let Reply::Answer(content, _) = &mut step {
        *content = "Let me see.".into();
    }
    app.script([step, text("3")]);
    let frames = app.connect().await.ask("sum").await;
    assert_eq!((&frames[2]["type"], &frames[2]["final"]), (&json!("assistant"), &json!(false)));
    let results: Vec<_> = frames.iter().filter(|f| f["type"] == "tool_result").map(|f| f["result"].as_str().unwrap()).collect();
    assert_eq!(results, [r#"{"done":"CREATE"}"#, r#"{"row_count":2}"#, r#"[{"sum":3}]"#]);
}
