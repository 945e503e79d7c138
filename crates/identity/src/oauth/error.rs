//! What can go wrong with agent clients.

use kernel::{Problem, StoreError};

use super::clients::InvalidClientMetadata;

/// A refusal or failure on the console's side.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// Absent, expired, or another person's.
    #[error("there is no such authorization")]
    AuthorizationNotFound,
    /// Somebody decided about it before.
    #[error("the authorization is decided")]
    AlreadyDecided,
    /// More than the client asked for.
    #[error("the client asked for less")]
    ExceedsRequestedAccess,
    /// The caller has no such grant.
    #[error("there is no such grant")]
    GrantNotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ConsentError> for Problem {
    fn from(error: ConsentError) -> Self {
        match error {
            ConsentError::AuthorizationNotFound => Self::not_found("authorization"),
            ConsentError::AlreadyDecided => {
                Self::conflict("authorization_decided", "This was decided already; each is decided once.")
                    .hint("Start again in the client.")
            }
            ConsentError::ExceedsRequestedAccess => {
                Self::invalid_field("access", "must not be more than the client asked for")
            }
            ConsentError::GrantNotFound => Self::not_found("grant"),
            ConsentError::Store(error) => error.into(),
        }
    }
}

/// A refusal at the token endpoint, in the words of RFC 6749 §5.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// The code or refresh token is wrong, used, expired, revoked, or another client's; which of these is not told.
    #[error("the code or refresh token is not valid")]
    InvalidGrant,
    /// More than was granted.
    #[error("the scope is more than what was granted")]
    InvalidScope,
}

/// A refusal of a registration, in the words of RFC 7591 §3.2.2.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    /// What the client says of itself does not do.
    #[error(transparent)]
    Metadata(#[from] InvalidClientMetadata),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
