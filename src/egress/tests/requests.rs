//! A guest may write only so much into a request.

use super::*;

async fn ok() -> Peer {
    Peer::http(|_| reply("200 OK", &["X-Two: a", "X-Two: b"], "fine")).await
}

#[tokio::test]
async fn a_request_arrives_as_it_was_written() {
    let peer = ok().await;
    let request = HttpRequest { method: "patch".into(), ..post(peer.url("/a%20b/c?d=e%26f#g"), "body") };
    let response = Way::open(&[&peer]).send(header(request, "X-One", "ü")).await.unwrap();
    let seen = peer.request();
    assert!(seen.starts_with("PATCH /a%20b/c?d=e%26f HTTP/1.1\r\n") && seen.ends_with("\r\n\r\nbody"), "{seen}");
    for part in [
        format!("host: {}\r\n", peer.address),
        concat!("user-agent: level3/", env!("CARGO_PKG_VERSION"), "\r\n").into(),
        "accept-encoding: identity\r\n".into(),
        "content-length: 4\r\n".into(),
        "x-one: ü\r\n".into(),
    ] {
        assert!(seen.contains(&part), "{part}: {seen}");
    }
    assert_eq!((response.status, &*response.status_text, &*response.body), (200, "OK", &b"fine"[..]));
    assert_eq!(response.url, peer.url("/a%20b/c?d=e%26f"));
    let two: Vec<_> = response.headers.iter().filter(|header| header.0 == "x-two").map(|header| &*header.1).collect();
    assert_eq!(two, ["a", "b"]);
}

#[tokio::test]
async fn the_guests_own_agent_is_kept_and_its_key_is_replaced() {
    let peer = ok().await;
    let request = header(header(get(peer.url("/")), "User-Agent", "mine/1"), "Idempotency-Key", "guest");
    let request = HttpRequest { idempotency_key: Some("call-7".into()), ..request };
    Way::open(&[&peer]).send(request).await.unwrap();
    let seen = peer.request();
    assert!(seen.contains("user-agent: mine/1\r\n") && seen.contains("idempotency-key: call-7\r\n"), "{seen}");
    assert!(!seen.contains("guest") && !seen.contains("level3/"), "{seen}");
}

