//! Conversations as a person finds them again: the list, its changes, the search, and older frames.

use level3::domain::ConversationId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::ask;
use crate::support::{Client, TestApp, call, of_type, text};

async fn get(app: &TestApp, path: &str) -> Value {
    let (status, answer) = ask(app, Method::GET, path, None).await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

async fn patch(app: &TestApp, id: ConversationId, change: Value) {
    let (status, answer) = ask(app, Method::PATCH, &format!("/api/conversations/{id}"), Some(change)).await;
    assert_eq!(status, 200, "{answer}");
}

/// Says something in a conversation and lives through the turn.
async fn say(app: &TestApp, client: &mut Client, conversation: ConversationId, said: &str) {
    app.script([text("I see.")]);
    client.send(json!({"type": "message", "conversation": conversation, "content": said})).await;
    client.turn().await;
    app.advance(60);
}

/// Three conversations beside the main one, the last the newest.
async fn three() -> (TestApp, Client, [ConversationId; 3]) {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let mut made = Vec::new();
    for said in ["\n\nBuy tea for Ada.\nSoon.", "What is a monad?", "Plan the garden party"] {
        let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
        client.send(json!({"type": "resume", "conversation": conversation, "after": 0})).await;
        say(&app, &mut client, conversation, said).await;
        made.push(conversation);
    }
    (app, client, made.try_into().unwrap())
}

async fn titles(app: &TestApp, query: &str) -> Vec<String> {
    let listed = get(app, &format!("/api/conversations{query}")).await;
    let titles = listed["conversations"].as_array().unwrap().iter();
    titles.map(|listed| listed["title"].as_str().unwrap_or("main").to_owned()).collect()
}

#[tokio::test]
async fn conversations_are_listed_by_their_newest_event_under_their_first_words_or_a_persons_own() {
    let (app, mut client, [tea, monad, party]) = three().await;
    assert_eq!(titles(&app, "").await, ["Plan the garden party", "What is a monad?", "Buy tea for Ada.", "main"]);
    say(&app, &mut client, tea, "And milk").await;
    patch(&app, monad, json!({"title": " Haskell "})).await;
    assert_eq!(titles(&app, "").await, ["Buy tea for Ada.", "Plan the garden party", "Haskell", "main"]);
    patch(&app, monad, json!({"pinned": true})).await;
    patch(&app, party, json!({"archived": true})).await;
    assert_eq!(titles(&app, "").await, ["Haskell", "Buy tea for Ada.", "main"]);
    assert_eq!(titles(&app, "?archived=true").await, ["Plan the garden party"]);
    say(&app, &mut client, monad, "A new message changes no title of a person's own").await;
    patch(&app, monad, json!({"pinned": false})).await;
    assert_eq!(titles(&app, "").await, ["Haskell", "Buy tea for Ada.", "main"]);
    patch(&app, monad, json!({"title": "  "})).await;
    patch(&app, party, json!({"archived": false})).await;
    assert_eq!(titles(&app, "").await, ["What is a monad?", "Buy tea for Ada.", "Plan the garden party", "main"]);
}

#[tokio::test]
async fn the_list_says_where_something_runs_or_waits() {
    let app = TestApp::start().await;
    app.leaves("its question is not decided");
    let mut client = app.connect().await;
    app.script([call("execute_sql", json!({"query": "DROP SCHEMA agent CASCADE"}))]);
    client.say("drop it all").await;
    client.until(|frame| frame["type"] == "approval").await;
    let listed = get(&app, "/api/conversations").await;
    let main = &listed["conversations"][0];
    assert_eq!((&main["main"], &main["running"], &main["waiting"]), (&json!(true), &json!(true), &json!(1)));
    assert_eq!((&main["title"], &main["profile"]), (&json!("drop it all"), &json!("builder")));
}

#[tokio::test]
async fn the_list_has_pages_and_none_is_lost_between_them() {
    let app = TestApp::start().await;
    for number in 0..120 {
        let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
        let title = format!("number {number}");
        patch(&app, conversation, json!({"title": title, "pinned": number % 40 == 0})).await;
        if number % 3 == 0 {
            app.advance(1);
        }
    }
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = get(&app, &format!("/api/conversations{after}")).await;
        let listed = page["conversations"].as_array().unwrap();
        assert!(listed.len() <= 50);
        all.extend(listed.iter().map(|listed| listed["title"].to_string()));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("?after={next}");
    }
    assert_eq!(all[..3], ["\"number 80\"", "\"number 40\"", "\"number 0\""]);
    let mut different = all.clone();
    different.sort();
    different.dedup();
    assert_eq!((all.len(), different.len()), (120, 120));
}

