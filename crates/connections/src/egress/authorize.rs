//! The decision itself.

use std::{net::IpAddr, sync::Arc};

use kernel::id::{ConnectionId, GateId};
use url::{Host, Url};

use super::{
    EgressPolicy,
    operator::AllowedHost,
    refusal::{Refusal, RefusalCode},
};
use crate::{
    gates::{GateStatus, Method},
    host::{GateHost, InvalidHost},
    ip_filter::is_blocked,
};

/// Bytes of a URL.
const MAX_URL_BYTES: usize = 8 << 10;

/// Proof that one request may leave: only [`authorize_egress`] and [`EgressPermit::follow_redirect`] make it.
#[derive(Debug, Clone)]
pub struct EgressPermit {
    url: Url,
    method: Method,
    host: GateHost,
    port: u16,
    gate: GateId,
    connection: Option<ConnectionId>,
    allowed_host: Option<AllowedHost>,
    policy: Arc<EgressPolicy>,
}

impl EgressPermit {
    /// Where to.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// How.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// The host, in its one form.
    #[must_use]
    pub fn host(&self) -> &GateHost {
        &self.host
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The gate it passes.
    #[must_use]
    pub fn gate(&self) -> GateId {
        self.gate
    }

    /// The connection whose secret is to be added.
    #[must_use]
    pub fn connection(&self) -> Option<ConnectionId> {
        self.connection
    }

    /// The operator's exception, if the host is one.
    #[must_use]
    pub fn allowed_host(&self) -> Option<&AllowedHost> {
        self.allowed_host.as_ref()
    }

    /// Whether the host's name may lead to `address`.
    #[must_use]
    pub fn allows_address(&self, address: IpAddr) -> bool {
        match &self.allowed_host {
            Some(allowed) => allowed.allows_address(address),
            None => !is_blocked(address),
        }
    }

    /// The permit for a redirect of this very request: decided again, and only inside the same origin.
    ///
    /// # Errors
    /// [`RefusalCode::RedirectDenied`] when it leads elsewhere; else as [`authorize_egress`].
    pub fn follow_redirect(&self, location: &str) -> Result<Self, Refusal> {
        let denied = |what: &str| Refusal::new(RefusalCode::RedirectDenied, format!("the redirect {what}"));
        let next = self.url.join(location).map_err(|_| denied("is no URL"))?;
        if next.origin() != self.url.origin() {
            return Err(denied("leads to another host"));
        }
        let mut next = next;
        next.set_fragment(None);
        authorize_egress(next.as_str(), self.method.as_str(), &self.policy)
    }
}

/// Decides on one request of an app.
///
/// # Errors
/// The first reason against it.
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
    Ok(EgressPermit {
        method,
        port,
        gate: gate.id,
        connection: gate.connection,
        allowed_host: allowed.cloned(),
        policy: Arc::clone(policy),
        host,
        url: parsed,
    })
}

fn refuse(code: RefusalCode, message: impl Into<String>) -> Refusal {
    Refusal::new(code, message)
}

/// Parses, after refusing what the parser would mend in silence: tabs, line breaks, backslashes, credentials.
fn parse_url(text: &str) -> Result<Url, Refusal> {
    let invalid = |what: &str| refuse(RefusalCode::InvalidUrl, format!("the URL {what}"));
    if text.len() > MAX_URL_BYTES {
        return Err(invalid("is too long"));
    }
    if text.contains(|c: char| c.is_control() || c == '\\' || c.is_whitespace()) {
        return Err(invalid("holds a space, a control character or a backslash"));
    }
    let is_scheme =
        |scheme: &str| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let Some((_, after_scheme)) = text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        // `data:` and its kin are absolute, and name no host.
        let absolute = Url::parse(text).is_ok();
        return Err(invalid(if absolute { "must begin with https://" } else { "is not absolute" }));
    };
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err(invalid("has no host"));
    }
    if authority.contains('@') {
        return Err(invalid("holds credentials"));
    }
    let mut url = Url::parse(text).map_err(|error| invalid(&format!("does not parse: {error}")))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(invalid("must begin with https://"));
    }
    // However the parser came to them: they would become a header.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("holds credentials"));
    }
    url.set_fragment(None);
    Ok(url)
}

fn external_host(url: &Url) -> Result<GateHost, Refusal> {
    GateHost::from_url(url).map_err(|error| match (error, url.host()) {
        (_, Some(Host::Ipv4(address))) => refuse_ip_literal(address.into()),
        (_, Some(Host::Ipv6(address))) => refuse_ip_literal(address.into()),
        (InvalidHost::Internal, _) => {
            refuse(RefusalCode::HostDenied, "the name only means something inside a network")
        }
        _ => refuse(RefusalCode::InvalidUrl, "the URL has no proper host"),
    })
}

/// A gate leads to a name, so no literal gets out; the reason tells what it was.
fn refuse_ip_literal(address: IpAddr) -> Refusal {
    if is_blocked(address) {
        refuse(RefusalCode::PrivateAddress, "the URL names an address that is not of the internet")
    } else {
        refuse(RefusalCode::EgressDenied, "the URL names an address; a manifest declares names")
    }
}

/// Whether the path, as it was written, holds what one side may read as another path: `.` and `..` segments, and
/// encoded dots and slashes. Only asked where a path is a boundary; elsewhere `%2F` is honest use.
fn has_ambiguous_path(text: &str) -> bool {
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let path = after_scheme.find('/').map_or("", |at| &after_scheme[at..]);
    let path = path.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    path.split('/').any(|segment| segment == "." || segment == "..")
        || ["%2e", "%2f", "%5c", "%25"].iter().any(|encoded| path.contains(encoded))
}

#[cfg(test)]
mod tests;
