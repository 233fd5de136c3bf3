//! The HTTP doors.

use std::net::SocketAddr;

use reqwest::header::{HOST, ORIGIN};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::support::api::client;
use crate::support::raw::{begin, say};
use crate::support::{Server, TestApp, in_time};

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
    // Whole: a word more anywhere in it is a door more.
    assert_eq!(
        page.headers()["content-security-policy"],
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; \
         manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    assert_eq!(page.headers()["permissions-policy"], "microphone=(self), camera=()");
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
    let mut app = TestApp::with(&[("LEVEL3_TOKEN", "s3cret")]).await;
    assert_eq!(get(app.address(), "/", &[]).await.status(), 401);
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(app.address(), path, &[]).await.status(), 200, "{path}");
    }
    let enter = async |app: &TestApp, headers: &[(reqwest::header::HeaderName, &str)]| {
        let entered = get(app.address(), "/?token=s3cret", headers).await;
        assert_eq!((entered.status().as_u16(), entered.headers()["location"].to_str().unwrap()), (303, "/"));
        entered.headers()["set-cookie"].to_str().unwrap().to_owned()
    };
    let (cookie, other) = (enter(&app, &[]).await, enter(&app, &[]).await);
    assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/") && !cookie.contains("Secure"), "{cookie}");
    assert!(!cookie.contains("s3cret") && cookie != other, "each browser has a session of its own: {cookie} {other}");
    let proxied = enter(&app, &[("x-forwarded-proto".parse().unwrap(), "https")]).await;
    assert!(proxied.contains("; Secure"), "{proxied}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let with_cookie =
        async |app: &TestApp| get(app.address(), "/", &[(reqwest::header::COOKIE, &cookie)]).await.status().as_u16();
    assert_eq!(with_cookie(&app).await, 200);
    app.restart().await;
    assert_eq!(with_cookie(&app).await, 200, "a restart keeps who is in");
    app.advance(31 * 24 * 3600);
    assert_eq!(with_cookie(&app).await, 401, "not for ever");
    app.advance(-31 * 24 * 3600);
    assert_eq!(with_cookie(&app).await, 200);
    app.stop().await;
    app.set("LEVEL3_TOKEN", "another");
    app.start_again().await;
    assert_eq!(with_cookie(&app).await, 401, "another token ends every session");
}

#[tokio::test]
async fn who_has_a_file_of_the_page_is_told_so() {
    let app = TestApp::start().await;
    let base = format!("http://{}", app.address());
    let index = get(app.address(), "/", &[]).await.text().await.unwrap();
    let named = index.split('"').find(|part| part.ends_with("/shell/early.js")).expect("a script");
    let folder = named.strip_suffix("shell/early.js").unwrap();
    let vendored = format!("{folder}vendor/{}", vendored());
    for (path, caching) in
        [("/", "no-cache"), (named, "public, max-age=31536000, immutable"), (&vendored, "public, max-age=31536000, immutable")]
    {
        let first = get(app.address(), path, &[]).await;
        let etag = first.headers()["etag"].to_str().unwrap().to_owned();
        let said = |name: &str| first.headers()[name].to_str().unwrap().to_owned();
        assert_eq!((&*said("cache-control"), &*said("vary")), (caching, "accept-encoding"), "{path}");
        assert!(etag.starts_with('"'), "{path} {etag}");
        assert!(!first.bytes().await.unwrap().is_empty());
        for method in [reqwest::Method::GET, reqwest::Method::HEAD] {
            let again =
                client().request(method.clone(), format!("{base}{path}")).header("if-none-match", &etag).send().await.unwrap();
            assert_eq!(again.status(), 304, "{method} {path}");
            assert_eq!(
                (again.headers()["etag"].to_str().unwrap(), again.headers()["cache-control"].to_str().unwrap()),
                (&*etag, caching)
            );
            assert_eq!(again.headers()["cross-origin-resource-policy"], "same-origin");
            assert!(again.bytes().await.unwrap().is_empty());
            let other = client().request(method.clone(), format!("{base}{path}")).header("if-none-match", "\"other\"");
            let other = other.send().await.unwrap();
            assert!(other.status() == 200 && other.headers().contains_key("content-length"), "{method} {path}");
            assert_eq!(other.bytes().await.unwrap().is_empty(), method == reqwest::Method::HEAD);
        }
    }
}

/// The name of a vendored script.
fn vendored() -> &'static str {
    let names = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/static/vendor")).unwrap();
    let name = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).find(|name| name.ends_with("js"));
    name.expect("a script").leak()
}

#[tokio::test]
async fn a_method_that_an_address_has_not_is_refused_with_those_it_has() {
    let app = TestApp::start().await;
    let host = format!("Host: {}", app.address());
    let connect = format!("CONNECT {}", app.address());
    for (line, allowed) in [
        ("TRACE /", "get"),
        ("POST /", "get"),
        ("DELETE /", "get"),
        ("OPTIONS /chat", "get"),
        ("TRACE /api/usage", "get"),
        ("PATCH /api/secrets/A", "put"),
        ("TRACE /v1/chat/completions", "post"),
        ("DELETE /v1/models", "get"),
        ("TRACE /mcp", "post"),
        ("PUT /readyz", "get"),
        (connect.as_str(), "get"),
    ] {
        let (status, told) = say(app.address(), line, &[&host]).await;
        let allow = told.lines().find_map(|line| line.strip_prefix("allow: ")).unwrap_or_default();
        assert!(status == 405 && allow.contains(allowed), "{line}: {told}");
    }
}

#[tokio::test]
async fn the_program_takes_the_files_it_may_have_and_a_crowd_locks_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        Server::start_with_files(&folder.path().join("data"), &[("LEVEL3_TOKEN", "s3cret-of-the-house")], 128, 400).await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let files: Vec<_> = limits.lines().find(|line| line.starts_with("Max open files")).unwrap().split_whitespace().collect();
    assert_eq!(files[3..5], ["400", "400"], "{limits}");
    let mut crowd = Vec::new();
    for _ in 0..300 {
        crowd.push(begin(server.address, "GET / HTTP/1.1\r\n").await);
    }
    let host = format!("Host: {}", server.address);
    assert_eq!(say(server.address, "GET /readyz", &[&host]).await.0, 200);
    drop(crowd);
    // The log says where a wrong token came from, and never the token.
    let told = async {
        while !server.log.lock().unwrap().contains("a wrong token was shown from=127.0.0.1") {
            // Until the crowd has left, the server may have no room yet.
            get(server.address, "/?token=a-wrong-guess", &[]).await;
        }
    };
    in_time("the wrong token in the log", told).await;
    let logged = server.log.lock().unwrap().clone();
    assert!(!logged.contains("a-wrong-guess") && !logged.contains("s3cret"), "{logged}");
    assert_eq!(server.terminate().await, Some(0));
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
