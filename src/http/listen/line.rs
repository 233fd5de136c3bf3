//! One connection's bytes. A line counts as open until it is gone, ends if its peer does not read,
//! and ends so that its last words arrive.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

/// How long the server reads on from a peer that still sends after the server's last word.
const LINGER: Duration = Duration::from_secs(2);

/// A connection, with its place among those that may be open.
pub(super) struct ClientStream {
    /// `None` once it is dropped.
    open: Option<(TcpStream, OwnedSemaphorePermit)>,
    patience: Duration,
    /// The end of the peer's time, since it does not read.
    stuck: Option<Pin<Box<Sleep>>>,
    /// The peer has said its last word.
    ended: bool,
}

impl ClientStream {
    /// `patience` is how long the peer may go without reading.
    pub(super) fn new(stream: TcpStream, permit: OwnedSemaphorePermit, patience: Duration) -> Self {
        // Without this, small frames wait for the peer's delayed acknowledgement, 40 ms of it.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
        Self { open: Some((stream, permit)), patience, stuck: None, ended: false }
    }

    fn stream(&mut self) -> Pin<&mut TcpStream> {
        let (stream, _) = self.open.as_mut().expect("it is taken when it is dropped");
        Pin::new(stream)
    }

    /// Lets a write wait, but not for ever.
    #[expect(clippy::disallowed_methods, reason = "it guards against what hangs, in real time")]
    fn patiently<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let patience = self.patience;
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stuck.as_mut().poll(cx));
        self.ended = true;
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(self.stream().poll_read(cx, buffer));
        self.ended |= read.is_err() || (buffer.filled().len() == before && buffer.remaining() > 0);
        Poll::Ready(read)
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.stream().poll_write(cx, bytes);
        self.patiently(cx, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let written = self.stream().poll_write_vectored(cx, bytes);
        self.patiently(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(cx)
    }
}

impl Drop for ClientStream {
    fn drop(&mut self) {
        let Some((stream, permit)) = self.open.take().filter(|_| !self.ended) else { return };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(linger(stream, permit));
        }
    }
}

/// If a connection with unread bytes is closed, the kernel resets it, and the peer may never see
/// the last words: a refusal, or the code with which its socket was closed. So the server ends its
/// own side first, and reads on for a while.
async fn linger(mut stream: TcpStream, _permit: OwnedSemaphorePermit) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let mut unread = vec![0; 16 << 10];
    let all = async { while stream.read(&mut unread).await.is_ok_and(|count| count > 0) {} };
    // A peer that goes on sending has been told.
    let _ = tokio::time::timeout(LINGER, all).await;
}

#[cfg(test)]
mod tests;
