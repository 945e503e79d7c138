//! Errors of people, sessions and tokens.

use kernel::StoreError;

use crate::InvalidInput;

/// Error of a response that fails verification, or of a challenge that cannot be made. The text may be logged.
#[derive(Debug, thiserror::Error)]
#[error("the passkey response was rejected: {0}")]
pub struct PasskeyRejected(pub String);

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The text is not an e-mail address.
    #[error("the address is not a valid e-mail address")]
    InvalidEmail,
    /// A value of the input is refused.
    #[error(transparent)]
    InvalidInput(#[from] InvalidInput),
    /// The code or link is wrong, used, expired or was never requested. The error does not say which.
    #[error("the sign-in code is not valid")]
    InvalidCode,
    /// The caller has no token with this id.
    #[error("there is no such token")]
    TokenNotFound,
    /// The request was made with a token.
    #[error("a token cannot create another token")]
    TokenCannotCreateToken,
    /// A member below the role `admin` requested a token with the scope `admin`.
    #[error("only an admin can create a token with the scope admin")]
    AdminScopeForbidden,
    /// The person has [`MAX_TOKENS`](crate::tokens::MAX_TOKENS) active tokens in the workspace.
    #[error("the person has too many tokens")]
    TooManyTokens,
    /// No device login has this code, or the caller may not see it.
    #[error("there is no such device login")]
    DeviceLoginNotFound,
    /// The device login has been decided or has expired.
    #[error("the device login is no longer pending")]
    DeviceLoginNotPending,
    /// Too many device logins are open, in total or from one network.
    #[error("too many device logins are open")]
    TooManyDeviceLogins,
    /// The person has no session with this id.
    #[error("there is no such session")]
    SessionNotFound,
    /// The person has a passkey and has not used it recently in this session.
    #[error("the person must step up with a passkey")]
    StepUpRequired,
    /// The person has no passkey.
    #[error("the person has no passkey")]
    NoPasskey,
    /// The person has no passkey with this id.
    #[error("there is no such passkey")]
    PasskeyNotFound,
    /// The person has [`MAX_PASSKEYS`](crate::passkeys::MAX_PASSKEYS) passkeys.
    #[error("the person has too many passkeys")]
    TooManyPasskeys,
    /// The ceremony is unknown, used, expired or has another purpose. The error does not say which.
    #[error("the passkey ceremony is not valid")]
    InvalidCeremony,
    /// The authenticator's response failed verification.
    #[error(transparent)]
    PasskeyRejected(#[from] PasskeyRejected),
    /// The issuer gives no address, or does not vouch for it.
    #[error("the issuer does not vouch for the e-mail address")]
    EmailNotTrusted,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
