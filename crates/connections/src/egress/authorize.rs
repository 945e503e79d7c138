//! The decision on a request.
//!
//! The explanation of a run recognizes and translates these messages by their text, also in runs that are stored. When
//! you change one, add the new text to `runs::diagnosis` and keep the old one.

use std::{net::IpAddr, sync::Arc};

use kernel::id::{ConnectionId, GateId};
use url::{Host, Url};

use super::{
    EgressPolicy,
    connection::{ConnectionPolicy, authorize_location},
    operator::AllowedHost,
    refusal::{Refusal, RefusalCode},
};
use crate::{
    connection::Connection,
    gates::{GateStatus, Method},
    host::{GateHost, InvalidHost},
    ip_filter::is_blocked,
};

/// Longest URL, in bytes.
const MAX_URL_BYTES: usize = 8 << 10;

/// Proof that one request may be sent. Only [`authorize_egress`], [`authorize_connection`](super::authorize_connection),
/// [`authorize_token_request`](super::authorize_token_request) and [`EgressPermit::follow_redirect`] create it.
#[derive(Debug, Clone)]
pub struct EgressPermit {
    url: Url,
    method: Method,
    host: GateHost,
    port: u16,
    allowed_host: Option<AllowedHost>,
    source: PermitSource,
}

/// The rules that a permit comes from.
#[derive(Debug, Clone)]
pub(super) enum PermitSource {
    /// A manifest and a gate.
    App { policy: Arc<EgressPolicy>, gate: GateId, connection: Option<ConnectionId> },
    /// A connection, whose credential belongs into the request.
    Connection(Arc<ConnectionPolicy>),
    /// The token endpoint of a connection.
    TokenEndpoint(Arc<ConnectionPolicy>),
}

impl EgressPermit {
    pub(super) fn new(
        url: Url,
        method: Method,
        host: GateHost,
        port: u16,
        allowed_host: Option<AllowedHost>,
        source: PermitSource,
    ) -> Self {
        Self { url, method, host, port, allowed_host, source }
    }

    /// Returns the URL, without a fragment.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Returns the host in its normal form.
    #[must_use]
    pub fn host(&self) -> &GateHost {
        &self.host
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the gate that allows the request; none for a request through a connection, which is its own gate.
    #[must_use]
    pub fn gate(&self) -> Option<GateId> {
        match &self.source {
            PermitSource::App { gate, .. } => Some(*gate),
            PermitSource::Connection(_) | PermitSource::TokenEndpoint(_) => None,
        }
    }

    /// Returns the id of the connection that the request belongs to.
    #[must_use]
    pub fn connection(&self) -> Option<ConnectionId> {
        match &self.source {
            PermitSource::App { connection, .. } => *connection,
            PermitSource::Connection(policy) | PermitSource::TokenEndpoint(policy) => {
                Some(policy.connection.id)
            }
        }
    }

    /// Returns the connection whose credential is to be added; none for requests of another kind.
    #[must_use]
    pub fn credential_of(&self) -> Option<&Connection> {
        match &self.source {
            PermitSource::Connection(policy) => Some(&policy.connection),
            PermitSource::App { .. } | PermitSource::TokenEndpoint(_) => None,
        }
    }

    /// Returns the operator's exception for the host, if there is one.
    #[must_use]
    pub fn allowed_host(&self) -> Option<&AllowedHost> {
        self.allowed_host.as_ref()
    }

    /// Returns `true` if the host's name may resolve to `address`.
    #[must_use]
    pub fn allows_address(&self, address: IpAddr) -> bool {
        match &self.allowed_host {
            Some(allowed) => allowed.allows_address(address),
            None => !is_blocked(address),
        }
    }

    /// Decides on a redirect of this request. It must stay in the same origin, and is checked like a new request.
    ///
    /// # Errors
    /// [`RefusalCode::RedirectDenied`] when it leaves the origin; otherwise as [`authorize_egress`].
    pub fn follow_redirect(&self, location: &str) -> Result<Self, Refusal> {
        let denied = |what: &str| Refusal::new(RefusalCode::RedirectDenied, format!("the redirect {what}"));
        let next = self.url.join(location).map_err(|_| denied("is no URL"))?;
        if next.origin() != self.url.origin() {
            return Err(denied("leads to another host"));
        }
        let mut next = next;
        next.set_fragment(None);
        match &self.source {
            PermitSource::App { policy, .. } => authorize_egress(next.as_str(), self.method.as_str(), policy),
            PermitSource::Connection(policy) => authorize_location(&next, self.method, policy),
            PermitSource::TokenEndpoint(_) => Err(denied("is of a token endpoint")),
        }
    }
}

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
    let source = PermitSource::App { policy: Arc::clone(policy), gate: gate.id, connection: gate.connection };
    Ok(EgressPermit::new(parsed, method, host, port, allowed.cloned(), source))
}

pub(super) fn refuse(code: RefusalCode, message: impl Into<String>) -> Refusal {
    Refusal::new(code, message)
}

/// Parses a URL, after refusing input that the parser would silently repair: tabs, line breaks, backslashes and
/// credentials.
pub(super) fn parse_url(text: &str) -> Result<Url, Refusal> {
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
        // URLs such as `data:` are absolute, but have no host.
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
    // The parser may find credentials where the text above showed none; they would become a header.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("holds credentials"));
    }
    url.set_fragment(None);
    Ok(url)
}

pub(super) fn external_host(url: &Url) -> Result<GateHost, Refusal> {
    GateHost::from_url(url).map_err(|error| match (error, url.host()) {
        (_, Some(Host::Ipv4(address))) => refuse_ip_literal(address.into()),
        (_, Some(Host::Ipv6(address))) => refuse_ip_literal(address.into()),
        (InvalidHost::Internal, _) => {
            refuse(RefusalCode::HostDenied, "the name only means something inside a network")
        }
        _ => refuse(RefusalCode::InvalidUrl, "the URL has no proper host"),
    })
}

/// Refuses an IP literal: gates allow names only. The code tells private addresses from public ones.
fn refuse_ip_literal(address: IpAddr) -> Refusal {
    if is_blocked(address) {
        refuse(RefusalCode::PrivateAddress, "the URL names an address that is not of the internet")
    } else {
        refuse(RefusalCode::EgressDenied, "the URL names an address; a manifest declares names")
    }
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
