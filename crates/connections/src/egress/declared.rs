//! What a manifest declares.

use kernel::Problem;
use url::Url;

use crate::host::GateHost;

/// One entry of a manifest's egress: a host, and below which path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The host.
    pub host: GateHost,
    /// Requests must lie under this path; absent or `/…` without a slash at the end.
    pub prefix: Option<String>,
}

impl Declared {
    /// Reads `api.example.com`, `https://api.example.com` or `https://api.example.com/v1`.
    ///
    /// # Errors
    /// 400 when it is none of these.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let invalid = |what: &str| Problem::invalid_field("egress", format_args!("{text:?} {what}"));
        if !text.contains("://") {
            let host = GateHost::parse(text).map_err(|error| invalid(&error.to_string()))?;
            return Ok(Self { host, prefix: None });
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
        let host = GateHost::of(&url).map_err(|error| invalid(&error.to_string()))?;
        let prefix = url.path().trim_end_matches('/');
        Ok(Self { host, prefix: (!prefix.is_empty()).then(|| prefix.to_owned()) })
    }

    /// Whether `path` is this entry's path or lies under it.
    pub(super) fn covers(&self, path: &str) -> bool {
        self.prefix.as_deref().is_none_or(|prefix| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
