use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::WRITE_TIMEOUT;
use super::exchange::Exchange;

/// The bytes of a connection. Writing fails if the client reads nothing for [`WRITE_TIMEOUT`].
pub(super) struct Socket<S> {
    stream: S,
    /// Bytes of the next request that were read already.
    ahead: Bytes,
    /// Ends a write that makes no progress.
    deadline: Option<Pin<Box<Sleep>>>,
    exchange: Arc<Exchange>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    pub(super) fn new(stream: S, exchange: Arc<Exchange>) -> Self {
        Self { stream, ahead: Bytes::new(), deadline: None, exchange }
    }

    /// Takes back bytes that were read and not used.
    pub(super) fn unread(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            // A part of a large buffer would keep all of it.
            self.ahead = [&*bytes, &*self.ahead].concat().into();
        }
    }

    /// Completes when the client closes the connection. While the client has sent more requests, this is not noticed.
    pub(super) fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.ahead.is_empty() {
            return Poll::Pending;
        }
        let mut bytes = [0; 64];
        let mut read = ReadBuf::new(&mut bytes);
        match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut read)) {
            Ok(()) if !read.filled().is_empty() => {
                self.ahead = Bytes::copy_from_slice(read.filled());
                Poll::Pending
            }
            Ok(()) | Err(_) => Poll::Ready(()),
        }
    }

    /// Returns the result of a write, or a failure if the write waits for too long.
    fn timed<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Socket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let count = self.ahead.len().min(buffer.remaining());
        let part = self.ahead.split_to(count);
        buffer.put_slice(&part);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.timed(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.timed(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        // A connection is flushed when everything was written that it has buffered.
        self.exchange.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
