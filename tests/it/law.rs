//! The law around a turn: budgets, repetition, the governor's second opinion, and the costs.

use std::sync::Arc;

use level3::domain::{Budget, Budgets, ConversationId, Mode, Rate, Rule};
use level3::model::Entry;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Reply, TestApp, call, calls, kinds, of_type, text};

const LOW: &str = r#"{"complexity":"low","risk":"high","impact":"local","requires_confirmation":false}"#;

fn costs(input: u64, output: u64, reply: Reply) -> Reply {
    Reply::Costs(input, output, Box::new(reply))
}

fn count_to(n: i64) -> Reply {
    call("execute_sql", json!({"query": format!("SELECT {n} AS n")}))
}

/// Gives the profile these budgets.
async fn limit(app: &TestApp, turn: Budget, day: Budget) {
    let budgets = Budgets { turn, conversation: Budget::default(), day, ..Budgets::default() };
    app.store().set_profile_policy("builder", Mode::Smart, false, &budgets, app.now()).await.unwrap();
}

async fn govern(app: &TestApp) {
    app.store().set_profile_policy("builder", Mode::Smart, true, &Budgets::default(), app.now()).await.unwrap();
}

fn last_words(frames: &[Value]) -> &str {
    frames.iter().rfind(|frame| frame["type"] == "assistant").expect("an answer")["content"].as_str().unwrap()
}

#[tokio::test]
async fn when_the_tokens_of_the_day_are_used_up_turns_end_with_an_answer_until_midnight() {
    let app = TestApp::start().await;
    limit(&app, Budget::default(), Budget { input_tokens: Some(100), ..Budget::default() }).await;
    app.script([costs(60, 5, count_to(1)), costs(60, 5, text("one"))]);
    let mut client = app.connect().await;
    assert_eq!(last_words(&client.ask("count").await), "one", "the request that passes the limit is answered");
    let frames = client.ask("count on").await;
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    let told = last_words(&frames);
    assert!(
        told.starts_with("I stopped here: today all conversations together have had models read 120 tokens; the limit is 100."),
        "{told}"
    );
    assert!(told.contains("`day.input_tokens`") && told.contains("midnight UTC"), "{told}");
    assert_eq!(app.script.requests().len(), 2, "no model is asked any more");

    app.advance(24 * 3600);
    app.script([costs(1, 1, text("two"))]);
    assert_eq!(last_words(&client.ask("count on").await), "two");
}

#[tokio::test]
async fn tool_calls_of_one_step_are_counted_one_by_one_and_failed_ones_count() {
    let app = TestApp::start().await;
    limit(&app, Budget { tool_calls: Some(2), ..Budget::default() }, Budget::default()).await;
    let wanted: Vec<_> = (1..=4).map(|n| ("execute_sql", json!({"query": format!("SELEC {n}")}))).collect();
    app.script([calls(&wanted)]);
    let frames = app.connect().await.ask("four").await;
    let told = last_words(&frames);
    assert!(told.contains("this turn has made 2 tool calls; the limit is 2.") && told.contains("say “go on”"), "{told}");
    let results: Vec<_> = frames.iter().filter(|f| f["type"] == "tool_result").map(|f| f["result"].as_str().unwrap()).collect();
    assert_eq!(results.len(), 4, "every call has its outcome");
    assert!(results[1].contains("sql_error"), "{}", results[1]);
    assert_eq!(results[2..], ["Not run: the turn ended first."; 2]);
}

#[tokio::test]
async fn a_limit_of_nothing_is_not_passed_in_a_new_turn() {
    let app = TestApp::start().await;
    limit(&app, Budget { tool_calls: Some(0), ..Budget::default() }, Budget::default()).await;
    let frames = app.connect().await.ask("one").await;
    let told = last_words(&frames);
    assert!(told.contains("the limit is 0.") && !told.contains("go on"), "{told}");
}

#[tokio::test]
async fn a_call_counts_for_the_day_in_the_step_right_behind_it() {
    let app = TestApp::start().await;
    limit(&app, Budget::default(), Budget { tool_calls: Some(2), ..Budget::default() }).await;
    let list = || call("manage_tasks", json!({"action": "list"}));
    app.script([list(), list()]);
    let frames = app.connect().await.ask("list").await;
    let told = last_words(&frames);
    assert!(told.contains("have made 2 tool calls; the limit is 2."), "{told}");
    assert_eq!(app.script.requests().len(), 2);
}

