//! Headers of requests that apps get, and of responses that they may set.
//!
//! Under a path of the server, an app shares the console's origin. Headers that concern a whole origin, or instruct a
//! proxy, would apply to all of Qala there, so only listed headers pass. At a host of its own, an app may set all
//! headers except those that belong to the connection, to proxies or to other hosts.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use kernel::byte_string;

use super::ServingMode;

/// Headers of the connection or the server, which apps neither read nor write.
const WITHHELD: [HeaderName; 13] = [
    header::AUTHORIZATION,
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::PROXY_AUTHORIZATION,
    header::STRICT_TRANSPORT_SECURITY,
    HeaderName::from_static("clear-site-data"),
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Prefixes of headers with which servers instruct proxies, or proxies tell each other about a request.
const PROXY_PREFIXES: [&str; 9] = [
    "proxy-",
    "x-accel-",
    "x-forwarded-",
    "x-lighttpd-",
    "x-litespeed-",
    "x-original-",
    "x-reproxy-",
    "x-rewrite-",
    "x-sendfile",
];

/// Enables or disables buffering in a proxy; the only instruction to a proxy that apps may send.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Headers that a response on the shared origin may set, besides those with the prefix `x-`: they concern only this
/// response.
const ALLOWED_ON_SHARED_ORIGIN: [&str; 38] = [
    "accept-patch",
    "accept-post",
    "accept-ranges",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "access-control-max-age",
    "age",
    "allow",
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-location",
    "content-range",
    "content-security-policy",
    "content-security-policy-report-only",
    "content-type",
    "cross-origin-embedder-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "date",
    "deprecation",
    "digest",
    "etag",
    "expires",
    "idempotent-replayed",
    "last-modified",
    "link",
    "location",
    "permissions-policy",
    "pragma",
    "referrer-policy",
    "retry-after",
    "server-timing",
    "timing-allow-origin",
    "vary",
];

/// Returns the headers of a request that its app gets.
pub(super) fn request_headers(headers: &HeaderMap, mode: ServingMode) -> Vec<(String, String)> {
    let pairs = headers.iter().filter(|(name, _)| {
        // At its own host, the cookies are the app's; on the shared origin, they are the console's.
        !WITHHELD.contains(name) && (mode == ServingMode::OwnHost || **name != header::COOKIE)
    });
    pairs.map(|(name, value)| (name.as_str().to_owned(), byte_string::decode(value.as_bytes()))).collect()
}

/// Returns the value of a response header to send; `None` if the app may not set it.
pub(super) fn response_header(
    name: &HeaderName,
    value: HeaderValue,
    mode: ServingMode,
) -> Option<HeaderValue> {
    if WITHHELD.contains(name) || is_proxy_header(name) || *name == header::ALT_SVC {
        return None;
    }
    match mode {
        ServingMode::SharedOrigin => {
            let listed = ALLOWED_ON_SHARED_ORIGIN.binary_search(&name.as_str()).is_ok();
            (listed || name.as_str().starts_with("x-")).then_some(value)
        }
        ServingMode::OwnHost if *name == header::SET_COOKIE => strip_cookie_domain(&value),
        ServingMode::OwnHost => Some(value),
    }
}

/// Returns `true` for a body of several documents, each with headers of its own: in browsers that show them, these headers are
/// not those that were checked here.
pub(super) fn is_replaced_document(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::CONTENT_TYPE).iter();
    values.flat_map(|value| value.as_bytes().split(|byte| matches!(byte, b',' | b';'))).any(|part| {
        let part = part.trim_ascii();
        part.eq_ignore_ascii_case(b"multipart/x-mixed-replace")
            || part.eq_ignore_ascii_case(b"multipart/mixed-replace")
    })
}

fn is_proxy_header(name: &HeaderName) -> bool {
    *name != X_ACCEL_BUFFERING && PROXY_PREFIXES.iter().any(|beginning| name.as_str().starts_with(beginning))
}

