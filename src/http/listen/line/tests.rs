//! Tests of `http::listen::line`.

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::*;

#[tokio::test]
async fn small_frames_wait_for_no_acknowledgement() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
    let mut line = ClientStream::new(stream, permit, Duration::from_secs(30));
    assert!(line.stream().nodelay().unwrap());
}
