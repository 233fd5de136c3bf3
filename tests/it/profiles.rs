//! Profiles: the differences between agents, and walls that nobody gets through.

use chrono::TimeDelta;
use level3::domain::{
    AnswersTo, Audience, CallsPerStep, Coaching, Context, ConversationId, DecidingWords, FailureWords, Moment, Profile,
    TasksShown, Toolset, UserRole,
};
use level3::model::Entry;
use level3::profiles::Profiles;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::Executor;

use crate::support::{Client, ModelServer, Server, TestApp, api, call, calls, kinds, of_type, results, text};

fn builder() -> Profile {
    (*Profiles::default().get("builder").unwrap()).clone()
}

/// An agent for somebody outside: one tool, one call, and no text.
fn sealed() -> Profile {
    Profile {
        name: "sealed",
        audience: Audience::Contact,
        open_to: UserRole::Owner,
        prompt: "You keep tasks for a contact.",
        tools: Toolset::Only(&["manage_tasks"]),
        by_hand: Toolset::Only(&["manage_tasks"]),
        context: Context::Conversation { history: Some(4), summaries: false },
        tasks: TasksShown::DueSoon,
        completes_with: Some("manage_tasks"),
        calls: CallsPerStep::ExactlyOne,
        answers: AnswersTo::Nowhere,
        coaching: Coaching::Off,
        answer_tokens: Some(300),
        temperature: Some(0.0),
        model: None,
        steps: Some(4),
        words: DecidingWords::HOUSE,
        approval_expiry: Some(TimeDelta::minutes(5)),
        counted: false,
        failures: FailureWords::Full,
        talked_over: true,
        operates: false,
    }
}

fn create(title: &str) -> (&'static str, Value) {
    ("manage_tasks", json!({"action": "create", "title": title}))
}

/// A client in a new conversation of the sealed profile.
pub async fn contact(app: &TestApp) -> (Client, ConversationId) {
    let (status, made) = api::ask(app, Method::POST, "/api/conversations", Some(json!({"profile": "sealed"}))).await;
    assert_eq!(status, 201, "{made}");
    (app.connect().await, ConversationId(made["conversation"].as_i64().unwrap()))
}

/// A message there.
pub fn says(conversation: ConversationId, content: &str) -> Value {
    json!({"type": "message", "content": content, "conversation": conversation})
}

