//! The OpenID Connect issuers that people may sign in with, from the operator's file.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use adapter_oidc::{Registration, ResponseMode};
use anyhow::{Context as _, anyhow, ensure};
use identity::oidc::Provider;
use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OidcConfigFile {
    #[serde(default)]
    provider: Vec<ProviderEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderEntry {
    name: String,
    title: Option<String>,
    issuer: String,
    client_id: String,
    client_secret_file: Option<PathBuf>,
    #[serde(default)]
    trusted_domains: Vec<String>,
    response_mode: Option<String>,
    scopes: Option<Vec<String>>,
}

/// Reads the file; returns no issuers without one.
pub(crate) fn load(path: Option<&Path>) -> anyhow::Result<Vec<Registration>> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let text = fs::read_to_string(path)
        .with_context(|| format!("--oidc-config: {} cannot be read", path.display()))?;
    parse(&text).context("--oidc-config")
}

fn parse(text: &str) -> anyhow::Result<Vec<Registration>> {
    let config: OidcConfigFile = toml::from_str(text)?;
    let mut names = BTreeSet::new();
    let mut registrations = Vec::new();
    for entry in config.provider {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let name = entry.name;
        ensure!(
            (1..=40).contains(&name.len()) && name.chars().all(plain),
            "the name {name:?} must have 1 to 40 lower-case letters, digits and dashes"
        );
        ensure!(names.insert(name.clone()), "the name {name} is used twice");
        let issuer: Url =
            entry.issuer.parse().with_context(|| format!("the issuer of {name} is not a URL"))?;
        let loopback = match issuer.host() {
            Some(url::Host::Domain(domain)) => domain == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        ensure!(
            issuer.scheme() == "https" || (issuer.scheme() == "http" && loopback),
            "the issuer of {name} must be https://, or http:// on this machine"
        );
        let client_secret = match &entry.client_secret_file {
            Some(file) => {
                let secret = fs::read_to_string(file).with_context(|| {
                    format!("client_secret_file of {name}: cannot read {}", file.display())
                })?;
                Some(SecretString::from(secret.trim().to_owned()))
            }
            None => None,
        };
        let response_mode = entry.response_mode.as_deref().map(str::parse).transpose();
        let response_mode: Option<ResponseMode> =
            response_mode.map_err(|error| anyhow!("the response_mode of {name} {error}"))?;
        for scope in entry.scopes.iter().flatten() {
            ensure!(
                is_scope(scope),
                "the scopes of {name} must be a list with one scope in each text, such as [\"email\"], and {scope:?} is none"
            );
        }
        let provider = Provider {
            title: entry.title.unwrap_or_else(|| name.clone()),
            name,
            trusted_domains: entry.trusted_domains,
        };
        registrations.push(Registration {
            provider,
            issuer: entry.issuer,
            client_id: entry.client_id,
            client_secret,
            response_mode,
            scopes: entry.scopes,
        });
    }
    Ok(registrations)
}

/// Returns `true` for a scope (RFC 6749, section 3.3).
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(name: &str, issuer: &str) -> String {
        format!("[[provider]]\nname = {name:?}\nissuer = {issuer:?}\nclient_id = \"qala\"\n")
    }

    #[test]
    fn issuers_are_read_and_invalid_entries_are_named() {
        let fine = provider("company", "https://id.example.com") + &provider("dev", "http://127.0.0.1:9000");
        let read = parse(&fine).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].provider.title.as_str(), read[0].client_id.as_str()), ("company", "qala"));
        for (text, what) in [
            (provider("Company", "https://id.example.com"), "Company"),
            (provider("a/b", "https://id.example.com"), "a/b"),
            (provider("company", "http://id.example.com"), "https://"),
            (provider("company", "id.example.com"), "the issuer of company"),
            (provider("a", "https://a.example") + &provider("a", "https://b.example"), "twice"),
            (provider("a", "https://a.example") + "secret = \"x\"\n", "secret"),
            (
                provider("a", "https://a.example") + "client_secret_file = \"/no/such/file\"\n",
                "/no/such/file",
            ),
        ] {
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(what), "{error}");
        }
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn response_mode_and_scopes_are_optional_and_checked() {
        let entry = |lines: &str| provider("apple", "https://appleid.apple.com") + lines;
        let read = |lines: &str| parse(&entry(lines)).map(|mut read| read.remove(0));
        let plain = read("").unwrap();
        assert_eq!((plain.response_mode, plain.scopes), (None, None));
        let full =
            read("response_mode = \"form_post\"\nscopes = [\"email\", \"https://id.example.com/a:b\"]\n")
                .unwrap();
        assert_eq!(full.response_mode, Some(ResponseMode::FormPost));
        assert_eq!(full.scopes, Some(vec!["email".to_owned(), "https://id.example.com/a:b".to_owned()]));
        let bare = read("response_mode = \"query\"\nscopes = []\n").unwrap();
        assert_eq!((bare.response_mode, bare.scopes), (Some(ResponseMode::Query), Some(Vec::new())));
        for (lines, what) in [
            ("response_mode = \"fragment\"\n", "the response_mode of apple must be query or form_post"),
            ("response_mode = \"\"\n", "the response_mode of apple must be"),
            ("response_mode = [\"form_post\"]\n", "response_mode"),
            ("scopes = [\"openid email\"]\n", "and \"openid email\" is none"),
            ("scopes = [\"\"]\n", "the scopes of apple must be a list"),
            ("scopes = [\"почта\"]\n", "the scopes of apple must be a list"),
            ("scopes = \"email\"\n", "scopes"),
            ("scopes = [7]\n", "scopes"),
        ] {
            let error = format!("{:#}", parse(&entry(lines)).unwrap_err());
            assert!(error.contains(what), "{error}");
        }
    }
}
