//! The HTTP interface, one request a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// The owner's token: with other people in the database nobody comes in without one.
pub const TOKEN: &str = "the-token-of-the-benchmark-and-of-no-other-server";

/// The status and the JSON of an answer.
pub fn ask(address: SocketAddr, request: &str, body: Option<&Value>) -> (u16, Value) {
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(1800))).expect("a socket");
    let head = format!("{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n");
    let head = format!("{head}authorization: Bearer {TOKEN}\r\n");
    let whole = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(whole.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}
