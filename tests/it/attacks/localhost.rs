//! Attacks on the doors of the server: other web pages, other names, other machines.

use reqwest::Method;
use serde_json::json;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::{ask, written};
use crate::support::raw::say;
use crate::support::{Client, TestApp, call, text};

/// A server with an approval that waits for the person.
async fn waiting() -> (TestApp, Client, String) {
    let app = TestApp::start().await;
    app.script([call("write_capability", written("reacher", "return 1", json!({"http": {"hosts": ["evil.example"]}})))]);
    let mut client = app.connect().await;
    client.say("make it").await;
    let id = client.asked().await["id"].to_string();
    (app, client, id)
}

/// The approval still waits; then the person refuses it.
async fn still_waits(app: &TestApp, client: &mut Client, id: &str) {
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1);
    app.script([text("not installed")]);
    client.send(json!({"type": "deny", "approval": id.parse::<i64>().unwrap()})).await;
    client.turn().await;
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 0);
}

/// The requests that change something, with their bodies.
fn doors(id: &str) -> Vec<(Method, String, &'static str)> {
    vec![
        (Method::POST, format!("/api/approvals/{id}/approve"), "{}"),
        (Method::POST, format!("/api/approvals/{id}/approve"), ""),
        (Method::POST, "/api/capabilities/import".into(), "{}"),
        (Method::PUT, "/api/secrets/API_KEY".into(), r#"{"value": "from elsewhere"}"#),
        (Method::DELETE, "/api/secrets/API_KEY".into(), ""),
        (Method::POST, "/api/tasks".into(), r#"{"title": "from elsewhere"}"#),
        (Method::PATCH, "/api/conversations/1".into(), r#"{"title": "from elsewhere"}"#),
        (Method::DELETE, "/api/conversations/1?confirmed=true".into(), ""),
        (Method::PUT, "/api/settings".into(), r#"{"HEARTBEAT_INTERVAL": "60"}"#),
        (Method::POST, "/api/backup".into(), ""),
    ]
}

#[tokio::test]
async fn a_page_from_elsewhere_decides_nothing_sets_nothing_and_reads_nothing() {
    let (app, mut client, id) = waiting().await;
    let port = app.address().port();
    let origins = [
        "http://evil.example".to_owned(),
        "https://evil.example".to_owned(),
        "null".to_owned(),
        "file://".to_owned(),
        "chrome-extension://abc".to_owned(),
        format!("http://evil.example:{port}"),
        format!("http://localhost.evil.example:{port}"),
        format!("http://127.0.0.1.evil.example:{port}"),
        "http://localhost:3000".to_owned(),
        "http://localhost".to_owned(),
        format!("http://evil.example@127.0.0.1:{port}"),
    ];
    for origin in &origins {
        for (method, path, body) in doors(&id) {
            let headers = [("origin", origin.as_str()), ("content-type", "application/json")];
            assert_eq!(ask(&app, method, &path, &headers, body).await.0, 403, "{origin} {path}");
        }
        for path in ["/api/approvals", "/api/secrets", "/", "/api/capabilities"] {
            assert_eq!(ask(&app, Method::GET, path, &[("origin", origin)], "").await.0, 403, "{origin} {path}");
        }
        let mut request = format!("ws://{}/chat", app.address()).into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        let refused = tokio_tungstenite::connect_async(request).await.expect_err("refused");
        assert!(refused.to_string().contains("403"), "{origin}: {refused}");
    }
    // A browser asks with OPTIONS before it sends anything unusual, and gets no permission either.
    let (status, _) = ask(
        &app,
        Method::OPTIONS,
        &format!("/api/approvals/{id}/approve"),
        &[
            ("origin", "http://evil.example"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type"),
        ],
        "",
    )
    .await;
    assert_eq!(status, 403);
    still_waits(&app, &mut client, &id).await;
}

#[tokio::test]
async fn what_a_form_or_an_image_of_any_page_can_send_changes_nothing() {
    let (app, mut client, id) = waiting().await;
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; application/json", ""]
    {
        for (method, path, body) in doors(&id) {
            if body.is_empty() {
                continue; // the server reads no body there; the origin stands guard
            }
            let headers = if kind.is_empty() { Vec::new() } else { vec![("content-type", kind)] };
            let (status, said) = ask(&app, method, &path, &headers, body).await;
            assert_eq!(status, 415, "{kind} {path}: {said}");
        }
    }
    for path in [format!("/api/approvals/{id}/approve"), format!("/api/approvals/{id}/approve?always=true")] {
        assert_eq!(ask(&app, Method::GET, &path, &[], "").await.0, 405, "{path}");
    }
    still_waits(&app, &mut client, &id).await;
}

#[tokio::test]
async fn a_name_that_was_made_to_lead_here_is_no_name_of_ours() {
    let (app, mut client, id) = waiting().await;
    let port = app.address().port();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("0.0.0.0:{port}"),
        format!("127.0.0.1.nip.io:{port}"),
        format!("localhost.:{port}"),
        format!("localhost.evil.example:{port}"),
        "localhost:1".to_owned(),
        format!("127.1:{port}"),
    ] {
        for (method, path, body) in doors(&id) {
            let headers = [("host", host.as_str()), ("content-type", "application/json")];
            assert_eq!(ask(&app, method, &path, &headers, body).await.0, 421, "{host} {path}");
        }
        let mut request = format!("ws://{}/chat", app.address()).into_client_request().unwrap();
        request.headers_mut().insert("host", host.parse().unwrap());
        let refused = tokio_tungstenite::connect_async(request).await.expect_err("refused");
        assert!(refused.to_string().contains("421"), "{host}: {refused}");
        // A page of that name, as a browser would send it: Host and Origin agree, and both are
        // strangers.
        let headers = [("host", host.as_str()), ("origin", &*format!("http://{host}"))];
        assert_eq!(ask(&app, Method::GET, "/api/secrets", &headers, "").await.0, 421, "{host}");
    }
    // A second Host or a forwarded one makes no difference.
    let forwarded = [("x-forwarded-host", "localhost"), ("forwarded", "host=localhost"), ("host", "evil.example")];
    assert_eq!(ask(&app, Method::GET, "/api/secrets", &forwarded, "").await.0, 421);
    still_waits(&app, &mut client, &id).await;
}

#[tokio::test]
async fn with_a_token_every_door_is_closed_to_whoever_does_not_show_it() {
    let app = TestApp::with(&[("LEVEL3_TOKEN", "correct horse battery staple".replace(' ', "-").as_str())]).await;
    let wrong: [&[(&str, &str)]; 6] = [
        &[],
        &[("authorization", "Bearer ")],
        &[("authorization", "Bearer correct-horse")],
        &[("authorization", "Basic correct-horse-battery-staple")],
        &[("cookie", "level3_session=")],
        &[("cookie", "other=correct-horse-battery-staple")],
    ];
    for headers in wrong {
        // The server slows wrong tokens beyond ten a minute; another story tells of that.
        app.advance(60);
        for path in [
            "/",
            "/api/approvals",
            "/api/secrets",
            "/metrics",
            "/?token=",
            "/?token=correct-horse-battery",
            "/?TOKEN=correct-horse-battery-staple",
        ] {
            assert_eq!(ask(&app, Method::GET, path, headers, "").await.0, 401, "{path} {headers:?}");
        }
        for ten in doors("1").chunks(10) {
            app.advance(60);
            for (method, path, body) in ten {
                assert_eq!(ask(&app, method.clone(), path, headers, body).await.0, 401, "{path} {headers:?}");
            }
        }
    }
    let refused = tokio_tungstenite::connect_async(format!("ws://{}/chat", app.address())).await.expect_err("refused");
    assert!(refused.to_string().contains("401"), "{refused}");
    let right = [("authorization", "Bearer correct-horse-battery-staple")];
    assert_eq!(ask(&app, Method::GET, "/api/secrets", &right, "").await.0, 200);
}

#[tokio::test]
async fn without_a_token_or_a_password_the_program_does_not_listen_where_other_machines_are() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let place = tempfile::tempdir().unwrap();
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_level3"));
        command.arg("serve").env_clear().env("LEVEL3_LISTEN", address).env("LEVEL3_DATA_DIR", place.path().join("data"));
        let output = command.current_dir(place.path()).kill_on_drop(true).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("LEVEL3_TOKEN"), "{address}: {said}");
    }
}

#[tokio::test]
async fn with_a_token_that_can_be_guessed_the_program_does_not_listen_where_other_machines_are() {
    let place = tempfile::tempdir().unwrap();
    for (command, code) in [("serve", 78), ("doctor", 1)] {
        let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_level3"));
        program.arg(command).env_clear().env("LEVEL3_LISTEN", "0.0.0.0:0").env("LEVEL3_TOKEN", "s3cret");
        let ran = program.current_dir(place.path()).kill_on_drop(true).output().await.unwrap();
        let said = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
        assert_eq!(ran.status.code(), Some(code), "{said}");
        assert!(said.contains("LEVEL3_TOKEN has fewer than 16 characters") && !said.contains("s3cret"), "{said}");
    }
}

#[tokio::test]
async fn wrong_tokens_are_counted_and_slowed_and_the_right_one_still_passes() {
    let app = TestApp::with(&[("LEVEL3_TOKEN", "the-right-one-of-the-house")]).await;
    let address = format!("http://{}/api/usage", app.address());
    let guess = async |token: &str| crate::support::api::client().get(&address).bearer_auth(token).send().await.unwrap();
    for n in 0..10 {
        assert_eq!(guess(&format!("guess-{n}")).await.status(), 401);
    }
    let refused = guess("guess-10").await;
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"60".parse().unwrap()));
    assert!(refused.json::<serde_json::Value>().await.unwrap()["error"].as_str().unwrap().contains("wrong tokens"));
    app.advance(45);
    assert_eq!(ask(&app, Method::GET, "/?token=guess-11", &[], "").await.0, 429, "the other way to show one is the same");
    assert_eq!(guess("guess-12").await.headers()["retry-after"], "15");
    // A person who has forgotten the token is told how to show it, however many strangers guess.
    assert_eq!(ask(&app, Method::GET, "/", &[], "").await.0, 401);
    assert_eq!(guess("the-right-one-of-the-house").await.status(), 200);
    app.advance(15);
    assert_eq!(guess("guess-13").await.status(), 401);
    let metrics = ask(&app, Method::GET, "/metrics?token=the-right-one-of-the-house", &[], "").await.1;
    assert!(metrics.contains("level3_wrong_tokens_total 14\n"), "{metrics}");
}

