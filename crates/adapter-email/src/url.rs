//! The URL of the mail server.

use std::{net::Ipv4Addr, str::FromStr};

use secrecy::SecretString;
use url::{Host, Url};

/// The URL of a mail server, with the credentials for it:
///
/// * `smtps://USER:PASSWORD@HOST`: TLS from the first byte, port 465 (RFC 8314)
/// * `smtp://USER:PASSWORD@HOST`: STARTTLS, which the server must offer, port 587
/// * `smtp://HOST?tls=none`: unencrypted, port 25; without credentials, or to this machine
///
/// A server on this machine given as `smtp://` is used unencrypted, unless `?tls=required` is set.
#[derive(Debug, Clone)]
pub struct SmtpUrl {
    /// URL in the form that `lettre` reads.
    pub(crate) url: SecretString,
    /// Host of the server, which is not a secret.
    pub(crate) host: String,
    /// True if the connection is encrypted.
    pub is_encrypted: bool,
}

/// The reason for which a text is not the URL of a mail server. Never repeats the text, which may hold a password.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SmtpUrlError {
    /// The text is not a URL of the right kind.
    #[error("must be smtp://… or smtps://… with a host and without a path")]
    Malformed,
    /// `tls` has another value, or there are other parameters.
    #[error("the only parameter must be tls=required or tls=none")]
    Parameter,
    /// Credentials would be sent unencrypted.
    #[error("a password must not be sent unencrypted over the network: remove tls=none")]
    PlaintextPassword,
}

impl FromStr for SmtpUrl {
    type Err = SmtpUrlError;

    fn from_str(text: &str) -> Result<Self, SmtpUrlError> {
        let mut url: Url = text.parse().map_err(|_| SmtpUrlError::Malformed)?;
        let is_loopback = match url.host() {
            // The URL parser reads an IPv4 address in a URL of this kind as a name.
            Some(Host::Domain(name)) => {
                name == "localhost" || name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
            }
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => return Err(SmtpUrlError::Malformed),
        };
        if !matches!(url.scheme(), "smtp" | "smtps")
            || !matches!(url.path(), "" | "/")
            || url.fragment().is_some()
        {
            return Err(SmtpUrlError::Malformed);
        }
        let parameters: Vec<_> = url.query_pairs().collect();
        let requested_tls = match parameters.as_slice() {
            [] => None,
            [(name, value)] if name == "tls" => match &**value {
                "required" => Some(true),
                "none" => Some(false),
                _ => return Err(SmtpUrlError::Parameter),
            },
            _ => return Err(SmtpUrlError::Parameter),
        };
        let encrypted = url.scheme() == "smtps" || requested_tls.unwrap_or(!is_loopback);
        let host = url.host_str().unwrap_or_default().to_owned();
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if has_credentials && !encrypted && !is_loopback {
            return Err(SmtpUrlError::PlaintextPassword);
        }
        let starttls = encrypted && url.scheme() == "smtp";
        url.set_query(starttls.then_some("tls=required"));
        Ok(Self { url: SecretString::from(String::from(url)), host, is_encrypted: encrypted })
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn the_connection_is_encrypted_unless_the_server_is_local_or_tls_is_none() {
        let read = |text: &str| {
            let url: SmtpUrl = text.parse().unwrap();
            (url.url.expose_secret().to_owned(), url.is_encrypted)
        };
        let starttls = ("smtp://u:p@mail.example.com?tls=required".to_owned(), true);
        assert_eq!(read("smtp://u:p@mail.example.com"), starttls);
        assert!(read("smtps://u:p@mail.example.com:465").1);
        assert_eq!(read("smtp://127.0.0.1:2525"), ("smtp://127.0.0.1:2525".to_owned(), false));
        assert!(read("smtp://localhost?tls=required").1);
        assert!(!read("smtp://mail.example.com?tls=none").1);
    }

    #[test]
    fn errors_do_not_repeat_the_password() {
        for (text, error) in [
            ("mail.example.com", SmtpUrlError::Malformed),
            ("https://hunter2@mail.example.com", SmtpUrlError::Malformed),
            ("smtp://mail.example.com/inbox", SmtpUrlError::Malformed),
            ("smtp://mail.example.com?tls=maybe", SmtpUrlError::Parameter),
            ("smtp://mail.example.com?tls=none&tls=required", SmtpUrlError::Parameter),
            ("smtp://u:hunter2@mail.example.com?tls=none", SmtpUrlError::PlaintextPassword),
        ] {
            let found = text.parse::<SmtpUrl>().unwrap_err();
            assert_eq!(found, error, "{text}");
            assert!(!found.to_string().contains("hunter2"));
        }
    }
}