#[tokio::test]
async fn one_conversation_is_told_as_the_list_tells_it_also_if_it_was_put_away() {
    let (app, _client, [tea, monad, party]) = three().await;
    patch(&app, monad, json!({"title": "Haskell", "pinned": true})).await;
    patch(&app, party, json!({"archived": true})).await;
    let one = async |id: ConversationId| get(&app, &format!("/api/conversations/{id}")).await;
    let listed = get(&app, "/api/conversations").await["conversations"].clone();
    let put_away = get(&app, "/api/conversations?archived=true").await["conversations"].clone();
    assert_eq!(put_away[0]["title"], "Plan the garden party");
    assert_eq!((one(monad).await, one(tea).await, one(party).await), (listed[0].clone(), listed[1].clone(), put_away[0].clone()));
    // One that no list has is not there: it was deleted, or nothing was said in it yet.
    let status = async |id: ConversationId| ask(&app, Method::GET, &format!("/api/conversations/{id}"), None).await.0;
    assert_eq!(ask(&app, Method::DELETE, &format!("/api/conversations/{tea}?confirmed=true"), None).await.0, 200);
    let silent = app.store().owners().create_conversation(app.now()).await.unwrap();
    assert_eq!((status(tea).await, status(silent).await, status(monad).await), (404, 404, 200));
}

#[tokio::test]
async fn a_deleted_conversation_is_out_of_sight_until_something_happens_in_it() {
    let (app, mut client, [tea, monad, _]) = three().await;
    let delete = async |path: String| ask(&app, Method::DELETE, &format!("/api/conversations/{path}"), None).await;
    let (status, asked) = delete(tea.to_string()).await;
    // A person reads it before they decide: it says nothing of the way in which a program asks.
    let told = asked["error"].as_str().unwrap();
    assert!(status == 409 && told.contains("What was recorded of it stays") && !told.contains("confirmed"), "{asked}");
    assert_eq!(titles(&app, "").await.len(), 4);
    let (status, deleted) = delete(format!("{tea}?confirmed=true")).await;
    assert!(status == 200 && deleted["said"].as_str().unwrap().contains("What was recorded of it stays"), "{deleted}");
    assert_eq!(titles(&app, "").await, ["Plan the garden party", "What is a monad?", "main"]);
    assert_eq!(get(&app, "/api/search?q=tea").await["found"], json!([]));
    // Its record stays.
    assert!(!get(&app, &format!("/api/conversations/{tea}/frames")).await["frames"].as_array().unwrap().is_empty());
    app.advance(1);
    say(&app, &mut client, tea, "Tea again").await;
    assert_eq!(titles(&app, "").await[0], "Buy tea for Ada.");
    assert_eq!(get(&app, "/api/search?q=tea").await["found"].as_array().unwrap().len(), 2);

    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    let (status, refused) = delete(format!("{main}?confirmed=true")).await;
    assert!(status == 409 && refused["error"].as_str().unwrap().contains("archive it instead"), "{refused}");
    app.script([call("execute_sql", json!({"query": "DROP SCHEMA agent CASCADE"}))]);
    client.send(json!({"type": "message", "conversation": monad, "content": "drop it all"})).await;
    client.until(|frame| frame["type"] == "approval").await;
    let (status, refused) = delete(format!("{monad}?confirmed=true")).await;
    assert!(status == 409 && refused["error"].as_str().unwrap().contains("stop it first"), "{refused}");
    assert_eq!(delete("999?confirmed=true".into()).await.0, 404);
    client.send(json!({"type": "stop", "conversation": monad})).await;
    client.until(|frame| frame["state"] == "aborted").await;
}