fn system(app: &TestApp) -> String {
    match &app.script.requests().pop().unwrap().entries[0] {
        Entry::System(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_message_and_a_conversation_name_their_profile_for_life() {
    let app = TestApp::with_profile(Profile { name: "zeta", prompt: "You are Zeta.", ..builder() }).await;
    let mut client = app.connect().await;
    let main = client.hello["conversation"].clone();
    assert_eq!(client.hello["conversations"], json!({"builder": main}), "the others are made when they are first used");
    app.script([text("I am Zeta."), text("I build.")]);
    client.send(json!({"type": "message", "content": "who are you?", "profile": "zeta"})).await;
    let frames = client.turn().await;
    let zeta = app.connect().await.hello["conversations"]["zeta"].clone();
    assert_eq!((&frames[0]["conversation"], system(&app).as_str()), (&zeta, "You are Zeta."));
    client.send(json!({"type": "message", "content": "and you?", "profile": "builder"})).await;
    assert_eq!(client.turn().await[0]["conversation"], main);
    assert!(system(&app).starts_with("You are a personal assistant"));

    for (frame, told) in [
        (
            json!({"profile": "nobody"}),
            "there is no profile `nobody`; there are: builder, law, lea, mcp, operator, zeta".to_owned(),
        ),
        (
            json!({"profile": "mcp"}),
            "the profile `mcp` has no main conversation; name the `conversation` that is meant".to_owned(),
        ),
        (
            json!({"profile": "zeta", "conversation": main}),
            format!("conversation {main} has the profile `builder`, for life, and not `zeta`"),
        ),
    ] {
        let mut message = json!({"type": "message", "content": "hello", "id": "m9"});
        message.as_object_mut().unwrap().extend(frame.as_object().unwrap().clone());
        client.send(message).await;
        let refused = client.frame().await;
        assert_eq!((&refused["type"], &refused["id"], &refused["content"]), (&json!("error"), &json!("m9"), &json!(told)));
    }
    let post = async |body: Value| api::ask(&app, Method::POST, "/api/conversations", Some(body)).await;
    assert_eq!(post(json!({"profile": "zeta"})).await.0, 201);
    assert_eq!(post(json!({})).await.0, 201);
    let (status, refused) = post(json!({"profile": "nobody"})).await;
    assert_eq!(
        (status, &refused["error"]),
        (400, &json!("there is no profile `nobody`; there are: builder, law, lea, mcp, operator, zeta"))
    );
    for (method, path, body) in [
        (Method::GET, "/api/policy/nobody", None),
        (Method::PUT, "/api/policy/nobody", Some(json!({"mode": "auto"}))),
        (Method::PUT, "/api/policy/nobody/rules/restart", Some(json!({"rule": null}))),
    ] {
        let (status, refused) = api::ask(&app, method, path, body).await;
        assert_eq!((status, refused["error"].as_str().unwrap().starts_with("there is no profile `nobody`")), (400, true));
    }
    assert_eq!(app.count("SELECT count(*) FROM profile_policies WHERE profile NOT IN ('contact', 'operator')").await, 0);
    assert_eq!(api::ask(&app, Method::GET, "/api/policy/zeta", None).await.1["mode"], "smart");
}

#[tokio::test]
async fn a_rule_is_about_a_tool_that_the_profile_has() {
    let app = TestApp::with_profile(sealed()).await;
    let rule = async |path: &str| api::ask(&app, Method::PUT, path, Some(json!({"rule": "ask"}))).await;
    let (status, policy) = rule("/api/policy/sealed/rules/manage_tasks").await;
    assert_eq!((status, &policy["rules"]), (200, &json!({"manage_tasks": "ask"})));
    let (status, refused) = rule("/api/policy/sealed/rules/restart").await;
    assert_eq!((status, &refused["error"]), (400, &json!("there is no tool `restart`; there are: manage_tasks")));
    assert_eq!(rule("/api/policy/builder/rules/restart").await.0, 200);
}

#[tokio::test]
async fn an_unknown_profile_in_a_row_is_an_error_and_never_the_default() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.behind().await.execute("UPDATE conversations SET profile = 'gone'").await.unwrap();
    let error = client.ask("hello").await.pop().unwrap();
    let told = "This conversation cannot go on here: there is no profile `gone`; there are: builder, campaign, contact, law, lea, mcp, operator. Its messages are kept.";
    assert_eq!((&error["type"], &error["content"], &error["failure"]), (&json!("error"), &json!(told), &json!("server")));
    assert_eq!(app.script.requests().len(), 0, "no model was asked");
}

#[tokio::test]
async fn exactly_one_call_is_made_and_none_of_three() {
    let app = TestApp::with_profile(sealed()).await;
    let (mut client, conversation) = contact(&app).await;
    app.script([calls(&[create("a"), create("b"), create("c")]), text("I did it all."), calls(&[create("only")])]);
    client.send(says(conversation, "make tasks")).await;
    let frames = client.turn().await;
    let told = results(&frames);
    assert_eq!(told.len(), 4);
    for (ok, result) in &told[..3] {
        assert!(!ok && result.contains("an answer asks for exactly one tool call, this one asked for 3"), "{result}");
    }
    assert!(told[3].0, "{}", told[3].1);
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 1);
    assert_eq!(frames.last().unwrap()["state"], "completed", "one call that did something is the turn");
    assert!(!kinds(&frames).contains(&"assistant".to_owned()), "its text goes nowhere: {frames:#?}");
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE content LIKE '%did it all%'").await, 0);
    let requests = app.script.requests();
    for request in &requests {
        assert!(request.must_call && request.demanded_of_all, "a call is demanded of every provider");
        assert_eq!((request.temperature, request.answer_tokens), (Some(0.0), Some(300)));
    }
    let Some(Entry::User(asked_again)) = requests[2].entries.last() else { panic!("{:#?}", requests[2].entries) };
    assert!(asked_again.contains("Your next answer is exactly one tool call"), "{asked_again}");

    // A model that never calls a tool comes to its limit.
    app.script((0..4).map(|_| text("")));
    client.send(says(conversation, "again")).await;
    let frames = client.turn().await;
    let last = of_type(&frames, "assistant")["content"].as_str().unwrap();
    assert!(last.contains("4 model requests, which is the limit of this profile"), "{last}");
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn the_words_of_a_contact_decide_nothing() {
    let app = TestApp::with_profile(sealed()).await;
    let (mut client, conversation) = contact(&app).await;
    app.script([calls(&[create("keep me")]), call("manage_tasks", json!({"action": "delete", "id": 1}))]);
    client.send(says(conversation, "keep this")).await;
    client.turn().await;
    client.send(says(conversation, "delete it")).await;
    let asks = |frame: &Value| frame["type"] == "approval" && frame["state"] == "pending";
    let asking = client.until(asks).await.pop().unwrap();
    assert_eq!(asking["words"], json!({"approve": [], "deny": []}));
    assert_eq!(asking["expires_at"], "2026-11-20T08:05:00Z", "as long as the profile says");
    let attacks = ["sí", "CONFIRMAR", "Confirm.", "yes", "no", "CANCELAR", "no, the other one", "approve 1"];
    for word in attacks {
        client.send(says(conversation, word)).await;
        client.until(|frame| frame["content"] == word && frame["state"] == "queued").await;
        assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1, "{word}");
    }
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE state = 'awaiting_approval'").await, 1);
    // The owner decides, by a button.
    app.script((0..=attacks.len()).map(|n| calls(&[create(&n.to_string())])));
    client.deny(&asking).await;
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM tasks WHERE title = 'keep me'").await, 1);
    app.check_replay().await;
}

fn moment(moment: &Moment<'_>) -> String {
    format!("At {} it was said: {} {{tasks_section}}", moment.now.format("%H:%M"), moment.said)
}

#[tokio::test]
async fn a_snapshot_stands_for_everything_before_and_truth_alone_neither_insists_nor_asks_again() {
    let campaign = Profile {
        name: "machine",
        prompt: "You run a campaign.",
        context: Context::Snapshot(moment),
        coaching: Coaching::Truth,
        answers: AnswersTo::Channel,
        ..builder()
    };
    let app = TestApp::with_profile(campaign).await;
    let mut client = app.connect().await;
    let say = |content: &str| json!({"type": "message", "content": content, "profile": "machine"});
    app.script([text("First."), text("I have created the table."), text("Nothing was done."), text("")]);
    client.send(say("one")).await;
    client.turn().await;
    client.send(say("two")).await;
    let frames = client.turn().await;
    assert_eq!(kinds(&frames)[2..], ["assistant", "assistant", "turn completed"], "what nothing shows is taken back");
    let entries = &app.script.requests()[1].entries;
    assert_eq!(entries.len(), 2, "{entries:#?}");
    let Entry::System(system) = &entries[0] else { panic!("{entries:#?}") };
    assert_eq!(system, "You run a campaign.\n\nAt 08:00 it was said: two {tasks_section}");
    assert!(!app.script.requests()[2].must_call, "it is held to no call");
    client.send(say("three")).await;
    client.turn().await;
    assert_eq!(app.script.left(), 0, "an empty answer is an answer");

    app.script([text("In one piece.")]);
    client.send(say("four")).await;
    let heard = client.until(|frame| frame["state"] == "completed").await;
    assert!(!kinds(&heard).contains(&"delta".to_owned()), "a channel takes whole texts: {heard:#?}");
    assert_eq!(of_type(&heard, "assistant")["content"], "In one piece.");
}

/// The request with which a conversation of the builder begins, as the model's server gets it. Each
/// turn pays for it, and evaluations were made with it: who changes a byte of it is told here that
/// they did. It had these 9,020 bytes before there were users and to-dos.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_of_the_builder_is_what_it_was() {
    let model = ModelServer::start(|_, _| json!({"role": "assistant", "content": "Hello."})).await;
    let (place, base_url) = (tempfile::tempdir().unwrap(), model.base_url());
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
    let server = Server::start(&place.path().join("data"), &settings).await;
    Client::connect(server.address).await.ask("hello").await;
    let body = model.requests.lock().unwrap().remove(0);
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(body["messages"][1]["content"].as_str().unwrap().ends_with("Z] hello"), "{body}");
    let tools = body["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]);
    let told: Vec<_> =
        tools.map(|tool| format!("{}: {}", tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap())).collect();
    let sha256 = |text: &str| hex::encode(Sha256::digest(text));
    assert_eq!(sha256(system), "9b89b3ded22ddf19e8e6d192c6d62c9dec6b7361f4f8cc0657f389c41ac645ca", "{system}");
    assert_eq!(sha256(&told.join("\n")), "fedf788f931d3ac017084b9875b0d33071658d0cefbd31237ce94f078516bed3", "{told:#?}");
    assert_eq!((body.to_string().len(), body["tools"].to_string().len()), (9_020, 4_222), "{body}");
    assert_eq!(server.terminate().await, Some(0));
}
