//! Conversations as a person finds them again: the list, its changes, the search, and older frames.

use chrono::{DateTime, TimeDelta, Utc};
use level3::domain::ConversationId;
use level3::wire::api::ConversationChange;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::ask;
use crate::support::people::two_people;
use crate::support::{Client, Reply, TestApp, call, make_tasks, of_type, text};

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
    titles.map(|listed| listed["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn conversations_are_listed_by_their_newest_event_under_their_first_words_or_a_persons_own() {
    let (app, mut client, [tea, monad, party]) = three().await;
    assert_eq!(titles(&app, "").await, ["Plan the garden party", "What is a monad?", "Buy tea for Ada."]);
    say(&app, &mut client, tea, "And milk").await;
    patch(&app, monad, json!({"title": " Haskell "})).await;
    assert_eq!(titles(&app, "").await, ["Buy tea for Ada.", "Plan the garden party", "Haskell"]);
    patch(&app, monad, json!({"pinned": true})).await;
    patch(&app, party, json!({"archived": true})).await;
    assert_eq!(titles(&app, "").await, ["Haskell", "Buy tea for Ada."]);
    assert_eq!(titles(&app, "?archived=true").await, ["Plan the garden party"]);
    say(&app, &mut client, monad, "A new message changes no title of a person's own").await;
    patch(&app, monad, json!({"pinned": false})).await;
    assert_eq!(titles(&app, "").await, ["Haskell", "Buy tea for Ada."]);
    patch(&app, monad, json!({"title": " \u{200b}\t"})).await;
    patch(&app, party, json!({"archived": false})).await;
    assert_eq!(titles(&app, "").await, ["What is a monad?", "Buy tea for Ada.", "Plan the garden party"]);
}

#[tokio::test]
async fn a_conversation_stands_in_the_list_once_something_is_said_in_it() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    // To look at the operator makes nothing.
    for path in ["/api/operator", "/api/operator/tasks", "/api/operator/tasks/1/recordings"] {
        get(&app, path).await;
    }
    assert_eq!(app.count("SELECT count(*) FROM conversations WHERE is_main").await, 1);
    assert_eq!(get(&app, "/api/conversations").await["conversations"], json!([]));
    // The operator's memory is recorded in its conversation, and nothing is said there by it.
    let remembered = Some(json!({"version": 0, "document": {"project": "shop"}}));
    assert_eq!(ask(&app, Method::PUT, "/api/operator/context", remembered).await.0, 200);
    assert_eq!(app.count("SELECT count(*) FROM conversations WHERE last_sequence > 0").await, 1);
    assert_eq!(get(&app, "/api/conversations").await["conversations"], json!([]));
    let main = ConversationId(client.hello["conversation"].as_i64().unwrap());
    say(&app, &mut client, main, "Hello").await;
    assert_eq!(titles(&app, "").await, ["Hello"]);
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
    assert_eq!(titles(&app, "").await.len(), 3);
    let (status, deleted) = delete(format!("{tea}?confirmed=true")).await;
    assert!(status == 200 && deleted["said"].as_str().unwrap().contains("What was recorded of it stays"), "{deleted}");
    assert_eq!(titles(&app, "").await, ["Plan the garden party", "What is a monad?"]);
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
    patch(&app, monad, json!({"title": "Functional programming: Übung"})).await;
    app.script([text("A monoid in the category of endofunctors, <b>see</b> ada@example.com.")]);
    client.send(json!({"type": "message", "conversation": monad, "content": "Go on, ÜBER Ωμέγα"})).await;
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
    // Letters of all scripts are found in either form.
    for words in ["übung", "ÜBUNG", "über", "Über%20ωΜΈΓΑ"] {
        assert_eq!(found(words).await.first().map(|hit| hit.0), Some(monad.0), "{words}");
    }
    for nothing in ["", "%20", "!!!", "'%20%26%20(", "nowhere"] {
        assert!(found(nothing).await.is_empty(), "{nothing}");
    }
}

#[tokio::test]
async fn what_a_deleted_conversation_holds_takes_no_place_from_what_others_hold() {
    let (app, mut client, [tea, monad, _]) = three().await;
    // More than a search finds at most, and all of it newer.
    for _ in 0..26 {
        app.script([text("More tea.")]);
        client.send(json!({"type": "message", "conversation": monad, "content": "Tea, please"})).await;
        client.turn().await;
    }
    assert_eq!(ask(&app, Method::DELETE, &format!("/api/conversations/{monad}?confirmed=true"), None).await.0, 200);
    let found = get(&app, "/api/search?q=tea").await["found"].clone();
    let of: Vec<_> = found.as_array().unwrap().iter().map(|hit| &hit["conversation"]).collect();
    assert_eq!(of, [&json!(tea)]);
}

