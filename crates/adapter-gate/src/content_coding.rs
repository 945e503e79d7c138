//! Codings of response bodies (RFC 9110, section 8.4).
//!
//! Requests with a credential ask for `identity`. A service that compresses all the same is decoded, so that what it
//! echoes can be found; a coding that cannot be decoded here is refused.

use std::io::{self, Read as _, Write as _};

use bytes::Bytes;
use connections::{GateHost, Refusal, RefusalCode};
use flate2::{
    Decompress, FlushDecompress, Status,
    read::{MultiGzDecoder, ZlibDecoder},
    write,
};
use http::{HeaderMap, header};

use crate::error::too_large;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Identity,
    Gzip,
    Deflate,
}

impl Coding {
    /// Returns the coding of a response; none for one that is not decoded here.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        // The HTTP library undoes `chunked` and leaves other transfer codings as they are.
        if codings(headers, &header::TRANSFER_ENCODING)?.iter().any(|coding| coding != "chunked") {
            return None;
        }
        let mut codings = codings(headers, &header::CONTENT_ENCODING)?;
        codings.retain(|coding| coding != "identity");
        match codings.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => Some(Self::Identity),
            ["gzip" | "x-gzip"] => Some(Self::Gzip),
            ["deflate"] => Some(Self::Deflate),
            _ => None,
        }
    }
}

/// Returns the codings that a header lists, in lower case; none if it is not text.
fn codings(headers: &HeaderMap, name: &header::HeaderName) -> Option<Vec<String>> {
    let mut codings = Vec::new();
    for value in headers.get_all(name) {
        let names = value.to_str().ok()?.split(',').map(|coding| coding.trim().to_ascii_lowercase());
        codings.extend(names.filter(|coding| !coding.is_empty()));
    }
    Some(codings)
}

pub(crate) fn unread_coding(host: &GateHost) -> Refusal {
    let message = format!("{host} answered in an encoding that it was not asked for");
    Refusal::new(RefusalCode::UpstreamFailed, message)
}

/// Coded bytes that are decoded at once. What comes of them is bounded by [`MAX_RATIO`], and so is its memory.
const STEP: usize = 48;
/// Bytes that one byte of deflate (RFC 1951) stands for, at most.
const MAX_RATIO: usize = 1032;
/// Bytes that are decoded before they go on, unless no more have come.
const MIN_DECODED: usize = 16 << 10;

/// Decodes a body in pieces.
pub(crate) struct Decoder {
    stream: CodedStream,
    is_begun: bool,
}

enum CodedStream {
    Gzip(Box<write::MultiGzDecoder<Vec<u8>>>),
    Deflate { stream: Decompress, is_ended: bool },
}

impl Decoder {
    /// Returns none for [`Coding::Identity`].
    pub(crate) fn new(coding: Coding) -> Option<Self> {
        let stream = match coding {
            Coding::Identity => return None,
            Coding::Gzip => CodedStream::Gzip(Box::new(write::MultiGzDecoder::new(Vec::new()))),
            Coding::Deflate => CodedStream::Deflate { stream: Decompress::new(true), is_ended: false },
        };
        Some(Self { stream, is_begun: false })
    }

    /// Takes coded bytes from the start of `coded`, and returns what comes of them: not much more than [`MIN_DECODED`] if it
    /// is compressed as usual, and at most 66 KiB.
    pub(crate) fn decode(&mut self, host: &GateHost, coded: &mut Bytes) -> Result<Bytes, Refusal> {
        let mut decoded = Vec::new();
        while !coded.is_empty() && decoded.len() < MIN_DECODED {
            let step = coded.split_to(coded.len().min(STEP));
            self.is_begun = true;
            self.stream.decode(&step, &mut decoded).map_err(|_| broken(host))?;
        }
        Ok(decoded.into())
    }

    /// Returns the rest at the end of the body.
    pub(crate) fn finish(self, host: &GateHost) -> Result<Bytes, Refusal> {
        match self.stream {
            // A response to HEAD has the headers of a body, and none.
            _ if !self.is_begun => Ok(Bytes::new()),
            CodedStream::Gzip(decoder) => decoder.finish().map(Bytes::from).map_err(|_| broken(host)),
            CodedStream::Deflate { is_ended: true, .. } => Ok(Bytes::new()),
            CodedStream::Deflate { .. } => Err(broken(host)),
        }
    }
}