#[tokio::test]
async fn a_profiles_own_limit_of_steps_stands_in_place_of_the_settings() {
    let app = TestApp::with(&[("MAX_TOOL_ITERATIONS", "2")]).await;
    limit(&app, Budget { steps: Some(3), ..Budget::default() }, Budget::default()).await;
    app.script([count_to(1), count_to(2), count_to(3)]);
    let frames = app.connect().await.ask("count").await;
    let told = last_words(&frames);
    assert!(told.contains("made 3 model requests; the limit is 3. To raise it, change the budget `turn.steps`"), "{told}");
}

#[tokio::test]
async fn a_turn_that_works_too_long_ends_with_an_answer() {
    let app = TestApp::start().await;
    limit(&app, Budget { wall_seconds: Some(40), ..Budget::default() }, Budget::default()).await;
    let signal = Arc::new(Notify::new());
    app.script([Reply::After(signal.clone(), Box::new(count_to(1)))]);
    let mut client = app.connect().await;
    client.say("slowly").await;
    app.script.asked(1).await;
    app.advance(50); // within the lease
    signal.notify_one();
    let frames = client.turn().await;
    let told = last_words(&frames);
    assert!(told.contains("worked for 50 seconds; the limit is 40."), "{told}");
}

#[tokio::test]
async fn a_time_beyond_the_end_of_the_calendar_is_no_limit() {
    let app = TestApp::start().await;
    limit(&app, Budget { wall_seconds: Some(9_223_372_036_854_775), ..Budget::default() }, Budget::default()).await;
    app.script([text("hello")]);
    assert_eq!(app.connect().await.ask("hi").await.last().unwrap()["state"], "completed");
}

#[tokio::test]
async fn a_budget_that_is_lowered_while_a_model_answers_ends_the_turn_at_its_next_step() {
    let app = TestApp::start().await;
    let signal = Arc::new(Notify::new());
    app.script([Reply::After(signal.clone(), Box::new(count_to(1)))]);
    let mut client = app.connect().await;
    client.say("count").await;
    app.script.asked(1).await;
    limit(&app, Budget { steps: Some(1), ..Budget::default() }, Budget::default()).await;
    signal.notify_one();
    let frames = client.turn().await;
    let told = last_words(&frames);
    assert!(told.contains("the limit is 1.") && told.contains("`turn.steps`"), "{told}");
    assert_eq!(of_type(&frames, "tool_result")["ok"], true, "the call was asked for within the limits");
    assert_eq!(app.script.requests().len(), 1);
}

#[tokio::test]
async fn a_governor_that_is_switched_on_while_a_model_answers_reviews_the_call_of_that_answer() {
    let app = TestApp::start().await;
    let signal = Arc::new(Notify::new());
    let systemic = LOW.replace("local", "systemic");
    let make = call("execute_sql", json!({"query": "CREATE TABLE notes (body text)"}));
    app.script([Reply::After(signal.clone(), Box::new(make)), text(&systemic)]);
    let mut client = app.connect().await;
    client.say("keep notes").await;
    app.script.asked(1).await;
    govern(&app).await;
    signal.notify_one();
    let asking = client.asked().await;
    assert_eq!(asking["why"], "The governor says of this call of `execute_sql` that it reaches further than what it names.");
    app.leaves("nobody decides its question");
}

#[tokio::test]
async fn money_is_counted_at_the_rate_and_a_limit_of_money_needs_one() {
    let app = TestApp::start().await;
    limit(&app, Budget::default(), Budget { money_micros: Some(1_000), ..Budget::default() }).await;
    app.script([costs(100, 10, count_to(1))]);
    let mut client = app.connect().await;
    let frames = client.ask("how much").await;
    assert!(last_words(&frames).contains("the price of the model is not known. Set the model's rate"), "{}", last_words(&frames));

    let rate = Rate { input_micros: 2_500_000, output_micros: 10_000_000 };
    app.store().set_rate("scripted", Some(rate), app.now()).await.unwrap();
    assert_eq!(app.store().rates().await.unwrap()["scripted"], rate);
    // 300 × 2.5 + 25 × 10 = 1000 millionths.
    app.script([costs(300, 25, count_to(2))]);
    let frames = client.ask("and now").await;
    assert!(last_words(&frames).contains("have cost $0.001; the limit is $0.001"), "{}", last_words(&frames));
    assert_eq!(app.count("SELECT sum(cost_micros)::bigint FROM steps WHERE model = 'scripted'").await, 1_000);
}

