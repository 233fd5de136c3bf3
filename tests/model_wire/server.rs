//! A server that plays prepared bytes over real TCP, one reply per request, and remembers what it
//! was asked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::in_time;

/// The acts on a connection, in order. At the end it is closed.
#[derive(Clone)]
pub enum Do {
    Send(Vec<u8>),
    /// Each byte in a packet of its own.
    Trickle(Vec<u8>),
    /// Each byte after a pause.
    Drip(Vec<u8>, Duration),
    /// Nothing more, until the client goes away.
    Hang,
    /// Comments, until the client goes away.
    Comments,
    /// The same again and again, without a pause, until the client goes away.
    Flood(Vec<u8>),
    /// The connection is reset.
    Reset,
}

pub type Reply = Vec<Do>;
pub type Beside = Arc<Mutex<HashMap<&'static str, (String, usize)>>>;

pub struct Server {
    pub address: SocketAddr,
    pub asked: Arc<Mutex<Vec<String>>>,
    /// The answers at paths beside the OpenAI interface, with the number of times each was asked;
    /// 503 for an empty one, and 404 for all others.
    pub beside: Beside,
    /// Gets a permit each time a client goes away during [`Do::Hang`].
    left: Arc<Semaphore>,
    task: JoinHandle<()>,
}

impl Server {
    /// Plays the replies in order; the last one again and again.
    pub async fn playing(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let left = Arc::new(Semaphore::new(0));
        let beside = Beside::default();
        let stage = Arc::new(Stage {
            replies,
            number: AtomicUsize::new(0),
            asked: Arc::clone(&asked),
            beside: Arc::clone(&beside),
            left: Arc::clone(&left),
        });
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(play(stream, Arc::clone(&stage)));
            }
        });
        Self { address, asked, beside, left, task }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Completes when a client has gone away during [`Do::Hang`].
    pub async fn closed_by_client(&self) {
        in_time("the client goes away", self.left.acquire()).await.unwrap().forget();
    }

    /// Answers `path` with `body` from now on.
    pub fn says_beside(&self, path: &'static str, body: impl ToString) {
        self.beside.lock().unwrap().insert(path, (body.to_string(), 0));
    }

    pub fn requests(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The script that a server plays from.
struct Stage {
    replies: Vec<Reply>,
    number: AtomicUsize,
    asked: Arc<Mutex<Vec<String>>>,
    beside: Beside,
    left: Arc<Semaphore>,
}

async fn play(mut stream: TcpStream, stage: Arc<Stage>) {
    stream.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut stream).await else { return };
    let path = request.split(' ').nth(1).unwrap_or_default();
    if !path.starts_with("/v1/") {
        let known = stage.beside.lock().unwrap().get_mut(path).map(|(body, asked)| {
            *asked += 1;
            body.clone()
        });
        let reply = match known {
            None => response("404 Not Found", "", "{}"),
            Some(empty) if empty.is_empty() => response("503 Service Unavailable", "", "{}"),
            Some(body) => response("200 OK", "", body),
        };
        let _ = stream.write_all(&reply).await;
        return;
    }
    stage.asked.lock().unwrap().push(request);
    let number = stage.number.fetch_add(1, Ordering::SeqCst);
    let (reply, left) = (stage.replies[number.min(stage.replies.len() - 1)].clone(), &stage.left);
    for step in reply {
        let sent = match step {
            Do::Send(bytes) => stream.write_all(&bytes).await,
            Do::Trickle(bytes) => trickle(&mut stream, &bytes).await,
            Do::Drip(bytes, pause) => drip(&mut stream, &bytes, pause).await,
            Do::Hang => {
                let read = stream.read(&mut [0]).await;
                left.add_permits(1);
                read.map(|_| ())
            }
            Do::Comments => comments(&mut stream).await,
            Do::Flood(bytes) => loop {
                if let Err(gone) = stream.write_all(&bytes).await {
                    break Err(gone);
                }
            },
            Do::Reset => stream.set_zero_linger(),
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn trickle(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "how slowly it sends is what is tried")]
async fn drip(stream: &mut TcpStream, bytes: &[u8], pause: Duration) -> std::io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte]).await?;
        tokio::time::sleep(pause).await;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "how slowly it sends is what is tried")]
async fn comments(stream: &mut TcpStream) -> std::io::Result<()> {
    loop {
        stream.write_all(b": still here\n\n").await?;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The next request of a connection; `None` if the client has gone away.
pub async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut buffer = [0; 65536];
        let read = stream.read(&mut buffer).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .to_lowercase()
                .split_once("content-length: ")
                .map_or(0, |(_, rest)| rest.split("\r\n").next().unwrap().parse().unwrap());
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
    }
}

/// A response with any status, headers and body; the end of the connection is the end of the body.
pub fn response(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n").into_bytes();
    bytes.extend_from_slice(body.as_ref());
    bytes
}

/// A stream of events.
pub fn events(body: impl AsRef<[u8]>) -> Vec<u8> {
    response("200 OK", "content-type: text/event-stream\r\n", body)
}

/// A stream of events, in chunks of these bytes.
pub fn chunked<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()).chain([[].as_slice()]) {
        bytes.extend(format!("{:x}\r\n", piece.len()).into_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// A chunk with this text.
pub fn piece(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{}}}}}]}}\n\n", serde_json::Value::from(text))
}

/// The chunk that ends an answer.
pub fn finish() -> String {
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n".into()
}

/// A whole good answer.
pub fn good(text: &str) -> Reply {
    vec![Do::Send(events(piece(text) + &finish() + "data: [DONE]\n\n"))]
}
