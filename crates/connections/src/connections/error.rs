//! Errors of the use cases on connections.

use kernel::StoreError;

use crate::invalid_input::InvalidInput;

/// A refusal or failure of a use case on connections.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// A value of the input is refused.
    #[error(transparent)]
    InvalidInput(#[from] InvalidInput),
    /// The workspace has [`MAX_CONNECTIONS`](crate::connection::MAX_CONNECTIONS) connections.
    #[error("the workspace has too many connections")]
    TooMany,
    /// The workspace has no such connection, or none of the kind that the use case changes.
    #[error("the workspace has no such connection")]
    NotFound,
    /// The catalogue has no such connector, or it is only planned.
    #[error("there is no such connector")]
    UnknownConnector,
    /// A person has to allow this connector's access in a browser.
    #[error("the connector needs an authorization in a browser")]
    NeedsAuthorization,
    /// The connector is connected with a secret.
    #[error("the connector is connected with a secret")]
    NotAuthorizable,
    /// The operator has registered no OAuth app for the connector.
    #[error("the operator has registered no OAuth app for the connector")]
    NoOauthApp,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
