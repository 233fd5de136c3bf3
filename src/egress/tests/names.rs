//! Names under foreign control, told by a name server of our own. The "good" peer is on 127.0.0.2,
//! which the operator allows; what must not be reached is on 127.0.0.1, on the same port.

use tokio::net::TcpListener;

use super::name_server::{AsksAnew, NameServer};
use super::*;

/// A public address that was given to nobody, so that no packet reaches anyone.
const NOWHERE: &str = "3000::1";

/// The victim, and an address on the same port for the good peer.
async fn neighbours() -> (TcpListener, Peer) {
    loop {
        let victim = Peer::http(|_| reply("200 OK", &[], "victim")).await;
        // Another test may have that port there.
        if let Ok(good) = TcpListener::bind(("127.0.0.2", victim.address.port())).await {
            return (good, victim);
        }
    }
}

/// The good peer, and the victim on the same port.
async fn pair() -> (Peer, Peer) {
    let (good, victim) = neighbours().await;
    (Peer::on(good, None, |_| reply("200 OK", &[], "good")), victim)
}

fn asking(server: &NameServer, good: &Peer) -> Way {
    Way { resolver: Arc::new(AsksAnew(server.address)), ..Way::open(&[good]) }
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_checked_address_is_the_one_connected_to() {
    let (good, victim) = pair().await;
    let server = NameServer::answering(&[&["127.0.0.2"], &["127.0.0.1"]]).await;
    let way = asking(&server, &good);
    let url = good.named("http", "rebinding.example", "/");
    assert_eq!(way.send(get(&url)).await.unwrap().body, b"good");
    assert_eq!((server.questions(), good.connections(), victim.connections()), (1, 1, 0));
    // The next request asks anew, and the name now leads to the victim.
    assert!(way.refused(get(&url)).await.contains("rebinding.example is at 127.0.0.1"));
    assert_eq!((server.questions(), good.connections(), victim.connections()), (2, 1, 0));
}

#[tokio::test]
async fn a_name_that_is_public_when_checked_and_private_afterwards_does_not_reach_the_private_address() {
    let (good, victim) = pair().await;
    let server = NameServer::answering(&[&[NOWHERE], &["127.0.0.1"]]).await;
    let mut way = asking(&server, &good);
    way.limits.connect = std::time::Duration::from_millis(500);
    let sentence = way.refused(get(good.named("http", "rebinding.example", "/"))).await;
    assert!(sentence.contains("rebinding.example cannot be reached"), "{sentence}");
    assert_eq!((server.questions(), victim.connections()), (1, 0));
}

#[tokio::test]
async fn a_name_with_a_public_and_a_private_address_is_refused_whole() {
    for mixed in [[NOWHERE, "127.0.0.1"], ["127.0.0.1", NOWHERE], ["127.0.0.2", "127.0.0.1"], ["127.0.0.2", "::1"]] {
        let (good, victim) = pair().await;
        let server = NameServer::answering(&[&mixed]).await;
        let sentence = asking(&server, &good).refused(get(good.named("http", "mixed.example", "/"))).await;
        assert!(sentence.contains("public addresses only"), "{mixed:?}: {sentence}");
        assert_eq!((good.connections(), victim.connections()), (0, 0), "{mixed:?}");
    }
}

#[tokio::test]
async fn a_redirect_to_the_same_name_is_looked_up_and_checked_anew() {
    let (listener, victim) = neighbours().await;
    let location = format!("Location: {}", victim.named("http", "rebinding.example", "/again"));
    let good = Peer::on(listener, None, move |_| reply("302 Found", &[&location], ""));
    let server = NameServer::answering(&[&["127.0.0.2"], &["127.0.0.1"]]).await;
    let error = asking(&server, &good).send(get(good.named("http", "rebinding.example", "/"))).await.unwrap_err();
    assert!(spoken(&error).contains("rebinding.example is at 127.0.0.1") && error.may_have_arrived());
    assert_eq!((server.questions(), good.connections(), victim.connections()), (2, 1, 0));
}

#[tokio::test]
async fn a_name_without_addresses_is_said_to_be_none() {
    let (good, _victim) = pair().await;
    let server = NameServer::answering(&[&[]]).await;
    let sentence = asking(&server, &good).refused(get(good.named("http", "nothing.example", "/"))).await;
    assert!(sentence.contains("There is no host nothing.example"), "{sentence}");
}

#[tokio::test]
async fn a_name_server_that_is_silent_is_waited_for_no_longer_than_the_limit() {
    struct Silent;
    impl Resolve for Silent {
        fn resolve(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
            Box::pin(std::future::pending())
        }
    }
    let (good, _victim) = pair().await;
    let mut way = Way { resolver: Arc::new(Silent), ..Way::open(&[&good]) };
    way.limits.connect = std::time::Duration::from_millis(50);
    let sentence = way.refused(get(good.named("http", "silent.example", "/"))).await;
    assert!(sentence.contains("silent.example could not be looked up"), "{sentence}");
}
