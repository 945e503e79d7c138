//! The beginnings of requests in the bytes of a connection, so that raw characters of their addresses can be percent-encoded.
//!
//! What reads another beginning of a request than the HTTP library does would let one request hide in another. So nothing
//! is decided here that the library has decided: a head is handed to it alone, and what follows is held back until it said
//! what it read ([`Verdict`]). It says how long a body is. Where a chunked body ends is found by [`Chunks`], which follow
//! only what cannot be read in two ways. At anything else, and whenever the library does not do as expected, the rest of the
//! connection is left as it comes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::chunks::{Chunks, Found};

/// The library's verdict on a head that it has read.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// True once it said something.
    any: AtomicBool,
    /// Nothing, [`CHUNKED`], or [`LENGTH`] and the length of the body.
    body: AtomicU64,
}

const NOTHING: u64 = 0;
const CHUNKED: u64 = 1;
const LENGTH: u64 = 2;

impl Verdict {
    /// Says that a head was read whose body has this length; one without is chunked.
    pub(super) fn say(&self, length: Option<u64>) {
        self.any.store(true, Ordering::Release);
        let body = length.map_or(CHUNKED, |length| length.saturating_add(LENGTH));
        self.body.store(body, Ordering::Release);
    }

    /// Returns true once a head was read.
    pub(super) fn is_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Takes what was said since it was taken last: the place where the library is.
    fn take(&self) -> Option<Place> {
        match self.body.swap(NOTHING, Ordering::AcqRel) {
            NOTHING => None,
            CHUNKED => Some(Place::Chunked(Chunks::START)),
            LENGTH => Some(Place::Start),
            length => Some(Place::Body(length - LENGTH)),
        }
    }
}

/// The place of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before a request: at its first byte, or at empty lines that go before.
    Start,
    /// In a request's method.
    Method,
    /// Behind it, in the request line.
    Target,
    /// In the fields.
    Fields(Line),
    /// Behind a head that the library has not spoken of.
    HeadGiven,
    /// So many bytes before the end of a body.
    Body(u64),
    /// In a chunked body.
    Chunked(Chunks),
    /// Somewhere; it is not followed any more.
    Lost,
}

/// The bytes before this one, in the fields of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Middle,
    /// A line feed.
    Begun,
    /// A line feed and a carriage return.
    Return,
}

/// Follows a connection.
#[derive(Debug)]
pub(super) struct Requests(Place);

/// The bytes to hand on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Handed {
    /// So many of them are handed on now; the rest is held back.
    pub(super) count: usize,
    /// The bytes to hand on instead of those.
    pub(super) instead: Option<Vec<u8>>,
}

impl Requests {
    pub(super) fn new() -> Self {
        Self(Place::Start)
    }

    /// Looks at the next bytes. As long as there are any, at least one is handed on.
    pub(super) fn next(&mut self, bytes: &[u8], verdict: &Verdict) -> Handed {
        self.0 = match (self.0, verdict.take()) {
            (Place::HeadGiven, Some(place)) => place,
            // It wants more of a head that is whole, or has read one that is not.
            (Place::HeadGiven, None) | (_, Some(_)) => Place::Lost,
            (place, None) => place,
        };
        match self.0 {
            Place::Lost => Handed { count: bytes.len(), instead: None },
            Place::Body(left) => {
                let count = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                let left = left - count as u64;
                self.0 = if left == 0 { Place::Start } else { Place::Body(left) };
                Handed { count, instead: None }
            }
            Place::Chunked(chunks) => {
                let (place, count) = match chunks.follow(bytes) {
                    Found::More(chunks) => (Place::Chunked(chunks), bytes.len()),
                    Found::End(at) => (Place::Start, at),
                    Found::Lost => (Place::Lost, bytes.len()),
                };
                self.0 = place;
                Handed { count, instead: None }
            }
            Place::Start | Place::Method | Place::Target | Place::Fields(_) | Place::HeadGiven => {
                self.head(bytes)
            }
        }
    }

    /// Follows a head to its end.
    fn head(&mut self, bytes: &[u8]) -> Handed {
        let mut at = 0;
        if self.0 == Place::Start {
            // The library passes over empty lines.
            at = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
            if at < bytes.len() {
                self.0 = Place::Method;
            }
        }
        if self.0 == Place::Method {
            // A line without a space is not a request line: the library refuses it.
            let end = bytes[at..].iter().position(|byte| matches!(byte, b' ' | b'\n'));
            at = end.map_or(bytes.len(), |end| at + end);
            if at < bytes.len() {
                self.0 = Place::Target;
            }
        }
        let mut instead = None;
        if self.0 == Place::Target {
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
            if bytes[at..end].iter().any(|byte| is_raw(*byte)) {
                instead = Some((at, end));
            }
            at = end;
            if at < bytes.len() {
                self.0 = Place::Fields(Line::Begun);
                at += 1;
            }
        }
        if let Place::Fields(line) = self.0 {
            let (line, end) = fields(line, &bytes[at..]);
            at = end.map_or(bytes.len(), |end| at + end);
            self.0 = end.map_or(Place::Fields(line), |_| Place::HeadGiven);
        }
        let instead = instead.map(|(begin, end)| {
            let mut out = bytes[..begin].to_vec();
            encode(&bytes[begin..end], &mut out);
            out.extend_from_slice(&bytes[end..at]);
            out
        });
        Handed { count: at, instead }
    }
}

/// Looks for the empty line at the end of a head: where it ends, if it does.
fn fields(mut line: Line, bytes: &[u8]) -> (Line, Option<usize>) {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        line = match (line, byte) {
            (Line::Begun | Line::Return, b'\n') => return (Line::Middle, Some(at + 1)),
            (Line::Begun, b'\r') => Line::Return,
            _ => match memchr::memchr(b'\n', &bytes[at..]) {
                Some(end) => {
                    at += end;
                    Line::Begun
                }
                None => return (Line::Middle, None),
            },
        };
        at += 1;
    }
    (line, None)
}

/// Characters that a URL has only percent-encoded, and that the library or the programs behind it do not take raw.
fn is_raw(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'"' | b'`' | 0x80..)
}

fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        if is_raw(*byte) {
            let digit = |four: u8| DIGITS[usize::from(four)];
            out.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
        } else {
            out.push(*byte);
        }
    }
}
