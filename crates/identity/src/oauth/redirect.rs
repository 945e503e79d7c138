//! Redirect URIs of clients (draft-ietf-oauth-v2-1, sections 2.3 and 8.4.2).

use std::{fmt, str::FromStr};

use url::{Host, Position, Url};

/// Maximum length of a redirect URI in bytes.
pub const MAX_REDIRECT_URI_BYTES: usize = 1024;

/// Schemes of well-known desktop programs that have no dot, contrary to RFC 8252, section 7.1. They require a host.
/// Any program on a machine may claim a private scheme: PKCE protects the code from other programs, and the consent
/// page warns.
pub const DESKTOP_SCHEMES: [&str; 11] = [
    "claude",
    "cursor",
    "kiro",
    "raycast",
    "vscode",
    "vscode-insiders",
    "vscodium",
    "warp",
    "windsurf",
    "windsurf-next",
    "zed",
];

/// A redirect URI of a safe kind: https, http to a loopback host, a private scheme with a dot, or one of
/// [`DESKTOP_SCHEMES`].
///
/// It is kept as written, and accepted only in a form in which all parsers see the same host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectUri {
    text: String,
    url: Url,
}

/// Error of a text that is not an acceptable redirect URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRedirectUri {
    /// The URI is malformed or of an unsafe kind.
    #[error(
        "the redirect URI must be https, http to a loopback host, or a private scheme, without a fragment"
    )]
    Unsafe,
    /// The URI is well-formed, but its private scheme is unknown.
    #[error("the private scheme of the redirect URI has no dot and is unknown")]
    UnknownScheme,
}

impl RedirectUri {
    /// Returns the URI as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the scheme.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// Returns the destination to show to people: the host, or the scheme and authority of a private scheme.
    #[must_use]
    pub fn display_target(&self) -> String {
        match (self.is_http(), authority(&self.text)) {
            (true, _) => self.host().to_owned(),
            (false, "") => format!("{}:", self.scheme()),
            (false, authority) => format!("{}://{authority}", self.scheme()),
        }
    }

    /// Returns the host; empty for a private scheme, whose authority is not a network host.
    #[must_use]
    pub fn host(&self) -> &str {
        if self.is_http() { self.url.host_str().unwrap_or_default() } else { "" }
    }

    /// Returns scheme, host and port; only the scheme of a private one.
    #[must_use]
    pub fn origin(&self) -> String {
        if self.is_http() { self.url.origin().ascii_serialization() } else { format!("{}:", self.scheme()) }
    }

    /// True if the URI leads to a program on the person's own machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.scheme() != "https"
    }

    /// True if a client that registered this URI may use `requested`. Both must be equal byte for byte, except for the
    /// port of an http URI, since loopback clients listen on any free port (RFC 8252, section 7.3).
    #[must_use]
    pub fn allows(&self, requested: &Self) -> bool {
        self.text == requested.text
            || (self.scheme() == "http"
                && requested.scheme() == "http"
                && self.without_port() == requested.without_port())
    }

    /// Returns the URI with the parameters of a response added to its query.
    #[must_use]
    pub fn with_query(&self, parameters: &[(&str, &str)]) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters);
        let separator = match self.text.split_once('?') {
            None => "?",
            Some((_, "")) => "",
            Some(_) => "&",
        };
        format!("{}{separator}{}", self.text, query.finish())
    }

    fn is_http(&self) -> bool {
        matches!(self.scheme(), "https" | "http")
    }

    /// Splits the URI around its port into scheme with host, and path with query.
    fn without_port(&self) -> (&str, &str) {
        let host = &self.url[..Position::AfterHost];
        let rest = self.text.get(host.len()..).unwrap_or_default();
        (host, rest.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()))
    }
}

impl FromStr for RedirectUri {
    type Err = InvalidRedirectUri;

