//! What a manifest declares.

use kernel::Problem;
use url::Url;

use crate::{gates::Method, host::GateHost};

/// One entry of a manifest's egress: a host, with which methods, and below which path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredEgress {
    /// The host.
    pub host: GateHost,
    /// Requests must lie under this path; absent or `/…` without a slash at the end.
    pub path_prefix: Option<String>,
    /// The only methods it may be called with; none for whatever the gate allows.
    pub methods: Option<Vec<Method>>,
}

impl DeclaredEgress {
    /// Reads `api.example.com`, `https://api.example.com` or `https://api.example.com/v1`.
    ///
    /// # Errors
    /// 400 when it is none of these.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let invalid = |what: &str| Problem::invalid_field("egress", format_args!("{text:?} {what}"));
        if !text.contains("://") {
            let host = GateHost::parse(text).map_err(|error| invalid(&error.to_string()))?;
            return Ok(Self::for_host(host));
        }
        let url = Url::parse(text).map_err(|_| invalid("is no URL"))?;
        let plain = url.scheme() == "https"
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.port().is_none();
        if !plain {
            return Err(invalid("must be https:// with a host and at most a path"));
        }
        let host = GateHost::from_url(&url).map_err(|error| invalid(&error.to_string()))?;
        let prefix = url.path().trim_end_matches('/');
        Ok(Self { path_prefix: (!prefix.is_empty()).then(|| prefix.to_owned()), ..Self::for_host(host) })
    }

    /// A whole host, with every method.
    #[must_use]
    pub fn for_host(host: GateHost) -> Self {
        Self { host, path_prefix: None, methods: None }
    }

    /// The same entry, limited to these methods.
    #[must_use]
    pub fn with_methods(self, methods: Vec<Method>) -> Self {
        Self { methods: Some(methods), ..self }
    }

    pub(super) fn allows_method(&self, method: Method) -> bool {
        self.methods.as_ref().is_none_or(|methods| methods.contains(&method))
    }

    /// Whether `path` is this entry's path or lies under it.
    pub(super) fn covers_path(&self, path: &str) -> bool {
        self.path_prefix.as_deref().is_none_or(|prefix| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
