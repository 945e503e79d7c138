//! The routes of the files, below `/console/`.

use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};

use crate::{
    content_coding::ContentCoding,
    file::{File, find},
};

/// Returns the router of the files. They need no sign-in: they are the same for everybody.
pub fn router() -> Router {
    Router::new().route("/console/{*path}", get(serve))
}

async fn serve(Path(path): Path<String>, headers: HeaderMap) -> Response {
    match find(&path) {
        Some(file) => respond(file, &headers),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn respond(file: &File, headers: &HeaderMap) -> Response {
    // The name has a hash of the content, so it identifies the content.
    let coding = negotiate(file, headers);
    let etag =
        format!("\"{}{}\"", file.path, coding.0.name().map(|name| format!("-{name}")).unwrap_or_default());
    let common = [
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::VARY, "accept-encoding"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    if if_none_match(headers, &etag) {
        return (StatusCode::NOT_MODIFIED, common, [(header::ETAG, etag)]).into_response();
    }
    let mut response =
        (common, [(header::ETAG, etag), (header::CONTENT_TYPE, file.media_type.to_owned())], coding.1)
            .into_response();
    if let Some(name) = coding.0.name() {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(name));
    }
    response
}

fn negotiate(file: &File, headers: &HeaderMap) -> (ContentCoding, &'static [u8]) {
    let fields = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let accepted = ContentCoding::negotiate(&fields.collect::<Vec<_>>().join(","));
    let content = match accepted {
        ContentCoding::Brotli => file.brotli,
        ContentCoding::Gzip => file.gzip,
        ContentCoding::Identity => None,
    };
    content.map_or((ContentCoding::Identity, file.identity), |content| (accepted, content))
}

fn if_none_match(headers: &HeaderMap, etag: &str) -> bool {
    let tags = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    tags.flat_map(|tags| tags.split(',')).map(str::trim).any(|tag| {
        // `If-None-Match` compares weakly (RFC 9110, section 13.1.2).
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
    })
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Request};
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;
    use crate::{MISSING, entry};

    async fn get_file(path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    #[test]
    fn the_console_was_built() {
        assert_eq!(MISSING, None, "install Node.js and npm");
    }

    #[tokio::test]
    async fn every_file_of_the_entry_is_served_compressed_and_forever() {
        let entry = entry().unwrap();
        for path in [&entry.head, &entry.style, &entry.script].into_iter().chain(&entry.preloads) {
            let response = get_file(path, &[("accept-encoding", "gzip, br")]).await;
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            assert_eq!(response.headers()[header::CONTENT_ENCODING], "br", "{path}");
            assert!(response.headers()[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
            let etag = response.headers()[header::ETAG].to_str().unwrap().to_owned();
            let again = get_file(path, &[("accept-encoding", "br"), ("if-none-match", &etag)]).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
            assert!(again.into_body().collect().await.unwrap().to_bytes().is_empty());
        }
    }

    #[tokio::test]
    async fn codings_have_tags_of_their_own() {
        let script = entry().unwrap().script;
        let mut tags = Vec::new();
        for coding in ["br", "gzip", "identity"] {
            tags.push(
                get_file(&script, &[("accept-encoding", coding)]).await.headers()[header::ETAG].clone(),
            );
        }
        assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
    }

    #[tokio::test]
    async fn other_paths_are_not_found() {
        for path in ["/console/", "/console/nothing.js", "/console/../build.rs", "/console/%2e%2e/files.tsv"]
        {
            assert_eq!(get_file(path, &[]).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