#[tokio::test]
async fn a_title_that_turns_text_is_written_out_in_the_list_and_the_search() {
    let (app, mut client, [_, monad, _]) = three().await;
    patch(&app, monad, json!({"title": "other \u{202e}evil\u{202c} way"})).await;
    assert_eq!(titles(&app, "").await[1], "other ⟨U+202E⟩evil⟨U+202C⟩ way");
    let found = get(&app, "/api/search?q=other").await["found"][0].clone();
    let written_out = json!("other ⟨U+202E⟩evil⟨U+202C⟩ way");
    assert_eq!((&found["title"], &found["snippet"][0]["text"]), (&written_out, &written_out));
    let fresh = app.store().owners().create_conversation(app.now()).await.unwrap();
    client.send(json!({"type": "resume", "conversation": fresh, "after": 0})).await;
    say(&app, &mut client, fresh, "\u{2067}Hello").await;
    assert_eq!(titles(&app, "").await[0], "⟨U+2067⟩Hello");
}

#[tokio::test]
async fn a_conversation_with_a_character_is_named_after_them_until_a_person_says_something() {
    let app = TestApp::start().await;
    let law = app.store().owners().main_conversation_of("law", app.now()).await.unwrap();
    make_tasks(&app, law, [app.now() + TimeDelta::seconds(30)]).await;
    app.script([text("Tea is due!")]);
    app.advance(30);
    app.until("SELECT count(*) FROM turns WHERE origin = 'task' AND state = 'completed'", 1).await;
    assert_eq!(titles(&app, "").await, ["Law"]);
    assert_eq!(get(&app, "/api/search?q=due").await["found"][0]["title"], "Law");
    app.script([text("Any time!")]);
    app.connect().await.send(json!({"type": "message", "conversation": law, "content": "Thanks, Law"})).await;
    app.until("SELECT count(*) FROM turns WHERE state = 'completed'", 2).await;
    assert_eq!(titles(&app, "").await, ["Thanks, Law"]);
}

#[tokio::test]
async fn a_title_is_what_a_person_said_and_never_what_the_heartbeat_tells_the_model() {
    let app = TestApp::start().await;
    let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
    make_tasks(&app, conversation, [30, 60].map(|seconds| app.now() + TimeDelta::seconds(seconds))).await;
    app.script([text("I look.")]);
    app.advance(30);
    app.until("SELECT count(*) FROM turns WHERE origin = 'task' AND state = 'completed'", 1).await;
    let listed = get(&app, "/api/conversations").await["conversations"][0].clone();
    assert_eq!((&listed["id"], &listed["title"]), (&json!(conversation), &Value::Null));
    let found = get(&app, "/api/search?q=look").await["found"].clone();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["role"], &found[0]["title"]), (1, &json!("assistant"), &Value::Null));

    // A person's words are theirs also if they are said into such a turn.
    app.script([Reply::Hang("I".into())]);
    app.advance(30);
    app.script.asked(2).await;
    let mut client = app.connect().await;
    let said = json!({"type": "message", "conversation": conversation, "content": "Water the roses", "steer": true, "id": "s1"});
    client.send(said).await;
    client.until(|frame| frame["id"] == "s1").await;
    let listed = get(&app, &format!("/api/conversations/{conversation}")).await;
    assert_eq!(listed["title"], "Water the roses");
    let found = get(&app, "/api/search?q=roses").await["found"].clone();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["role"]), (1, &json!("user")));
    client.send(json!({"type": "stop", "conversation": conversation})).await;
    client.until(|frame| frame["state"] == "aborted").await;
}

/// The frame after which a window reads the list again.
fn changed() -> Value {
    json!({"type": "changed", "list": "conversations"})
}

/// Asserts that a client was told nothing until now: frames come in their order.
async fn heard_nothing(client: &mut Client) {
    client.send(json!({"type": "nothing"})).await;
    assert_eq!(client.frame().await["type"], "error");
}

