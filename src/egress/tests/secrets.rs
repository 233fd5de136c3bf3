//! Secrets: where they are put in, where they are refused, and that a peer that sends them back is
//! cleaned.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::*;

async fn ok() -> Peer {
    Peer::https(|_| reply("200 OK", &[], "fine")).await
}

fn api(peer: &Peer, path: &str) -> String {
    peer.named("https", "api.example", path)
}

#[tokio::test]
async fn a_placeholder_becomes_the_secret_in_header_path_query_and_body() {
    let peer = ok().await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    let request =
        post(api(&peer, &format!("/bot{PLACEHOLDER}/send?key={PLACEHOLDER}#{PLACEHOLDER}")), &format!("<{PLACEHOLDER}>"));
    let request = header(request, "Authorization", &format!("Bearer {PLACEHOLDER}"));
    let response = way.send(request).await.unwrap();
    let seen = peer.request();
    let encoded = "canary%2F8f21%2B%C3%BC%3Dtoken";
    assert!(seen.starts_with(&format!("POST /bot{encoded}/send?key={encoded} HTTP/1.1\r\n")), "{seen}");
    assert!(seen.contains(&format!("authorization: Bearer {CANARY}\r\n")), "{seen}");
    assert!(seen.ends_with(&format!("\r\n\r\n<{CANARY}>")), "{seen}");
    assert!(!seen.contains(PLACEHOLDER), "{seen}");
    // The guest is shown what it wrote.
    assert_eq!(response.url, api(&peer, &format!("/bot{PLACEHOLDER}/send?key={PLACEHOLDER}")));
}

#[tokio::test]
async fn no_part_of_a_response_is_read_from_where_a_secret_may_be() {
    let whole = format!("<{CANARY}>");
    // A peer that serves ranges, one that sends a part unasked, and one that calls a part a whole.
    for head in ["206 Partial Content", "200 OK"] {
        let middle = whole[4..9].to_owned();
        let peer = Peer::https(move |_| reply(head, &["Content-Range: bytes 4-8/22"], &middle)).await;
        let way = Way::open(&[&peer]).with_secret(&["api.example"]);
        let with_key = || header(get(api(&peer, "/me")), "Authorization", PLACEHOLDER);
        for request in [with_key(), get(api(&peer, "/me"))] {
            let said = way.refused(header(request.clone(), "Range", "bytes=4-8")).await;
            assert!(said.contains("leave the header Range away") && said.contains("API_KEY"), "{said}");
            let error = way.send(header(request, "Request-Range", "bytes=4-8")).await.expect_err("a part");
            assert!(error.may_have_arrived() && matches!(error.problem(), Problem::Part { .. }), "{error}");
        }
        // A host that may be sent no secret may answer with a part.
        let elsewhere = header(get(peer.named("https", "other.example", "/big")), "Range", "bytes=4-8");
        assert_eq!(way.send(elsewhere).await.unwrap().body, whole.as_bytes()[4..9]);
    }
}

#[tokio::test]
async fn a_secret_bound_to_a_port_goes_to_no_other() {
    let (bound, other) = (ok().await, ok().await);
    let place = format!("api.example:{}", bound.address.port());
    let way = Way::open(&[&bound, &other]).with_secret(&[&place]);
    way.send(header(get(api(&bound, "/")), "Authorization", PLACEHOLDER)).await.unwrap();
    let said = way.refused(header(get(api(&other, "/")), "Authorization", PLACEHOLDER)).await;
    assert!(said.contains("it is bound to other hosts"), "{said}");
}

#[tokio::test]
async fn a_secret_is_put_into_basic_authorization() {
    let peer = ok().await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("api:{PLACEHOLDER}")));
    way.send(header(get(api(&peer, "/")), "Authorization", &basic)).await.unwrap();
    let expected = BASE64_STANDARD.encode(format!("api:{CANARY}"));
    assert!(peer.request().contains(&format!("authorization: Basic {expected}\r\n")), "{}", peer.request());
}