#[tokio::test]
async fn the_third_identical_call_is_warned_about_and_the_fifth_ends_the_turn() {
    let app = TestApp::start().await;
    app.script([count_to(1), count_to(1), count_to(1), count_to(1), count_to(1)]);
    let frames = app.connect().await.ask("again and again").await;
    let requests = app.script.requests();
    let warned = |request: usize| match requests[request].entries.last() {
        Some(Entry::User(told)) => told.contains("This was call number"),
        _ => false,
    };
    assert_eq!((0..5).map(warned).collect::<Vec<_>>(), [false, false, false, true, true]);
    let told = last_words(&frames);
    assert!(told.contains("call `execute_sql` with the same arguments for the 5th time"), "{told}");
    let results: Vec<_> = frames.iter().filter(|f| f["type"] == "tool_result").map(|f| f["ok"].as_bool().unwrap()).collect();
    assert_eq!(results, [true, true, true, true, false], "the fifth is not run");
}

#[tokio::test]
async fn repetition_is_counted_across_a_restart() {
    let mut app = TestApp::start().await;
    let restart = || call("restart", json!({"mode": "full"}));
    app.script([restart(), restart(), restart(), restart(), restart()]);
    let mut client = app.connect().await;
    client.say("restart for ever").await;
    for _ in 0..4 {
        app.ended().await;
        app.start_again().await;
    }
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE content LIKE '%for the 5th time%'").await, 1);
}

#[tokio::test]
async fn the_governor_is_asked_once_about_what_does_more_than_read() {
    let mut app = TestApp::start().await;
    govern(&app).await;
    let reaching = json!({
        "name": "look_up",
        "description": "Looks something up.",
        "code": "export default async function look_up(params) { return 1; }",
        "parameters_schema": {"type": "object", "properties": {}},
        "grants": {"http": {"hosts": ["api.example.com"]}},
    });
    app.script([call("write_capability", reaching), costs(200, 20, text("Well.")), costs(300, 30, text(LOW))]);
    let mut client = app.connect().await;
    client.say("look it up").await;
    let asking = client.asked().await;
    let requests = app.script.requests();
    assert_eq!(requests.len(), 3, "the planner, the governor, and the governor again about its answer");
    let (Entry::System(prompt), Entry::User(shown)) = (&requests[1].entries[0], &requests[1].entries[1]) else { panic!() };
    assert!(prompt.starts_with("You review one tool call") && requests[1].tools.is_empty());
    let shown: Value = serde_json::from_str(shown).unwrap();
    assert_eq!((&shown["tool"], &shown["the_user_asked"]), (&json!("write_capability"), &json!("look it up")));
    let kept = "SELECT count(*) FROM tool_calls WHERE classification->>'risk' = 'high' AND classification->>'impact' = 'local'";
    assert_eq!(app.count(kept).await, 1);
    assert_eq!(app.count("SELECT count(*) FROM events WHERE kind = 'proposal_classified'").await, 1);
    assert_eq!(app.count("SELECT sum(input_tokens)::bigint FROM reviews").await, 500);

    app.restart().await;
    app.script([text("There.")]);
    let mut client = app.connect().await;
    client.approve(&asking).await;
    app.run_until_idle().await;
    assert_eq!(app.script.requests().len(), 4, "the resumed turn does not pay for a second review");
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 1);
    let conversation = ConversationId(app.count("SELECT conversation_id FROM conversations").await);
    assert_eq!(app.store().owners().profile_of(conversation).await.unwrap(), "builder");
}

#[tokio::test]
async fn the_governor_sees_the_grants_that_were_asked_for_in_the_authors_place() {
    let app = TestApp::start().await;
    app.leaves("nobody decides its question");
    govern(&app).await;
    let forgetful = json!({
        "name": "look_up",
        "description": "Looks something up.",
        "code": "export default async function look_up() { return (await fetch('https://api.example.com/')).status; }",
        "parameters_schema": {"type": "object", "properties": {}},
    });
    app.script([call("write_capability", forgetful), text(LOW)]);
    let mut client = app.connect().await;
    client.say("look it up").await;
    client.asked().await;
    let Entry::User(shown) = &app.script.requests()[1].entries[1] else { panic!() };
    assert!(shown.contains("grants") && shown.contains("hosts"), "{shown}");
}

