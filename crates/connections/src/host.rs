//! Names of external hosts.

use std::{fmt, net::Ipv4Addr, str::FromStr};

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// The name of an external host in its normal form: ASCII (IDNA), lower case, without a trailing dot, at least two
/// labels and at most 253 bytes. It is never an IP address, and never a name that only resolves inside a network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GateHost(String);

/// The reason why a text does not name an external host; the rest of a sentence that begins with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHost {
    /// The text does not consist of labels of letters, digits, hyphens and underscores.
    #[error("is not a host name")]
    Malformed,
    /// The text is an IP address in some spelling.
    #[error("is an IP address; use a host name")]
    IpAddress,
    /// The name is internal, such as `localhost`, `printer` or `db.internal`.
    #[error("is a name that only resolves inside a network")]
    Internal,
}

/// Suffixes of names that are never hosts of the public internet.
const INTERNAL_SUFFIXES: &[&str] =
    &["localhost", "local", "internal", "home.arpa", "localdomain", "lan", "intranet", "corp", "home"];

impl GateHost {
    /// Parses a name and brings it to its normal form.
    ///
    /// # Errors
    /// [`InvalidHost`] when the text is malformed, an IP address, or an internal name.
    pub fn parse(text: &str) -> Result<Self, InvalidHost> {
        // A port, a path, credentials, an escape or an IPv6 literal is more than a name.
        if text.is_empty()
            || text.len() > 512
            || text.contains(|c: char| c.is_ascii_control() || " /\\?#@:[]%".contains(c))
        {
            return Err(InvalidHost::Malformed);
        }
        match Host::parse(text).map_err(|_| InvalidHost::Malformed)? {
            Host::Domain(name) => Self::from_ascii(&name),
            Host::Ipv4(_) | Host::Ipv6(_) => Err(InvalidHost::IpAddress),
        }
    }

    /// Returns the host of a parsed URL in its normal form.
    ///
    /// # Errors
    /// Same as [`GateHost::parse`].
    pub fn from_url(url: &Url) -> Result<Self, InvalidHost> {
        match url.host() {
            Some(Host::Domain(name)) => Self::from_ascii(name),
            Some(Host::Ipv4(_) | Host::Ipv6(_)) => Err(InvalidHost::IpAddress),
            None => Err(InvalidHost::Malformed),
        }
    }

    fn from_ascii(name: &str) -> Result<Self, InvalidHost> {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        let label = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        if name.len() > 253 || !name.split('.').all(label) {
            return Err(InvalidHost::Malformed);
        }
        if name.parse::<Ipv4Addr>().is_ok() || name.rsplit('.').next().is_some_and(is_number) {
            return Err(InvalidHost::IpAddress);
        }
        let internal = |suffix: &&str| {
            name.strip_suffix(*suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if !name.contains('.') || INTERNAL_SUFFIXES.iter().any(internal) {
            return Err(InvalidHost::Internal);
        }
        Ok(Self(name))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns `true` for a last label that some resolvers read as part of an IPv4 address.
fn is_number(label: &str) -> bool {
    label.bytes().all(|byte| byte.is_ascii_digit())
        || label.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl fmt::Display for GateHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for GateHost {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        Self::parse(text)
    }
}

impl TryFrom<String> for GateHost {
    type Error = InvalidHost;

    fn try_from(text: String) -> Result<Self, InvalidHost> {
        Self::parse(&text)
    }
}

impl From<GateHost> for String {
    fn from(host: GateHost) -> Self {
        host.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_brought_to_their_normal_form() {
        for (text, name) in [
            ("api.example.com", "api.example.com"),
            ("API.Example.COM.", "api.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("ｅxample.com", "example.com"),
            ("_dmarc.example.com", "_dmarc.example.com"),
        ] {
            assert_eq!(GateHost::parse(text).unwrap().as_str(), name, "{text}");
        }
    }

    #[test]
    fn addresses_and_internal_or_malformed_names_are_refused() {
        use InvalidHost::{Internal, IpAddress, Malformed};
        for (text, why) in [
            ("", Malformed),
            ("a b.com", Malformed),
            ("a.com/x", Malformed),
            ("a.com:443", Malformed),
            ("u@a.com", Malformed),
            ("a..com", Malformed),
            ("-a.com", Malformed),
            ("*.example.com", Malformed),
            ("a%2ecom", Malformed),
            ("a.com\r\nx: y", Malformed),
            ("a.com\0", Malformed),
            ("[::1]", Malformed),
            ("127.0.0.1", IpAddress),
            ("127.1", IpAddress),
            ("2130706433", IpAddress),
            ("0x7f000001", IpAddress),
            ("0177.0.0.1", IpAddress),
            ("１２７.0.0.1", IpAddress),
            ("localhost", Internal),
            ("LOCALHOST.", Internal),
            ("a.localhost", Internal),
            ("printer.local", Internal),
            ("metadata.google.internal", Internal),
            ("router.home.arpa", Internal),
            ("intranet", Internal),
            ("com", Internal),
        ] {
            assert_eq!(GateHost::parse(text), Err(why), "{text:?}");
        }
    }
}
