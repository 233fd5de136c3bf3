//! All that can be said without a browser.

use std::sync::Arc;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

use super::attach::{active_port, body, major};
use super::cdp::Connection;
use super::keeper::{OwnTabs, SharedTab, keep_browser};
use super::touch::may_be_touched;
use super::*;
use crate::domain::campaign::page::PageNode;

#[test]
fn the_port_is_found_in_both_ways() {
    assert_eq!(active_port("41234\n/devtools/browser/ab-cd\n"), Some((41234, "/devtools/browser/ab-cd".to_owned())));
    for wrong in ["", "41234\n", "x\n/devtools", "41234\nws://other"] {
        assert_eq!(active_port(wrong), None, "{wrong:?}");
    }
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length:2\r\nContent-Type:application/json\r\n\r\n{}";
    assert_eq!(body(answer), Some(&b"{}"[..]));
    assert_eq!(body(&answer[..answer.len() - 1]), None, "it is not whole yet");
    assert_eq!((major("Chrome/156.0.8078.79"), major("HeadlessChrome/119.0"), major("Firefox")), (Some(156), Some(119), None));
}

/// The reason why no browser is found at this address.
async fn why(address: Option<&str>) -> String {
    let browser = Browser::new(address.map(|address| address.parse().unwrap()));
    let why = browser.look().await.unwrap_err().to_string();
    assert!(!browser.is_there());
    why
}

/// The address of a websocket that says this of itself, and answers nothing else.
async fn says(version: Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut socket = tokio_tungstenite::accept_async(listener.accept().await.unwrap().0).await.unwrap();
        let Some(Ok(Message::Text(asked))) = socket.next().await else { return };
        let asked: Value = serde_json::from_str(&asked).unwrap();
        assert_eq!(asked["method"], "Browser.getVersion");
        socket.send(Message::text(json!({ "id": asked["id"], "result": version }).to_string())).await.unwrap();
        // It stays until the client goes.
        while let Some(Ok(_)) = socket.next().await {}
    });
    format!("ws://{address}/devtools/browser/one")
}

/// The address of a port that gives this page for every question.
async fn serves(page: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut stream = listener.accept().await.unwrap().0;
        assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{page}", page.len());
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    format!("http://{address}")
}

#[tokio::test]
async fn no_browser_is_said_in_one_sentence_with_the_command_that_starts_it() {
    let unset = why(None).await;
    assert!(
        unset.contains("set LEVEL3_BROWSER=http://127.0.0.1:9222 and start Chrome: google-chrome --remote-debugging-port=9222"),
        "{unset}"
    );
    // A port that was just given back: nothing listens at it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let closed = why(Some(&format!("http://127.0.0.1:{port}"))).await;
    assert!(
        closed.contains(&format!("--remote-debugging-port={port} --user-data-dir=")) && closed.contains("Chrome 136"),
        "{closed}"
    );
    let folder = tempfile::tempdir().unwrap();
    let profile = why(folder.path().to_str()).await;
    assert!(profile.contains("--remote-debugging-port=0 --user-data-dir="), "{profile}");
    assert!(!profile.contains('\n') && !closed.contains('\n'));
}

