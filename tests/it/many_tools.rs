//! More capabilities than a request has room for: which of them are offered, and how the model uses
//! the others.

use std::sync::Arc;

use futures::future::BoxFuture;
use level3::domain::ModelInfo;
use level3::model::{Answer, Entry, Model, ModelError, ModelErrorKind, OnDelta, Request};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::ask;
use crate::support::{Client, Peer, Reply, TestApp, call, calls, of_type, results, text};

const COUNT: usize = 100;
/// Bytes of a request to a model of 8,192 tokens before anything is known of how it counts: three
/// bytes a token, less a quarter for the answer and a twentieth for the error.
const MOST: usize = 8192 / 4 * 3 / 20 * 19 * 3;

/// A server with a hundred capabilities, `times_0` to `times_99`. The conversation shows nothing of
/// how they were made.
async fn with_many(settings: &[(&str, &str)]) -> (TestApp, Client) {
    let app = TestApp::with(&[&[("MAX_CONVERSATION_HISTORY", "10")], settings].concat()).await;
    let written = |n: usize| {
        let written = json!({
            "name": format!("times_{n}"),
            "description": format!("Multiplies a whole number by {n}. It is exact as far as whole numbers go."),
            "code": format!("export default function times_{n}(params) {{ return params.number * {n} }}"),
            "parameters_schema": {"type": "object", "required": ["number"],
                "properties": {"number": {"type": "integer", "description": "The number to be multiplied."}}},
            "tests": [{"params": {"number": 1}, "expect": n}],
        });
        ("write_capability", written)
    };
    let mut client = app.connect().await;
    // A turn may make sixty calls.
    for from in [0, COUNT / 2] {
        app.script([calls(&(from..from + COUNT / 2).map(written).collect::<Vec<_>>()), text("Here they are.")]);
        client.ask("fifty, please").await;
    }
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, i64::try_from(COUNT).unwrap());
    (app, client)
}

/// The names that a request offers beside the four first.
fn offered(request: &Request) -> Vec<&str> {
    request.tools[4..].iter().map(|tool| tool.name.as_str()).collect()
}

fn bytes(request: &Request) -> usize {
    let tools = request.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len());
    let entries = request.entries.iter().map(|entry| match entry {
        Entry::System(text) | Entry::User(text) | Entry::UserWithImages { content: text, .. } => text.len(),
        Entry::Assistant { content, calls } => content.len() + calls.iter().map(|call| call.arguments.len()).sum::<usize>(),
        Entry::Tool { content, .. } => content.len(),
    });
    tools.chain(entries).sum()
}

fn prompt(request: &Request) -> &str {
    let Entry::System(prompt) = &request.entries[0] else { panic!("{request:?}") };
    prompt
}

#[tokio::test]
async fn in_a_small_context_some_are_offered_and_all_can_be_used() {
    let (mut app, mut client) = with_many(&[]).await;
    app.script.has_context(200_000);
    app.script([text("All of them.")]);
    client.ask("what can you do?").await;
    let all = app.script.requests().pop().unwrap();
    assert_eq!((offered(&all).len(), prompt(&all).contains("are left out there")), (COUNT, false));

    app.script.has_context(8192);
    let before = app.script.requests().len();
    let wrong = call("times_50", json!({"number": "21"}));
    app.script([wrong, call("times_50", json!({"number": 21})), text("1050")]);
    let told = results(&client.ask("what is fifty times 21?").await);
    assert!(!told[0].0 && told[0].1.contains("The parameters schema is: {") && told[0].1.contains("multiplied"), "{told:?}");
    assert_eq!(told[1], (true, "1050".into()), "the law takes it like any other");
    let requests = &app.script.requests()[before..];
    for request in requests {
        assert!((5..50).contains(&offered(request).len()) && bytes(request) <= MOST, "{} bytes", bytes(request));
        assert!(prompt(request).contains("\n- times_22: Multiplies a whole number by 22."), "{}", prompt(request));
        assert!(prompt(request).contains(" more: SELECT name, description"), "{}", prompt(request));
    }
    assert!(!offered(&requests[0]).contains(&"times_50") && offered(&requests[1]).contains(&"times_50"));
    assert_eq!((&requests[1].tools, prompt(&requests[1])), (&requests[2].tools, prompt(&requests[2])), "it stays for the turn");

    // A capability that the conversation used stays offered, after a restart as well.
    app.restart().await;
    let mut client = app.connect().await;
    app.script([text("Good.")]);
    client.ask("thanks").await;
    assert_eq!(app.script.requests().pop().unwrap().tools, requests[2].tools);

    // A capability that a person names is offered at once; one that the model looks up, from the
    // next step on.
    let look = json!({"query": "SELECT description, parameters FROM shared.capabilities WHERE name = 'times_77'"});
    app.script([call("execute_sql", look), call("times_77", json!({"number": 2})), text("154")]);
    let told = results(&client.ask("compare times_88 with seventy-seven").await);
    assert!(told[0].1.contains("Multiplies a whole number by 77"), "{told:?}");
    assert_eq!(told[1], (true, "154".into()));
    let requests = app.script.requests();
    let [first, second, third] = &requests[requests.len() - 3..] else { panic!() };
    assert!(offered(first).contains(&"times_88") && !offered(first).contains(&"times_77"), "{:?}", offered(first));
    assert!(offered(second).contains(&"times_77") && offered(second).contains(&"times_88"), "{:?}", offered(second));
    assert_eq!(second.tools, third.tools);
    app.check_replay().await;
}

