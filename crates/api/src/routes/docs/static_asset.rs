//! Content that does not change while the server runs. It is sent only to clients that do not have it.

use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use flate2::Compression;

use crate::http::{
    compression::{accepts_gzip, gzip},
    conditional::{EntityTag, IfNoneMatch},
};

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
        let gzip = gzip(&plain, Compression::default());
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
