//! A stream of lines that ends at a line nobody could want to read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Reads as the stream inside, and fails at a line of more bytes than the limit: what sends such a
/// thing is not waited for.
pub(super) struct Bounded<R> {
    inner: R,
    limit: usize,
    line: usize,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R, limit: usize) -> Self {
        Self { inner, limit, line: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let (mut line, limit) = (self.line, self.limit);
        let too_long = buffer.filled()[before..].iter().any(|byte| {
            line = if *byte == b'\n' { 0 } else { line + 1 };
            line > limit
        });
        self.line = line;
        if too_long {
            buffer.set_filled(before);
            return Poll::Ready(Err(io::Error::other("a line is too long")));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests;
