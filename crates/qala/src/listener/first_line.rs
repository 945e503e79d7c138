//! The first bytes of a connection, on their way in and out.
//!
//! Programs such as curl send what they are given: `?select=meta->tags`. RFC 3986 has no raw `>`, `<`, `"` or backtick in a
//! URL, and the HTTP library refuses the request before anything of ours is asked. In the first line of a connection these are
//! percent-encoded, as browsers do. What still cannot be read gets the library's bare 4xx; here it is given the error
//! envelope that every other error has.
//!
//! Later requests of the same connection are left alone: where they begin only the library knows.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use kernel::{Clock as _, Id, SystemClock, SystemRandomness, id::RequestId};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much of a first line is looked at. A longer one is left as it is.
const MAX_LINE: usize = 16 << 10;

/// A connection whose first request line is made readable.
pub(super) struct FirstLine<S> {
    inner: S,
    reading: Reading,
    /// Whether a request was read, so that what is written is ours.
    served: Arc<AtomicBool>,
    writing: Writing,
}

enum Reading {
    /// The line has not ended.
    Line(Vec<u8>),
    /// What was read with the line, up to where it was given on.
    Given(Vec<u8>, usize),
    /// Everything is as it comes.
    AsItComes,
}

enum Writing {
    /// Nothing was written.
    Nothing,
    /// An error of ours in place of the library's, up to where it was written.
    Replaced(Vec<u8>, usize),
    /// Everything is as it comes.
    AsItComes,
}

impl<S> FirstLine<S> {
    /// Wraps a connection; `served` is set once a request was read from it.
    pub(super) fn new(inner: S, served: Arc<AtomicBool>) -> Self {
        Self { inner, reading: Reading::Line(Vec::new()), served, writing: Writing::Nothing }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FirstLine<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            match &mut this.reading {
                Reading::AsItComes => return Pin::new(&mut this.inner).poll_read(cx, buf),
                Reading::Given(bytes, at) => {
                    let count = buf.remaining().min(bytes.len() - *at);
                    buf.put_slice(&bytes[*at..*at + count]);
                    *at += count;
                    if *at == bytes.len() {
                        this.reading = Reading::AsItComes;
                    }
                    return Poll::Ready(Ok(()));
                }
                Reading::Line(line) => {
                    let mut chunk = [0; 4096];
                    let mut read = ReadBuf::new(&mut chunk);
                    ready!(Pin::new(&mut this.inner).poll_read(cx, &mut read))?;
                    line.extend_from_slice(read.filled());
                    let ended =
                        read.filled().is_empty() || read.filled().contains(&b'\n') || line.len() >= MAX_LINE;
                    if ended {
                        let bytes = readable(std::mem::take(line));
                        this.reading =
                            if bytes.is_empty() { Reading::AsItComes } else { Reading::Given(bytes, 0) };
                        if let Reading::AsItComes = this.reading {
                            return Poll::Ready(Ok(()));
                        }
                    }
                }
            }
        }
    }
}

/// The bytes with the first line's target percent-encoded where a URL has no such character.
fn readable(bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    if !bytes[..end].iter().any(|byte| is_raw(*byte)) {
        return bytes;
    }
    let mut out = Vec::with_capacity(bytes.len() + 64);
    for byte in &bytes[..end] {
        if is_raw(*byte) {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            out.push(*byte);
        }
    }
    out.extend_from_slice(&bytes[end..]);
    out
}

/// Characters that RFC 3986 has nowhere in a URL, and that neither method nor version hold.
fn is_raw(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'"' | b'`')
}

impl<S: AsyncWrite + Unpin> FirstLine<S> {
    /// Takes the library's own answer to a request that it could not read.
    fn replace(&mut self, first: &[u8]) -> bool {
        if !matches!(self.writing, Writing::Nothing) {
            return matches!(self.writing, Writing::Replaced(..));
        }
        let refused = !self.served.load(Ordering::Acquire) && first.starts_with(b"HTTP/1.1 4");
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

impl<S: AsyncWrite + Unpin> AsyncWrite for FirstLine<S> {
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

/// The library's status line with the body that every error has.
fn envelope(answer: &[u8]) -> Vec<u8> {
    let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let (code, message) = if line.contains(" 431 ") {
        ("headers_too_large", "The request's head has more than 100 headers or 64 KiB.")
    } else if line.contains(" 414 ") {
        ("uri_too_long", "The request's address is too long.")
    } else {
        ("invalid_request", "The request cannot be read as HTTP/1.1.")
    };
    let hint = "Percent-encode what a URL cannot hold, and send each header on a line of its own.";
    let id: RequestId = Id::generate(&SystemRandomness, SystemClock.now());
    let error = serde_json::json!({"code": code, "message": message, "hint": hint, "requestId": id});
    let body = serde_json::json!({ "error": error, "requestId": id }).to_string();
    let head =
        format!("content-type: application/json\r\nx-request-id: {id}\r\ncontent-length: {}", body.len());
    format!("{line}\r\n{head}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    async fn through(pieces: &[&str]) -> String {
        let (mut theirs, ours) = duplex(64 << 10);
        for piece in pieces {
            theirs.write_all(piece.as_bytes()).await.unwrap();
        }
        theirs.shutdown().await.unwrap();
        let mut read = String::new();
        FirstLine::new(ours, Arc::default()).read_to_string(&mut read).await.unwrap();
        read
    }

    #[tokio::test]
    async fn the_first_line_is_made_readable_and_nothing_else() {
        let sent = [
            "GET /rest/p?select=meta->ta",
            "gs&x=eq.\"a\" HTTP/1.1\r\nX: <a>\r\n\r\nGET /second?a>b HTTP/1.1\r\n",
        ];
        let read = "GET /rest/p?select=meta-%3Etags&x=eq.%22a%22 HTTP/1.1\r\nX: <a>\r\n\r\nGET /second?a>b HTTP/1.1\r\n";
        assert_eq!(through(&sent).await, read);
        for untouched in ["", "GET", "GET /a%3Eb HTTP/1.1\r\n\r\n", "\n<>", &"<".repeat(MAX_LINE + 10)] {
            assert_eq!(through(&[untouched]).await, untouched);
        }
    }

    #[tokio::test]
    async fn a_bare_refusal_gets_the_envelope_and_answers_of_ours_do_not() {
        let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n";
        for (served, first) in [(false, bare), (true, bare), (false, "HTTP/1.1 100 Continue\r\n\r\n")] {
            let (mut theirs, ours) = duplex(64 << 10);
            let mut ours = FirstLine::new(ours, Arc::new(AtomicBool::new(served)));
            ours.write_all(first.as_bytes()).await.unwrap();
            ours.shutdown().await.unwrap();
            let mut read = String::new();
            theirs.read_to_string(&mut read).await.unwrap();
            let replaced = !served && first == bare;
            assert_eq!(read.contains(r#""code":"headers_too_large""#), replaced, "{read}");
            assert_eq!(read == first, !replaced);
        }
    }
}
