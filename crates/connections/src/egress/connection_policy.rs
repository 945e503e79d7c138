//! The rules for requests through one connection.

use super::{AllowedPorts, operator::AllowedHost};
use crate::{
    auth::Auth,
    connection::Connection,
    gates::Method,
    host::GateHost,
    invalid_input::{Field, InvalidInput, Reason},
};

/// The rules for requests through one connection. It is its own gate: no manifest declares its host as egress.
#[derive(Debug, Clone)]
pub struct ConnectionPolicy {
    /// Connection.
    pub connection: Connection,
    /// Methods that the app's manifest limits its requests to; none for those of the connection.
    pub methods: Option<Vec<Method>>,
    /// Paths, below the base URL, that the app's manifest limits its requests to; empty for all of the connection.
    pub paths: Vec<String>,
    /// Ports that the operator allows.
    pub ports: AllowedPorts,
    /// Operator's exceptions for hosts of the internal network.
    pub allowed_hosts: Vec<AllowedHost>,
    /// URL that the operator sets in place of the base URL, without a slash at its end.
    pub base_override: Option<String>,
}

impl ConnectionPolicy {
    /// Creates the rules for a connection without limits of a manifest or exceptions of the operator.
    #[must_use]
    pub fn new(connection: Connection) -> Self {
        let (methods, paths, ports) = (None, Vec::new(), AllowedPorts::default());
        Self { connection, methods, paths, ports, allowed_hosts: Vec::new(), base_override: None }
    }

    /// Checks that the ports of the connection and of its token endpoint may be called.
    ///
    /// # Errors
    /// [`InvalidInput`] about the address.
    pub fn check_ports(&self) -> Result<(), InvalidInput> {
        let may_call = |host: &GateHost, port: u16| {
            self.ports.allows(port) || self.allowed_hosts.iter().any(|allowed| allowed.matches(host, port))
        };
        let http = &self.connection.http;
        if self.base_override.is_none() && !may_call(&http.host, http.base_url.port()) {
            let field = if http.auth == Auth::Url { Field::Secret } else { Field::BaseUrl };
            return Err(InvalidInput::new(field, Reason::Port));
        }
        let may_ask = http.auth.token_url().is_none_or(|url| may_call(url.host(), url.port()));
        if may_ask { Ok(()) } else { Err(InvalidInput::new(Field::AuthTokenUrl, Reason::Port)) }
    }

    /// Returns the URL that paths are appended to, with placeholders; of a secret URL, its origin.
    pub(super) fn base(&self) -> &str {
        if let Some(base) = &self.base_override {
            return base;
        }
        let base = self.connection.http.base_url.as_str();
        if self.connection.http.auth == Auth::Url { base.strip_suffix("/…").unwrap_or(base) } else { base }
    }
}
