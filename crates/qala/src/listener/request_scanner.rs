//! The beginnings of requests in the bytes of a connection, so that raw characters of their addresses can be percent-encoded.
//!
//! What reads another beginning of a request than the HTTP library does would let one request hide in another. So nothing
//! is decided here that the library has decided: a head is handed to it alone, and what follows is held back until it said
//! what it read ([`HeadReport`]). It says how long a body is. Where a chunked body ends is found by [`ChunkedState`], which follow
//! only what cannot be read in two ways. At anything else, and whenever the library does not do as expected, the rest of the
//! connection is left as it comes.
//! See `docs/decisions/0141-rewrite-request-lines-in-the-listener.md`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::chunked_body::{ChunkedProgress, ChunkedState};

/// The library's verdict on a head that it has read.
#[derive(Debug, Default)]
pub(super) struct HeadReport {
    /// True once it said something.
    has_parsed_head: AtomicBool,
    /// Nothing, [`CHUNKED`], or [`LENGTH`] and the length of the body.
    body_framing: AtomicU64,
}

const NO_REPORT: u64 = 0;
const CHUNKED: u64 = 1;
const LENGTH: u64 = 2;

impl HeadReport {
    /// Says that a head was read whose body has this length; one without is chunked.
    pub(super) fn report(&self, length: Option<u64>) {
        self.has_parsed_head.store(true, Ordering::Release);
        let body = length.map_or(CHUNKED, |length| length.saturating_add(LENGTH));
        self.body_framing.store(body, Ordering::Release);
    }

    /// Returns true once a head was read.
    pub(super) fn has_parsed_head(&self) -> bool {
        self.has_parsed_head.load(Ordering::Acquire)
    }

    /// Takes what was said since it was taken last: the place where the library is.
    fn take_position(&self) -> Option<Position> {
        match self.body_framing.swap(NO_REPORT, Ordering::AcqRel) {
            NO_REPORT => None,
            CHUNKED => Some(Position::Chunked(ChunkedState::START)),
            LENGTH => Some(Position::Start),
            length => Some(Position::Body(length - LENGTH)),
        }
    }
}

/// The place of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Before a request: at its first byte, or at empty lines that go before.
    Start,
    /// In a request's method.
    Method,
    /// Behind it, in the request line.
    Target,
    /// In the fields.
    Fields(LineState),
    /// Behind a head that the library has not spoken of.
    HeadForwarded,
    /// So many bytes before the end of a body.
    Body(u64),
    /// In a chunked body.
    Chunked(ChunkedState),
    /// Somewhere; it is not followed any more.
    Untracked,
}

/// The bytes before this one, in the fields of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    Middle,
    /// A line feed.
    LineStart,
    /// A line feed and a carriage return.
    CarriageReturn,
}

/// Follows a connection.
#[derive(Debug)]
pub(super) struct RequestScanner(Position);

/// The bytes to hand on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Forwarded {
    /// So many of them are handed on now; the rest is held back.
    pub(super) count: usize,
    /// The bytes to hand on instead of those.
    pub(super) replacement: Option<Vec<u8>>,
}

impl RequestScanner {
    pub(super) fn new() -> Self {
        Self(Position::Start)
    }

    /// Looks at the next bytes. As long as there are any, at least one is handed on.
    pub(super) fn scan(&mut self, bytes: &[u8], verdict: &HeadReport) -> Forwarded {
        self.0 = match (self.0, verdict.take_position()) {
            (Position::HeadForwarded, Some(place)) => place,
            // It wants more of a head that is whole, or has read one that is not.
            (Position::HeadForwarded, None) | (_, Some(_)) => Position::Untracked,
            (place, None) => place,
        };
        match self.0 {
            Position::Untracked => Forwarded { count: bytes.len(), replacement: None },
            Position::Body(left) => {
                let count = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                let left = left - count as u64;
                self.0 = if left == 0 { Position::Start } else { Position::Body(left) };
                Forwarded { count, replacement: None }
            }
            Position::Chunked(chunks) => {
                let (place, count) = match chunks.advance(bytes) {
                    ChunkedProgress::More(chunks) => (Position::Chunked(chunks), bytes.len()),
                    ChunkedProgress::End(at) => (Position::Start, at),
                    ChunkedProgress::Unsupported => (Position::Untracked, bytes.len()),
                };
                self.0 = place;
                Forwarded { count, replacement: None }
            }
            Position::Start
            | Position::Method
            | Position::Target
            | Position::Fields(_)
            | Position::HeadForwarded => self.scan_head(bytes),
        }
    }

    /// Follows a head to its end.
    fn scan_head(&mut self, bytes: &[u8]) -> Forwarded {
        let mut at = 0;
        if self.0 == Position::Start {
            // The library passes over empty lines.
            at = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
            if at < bytes.len() {
                self.0 = Position::Method;
            }
        }
        if self.0 == Position::Method {
            // A line without a space is not a request line: the library refuses it.
            let end = bytes[at..].iter().position(|byte| matches!(byte, b' ' | b'\n'));
            at = end.map_or(bytes.len(), |end| at + end);
            if at < bytes.len() {
                self.0 = Position::Target;
            }
        }
        let mut instead = None;
        if self.0 == Position::Target {
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
            if bytes[at..end].iter().any(|byte| needs_percent_encoding(*byte)) {
                instead = Some((at, end));
            }
            at = end;
            if at < bytes.len() {
                self.0 = Position::Fields(LineState::LineStart);
                at += 1;
            }
        }
        if let Position::Fields(line) = self.0 {
            let (line, end) = scan_fields(line, &bytes[at..]);
            at = end.map_or(bytes.len(), |end| at + end);
            self.0 = end.map_or(Position::Fields(line), |_| Position::HeadForwarded);
        }
        let instead = instead.map(|(begin, end)| {
            let mut out = bytes[..begin].to_vec();
            percent_encode(&bytes[begin..end], &mut out);
            out.extend_from_slice(&bytes[end..at]);
            out
        });
        Forwarded { count: at, replacement: instead }
    }
}

/// Looks for the empty line at the end of a head: where it ends, if it does.
fn scan_fields(mut line: LineState, bytes: &[u8]) -> (LineState, Option<usize>) {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        line = match (line, byte) {
            (LineState::LineStart | LineState::CarriageReturn, b'\n') => {
                return (LineState::Middle, Some(at + 1));
            }
            (LineState::LineStart, b'\r') => LineState::CarriageReturn,
            _ => match memchr::memchr(b'\n', &bytes[at..]) {
                Some(end) => {
                    at += end;
                    LineState::LineStart
                }
                None => return (LineState::Middle, None),
            },
        };
        at += 1;
    }
    (line, None)
}

/// Characters that a URL has only percent-encoded, and that the library or the programs behind it do not take raw.
fn needs_percent_encoding(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'"' | b'`' | 0x80..)
}

fn percent_encode(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        if needs_percent_encoding(*byte) {
            let digit = |four: u8| DIGITS[usize::from(four)];
            out.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
        } else {
            out.push(*byte);
        }
    }
}
