//! The OAuth apps that the operator has registered with services, from the operator's file.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, ensure};
use connections::{
    auth::ClientAuthStyle,
    egress::AllowedHost,
    oauth_apps::{OauthApp, OauthApps, find_oauth_connector},
};
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConnectorsConfigFile {
    #[serde(default)]
    oauth: BTreeMap<String, OauthEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OauthEntry {
    client_id: String,
    client_secret_file: PathBuf,
    /// How the client proves itself to the token endpoint.
    client_auth: Option<ClientAuthStyle>,
    /// Endpoints in place of those of the catalogue, such as those of one tenant.
    authorize_url: Option<Url>,
    token_url: Option<Url>,
    revocation_url: Option<Url>,
    /// Identifier that each response names (RFC 9207).
    issuer: Option<String>,
}

/// Reads the file; returns no apps without one.
pub(crate) fn load(path: Option<&Path>, allowed_hosts: &[AllowedHost]) -> anyhow::Result<OauthApps> {
    let Some(path) = path else { return Ok(OauthApps::default()) };
    let text = fs::read_to_string(path)
        .with_context(|| format!("--connectors-config: {} cannot be read", path.display()))?;
    parse(&text, allowed_hosts).context("--connectors-config")
}

fn parse(text: &str, allowed_hosts: &[AllowedHost]) -> anyhow::Result<OauthApps> {
    let config: ConnectorsConfigFile = toml::from_str(text)?;
    config
        .oauth
        .into_iter()
        .map(|(connector, entry)| {
            let app = app(&connector, entry, allowed_hosts).with_context(|| format!("oauth.{connector}"))?;
            Ok((connector, app))
        })
        .collect()
}

fn app(connector: &str, entry: OauthEntry, allowed_hosts: &[AllowedHost]) -> anyhow::Result<OauthApp> {
    let (_, known) = find_oauth_connector(connector)
        .context("the catalogue has no connector of this name that is connected in a browser")?;
    let text_is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    ensure!(
        (1..=512).contains(&entry.client_id.len()) && text_is_plain(&entry.client_id),
        "client_id must be 1 to 512 visible ASCII characters"
    );
    let file = &entry.client_secret_file;
    let secret = fs::read_to_string(file)
        .with_context(|| format!("client_secret_file: cannot read {}", file.display()))?;
    let secret = secret.trim();
    ensure!(!secret.is_empty(), "client_secret_file: {} is empty", file.display());
    let endpoint = |name: &str, given: Option<Url>, known: &str| {
        let url = match given {
            Some(url) => url,
            None => known.parse().with_context(|| format!("the catalogue's {name} is not a URL"))?,
        };
        let is_allowed = || {
            let host = url.host_str().and_then(|host| host.parse().ok());
            let port = url.port_or_known_default().unwrap_or_default();
            host.is_some_and(|host| allowed_hosts.iter().any(|allowed| allowed.matches(&host, port)))
        };
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_allowed());
        ensure!(is_safe, "{name} must be https://, or http:// at a host of --allowed-hosts");
        ensure!(url.username().is_empty() && url.password().is_none(), "{name} must have no credentials");
        ensure!(url.fragment().is_none(), "{name} must have no fragment");
        Ok(url)
    };
    let issuer = entry.issuer.as_deref();
    let is_identifier = |issuer: &str| {
        Url::parse(issuer).is_ok_and(|url| {
            matches!(url.scheme(), "https" | "http") && url.query().is_none() && url.fragment().is_none()
        })
    };
    ensure!(issuer.is_none_or(is_identifier), "issuer must be a URL without a query (RFC 8414, section 2)");
    // The tokens of another server are not for the endpoint of the catalogue.
    let known_revocation = known.revocation_url.as_deref().filter(|_| entry.token_url.is_none());
    let revocation_url = match (entry.revocation_url, known_revocation) {
        (None, None) => None,
        (given, known) => Some(endpoint("revocation_url", given, known.unwrap_or_default())?),
    };
    Ok(OauthApp {
        revocation_url,
        authorize_url: endpoint("authorize_url", entry.authorize_url, &known.authorize_url)?,
        token_url: endpoint("token_url", entry.token_url, &known.token_url)?,
        issuer: entry.issuer,
        client_id: entry.client_id,
        client_secret: SecretString::from(secret.to_owned()),
        style: entry.client_auth.unwrap_or(ClientAuthStyle::Body),
    })
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn parsed(body: &str) -> Result<OauthApps, String> {
        let secret = tempfile::NamedTempFile::new().unwrap();
        fs::write(secret.path(), " the-secret\n").unwrap();
        let text = body.replace("FILE", &format!("client_secret_file = {:?}", secret.path()));
        let allowed = ["auth.example.com:8095=127.0.0.1".parse().unwrap()];
        parse(&text, &allowed).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn apps_have_the_endpoints_of_the_catalogue_or_those_of_the_file() {
        let text = "[oauth.gmail]\nclient_id = \"a\"\nFILE\n\
            [oauth.microsoft_graph]\nclient_id = \"b\"\nFILE\nclient_auth = \"basic\"\n\
            authorize_url = \"https://login.example/tenant/authorize\"\n\
            token_url = \"http://auth.example.com:8095/token\"\n";
        let apps = parsed(text).unwrap();
        assert_eq!(apps.connectors().collect::<Vec<_>>(), ["gmail", "microsoft_graph"]);
        let gmail = apps.get("gmail").unwrap();
        assert_eq!(gmail.token_url.as_str(), "https://oauth2.googleapis.com/token");
        let revocation = |app: &OauthApp| app.revocation_url.as_ref().map(ToString::to_string);
        assert_eq!(revocation(gmail).as_deref(), Some("https://oauth2.googleapis.com/revoke"));
        let moved = "[oauth.gmail]\nclient_id = \"a\"\nFILE\ntoken_url = \"https://other.example/token\"";
        assert_eq!(
            revocation(parsed(moved).unwrap().get("gmail").unwrap()),
            None,
            "tokens of another server"
        );
        assert_eq!((gmail.client_secret.expose_secret(), gmail.style), ("the-secret", ClientAuthStyle::Body));
        let graph = apps.get("microsoft_graph").unwrap();
        assert_eq!(graph.authorize_url.as_str(), "https://login.example/tenant/authorize");
        assert_eq!(graph.style, ClientAuthStyle::Basic);
        assert!(parsed("").unwrap().connectors().next().is_none());
    }

    #[test]
    fn invalid_entries_are_named() {
        for (text, expected) in [
            ("[oauth.nothing]\nclient_id = \"a\"\nFILE", "oauth.nothing: the catalogue has no connector"),
            ("[oauth.github]\nclient_id = \"a\"\nFILE", "oauth.github: the catalogue has no connector"),
            ("[oauth.gmail]\nclient_id = \"\"\nFILE", "oauth.gmail: client_id must be"),
            (
                "[oauth.gmail]\nclient_id = \"a\"\nclient_secret_file = \"/no/such/file\"",
                "client_secret_file: cannot read",
            ),
            (
                "[oauth.gmail]\nclient_id = \"a\"\nFILE\ntoken_url = \"http://auth.example.com/token\"",
                "token_url must be https://",
            ),
            (
                "[oauth.gmail]\nclient_id = \"a\"\nFILE\nauthorize_url = \"javascript:alert(1)\"",
                "authorize_url must be https://",
            ),
            ("[oauth.gmail]\nclient_id = \"a\"\nFILE\nissuer = \"here\"", "issuer must be a URL"),
            (
                "[oauth.gmail]\nclient_id = \"a\"\nFILE\nissuer = \"https://a.example?b\"",
                "issuer must be a URL",
            ),
            ("[oauth.gmail]\nclient_id = \"a\"\nFILE\nsecret = \"x\"", "unknown field `secret`"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