impl CodedStream {
    fn decode(&mut self, step: &[u8], decoded: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Gzip(decoder) => {
                decoder.write_all(step)?;
                decoder.flush()?;
                decoded.append(decoder.get_mut());
            }
            Self::Deflate { stream, is_ended } => {
                let begun = stream.total_in();
                while !*is_ended {
                    let (taken, made) = ((stream.total_in() - begun) as usize, stream.total_out());
                    decoded.reserve(STEP * MAX_RATIO);
                    let status = stream.decompress_vec(&step[taken..], decoded, FlushDecompress::None)?;
                    *is_ended = status == Status::StreamEnd;
                    let has_moved = stream.total_out() > made || stream.total_in() - begun > taken as u64;
                    if !has_moved {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

fn broken(host: &GateHost) -> Refusal {
    let message = format!("{host} answered with a body that does not decompress");
    Refusal::new(RefusalCode::UpstreamFailed, message)
}

/// Decodes a body, to at most `max` bytes.
pub(crate) async fn decode(
    host: &GateHost,
    coding: Coding,
    body: Bytes,
    max: usize,
) -> Result<Bytes, Refusal> {
    // A response to HEAD has the headers of a body, and none.
    if coding == Coding::Identity || body.is_empty() {
        return Ok(body);
    }
    // A short body may decompress to a long one.
    let decoded = tokio::task::spawn_blocking(move || decompress(coding, &body, max)).await;
    let decoded = decoded.map_err(|_| broken(host))?.map_err(|_| broken(host))?;
    if decoded.len() > max {
        return Err(too_large(host, "a too long body"));
    }
    Ok(decoded.into())
}

/// Decompresses up to one byte more than `max`.
fn decompress(coding: Coding, body: &[u8], max: usize) -> std::io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    let most = max as u64 + 1;
    match coding {
        Coding::Identity => body.take(most).read_to_end(&mut decoded),
        Coding::Gzip => MultiGzDecoder::new(body).take(most).read_to_end(&mut decoded),
        Coding::Deflate => ZlibDecoder::new(body).take(most).read_to_end(&mut decoded),
    }?;
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_one_known_coding_is_decoded() {
        for (name, value, expected) in [
            ("content-encoding", "", Some(Coding::Identity)),
            ("content-encoding", "Identity", Some(Coding::Identity)),
            ("content-encoding", "GZIP", Some(Coding::Gzip)),
            ("content-encoding", "identity, x-gzip", Some(Coding::Gzip)),
            ("content-encoding", "deflate", Some(Coding::Deflate)),
            ("content-encoding", "gzip, gzip", None),
            ("content-encoding", "br", None),
            ("content-encoding", "zstd", None),
            ("transfer-encoding", "chunked", Some(Coding::Identity)),
            ("transfer-encoding", "gzip, chunked", None),
        ] {
            let name = header::HeaderName::from_static(name);
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
            assert_eq!(Coding::of(&headers), expected, "{value}");
        }
    }

    fn coded(coding: Coding, text: &[u8]) -> Vec<u8> {
        match coding {
            Coding::Identity => text.to_vec(),
            Coding::Gzip => {
                let mut encoder = write::GzEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            Coding::Deflate => {
                let mut encoder = write::ZlibEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    /// Decodes a body that comes in pieces of a width; also returns the length of the longest piece that comes of it.
    fn decoded(coding: Coding, body: &[u8], width: usize) -> Result<(Vec<u8>, usize), Refusal> {
        let host: GateHost = "a.example".parse().unwrap();
        let (mut decoder, mut all, mut longest) = (Decoder::new(coding).unwrap(), Vec::new(), 0);
        for piece in body.chunks(width) {
            let mut piece = Bytes::copy_from_slice(piece);
            while !piece.is_empty() {
                let made = decoder.decode(&host, &mut piece)?;
                longest = longest.max(made.len());
                all.extend_from_slice(&made);
            }
        }
        all.extend_from_slice(&decoder.finish(&host)?);
        Ok((all, longest))
    }

    #[test]
    fn a_body_is_decoded_in_pieces_of_bounded_length() {
        let text: Vec<u8> =
            (0..200_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 29) as u8).collect();
        let zeros = vec![0; 3_000_000];
        for coding in [Coding::Gzip, Coding::Deflate] {
            for body in [&text, &zeros, &b"x".to_vec(), &Vec::new()] {
                for width in [1, 7, 100_000] {
                    let (all, longest) = decoded(coding, &coded(coding, body), width).unwrap();
                    assert!(all == *body && longest <= 66 << 10, "{coding:?} {width} {longest}");
                }
            }
            assert_eq!(decoded(coding, b"", 1).unwrap().0, b"");
            let whole = coded(coding, &text);
            for broken in
                [&whole[..whole.len() - 1], &whole[..whole.len() / 2], &whole[..1], b"not coded at all"]
            {
                assert!(decoded(coding, broken, 100).is_err(), "{coding:?} {}", broken.len());
            }
        }
        let two = [coded(Coding::Gzip, b"one "), coded(Coding::Gzip, b"two")].concat();
        assert_eq!(decoded(Coding::Gzip, &two, 5).unwrap().0, b"one two");
    }
}
