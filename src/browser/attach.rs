//! Attaches to a browser that a person started, on this machine.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::cdp::Connection;
use super::error::{BrowserError, OLDEST};
use crate::config::BrowserAddress;

/// The port and the handshake have this long.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest answer of `/json/version`.
const MAX_VERSION: usize = 64 << 10;

/// A websocket of a browser.
struct Place {
    host: String,
    port: u16,
    path: String,
}

/// Attaches, and gives the product with its version.
pub(super) async fn attach(address: &BrowserAddress) -> Result<(Arc<Connection>, String), BrowserError> {
    let no_browser = |why: String| BrowserError::no_browser(address, &why);
    let connecting = async {
        let Place { host, port, path } = place(address).await?;
        let stream = reach(&host, port).await.map_err(|_| match address {
            BrowserAddress::Profile(folder) => BrowserError::no_port(folder),
            _ => BrowserError::closed(&host, port),
        })?;
        let shown = if host.contains(':') { format!("[{host}]") } else { host };
        Connection::over(stream, &format!("ws://{shown}:{port}{path}")).await.map_err(|error| no_browser(error.to_string()))
    };
    let connection = timeout(PATIENCE, connecting).await.map_err(|_| no_browser("it does not answer in time".to_owned()))??;
    let version = connection.call("", "Browser.getVersion", json!({})).await.map_err(|fault| no_browser(fault.to_string()))?;
    let product = version["product"].as_str().unwrap_or_default().to_owned();
    // A Chromium of another name has Chrome's in its user agent alone. Another browser that speaks
    // some of the protocol has it nowhere, and its versions are no versions of Chrome.
    let is_chrome = ["product", "userAgent"].iter().any(|name| version[name].as_str().is_some_and(|is| is.contains("Chrome/")));
    match major(&product) {
        _ if !is_chrome => Err(no_browser(format!("it is {product:?}"))),
        Some(version) if version >= OLDEST => Ok((connection, product)),
        _ => Err(BrowserError::old(&product)),
    }
}

/// The major version of a product such as `Chrome/156.0.8078.79`.
pub(super) fn major(product: &str) -> Option<u32> {
    product.split_once('/')?.1.split('.').next()?.parse().ok()
}

/// Finds the websocket.
async fn place(address: &BrowserAddress) -> Result<Place, BrowserError> {
    match address {
        BrowserAddress::Socket { host, port, path } => Ok(Place { host: host.clone(), port: *port, path: path.clone() }),
        BrowserAddress::Profile(folder) => {
            let written = tokio::fs::read_to_string(folder.join("DevToolsActivePort")).await.unwrap_or_default();
            let read = active_port(&written).ok_or_else(|| BrowserError::no_port(folder))?;
            Ok(Place { host: "127.0.0.1".to_owned(), port: read.0, path: read.1 })
        }
        BrowserAddress::Port { host, port } => {
            let stream = reach(host, *port).await.map_err(|_| BrowserError::closed(host, *port))?;
            let version = version(stream, host, *port).await;
            let version = version.map_err(|error| BrowserError::no_browser(address, &error.to_string()))?;
            let url = version["webSocketDebuggerUrl"].as_str().unwrap_or_default();
            // The name under which it was reached counts, and not the one that it has for itself.
            let path = url.split_once("://").and_then(|(_, rest)| Some(format!("/{}", rest.split_once('/')?.1)));
            let path = path.ok_or_else(|| BrowserError::no_browser(address, "it names no websocket"))?;
            Ok(Place { host: host.clone(), port: *port, path })
        }
    }
}

/// The port and the path of `DevToolsActivePort`.
pub(super) fn active_port(written: &str) -> Option<(u16, String)> {
    let mut lines = written.lines();
    let port = lines.next()?.trim().parse().ok()?;
    let path = lines.next()?.trim();
    path.starts_with('/').then(|| (port, path.to_owned()))
}

/// Connects to a port of this machine.
async fn reach(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    if stream.peer_addr()?.ip().is_loopback() { Ok(stream) } else { Err(io::ErrorKind::AddrNotAvailable.into()) }
}

/// Asks a port what it is. The server does not close the connection, whatever it is told: the
/// answer is read by its length.
async fn version(mut stream: TcpStream, host: &str, port: u16) -> io::Result<Value> {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let asked = format!("GET /json/version HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).await?;
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    loop {
        let read = stream.read(&mut buffer).await?;
        answer.extend_from_slice(&buffer[..read]);
        if let Some(body) = body(&answer) {
            return serde_json::from_slice(body).map_err(|_| wrong("it does not answer /json/version"));
        }
        if read == 0 || answer.len() > MAX_VERSION {
            return Err(wrong("it does not answer /json/version"));
        }
    }
}

/// The body of an answer, once it is whole.
pub(super) fn body(answer: &[u8]) -> Option<&[u8]> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok())?;
    answer[end + 4..].get(..length)
}
