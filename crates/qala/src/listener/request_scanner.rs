//! Finds the request lines in the byte stream of a connection, so that raw characters in their targets can be encoded.
//!
//! If the scanner saw a request begin where hyper does not, one request could hide in another (request smuggling). So
//! it decides nothing that hyper decides: it forwards a head alone, and holds back what follows until hyper reported
//! what it parsed ([`HeadReport`]), which includes the length of the body. It finds the end of a chunked body with
//! [`ChunkedState`], which follows only what cannot be read in two ways. At anything else, and whenever hyper does not
//! behave as expected, the rest of the connection is forwarded unchanged. See
//! `docs/decisions/0141-rewrite-request-lines-in-the-listener.md`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::chunked_body::{ChunkedProgress, ChunkedState};

/// Hyper's report of a head that it parsed.
#[derive(Debug, Default)]
pub(super) struct HeadReport {
    /// True once any head was parsed.
    has_parsed_head: AtomicBool,
    /// [`NO_REPORT`], [`CHUNKED`], or [`LENGTH`] plus the length of the body.
    body_framing: AtomicU64,
}

const NO_REPORT: u64 = 0;
const CHUNKED: u64 = 1;
const LENGTH: u64 = 2;

impl HeadReport {
    /// Reports a parsed head and the length of its body; a body without a length is chunked.
    pub(super) fn report(&self, length: Option<u64>) {
        self.has_parsed_head.store(true, Ordering::Release);
        let body = length.map_or(CHUNKED, |length| length.saturating_add(LENGTH));
        self.body_framing.store(body, Ordering::Release);
    }

    /// Returns true once any head was parsed.
    pub(super) fn has_parsed_head(&self) -> bool {
        self.has_parsed_head.load(Ordering::Acquire)
    }

    /// Takes the latest report, if there is a new one, as hyper's position after the head.
    fn take_position(&self) -> Option<Position> {
        match self.body_framing.swap(NO_REPORT, Ordering::AcqRel) {
            NO_REPORT => None,
            CHUNKED => Some(Position::Chunked(ChunkedState::START)),
            LENGTH => Some(Position::Start),
            length => Some(Position::Body(length - LENGTH)),
        }
    }
}

/// A position in the byte stream of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Before a request: at its first byte, or at empty lines before it.
    Start,
    /// In the method of a request line.
    Method,
    /// After the method, in the request line.
    Target,
    /// In the header fields.
    Fields(LineState),
    /// After a head that hyper has not reported yet.
    HeadForwarded,
    /// In a body, with this many bytes left.
    Body(u64),
    /// In a chunked body.
    Chunked(ChunkedState),
    /// Unknown: the connection is no longer scanned.
    Untracked,
}

/// The bytes before the current one in the header fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    Middle,
    /// A line feed.
    LineStart,
    /// A line feed and a carriage return.
    CarriageReturn,
}

/// Tracks the position in the byte stream of a connection.
#[derive(Debug)]
pub(super) struct RequestScanner(Position);

/// The bytes to forward.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Forwarded {
    /// Number of bytes to forward now; the rest is held back.
    pub(super) count: usize,
    /// Bytes to forward in their place.
    pub(super) replacement: Option<Vec<u8>>,
}

impl RequestScanner {
    pub(super) fn new() -> Self {
        Self(Position::Start)
    }

    /// Scans the next bytes. Forwards at least one, unless there are none.
    pub(super) fn scan(&mut self, bytes: &[u8], head_report: &HeadReport) -> Forwarded {
        self.0 = match (self.0, head_report.take_position()) {
            (Position::HeadForwarded, Some(position)) => position,
            // Hyper wants more of a head that looked complete, or parsed one that did not.
            (Position::HeadForwarded, None) | (_, Some(_)) => Position::Untracked,
            (position, None) => position,
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
                let (position, count) = match chunks.advance(bytes) {
                    ChunkedProgress::More(chunks) => (Position::Chunked(chunks), bytes.len()),
                    ChunkedProgress::End(at) => (Position::Start, at),
                    ChunkedProgress::Unsupported => (Position::Untracked, bytes.len()),
                };
                self.0 = position;
                Forwarded { count, replacement: None }
            }
            Position::Start
            | Position::Method
            | Position::Target
            | Position::Fields(_)
            | Position::HeadForwarded => self.scan_head(bytes),
        }
    }

    /// Scans a head up to its end.
    fn scan_head(&mut self, bytes: &[u8]) -> Forwarded {
        let mut at = 0;
        if self.0 == Position::Start {
            // Hyper skips empty lines before a request.
            at = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
            if at < bytes.len() {
                self.0 = Position::Method;
            }
        }
        if self.0 == Position::Method {
            // A line without a space is not a request line, and hyper refuses it.
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

/// Looks for the empty line that ends a head; returns the state, and the offset after that line if it is there.
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

/// Returns true for characters that a URL has only percent-encoded, and that hyper or code behind it refuses raw.
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
