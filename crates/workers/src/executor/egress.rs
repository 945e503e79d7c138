//! What an app's requests are judged by, and how they are named in logs.

use std::sync::Arc;

use apps::{
    Manifest,
    manifest::{EgressPermission, HttpMethod},
};
use connections::{EgressPolicy, Gate, GateHost, egress::DeclaredEgress, gates::Method};
use url::Url;

use super::ExecutorSettings;

/// URLs longer than this are refused, and not parsed for their host's name.
const MAX_URL: usize = 8 << 10;
/// Characters of a host's name.
const MAX_HOST: usize = 253;

/// The manifest's egress with the open gates of the workspace and the operator's exceptions.
pub(super) fn policy(
    manifest: &Manifest,
    gates: Vec<Gate>,
    settings: &ExecutorSettings,
) -> Arc<EgressPolicy> {
    Arc::new(EgressPolicy {
        declared: manifest.permissions.egress.iter().filter_map(declared).collect(),
        gates,
        ports: settings.ports.clone(),
        allowed_hosts: settings.allowed_private_hosts.clone(),
    })
}

/// A host that is none leads nowhere.
fn declared(permission: &EgressPermission) -> Option<DeclaredEgress> {
    let declared = DeclaredEgress::for_host(GateHost::parse(&permission.host).ok()?);
    Some(match &permission.methods {
        Some(methods) => declared.with_methods(methods.iter().copied().map(method).collect()),
        None => declared,
    })
}

fn method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::Get,
        HttpMethod::Post => Method::Post,
        HttpMethod::Put => Method::Put,
        HttpMethod::Patch => Method::Patch,
        HttpMethod::Delete => Method::Delete,
    }
}

/// `GET api.example.com`, for people: a path, a query or credentials may be secrets, so they are not in it.
pub(super) fn label(method: &str, url: &str) -> String {
    let method = method.parse::<Method>().map_or("?", Method::as_str);
    let parsed = if url.len() <= MAX_URL { Url::parse(url).ok() } else { None };
    match parsed.as_ref().and_then(Url::host_str) {
        Some(host) if host.len() <= MAX_HOST => format!("{method} {host}"),
        _ => format!("{method} (no proper host)"),
    }
}

/// `GET through crm`; the host behind a connection's name is the connection's.
pub(super) fn connection_label(method: &str, name: &str) -> String {
    format!("{} through {name}", method.parse::<Method>().map_or("?", Method::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_tells_the_host_and_no_more() {
        for (method, url, expected) in [
            ("GET", "https://api.example.com/secret?token=1#x", "GET api.example.com"),
            ("POST", "https://user:password@api.example.com:8443/", "POST api.example.com"),
            ("GET", "https://127.0.0.1/", "GET 127.0.0.1"),
            ("steal\n", "https://api.example.com/", "? api.example.com"),
            ("GET", "data:text/plain,secret", "GET (no proper host)"),
            ("GET", "secret", "GET (no proper host)"),
        ] {
            assert_eq!(label(method, url), expected);
        }
        assert_eq!(label("GET", &format!("https://{}/", "a".repeat(9000))), "GET (no proper host)");
    }
}
