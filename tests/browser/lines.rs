//! Two tabs of one person, and kill -9 of the real program in the middle of an answer.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::StreamExt;
use futures::stream::{iter, pending};
use serde_json::{Value, json};

use crate::driver::Page;
use crate::steering::{SAID, VALUE};
use crate::support::{Server, reserved_port};

const WRITING: &str = "[data-testid=message-assistant][data-streaming=true]";
const WRITTEN: &str = "[data-testid=message-assistant][data-final=true]";

/// A model that begins its first answer and never ends it; each later one is whole. Gives its
/// address, and how often it was asked.
async fn halting() -> (SocketAddr, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let router = axum::Router::new()
        .route("/v1/models", get(|| async { Json(json!({"data": [{"id": "scripted"}]})) }))
        .route("/v1/chat/completions", post(answer))
        .with_state(Arc::clone(&asked));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, asked)
}

async fn answer(State(asked): State<Arc<AtomicUsize>>, Json(body): Json<Value>) -> Response {
    let is_first = asked.fetch_add(1, Ordering::SeqCst) == 0;
    let last = body["messages"].as_array().unwrap().last().unwrap().to_string();
    let text = match is_first {
        true => "Once upon a time",
        false if last.contains("and another") => "That was another.",
        false => "Once upon a time there was an end.",
    };
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        Ok::<_, Infallible>(format!("data: {}\n\n", json!({"id": "c", "model": "scripted", "choices": [choice]})))
    };
    let written = chunk(json!({"role": "assistant", "content": text}), Value::Null);
    let rest = vec![chunk(json!({}), json!("stop")), Ok("data: [DONE]\n\n".to_owned())];
    let body = match is_first {
        true => Body::from_stream(iter([written]).chain(pending())),
        false => Body::from_stream(iter([written]).chain(iter(rest))),
    };
    ([("content-type", "text/event-stream")], body).into_response()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_show_the_same_once_after_kill_9_in_the_middle_of_an_answer() {
    let (model, asked) = halting().await;
    let (_held, listen) = reserved_port();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (base_url, listen) = (format!("http://{model}/v1"), listen.to_string());
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted"), ("LEVEL3_LISTEN", &listen)];
    let server = Server::start(&data, &settings).await;
    let Some(page) = Page::open_at(server.address).await else { return };
    let tabs = page.second(server.address).await;

    page.find("[data-testid=composer]").await.send_keys("half a thought").await.unwrap();
    page.show(&tabs[0]).await;
    page.say("a story please").await;
    for tab in &tabs {
        page.show(tab).await;
        page.see(WRITING, "Once upon a time").await;
    }
    server.kill().await;
    for tab in tabs.iter().rev() {
        page.show(tab).await;
        page.find("[data-testid=connection]:not([data-state=connected])").await;
    }
    page.say("and another?").await;

    let server = Server::start(&data, &settings).await;
    let wanted = json!(["a story please", "Once upon a time there was an end.", "and another?", "That was another."]);
    for tab in &tabs {
        page.show(tab).await;
        page.see(WRITTEN, "That was another.").await;
        page.gone(WRITING).await;
        assert_eq!(page.run(SAID).await, wanted, "nothing lost, nothing twice");
        assert_eq!(page.run("return document.querySelectorAll('[data-testid=error]').length").await, json!(0));
    }
    assert_eq!(page.run(VALUE).await, "half a thought", "the draft of the second tab");
    page.show(&tabs[0]).await;
    page.reload().await;
    page.see(WRITTEN, "That was another.").await;
    assert_eq!(page.run(SAID).await, wanted, "after a reload");
    assert_eq!(asked.load(Ordering::SeqCst), 3, "the answer that was cut off was asked for once more");
    page.close().await;
    assert_eq!(server.terminate().await, Some(0));
}
