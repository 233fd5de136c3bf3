//! How large a statement, an outcome, a turn or a disk may be, what is said beyond that, and what
//! goes on.

use std::time::Duration;

use futures::future::join_all;
use level3::model::Entry;
use reqwest::Method;
use serde_json::json;
use sqlx::Executor;

use crate::sql::{json_of, run};
use crate::sql_guard::lawless;
use crate::support::api::ask_at;
use crate::support::{Client, ModelServer, Reply, Server, TestApp, asks_for, call, kinds, of_type, results, text};

/// The memory that Postgres itself may use in these tests; nothing bounds it here.
const LONG: u32 = 270_000_000;

/// A model that runs the person's words as SQL, and says "so be it" to every outcome.
async fn runs_what_it_is_told() -> ModelServer {
    ModelServer::start(|_, body| {
        let last = body["messages"].as_array().unwrap().last().unwrap();
        let said = last["content"].as_str().filter(|_| last["role"] == "user").unwrap_or_default();
        match said.find("SELECT repeat").map(|at| said[at..].lines().next().unwrap()) {
            Some(statement) => asks_for("execute_sql", &json!({ "query": statement })),
            None => json!({"role": "assistant", "content": "so be it"}),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_and_values_of_hundreds_of_megabytes_leave_the_server_small_and_the_turn_ends() {
    let model = runs_what_it_is_told().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
    let server = Server::start(&data, &settings).await;
    let (error, value) = (format!("SELECT repeat('x', {LONG})::int"), format!("SELECT repeat('x', {LONG})"));

    let mut client = Client::connect(server.address).await;
    for (statement, told) in
        [(error.as_str(), "22P02"), (value.as_str(), "too_much"), ("SELECT repeat('x', 1000000000)", "too_much")]
    {
        let frames = client.ask(statement).await;
        let [(_, result)] = &results(&frames)[..] else { panic!("one call: {frames:#?}") };
        assert!(result.contains(told) && result.len() < 16 << 10, "{statement}: {} bytes: {result:.300}", result.len());
        assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    }

    // Four at once, each in a conversation of its own.
    let url = format!("http://{}/v1/chat/completions", server.address);
    let said = |said: &str| json!({"model": "level3", "messages": [{"role": "user", "content": said}]});
    let four = [&error, &value, &error, &value].map(|statement| ask_at(&url, Method::POST, Some(said(statement))));
    for (status, answer) in join_all(four).await {
        assert_eq!((status, &answer["choices"][0]["message"]["content"]), (200, &json!("so be it")), "{answer}");
    }
    let most = server.most_memory();
    assert!(most < 300, "the server had {most} MiB");

    // The process is killed in the middle of it, and goes on as if nothing had happened.
    client.say(&error).await;
    client.until(|frame| frame["type"] == "assistant").await;
    server.kill().await;
    let server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.send(json!({"type": "message", "content": "are you there?", "id": "there"})).await;
    let frames = client.until(|frame| frame["type"] == "turn" && frame["id"] == "there").await;
    let turn = &frames.last().unwrap()["turn"];
    client.until(|frame| frame["type"] == "turn" && frame["turn"] == *turn && frame["state"] == "completed").await;
    let most = server.most_memory();
    assert!(most < 300, "after it was killed, the server had {most} MiB");
    assert_eq!(server.terminate().await, Some(0));
}

#[tokio::test]
async fn what_is_too_long_to_be_read_is_refused_on_the_wire_with_words_that_help() {
    let app = lawless().await;
    let results = run(
        &app,
        &[
            "SELECT repeat('x', 5000000) AS long",
            "SELECT repeat('x', 1000000) AS long FROM generate_series(1, 300)",
            "SELECT repeat('x', 3000000) AS long",
            "CREATE TABLE kept AS SELECT 1 AS n",
            "INSERT INTO kept VALUES (2) RETURNING repeat('x', 5000000)",
            "DO $$ BEGIN RAISE NOTICE '%', repeat('é', 5000000); END $$",
            "SELECT n FROM kept",
        ],
    )
    .await;
    let [row, all, cut, ..] = &results[..] else { panic!("{results:?}") };
    assert_eq!((json_of(row)["error"].as_str(), json_of(all)["error"].as_str()), (Some("too_much"), Some("too_much")));
    assert!(row.1.contains("substr(") && row.1.contains("4 MiB") && all.1.contains("LIMIT"), "{row:?} {all:?}");
    assert!(cut.0 && cut.1.contains("the value has 3000000 bytes"), "what can be read is cut as before");
    assert_eq!(json_of(&results[4])["error"], "too_much");
    assert!(results[5].0, "a long notice is nobody's fault: {:?}", results[5]);
    assert_eq!(results[6].1, r#"[{"n":1}]"#, "of a statement that could not be answered nothing was kept");
}

#[tokio::test]
async fn every_text_of_an_error_is_cut_whoever_chose_its_length() {
    let app = lawless().await;
    let raise =
        "DO $$ BEGIN RAISE EXCEPTION USING MESSAGE = repeat('é', 9000000), DETAIL = repeat('d', 9000), HINT = repeat('h', 5000),
                 ERRCODE = 'P0001'; END $$";
    let told = json_of(&run(&app, &[raise]).await[0]);
    assert_eq!(told["code"], "P0001");
    for (field, begins) in [("message", "éé"), ("detail", "dd"), ("hint", "hh")] {
        let text = told[field].as_str().unwrap();
        assert!(text.starts_with(begins) && text.contains("(cut: it has") && text.len() < 5 << 10, "{field}: {}", text.len());
    }
}

#[tokio::test]
async fn a_row_of_a_thousand_long_values_is_shown_with_a_little_of_each() {
    let app = lawless().await;
    let columns: Vec<_> = (0..1000).map(|n| format!("repeat(E'\\x01', 3000) AS c{n}")).collect();
    let results = run(&app, &[&format!("SELECT {}", columns.join(", "))]).await;
    assert!(results[0].0 && results[0].1.len() < 512 << 10, "{} bytes", results[0].1.len());
    assert!(json_of(&results[0])[0]["c999"].as_str().unwrap().contains("the value has 3000 bytes"));
}

/// From now on the database refuses to record an outcome in which this word stands.
async fn refuses_to_record(app: &TestApp, word: &str, code: &str) {
    let broken = format!(
        "CREATE FUNCTION level3.refuse() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = '{code}'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON level3.messages FOR EACH ROW
             WHEN (NEW.role = 'tool' AND NEW.content LIKE '%{word}%') EXECUTE FUNCTION level3.refuse()"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(broken)).execute(&mut app.behind().await).await.unwrap();
}

#[tokio::test]
async fn an_outcome_that_cannot_be_recorded_becomes_a_short_failed_one() {
    let app = TestApp::start().await;
    refuses_to_record(&app, "reloaded", "22P05").await;
    app.script([call("restart", json!({"mode": "reload"})), text("so be it")]);
    let frames = app.connect().await.ask("reload").await;
    let told = of_type(&frames, "tool_result");
    assert!(told["ok"] == false && told["result"].as_str().unwrap().contains("cannot be recorded"), "{told}");
    assert_eq!(kinds(&frames).last().unwrap(), "turn completed");
    app.check_replay().await;
}

#[tokio::test]
async fn a_turn_that_fails_five_times_at_one_place_is_given_up_and_the_conversation_goes_on() {
    let app = TestApp::start().await;
    refuses_to_record(&app, "reloaded", "XX001").await;
    app.script([
        call("execute_sql", json!({"query": "SELECT 1 AS one"})),
        call("restart", json!({"mode": "reload"})),
        text("here"),
    ]);
    let mut client = app.connect().await;
    client.say("reload").await;
    client.say("and now?").await;
    let mut tick = tokio::time::interval(Duration::from_millis(20));
    let frames = tokio::select! {
        frames = client.turn() => frames,
        () = async { loop { tick.tick().await; app.advance(1); } } => unreachable!(),
    };
    let end = frames.last().unwrap();
    assert!(end["type"] == "error" && end["content"].as_str().unwrap().contains("5 times at the same place"), "{end}");
    assert_eq!(
        app.count("SELECT count(*) FROM events WHERE kind = 'turn_started' AND payload->>'turn' = '1'").await,
        6,
        "one that came further, five that did not"
    );
    assert_eq!(app.count("SELECT count(*) FROM steps WHERE turn_id = 1").await, 2, "no step was paid for twice");
    let frames = client.turn().await;
    assert_eq!(of_type(&frames, "assistant")["content"], "here");
    app.check_replay().await;
}

#[tokio::test]
async fn a_turn_waits_for_room_on_a_full_device_however_long_that_takes() {
    let app = TestApp::start().await;
    refuses_to_record(&app, "reloaded", "53100").await;
    app.script([call("restart", json!({"mode": "reload"})), text("here")]);
    let mut client = app.connect().await;
    client.say("reload").await;
    let mut tick = tokio::time::interval(Duration::from_millis(20));
    let room = async {
        while app.count("SELECT count(*) FROM events WHERE kind = 'turn_started'").await < 8 {
            tick.tick().await;
            app.advance(1);
        }
        let room = "DROP TRIGGER refuse ON level3.messages; DROP FUNCTION level3.refuse";
        sqlx::raw_sql(room).execute(&mut app.behind().await).await.unwrap();
        loop {
            tick.tick().await;
            app.advance(1);
        }
    };
    let frames = tokio::select! {
        frames = client.turn() => frames,
        () = room => unreachable!(),
    };
    assert_eq!(of_type(&frames, "assistant")["content"], "here");
    assert_eq!(app.count("SELECT count(*) FROM steps").await, 2, "no step was paid for twice");
    app.check_replay().await;
}

#[tokio::test]
async fn a_call_at_which_the_server_dies_five_times_is_given_up_and_deaths_between_calls_and_good_order_do_not_count() {
    let mut app = TestApp::with(&[("LEVEL3_SHUTDOWN_SECONDS", "1")]).await;
    app.script([Reply::Hang("I was just".into())]);
    let mut client = app.connect().await;
    client.say("hello").await;
    client.until(|frame| frame["type"] == "delta").await;
    for asked in 2..8 {
        // While the model is asked, no call is open that a crash could count against.
        app.crash().await;
        app.script([Reply::Hang("I was just".into())]);
        app.start_again().await;
        app.script.asked(asked).await;
    }
    app.crash().await;
    app.script([call("execute_sql", json!({"query": "SELECT pg_sleep(600)"}))]);
    app.start_again().await;
    app.script.asked(8).await;
    // The step is stored, so the model is not asked again: each take begins with the call.
    app.until("SELECT count(*) FROM tool_calls WHERE state = 'proposed'", 1).await;
    // A stop in good order does not count, although it cuts the call.
    app.restart().await;
    app.until("SELECT takes::bigint FROM turns", 1).await;
    for takes in 2..=5 {
        app.crash().await;
        app.start_again().await;
        app.until("SELECT takes::bigint FROM turns", takes).await;
    }
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE state = 'running'").await, 1);
    app.crash().await;
    app.start_again().await;
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE state = 'failed' AND reason LIKE '%6 times%'").await, 1);
    app.script([text("here")]);
    let frames = app.connect().await.ask("and now?").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "here");
    app.check_replay().await;
}

#[tokio::test]
async fn the_end_of_the_server_that_came_to_a_call_by_itself_counts_as_its_first() {
    let mut app = TestApp::with(&[("LEVEL3_TURN_CRASHES", "1"), ("LEVEL3_SHUTDOWN_SECONDS", "1")]).await;
    app.script([call("execute_sql", json!({"query": "SELECT pg_sleep(600)"}))]);
    let mut client = app.connect().await;
    client.say("wait").await;
    app.until("SELECT count(*) FROM tool_calls WHERE state = 'proposed'", 1).await;
    app.crash().await;
    app.start_again().await;
    app.run_until_idle().await;
    let ended = "SELECT concat_ws(' ', state, takes, taken_at, reason) FROM turns";
    let ended: String = sqlx::query_scalar(ended).fetch_one(&mut app.behind().await).await.unwrap();
    assert!(ended.starts_with("failed") && ended.contains(" 2 times "), "{ended}");
    app.check_replay().await;
}

#[tokio::test]
async fn the_agents_tables_have_a_quota_and_what_makes_room_is_let_through() {
    let mut app = TestApp::with(&[("LEVEL3_AGENT_QUOTA", "1MiB")]).await;
    let rule = "INSERT INTO tool_rules (profile, tool, rule, updated_at) VALUES ('builder', 'execute_sql', 'always', now())";
    app.behind().await.execute(rule).await.unwrap();
    let results = run(
        &app,
        &[
            "CREATE TABLE t AS SELECT generate_series(1, 50000) AS n",
            "INSERT INTO t VALUES (0)",
            "SELECT count(*) FROM t",
            "CREATE TABLE other (n int)",
            "DELETE FROM t WHERE n > 10",
            "DROP TABLE t",
            "CREATE TABLE t (n int)",
        ],
    )
    .await;
    let refused: Vec<_> = results.iter().map(|(ok, _)| !ok).collect();
    assert_eq!(refused, [false, true, false, true, false, false, false], "{results:?}");
    let told = json_of(&results[1]);
    assert_eq!(told["error"], "quota");
    assert!(told["message"].as_str().unwrap().contains("1 MiB together") && results[1].1.contains("DROP"), "{told}");
    // A single statement cannot run far past the quota either.
    app.set("LEVEL3_AGENT_QUOTA", "8MiB");
    app.restart().await;
    let results = run(&app, &["INSERT INTO t SELECT generate_series(1, 100000000)", "SELECT count(*) FROM t"]).await;
    assert_eq!(json_of(&results[0])["error"], "quota", "{results:?}");
    assert_eq!(results[1].1, r#"[{"count":0}]"#);
    app.check_replay().await;
}

#[tokio::test]
async fn a_full_disk_is_said_as_such_and_what_was_refused_can_be_said_again() {
    let mut app = TestApp::with(&[("LEVEL3_DISK_RESERVE", "1000TiB")]).await;
    let mut client = app.connect().await;
    client.send(json!({"type": "message", "content": "hello", "id": "m1"})).await;
    let frame = client.frame().await;
    assert_eq!((&frame["type"], &frame["id"]), (&json!("error"), &json!("m1")));
    assert!(frame["content"].as_str().unwrap().starts_with("no space left on the device: "), "{frame}");
    let ready = crate::support::api::client().get(format!("http://{}/readyz", app.address())).send().await.unwrap();
    assert_eq!(ready.status(), 503);
    assert!(ready.text().await.unwrap().starts_with("no space left on the device: "));
    let url = format!("http://{}/v1/chat/completions", app.address());
    let said = json!({"model": "level3", "messages": [{"role": "user", "content": "hello"}]});
    let (status, told) = ask_at(&url, Method::POST, Some(said)).await;
    assert!(status == 503 && told["error"]["message"].as_str().unwrap().starts_with("no space left"), "{told}");

    app.set("LEVEL3_DISK_RESERVE", "1KiB");
    app.restart().await;
    // If Postgres itself says that the disk is full, the program says so in the same words.
    let full = "CREATE FUNCTION level3.full() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
                CREATE TRIGGER full_disk BEFORE INSERT ON level3.turns FOR EACH ROW EXECUTE FUNCTION level3.full()";
    sqlx::raw_sql(full).execute(&mut app.behind().await).await.unwrap();
    let mut client = app.connect().await;
    client.send(json!({"type": "message", "content": "hello", "id": "m1"})).await;
    let frame = client.frame().await;
    assert!(frame["content"].as_str().unwrap().starts_with("no space left on the device"), "{frame}");
    app.behind().await.execute("DROP TRIGGER full_disk ON level3.turns").await.unwrap();
    app.script([text("here")]);
    client.send(json!({"type": "message", "content": "hello", "id": "m1"})).await;
    assert_eq!(of_type(&client.turn().await, "assistant")["content"], "here");
}

#[tokio::test]
async fn more_conversations_in_slow_sql_than_there_are_places_keep_no_other_waiting() {
    // A server works on 32 turns at once, and 40 statements may run or wait.
    const SLOW: i64 = 36;
    let app = TestApp::start().await;
    // A call that gets no connection in time ends with words, and its model asks again: each of the
    // slow ones goes on for longer than any machine needs for the other.
    app.script((0..=SLOW).flat_map(|_| 0..10).map(|_| {
        Reply::By(|request| match request.entries.last() {
            Some(Entry::User(said)) if said.ends_with("hello") => text("at once"),
            _ => call("execute_sql", json!({"query": format!("SELECT pg_sleep(14) AS n{}", request.entries.len())})),
        })
    }));
    let mut slow = Vec::new();
    for _ in 0..SLOW {
        let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
        app.store().owners().accept_message(conversation, None, "sleep", app.now()).await.unwrap();
        slow.push(conversation);
    }
    let running = "SELECT count(*) FROM turns WHERE state = 'running'";
    app.until(running, SLOW).await;
    let frames = app.connect().await.ask("hello").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "at once");
    assert_eq!(app.count(running).await, SLOW, "it waited for none of them");
    for conversation in slow {
        app.store().owners().stop(conversation, app.now()).await.unwrap();
    }
    app.script.forget();
    app.check_replay().await;
}
