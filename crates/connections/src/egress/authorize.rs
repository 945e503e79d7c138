//! The decision on a request.
//!
//! The explanation of a run recognizes and translates these messages by their text, also in runs that are stored. When
//! you change one, add the new text to `runs::diagnosis` and keep the old one.

use std::sync::Arc;

use super::{
    EgressPolicy,
    permit::{EgressPermit, PermitSource},
    refusal::{Refusal, RefusalCode},
    request_url::{external_host, parse_url, refuse},
};
use crate::gates::{GateStatus, Method};

/// Decides on one request of an app.
///
/// # Errors
/// The first reason to refuse it, in the order of [the module](crate::egress).
pub fn authorize_egress(
    url: &str,
    method: &str,
    policy: &Arc<EgressPolicy>,
) -> Result<EgressPermit, Refusal> {
    let parsed = parse_url(url)?;
    let port = parsed.port_or_known_default().unwrap_or_default();
    let host = external_host(&parsed)?;

    let declared: Vec<_> = policy.declared.iter().filter(|entry| entry.host == host).collect();
    if declared.is_empty() {
        return Err(refuse(RefusalCode::EgressDenied, format!("the app's manifest does not declare {host}")));
    }
    let gate = policy
        .gates
        .iter()
        .find(|gate| gate.host == host && gate.status == GateStatus::Open)
        .ok_or_else(|| refuse(RefusalCode::HostDenied, format!("no open gate leads to {host}")))?;
    let allowed = policy.allowed_hosts.iter().find(|allowed| allowed.matches(&host, port));
    if allowed.is_none() {
        if parsed.scheme() != "https" {
            return Err(refuse(RefusalCode::InvalidUrl, "only https leaves"));
        }
        if !policy.ports.allows(port) {
            return Err(refuse(RefusalCode::HostDenied, format!("port {port} is not allowed")));
        }
    }
    let method =
        method.parse::<Method>().ok().filter(|method| gate.methods.contains(method)).ok_or_else(|| {
            refuse(RefusalCode::MethodDenied, format!("the gate to {host} does not allow the method"))
        })?;
    let declared: Vec<_> = declared.into_iter().filter(|entry| entry.allows_method(method)).collect();
    if declared.is_empty() {
        let message = format!("the manifest does not declare {method} to {host}");
        return Err(refuse(RefusalCode::MethodDenied, message));
    }
    if declared.iter().all(|entry| entry.path_prefix.is_some())
        && (has_ambiguous_path(url) || !declared.iter().any(|entry| entry.covers_path(parsed.path())))
    {
        return Err(refuse(
            RefusalCode::PathDenied,
            format!("the manifest does not declare this path of {host}"),
        ));
    }
    let of_path = declared.iter().filter(|entry| entry.covers_path(parsed.path()));
    let headers = of_path.flat_map(|entry| entry.headers.iter().copied()).collect();
    let source = PermitSource::App { policy: Arc::clone(policy), gate: gate.id, connection: gate.connection };
    Ok(EgressPermit::new(parsed, method, host, port, allowed.cloned(), source).with_headers(headers))
}

/// Returns `true` if another program may read the path as a different one: it has `.` or `..` segments, or encoded
/// dots, slashes, backslashes or percent signs. Checked only where the manifest limits the path, since `%2F` is valid
/// elsewhere.
fn has_ambiguous_path(text: &str) -> bool {
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let path = after_scheme.find('/').map_or("", |at| &after_scheme[at..]);
    let path = path.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    path.split('/').any(|segment| segment == "." || segment == "..")
        || ["%2e", "%2f", "%5c", "%25"].iter().any(|encoded| path.contains(encoded))
}

#[cfg(test)]
mod tests;
