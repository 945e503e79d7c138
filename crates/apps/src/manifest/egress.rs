//! External hosts that an app may call.

use kernel::request_headers::CredentialHeader;
use serde::{Deserialize, Serialize};

use super::HttpMethod;

/// An external host that an app may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EgressPermission {
    /// Lower-case host name without scheme, port or path.
    pub host: String,
    /// Methods that the app may use; all by default.
    #[serde(default)]
    pub methods: Option<Vec<EgressMethod>>,
    /// Headers with credentials that the code may set itself; none by default.
    // Left out when empty, so that the hash of permissions that were reviewed before there were any stays.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<CredentialHeader>,
}

impl EgressPermission {
    /// Creates a permission to call a host, without credentials.
    #[must_use]
    pub fn new(host: impl Into<String>, methods: Option<Vec<EgressMethod>>) -> Self {
        Self { host: host.into(), methods, headers: Vec::new() }
    }
}

/// A method of a request to an external host. The service of a connection is called with those of [`HttpMethod`] only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are those of HTTP")]
pub enum EgressMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

kernel::names! {
    EgressMethod {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
        Options = "OPTIONS",
    }
}

impl EgressMethod {
    /// Returns `true` if a request with the method only reads (RFC 9110, section 9.2.1).
    #[must_use]
    pub fn is_safe(self) -> bool {
        match self {
            Self::Get | Self::Head | Self::Options => true,
            Self::Post | Self::Put | Self::Patch | Self::Delete => false,
        }
    }
}

impl From<HttpMethod> for EgressMethod {
    fn from(method: HttpMethod) -> Self {
        match method {
            HttpMethod::Get => Self::Get,
            HttpMethod::Post => Self::Post,
            HttpMethod::Put => Self::Put,
            HttpMethod::Patch => Self::Patch,
            HttpMethod::Delete => Self::Delete,
        }
    }
}