    fn from_str(text: &str) -> Result<Self, InvalidRedirectUri> {
        let is_plain = text.len() <= MAX_REDIRECT_URI_BYTES
            && text.bytes().all(|byte| byte.is_ascii_graphic())
            && !text.contains(['#', '\\', '"', '<', '>', '`', '^', '{', '}', '|']);
        if !is_plain || has_dot_segment(text) {
            return Err(InvalidRedirectUri::Unsafe);
        }
        let url = Url::parse(text).map_err(|_| InvalidRedirectUri::Unsafe)?;
        let authority = authority(text);
        let is_safe = match url.scheme() {
            "https" => matches!(url.host(), Some(Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_))),
            "http" => is_loopback(&url),
            scheme if scheme.contains('.') => true,
            // No scheme that browsers or operating systems handle themselves is in the list.
            scheme => DESKTOP_SCHEMES.contains(&scheme) && !authority.is_empty(),
        };
        let is_as_written = if matches!(url.scheme(), "https" | "http") {
            is_canonical(text, &url)
        } else {
            text.starts_with(url.scheme())
        };
        match is_as_written && !authority.contains('@') {
            true if is_safe => Ok(Self { text: text.to_owned(), url }),
            true if !authority.is_empty() && !RESERVED_SCHEMES.contains(&url.scheme()) => {
                Err(InvalidRedirectUri::UnknownScheme)
            }
            _ => Err(InvalidRedirectUri::Unsafe),
        }
    }
}

impl fmt::Display for RedirectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Schemes that browsers or operating systems handle themselves. They are unsafe, not merely unknown.
const RESERVED_SCHEMES: [&str; 24] = [
    "about",
    "blob",
    "chrome",
    "chrome-extension",
    "content",
    "data",
    "devtools",
    "edge",
    "file",
    "filesystem",
    "ftp",
    "http",
    "https",
    "intent",
    "jar",
    "javascript",
    "mailto",
    "moz-extension",
    "ms-settings",
    "smb",
    "vbscript",
    "view-source",
    "ws",
    "wss",
];

/// Checks for a loopback host. [`RedirectUri::allows`] compares hosts as written: `localhost` is not `127.0.0.1`.
fn is_loopback(url: &Url) -> bool {
    matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"))
}

/// Checks that the text begins with scheme and host exactly as the parser returns them, so that capital letters,
/// unusual notations of IP addresses, percent-encoding and user names cannot hide a host.
fn is_canonical(text: &str, url: &Url) -> bool {
    let Some(rest) = text.strip_prefix(&url[..Position::AfterHost]) else { return false };
    let rest = match rest.strip_prefix(':') {
        None => rest,
        Some(port) => {
            let after = port.trim_start_matches(|c: char| c.is_ascii_digit());
            if after.len() == port.len() {
                return false;
            }
            after
        }
    };
    rest.is_empty() || rest.starts_with(['/', '?'])
}

/// Returns the text between `://` and the path or query; empty if there is none.
fn authority(text: &str) -> &str {
    text.split_once("://").map_or("", |(_, rest)| rest).split(['/', '?']).next().unwrap_or_default()
}