#[tokio::test]
async fn a_window_hears_when_work_begins_and_ends_in_a_conversation_that_it_does_not_follow() {
    let app = TestApp::start().await;
    let (mut window, mut other) = (app.connect().await, app.connect().await);
    let conversation = app.store().owners().create_conversation(app.now()).await.unwrap();
    let listed = async || {
        let listed = get(&app, "/api/conversations").await["conversations"].clone();
        let found = listed.as_array().unwrap().iter().find(|one| one["id"] == json!(conversation)).cloned();
        found.map(|one| (one["running"].clone(), one["waiting"].clone()))
    };
    heard_nothing(&mut window).await;
    assert_eq!(listed().await, None, "nothing was said in it");
    app.script([call("execute_sql", json!({"query": "DROP SCHEMA agent CASCADE"})), text("Then not.")]);
    other.send(json!({"type": "message", "conversation": conversation, "content": "drop it all"})).await;
    assert_eq!(window.frame().await, changed());
    let question = other.asked().await;
    let asked = window.until(|frame| frame["type"] == "waiting").await;
    assert_eq!(asked[0], changed(), "a question waits");
    assert_eq!(listed().await, Some((json!(true), json!(1))));
    other.deny(&question).await;
    other.turn().await;
    let answered = window.until(|frame| frame["type"] == "waiting").await;
    assert_eq!(answered[0], changed(), "it is answered");
    assert_eq!(window.frame().await, changed());
    assert_eq!(listed().await, Some((json!(false), json!(0))));
    heard_nothing(&mut window).await;
    heard_nothing(&mut other).await;
}

#[tokio::test]
async fn every_window_of_a_user_hears_of_a_new_title_and_nobody_else_does() {
    let (app, owner, ana) = two_people().await;
    let (mut window, mut follows, mut hers) = (owner.connect().await, owner.connect().await, ana.connect().await);
    let made = owner.ask(Method::POST, "/api/conversations", Some(json!({}))).await.1["conversation"].clone();
    follows.send(json!({"type": "resume", "after": 0, "conversation": made})).await;
    heard_nothing(&mut follows).await;
    let (path, title) = (format!("/api/conversations/{made}"), json!({"title": "Haskell"}));
    assert_eq!(owner.ask(Method::PATCH, &path, Some(title)).await.0, 200);
    for client in [&mut window, &mut follows] {
        assert_eq!(client.frame().await, changed());
        heard_nothing(client).await;
    }
    assert_eq!(owner.ask(Method::DELETE, &format!("{path}?confirmed=true"), None).await.0, 200);
    assert_eq!(window.frame().await, changed());
    // No list has the conversation with a contact.
    let owners = app.store().owners();
    let contact = owners.create_conversation_of("contact", app.now()).await.unwrap();
    let change = ConversationChange { title: Some("Ada".into()), ..ConversationChange::default() };
    owners.change_conversation(contact, &change, app.now()).await.unwrap();
    heard_nothing(&mut window).await;
    heard_nothing(&mut hers).await;
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

/// The time at which the frame says it happened.
fn time_of(frame: &Value) -> DateTime<Utc> {
    let at = frame["at"].as_str().unwrap_or_else(|| panic!("it has no time: {frame}"));
    DateTime::parse_from_rfc3339(at).unwrap_or_else(|error| panic!("{error}: {frame}")).to_utc()
}

#[tokio::test]
async fn every_recorded_frame_says_when_it_happened() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let begun = app.now();
    app.script([
        call("manage_tasks", json!({"action": "create", "title": "Tea"})),
        call("execute_sql", json!({"query": "DROP SCHEMA agent CASCADE"})),
        text("Then not."),
    ]);
    client.say("make a task, then drop it all").await;
    let mut live = client.until(|frame| frame["type"] == "approval").await;
    app.advance(90);
    client.deny(live.last().unwrap()).await;
    live.extend(client.turn().await);
    let main = app.store().owners().main_conversation(app.now()).await.unwrap();
    let page = get(&app, &format!("/api/conversations/{main}/frames")).await["frames"].clone();
    let mut again = app.connect().await;
    again.resume(0).await;
    let last = live.last().unwrap()["seq"].clone();
    let resumed = again.until(|frame| frame["seq"] == last).await;

    // A frame has the same time on each way to a client, and only recorded ones have one.
    let times = |frames: &[Value]| {
        let (recorded, passing): (Vec<_>, Vec<_>) = frames.iter().partition(|frame| frame["seq"].is_i64());
        assert!(passing.iter().all(|frame| frame["at"].is_null()), "{passing:?}");
        for kind in ["turn", "tool_call", "tool_result", "task", "approval", "assistant"] {
            assert!(recorded.iter().any(|frame| frame["type"] == kind), "no `{kind}` among {recorded:?}");
        }
        recorded.into_iter().map(time_of).collect::<Vec<_>>()
    };
    let told = times(&live);
    assert!(told.is_sorted() && told.first() == Some(&begun) && told.last() == Some(&app.now()), "{told:?}");
    assert_eq!((times(page.as_array().unwrap()), times(&resumed)), (told.clone(), told));
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
