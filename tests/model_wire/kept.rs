//! Connections to a model server that are kept open between answers.

use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::server::{chunked, finish, piece, read_request};
use crate::{ask, client, limits, request};

/// The last chunk of a body, which tells that it has ended.
const END: &[u8] = b"0\r\n\r\n";

/// A server that keeps its connections. Each of its bodies ends only once it is told to, after the
/// last word.
struct Keeping {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    end: Arc<Notify>,
}

impl Keeping {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, connections, end) = (listener.local_addr().unwrap(), Arc::default(), Arc::new(Notify::new()));
        let kept = Self { address, connections: Arc::clone(&connections), end: Arc::clone(&end) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, Arc::clone(&end)));
            }
        });
        kept
    }
}

async fn answer(mut stream: TcpStream, end: Arc<Notify>) {
    stream.set_nodelay(true).unwrap();
    while read_request(&mut stream).await.is_some() {
        let body = chunked([piece("yes").as_bytes(), finish().as_bytes(), b"data: [DONE]\n\n"]);
        let body = String::from_utf8(body).unwrap().replace("connection: close\r\n", "");
        stream.write_all(body.as_bytes().strip_suffix(END).unwrap()).await.unwrap();
        end.notified().await;
        // A client that has gone away does not hear it.
        let _ = stream.write_all(END).await;
    }
}

#[tokio::test]
async fn three_answers_come_over_one_connection_although_their_ends_come_after_the_last_word() {
    let server = Keeping::start().await;
    let client = client(&format!("http://{}/v1", server.address), limits());
    for _ in 0..3 {
        let (answer, heard) = ask(&client, request()).await;
        assert_eq!((answer.unwrap().content.as_str(), heard.as_str()), ("yes", "yes"));
        server.end.notify_one();
        // One thread runs all of this: each turn of it looks at the sockets.
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

/// The client's end of a connection to this address. This process has it open, so it is the socket
/// itself that a test looks at, and no setting of the client.
fn client_end(address: SocketAddr) -> Option<std::net::TcpStream> {
    std::fs::read_dir("/proc/self/fd").unwrap().find_map(|file| {
        let number = file.ok()?.file_name().to_str()?.parse().ok()?;
        // SAFETY: the number is only copied, which fails if it is of no open file any more.
        let copied = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned().ok()?;
        let socket = std::net::TcpStream::from(copied);
        (socket.peer_addr().ok()? == address).then_some(socket)
    })
}

#[tokio::test]
async fn a_request_does_not_wait_until_the_peer_has_acknowledged_the_one_before() {
    let server = Keeping::start().await;
    let client = client(&format!("http://{}/v1", server.address), limits());
    ask(&client, request()).await.0.unwrap();
    let socket = client_end(server.address).expect("the client has a connection");
    assert!(socket.nodelay().unwrap(), "TCP_NODELAY is not set");
}