#[tokio::test]
async fn in_json_and_forms_a_value_is_written_so_that_it_stays_one_value() {
    for (content_type, expected) in [
        ("application/json; charset=utf-8", r#"{"key":"a\"b\\c&d"}"#),
        ("application/problem+json", r#"{"key":"a\"b\\c&d"}"#),
        ("application/x-www-form-urlencoded", r#"{"key":"a%22b%5Cc%26d"}"#),
        // As `fetch` sends a text without a type, and as some write the type.
        ("text/plain;charset=UTF-8", r#"{"key":"a\"b\\c&d"}"#),
        ("text/json", r#"{"key":"a\"b\\c&d"}"#),
    ] {
        let peer = ok().await;
        with_odd_value(&peer)
            .send(header(post(api(&peer, "/"), r#"{"key":"PLACE"}"#), "Content-Type", content_type))
            .await
            .unwrap();
        assert!(peer.request().ends_with(expected), "{content_type}: {}", peer.request());
    }
    for (body, expected) in [
        ("{\"key\":\"PLACE\"}\n{\"key\":2}\n", "{\"key\":\"a\\\"b\\\\c&d\"}\n{\"key\":2}\n"),
        (r#"key: "PLACE""#, r#"key: "a"b\c&d""#),
        ("PLACE", r#"a"b\c&d"#),
    ] {
        let peer = ok().await;
        with_odd_value(&peer).send(post(api(&peer, "/"), body)).await.unwrap();
        assert!(peer.request().ends_with(&format!("\r\n\r\n{expected}")), "{body}: {}", peer.request());
    }
}

/// With a secret whose value has marks that end a text of JSON and a field of a form.
fn with_odd_value(peer: &Peer) -> Way {
    let mut way = Way::open(&[peer]);
    way.secrets.insert("PLACE".into(), "K".into(), r#"a"b\c&d"#.into(), ["api.example".to_owned()].into());
    way
}

#[tokio::test]
async fn an_encoded_placeholder_is_refused_since_no_value_can_take_its_place() {
    let peer = ok().await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    let encoded = BASE64_STANDARD.encode(format!("user:{PLACEHOLDER}"));
    for request in [
        header(get(api(&peer, "/")), "X-Basic", &encoded),
        header(get(api(&peer, "/")), "Authorization", &format!("Bearer {encoded}")),
        post(api(&peer, "/"), &format!("{PLACEHOLDER} {encoded}")),
        post(api(&peer, "/"), &hex::encode(PLACEHOLDER)),
        get(api(&peer, &format!("/?q={encoded}"))),
    ] {
        let said = way.refused(request).await;
        assert!(said.contains("The secret API_KEY may not be sent to api.example: the request holds an encoded form"), "{said}");
    }
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_secret_goes_to_no_host_it_is_not_bound_to_wherever_it_stands() {
    let peer = ok().await;
    let way = Way::open(&[&peer]).with_secret(&["api.example", "*.api.example"]);
    let other = peer.named("https", "other.example", "/");
    let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("x:{PLACEHOLDER}")));
    for request in [
        header(get(&other), "X-Key", PLACEHOLDER),
        header(get(&other), "Authorization", &basic),
        post(&other, &format!("a{PLACEHOLDER}b")),
        get(format!("{other}{PLACEHOLDER}")),
        get(format!("{other}?q={PLACEHOLDER}")),
    ] {
        let sentence = way.refused(request).await;
        assert!(
            sentence.contains("The secret API_KEY may not be sent to other.example: it is bound to other hosts"),
            "{sentence}"
        );
    }
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_placeholder_in_the_name_of_a_host_is_not_filled() {
    let peer = ok().await;
    let way = Way::open(&[&peer]).with_secret(&["*"]);
    let lower = PLACEHOLDER.to_lowercase();
    let sentence = way.refused(get(peer.named("https", &format!("{PLACEHOLDER}.example"), "/"))).await;
    assert!(sentence.contains(&format!("There is no host {lower}.example")), "{sentence}");
}

#[tokio::test]
async fn a_secret_is_not_sent_in_the_clear_but_to_an_address_the_operator_allowed() {
    let peer = Peer::http(|_| reply("200 OK", &[], "")).await;
    let url = peer.named("http", "api.example", "/");
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    way.send(header(get(&url), "X-Key", PLACEHOLDER)).await.unwrap();
    assert!(peer.request().contains(CANARY));
    let way = Way { resolver: Arc::new(Table::of(&[("api.example", &["3000::1"])])), ..way };
    let sentence = way.refused(header(get(&url), "X-Key", PLACEHOLDER)).await;
    assert!(sentence.contains("http is not encrypted; use https"), "{sentence}");
}

#[tokio::test]
async fn a_placeholder_of_another_call_is_just_text() {
    let peer = ok().await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    way.send(header(get(api(&peer, "/")), "X-Key", "lv3secretOfAnotherCall")).await.unwrap();
    assert!(peer.request().contains("x-key: lv3secretOfAnotherCall"));
}

#[tokio::test]
async fn a_value_is_not_searched_for_placeholders() {
    let peer = ok().await;
    let mut way = Way::open(&[&peer]).with_secret(&["api.example"]);
    way.secrets.insert("SECOND".into(), "NESTED".into(), PLACEHOLDER.into(), ["api.example".to_owned()].into());
    way.send(header(get(api(&peer, "/")), "X-Key", "SECOND")).await.unwrap();
    assert!(peer.request().contains(&format!("x-key: {PLACEHOLDER}")) && !peer.request().contains(CANARY));
}

#[tokio::test]
async fn a_secret_that_no_header_can_carry_is_named_and_not_shown() {
    let peer = ok().await;
    let mut way = Way::open(&[&peer]);
    way.secrets.insert("PLACE".into(), "TWO_LINES".into(), "8f21\r\nX-Evil: 1".into(), ["api.example".to_owned()].into());
    let sentence = way.refused(header(get(api(&peer, "/")), "X-Key", "PLACE")).await;
    assert!(sentence.contains("The secret TWO_LINES") && sentence.contains("no header can carry"), "{sentence}");
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_secret_with_a_path_in_it_cannot_leave_the_granted_path() {
    let peer = ok().await;
    let granted = json!([{"host": "api.example", "port": peer.address.port(), "path": "/v1/"}]);
    for value in ["../admin", "..", "x/../../admin", "%2e%2e/admin"] {
        let mut way = Way { grants: grants(&granted), ..Way::open(&[&peer]) };
        way.secrets.insert("PLACE".into(), "K".into(), value.into(), ["api.example".to_owned()].into());
        let outcome = way.send(get(api(&peer, "/v1/PLACE/end"))).await;
        assert!(
            outcome.is_err() || peer.requests().iter().all(|seen| seen.starts_with("GET /v1/")),
            "{value}: {:?}",
            peer.requests()
        );
    }
    let mut way = Way { grants: grants(&granted), ..Way::open(&[&peer]) };
    way.secrets.insert("PLACE".into(), "K".into(), "..".into(), ["api.example".to_owned()].into());
    assert!(way.refused(get(api(&peer, "/v1/PLACE/end"))).await.contains("is not granted"));
}

/// Everything of a response as one text.
fn all_of(response: &HttpResponse) -> String {
    format!("{response:?} {}", String::from_utf8_lossy(&response.body))
}

#[tokio::test]
async fn a_secret_echoed_in_the_body_is_hidden_in_every_form() {
    for echo in [
        CANARY.to_owned(),
        serde_json::to_string(&json!({"auth": format!("Bearer {CANARY}")})).unwrap(),
        BASE64_STANDARD.encode(CANARY),
        BASE64_STANDARD.encode(format!("user:{CANARY}")),
        hex::encode(CANARY),
        "canary%2F8f21%2B%C3%BC%3Dtoken".into(),
        "canary%2f8f21%2b%c3%bc%3dtoken".into(),
        "canary/8f21+\\u00fc=token".into(),
        "canary/8f21%2B%C3%BC%3Dtoken".into(),
        "canary/8f21\\u002B\\u00FC=token".into(),
        "canary/8f21&#43;ü&#61;token".into(),
        // As a peer writes it that reads headers as latin-1.
        "canary/8f21+Ã¼=token".into(),
        "canary/8f21+\\u00c3\\u00bc=token".into(),
    ] {
        let said = format!("before {echo} after");
        let peer = Peer::https(move |_| reply("200 OK", &["Content-Type: text/plain"], &said)).await;
        let way = Way::open(&[&peer]).with_secret(&["api.example"]);
        let response = way.send(header(get(api(&peer, "/")), "X-Key", PLACEHOLDER)).await.unwrap();
        assert!(peer.request().contains(CANARY));
        let body = String::from_utf8(response.body.clone()).unwrap();
        assert!(body.starts_with("before ") && body.contains("[secret API_KEY]") && body.ends_with(" after"), "{echo}: {body}");
        assert!(!all_of(&response).contains("8f21") && !all_of(&response).contains(&echo), "{echo}: {response:?}");
    }
}

#[tokio::test]
async fn a_secret_echoed_in_headers_status_and_redirects_is_hidden() {
    let peer = Peer::https(|request| match request.contains(" /end") {
        false => reply("302 Found", &["Location: /end?k=canary%2F8f21%2B%C3%BC%3Dtoken"], ""),
        true => {
            let headers = [&*format!("X-Echo: {CANARY}"), &*format!("X-Base: {}", BASE64_STANDARD.encode(CANARY))];
            reply(&format!("200 {}", hex::encode(CANARY)), &headers, "")
        }
    })
    .await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    let response = way.send(header(get(api(&peer, "/")), "X-Key", PLACEHOLDER)).await.unwrap();
    assert_eq!(peer.connections(), 2);
    let label = Some("[secret API_KEY]");
    for name in ["x-echo", "x-base"] {
        assert_eq!(response.headers.iter().find(|header| header.0 == name).map(|header| &*header.1), label, "{response:?}");
    }
    assert_eq!(response.status_text, "[secret API_KEY]");
    assert_eq!(response.url, api(&peer, "/end?k=[secret API_KEY]"));
    assert!(!all_of(&response).contains("8f21"), "{response:?}");
}

#[tokio::test]
async fn a_secret_that_is_split_over_pieces_of_the_body_is_hidden() {
    let (one, two) = CANARY.split_at(9);
    let pieces: String = [one, two].map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len())).concat();
    let said = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{pieces}0\r\n\r\n");
    let peer = Peer::https(move |_| Answer::Say(said.clone().into_bytes())).await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    let response = way.send(header(get(api(&peer, "/")), "X-Key", PLACEHOLDER)).await.unwrap();
    assert_eq!(response.body, b"[secret API_KEY]");
}

#[tokio::test]
async fn a_secret_that_was_sent_is_hidden_even_when_the_program_has_forgotten_it() {
    let peer = Peer::https(|_| reply("200 OK", &[], CANARY)).await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    // As when it is removed while the request is under way.
    way.scrubber.set(&[]);
    let response = way.send(header(get(api(&peer, "/")), "X-Key", PLACEHOLDER)).await.unwrap();
    assert_eq!(response.body, b"[secret API_KEY]");
}

#[tokio::test]
async fn a_secret_of_others_is_hidden_in_a_response_that_was_asked_for_without_it() {
    let peer = Peer::https(|_| reply("200 OK", &[], CANARY)).await;
    let way = Way::open(&[&peer]).with_secret(&["api.example"]);
    assert_eq!(way.send(get(api(&peer, "/"))).await.unwrap().body, b"[secret API_KEY]");
}
