//! The words that the server says itself in a call by Vapi, in the language of its person.

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{MADE, PUBLIC, Vapi, words_of};
use crate::support::{Reply, api, in_time, text};

#[tokio::test]
async fn law_begins_and_asks_for_a_moment_in_the_language_that_the_call_was_made_in() {
    let vapi = Vapi::with(&[]).await;
    vapi.peer.will_answer(201, "application/json", MADE);
    let body = json!({"adapter": "vapi", "lang": "pt-BR"});
    let (status, begun) = api::ask(&vapi.app, Method::POST, "/api/voice/calls", Some(body)).await;
    assert_eq!(status, 200, "{begun}");
    let call = begun["call"].as_i64().unwrap();
    let assistant = serde_json::from_str::<Value>(&vapi.peer.arrived().pop().unwrap().body).unwrap()["assistant"].clone();
    assert_eq!(assistant["firstMessage"], "Oi, aqui é Law! O que há na sua lista?");
    // Vapi sends this back with each request.
    assert_eq!(assistant["metadata"], json!({"lang": "pt"}));
    assert_eq!(vapi.beat(call).await.1["state"], "active");
    let answers = Arc::new(Notify::new());
    vapi.app.script([Reply::After(Arc::clone(&answers), Box::new(text("Uma tarefa.")))]);
    let messages = [json!({"role": "user", "content": "lista"})];
    let body = json!({"model": "law", "messages": messages, "stream": true, "metadata": assistant["metadata"]});
    let url = format!("http://{}/voice/vapi/{call}/chat/completions", vapi.app.address());
    let bearer = assistant["credentials"][0]["apiKey"].as_str().unwrap();
    let request = api::client().post(url).header("host", PUBLIC).bearer_auth(bearer);
    let mut stream = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
    vapi.app.script.asked(1).await;
    vapi.app.advance(3);
    let mut heard = String::new();
    while !heard.contains("Um momento.") {
        heard.push_str(&String::from_utf8_lossy(&in_time("a word", stream.chunk()).await.unwrap().unwrap()));
    }
    answers.notify_one();
    heard.push_str(&in_time("the answer", stream.text()).await.unwrap());
    assert_eq!(words_of(&heard), "Um momento. Uma tarefa.");
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{call}"), None).await;
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn a_call_without_a_language_is_in_the_english_words() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    assert_eq!(made.assistant["firstMessage"], "Hey, Law here! What's on your list?");
    assert_eq!(made.assistant["metadata"], json!({"lang": "en"}));
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn words_that_are_longer_than_a_message_may_be_are_refused_aloud_and_reach_no_model() {
    let vapi = Vapi::with(&[]).await;
    let made = vapi.made().await;
    let told = |tokens: usize| format!("Your message has about {tokens} tokens, and 2000 is the most. Please make it shorter.");
    for (letters, tokens) in [(8_001, 2_001), (12_499, 3_125), (1_200_000, 300_000)] {
        assert_eq!(vapi.asks(&made, &[&"a".repeat(letters)]).await, told(tokens), "as `/chat` says it");
    }
    let long = json!({"role": "user", "content": "a".repeat(8_001)});
    let body = json!({"messages": [long], "metadata": {"lang": "pt"}}).to_string();
    let (bearer, path) = (format!("Bearer {}", made.bearer), format!("/voice/vapi/{}/chat/completions", made.call));
    let (status, answer) = vapi.post(&path, &[("authorization", &bearer)], &body).await;
    let told = "A sua mensagem tem cerca de 2001 tokens, e 2000 é o máximo. Diga isso em menos palavras.";
    assert_eq!((status, &*words_of(&answer)), (200, told));
    assert_eq!(vapi.app.count("SELECT count(*) FROM messages").await, 0);
    assert!(vapi.app.script.requests().is_empty());
    vapi.app.script([text("I see.")]);
    assert_eq!(vapi.asks(&made, &["a", &"a".repeat(8_000)]).await, "I see.");
    api::ask(&vapi.app, Method::DELETE, &format!("/api/voice/calls/{}", made.call), None).await;
    vapi.app.check_replay().await;
}
