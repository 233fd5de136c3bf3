//! Real sockets, with short limits. The tests wait for the end of a connection, so none depends on
//! how fast the machine is.

use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::http::listen::in_time;

const NEVER: Duration = Duration::from_secs(600);
/// Guards against a test that hangs.
const PATIENCE: Duration = Duration::from_secs(30);

fn limits() -> ConnectionLimits {
    ConnectionLimits { head: NEVER, body: NEVER, write: NEVER, reserve_head: NEVER, ..ConnectionLimits::within(1024) }
}

/// A server with these limits; `serving` ends when it has ended.
async fn server(limits: ConnectionLimits) -> (SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
    let router = Router::new()
        .route("/", get(async || "here"))
        .route("/healthz", get(async || "ok"))
        .route("/large", get(async || vec![b'x'; 32 << 20]))
        .route("/take", post(async |body: String| body.len().to_string()))
        .layer(axum::middleware::from_fn_with_state(limits.body, in_time));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, shutdown) = (listener.local_addr().unwrap(), CancellationToken::new());
    let serving = tokio::spawn(serve(listener, router, limits, shutdown.clone()));
    (address, shutdown, serving)
}

async fn begin(address: SocketAddr, said: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(said.as_bytes()).await.unwrap();
    stream
}

/// Everything that comes until the end of the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all)).await.expect("the connection ends").unwrap();
    String::from_utf8(all).unwrap()
}

async fn ask(address: SocketAddr, path: &str) -> String {
    rest(&mut begin(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await).await
}

#[tokio::test]
async fn who_says_nothing_or_half_a_head_is_let_go() {
    let (address, ..) = server(ConnectionLimits { head: Duration::from_millis(200), ..limits() }).await;
    for said in ["", "GET / HTTP/1.1\r\nHost", "GET / HTTP/1.1\r\nHost: x\r\n"] {
        assert_eq!(rest(&mut begin(address, said).await).await, "", "{said}");
    }
    // The limit holds between two requests, too.
    let said = rest(&mut begin(address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await).await;
    assert!(said.starts_with("HTTP/1.1 200") && said.ends_with("here"), "{said}");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_answered_with_408() {
    let (address, ..) = server(ConnectionLimits { body: Duration::from_millis(200), ..limits() }).await;
    let head = "POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n";
    for said in [head.to_owned(), format!("{head}half")] {
        let told = rest(&mut begin(address, &said).await).await;
        assert!(told.starts_with("HTTP/1.1 408") && told.contains("connection: close"), "{told}");
    }
    let mut whole = begin(address, &format!("{}0123456789", head.replace("Host", "Connection: close\r\nHost"))).await;
    assert!(rest(&mut whole).await.ends_with("10"));
}

#[tokio::test]
async fn who_does_not_read_is_let_go() {
    let (address, shutdown, serving) = server(ConnectionLimits { write: Duration::from_millis(200), ..limits() }).await;
    let stream = begin(address, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n").await;
    stream.readable().await.unwrap();
    // The server ends although nobody read the answer: the connection is gone.
    shutdown.cancel();
    tokio::time::timeout(PATIENCE, serving).await.expect("it ends").unwrap();
    drop(stream);
}

#[tokio::test]
async fn beyond_the_room_the_health_is_still_told_and_afterwards_there_is_room_again() {
    let (address, ..) =
        server(ConnectionLimits { connections: 3, reserve: 2, reserve_head: Duration::from_millis(200), ..limits() }).await;
    let mut holding = Vec::new();
    for _ in 0..3 {
        let mut stream = begin(address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        // The server took the connection.
        stream.read_u8().await.unwrap();
        holding.push(stream);
    }
    // Clients in the reserve have to give it up soon.
    let _held = [begin(address, "GET").await, begin(address, "").await, begin(address, "").await];
    assert!(ask(address, "/healthz").await.ends_with("ok"));
    let refused = ask(address, "/").await;
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1"), "{refused}");
    drop(holding);
    // Their places are free once the server saw their ends.
    let again = async {
        while !ask(address, "/").await.ends_with("here") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("there is room again");
}

#[tokio::test]
async fn a_refusal_arrives_although_the_peer_still_sends() {
    let (address, ..) = server(limits()).await;
    let mut stream = begin(address, "POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n\r\n").await;
    // More than the buffers hold: the peer has to read it.
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        stream.write_all(&piece).await.unwrap();
    }
    let mut told = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut told)).await.expect("an answer").unwrap();
    assert_eq!(&told, b"HTTP/1.1 404");
}

#[tokio::test]
async fn a_shutdown_lets_a_request_under_way_end() {
    let (address, shutdown, serving) = server(limits()).await;
    let mut idle = begin(address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    idle.read_u8().await.unwrap();
    let mut busy = begin(address, "POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nha").await;
    // By then the handler waits for the rest.
    assert!(ask(address, "/").await.ends_with("here"));
    shutdown.cancel();
    assert!(rest(&mut idle).await.ends_with("here"));
    busy.write_all(b"lf").await.unwrap();
    assert!(rest(&mut busy).await.ends_with('4'));
    tokio::time::timeout(PATIENCE, serving).await.expect("it ends").unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}