#[tokio::test]
async fn a_request_that_names_two_hosts_names_none() {
    let (app, mut client, id) = waiting().await;
    let own = format!("Host: {}", app.address());
    let evil = "Host: evil.example";
    let approve = format!("POST /api/approvals/{id}/approve");
    let absolute = |host: &str| format!("POST http://{host}/api/approvals/{id}/approve");
    let port = app.address().port();
    for (line, headers) in [
        (&approve, vec![&*own, evil]),
        (&approve, vec![evil, &*own]),
        (&approve, vec![&*own, &*own]),
        (&approve, vec![&*own, "Origin: http://evil.example", "Origin: http://evil.example"]),
        (&absolute("evil.example"), vec![&*own]),
        (&absolute(&format!("127.0.0.1:{port}@evil.example")), vec![&*own]),
        (&absolute(&format!("localhost:{port}")), vec![&*own]),
        (&"CONNECT evil.example:443".to_owned(), vec![&*own]),
        (&"CONNECT evil.example:443".to_owned(), vec!["Host: evil.example:443"]),
    ] {
        let (status, told) = say(app.address(), line, &headers).await;
        assert!([400, 421].contains(&status), "{line} {headers:?}: {told}");
    }
    assert_eq!(say(app.address(), &format!("GET http://{}/api/approvals", app.address()), &[&own]).await.0, 200);
    still_waits(&app, &mut client, &id).await;
}

