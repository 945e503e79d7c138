//! Problems of gates and connections.

use connections::{
    InvalidInput,
    app_secrets::{AppSecretError, InvalidSecret, MAX_APP_SECRETS},
    connection::MAX_CONNECTIONS,
    connections::ConnectionError,
    gates::{GateError, InvalidGate, MAX_GATES},
};

use crate::problem::Problem;

impl From<GateError> for Problem {
    fn from(error: GateError) -> Self {
        match error {
            GateError::InvalidInput(error) => error.into(),
            GateError::NotFound => Self::not_found("gate"),
            GateError::AlreadyExists => {
                Self::conflict("gate_exists", "This workspace has a gate to this host.")
                    .hint("Open that gate, or delete it first.")
            }
            GateError::TooManyGates => {
                Self::conflict("too_many_gates", format!("A workspace can have at most {MAX_GATES} gates."))
                    .hint("Delete the gates that no app needs.")
            }
            GateError::BelongsToConnection => Self::conflict(
                "gate_of_connection",
                "This gate belongs to a connection and is deleted with it.",
            )
            .hint("Close the gate, or delete the connection."),
            GateError::Store(error) => error.into(),
        }
    }
}

impl From<InvalidGate> for Problem {
    fn from(error: InvalidGate) -> Self {
        match error {
            InvalidGate::Host(error) => Self::invalid_field("host", error),
            InvalidGate::Methods => Self::invalid_field("methods", "must name 1 to 7 methods"),
            InvalidGate::Name => Self::invalid_field("name", "must have 1 to 60 printable characters"),
        }
    }
}

impl From<ConnectionError> for Problem {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::InvalidInput(error) => error.into(),
            ConnectionError::TooMany => Self::conflict(
                "too_many_connections",
                format!("A workspace can have at most {MAX_CONNECTIONS} connections."),
            )
            .hint("Use an existing connection. A disconnected one counts for the 30 days in which it is listed."),
            ConnectionError::NotFound => Self::not_found("connection"),
            ConnectionError::UnknownConnector => Self::not_found("connector"),
            ConnectionError::NeedsAuthorization => Self::conflict(
                "needs_authorization",
                "This connector is connected by an authorization in a browser, not with a secret.",
            )
            .hint("Start it with POST …/connectors/{connectorId}/authorize."),
            ConnectionError::NotAuthorizable => Self::conflict(
                "needs_secret",
                "This connector is connected with a secret, not by an authorization in a browser.",
            )
            .hint("Send the secret to POST …/connectors/{connectorId}."),
            ConnectionError::NoOauthApp => Self::conflict(
                "oauth_app_missing",
                "The operator has registered no OAuth app for this connector.",
            )
            .hint("Ask the operator to add one with --connectors-config."),
            ConnectionError::Store(error) => error.into(),
        }
    }
}

impl From<AppSecretError> for Problem {
    fn from(error: AppSecretError) -> Self {
        match error {
            AppSecretError::Invalid(error) => error.into(),
            AppSecretError::TooMany => Self::conflict(
                "too_many_secrets",
                format!("An app can have at most {MAX_APP_SECRETS} secrets."),
            )
            .hint("Delete those that its code does not name."),
            AppSecretError::AppNotFound => Self::not_found("app"),
            AppSecretError::NotFound => Self::not_found("secret"),
            AppSecretError::Store(error) => error.into(),
        }
    }
}

impl From<InvalidSecret> for Problem {
    fn from(error: InvalidSecret) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<InvalidInput> for Problem {
    fn from(error: InvalidInput) -> Self {
        Self::invalid(error.to_string())
    }
}
