//! The error envelope for requests that hyper cannot parse.

use kernel::{Clock as _, Id, SystemClock, SystemRandomness, id::RequestId};

/// Returns hyper's status line with the body that every error has.
pub(super) fn error_envelope(response: &[u8]) -> Vec<u8> {
    let line = response.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let (code, message) = if line.contains(" 431 ") {
        ("headers_too_large", "The request's head has more than 100 headers or 64 KiB.")
    } else if line.contains(" 414 ") {
        ("uri_too_long", "The request's address is too long.")
    } else {
        ("invalid_request", "The request cannot be read as HTTP/1.1.")
    };
    let hint =
        "Percent-encode the characters that a URL cannot contain, and send each header on a line of its own.";
    let id: RequestId = Id::generate(&SystemRandomness, SystemClock.now());
    let error = serde_json::json!({"code": code, "message": message, "hint": hint, "requestId": id});
    let body = serde_json::json!({ "error": error, "requestId": id }).to_string();
    let head =
        format!("content-type: application/json\r\nx-request-id: {id}\r\ncontent-length: {}", body.len());
    format!("{line}\r\n{head}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}
