//! Peers that send too much, too slowly, packed, or nothing; and what an error says of whether the
//! request arrived.

use std::time::Duration;

use super::*;

async fn failing(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> EgressError {
    failing_within(EgressLimits::default().whole, answer).await
}

async fn failing_within(whole: Duration, answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> EgressError {
    let peer = Peer::http(answer).await;
    let mut way = Way::open(&[&peer]);
    (way.limits.whole, way.limits.response_body) = (whole, 1000);
    way.send(post(peer.url("/"), "x")).await.unwrap_err()
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_and_not_beyond() {
    let peer = Peer::http(|_| reply("200 OK", &[], &"x".repeat(1000))).await;
    let mut way = Way::open(&[&peer]);
    way.limits.response_body = 1000;
    assert_eq!(way.send(get(peer.url("/"))).await.unwrap().body.len(), 1000);
    let error = failing(|_| reply("200 OK", &[], &"x".repeat(1001))).await;
    assert!(error.to_string().contains("longer than 1000 bytes") && error.may_have_arrived(), "{error}");
    assert_eq!(error.for_person(), "The response of 127.0.0.1 is longer than 1000 bytes and was not read.");
}

#[tokio::test]
async fn a_body_without_end_is_cut_off_at_the_limit() {
    // The peer holds the connection and names no length: only the limit ends this.
    let mut endless = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    endless.resize(5000, b'x');
    let error = failing(move |_| Answer::Hold(endless.clone())).await;
    assert!(matches!(error.problem(), Problem::ResponseTooLarge { .. }), "{error}");
}

#[tokio::test]
async fn a_head_without_end_is_not_read_to_the_end() {
    let long = format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\n\r\n", "x".repeat(200_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-Many: x\r\n".repeat(101));
    for head in [long, many] {
        let error = failing(move |_| Answer::Say(head.clone().into_bytes())).await;
        assert!(matches!(error.problem(), Problem::Broken { .. }) && error.may_have_arrived(), "{error}");
    }
}

#[tokio::test]
async fn a_peer_that_is_silent_or_stops_in_the_middle_is_given_up() {
    for said in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nxxx"] {
        let error = failing_within(Duration::from_millis(700), move |_| Answer::Hold(said.into())).await;
        assert!(error.to_string().contains("no complete response within 0.7 seconds"), "{said:?}: {error}");
        assert!(error.may_have_arrived(), "{said:?}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_an_error_that_may_have_arrived() {
    for said in ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nxxx", "SSH-2.0-OpenSSH\r\n"] {
        let error = failing(move |_| Answer::Say(said.into())).await;
        assert!(matches!(error.problem(), Problem::Broken { .. }) && error.may_have_arrived(), "{said:?}: {error}");
    }
    let error = failing(|_| Answer::Reset).await;
    assert!(matches!(error.problem(), Problem::Broken { .. }) && error.may_have_arrived(), "{error}");
}

#[tokio::test]
async fn a_packed_body_is_refused_because_it_cannot_be_searched() {
    for header in ["Content-Encoding: gzip", "Content-Encoding: identity, br", "Transfer-Encoding: gzip, chunked"] {
        let error = failing(move |_| Answer::Say(format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n0\r\n\r\n").into_bytes())).await;
        assert!(matches!(error.problem(), Problem::Packed { .. }), "{header}: {error}");
    }
}

#[tokio::test]
async fn nobody_listening_is_an_error_that_cannot_have_arrived() {
    let peer = Peer::http(|_| Answer::Reset).await;
    let way = Way::open(&[&peer]);
    let url = peer.url("/");
    drop(peer);
    assert!(way.refused(get(url)).await.contains("127.0.0.1 cannot be reached"));
}

#[tokio::test]
async fn a_peer_that_cannot_show_who_it_is_gets_nothing() {
    // A certificate for other names; and no TLS at all.
    let peer = Peer::https(|_| reply("200 OK", &[], "")).await;
    let sentence = Way::open(&[&peer]).refused(get(peer.named("https", "127.0.0.1", "/"))).await;
    assert!(sentence.contains("cannot be spoken to over https") && peer.requests().is_empty(), "{sentence}");
    let peer = Peer::http(|_| reply("200 OK", &[], "")).await;
    let mut way = Way::open(&[&peer]);
    // The peer waits for the end of what it takes for a request.
    way.limits.connect = Duration::from_millis(300);
    let sentence = way.refused(get(peer.named("https", "api.example", "/"))).await;
    assert!(sentence.contains("cannot be spoken to over https"), "{sentence}");
}

#[tokio::test]
async fn certificates_of_the_machine_do_not_vouch_for_the_peers_of_these_tests() {
    let peer = Peer::https(|_| reply("200 OK", &[], "")).await;
    let way = Way::open(&[&peer]);
    let egress = Egress::new(way.resolver, way.allowed, way.limits, way.scrubber);
    let request = get(peer.named("https", "api.example", "/"));
    let error = egress.send(&permit(), request, &way.grants, &way.secrets).await.unwrap_err();
    assert!(matches!(error.problem(), Problem::Tls { .. } | Problem::NoRoots) && !error.may_have_arrived(), "{error}");
    assert!(peer.requests().is_empty());
}

#[tokio::test]
async fn the_second_address_is_tried_when_nobody_is_at_the_first() {
    let peer = Peer::http(|_| reply("200 OK", &[], "")).await;
    let port = peer.address.port();
    let mut way = Way::open(&[&peer]);
    way.resolver = Arc::new(Table::of(&[("api.example", &["127.9.9.9", "127.0.0.1"])]));
    way.allowed.insert(SocketAddr::from(([127, 9, 9, 9], port)));
    assert!(way.send(get(peer.named("http", "api.example", "/"))).await.is_ok());
}
