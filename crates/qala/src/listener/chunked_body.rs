//! The end of a chunked body, if it is written as every program writes it.
//!
//! What is followed is so plain that no decoder can read it otherwise: a size in hexadecimal digits, CRLF, so many bytes,
//! CRLF, and at the end `0`, CRLF, CRLF. Extensions, trailers, spaces and bare line feeds are not followed.

/// More digits are no size of a body that anybody sends.
const MAX_DIGITS: u8 = 15;

/// A place in a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkedState {
    /// In a size: its digits so far, and their value.
    Size(u8, u64),
    /// Before the line feed after a size.
    SizeEnd(u64),
    /// So many bytes before the end of a chunk.
    Data(u64),
    /// Before the line break after a chunk.
    DataEnd,
    /// Before the line feed after a chunk.
    DataLineFeed,
    /// Before the last line break, where trailers would be.
    LastCarriageReturn,
    /// Before the last line feed.
    LastLineFeed,
}

/// The result of following some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkedProgress {
    /// The body goes on.
    More(ChunkedState),
    /// The body ended after so many of the bytes.
    End(usize),
    /// It is not written plainly.
    Unsupported,
}

impl ChunkedState {
    /// The beginning of a body.
    pub(super) const START: Self = Self::Size(0, 0);

    /// Follows the body through some bytes.
    pub(super) fn advance(mut self, bytes: &[u8]) -> ChunkedProgress {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if let Self::Data(left) = self {
                let there = (bytes.len() - at) as u64;
                if there < left {
                    return ChunkedProgress::More(Self::Data(left - there));
                }
                // No more than there are bytes.
                at += usize::try_from(left).unwrap_or(usize::MAX);
                self = Self::DataEnd;
                continue;
            }
            at += 1;
            self = match (self, byte) {
                (Self::Size(digits, size), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
                    if digits < MAX_DIGITS =>
                {
                    let digit = char::from(*byte).to_digit(16).unwrap_or_default();
                    Self::Size(digits + 1, size * 16 + u64::from(digit))
                }
                (Self::Size(1.., size), b'\r') => Self::SizeEnd(size),
                (Self::SizeEnd(0), b'\n') => Self::LastCarriageReturn,
                (Self::SizeEnd(size), b'\n') => Self::Data(size),
                (Self::DataEnd, b'\r') => Self::DataLineFeed,
                (Self::DataLineFeed, b'\n') => Self::START,
                (Self::LastCarriageReturn, b'\r') => Self::LastLineFeed,
                (Self::LastLineFeed, b'\n') => return ChunkedProgress::End(at),
                _ => return ChunkedProgress::Unsupported,
            };
        }
        ChunkedProgress::More(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As [`Chunks::follow`], in pieces of this size.
    fn in_pieces(body: &[u8], size: usize) -> Option<usize> {
        let mut place = ChunkedState::START;
        for (number, piece) in body.chunks(size).enumerate() {
            match place.advance(piece) {
                ChunkedProgress::More(next) => place = next,
                ChunkedProgress::End(at) => return Some(number * size + at),
                ChunkedProgress::Unsupported => return None,
            }
        }
        Some(usize::MAX)
    }

    #[test]
    fn plain_bodies_end_where_they_end() {
        for (body, end) in [
            ("0\r\n\r\nGET", Some(5)),
            ("5\r\nab\r\n0\r\n0\r\n\r\nGET /", Some(15)),
            ("00A\r\n0\r\n\r\nGET \r\r\n000\r\n\r\n", Some(24)),
            ("5\r\nabcde\r\n", Some(usize::MAX)),
            ("", Some(usize::MAX)),
            // A trailer, an extension, a space, bare line feeds, no size, a sign, too long a chunk, too long a size.
            ("0\r\nX: y\r\n\r\n", None),
            ("1;a=b\r\nx\r\n0\r\n\r\n", None),
            ("1 \r\nx\r\n0\r\n\r\n", None),
            ("1\nx\n0\n\n", None),
            ("\r\n\r\n", None),
            ("+1\r\nx\r\n0\r\n\r\n", None),
            ("1\r\nxyz\r\n0\r\n\r\n", None),
            ("0000000000000001\r\nx\r\n0\r\n\r\n", None),
        ] {
            for size in 1..=body.len().max(1) {
                assert_eq!(in_pieces(body.as_bytes(), size), end, "{body:?} in pieces of {size}");
            }
        }
    }
}
