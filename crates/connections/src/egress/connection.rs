//! The decision on a request through a connection.

use std::sync::Arc;

use url::Url;

use super::{
    connection_policy::ConnectionPolicy,
    operator::AllowedHost,
    permit::{EgressPermit, PermitSource},
    refusal::{Refusal, RefusalCode},
    request_url::{external_host, parse_url, refuse},
};
use crate::{
    auth::Auth,
    connection::{Connection, ConnectionStatus},
    gates::{GateStatus, Method},
    host::GateHost,
    request_path::{is_ambiguous, is_under},
};

/// Decides on one request through a connection. `target` is a path below the base URL, with an optional query:
/// `/v1/items?limit=1`. The URL of the permit has placeholders where secrets belong;
/// [`inject`](crate::injection::inject) fills them.
///
/// Checks run in this order: the target, host and port, the method, the path, the connection's gate, its status.
///
/// # Errors
/// The first reason to refuse the request.
pub fn authorize_connection(
    target: &str,
    method: &str,
    policy: &Arc<ConnectionPolicy>,
) -> Result<EgressPermit, Refusal> {
    if !target.starts_with('/') {
        return Err(refuse(RefusalCode::InvalidUrl, "the path through a connection must begin with a slash"));
    }
    let (base, text) = (policy.base(), target.split('#').next().unwrap_or_default());
    let (path, query) = text.split_once('?').map_or((text, None), |(path, query)| (path, Some(query)));
    if base.contains("{path}") {
        let placed = base.replace("{path}", path.trim_start_matches('/'));
        let url = query.map_or_else(|| placed.clone(), |query| format!("{placed}?{query}"));
        return decide(&url, path, query, method, policy);
    }
    decide(&format!("{base}{text}"), path, query, method, policy)
}

fn decide(
    url: &str,
    path: &str,
    query: Option<&str>,
    method: &str,
    policy: &Arc<ConnectionPolicy>,
) -> Result<EgressPermit, Refusal> {
    let Connection { http, display_name, gate, status, .. } = &policy.connection;
    let parsed = parse_url(url)?;
    if let Some(name) = http.auth.query_name()
        && query.is_some_and(|query| sets_parameter(query, name))
    {
        return Err(refuse(
            RefusalCode::InvalidUrl,
            "the connection sets this parameter of the query itself",
        ));
    }
    let host = external_host(&parsed)?;
    if policy.base_override.is_none() && host != http.host {
        return Err(refuse(
            RefusalCode::HostDenied,
            format!("the connection {display_name} does not lead to {host}"),
        ));
    }
    let (port, allowed) = check_port(&parsed, &host, policy)?;
    let method = method
        .parse::<Method>()
        .ok()
        .filter(|method| http.methods.contains(method))
        .filter(|method| policy.methods.as_ref().is_none_or(|methods| methods.contains(method)))
        .ok_or_else(|| {
            refuse(
                RefusalCode::MethodDenied,
                format!("the connection {display_name} does not allow the method"),
            )
        })?;
    check_path(path, policy)?;
    check_live(*gate, *status, display_name)?;
    Ok(EgressPermit::new(parsed, method, host, port, allowed, PermitSource::Connection(Arc::clone(policy))))
}

/// Decides on a request to a token endpoint of a connection: POST to exactly this URL, without redirects.
///
/// # Errors
/// The first reason to refuse it, in the order of [`authorize_connection`].
pub fn authorize_token_request(
    token_url: &str,
    policy: &Arc<ConnectionPolicy>,
) -> Result<EgressPermit, Refusal> {
    let Connection { display_name, gate, status, .. } = &policy.connection;
    let parsed = parse_url(token_url)?;
    let host = external_host(&parsed)?;
    let (port, allowed) = check_port(&parsed, &host, policy)?;
    check_live(*gate, *status, display_name)?;
    let source = PermitSource::TokenEndpoint(Arc::clone(policy));
    Ok(EgressPermit::new(parsed, Method::Post, host, port, allowed, source))
}

/// Decides on a redirect of a request through a connection, whose origin was checked.
pub(super) fn authorize_location(
    url: &Url,
    method: Method,
    policy: &Arc<ConnectionPolicy>,
) -> Result<EgressPermit, Refusal> {
    let base = policy.base();
    // What a secret in the URL becomes at another path is not known.
    if base.contains('{') || policy.connection.http.auth == Auth::Url {
        return Err(refuse(RefusalCode::RedirectDenied, "a URL with a secret in it is not redirected"));
    }
    let base_path =
        base.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or_default();
    let path = url.path().strip_prefix(base_path).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let path =
        path.ok_or_else(|| refuse(RefusalCode::PathDenied, "the redirect leaves the connection's base URL"))?;
    let path = if path.is_empty() { "/" } else { path };
    decide(url.as_str(), path, url.query(), method.as_str(), policy)
}

fn check_port(
    url: &Url,
    host: &GateHost,
    policy: &ConnectionPolicy,
) -> Result<(u16, Option<AllowedHost>), Refusal> {
    let port = url.port_or_known_default().unwrap_or_default();
    let allowed = policy.allowed_hosts.iter().find(|allowed| allowed.matches(host, port));
    if allowed.is_none() {
        if url.scheme() != "https" {
            return Err(refuse(RefusalCode::InvalidUrl, "only https leaves"));
        }
        if !policy.ports.allows(port) {
            return Err(refuse(RefusalCode::HostDenied, format!("port {port} is not allowed")));
        }
    }
    Ok((port, allowed.cloned()))
}

fn check_path(path: &str, policy: &ConnectionPolicy) -> Result<(), Refusal> {
    let denied = |what: &str| {
        let name = &policy.connection.display_name;
        Err(refuse(RefusalCode::PathDenied, format!("the connection {name} does not allow {what}")))
    };
    if is_ambiguous(path) || path.contains(['{', '}']) {
        return denied("dot segments, braces, and encoded dots or slashes in a path");
    }
    let is_declared = policy.paths.is_empty() || policy.paths.iter().any(|prefix| is_under(path, prefix));
    if !is_under(path, &policy.connection.http.path_prefix) || !is_declared {
        return denied("this path");
    }
    Ok(())
}

fn check_live(gate: GateStatus, status: ConnectionStatus, name: &str) -> Result<(), Refusal> {
    if gate == GateStatus::Closed {
        return Err(refuse(RefusalCode::HostDenied, format!("the gate of the connection {name} is closed")));
    }
    match status {
        ConnectionStatus::Disconnected { .. } => {
            Err(refuse(RefusalCode::NotConnected, format!("the connection {name} is disconnected")))
        }
        ConnectionStatus::Expired { .. } => {
            Err(refuse(RefusalCode::Expired, format!("the connection {name} has expired; connect it again")))
        }
        ConnectionStatus::Connected { .. } | ConnectionStatus::Error { .. } => Ok(()),
    }
}

/// Returns `true` if a query sets the parameter, in any spelling.
fn sets_parameter(query: &str, name: &str) -> bool {
    query.split(['&', ';']).any(|pair| {
        let key = pair.split('=').next().unwrap_or_default().replace('+', " ");
        percent_encoding::percent_decode_str(&key).decode_utf8_lossy().eq_ignore_ascii_case(name)
    })
}

#[cfg(test)]
mod tests;
