//! Errors of people, sessions and tokens, and the problems they become.

use kernel::{Problem, StoreError};

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
    /// A field's value is out of bounds.
    #[error("{field} {rule}")]
    InvalidField {
        /// The field's name on the wire.
        field: &'static str,
        /// Rule that the value breaks, in the form `must …`.
        rule: &'static str,
    },
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

impl From<IdentityError> for Problem {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::InvalidEmail => {
                Self::invalid_field("email", "must be an e-mail address of at most 254 characters")
            }
            IdentityError::InvalidField { field, rule } => Self::invalid_field(field, rule),
            IdentityError::InvalidCode => Self::new(
                kernel::ProblemKind::Unauthorized,
                "invalid_code",
                "The code or link is wrong or no longer valid.",
            )
            .hint("Request a new e-mail. A code allows at most five attempts."),
            IdentityError::TokenNotFound => Self::not_found("token"),
            IdentityError::TokenCannotCreateToken => {
                Self::forbidden("console_only", "A token cannot create another token.")
                    .hint("Create it in the console.")
            }
            IdentityError::AdminScopeForbidden => Self::forbidden(
                "admin_only",
                "Only an admin or owner of the workspace can create a token with the scope admin.",
            )
            .hint("Leave out the scope admin."),
            IdentityError::TooManyTokens => {
                Self::conflict("too_many_tokens", "You have 100 active tokens in this workspace.")
                    .hint("Revoke tokens that you no longer use.")
            }
            IdentityError::DeviceLoginNotFound => Self::not_found("device login")
                .hint("Check the code, or start the login again on the command line."),
            IdentityError::DeviceLoginNotPending => {
                Self::conflict("device_login_over", "This login has been decided already or has expired.")
                    .hint("Start again on the command line.")
            }
            IdentityError::TooManyDeviceLogins => Self::rate_limited(std::time::Duration::from_secs(60))
                .hint("Too many logins are open. Complete one or wait: a login expires after ten minutes."),
            IdentityError::SessionNotFound => Self::not_found("session"),
            IdentityError::StepUpRequired => Self::forbidden(
                "step_up_required",
                "This action requires a recent passkey verification.",
            )
            .hint(
                "Verify with your passkey (POST /v1/auth/passkeys/step-up/start, then finish) and try again.",
            ),
            IdentityError::NoPasskey => Self::conflict("no_passkey", "You have no passkey."),
            IdentityError::PasskeyNotFound => Self::not_found("passkey"),
            IdentityError::TooManyPasskeys => {
                Self::conflict("too_many_passkeys", "You have the maximum of 20 passkeys.")
                    .hint("Delete one first.")
            }
            IdentityError::InvalidCeremony | IdentityError::PasskeyRejected(_) => Self::new(
                kernel::ProblemKind::Unauthorized,
                "passkey_refused",
                "The passkey response is invalid or came too late.",
            )
            .hint("Start again. Each challenge is valid once and expires after five minutes."),
            IdentityError::EmailNotTrusted => Self::forbidden(
                "email_not_verified",
                "The sign-in service does not vouch for your e-mail address.",
            )
            .hint("Sign in with a code by e-mail instead."),
            IdentityError::Store(error) => error.into(),
        }
    }
}
