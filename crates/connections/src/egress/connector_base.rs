//! Fakes of services that a developer runs on this machine, in place of the services of the catalogue.

use std::{net::IpAddr, str::FromStr};

use url::{Host, Url};

use super::operator::AllowedHost;
use crate::{catalogue::find_connector, host::GateHost};

/// The address of a fake that takes the place of a connector's service. Only a server for development has one.
///
/// The form is `connector=url`, for example `github=http://127.0.0.1:9000/api`. The URL is http, of a loopback address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorBase {
    /// Connector.
    pub connector: String,
    /// URL in place of the base URL. It names a host that only [`Self::allowed`] leads to the fake.
    pub base_url: String,
    /// The exception by which requests reach the fake.
    pub allowed: AllowedHost,
}

/// The error for an address that is not of the form `connector=url`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not of the form connector=url, such as github=http://127.0.0.1:9000")]
pub struct InvalidConnectorBase(String);

impl FromStr for ConnectorBase {
    type Err = InvalidConnectorBase;

    fn from_str(text: &str) -> Result<Self, InvalidConnectorBase> {
        parse(text).ok_or_else(|| InvalidConnectorBase(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<ConnectorBase> {
    let (connector, url) = text.split_once('=')?;
    find_connector(connector)?.http.as_ref()?;
    let url: Url = url.parse().ok()?;
    let address: IpAddr = match url.host()? {
        Host::Ipv4(address) => address.into(),
        Host::Ipv6(address) => address.into(),
        Host::Domain("localhost") => [127, 0, 0, 1].into(),
        Host::Domain(_) => return None,
    };
    let is_plain = url.scheme() == "http"
        && address.is_loopback()
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if !is_plain {
        return None;
    }
    let port = url.port_or_known_default()?;
    // Requests name a host; the rules for addresses hold for those that apps write.
    let host: GateHost = format!("{}.connector.test", connector.replace('_', "-")).parse().ok()?;
    let base_url = format!("http://{}:{port}{}", host.as_str(), url.path().trim_end_matches('/'));
    let allowed = AllowedHost::new(host, port, address.into());
    Some(ConnectorBase { connector: connector.to_owned(), base_url, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fake_on_loopback_has_a_name_that_leads_there() {
        for (text, base_url) in [
            ("github=http://127.0.0.1:9000", "http://github.connector.test:9000"),
            ("google_drive=http://localhost:9000/api/", "http://google-drive.connector.test:9000/api"),
            ("stripe=http://[::1]:80/", "http://stripe.connector.test:80"),
        ] {
            let base: ConnectorBase = text.parse().unwrap();
            assert_eq!(base.base_url, base_url);
            let address = base.allowed.pinned_address().unwrap();
            assert!(address.ip().is_loopback());
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "github",
            "nothing=http://127.0.0.1:9000",
            "http=http://127.0.0.1:9000",
            "kaspi=http://127.0.0.1:9000",
            "github=https://127.0.0.1:9000",
            "github=http://10.0.0.1:9000",
            "github=http://example.com",
            "github=http://user@127.0.0.1:9000",
            "github=http://127.0.0.1:9000/?a=b",
        ] {
            assert!(text.parse::<ConnectorBase>().is_err(), "{text}");
        }
    }
}
