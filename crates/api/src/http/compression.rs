//! Compressed responses. Only those are compressed that have no secret: the length of a compressed response tells whoever
//! can put a text of theirs into it what else is in it (BREACH). See
//! `docs/decisions/0173-compress-lists-and-nothing-with-a-secret.md`.

use std::io::Write as _;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http_body::Body as _;
use http_body_util::BodyExt as _;

/// Bytes below which compression saves no packet.
const MIN_BYTES: u64 = 1 << 10;

/// Bytes above which a response is sent as it is.
const MAX_BYTES: u64 = 4 << 20;

/// Bytes from which compression takes long enough to need a thread of its own.
const BLOCKING_BYTES: usize = 64 << 10;

/// Paths of lists for people. No response to a GET below them has a secret: those are shown once, in responses to POST.
const COMPRESSED_PATHS: [&str; 3] = ["/v1/workspaces/", "/v1/connector-catalog", "/v1/templates"];

/// Compresses long lists with gzip for clients that accept it.
pub(crate) async fn compress_lists(request: Request, next: Next) -> Response {
    let is_list = request.method() == Method::GET
        && COMPRESSED_PATHS.iter().any(|path| request.uri().path().starts_with(path));
    let is_accepted = is_list && accepts_gzip(request.headers());
    let response = next.run(request).await;
    if !is_list || !is_compressible(&response) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    head.headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if !is_accepted {
        return Response::from_parts(head, body);
    }
    let plain = match body.collect().await {
        Ok(body) => body.to_bytes(),
        // The body was whole in memory, as its size was known.
        Err(error) => {
            tracing::error!(%error, "a response of known size could not be read");
            head.status = StatusCode::INTERNAL_SERVER_ERROR;
            Bytes::new()
        }
    };
    let packed = if plain.len() < BLOCKING_BYTES {
        gzip(&plain, Compression::fast())
    } else {
        let plain = plain.clone();
        tokio::task::spawn_blocking(move || gzip(&plain, Compression::fast())).await.unwrap_or_default()
    };
    let Some(packed) = packed else { return Response::from_parts(head, plain.into()) };
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(head, packed.into())
}

/// Returns true for a JSON document of known size that is worth compressing. One with an entity tag is not: its tag names
/// these bytes (RFC 9110, section 8.8.3.3).
fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let is_json = headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    response.status() == StatusCode::OK
        && is_json
        && ![header::ETAG, header::SET_COOKIE, header::CONTENT_ENCODING]
            .iter()
            .any(|name| headers.contains_key(name))
        && response.body().size_hint().exact().is_some_and(|size| (MIN_BYTES..=MAX_BYTES).contains(&size))
}

/// Compresses bytes; `None` if that failed.
pub(crate) fn gzip(plain: &[u8], level: Compression) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(plain).and_then(|()| encoder.finish()).ok().map(Bytes::from)
}

fn header_list_items<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Reads `Accept-Encoding` (RFC 9110, section 12.5.3). A named coding takes precedence over `*`.
pub(crate) fn accepts_gzip(request_headers: &HeaderMap) -> bool {
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
    use axum::{Json, Router, body::Body, middleware, response::IntoResponse as _, routing};
    use tower::ServiceExt as _;

    use super::*;

    #[test]
    fn weights_of_codings_decide_about_gzip() {
        let asked =
            |value| HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]);
        for taken in ["gzip", "br, GZIP", "*", "gzip;q=0.5", "*;q=0, gzip"] {
            assert!(accepts_gzip(&asked(taken)), "{taken}");
        }
        for refused in ["", "br", "gzip;q=0", "identity, gzip; q=0.0", "*, gzip;q=0", "*;q=0"] {
            assert!(!accepts_gzip(&asked(refused)), "{refused}");
        }
    }

    async fn coding_of(method: &str, path: &str, bytes: usize) -> Option<String> {
        let list = move || async move { Json("a".repeat(bytes)) };
        let tagged =
            move || async move { ([(header::ETAG, "\"1\"")], Json("a".repeat(bytes))).into_response() };
        let router = Router::new()
            .route("/v1/workspaces/ws/apps", routing::get(list).post(list))
            .route("/v1/workspaces/ws", routing::get(tagged))
            .route("/v1/me/sessions", routing::get(list))
            .route("/v1/auth/methods", routing::get(list))
            .route("/v1/invites/secret", routing::get(list))
            .layer(middleware::from_fn(compress_lists));
        let request = Request::builder().method(method).uri(path).header(header::ACCEPT_ENCODING, "gzip, br");
        let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        response.headers().get(header::CONTENT_ENCODING).map(|coding| coding.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn only_long_lists_that_have_no_secret_are_compressed() {
        assert_eq!(coding_of("GET", "/v1/workspaces/ws/apps", 5_000).await.as_deref(), Some("gzip"));
        assert_eq!(coding_of("GET", "/v1/workspaces/ws/apps", 100_000).await.as_deref(), Some("gzip"));
        for (method, path, bytes) in [
            ("GET", "/v1/workspaces/ws/apps", 500),
            ("GET", "/v1/workspaces/ws/apps", 5 << 20),
            ("POST", "/v1/workspaces/ws/apps", 5_000),
            ("GET", "/v1/workspaces/ws", 5_000),
            ("GET", "/v1/me/sessions", 5_000),
            ("GET", "/v1/auth/methods", 5_000),
            ("GET", "/v1/invites/secret", 5_000),
        ] {
            assert_eq!(coding_of(method, path, bytes).await, None, "{method} {path} {bytes}");
        }
    }
}
