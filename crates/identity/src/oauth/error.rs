//! Errors of agent clients.

use kernel::StoreError;

/// A refusal or failure of a person's decision about an authorization or a grant.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// The authorization is unknown, expired or claimed by another person.
    #[error("there is no such authorization")]
    AuthorizationNotFound,
    /// The person has decided the authorization already.
    #[error("the authorization has been decided already")]
    AlreadyDecided,
    /// The consent exceeds the requested access, or uses somebody else's membership.
    #[error("the consent exceeds what the client requested")]
    ExceedsRequestedAccess,
    /// The person has no such grant in the workspace.
    #[error("there is no such grant")]
    GrantNotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A refusal at the token endpoint (RFC 6749, section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// The code or refresh token is wrong, used, expired, revoked or another client's. The error does not say which.
    #[error("the code or refresh token is not valid")]
    InvalidGrant,
    /// The requested scope exceeds the grant.
    #[error("the scope exceeds the grant")]
    InvalidScope,
}
