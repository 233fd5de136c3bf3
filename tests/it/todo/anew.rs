//! Begun anew: nothing that was said before comes out again, whichever way it is asked for. The
//! chain of events keeps it.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Talk, message};
use crate::support::people::Person;
use crate::support::{TestApp, api, call, kinds, of_type, results, text};

/// A word that was said before.
const OLD: &str = "wombat";

/// A conversation with Lea that was begun anew and gone on with; its number, and the place of the
/// last frame before that.
async fn begun_anew() -> (Talk, i64, i64) {
    let mut talk = Talk::start().await;
    talk.app.script([text(&format!("A {OLD}, you say."))]);
    talk.say(&format!("hello {OLD}")).await;
    let frames = talk.client.turn().await;
    let last = frames.last().unwrap();
    let (lea, before) = (last["conversation"].as_i64().unwrap(), last["seq"].as_i64().unwrap());
    let (status, chat) = api::ask(&talk.app, Method::DELETE, "/api/assistant/chat", None).await;
    assert_eq!((status, &chat["messages"]), (200, &json!([])));
    talk.client.until(|frame| frame["type"] == "anew").await;
    talk.app.script([text("A fresh start.")]);
    talk.say("good morning").await;
    talk.client.turn().await;
    (talk, lea, before)
}

#[tokio::test]
async fn no_search_list_export_socket_or_image_gives_back_what_was_said_before() {
    let (talk, lea, before) = begun_anew().await;
    let get = async |path: String| {
        let asked = api::client().get(format!("http://{}{path}", talk.app.address())).send().await.unwrap();
        assert_eq!(asked.status(), 200, "{path}");
        asked.text().await.unwrap()
    };
    for path in [
        "/api/conversations".to_owned(),
        format!("/api/search?q={OLD}"),
        "/api/search?q=fresh".to_owned(),
        "/api/events".to_owned(),
        format!("/api/events?conversation={lea}&kind=turn_queued"),
        "/api/assistant/chat".to_owned(),
        format!("/api/conversations/{lea}/frames"),
        format!("/api/conversations/{lea}/frames?before={}", before + 1),
        format!("/api/conversations/{lea}/export?format=md"),
        format!("/api/conversations/{lea}/export?format=json"),
    ] {
        let told = get(path.clone()).await;
        assert!(!told.contains(OLD), "{path}: {told}");
    }
    let list: Value = serde_json::from_str(&get("/api/conversations".to_owned()).await).unwrap();
    let listed = list["conversations"].as_array().unwrap().iter().find(|one| one["id"] == lea).unwrap();
    assert_eq!(listed["title"], "good morning", "the title is made of what is shown");
    let found: Value = serde_json::from_str(&get("/api/search?q=fresh".to_owned()).await).unwrap();
    assert_eq!((found["found"].as_array().unwrap().len(), &found["found"][0]["title"]), (1, &json!("good morning")));

    // A client that was away hears first that all it has is gone.
    let mut other = talk.app.connect().await;
    other.send(json!({"type": "resume", "after": 0, "conversation": lea})).await;
    let heard = other.turn().await;
    assert_eq!(kinds(&heard), ["anew", "turn queued", "turn running", "assistant", "turn completed"]);
    assert!(!json!(heard).to_string().contains(OLD), "{heard:#?}");
    let kept = format!("SELECT count(*) FROM events WHERE payload::text LIKE '%{OLD}%'");
    let kept: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(kept)).fetch_one(&mut talk.app.behind().await).await.unwrap();
    assert_eq!(kept, 2, "the chain of events keeps it");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn no_model_and_no_branch_is_shown_what_was_said_before() {
    let (mut talk, lea, before) = begun_anew().await;
    let branch = async |talk: &Talk, seq: i64| {
        let from = json!({"from": {"conversation": lea, "seq": seq}});
        api::ask(&talk.app, Method::POST, "/api/conversations", Some(from)).await
    };
    for seq in [0, 1, before] {
        let (status, refused) = branch(&talk, seq).await;
        assert_eq!(status, 400, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains(&format!("was begun anew at frame {}", before + 1)), "{refused}");
    }
    let last = of_type(&talk.small_talk("how are you").await, "assistant")["seq"].as_i64().unwrap();
    let (status, made) = branch(&talk, last).await;
    assert_eq!(status, 201, "{made}");
    talk.app.script([text("Well.")]);
    talk.client.send(json!({"type": "message", "content": "and here?", "conversation": made["conversation"]})).await;
    talk.client.turn().await;
    let request = format!("{:?}", talk.app.script.requests().pop().unwrap().entries);
    assert!(request.contains("good morning") && !request.contains(OLD), "{request}");

    // The place that a branch goes on from is forgotten with the rest; its own words are not.
    assert_eq!(api::ask(&talk.app, Method::DELETE, "/api/assistant/chat", None).await.0, 200);
    talk.app.script([text("Still here.")]);
    talk.client.send(json!({"type": "message", "content": "are you there?", "conversation": made["conversation"]})).await;
    talk.client.until(|frame| frame["content"] == "Still here.").await;
    talk.app.run_until_idle().await;
    let request = format!("{:?}", talk.app.script.requests().pop().unwrap().entries);
    assert!(request.contains("and here?") && !request.contains("good morning"), "{request}");

    // The agent that writes SQL sees no more.
    let query = "SELECT string_agg(content, ' ') AS said FROM shared.messages WHERE role IN ('user', 'assistant')";
    talk.app.script([call("execute_sql", json!({"query": query})), text("I see.")]);
    let mut builder = talk.app.connect().await;
    let told = results(&builder.ask("what did I say to Lea?").await);
    assert!(told[0].0 && told[0].1.contains("and here?"), "{told:?}");
    assert!(!told[0].1.contains(OLD) && !told[0].1.contains("good morning"), "{told:?}");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_question_that_waits_is_void_and_a_turn_that_runs_is_stopped() {
    let mut talk = Talk::start().await;
    let question = talk.asks("createTask", json!({"description": OLD, "confirmed": false})).await;
    assert_eq!(api::ask(&talk.app, Method::DELETE, "/api/assistant/chat", None).await.0, 200);
    let frames = talk.client.until(|frame| frame["type"] == "anew").await;
    assert!(kinds(&frames).contains(&"turn aborted".to_owned()), "{frames:#?}");
    // A yes is for nothing now: it is a message like any other.
    talk.app.script([text("To what?")]);
    talk.say("yes").await;
    assert_ne!(talk.client.turn().await.last().unwrap()["turn"], question["turn"]);
    assert_eq!(talk.count("SELECT count(*) FROM tasks").await, 0);
    let waiting = api::ask(&talk.app, Method::GET, "/api/approvals?state=pending", None).await.1;
    assert_eq!(waiting["approvals"], json!([]));

    talk.app.script([crate::support::Reply::Hang(format!("The {OLD} is"))]);
    talk.say("tell me a story").await;
    talk.client.until(|frame| frame["type"] == "delta").await;
    assert_eq!(api::ask(&talk.app, Method::DELETE, "/api/assistant/chat", None).await.0, 200);
    talk.client.until(|frame| frame["type"] == "anew").await;
    assert_eq!(talk.app.store().open_turns().await.unwrap(), 0);
    let chat = api::ask(&talk.app, Method::GET, "/api/assistant/chat", None).await.1;
    assert_eq!(chat["messages"], json!([]), "not even what it had written until then");
    let list = api::ask(&talk.app, Method::GET, "/api/conversations", None).await.1;
    assert_eq!(list["conversations"], json!([]), "nothing is said in it, so it is in no list");
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_socket_that_was_silent_meanwhile_is_told_nothing_of_before() {
    let app = TestApp::start().await;
    let owner = Person::owner(&app).await;
    let ana = owner.adds(&app, "Ana").await;
    // Lea's is a member's main conversation, which every socket of theirs may go on in.
    let mut silent = ana.connect().await;
    let mut talk = Talk { client: ana.connect().await, app };
    talk.create(OLD).await;
    assert_eq!(message(&talk.call("listTasks", json!({})).await), format!("You have 1 active task: #1 {OLD}."));
    talk.app.script([text(&format!("A {OLD}, you say."))]);
    talk.say(&format!("hello {OLD}")).await;
    talk.client.turn().await;
    assert_eq!(ana.ask(Method::DELETE, "/api/assistant/chat", None).await.0, 200);
    talk.app.script([text("A fresh start.")]);
    silent.say("good morning").await;
    let heard = silent.turn().await;
    let heard: Vec<_> = heard.into_iter().filter(|frame| frame["seq"].is_i64()).collect();
    assert_eq!(kinds(&heard)[..2], ["anew", "turn queued"]);
    assert!(!json!(heard).to_string().contains(OLD), "{heard:#?}");
    talk.app.check_replay().await;
}