#[tokio::test]
async fn what_other_conversations_do_changes_nothing_within_a_turn() {
    let (app, mut client) = with_many(&[]).await;
    app.script.has_context(8192);
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.advance(60);
    let before = app.script.requests().len();
    let signal = Arc::new(tokio::sync::Notify::new());
    let step = call("times_0", json!({"number": 1}));
    app.script([Reply::After(Arc::clone(&signal), Box::new(step))]);
    client.say("go on").await;
    app.script.asked(before + 1).await;
    // Meanwhile another conversation uses another capability.
    app.advance(60);
    app.script([call("times_60", json!({"number": 1})), text("sixty")]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "sixty", "conversation": other})).await;
    beside.turn().await;
    app.script([text("nothing")]);
    signal.notify_one();
    client.turn().await;
    let requests = app.script.requests();
    let (first, last) = (&requests[before], requests.last().unwrap());
    assert!(!offered(first).contains(&"times_60"));
    assert_eq!((&first.tools, prompt(first)), (&last.tools, prompt(last)));
    // The next turn knows of it.
    app.script([text("yes")]);
    client.ask("and now?").await;
    assert!(offered(app.script.requests().last().unwrap()).contains(&"times_60"));
}

/// A model that takes no more than so many bytes, and does not say so beforehand.
struct Takes(usize);

impl Model for Takes {
    fn answer<'a>(&'a self, request: Request, _: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let told = if bytes(&request) > self.0 {
            Err(ModelError::new(ModelErrorKind::ContextOverflow, "too long"))
        } else {
            let (content, finish_reason, model) = ("It fits.".into(), "stop".into(), "scripted".into());
            Ok(Answer { content, calls: Vec::new(), finish_reason, usage: None, estimate: None, model })
        };
        Box::pin(std::future::ready(told))
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "configured".into(), provider: "script".into(), name: "scripted".into() }
    }
}

#[tokio::test]
async fn a_model_that_takes_less_than_it_says_is_offered_less_in_the_same_turn() {
    let (app, mut client) = with_many(&[]).await;
    app.script.has_context(200_000);
    let before = app.script.requests().len();
    let model: Arc<dyn Model> = Arc::new(Takes(12_000));
    app.script((0..20).map(|_| Reply::Ask(Arc::clone(&model))));
    let frames = client.ask("hello").await;
    assert_eq!(of_type(&frames, "assistant")["content"], "It fits.");
    let tries: Vec<_> = app.script.requests()[before..].iter().map(|request| offered(request).len()).collect();
    assert!(tries[0] == COUNT && tries.len() <= 6 && (1..30).contains(tries.last().unwrap()), "{tries:?}");
    let learnt = app.script.requests().len();
    client.ask("and again").await;
    assert_eq!(app.script.requests().len(), learnt + 1, "the next turn begins with what is known");
    app.script.forget();
    app.check_replay().await;
}

#[tokio::test]
async fn the_setting_for_the_context_bounds_what_a_server_is_really_sent() {
    let peer = Peer::start().await;
    let address = format!("{}/v1", peer.host());
    let (app, mut client) = with_many(&[("LLM_CONTEXT_TOKENS", "8192"), ("LLAMACPP_BASE_URL", &address)]).await;
    let models = Some(json!({"models": ["llamacpp/small"]}));
    let (status, told) = ask(&app, Method::PUT, "/api/policy/builder", models).await;
    assert_eq!(status, 200, "{told}");
    peer.will_answer(404, "text/plain", "");
    let answer = |message: Value, reason: &str| {
        json!({"model": "small", "choices": [{"message": message, "finish_reason": reason}]}).to_string()
    };
    let function = json!({"name": "times_64", "arguments": "{\"number\": 2}"});
    let calling = json!({"content": "", "tool_calls": [{"id": "c1", "type": "function", "function": function}]});
    peer.will_answer(200, "application/json", answer(calling, "tool_calls"));
    peer.will_answer(200, "application/json", answer(json!({"content": "128"}), "stop"));
    let frames = client.ask("twice sixty-four?").await;
    assert_eq!(results(&frames), [(true, "128".into())], "a call of what was not offered arrives");
    let arrived: Vec<_> = peer.arrived().into_iter().filter(|arrived| arrived.path.starts_with("/v1/chat")).collect();
    assert_eq!(arrived.len(), 2);
    for request in arrived {
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let tools = body["tools"].as_array().unwrap().len();
        // The words around tools and messages are not counted to the byte.
        assert!((10..50).contains(&tools) && request.body.len() < MOST + 2000, "{tools} tools, {} bytes", request.body.len());
    }
}
