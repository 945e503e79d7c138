//! Request headers that code cannot set, or only where a manifest says so: whoever generates code needs to know what the gate
//! refuses.

use serde::{Deserialize, Serialize};

/// A request header with credentials that code got while it ran, such as a token from a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialHeader {
    /// `Authorization` (RFC 9110, section 11.6.2).
    Authorization,
    /// `Cookie` (RFC 6265, section 4.2).
    Cookie,
}

crate::names! {
    CredentialHeader {
        Authorization = "authorization",
        Cookie = "cookie",
    }
}

/// Headers that only the gate sets, that concern a single connection, or that cloud metadata services ask for.
const RESERVED: &[&str] = &[
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
const RESERVED_PREFIXES: &[&str] = &["proxy-", "x-forwarded-", "sec-", ":"];

/// Headers by which frameworks and proxies take another method, path, host or address than the request has. An app's limits
/// hang on the request's own.
const OVERRIDING: &[&str] = &[
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
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns `true` if a server may take another method, path, host or address from the header; `name` is in lower case.
#[must_use]
pub fn is_overriding(name: &str) -> bool {
    OVERRIDING.contains(&name)
}
