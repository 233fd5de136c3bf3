//! Redirects: each is a request of its own, and what was for one peer does not go to the next.

use super::*;

/// A peer that answers every request with a redirect.
async fn pointing(status: &'static str, location: String) -> Peer {
    Peer::http(move |_| reply(status, &[&format!("Location: {location}")], "")).await
}

async fn hello() -> Peer {
    Peer::http(|_| reply("200 OK", &[], "hello")).await
}

#[tokio::test]
async fn a_redirect_to_an_address_that_is_not_public_is_refused_after_the_first_hop() {
    let victim = Peer::at("[::]:0", None, |_| reply("200 OK", &[], "victim")).await;
    for host in ["127.0.0.1", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "[fd00:ec2::254]"] {
        let peer = pointing("302 Found", victim.named("http", host, "/latest/meta-data/")).await;
        let way = Way { allowed: [peer.address].into(), ..Way::granted(&[&peer, &victim]) };
        let error = way.send(get(peer.url("/"))).await.expect_err(host);
        assert!(matches!(error.problem(), Problem::NotPublic { .. }) && error.may_have_arrived(), "{host}: {error}");
    }
    assert_eq!(victim.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_host_that_is_not_granted_is_refused() {
    let other = hello().await;
    let peer = pointing("307 Temporary Redirect", other.named("http", "other.example", "/x")).await;
    let granted = json!([{"host": "api.example", "scheme": "http", "port": peer.address.port()}]);
    let way = Way { grants: grants(&granted), ..Way::open(&[&peer, &other]) };
    let error = way.send(get(peer.named("http", "api.example", "/"))).await.unwrap_err();
    assert!(matches!(error.problem(), Problem::NotGranted { .. }), "{error}");
    let told = error.for_person();
    assert!(told.starts_with("It leads on to GET http://other.example:") && !told.contains("grant"), "{told}");
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn the_method_after_a_redirect_has_to_be_granted_too() {
    let peer = Peer::http(|request| match request.starts_with("POST") {
        true => reply("303 See Other", &["Location: /made"], ""),
        false => reply("200 OK", &[], ""),
    })
    .await;
    let granted = json!([{"host": "127.0.0.1", "scheme": "http", "port": peer.address.port(), "methods": ["POST"]}]);
    let way = Way { grants: grants(&granted), ..Way::open(&[&peer]) };
    let error = way.send(post(peer.url("/"), "x")).await.unwrap_err();
    assert!(error.to_string().starts_with("GET http://127.0.0.1"), "{error}");
    assert_eq!(peer.connections(), 1);
}

#[tokio::test]
async fn methods_and_bodies_change_as_http_says() {
    for (status, method, expected) in [
        ("301 Moved Permanently", "POST", "GET /end"),
        ("302 Found", "POST", "GET /end"),
        ("302 Found", "PUT", "PUT /end"),
        ("303 See Other", "PUT", "GET /end"),
        ("303 See Other", "HEAD", "HEAD /end"),
        ("307 Temporary Redirect", "POST", "POST /end"),
        ("308 Permanent Redirect", "PATCH", "PATCH /end"),
    ] {
        let peer = Peer::http(move |request| match request.contains(" /end ") {
            true => reply("200 OK", &[], ""),
            false => reply(status, &["Location: end#part"], ""),
        })
        .await;
        let request =
            HttpRequest { method: method.into(), idempotency_key: Some("k-1".into()), ..post(peer.url("/begin"), "text") };
        let response = Way::open(&[&peer]).send(header(request, "Content-Type", "text/plain")).await.unwrap();
        assert_eq!(response.url, peer.url("/end"));
        let second = &peer.requests()[1];
        assert!(second.starts_with(expected), "{status} {method}: {second}");
        let keeps = method == expected.split(' ').next().unwrap() && method != "HEAD";
        for part in ["text", "content-type: text/plain", "idempotency-key: k-1"] {
            assert!(method == "HEAD" || second.contains(part) == keeps, "{status} {method} {part}: {second}");
        }
    }
}

#[tokio::test]
async fn headers_for_one_peer_and_headers_with_secrets_do_not_go_to_another() {
    let other = Peer::https(|_| reply("200 OK", &[], "")).await;
    let location = format!("Location: {}", other.named("https", "other.example", "/"));
    let peer = Peer::https(move |_| reply("302 Found", &[&location], "")).await;
    let mut request = get(peer.named("https", "api.example", "/"));
    for (name, value) in [("Authorization", "Basic eDp5"), ("Cookie", "a=b"), ("X-Key", PLACEHOLDER), ("X-Kept", "kept")] {
        request = header(request, name, value);
    }
    // Bound to both hosts: even so a redirect does not take it along.
    let way = Way::open(&[&peer, &other]).with_secret(&["api.example", "other.example"]);
    assert_eq!(way.send(request).await.unwrap().status, 200);
    let (first, second) = (peer.request(), other.request());
    for part in ["authorization: Basic eDp5", "cookie: a=b", CANARY, "x-kept: kept"] {
        assert!(first.contains(part), "{part}: {first}");
    }
    for part in ["authorization", "cookie", "8f21", PLACEHOLDER] {
        assert!(!second.contains(part), "{part}: {second}");
    }
    assert!(second.contains("x-kept: kept"), "{second}");
}

#[tokio::test]
async fn headers_stay_when_the_redirect_stays_at_the_same_origin() {
    let peer = Peer::https(|request| match request.contains(" /end ") {
        true => reply("200 OK", &[], ""),
        false => reply("302 Found", &["Location: /end"], ""),
    })
    .await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    let request = header(get(peer.named("https", "api.example", "/")), "Authorization", &format!("Bearer {PLACEHOLDER}"));
    way.send(request).await.unwrap();
    assert!(peer.requests()[1].contains(&format!("authorization: Bearer {CANARY}")));
}

#[tokio::test]
async fn a_body_with_a_secret_is_not_sent_on_to_another_origin() {
    for status in ["307 Temporary Redirect", "308 Permanent Redirect"] {
        let other = Peer::https(|_| reply("200 OK", &[], "")).await;
        let location = format!("Location: {}", other.named("https", "other.example", "/"));
        let peer = Peer::https(move |_| reply(status, &[&location], "")).await;
        let way = Way::open(&[&peer, &other]).with_secret(&["api.example", "other.example"]);
        let error = way.send(post(peer.named("https", "api.example", "/"), PLACEHOLDER)).await.unwrap_err();
        assert!(spoken(&error).contains("The secret API_KEY may not be sent to other.example"), "{error}");
        assert!(error.may_have_arrived());
        assert_eq!((peer.connections(), other.connections()), (1, 0));
    }
}

#[tokio::test]
async fn a_peer_cannot_lead_a_secret_on_to_a_host_it_is_not_bound_to() {
    let other = Peer::https(|_| reply("200 OK", &[], "")).await;
    let goal = other.named("https", "other.example", "/");
    // The guest writes `?next=`, and the peer redirects there, as many do.
    let peer = Peer::https(move |request| {
        let next = request.split("next=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        reply("302 Found", &[&format!("Location: {goal}?leak={next}")], "")
    })
    .await;
    let way = Way::open(&[&peer, &other]).with_secret(&["api.example"]);
    let error = way.send(get(peer.named("https", "api.example", &format!("/?next={PLACEHOLDER}")))).await.unwrap_err();
    assert!(
        spoken(&error).contains("The secret API_KEY may not be sent to other.example: it is bound to other hosts"),
        "{error}"
    );
    assert!(peer.request().contains("next=canary%2F8f21%2B%C3%BC%3Dtoken"), "{}", peer.request());
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_value_that_only_shows_before_or_after_an_address_is_read_is_found() {
    use base64::Engine;
    let value = "Canary8f21Token!";
    let base64 = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(value);
    // Reading takes the tab out; and it makes the host small, which is another text in base64.
    for location in ["https://other.example/?k=Canary8f\t21Token!".to_owned(), format!("https://{base64}.example/")] {
        let peer = Peer::https(move |_| reply("302 Found", &[&format!("Location: {location}")], "")).await;
        let mut way = Way::open(&[&peer]);
        way.grants = grants(&json!(["*", {"host": "api.example", "port": peer.address.port()}]));
        way.secrets.insert(PLACEHOLDER.into(), "K".into(), value.into(), ["api.example".to_owned()].into());
        let error = way.send(header(get(peer.named("https", "api.example", "/")), "X-Key", PLACEHOLDER)).await.unwrap_err();
        assert!(spoken(&error).contains("The secret K may not be sent to"), "{error}");
    }
}

#[tokio::test]
async fn a_value_in_the_name_of_a_host_is_neither_asked_for_nor_shown() {
    let value = "Canary8f21Token";
    for (granted, said) in [("*", "The secret K may not be sent to"), ("api.example", "is not granted")] {
        let peer = Peer::https(move |_| reply("302 Found", &[&format!("Location: https://{value}.other.example/")], "")).await;
        let mut way = Way::open(&[&peer]);
        way.grants = grants(&json!([granted, {"host": "api.example", "port": peer.address.port()}]));
        way.secrets.insert(PLACEHOLDER.into(), "K".into(), value.into(), ["api.example".to_owned()].into());
        let error = way.send(header(get(peer.named("https", "api.example", "/")), "X-Key", PLACEHOLDER)).await.unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.to_string().to_lowercase().contains("8f21"), "{error}");
    }
}

#[tokio::test]
async fn from_https_to_http_only_what_is_granted_is_followed() {
    let clear = hello().await;
    let location = format!("Location: {}", clear.named("http", "api.example", "/"));
    let peer = Peer::https(move |_| reply("301 Moved Permanently", &[&location], "")).await;
    let only_https = json!([{"host": "*", "port": peer.address.port()}, {"host": "*", "port": clear.address.port()}]);
    let way = Way { grants: grants(&only_https), ..Way::open(&[&peer, &clear]) };
    let error = way.send(get(peer.named("https", "api.example", "/"))).await.unwrap_err();
    assert!(matches!(error.problem(), Problem::NotGranted { .. }), "{error}");
    assert_eq!(clear.connections(), 0);
    let way = Way::open(&[&peer, &clear]);
    assert_eq!(way.send(get(peer.named("https", "api.example", "/"))).await.unwrap().body, b"hello");
}

#[tokio::test]
async fn five_redirects_are_followed_and_not_six() {
    for (count, followed) in [(5, true), (6, false)] {
        let peer = Peer::http(move |request| {
            let at: usize = request.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            let next = format!("Location: /{}", at + 1);
            if at < count { reply("302 Found", &[&next], "") } else { reply("200 OK", &[], "") }
        })
        .await;
        let outcome = Way::open(&[&peer]).send(get(peer.url("/0"))).await;
        assert_eq!((outcome.is_ok(), peer.connections()), (followed, 6), "{count}");
        if let Err(error) = outcome {
            assert!(error.to_string().contains("The redirects do not end: 5 were followed"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_redirect_that_cannot_be_followed_says_so_and_one_without_address_is_a_response() {
    for location in
        ["http://", "file:///etc/passwd", "gopher://127.0.0.1/", "http://user:pass@api.example/", "//[", "http://a:0/"]
    {
        let peer = pointing("302 Found", location.into()).await;
        let error = Way::open(&[&peer]).send(get(peer.url("/"))).await.expect_err(location);
        assert!(matches!(error.problem(), Problem::BadRedirect { .. }), "{location}: {error}");
    }
    let peer = Peer::http(|_| reply("304 Not Modified", &["Location: /elsewhere"], "")).await;
    assert_eq!(Way::open(&[&peer]).send(get(peer.url("/"))).await.unwrap().status, 304);
    let peer = Peer::http(|_| reply("302 Found", &[], "")).await;
    assert_eq!(Way::open(&[&peer]).send(get(peer.url("/"))).await.unwrap().status, 302);
}
