//! Tests of `cli::client`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Answers every request of a connection, and keeps it open.
async fn answer(line: TcpStream) {
    let (mut line, mut head) = (BufReader::new(line), String::new());
    while line.read_line(&mut head).await.is_ok_and(|read| read > 0) {
        if head.ends_with("\r\n\r\n") {
            line.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull").await.unwrap();
            head.clear();
        }
    }
}

#[tokio::test]
async fn a_request_never_goes_over_a_connection_that_the_server_may_be_closing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let made = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&made);
    let serving = tokio::spawn(async move {
        while let Ok((line, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(answer(line));
        }
    });
    let client = Client::new(url, None).unwrap();
    for asked in 1..=3 {
        let found: Value = client.get(&["campaigns"], &[]).await.unwrap();
        assert_eq!((found, made.load(Ordering::SeqCst)), (Value::Null, asked));
    }
    serving.abort();
}