#[tokio::test]
async fn words_are_found_in_messages_answers_and_titles() {
    let (app, mut client, [tea, monad, party]) = three().await;
    patch(&app, monad, json!({"title": "Functional programming"})).await;
    app.script([text("A monoid in the category of endofunctors, <b>see</b> ada@example.com.")]);
    client.send(json!({"type": "message", "conversation": monad, "content": "Go on"})).await;
    client.turn().await;
    let found = async |words: &str| {
        let found = get(&app, &format!("/api/search?q={words}")).await["found"].clone();
        let found = found.as_array().unwrap().clone();
        found.into_iter().map(|finding| (finding["conversation"].as_i64().unwrap(), finding)).collect::<Vec<_>>()
    };
    let tea_party = found("tea%20ada").await;
    assert_eq!((tea_party.len(), tea_party[0].0), (1, tea.0));
    let snippet = tea_party[0].1["snippet"].as_array().unwrap();
    let hits: Vec<_> = snippet.iter().filter(|piece| piece["hit"] == true).map(|piece| &piece["text"]).collect();
    assert_eq!(hits, ["tea", "Ada"]);
    assert!(snippet.iter().any(|piece| *piece == json!({"text": " for ", "hit": false})), "{snippet:?}");
    assert_eq!((&tea_party[0].1["title"], &tea_party[0].1["role"]), (&json!("Buy tea for Ada."), &json!("user")));
    // The beginning of a word is enough, an address counts as one word, and what was answered is
    // found too.
    assert_eq!(found("gard").await[0].0, party.0);
    let answer = &found("ada@example.com").await[0];
    assert_eq!((answer.0, &answer.1["role"]), (monad.0, &json!("assistant")));
    let title = &found("functional").await[0];
    assert_eq!((title.0, &title.1["turn"]), (monad.0, &Value::Null));
    for nothing in ["", "%20", "!!!", "'%20%26%20(", "nowhere"] {
        assert!(found(nothing).await.is_empty(), "{nothing}");
    }
}

/// Postgres' own headline took a minute for this, and went on after the client had left.
#[tokio::test]
async fn a_word_that_is_said_over_and_over_is_found_like_any_other() {
    let (app, mut client, [tea, ..]) = three().await;
    say(&app, &mut client, tea, &"again ".repeat(2000)).await;
    let found = get(&app, &format!("/api/search?q={}", "again%20".repeat(400))).await["found"].clone();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["snippet"][0]), (1, &json!({"text": "again", "hit": true})));
}

#[tokio::test]
async fn older_frames_come_by_pages_that_cut_no_turn_and_show_nothing_twice() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for number in 0..12 {
        app.script([call("execute_sql", json!({"query": format!("SELECT {number}")})), text("done")]);
        client.ask(&format!("look at {number}")).await;
    }
    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    let (mut older, mut before, mut pages) = (Vec::<Value>::new(), String::new(), 0);
    loop {
        let page = get(&app, &format!("/api/conversations/{main}/frames?limit=7{before}")).await;
        let frames = page["frames"].as_array().unwrap();
        let begun = |turn: &Value| frames.iter().any(|frame| frame["turn"] == *turn && frame["state"] == "queued");
        assert!(frames.iter().all(|frame| begun(&frame["turn"])), "{frames:?}");
        older.splice(0..0, frames.iter().cloned());
        pages += 1;
        let Some(next) = page["before"].as_i64() else { break };
        before = format!("&before={next}");
    }
    let mut again = app.connect().await;
    again.send(json!({"type": "resume", "after": 0})).await;
    let last = older.last().unwrap()["seq"].clone();
    let mut whole = again.until(|frame| frame["seq"] == last).await;
    whole.retain(|frame| !frame["seq"].is_null());
    assert_eq!(older, whole);
    assert!(pages >= 6, "{pages}");
    assert_eq!(of_type(&whole, "turn")["content"], "look at 0");
}

#[tokio::test]
async fn tasks_are_listed_as_they_are_now() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for task in [
        json!({"action": "create", "title": "Later", "due_at": "2031-01-01T00:00:00Z"}),
        json!({"action": "create", "title": "Done"}),
        json!({"action": "create", "title": "Sooner", "due_at": "2030-01-01T00:00:00Z"}),
        json!({"action": "complete", "id": 2}),
    ] {
        app.script([call("manage_tasks", task), text("done")]);
        client.ask("a task").await;
    }
    let listed = get(&app, "/api/tasks").await;
    let tasks: Vec<_> = listed["tasks"].as_array().unwrap().iter().map(|task| (&task["title"], &task["status"])).collect();
    assert_eq!(
        tasks,
        [(&json!("Sooner"), &json!("pending")), (&json!("Later"), &json!("pending")), (&json!("Done"), &json!("done"))]
    );
    assert_eq!(listed["more"], false);
}