#[tokio::test]
async fn a_browser_that_is_too_old_and_one_that_is_no_chrome_are_each_refused_by_a_sentence() {
    let version = |product: &str, agent: &str| json!({ "product": product, "userAgent": format!("Mozilla/5.0 {agent}") });
    let old = why(Some(&says(version("Chrome/119.0.6045.9", "Chrome/119.0.0.0 Safari/537.36")).await)).await;
    assert_eq!(old, "the browser is Chrome/119.0.6045.9, and version 120 or later is needed; update it");
    // Its number is large enough, and it is no number of a Chrome.
    let other = why(Some(&says(version("Firefox/128.0", "Gecko/20100101 Firefox/128.0")).await)).await;
    let nobody = why(Some(&says(json!({})).await)).await;
    let page = why(Some(&serves("<h1>Welcome</h1>").await)).await;
    let nameless = why(Some(&serves(r#"{"Browser": "Welcome/1.0"}"#).await)).await;
    for (told, words) in [
        (&other, "(it is \"Firefox/128.0\")"),
        (&nobody, "(it is \"\")"),
        (&page, "(it does not answer /json/version)"),
        (&nameless, "(it names no websocket)"),
    ] {
        assert!(told.starts_with("what answers at 127.0.0.1:") && told.contains(words), "{words}: {told}");
        assert!(told.contains("is no Chrome with DevTools") && told.contains("start Chrome: google-chrome "), "{told}");
        assert!(!told.contains('\n'), "{told}");
    }
    for (product, agent) in
        [("HeadlessChrome/120.0.1", "HeadlessChrome/120.0.0.0"), ("Edg/120.0.1", "Chrome/120.0.0.0 Edg/120.0.1")]
    {
        let browser = Browser::new(Some(says(version(product, agent)).await.parse().unwrap()));
        assert_eq!(browser.look().await.unwrap(), product);
        assert!(browser.is_there());
    }
}

#[test]
fn a_node_is_refused_with_why_before_it_is_touched() {
    let node = PageNode { number: 3, role: "link".to_owned(), name: "Go".to_owned() };
    let hosts = PageHosts::of(vec!["example.com".to_owned()]);
    let why = |seen| may_be_touched(&seen, &hosts, &node).unwrap_err().to_string();
    for (seen, words) in [
        (json!({"gone": true}), "the page has changed since it was read; propose browser_read"),
        (json!({"to": ["https://evil.test/"]}), "[3] link “Go” leads elsewhere: evil.test is no host of this campaign"),
        (json!({"to": ["mailto:ada@example.com"]}), "leads elsewhere: `mailto:` addresses are not opened"),
        (json!({"to": ["https://example.com/"], "elsewhere": true}), "opens a new tab"),
        (json!({"to": ["https://example.com/"], "download": true}), "downloads a file"),
        (json!({"foreign": true}), "a frame of another site"),
        (json!({"hidden": true}), "cannot be seen on the page"),
        (json!({"covered": "<div id=over>"}), "is covered by <div id=over>"),
    ] {
        assert!(why(seen.clone()).contains(words), "{}", why(seen));
    }
    assert!(
        may_be_touched(&json!({"to": ["https://example.com/a", "javascript:void 0"], "x": 1.0, "y": 2.0}), &hosts, &node).is_ok()
    );
}

#[tokio::test]
async fn a_tab_that_is_made_while_another_campaign_clicks_is_let_go_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel::<Value>();
    tokio::spawn(async move {
        let mut socket = tokio_tungstenite::accept_async(listener.accept().await.unwrap().0).await.unwrap();
        let attached = |session: &str, target: &str, waits: bool| {
            let target = json!({ "targetId": target, "type": "page" });
            let params = json!({ "sessionId": session, "targetInfo": target, "waitingForDebugger": waits });
            Message::text(json!({ "method": "Target.attachedToTarget", "params": params }).to_string())
        };
        for event in [attached("ours", "own", false), attached("held", "own", true), attached("person", "other", true)] {
            socket.send(event).await.unwrap();
        }
        while let Some(Ok(Message::Text(text))) = socket.next().await {
            let command: Value = serde_json::from_str(&text).unwrap();
            socket.send(Message::text(json!({ "id": command["id"], "result": {} }).to_string())).await.unwrap();
            tell.send(command).unwrap();
        }
    });
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let connection = Connection::over(stream, &format!("ws://{address}/devtools")).await.unwrap();
    let own = OwnTabs::default();
    own.add("own", &SharedTab::default());
    tokio::spawn(keep_browser(Arc::downgrade(&connection), connection.listen(""), own));
    let mut commands = Vec::new();
    while commands.len() < 4 {
        let command = told.recv().await.unwrap();
        let session = command["sessionId"].as_str().or(command["params"]["sessionId"].as_str()).unwrap();
        commands.push(format!("{} {session}", command["method"].as_str().unwrap()));
    }
    commands.sort_unstable();
    assert_eq!(
        commands,
        [
            "Runtime.runIfWaitingForDebugger held",
            "Runtime.runIfWaitingForDebugger person",
            "Target.detachFromTarget held",
            "Target.detachFromTarget person"
        ],
        "the session of the tab's own is left alone"
    );
}