#[tokio::test]
async fn what_the_governor_calls_systemic_is_asked_even_where_the_mode_allows_it() {
    let app = TestApp::start().await;
    govern(&app).await;
    let systemic = LOW.replace("local", "systemic");
    let make = || call("execute_sql", json!({"query": "CREATE TABLE notes (body text)"}));
    app.script([make(), text(&systemic)]);
    let mut client = app.connect().await;
    client.say("keep notes").await;
    let asking = client.asked().await;
    assert_eq!(asking["why"], "The governor says of this call of `execute_sql` that it reaches further than what it names.");
    assert_eq!(asking["what"], json!(["Makes the table `notes`."]));
    app.script([text("done")]);
    client.approve(&asking).await;
    client.turn().await;
    assert_eq!(app.count("SELECT count(*) FROM agent.notes").await, 0, "the table is there");

    // A model whose answer cannot be read is no way around the governor.
    app.script([call("execute_sql", json!({"query": "INSERT INTO notes VALUES ('a')"})), text("fine"), text("{\"risk\": 1}")]);
    client.say("note a").await;
    let asking = client.asked().await;
    let told = "The governor gave no answer that could be read about this call of `execute_sql`, so a person decides.";
    assert_eq!(asking["why"], told);
    app.script([count_to(1), text("well")]);
    client.deny(&asking).await;
    client.turn().await;
    assert_eq!(app.script.left(), 0, "what only reads is not reviewed");
}

#[tokio::test]
async fn without_the_governor_no_second_model_is_asked() {
    let app = TestApp::start().await;
    app.script([call("manage_tasks", json!({"action": "create", "title": "Water the plants"})), text("Noted.")]);
    let frames = app.connect().await.ask("remind me").await;
    assert_eq!((of_type(&frames, "tool_result")["ok"].as_bool(), app.script.requests().len()), (Some(true), 2));
}

#[tokio::test]
async fn the_usage_report_adds_up_and_shows_no_price_that_is_not_known() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let empty = json!(app.store().owners().usage_report(app.now()).await.unwrap());
    assert_eq!(
        empty["total"],
        json!({"requests": 0, "input_tokens": 0, "output_tokens": 0, "cost_micros": 0,
                                      "tool_calls": {"done": 0, "failed": 0, "open": 0}})
    );
    app.script([
        costs(100, 10, calls(&[("execute_sql", json!({"query": "SELECT 1"})), ("nothing", json!({}))])),
        costs(200, 20, text("a")),
    ]);
    client.ask("first day").await;
    app.advance(24 * 3600);
    app.store().set_rate("scripted", Some(Rate { input_micros: 1_000_000, output_micros: 2_000_000 }), app.now()).await.unwrap();
    app.script([costs(7, 3, text("b"))]);
    client.ask("second day").await;

    let report = json!(app.store().owners().usage_report(app.now()).await.unwrap());
    let calls = |done: u64, failed: u64| json!({"done": done, "failed": failed, "open": 0});
    let today = json!({"requests": 1, "input_tokens": 7, "output_tokens": 3, "cost_micros": 13, "tool_calls": calls(0, 0)});
    assert_eq!(report["today"], today);
    let first = json!({"day": "2026-11-20", "requests": 2, "input_tokens": 300, "output_tokens": 30, "cost_micros": null,
                       "tool_calls": calls(1, 1)});
    assert_eq!(report["days"][1], first);
    assert_eq!((&report["days"][0]["day"], report["days"].as_array().unwrap().len()), (&json!("2026-11-21"), 2));
    assert_eq!(
        report["models"],
        json!([{"model": "scripted", "requests": 3, "input_tokens": 307, "output_tokens": 33, "cost_micros": null, "p50_ms": 0}])
    );
    assert_eq!((&report["total"]["requests"], &report["total"]["cost_micros"]), (&json!(3), &Value::Null));

    app.advance(40 * 24 * 3600);
    let later = json!(app.store().owners().usage_report(app.now()).await.unwrap());
    assert_eq!((&later["days"], &later["models"]), (&json!([]), &json!([])));
    assert_eq!((&later["today"]["requests"], &later["total"]["requests"]), (&json!(0), &json!(3)));
}

