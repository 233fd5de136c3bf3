//! Addresses written in whatever way: none leads to a place that is not public, but for what the
//! operator allowed.

use super::loopbacks::LOOPBACKS;
use super::*;

/// A peer on every address of the machine, so that whatever leads there is counted.
async fn everywhere() -> Peer {
    Peer::at("[::]:0", None, |_| reply("200 OK", &[], "reached")).await
}

#[tokio::test]
async fn every_way_to_write_127_0_0_1_is_refused_and_nothing_is_connected() {
    let peer = everywhere().await;
    let way = Way::granted(&[&peer]);
    for host in LOOPBACKS {
        let url = peer.named("http", host, "/");
        let error = way.send(get(&url)).await.expect_err(host);
        assert!(matches!(error.problem(), Problem::NotPublic { .. }) && !error.may_have_arrived(), "{host}: {error:?}");
    }
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn names_of_this_machine_are_refused_by_what_they_lead_to() {
    let peer = everywhere().await;
    let way = Way { resolver: Arc::new(SystemResolver), ..Way::granted(&[&peer]) };
    for host in ["localhost", "LOCALHOST", "ｌｏｃａｌｈｏｓｔ", "%6cocalhost"] {
        let sentence = way.refused(get(peer.named("http", host, "/"))).await;
        assert!(sentence.contains("this machine"), "{host}: {sentence}");
    }
    // Not every machine knows these names; a machine that does says this.
    let way = Way { resolver: Arc::new(Table::of(&[("localhost.", &["127.0.0.1"]), ("a.localhost", &["::1"])])), ..way };
    for host in ["localhost.", "a.localhost"] {
        let sentence = way.refused(get(peer.named("http", host, "/"))).await;
        assert!(sentence.contains("this machine"), "{host}: {sentence}");
    }
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn the_peer_of_these_tests_can_be_reached_when_it_is_allowed() {
    let peer = everywhere().await;
    let allowed = ["127.0.0.1", "::1"].map(|ip| SocketAddr::new(ip.parse().unwrap(), peer.address.port()));
    let way = Way { allowed: allowed.into(), ..Way::granted(&[&peer]) };
    for host in ["127.0.0.1", "0x7f.1", "[::1]", "api.example"] {
        let response = way.send(get(peer.named("http", host, "/"))).await.expect(host);
        assert_eq!((response.status, &*response.status_text, &*response.body), (200, "OK", &b"reached"[..]), "{host}");
    }
    assert_eq!(peer.connections(), 4);
}

#[tokio::test]
async fn the_operators_allowance_is_that_address_and_port_and_nothing_near_it() {
    let (peer, neighbour) = (everywhere().await, everywhere().await);
    let port = peer.address.port();
    let allowed = [SocketAddr::from(([127, 0, 0, 1], port))];
    let way = Way { allowed: allowed.into(), ..Way::granted(&[&peer, &neighbour]) };
    for url in [
        neighbour.named("http", "127.0.0.1", "/"),
        peer.named("http", "127.0.0.2", "/"),
        peer.named("http", "[::1]", "/"),
        peer.named("http", "[::ffff:127.0.0.1]", "/"),
        peer.named("http", "0.0.0.0", "/"),
    ] {
        assert!(way.refused(get(&url)).await.contains("LEVEL3_EGRESS_ALLOW"), "{url}");
    }
    assert_eq!((peer.connections(), neighbour.connections()), (0, 0));
    assert!(way.send(get(peer.named("http", "127.0.0.1", "/"))).await.is_ok());
}

#[tokio::test]
async fn an_allowed_address_still_has_to_be_granted() {
    let peer = Peer::http(|_| reply("200 OK", &[], "")).await;
    let way = Way { grants: grants(&json!(["api.example"])), ..Way::open(&[&peer]) };
    let sentence = way.refused(get(peer.url("/x"))).await;
    assert!(sentence.contains(&format!("GET {} is not granted", peer.url("/x"))), "{sentence}");
    let grant = format!(r#"{{"http": {{"hosts": ["http://{}"]}}}}"#, peer.address);
    assert!(sentence.contains(&grant), "{sentence}");
    // The grant that the sentence tells the model to ask for is the one that was missing.
    let asked: Grants = serde_json::from_str(&grant).unwrap();
    assert!(Way { grants: asked.http, ..way }.send(get(peer.url("/x"))).await.is_ok());
}
