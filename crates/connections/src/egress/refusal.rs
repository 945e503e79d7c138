//! The reasons why a request was not sent, or its response not accepted.

use serde::{Deserialize, Serialize};

/// A stable reason for a refusal. The order is that of the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// The request does not come from a run or a visit that is going on.
    Unauthenticated,
    /// The workspace has used up its quota, or the app is paused.
    Quota,
    /// The URL does not parse, or has a part that is not allowed.
    InvalidUrl,
    /// The manifest does not declare the host, or the URL has a public IP address, which no manifest can declare.
    EgressDenied,
    /// No open gate allows the host, its name is internal, or the port is not allowed.
    HostDenied,
    /// The gate or the manifest does not allow the method.
    MethodDenied,
    /// The path is outside the paths that the manifest declares.
    PathDenied,
    /// A header is malformed, or is one that apps must not set.
    HeaderDenied,
    /// The connection of the gate does not exist.
    NotConnected,
    /// The connection's credential has expired.
    Expired,
    /// There were too many requests.
    RateLimited,
    /// The request body is too large.
    RequestTooLarge,
    /// The name does not resolve.
    DnsFailed,
    /// The host is, or resolves to, an address that is not of the public internet.
    PrivateAddress,
    /// The credential cannot be opened.
    SecretUnavailable,
    /// The host rejected the credential.
    AuthRejected,
    /// The host cannot be reached, or closed the connection.
    UpstreamFailed,
    /// The host did not prove its identity by a certificate.
    TlsFailed,
    /// The request timed out.
    Timeout,
    /// The response is too large.
    ResponseTooLarge,
    /// The response redirects to another origin, to no valid URL, or too often.
    RedirectDenied,
}

kernel::names! {
    RefusalCode {
        Unauthenticated = "unauthenticated",
        Quota = "quota",
        InvalidUrl = "invalid_url",
        EgressDenied = "egress_denied",
        HostDenied = "host_denied",
        MethodDenied = "method_denied",
        PathDenied = "path_denied",
        HeaderDenied = "header_denied",
        NotConnected = "not_connected",
        Expired = "expired",
        RateLimited = "rate_limited",
        RequestTooLarge = "request_too_large",
        DnsFailed = "dns_failed",
        PrivateAddress = "private_address",
        SecretUnavailable = "secret_unavailable",
        AuthRejected = "auth_rejected",
        UpstreamFailed = "upstream_failed",
        TlsFailed = "tls_failed",
        Timeout = "timeout",
        ResponseTooLarge = "response_too_large",
        RedirectDenied = "redirect_denied",
    }
}

impl RefusalCode {
    /// Returns `true` if a rule refused the request, and not the network or the host. The run is then blocked, not
    /// failed.
    #[must_use]
    pub fn is_policy_refusal(self) -> bool {
        matches!(
            self,
            Self::InvalidUrl
                | Self::EgressDenied
                | Self::HostDenied
                | Self::MethodDenied
                | Self::PathDenied
                | Self::HeaderDenied
                | Self::PrivateAddress
                | Self::RedirectDenied
        )
    }
}

/// A refusal with a message for people. The message may name the host, but never the path, the query or a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// Stable reason.
    pub code: RefusalCode,
    /// Message, without a full stop.
    pub message: String,
}

impl Refusal {
    /// Creates a refusal.
    #[must_use]
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Returns the name of the stable reason.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code.as_str()
    }
}
