//! Bytes written by hand, which no client would send.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::in_time;

/// A connection that has sent this text.
pub async fn begin(address: SocketAddr, said: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(said.as_bytes()).await.unwrap();
    stream
}

/// Everything that comes until the end of the connection.
pub async fn rest(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    in_time("the end of the connection", stream.read_to_end(&mut all)).await.unwrap();
    String::from_utf8_lossy(&all).into_owned()
}

/// Status and whole answer of a request. The head is sent as it is written; `Connection: close` is
/// added.
pub async fn say(address: SocketAddr, line: &str, headers: &[&str]) -> (u16, String) {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let told = rest(&mut begin(address, &format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")).await).await;
    let status = told.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no answer to {line}: {told}")), told.to_ascii_lowercase())
}

/// A socket of `/chat`, behind its handshake.
pub async fn socket(address: SocketAddr) -> TcpStream {
    let head = format!(
        "GET /chat HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut stream = begin(address, &head).await;
    let mut told = Vec::new();
    while !told.ends_with(b"\r\n\r\n") {
        told.push(stream.read_u8().await.unwrap());
    }
    assert!(told.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&told));
    stream
}

/// A client's frame: the first byte as it is given, and a mask of zeros.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() < 126);
    [&[first, 0x80 | payload.len() as u8, 0, 0, 0, 0][..], payload].concat()
}

/// The code with which the server closes: 1005 for a close without one, `None` if the connection
/// just ends.
pub async fn closed(stream: &mut TcpStream) -> Option<u16> {
    let reading = async {
        loop {
            let first = stream.read_u8().await.ok()?;
            let length = match stream.read_u8().await.ok()? {
                126 => usize::from(stream.read_u16().await.ok()?),
                127 => stream.read_u64().await.ok()? as usize,
                length => usize::from(length),
            };
            let mut payload = vec![0; length];
            stream.read_exact(&mut payload).await.ok()?;
            if first == 0x88 {
                return Some(payload.first_chunk().map_or(1005, |code| u16::from_be_bytes(*code)));
            }
        }
    };
    in_time("the server's close", reading).await
}
