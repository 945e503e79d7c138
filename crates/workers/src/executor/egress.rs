//! The egress policy of an app, and the labels of its requests in logs.

use std::sync::Arc;

use apps::{
    Manifest,
    manifest::{ConnectorPermission, EgressMethod, EgressPermission},
};
use connections::{
    Connection, ConnectionPolicy, EgressPolicy, Gate, GateHost,
    egress::{ConnectorBase, DeclaredEgress},
    gates::Method,
};
use kernel::id::GateId;
use url::Url;

use super::ExecutorSettings;

/// Bytes of a URL that are parsed for a label or a count; longer ones are labelled without a host, and not counted.
const MAX_URL: usize = 8 << 10;
/// Bytes of a host name in a label.
const MAX_HOST: usize = 253;

/// Combines the manifest's egress with the gates of the workspace and the operator's exceptions. Those of connections are
/// left out: a connection is reached by its name only.
pub(super) fn policy(
    manifest: &Manifest,
    gates: Vec<Gate>,
    settings: &ExecutorSettings,
) -> Arc<EgressPolicy> {
    Arc::new(EgressPolicy {
        declared: manifest.permissions.egress.iter().filter_map(declared).collect(),
        gates: gates.into_iter().filter(|gate| gate.connection.is_none()).collect(),
        ports: settings.ports.clone(),
        allowed_hosts: settings.allowed_private_hosts.clone(),
    })
}

/// Returns the rules for requests of an app through a connection, within what its manifest says.
pub(super) fn limited_policy(
    connection: Connection,
    declared: &ConnectorPermission,
    settings: &ExecutorSettings,
) -> Arc<ConnectionPolicy> {
    let limits = ConnectionPolicy {
        methods: declared
            .methods
            .as_ref()
            .map(|methods| methods.iter().copied().map(|it| method(it.into())).collect()),
        paths: declared.paths.clone().unwrap_or_default(),
        ..ConnectionPolicy::new(connection)
    };
    policy_with(limits, settings)
}

/// Returns the rules for requests through a connection.
pub(super) fn connection_policy(
    connection: Connection,
    settings: &ExecutorSettings,
) -> Arc<ConnectionPolicy> {
    policy_with(ConnectionPolicy::new(connection), settings)
}

/// Adds what the operator allows.
fn policy_with(limits: ConnectionPolicy, settings: &ExecutorSettings) -> Arc<ConnectionPolicy> {
    let connection = &limits.connection;
    let mut allowed_hosts = settings.allowed_private_hosts.clone();
    let fake = fake_of(connection, settings);
    allowed_hosts.extend(fake.map(|fake| fake.allowed.clone()));
    Arc::new(ConnectionPolicy {
        ports: settings.ports.clone(),
        allowed_hosts,
        base_override: fake.map(|fake| fake.base_url.clone()),
        ..limits
    })
}

/// Returns the fake that takes the place of a connection's service.
pub(super) fn fake_of<'s>(
    connection: &Connection,
    settings: &'s ExecutorSettings,
) -> Option<&'s ConnectorBase> {
    settings.connector_bases.iter().find(|fake| fake.connector == connection.connector)
}

/// Returns the gate of a URL's host, which counts the request even if it is refused.
pub(super) fn gate_of(url: &str, policy: &EgressPolicy) -> Option<GateId> {
    let parsed = parse(url)?;
    let host = GateHost::parse(parsed.host_str()?).ok()?;
    policy.gates.iter().find(|gate| gate.host == host).map(|gate| gate.id)
}

fn parse(url: &str) -> Option<Url> {
    if url.len() <= MAX_URL { Url::parse(url).ok() } else { None }
}

/// Returns `None` for a host that is not valid, so that it permits nothing.
fn declared(permission: &EgressPermission) -> Option<DeclaredEgress> {
    let declared = DeclaredEgress::for_host(GateHost::parse(&permission.host).ok()?)
        .with_headers(permission.headers.clone());
    Some(match &permission.methods {
        Some(methods) => declared.with_methods(methods.iter().copied().map(method).collect()),
        None => declared,
    })
}

fn method(method: EgressMethod) -> Method {
    match method {
        EgressMethod::Get => Method::Get,
        EgressMethod::Head => Method::Head,
        EgressMethod::Post => Method::Post,
        EgressMethod::Put => Method::Put,
        EgressMethod::Patch => Method::Patch,
        EgressMethod::Delete => Method::Delete,
        EgressMethod::Options => Method::Options,
    }
}

/// Returns a label such as `GET api.example.com`. Paths, queries and credentials may be secrets and are left out.
pub(super) fn label(method: &str, url: &str) -> String {
    let method = method.parse::<Method>().map_or("?", Method::as_str);
    match parse(url).as_ref().and_then(Url::host_str) {
        Some(host) if host.len() <= MAX_HOST => format!("{method} {host}"),
        _ => format!("{method} (no proper host)"),
    }
}

/// Returns a label such as `GET through crm`, which does not name the host of the connection.
pub(super) fn connection_label(method: &str, name: &str) -> String {
    format!("{} through {name}", method.parse::<Method>().map_or("?", Method::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_the_host_and_nothing_else_of_the_url() {
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
