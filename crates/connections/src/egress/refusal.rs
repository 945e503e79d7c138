//! Why a request did not get out, or its answer not in.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The stable reasons, in the order in which they are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RefusalCode {
    /// The URL does not parse, or says what no URL may.
    InvalidUrl,
    /// The manifest does not declare the host.
    EgressDenied,
    /// No open gate leads to the host, or not to that port.
    HostDenied,
    /// The gate does not let the method through.
    MethodDenied,
    /// The path is outside what is declared.
    PathDenied,
    /// A header that an app may not set, or one that is malformed.
    HeaderDenied,
    /// The connection that the gate names is not there.
    NotConnected,
    /// The connection's credential has expired.
    Expired,
    /// Too many requests.
    RateLimited,
    /// The body is too large.
    RequestTooLarge,
    /// The name does not resolve.
    DnsFailed,
    /// The name or literal leads into a network that is not the internet.
    PrivateAddress,
    /// The credential cannot be opened.
    SecretUnavailable,
    /// The other side refused the credential.
    AuthRejected,
    /// The other side cannot be reached, or broke off.
    UpstreamFailed,
    /// The other side did not prove who it is.
    TlsFailed,
    /// It took too long.
    Timeout,
    /// The answer is too large.
    ResponseTooLarge,
    /// The answer leads elsewhere.
    RedirectDenied,
}

impl RefusalCode {
    /// The name on the wire, in logs and for app code.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidUrl => "invalid_url",
            Self::EgressDenied => "egress_denied",
            Self::HostDenied => "host_denied",
            Self::MethodDenied => "method_denied",
            Self::PathDenied => "path_denied",
            Self::HeaderDenied => "header_denied",
            Self::NotConnected => "not_connected",
            Self::Expired => "expired",
            Self::RateLimited => "rate_limited",
            Self::RequestTooLarge => "request_too_large",
            Self::DnsFailed => "dns_failed",
            Self::PrivateAddress => "private_address",
            Self::SecretUnavailable => "secret_unavailable",
            Self::AuthRejected => "auth_rejected",
            Self::UpstreamFailed => "upstream_failed",
            Self::TlsFailed => "tls_failed",
            Self::Timeout => "timeout",
            Self::ResponseTooLarge => "response_too_large",
            Self::RedirectDenied => "redirect_denied",
        }
    }

    /// Whether a rule refused, as against the other side failing: such a run is blocked, not failed.
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

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal with a sentence for people. It names the host at most, never the path, the query or a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// The reason.
    pub code: RefusalCode,
    /// The sentence.
    pub message: String,
}

impl Refusal {
    /// A refusal.
    #[must_use]
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The stable reason, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code.as_str()
    }
}
