//! The byte stream of a connection, in both directions.
//!
//! Programs such as curl send URLs as they were given: `?select=meta->tags`. RFC 3986 does not allow a raw `>`, `<`,
//! `"` or backtick in a URL, and hyper refuses the request before any of Qala's code runs. This stream percent-encodes
//! these characters in the request line of each request, as browsers do. If a connection's first request cannot be
//! parsed even so, hyper's bare 4xx response is replaced by one with the error envelope of all other errors.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    error_response::error_envelope,
    request_scanner::{Forwarded, HeadReport, RequestScanner},
};

/// Capacity in bytes that the buffers of a connection keep once they are empty.
const MAX_KEPT_CAPACITY: usize = 4 << 10;

/// A connection whose request lines are percent-encoded where hyper would refuse them.
pub(super) struct Connection<S> {
    inner: S,
    scanner: RequestScanner,
    /// Hyper's report of the heads that it parsed.
    head_report: Arc<HeadReport>,
    /// Scanned bytes that are read before any others.
    forwarded: PendingBytes,
    /// Received bytes that were not scanned yet.
    unscanned: PendingBytes,
    response_mode: ResponseMode,
}

/// Bytes that wait to be read.
#[derive(Default)]
struct PendingBytes {
    bytes: Vec<u8>,
    at: usize,
}

impl PendingBytes {
    fn remaining(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Removes the next `count` bytes.
    fn advance(&mut self, count: usize) {
        self.at += count;
        if self.at == self.bytes.len() {
            self.at = 0;
            self.bytes.clear();
            self.bytes.shrink_to(MAX_KEPT_CAPACITY);
        }
    }
}

enum ResponseMode {
    /// Nothing was written yet.
    Undecided,
    /// An error response in place of hyper's, and the number of bytes of it that were written.
    Replaced(Vec<u8>, usize),
    /// Everything is written as it comes.
    Passthrough,
}

impl<S> Connection<S> {
    /// Wraps a connection. Each head that hyper parsed must be reported to `head_report` before hyper reads on.
    pub(super) fn new(inner: S, head_report: Arc<HeadReport>) -> Self {
        Self {
            inner,
            scanner: RequestScanner::new(),
            head_report,
            forwarded: PendingBytes::default(),
            unscanned: PendingBytes::default(),
            response_mode: ResponseMode::Undecided,
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
        if this.forwarded.remaining().is_empty() {
            if this.unscanned.remaining().is_empty() {
                let begin = buf.filled().len();
                ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
                let came = &buf.filled()[begin..];
                if came.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let Forwarded { count, replacement: instead } = this.scanner.scan(came, &this.head_report);
                this.unscanned.extend(&came[count..]);
                let Some(instead) = instead else {
                    buf.set_filled(begin + count);
                    return Poll::Ready(Ok(()));
                };
                buf.set_filled(begin);
                this.forwarded.extend(&instead);
            } else {
                // Scan no more than fits: scanned bytes cannot be scanned again.
                let came = this.unscanned.remaining();
                let came = &came[..came.len().min(buf.remaining())];
                if came.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let Forwarded { count, replacement: instead } = this.scanner.scan(came, &this.head_report);
                match instead {
                    None => buf.put_slice(&came[..count]),
                    Some(instead) => this.forwarded.extend(&instead),
                }
                this.unscanned.advance(count);
            }
        }
        let count = this.forwarded.remaining().len().min(buf.remaining());
        buf.put_slice(&this.forwarded.remaining()[..count]);
        this.forwarded.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Connection<S> {
    /// Replaces hyper's own error response to a first request that it could not parse; returns true if `first` is part
    /// of one.
    fn intercept_error(&mut self, first: &[u8]) -> bool {
        if !matches!(self.response_mode, ResponseMode::Undecided) {
            return matches!(self.response_mode, ResponseMode::Replaced(..));
        }
        let refused = !self.head_report.has_parsed_head() && first.starts_with(b"HTTP/1.1 4");
        self.response_mode = if refused {
            ResponseMode::Replaced(error_envelope(first), 0)
        } else {
            ResponseMode::Passthrough
        };
        refused
    }

    fn poll_write_replacement(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let ResponseMode::Replaced(bytes, at) = &mut self.response_mode {
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
        if self.intercept_error(buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write_replacement(cx))?;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write_replacement(cx))?;
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bufs.iter().find(|buf| !buf.is_empty()).map_or(&[][..], |buf| buf);
        if self.intercept_error(first) {
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
