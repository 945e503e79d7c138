//! Errors of the use cases on secrets of apps.

use kernel::StoreError;

use super::{InvalidName, MAX_SECRET_HOSTS, MAX_VALUE_CHARS};
use crate::host::InvalidHost;

/// A refused value of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSecret {
    /// The name is not an identifier.
    #[error("`name` {0}")]
    Name(#[from] InvalidName),
    /// The value is empty or too long.
    #[error("`value` must have 1 to {MAX_VALUE_CHARS} characters")]
    Length,
    /// The value cannot be sent in a header, and hosts are given.
    #[error("`value` has a character that a header cannot have; use printable ASCII, or leave out `hosts`")]
    NotHeaderText,
    /// There are too many hosts.
    #[error("`hosts` may have at most {MAX_SECRET_HOSTS} items")]
    TooManyHosts,
    /// A host is not one of the public internet.
    #[error("`hosts[{index}]` {error}")]
    Host {
        /// Position in the list.
        index: usize,
        /// Reason.
        error: InvalidHost,
    },
}

/// The reason why an operation on a secret of an app fails.
#[derive(Debug, thiserror::Error)]
pub enum AppSecretError {
    /// A value is refused.
    #[error(transparent)]
    Invalid(#[from] InvalidSecret),
    /// The app has the most secrets that it can have.
    #[error("the app has too many secrets")]
    TooMany,
    /// The app was deleted.
    #[error("there is no such app")]
    AppNotFound,
    /// The app has no secret of this name.
    #[error("there is no such secret")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
