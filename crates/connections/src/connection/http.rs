//! The address of a service, and what may be asked of it.

use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::{
    auth::{Auth, parse_https, parse_secret_url},
    gates::Method,
    host::GateHost,
    invalid_input::{Field, InvalidInput, Reason},
    request_path::is_ambiguous,
};

/// Placeholder of the secret in the path of a base URL.
pub(crate) const SECRET_PLACEHOLDER: &str = "{secret}";
/// Placeholder of the request's path, for services whose secret follows the path. Only catalogue entries have it.
pub(crate) const PATH_PLACEHOLDER: &str = "{path}";

/// The URL that the paths of requests are appended to: `https`, an external host and a path without a slash at its end.
/// It has no credentials, query or fragment. The path may have the placeholder `{secret}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    host: GateHost,
    port: u16,
}

impl BaseUrl {
    /// Parses a base URL of 9 to 700 characters.
    ///
    /// # Errors
    /// [`InvalidInput`] about the base URL.
    pub fn parse(text: &str) -> Result<Self, InvalidInput> {
        Self::try_parse(text).map_err(|reason| InvalidInput::new(Field::BaseUrl, reason))
    }

    fn try_parse(text: &str) -> Result<Self, Reason> {
        if !(9..=700).contains(&text.chars().count()) {
            return Err(Reason::Length { min: 9, max: 700 });
        }
        let mut url = parse_https(text)?;
        if text.contains(['?', '#']) {
            return Err(Reason::QueryOrFragment);
        }
        let host = GateHost::from_url(&url)?;
        let raw_path =
            text.get(8..).and_then(|rest| rest.find('/').and_then(|at| rest.get(at..))).unwrap_or("");
        if is_ambiguous(raw_path) {
            return Err(Reason::AmbiguousPath);
        }
        url.set_host(Some(host.as_str())).map_err(|_| Reason::NotHttps)?;
        let port = url.port_or_known_default().unwrap_or(443);
        let origin = url.origin().ascii_serialization();
        // The parser encodes the braces of a placeholder.
        let path = url.path().replace("%7B", "{").replace("%7D", "}");
        Ok(Self { text: format!("{origin}{}", path.trim_end_matches('/')), host, port })
    }

    /// Returns the URL that is shown for a secret URL of this host: its origin and `/…`.
    #[must_use]
    pub fn hidden(host: GateHost, port: u16) -> Self {
        let port_text = if port == 443 { String::new() } else { format!(":{port}") };
        Self { text: format!("https://{host}{port_text}/…"), host, port }
    }

    /// Returns the URL as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &GateHost {
        &self.host
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the path: empty, or `/…` without a slash at its end.
    #[must_use]
    pub fn path(&self) -> &str {
        let rest = self.text.get(8..).unwrap_or_default();
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default()
    }

    /// Checks the placeholders against the kind of `auth`.
    pub(crate) fn check_placeholders(&self, auth: &Auth, may_have_path: bool) -> Result<(), InvalidInput> {
        let is_token = *auth == Auth::PathToken;
        let secrets = self.text.matches(SECRET_PLACEHOLDER).count();
        let paths = self.text.matches(PATH_PLACEHOLDER).count();
        let rest = self.text.replace(SECRET_PLACEHOLDER, "").replace(PATH_PLACEHOLDER, "");
        let in_path = self.path().matches(SECRET_PLACEHOLDER).count() == secrets;
        let is_valid = secrets == usize::from(is_token)
            && in_path
            && paths <= usize::from(may_have_path && is_token)
            && !rest.contains(['{', '}']);
        if is_valid { Ok(()) } else { Err(InvalidInput::new(Field::BaseUrl, Reason::Placeholder)) }
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A header that a connection adds to every request, such as the version of an API. It is no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtraHeader {
    /// Name in lower case.
    pub name: String,
    /// Value; 1 to 512 printable characters.
    pub value: String,
}

/// Where the requests of a connection go, and how they prove themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpConnection {
    /// URL that paths are appended to; for [`Auth::Url`], the host and `/…`.
    pub base_url: BaseUrl,
    /// Host of the base URL.
    pub host: GateHost,
    /// How requests prove themselves.
    pub auth: Auth,
    /// Methods that requests may use; 1 to 5.
    pub methods: Vec<Method>,
    /// Path, below the base URL, that requests must be under; `/` for every path.
    pub path_prefix: String,
    /// Headers that are added to every request; at most 8.
    pub headers: Vec<ExtraHeader>,
    /// Path, with an optional query, of a request that changes nothing.
    pub test_path: Option<String>,
    /// Whether a test sends a request.
    pub testable: bool,
    /// Name of the preset that the console filled the form with.
    pub preset: Option<String>,
}

impl HttpConnection {
    /// Returns the names of the headers that an app must not set, in lower case.
    #[must_use]
    pub fn injected_headers(&self) -> Vec<&str> {
        let mut names = self.auth.header_names();
        names.extend(self.headers.iter().map(|header| header.name.as_str()));
        names
    }

    /// Checks that requests can carry a secret: it has the form that `auth` needs, and a secret URL leads to this host.
    ///
    /// # Errors
    /// [`InvalidInput`] about the secret. It never repeats the secret.
    pub fn check_secret(&self, secret: &SecretString) -> Result<(), InvalidInput> {
        self.auth.check_secret(secret)?;
        if self.auth == Auth::Url {
            let (host, url) = parse_secret_url(secret)?;
            if host != self.host || url.port_or_known_default().unwrap_or(443) != self.base_url.port() {
                return Err(InvalidInput::new(Field::Secret, Reason::NotSecretUrl));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_brought_to_their_normal_form() {
        for (text, expected, host) in [
            ("https://api.example.com", "https://api.example.com", "api.example.com"),
            ("HTTPS://API.Example.com./v1/", "https://api.example.com/v1", "api.example.com"),
            ("https://api.example.com:443/", "https://api.example.com", "api.example.com"),
            ("https://api.example.com:8443/x", "https://api.example.com:8443/x", "api.example.com"),
            ("https://bücher.example/ж", "https://xn--bcher-kva.example/%D0%B6", "xn--bcher-kva.example"),
            (
                "https://api.example.com/bot{secret}/",
                "https://api.example.com/bot{secret}",
                "api.example.com",
            ),
        ] {
            let base = BaseUrl::parse(text).unwrap();
            assert_eq!((base.as_str(), base.host().as_str()), (expected, host));
            assert_eq!(BaseUrl::parse(base.as_str()).unwrap(), base);
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for text in [
            "",
            "https://",
            "https://x",
            "http://api.example.com",
            "ftp://a.example",
            "api.example.com/long",
            "https:api.example.com",
            "https:///api.example.com",
            "https://u@a.example",
            "https://u:p@a.example",
            "https://@a.example",
            "https://a.example?x",
            "https://a.example/#x",
            "https://a.exa\tmple",
            "https://a.example\\@b.example",
            "https://a.example/a b",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://localhost/",
            "https://a.internal/",
            "https://a%2eexample/",
            "https://a.example/../x",
            "https://a.example/a/..%2fx",
            "https://a.example/%252e%252e/x",
            "https://a.example:99999/",
            "https://a..example/",
        ] {
            assert!(BaseUrl::parse(text).is_err(), "{text}");
        }
        assert!(BaseUrl::parse(&format!("https://a.example/{}", "x".repeat(682))).is_ok());
        assert!(BaseUrl::parse(&format!("https://a.example/{}", "x".repeat(683))).is_err());
    }
}
