//! Content that does not change while the server runs. It is sent only to clients that do not have it.

use std::io::Write as _;

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};

use crate::http::conditional::{EntityTag, IfNoneMatch};

#[derive(Debug)]
pub(super) struct StaticAsset {
    media_type: &'static str,
    policy: Option<&'static str>,
    plain: Bytes,
    /// `None` if compression failed.
    gzip: Option<Bytes>,
    etag: EntityTag,
}

impl StaticAsset {
    pub(super) fn new(media_type: &'static str, plain: Bytes) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let gzip = encoder.write_all(&plain).and_then(|()| encoder.finish()).ok().map(Bytes::from);
        let etag = EntityTag::of_bytes(&plain);
        Self { media_type, policy: None, plain, gzip, etag }
    }

    pub(super) fn with_policy(self, policy: &'static str) -> Self {
        Self { policy: Some(policy), ..self }
    }

    pub(super) fn response(&self, request_headers: &HeaderMap) -> Response {
        let gzip = self.gzip.as_ref().filter(|_| accepts_gzip(request_headers));
        let mut response = if IfNoneMatch::from_headers(request_headers).has(&self.etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let mut response = gzip.unwrap_or(&self.plain).clone().into_response();
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
            if gzip.is_some() {
                response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            response
        };
        let headers = response.headers_mut();
        // Weak, since compressed and uncompressed responses have the same content in different bytes.
        headers.insert(header::ETAG, self.etag.to_weak_value());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        if let Some(policy) = self.policy {
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        }
        response
    }
}

fn header_list_items<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Reads `Accept-Encoding` (RFC 9110, section 12.5.3). A named coding takes precedence over `*`.
fn accepts_gzip(request_headers: &HeaderMap) -> bool {
    let weight_of = |wanted: &str| {
        header_list_items(request_headers, &header::ACCEPT_ENCODING).find_map(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            named.then(|| weight.unwrap_or(1.0))
        })
    };
    weight_of("gzip").or_else(|| weight_of("*")).is_some_and(|weight| weight > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn weights_of_codings_decide_about_gzip() {
        for taken in ["gzip", "br, GZIP", "*", "gzip;q=0.5", "*;q=0, gzip"] {
            assert!(accepts_gzip(&asked(header::ACCEPT_ENCODING, taken)), "{taken}");
        }
        for refused in ["", "br", "gzip;q=0", "identity, gzip; q=0.0", "*, gzip;q=0", "*;q=0"] {
            assert!(!accepts_gzip(&asked(header::ACCEPT_ENCODING, refused)), "{refused}");
        }
    }
}
