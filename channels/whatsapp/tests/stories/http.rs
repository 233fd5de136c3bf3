//! As much HTTP as the stories need: one request for each connection, with a body of a known
//! length.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request.
pub struct Request {
    /// Its method.
    pub method: String,
    /// Its path, with the query.
    pub path: String,
    /// Its body.
    pub body: Vec<u8>,
}

/// Reads a request; nothing if the peer closes before its end.
pub async fn read(socket: &mut TcpStream) -> std::io::Result<Option<Request>> {
    let mut read = Vec::new();
    let end = loop {
        if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if socket.read_buf(&mut read).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&read[..end]).into_owned();
    let header =
        |line: &str| line.to_lowercase().strip_prefix("content-length:").map(|length| length.trim().parse::<usize>().unwrap());
    let length: usize = head.lines().find_map(header).unwrap_or_default();
    while read.len() < end + length {
        if socket.read_buf(&mut read).await? == 0 {
            return Ok(None);
        }
    }
    let mut first = head.split_whitespace().map(str::to_owned);
    let (method, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    Ok(Some(Request { method, path, body: read[end..].to_vec() }))
}

/// Answers it, and closes.
pub async fn answer(socket: &mut TcpStream, status: u16, media_type: &str, body: &[u8]) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(body).await?;
    socket.shutdown().await
}
