//! From where a stream goes on, and how it is answered.

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue},
    response::{IntoResponse as _, Response, Sse},
};
use kernel::Problem;

use crate::http::event_stream::{EventSource, SseSubscription};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells a proxy to hand on what comes as it comes.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// What a reader has seen: the header of a browser that comes back goes before the query.
///
/// # Errors
/// 400 when the header is no number; a browser sends back only what it was given.
pub(crate) fn resume_position(headers: &HeaderMap, query: Option<u64>) -> Result<Option<u64>, Problem> {
    let Some(last) = headers.get(&LAST_EVENT_ID) else { return Ok(query) };
    let number = last.to_str().ok().and_then(|text| text.parse().ok());
    number
        .map(Some)
        .ok_or_else(|| Problem::invalid("The header Last-Event-ID must be a number of this stream."))
}

/// The answer that tells a reader.
pub(crate) fn sse_response<W: EventSource>(follower: SseSubscription<W>) -> Response {
    let mut response = Sse::new(follower.into_stream()).into_response();
    let (name, value) = UNBUFFERED;
    response.headers_mut().insert(name, value);
    // Nor may anything on the way compress it, which gathers.
    let no_store = HeaderValue::from_static("no-store, no-transform");
    response.headers_mut().insert(axum::http::header::CACHE_CONTROL, no_store);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_goes_before_the_query() {
        let mut headers = HeaderMap::new();
        assert_eq!(resume_position(&headers, Some(3)).unwrap(), Some(3));
        headers.insert(LAST_EVENT_ID, HeaderValue::from_static("17"));
        assert_eq!(resume_position(&headers, Some(3)).unwrap(), Some(17));
        for bad in ["", "-1", "x", "18446744073709551616"] {
            headers.insert(LAST_EVENT_ID, HeaderValue::from_static(bad));
            assert_eq!(resume_position(&headers, Some(3)).unwrap_err().code, "invalid_request");
        }
    }
}
