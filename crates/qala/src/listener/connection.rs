//! The bytes of a connection, on their way in and out.
//!
//! Programs such as curl send what they are given: `?select=meta->tags`. RFC 3986 has no raw `>`, `<`, `"` or backtick in a
//! URL, and the HTTP library refuses the request before anything of ours is asked. In the first line of each request these
//! are percent-encoded, as browsers do. What still cannot be read as a connection's first request gets the library's bare
//! 4xx; here it is given the error envelope that every other error has.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    refusal::envelope,
    requests::{Handed, Requests, Verdict},
};

/// The largest room for what is held back that a connection keeps.
const KEPT: usize = 4 << 10;

/// A connection whose request lines are made readable.
pub(super) struct Connection<S> {
    inner: S,
    requests: Requests,
    /// The library's verdict on the heads it was given.
    verdict: Arc<Verdict>,
    /// Bytes that are handed on as they are, before any others.
    ready: Held,
    /// Bytes that came and were not looked at yet.
    held: Held,
    writing: Writing,
}

/// Bytes that wait to be read.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    at: usize,
}

impl Held {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next of them away.
    fn advance(&mut self, count: usize) {
        self.at += count;
        if self.at == self.bytes.len() {
            self.at = 0;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT);
        }
    }
}

enum Writing {
    /// Nothing was written.
    Nothing,
    /// An error of ours in place of the library's, up to where it was written.
    Replaced(Vec<u8>, usize),
    /// Everything is as it comes.
    AsItComes,
}

impl<S> Connection<S> {
    /// Wraps a connection. Each head that the library read from it is said to `verdict` before more is read.
    pub(super) fn new(inner: S, verdict: Arc<Verdict>) -> Self {
        Self {
            inner,
            requests: Requests::new(),
            verdict,
            ready: Held::default(),
            held: Held::default(),
            writing: Writing::Nothing,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.ready.rest().is_empty() {
            if this.held.rest().is_empty() {
                let begin = buf.filled().len();
                ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
                let came = &buf.filled()[begin..];
                if came.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let Handed { count, instead } = this.requests.next(came, &this.verdict);
                this.held.put(&came[count..]);
                let Some(instead) = instead else {
                    buf.set_filled(begin + count);
                    return Poll::Ready(Ok(()));
                };
                buf.set_filled(begin);
                this.ready.put(&instead);
            } else {
                // What is handed on must fit: what was looked at is not looked at again.
                let came = this.held.rest();
                let came = &came[..came.len().min(buf.remaining())];
                if came.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let Handed { count, instead } = this.requests.next(came, &this.verdict);
                match instead {
                    None => buf.put_slice(&came[..count]),
                    Some(instead) => this.ready.put(&instead),
                }
                this.held.advance(count);
            }
        }
        let count = this.ready.rest().len().min(buf.remaining());
        buf.put_slice(&this.ready.rest()[..count]);
        this.ready.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Connection<S> {
    /// Takes the library's own answer to a request that it could not read.
    fn replace(&mut self, first: &[u8]) -> bool {
        if !matches!(self.writing, Writing::Nothing) {
            return matches!(self.writing, Writing::Replaced(..));
        }
        let refused = !self.verdict.is_any() && first.starts_with(b"HTTP/1.1 4");
        self.writing = if refused { Writing::Replaced(envelope(first), 0) } else { Writing::AsItComes };
        refused
    }

    fn poll_replaced(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Writing::Replaced(bytes, at) = &mut self.writing {
            if *at == bytes.len() {
                break;
            }
            let count = ready!(Pin::new(&mut self.inner).poll_write(cx, &bytes[*at..]))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            *at += count;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.replace(buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_replaced(cx))?;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_replaced(cx))?;
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bufs.iter().find(|buf| !buf.is_empty()).map_or(&[][..], |buf| buf);
        if self.replace(first) {
            return Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()));
        }
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests;
