//! The HTTP doors.

use std::net::SocketAddr;

use reqwest::header::{HOST, ORIGIN};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::support::TestApp;

async fn get(address: SocketAddr, path: &str, headers: &[(reqwest::header::HeaderName, &str)]) -> reqwest::Response {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let mut request = client.get(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    request.send().await.unwrap()
}

#[tokio::test]
async fn the_page_and_its_health_are_served_closed_to_scripts_from_elsewhere() {
    let app = TestApp::start().await;
    let page = get(app.address(), "/", &[]).await;
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"), "{policy}");
    assert!(page.text().await.unwrap().contains("<title>"));
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(app.address(), path, &[]).await.status(), 200, "{path}");
    }
    assert_eq!(get(app.address(), "/nothing", &[]).await.status(), 404);
}

#[tokio::test]
async fn a_strange_host_or_origin_is_turned_away_everywhere() {
    let app = TestApp::start().await;
    let own = app.address().to_string();
    for path in ["/", "/chat", "/healthz", "/api/conversations", "/v1/models"] {
        assert_eq!(get(app.address(), path, &[(HOST, "evil.example")]).await.status(), 421, "{path}");
        let response = get(app.address(), path, &[(HOST, &own), (ORIGIN, "http://evil.example")]).await;
        assert_eq!(response.status(), 403, "{path}");
    }
    let mut request = format!("ws://{own}/chat").into_client_request().unwrap();
    request.headers_mut().insert("origin", "http://evil.example".parse().unwrap());
    let refused = tokio_tungstenite::connect_async(request).await.expect_err("refused");
    assert!(refused.to_string().contains("403"), "{refused}");
}

#[tokio::test]
async fn with_a_token_nobody_comes_in_without_it() {
    let app = TestApp::with(&[("LEVEL3_TOKEN", "s3cret")]).await;
    assert_eq!(get(app.address(), "/", &[]).await.status(), 401);
    let entered = get(app.address(), "/?token=s3cret", &[]).await;
    assert_eq!(entered.status(), 303);
    let cookie = entered.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    assert_eq!(get(app.address(), "/", &[(reqwest::header::COOKIE, &cookie)]).await.status(), 200);
}

#[tokio::test]
async fn a_further_conversation_can_be_made() {
    let app = TestApp::start().await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().build().unwrap();
    let made = client.post(format!("http://{}/api/conversations", app.address())).send().await.unwrap();
    assert_eq!(made.status(), 201);
    let id = made.json::<serde_json::Value>().await.unwrap()["conversation"].as_i64().unwrap();
    let mut talk = app.connect().await;
    app.script([crate::support::text("over here")]);
    talk.send(serde_json::json!({"type": "message", "content": "hi", "conversation": id})).await;
    let frames = talk.turn().await;
    assert!(frames.iter().all(|frame| frame["conversation"] == id), "{frames:#?}");
}
