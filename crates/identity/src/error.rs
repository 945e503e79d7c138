//! What can go wrong with people, sessions and tokens.

use kernel::{Problem, StoreError};

/// A refusal or failure of this domain.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The text is no e-mail address.
    #[error("the address is not a valid e-mail address")]
    InvalidEmail,
    /// A field is out of its bounds.
    #[error("{field} {what}")]
    InvalidField {
        /// The field's name on the wire.
        field: &'static str,
        /// What it must be.
        what: &'static str,
    },
    /// The code or link is wrong, used up, expired, or was never asked for; which of these is not told.
    #[error("the sign-in code is not valid")]
    InvalidCode,
    /// The caller has no such token.
    #[error("there is no such token")]
    TokenNotFound,
    /// A token asked for a token.
    #[error("a token cannot create another token")]
    TokenCannotCreateToken,
    /// Somebody who is no admin asked for a token with the scope `admin`.
    #[error("only an admin may make a token with the scope admin")]
    AdminScopeForbidden,
    /// The person has as many active tokens in the workspace as they may.
    #[error("the person has too many tokens")]
    TooManyTokens,
    /// No device login has this code, or it is not to be seen.
    #[error("there is no such device login")]
    DeviceLoginNotFound,
    /// The device login was decided already, or is too old.
    #[error("the device login is not pending any more")]
    DeviceLoginNotPending,
    /// Too many device logins are open.
    #[error("too many device logins are open")]
    TooManyDeviceLogins,
    /// The person has no such session.
    #[error("there is no such session")]
    SessionNotFound,
    /// The person must use their passkey first.
    #[error("the person must prove themselves again")]
    StepUpRequired,
    /// The person has no passkey.
    #[error("the person has no passkey")]
    NoPasskey,
    /// The person has no such passkey.
    #[error("there is no such passkey")]
    PasskeyNotFound,
    /// The person has as many passkeys as they may.
    #[error("the person has too many passkeys")]
    TooManyPasskeys,
    /// The ceremony is unknown, too old, used up, or was begun for something else; which of these is not told.
    #[error("the passkey ceremony is over")]
    InvalidCeremony,
    /// The passkey's answer does not prove what it should.
    #[error(transparent)]
    PasskeyRejected(#[from] crate::passkeys::PasskeyRejected),
    /// A provider's word about an address is not enough.
    #[error("the provider is not believed about the address")]
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
            IdentityError::InvalidField { field, what } => Self::invalid_field(field, what),
            IdentityError::InvalidCode => Self::new(
                kernel::ProblemKind::Unauthorized,
                "invalid_code",
                "The code or link is wrong or no longer valid.",
            )
            .hint("Ask for a new mail; a code takes five tries at most."),
            IdentityError::TokenNotFound => Self::not_found("token"),
            IdentityError::TokenCannotCreateToken => {
                Self::forbidden("console_only", "A token can never create another token.")
                    .hint("Make it in the console.")
            }
            IdentityError::AdminScopeForbidden => Self::forbidden(
                "admin_only",
                "Only an admin or owner of the workspace can create a token with the scope admin.",
            )
            .hint("Leave the scope admin out."),
            IdentityError::TooManyTokens => {
                Self::conflict("too_many_tokens", "You have 100 active tokens in this workspace.")
                    .hint("Revoke tokens that you no longer use.")
            }
            IdentityError::DeviceLoginNotFound => Self::not_found("device login")
                .hint("Check the code, or start the login again on the command line."),
            IdentityError::DeviceLoginNotPending => {
                Self::conflict("device_login_over", "This login was decided already, or is too old.")
                    .hint("Start it anew on the command line.")
            }
            IdentityError::TooManyDeviceLogins => Self::rate_limited(std::time::Duration::from_secs(60))
                .hint("Too many logins are open. Finish one, or wait: each is open for ten minutes."),
            IdentityError::SessionNotFound => Self::not_found("session"),
            IdentityError::StepUpRequired => {
                Self::forbidden("step_up_required", "This needs a fresh proof that it is you.").hint(
                    "Use your passkey: POST /v1/auth/passkeys/step-up/start, then finish, then try again.",
                )
            }
            IdentityError::NoPasskey => Self::conflict("no_passkey", "You have no passkey."),
            IdentityError::PasskeyNotFound => Self::not_found("passkey"),
            IdentityError::TooManyPasskeys => {
                Self::conflict("too_many_passkeys", "You have as many passkeys as one person may.")
                    .hint("Take one away first.")
            }
            IdentityError::InvalidCeremony | IdentityError::PasskeyRejected(_) => Self::new(
                kernel::ProblemKind::Unauthorized,
                "passkey_refused",
                "The passkey's answer is wrong or came too late.",
            )
            .hint("Begin again; each challenge is good once, for five minutes."),
            IdentityError::EmailNotTrusted => Self::forbidden(
                "email_not_verified",
                "The sign-in service does not vouch for your e-mail address.",
            )
            .hint("Sign in with a code by e-mail instead."),
            IdentityError::Store(error) => error.into(),
        }
    }
}
