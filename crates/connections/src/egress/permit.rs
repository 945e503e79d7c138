//! The proof that a request may be sent.

use std::{net::IpAddr, sync::Arc};

use kernel::{
    id::{ConnectionId, GateId},
    request_headers::CredentialHeader,
};
use url::Url;

use super::{EgressPolicy, connection_policy::ConnectionPolicy, operator::AllowedHost};
use crate::{connection::Connection, gates::Method, host::GateHost, ip_filter::is_blocked};

/// Proof that one request may be sent. Only [`authorize_egress`](super::authorize_egress), [`authorize_connection`](super::authorize_connection),
/// [`authorize_token_request`](super::authorize_token_request) and [`EgressPermit::follow_redirect`] create it.
#[derive(Debug, Clone)]
pub struct EgressPermit {
    url: Url,
    method: Method,
    host: GateHost,
    port: u16,
    allowed_host: Option<AllowedHost>,
    source: PermitSource,
    headers: Vec<CredentialHeader>,
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
        Self { url, method, host, port, allowed_host, source, headers: Vec::new() }
    }

    pub(super) fn with_headers(self, headers: Vec<CredentialHeader>) -> Self {
        Self { headers, ..self }
    }

    pub(super) fn source(&self) -> &PermitSource {
        &self.source
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

    /// Returns the headers with credentials that the code may set itself; none through a connection.
    #[must_use]
    pub fn credential_headers(&self) -> &[CredentialHeader] {
        &self.headers
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

    /// Returns the rules of the connection that the request goes through, or whose token endpoint it asks.
    #[must_use]
    pub fn connection_policy(&self) -> Option<&Arc<ConnectionPolicy>> {
        match &self.source {
            PermitSource::Connection(policy) | PermitSource::TokenEndpoint(policy) => Some(policy),
            PermitSource::App { .. } => None,
        }
    }

    /// Returns `true` if the request asks the token endpoint of a connection.
    #[must_use]
    pub fn is_token_request(&self) -> bool {
        matches!(self.source, PermitSource::TokenEndpoint(_))
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
}