#[tokio::test]
async fn another_site_in_the_same_browser_gets_the_page_by_a_link_and_nothing_else() {
    let (app, mut client, id) = waiting().await;
    for site in ["cross-site", "same-site"] {
        let link = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        let image = [("sec-fetch-site", site), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")];
        assert_eq!(ask(&app, Method::GET, "/", &link, "").await.0, 200);
        for path in ["/api/approvals", "/api/attachments/ab", "/metrics", "/v1/models", "/s/0/state.js"] {
            for headers in [link, image] {
                assert_eq!(ask(&app, Method::GET, path, &headers, "").await.0, 403, "{path} {headers:?}");
            }
        }
        for (method, path, body) in doors(&id) {
            assert_eq!(ask(&app, method, &path, &link, body).await.0, 403, "{path}");
        }
    }
    for site in ["same-origin", "none"] {
        assert_eq!(ask(&app, Method::GET, "/api/approvals", &[("sec-fetch-site", site)], "").await.0, 200, "{site}");
    }
    still_waits(&app, &mut client, &id).await;
}

#[tokio::test]
async fn what_the_database_could_not_keep_is_refused_at_the_door() {
    let (app, mut client, id) = waiting().await;
    for path in [
        "/api/capabilities/a%00b",
        "/api/secrets/A%00",
        "/api/attachments/%00",
        "/api/mcp/%00/tools",
        "/api/rates/%00",
        "/api/approvals?state=%00",
        "/api/turns/1?wait=%00",
        "/api/capabilities/%ff",
        "/%00",
        "/v1/models/%00",
        "/api/turns/99999999999999999999",
        "/api/approvals/1e400",
    ] {
        let (status, said) = ask(&app, Method::GET, path, &[], "").await;
        assert_eq!(status, 400, "{path}: {said}");
    }
    assert_eq!(ask(&app, Method::GET, "/api/approvals/9223372036854775807", &[], "").await.0, 404);
    let json = [("content-type", "application/json")];
    for (method, path, body) in [
        (Method::POST, format!("/api/approvals/{id}/deny"), r#"{"reason": "\u0000"}"#),
        (Method::PUT, "/api/secrets/A".into(), r#"{"value": "12345678\u0000"}"#),
        (Method::PUT, "/api/mcp/far".into(), r#"{"url": "https://far.example/\u0000"}"#),
        (Method::PUT, "/api/policy/builder".into(), r#"{"models": ["a/\u0000"]}"#),
        (Method::POST, "/api/capabilities/import".into(), r#"{"capability.json": {"name": "\u0000"}}"#),
        (Method::POST, "/v1/chat/completions".into(), r#"{"model": "\u0000", "messages": []}"#),
    ] {
        let (status, said) = ask(&app, method, &path, &json, body).await;
        assert!([400, 404].contains(&status), "{path}: {status} {said}");
    }
    let said = json!({"type": "deny", "approval": 77, "reason": "\0"});
    client.send(said).await;
    client.until(|frame| frame["type"] == "error").await;
    still_waits(&app, &mut client, &id).await;
}

#[tokio::test]
async fn a_further_name_holds_for_its_port_and_a_name_alone_for_every_port() {
    let app = TestApp::with(&[("LEVEL3_ALLOWED_HOSTS", "box.lan:8443, far.lan")]).await;
    for (host, status) in [
        ("box.lan:8443", 200),
        ("far.lan", 200),
        ("far.lan:1", 200),
        ("FAR.lan:65535", 200),
        ("box.lan", 421),
        ("box.lan:8444", 421),
        ("box.lan:84430", 421),
        ("not.far.lan", 421),
    ] {
        assert_eq!(ask(&app, Method::GET, "/api/usage", &[("host", host)], "").await.0, status, "{host}");
    }
    // The page that is served there may ask, and no other page of that machine.
    let from = async |origin| ask(&app, Method::GET, "/api/usage", &[("host", "far.lan:9000"), ("origin", origin)], "").await.0;
    assert_eq!([from("https://far.lan:9000").await, from("https://far.lan:9001").await], [200, 403]);
}