#[tokio::test]
async fn headers_of_the_connection_are_ours() {
    let peer = ok().await;
    let mut request = post(peer.url("/"), "body");
    for (name, value) in [
        ("Host", "evil.example"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "keep-alive, x-two"),
        ("TE", "trailers"),
        ("Upgrade", "websocket"),
        ("Expect", "100-continue"),
        ("Proxy-Authorization", "Basic evil"),
        ("Proxy-Anything", "evil"),
        ("Accept-Encoding", "gzip"),
        ("Content_Length", "0"),
        ("Transfer_Encoding", "chunked"),
    ] {
        request = header(request, name, value);
    }
    Way::open(&[&peer]).send(request).await.unwrap();
    let seen = peer.request();
    for part in ["evil", "chunked", "keep-alive", "trailers", "websocket", "100-continue", "proxy-", "gzip"] {
        assert!(!seen.contains(part), "{part}: {seen}");
    }
    assert!(seen.contains("content-length: 4\r\n") && seen.ends_with("\r\n\r\nbody"), "{seen}");
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_with_the_reason_and_without_a_connection() {
    let peer = ok().await;
    let (way, url) = (Way::open(&[&peer]), peer.url("/"));
    let method = |method: &str| HttpRequest { method: method.into(), ..get(&url) };
    let many = (0..65).fold(get(&url), |request, at| header(request, &format!("x-{at}"), ""));
    for (request, said) in [
        (method(""), "The method `` cannot be used"),
        (method("GE T"), "write GET"),
        (method("GET / HTTP/1.1\r\nX: "), "write GET"),
        (method("CONNECT"), "The method `CONNECT`"),
        (method("trace"), "The method `trace`"),
        (get("/path"), "expected one like https://"),
        (get(""), "expected one like https://"),
        (get("ftp://api.example/"), "only https and http"),
        (get("file:///etc/passwd"), "only https and http"),
        (get("unix:///run/docker.sock"), "only https and http"),
        (get("data:text/plain,x"), "only https and http"),
        (get(peer.named("http", "user:pass@127.0.0.1", "/")), "Authorization"),
        (get(peer.named("http", "user@127.0.0.1", "/")), "Authorization"),
        (get("http://127.0.0.1:0/"), "port 0"),
        (get("http://127.0.0.1:65536/"), "expected one like"),
        (get(format!("{url}{}", "x".repeat(9000))), "the address is"),
        (header(get(&url), "X Y", "1"), "its name holds"),
        (header(get(&url), "", "1"), "its name holds"),
        (header(get(&url), "X-Y", "1\r\nHost: evil.example"), "a line end"),
        (header(get(&url), "X-Y", "1\n2"), "a line end"),
        (header(get(&url), "X-Y", "1\0"), "control character"),
        (header(get(&url), "X-HTTP-Method-Override", "DELETE"), "change the method"),
        (header(get(&url), "x_http_method_override", "PURGE"), "change the method"),
        (header(get(&url), "X-Long", &"x".repeat(20_000)), "all headers together"),
        (many, "the number of headers is 65, at most 64"),
        (post(&url, &"x".repeat(256 * 1024 + 1)), "the body is 262145, at most 262144"),
    ] {
        let sentence = way.refused(request.clone()).await;
        assert!(sentence.contains(said), "{request:?}: {sentence}");
    }
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn line_ends_in_an_address_make_no_second_request() {
    let peer = ok().await;
    let way = Way::open(&[&peer]);
    way.send(get(peer.url("/a\r\nX-Evil: 1\r\n\r\nGET /b?q=\t\r\nX: y"))).await.unwrap();
    let seen = peer.request();
    let lines: Vec<_> = seen.lines().collect();
    assert!(lines[0].starts_with("GET /aX-Evil:%201") && lines[0].ends_with(" HTTP/1.1"), "{seen}");
    assert!(!lines[1..].iter().any(|line| line.to_lowercase().starts_with("x")), "{seen}");
}

#[tokio::test]
async fn a_response_to_head_has_no_body_whatever_length_it_names() {
    let peer = Peer::http(|_| Answer::Say(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n".to_vec())).await;
    let response = Way::open(&[&peer]).send(HttpRequest { method: "HEAD".into(), ..get(peer.url("/")) }).await.unwrap();
    assert!(response.body.is_empty() && response.headers.contains(&("content-length".into(), "99999999".into())));
}

#[tokio::test]
async fn a_method_or_a_path_in_a_header_is_granted_like_that_of_the_request() {
    let peer = ok().await;
    let granted =
        json!([{"host": "127.0.0.1", "scheme": "http", "port": peer.address.port(), "path": "/v1/", "methods": ["GET", "PUT"]}]);
    let way = Way { grants: grants(&granted), ..Way::open(&[&peer]) };
    let with = |name: &str, value: &str| header(get(peer.url("/v1/x")), name, value);
    for (name, value) in [
        ("X-Original-URL", "/v2/x"),
        ("X-Rewrite-URL", "/v1/../v2?y"),
        ("X-Any-Name", &*peer.url("/v2/x")),
        ("X-Verb", "delete"),
        ("_method", "PUT, DELETE"),
    ] {
        let said = way.refused(with(name, value)).await;
        assert!(said.contains("its value is a method or a path that is not granted"), "{name}: {said}");
    }
    assert_eq!(peer.connections(), 0);
    let honest =
        [("X-Original-URL", "/v1/y"), ("X-Verb", "put"), ("Referer", &*peer.url("/v2")), ("X-Link", "https://b.example/v2")];
    for (name, value) in honest {
        way.send(with(name, value)).await.unwrap();
    }
    // A grant of the whole host leaves nothing to disguise.
    Way::open(&[&peer]).send(with("X-Original-URL", "/v2/x")).await.unwrap();
}