#[tokio::test]
async fn a_count_of_tokens_that_cannot_be_true_breaks_nothing() {
    let app = TestApp::start().await;
    app.store().set_rate("scripted", Some(Rate { input_micros: u64::MAX, output_micros: u64::MAX }), app.now()).await.unwrap();
    app.script([costs(u64::MAX, u64::MAX, count_to(1)), costs(u64::MAX, 1, text("done"))]);
    let mut client = app.connect().await;
    let frames = client.ask("boast").await;
    assert!(last_words(&frames).contains("the limit is 5000000"), "{}", last_words(&frames));
    app.script.forget();
    let report = app.store().owners().usage_report(app.now()).await.unwrap();
    assert_eq!(report.total.model.input_tokens, u64::try_from(i64::MAX).unwrap());
}

#[tokio::test]
async fn what_was_set_for_a_profile_and_its_tools_is_read_back() {
    let app = TestApp::start().await;
    let store = app.store();
    let policy = store.policy("builder").await.unwrap();
    assert_eq!((policy.mode, policy.governor, policy.budgets, policy.rules.len()), (Mode::Smart, false, Budgets::default(), 0));
    store.set_tool_rule("builder", "restart", Some(Rule::Never), app.now()).await.unwrap();
    store.set_tool_rule("builder", "execute_sql", Some(Rule::Ask), app.now()).await.unwrap();
    store.set_tool_rule("builder", "execute_sql", None, app.now()).await.unwrap();
    let budgets = Budgets { turn: Budget { steps: Some(3), ..Budget::default() }, ..Budgets::default() };
    store.set_profile_policy("builder", Mode::ReadOnly, true, &budgets, app.now()).await.unwrap();
    let policy = store.policy("builder").await.unwrap();
    assert_eq!((policy.mode, policy.governor, policy.budgets), (Mode::ReadOnly, true, budgets));
    assert_eq!(policy.rules.into_iter().collect::<Vec<_>>(), [("restart".to_owned(), Rule::Never)]);
    assert_eq!(store.policy("lea").await.unwrap().mode, Mode::Smart, "other profiles are not touched");
}

#[tokio::test]
async fn what_was_taken_for_a_read_and_would_write_is_judged_as_what_it_is() {
    let app = TestApp::start().await;
    let next = || call("execute_sql", json!({"query": "SELECT nextval('numbers') AS n"}));
    app.script([call("execute_sql", json!({"query": "CREATE SEQUENCE numbers"})), next(), text("one")]);
    let mut client = app.connect().await;
    let frames = client.ask("count").await;
    let results: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_result").collect();
    assert_eq!(results[1]["result"], r#"[{"n":1}]"#, "where a write is allowed, it goes on by itself");
    assert_eq!(app.count("SELECT count(*) FROM approvals").await, 0);

    app.store().set_profile_policy("builder", Mode::Ask, false, &Budgets::default(), app.now()).await.unwrap();
    app.script([next(), text("two")]);
    client.say("count on").await;
    let asking = client.asked().await;
    let told = "It would change something: permission denied for sequence numbers.";
    assert!(asking["what"].as_array().unwrap().contains(&json!(told)), "{asking}");
    client.approve(&asking).await;
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "tool_result")["result"], r#"[{"n":2}]"#);
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE used_at IS NOT NULL").await, 1, "and was asked once");

    app.store().set_profile_policy("builder", Mode::ReadOnly, false, &Budgets::default(), app.now()).await.unwrap();
    app.script([next(), text("none")]);
    let frames = client.ask("count on").await;
    let refused = of_type(&frames, "tool_result");
    assert!(refused["ok"] == false && refused["result"].as_str().unwrap().contains("read_only"), "{refused}");
    assert_eq!(app.count("SELECT last_value FROM agent.numbers").await, 2);
}

#[tokio::test]
async fn what_nobody_reviewed_is_asked_about_where_a_governor_reviews() {
    let app = TestApp::start().await;
    app.script([call("execute_sql", json!({"query": "CREATE SEQUENCE numbers"})), text("made")]);
    let mut client = app.connect().await;
    client.ask("make it").await;
    govern(&app).await;
    app.script([call("execute_sql", json!({"query": "SELECT nextval('numbers')"}))]);
    client.say("count").await;
    let asking = client.asked().await;
    let told = "The governor has not reviewed this call of `execute_sql`, which turned out to do more than it seemed to.";
    assert_eq!(asking["why"], told);
    app.script([text("no")]);
    client.deny(&asking).await;
    client.turn().await;
    assert_eq!(app.count("SELECT count(*) FROM agent.numbers WHERE is_called").await, 0);
}