/// Checks for a path segment `.` or `..`, percent-encoded or not.
fn has_dot_segment(text: &str) -> bool {
    let path = text.split('?').next().unwrap_or_default();
    path.split('/').skip(1).any(|segment| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        segment == "." || segment == ".."
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> RedirectUri {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn safe_redirect_uris_are_kept_as_written() {
        for (text, origin, host, local) in [
            ("https://client.example/cb", "https://client.example", "client.example", false),
            ("https://client.example", "https://client.example", "client.example", false),
            ("https://client.example:8443/cb?a=b", "https://client.example:8443", "client.example", false),
            ("http://127.0.0.1:5000/cb", "http://127.0.0.1:5000", "127.0.0.1", true),
            ("http://[::1]/cb", "http://[::1]", "[::1]", true),
            ("http://localhost/cb", "http://localhost", "localhost", true),
            ("com.example.agent:/cb", "com.example.agent:", "", true),
            ("com.example.agent://cb", "com.example.agent:", "", true),
            ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor:", "", true),
            ("vscode://vscode.github-authentication/did-authenticate?a=b", "vscode:", "", true),
            ("warp://mcp/oauth2callback", "warp:", "", true),
        ] {
            let uri = uri(text);
            assert_eq!((uri.as_str(), uri.origin().as_str()), (text, origin));
            assert_eq!((uri.host(), uri.is_local()), (host, local), "{text}");
        }
    }

    #[test]
    fn a_redirect_uri_that_could_lead_elsewhere_is_refused() {
        for text in [
            "",
            "//evil.example",
            "/cb",
            "http://client.example/cb",
            "http://127.0.0.2/cb",
            "http://localhost.evil.example/cb",
            "http://127.1/cb",
            "http://0x7f000001/cb",
            "https://client.example@evil.example/cb",
            "https://client.example%25@evil.example/cb",
            "https://client.example%40evil.example/cb",
            "https://user:pw@client.example/cb",
            "https://client.example/cb#fragment",
            "https://client.example/cb#",
            "https://client.example/../cb",
            "https://client.example/a/./cb",
            "https://client.example/%2e%2E/cb",
            "https://client.example\\@evil.example/",
            "https:/client.example/cb",
            "https:client.example/cb",
            "https://Client.example/cb",
            "HTTPS://client.example/cb",
            "https://клиент.example/cb",
            "https://client.example/ cb",
            "https://client.example/\tcb",
            "https://client.example/c\nb",
            "https://client.example:/cb",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "agent:/cb",
            "agent://cb",
            "cursor:/cb",
            "cursor:cb",
            "cursor://",
            "cursor:///cb",
            "cursor://user@anysphere.cursor-mcp/cb",
            "cursor://anysphere.cursor-mcp/cb#x",
            "cursor://anysphere.cursor-mcp/../cb",
            "Cursor://anysphere.cursor-mcp/cb",
            "cursorx://anysphere.cursor-mcp/cb",
            "javascript://cursor/%0Aalert(1)",
            "vbscript://x/y",
            "data://text/html,x",
            "intent://x/#Intent;end",
            "file://localhost/etc/passwd",
            "Com.example.agent:/cb",
            "com.example.agent://user@cb",
        ] {
            assert!(text.parse::<RedirectUri>().is_err(), "{text:?}");
        }
        assert!(
            format!("https://client.example/{}", "a".repeat(MAX_REDIRECT_URI_BYTES))
                .parse::<RedirectUri>()
                .is_err()
        );
    }

    #[test]
    fn only_a_well_formed_private_scheme_is_unknown_rather_than_unsafe() {
        let why = |text: &str| text.parse::<RedirectUri>().unwrap_err();
        for unknown in
            ["agent://cb", "cursor-nightly://anysphere.cursor-mcp/oauth/callback", "myapp://auth?x=1"]
        {
            assert_eq!(why(unknown), InvalidRedirectUri::UnknownScheme, "{unknown}");
        }
        for not_safe in [
            "javascript://x/alert(1)",
            "data://x/y",
            "file://x/y",
            "ws://x/y",
            "ftp://x/y",
            "http://x.example/y",
            "agent:/cb",
            "agent:cb",
            "agent://a@b/c",
            "agent://a/../b",
            "agent://a#b",
            "Agent://a/b",
            "nonsense",
        ] {
            assert_eq!(why(not_safe), InvalidRedirectUri::Unsafe, "{not_safe}");
        }
    }

    #[test]
    fn the_destination_of_a_response_can_be_shown() {
        for (text, destination) in [
            ("https://client.example:8443/cb", "client.example"),
            ("http://127.0.0.1:5000/cb", "127.0.0.1"),
            ("com.example.agent:/cb", "com.example.agent:"),
            ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp"),
        ] {
            assert_eq!(uri(text).display_target(), destination);
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_uri_may_differ() {
        let allows = |registered: &str, requested: &str| uri(registered).allows(&uri(requested));
        assert!(allows("http://localhost/callback", "http://localhost:53412/callback"));
        assert!(allows("http://127.0.0.1:1/cb?a=b", "http://127.0.0.1:65000/cb?a=b"));
        assert!(allows("https://client.example/cb", "https://client.example/cb"));
        for (registered, requested) in [
            ("http://localhost/callback", "http://127.0.0.1/callback"),
            ("http://localhost/callback", "http://localhost/callback/"),
            ("http://localhost/callback", "http://localhost:1/callback?a"),
            ("http://localhost", "http://localhost/"),
            ("https://client.example/cb", "https://client.example:8443/cb"),
            ("https://client.example/cb", "https://client.example/cb?a=b"),
            ("https://client.example/cb", "https://other.example/cb"),
            ("https://localhost/cb", "https://localhost:444/cb"),
        ] {
            assert!(!allows(registered, requested), "{registered} {requested}");
        }
    }

    #[test]
    fn response_parameters_are_added_to_the_query() {
        let parameters = [("code", "a b"), ("iss", "https://q.example")];
        let added = "code=a+b&iss=https%3A%2F%2Fq.example";
        assert_eq!(
            uri("https://c.example/cb").with_query(&parameters),
            format!("https://c.example/cb?{added}")
        );
        assert_eq!(
            uri("https://c.example/cb?x=1").with_query(&parameters),
            format!("https://c.example/cb?x=1&{added}")
        );
        assert_eq!(
            uri("https://c.example/cb?").with_query(&parameters),
            format!("https://c.example/cb?{added}")
        );
        assert_eq!(
            uri("com.example.agent:/cb").with_query(&parameters),
            format!("com.example.agent:/cb?{added}")
        );
    }
}
