//! Position and response of an event stream.

use application::Problem;
use axum::{
    http::{HeaderMap, HeaderName, HeaderValue},
    response::{IntoResponse as _, Response, Sse},
};

use crate::http::event_stream::{EventSource, SseSubscription};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Tells a proxy not to buffer the response.
const UNBUFFERED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Returns the number from which a stream continues: that of the header `Last-Event-ID`, which browsers send when they
/// reconnect, else that of the query.
///
/// # Errors
/// 400 `invalid_request` if the header is not a number. Browsers send back only numbers that they received.
pub(crate) fn resume_position(headers: &HeaderMap, query: Option<u64>) -> Result<Option<u64>, Problem> {
    let Some(last) = headers.get(&LAST_EVENT_ID) else { return Ok(query) };
    let number = last.to_str().ok().and_then(|text| text.parse().ok());
    number.map(Some).ok_or_else(|| {
        Problem::invalid("The Last-Event-ID header must be the id of an event of this stream.")
    })
}

/// Returns the response that streams events to a client.
pub(crate) fn sse_response<W: EventSource>(subscription: SseSubscription<W>) -> Response {
    let mut response = Sse::new(subscription.into_stream()).into_response();
    let (name, value) = UNBUFFERED;
    response.headers_mut().insert(name, value);
    // A proxy that compresses the response would buffer it.
    let no_store = HeaderValue::from_static("no-store, no-transform");
    response.headers_mut().insert(axum::http::header::CACHE_CONTROL, no_store);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_takes_precedence_over_the_query() {
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
