//! The OpenID Connect issuers that people may sign in with, from the operator's file.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use adapter_oidc::Registration;
use anyhow::{Context as _, ensure};
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
        });
    }
    Ok(registrations)
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
}
