//! Finds the end of a chunked body that has the plain form of RFC 9112, section 7.1.
//!
//! Only a form that every decoder reads the same way is followed: a size in hexadecimal digits, CRLF, that many bytes,
//! CRLF, and at the end `0`, CRLF, CRLF. Extensions, trailers, spaces and bare line feeds are not.

/// Maximum number of digits of a size; no real body has more.
const MAX_DIGITS: u8 = 15;

/// A position in a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkedState {
    /// In a size: the number of its digits so far, and their value.
    Size(u8, u64),
    /// Before the line feed after the size of a chunk.
    SizeEnd(u64),
    /// In a chunk, with this many bytes left.
    Data(u64),
    /// Before the carriage return after a chunk.
    DataEnd,
    /// Before the line feed after a chunk.
    DataLineFeed,
    /// Before the last carriage return, where trailers could begin.
    LastCarriageReturn,
    /// Before the last line feed.
    LastLineFeed,
}

/// The result of advancing over some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkedProgress {
    /// The body goes on.
    More(ChunkedState),
    /// The body ended after this many of the bytes.
    End(usize),
    /// The body does not have the plain form.
    Unsupported,
}

impl ChunkedState {
    /// The start of a body.
    pub(super) const START: Self = Self::Size(0, 0);

    /// Advances over some bytes of the body.
    pub(super) fn advance(mut self, bytes: &[u8]) -> ChunkedProgress {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if let Self::Data(left) = self {
                let there = (bytes.len() - at) as u64;
                if there < left {
                    return ChunkedProgress::More(Self::Data(left - there));
                }
                // At most the number of bytes present, so it fits.
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

    /// Like [`ChunkedState::advance`], in pieces of this size; returns the end, or `usize::MAX` if the body goes on.
    fn in_pieces(body: &[u8], size: usize) -> Option<usize> {
        let mut state = ChunkedState::START;
        for (number, piece) in body.chunks(size).enumerate() {
            match state.advance(piece) {
                ChunkedProgress::More(next) => state = next,
                ChunkedProgress::End(at) => return Some(number * size + at),
                ChunkedProgress::Unsupported => return None,
            }
        }
        Some(usize::MAX)
    }

    #[test]
    fn the_end_of_a_plain_body_is_found() {
        for (body, end) in [
            ("0\r\n\r\nGET", Some(5)),
            ("5\r\nab\r\n0\r\n0\r\n\r\nGET /", Some(15)),
            ("00A\r\n0\r\n\r\nGET \r\r\n000\r\n\r\n", Some(24)),
            ("5\r\nabcde\r\n", Some(usize::MAX)),
            ("", Some(usize::MAX)),
            // Trailer, extension, space, bare line feeds, no size, sign, chunk longer than its size, too many digits.
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
