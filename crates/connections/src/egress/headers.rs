//! The headers that an app may send.

use super::refusal::{Refusal, RefusalCode};

/// Most bytes of all header names and values of a request or a response.
pub const MAX_HEADERS_BYTES: usize = 32 << 10;

/// Headers that only the gate sets, that concern a single connection, or that cloud metadata services ask for.
const DENIED_HEADERS: &[&str] = &[
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "cookie2",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "metadata",
    "metadata-flavor",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-aws-ec2-metadata-token",
    "x-aws-ec2-metadata-token-ttl-seconds",
    "x-google-metadata-request",
    "x-real-ip",
];
const DENIED_HEADER_PREFIXES: &[&str] = &["proxy-", "x-forwarded-", "sec-", ":"];

/// Headers by which frameworks and proxies take another method, path, host or address than the request has. An app's limits
/// hang on the request's own.
const OVERRIDING_HEADERS: &[&str] = &[
    "cf-connecting-ip",
    "client-ip",
    "fastly-client-ip",
    "true-client-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-envoy-external-address",
    "x-envoy-original-host",
    "x-envoy-original-method",
    "x-envoy-original-path",
    "x-forwarded",
    "x-host",
    "x-http-destinationurl",
    "x-http-host-override",
    "x-http-method",
    "x-http-method-override",
    "x-http-path-override",
    "x-method",
    "x-method-override",
    "x-original-host",
    "x-original-method",
    "x-original-path",
    "x-original-uri",
    "x-original-url",
    "x-originating-ip",
    "x-override-url",
    "x-proxyuser-ip",
    "x-remote-addr",
    "x-remote-ip",
    "x-rewrite-uri",
    "x-rewrite-url",
    "x-waws-unencoded-url",
];

/// Returns `true` if only the gate may set the header; `name` is in lower case.
pub(crate) fn is_reserved_header(name: &str) -> bool {
    DENIED_HEADERS.contains(&name) || DENIED_HEADER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Checks the headers of a request. `injected` are the headers that the connection adds; the app must not set them.
///
/// # Errors
/// [`RefusalCode::HeaderDenied`] for a header that is malformed or denied, and for headers over [`MAX_HEADERS_BYTES`].
pub fn check_headers(headers: &[(String, String)], injected: &[&str]) -> Result<(), Refusal> {
    let denied = |what: String| Err(Refusal::new(RefusalCode::HeaderDenied, what));
    let mut size = 0;
    for (name, value) in headers {
        if name.is_empty() || !name.bytes().all(is_token) {
            return denied("a header has a malformed name".to_owned());
        }
        let lower = name.to_ascii_lowercase();
        // Many servers make no difference between the two signs (RFC 3875, section 4.1.18).
        let dashed = lower.replace('_', "-");
        let reserved = is_reserved_header(&dashed)
            || OVERRIDING_HEADERS.contains(&dashed.as_str())
            || injected.iter().any(|injected| injected.replace('_', "-").eq_ignore_ascii_case(&dashed));
        if reserved {
            return denied(format!("an app may not set the header {lower}"));
        }
        if value.bytes().any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f) {
            return denied(format!("the value of {lower} holds a control character"));
        }
        size += name.len() + value.len() + 4;
    }
    if size > MAX_HEADERS_BYTES {
        return denied(format!("the headers are longer than {MAX_HEADERS_BYTES} bytes"));
    }
    Ok(())
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: &str) -> bool {
        check_headers(&[(name.to_owned(), value.to_owned())], &["X-Api-Key"]).is_err()
    }

    #[test]
    fn reserved_and_malformed_headers_are_refused() {
        for name in [
            "Host",
            "authorization",
            "Cookie",
            "Proxy-Authorization",
            "proxy-anything",
            "Connection",
            "Transfer-Encoding",
            "content-length",
            "X-Forwarded-For",
            "Forwarded",
            "Metadata-Flavor",
            "Metadata",
            "x-aws-ec2-metadata-token",
            "x-api-key",
            "X-Forwarded",
            "X-HTTP-Method-Override",
            "X-HTTP-Method",
            "X-Method-Override",
            "x_http_method_override",
            "X-Original-URL",
            "X-Rewrite-URL",
            "X-Original-Method",
            "X-Original-Host",
            "X-Host",
            "True-Client-IP",
            "X-Client-IP",
            "x_forwarded_host",
            "content_length",
            "",
            "a b",
            "a:",
            "a\r\nb",
            ":authority",
            "é",
        ] {
            assert!(refused(name, "x"), "{name:?}");
        }
        for value in ["x\r\nhost: evil", "x\n", "x\0", "\u{7f}", "a\rb"] {
            assert!(refused("x-ok", value), "{value:?}");
        }
        assert!(refused("x-long", &"x".repeat(MAX_HEADERS_BYTES)));
        for (name, value) in
            [("accept", "*/*"), ("X-Thing", "a\tb"), ("content-type", "text/plain"), ("x", "")]
        {
            assert!(!refused(name, value), "{name:?}");
        }
    }
}
