//! Codings of response bodies (RFC 9110, section 8.4).
//!
//! Requests with a credential ask for `identity`. A service that compresses all the same is decoded, so that what it
//! echoes can be found; a coding that cannot be decoded here is refused.

use std::io::Read as _;

use bytes::Bytes;
use connections::{GateHost, Refusal, RefusalCode};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
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
    let broken = || {
        let message = format!("{host} answered with a body that does not decompress");
        Refusal::new(RefusalCode::UpstreamFailed, message)
    };
    // A short body may decompress to a long one.
    let decoded = tokio::task::spawn_blocking(move || decompress(coding, &body, max)).await;
    let decoded = decoded.map_err(|_| broken())?.map_err(|_| broken())?;
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
}
