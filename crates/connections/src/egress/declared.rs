//! The hosts that a manifest declares.

use kernel::Problem;
use url::Url;

use crate::{gates::Method, host::GateHost};

/// One entry of a manifest's egress: a host, optionally limited to methods and to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredEgress {
    /// Host.
    pub host: GateHost,
    /// Path that requests must be under: `/…` without a trailing slash. None for every path.
    pub path_prefix: Option<String>,
    /// Methods that requests may use; none for all that the gate allows.
    pub methods: Option<Vec<Method>>,
}

impl DeclaredEgress {
    /// Parses `api.example.com`, `https://api.example.com` or `https://api.example.com/v1`.
    ///
    /// # Errors
    /// 400 `invalid_request` for any other form.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let invalid = |what: &str| Problem::invalid_field("egress", format_args!("{text:?} {what}"));
        if !text.contains("://") {
            let host = GateHost::parse(text).map_err(|error| invalid(&error.to_string()))?;
            return Ok(Self::for_host(host));
        }
        let url = Url::parse(text).map_err(|_| invalid("is not a URL"))?;
        let plain = url.scheme() == "https"
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.port().is_none();
        if !plain {
            return Err(invalid("must be https:// with a host and an optional path"));
        }
        let host = GateHost::from_url(&url).map_err(|error| invalid(&error.to_string()))?;
        let prefix = url.path().trim_end_matches('/');
        Ok(Self { path_prefix: (!prefix.is_empty()).then(|| prefix.to_owned()), ..Self::for_host(host) })
    }

    /// Declares a host with every path and method.
    #[must_use]
    pub fn for_host(host: GateHost) -> Self {
        Self { host, path_prefix: None, methods: None }
    }

    /// Limits the entry to these methods.
    #[must_use]
    pub fn with_methods(self, methods: Vec<Method>) -> Self {
        Self { methods: Some(methods), ..self }
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
