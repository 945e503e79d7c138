//! The hosts that a manifest declares.

use url::Url;

use crate::{
    gates::Method,
    host::{GateHost, InvalidHost},
};
use kernel::request_headers::CredentialHeader;

/// One entry of a manifest's egress: a host, optionally limited to methods and to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredEgress {
    /// Host.
    pub host: GateHost,
    /// Path that requests must be under: `/…` without a trailing slash. None for every path.
    pub path_prefix: Option<String>,
    /// Methods that requests may use; none for all that the gate allows.
    pub methods: Option<Vec<Method>>,
    /// Headers with credentials that the code may set itself.
    pub headers: Vec<CredentialHeader>,
}

/// Error of a text that is not a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDeclaration {
    /// The host is not one of the public internet.
    #[error(transparent)]
    Host(#[from] InvalidHost),
    /// The text has a scheme and is not a URL.
    #[error("is not a URL")]
    NotAUrl,
    /// The URL has more than a host and a path, or is not https.
    #[error("must be https:// with a host and an optional path")]
    NotPlain,
}

impl DeclaredEgress {
    /// Parses `api.example.com`, `https://api.example.com` or `https://api.example.com/v1`.
    ///
    /// # Errors
    /// [`InvalidDeclaration`] for any other form.
    pub fn parse(text: &str) -> Result<Self, InvalidDeclaration> {
        if !text.contains("://") {
            return Ok(Self::for_host(GateHost::parse(text)?));
        }
        let url = Url::parse(text).map_err(|_| InvalidDeclaration::NotAUrl)?;
        let plain = url.scheme() == "https"
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.port().is_none();
        if !plain {
            return Err(InvalidDeclaration::NotPlain);
        }
        let host = GateHost::from_url(&url)?;
        let prefix = url.path().trim_end_matches('/');
        Ok(Self { path_prefix: (!prefix.is_empty()).then(|| prefix.to_owned()), ..Self::for_host(host) })
    }

    /// Declares a host with every path and method.
    #[must_use]
    pub fn for_host(host: GateHost) -> Self {
        Self { host, path_prefix: None, methods: None, headers: Vec::new() }
    }

    /// Limits the entry to these methods.
    #[must_use]
    pub fn with_methods(self, methods: Vec<Method>) -> Self {
        Self { methods: Some(methods), ..self }
    }

    /// Lets the code set these headers itself.
    #[must_use]
    pub fn with_headers(self, headers: Vec<CredentialHeader>) -> Self {
        Self { headers, ..self }
    }

    pub(super) fn allows_method(&self, method: Method) -> bool {
        self.methods.as_ref().is_none_or(|methods| methods.contains(&method))
    }

    /// Returns `true` if `path` is this entry's path or is under it.
    pub(super) fn covers_path(&self, path: &str) -> bool {
        self.path_prefix.as_deref().is_none_or(|prefix| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