/// Removes `Domain` from a cookie: with it, all apps would get the cookie.
fn strip_cookie_domain(value: &HeaderValue) -> Option<HeaderValue> {
    let is_domain = |part: &&[u8]| {
        let name = part.split(|byte| *byte == b'=').next().unwrap_or_default();
        name.trim_ascii().eq_ignore_ascii_case(b"domain")
    };
    let bytes = value.as_bytes();
    if !bytes.split(|byte| *byte == b';').skip(1).any(|part| is_domain(&part)) {
        return Some(value.clone());
    }
    let mut parts = bytes.split(|byte| *byte == b';');
    let mut kept = parts.next().unwrap_or_default().to_vec();
    for part in parts.filter(|part| !is_domain(part)) {
        kept.push(b';');
        kept.extend_from_slice(part);
    }
    HeaderValue::from_bytes(&kept).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_replace_each_other_are_known() {
        for (value, expected) in [
            ("multipart/x-mixed-replace; boundary=x", true),
            ("Multipart/X-Mixed-Replace", true),
            ("text/html, multipart/x-mixed-replace;boundary=x", true),
            ("multipart/mixed; boundary=x", false),
            ("text/html", false),
        ] {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(value))]);
            assert_eq!(is_replaced_document(&headers), expected, "{value}");
        }
    }

    fn sent(name: &str, value: &str, mode: ServingMode) -> Option<String> {
        let value = response_header(&name.parse().unwrap(), value.parse().unwrap(), mode)?;
        Some(value.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_list_of_headers_is_sorted() {
        assert!(ALLOWED_ON_SHARED_ORIGIN.is_sorted());
    }

    #[test]
    fn headers_about_an_origin_are_removed_on_the_shared_origin() {
        for name in [
            "nel",
            "report-to",
            "reporting-endpoints",
            "alt-svc",
            "www-authenticate",
            "set-login",
            "accept-ch",
            "critical-ch",
            "service-worker-allowed",
            "origin-agent-cluster",
            "use-as-dictionary",
            "set-cookie",
            "attribution-reporting-register-source",
            "attribution-reporting-register-trigger",
            "access-control-allow-credentials",
            "strict-transport-security",
            "clear-site-data",
            "speculation-rules",
            "refresh",
            "supports-loading-mode",
            "no-vary-search",
            "sourcemap",
            "public-key-pins",
            "expect-ct",
            "activate-storage-access",
            "observe-browsing-topics",
            "set-cookie2",
            "proxy-authenticate",
        ] {
            assert_eq!(sent(name, "x", ServingMode::SharedOrigin), None, "{name}");
        }
        for name in [
            "content-type",
            "cache-control",
            "etag",
            "location",
            "x-total-count",
            "access-control-allow-origin",
        ] {
            assert_eq!(sent(name, "x", ServingMode::SharedOrigin).as_deref(), Some("x"), "{name}");
        }
    }

    #[test]
    fn instructions_to_proxies_are_removed_on_every_origin() {
        for mode in [ServingMode::OwnHost, ServingMode::SharedOrigin] {
            for name in [
                "x-accel-redirect",
                "x-accel-limit-rate",
                "x-accel-expires",
                "x-sendfile",
                "x-sendfile-type",
                "x-lighttpd-send-file",
                "x-lighttpd-sendfile2",
                "x-litespeed-location",
                "x-reproxy-url",
                "x-original-url",
                "x-rewrite-url",
                "x-forwarded-for",
                "proxy-authenticate",
                "alt-svc",
            ] {
                assert_eq!(sent(name, "/etc", mode), None, "{name}");
            }
            assert_eq!(sent("x-accel-buffering", "yes", mode).as_deref(), Some("yes"));
        }
        assert_eq!(sent("www-authenticate", "Basic", ServingMode::OwnHost).as_deref(), Some("Basic"));
    }

    #[test]
    fn a_cookie_applies_only_to_its_own_host() {
        let own = |cookie| sent("set-cookie", cookie, ServingMode::OwnHost).unwrap();
        for kept in ["a=1", "domain=1; Path=/", "a=domain; Path=/; Secure; HttpOnly", "a=\"b; c\""] {
            assert_eq!(own(kept), kept);
        }
        assert_eq!(own("a=1; Domain=apps.example; Path=/"), "a=1; Path=/");
        assert_eq!(own("a=1;domain=.apps.example"), "a=1");
        assert_eq!(own("a=1; DOMAIN ; Secure; \tdomain\t=b"), "a=1; Secure");
        assert_eq!(sent("set-cookie", "a=1", ServingMode::SharedOrigin), None);
    }
}
