//! Problems of people, sessions, tokens, passkeys and agent clients.

use std::time::Duration;

use identity::{IdentityError, InvalidInput, oauth::ConsentError};

use crate::problem::{Problem, ProblemKind};

impl From<IdentityError> for Problem {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::InvalidEmail => {
                Self::invalid_field("email", "must be an e-mail address of at most 254 characters")
            }
            IdentityError::InvalidInput(error) => error.into(),
            IdentityError::InvalidCode => Self::new(
                ProblemKind::Unauthorized,
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
            IdentityError::TooManyDeviceLogins => Self::rate_limited(Duration::from_secs(60))
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
                ProblemKind::Unauthorized,
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

impl From<ConsentError> for Problem {
    fn from(error: ConsentError) -> Self {
        match error {
            ConsentError::AuthorizationNotFound => Self::not_found("authorization"),
            ConsentError::AlreadyDecided => {
                Self::conflict("authorization_decided", "This request has been decided already.")
                    .hint("Start again in the client.")
            }
            ConsentError::ExceedsRequestedAccess => {
                Self::invalid_field("access", "must not exceed what the client requested")
            }
            ConsentError::GrantNotFound => Self::not_found("grant"),
            ConsentError::Store(error) => error.into(),
        }
    }
}

impl From<InvalidInput> for Problem {
    fn from(error: InvalidInput) -> Self {
        let (field, rule): (&str, &'static str) = match error {
            InvalidInput::PersonName => ("name", "must have 1 to 120 printable characters"),
            InvalidInput::PasskeyName => ("name", "must have 1 to 60 printable characters"),
            InvalidInput::TokenName => ("name", "must have 1 to 60 printable characters"),
            InvalidInput::TokenLifetime => ("expiresInDays", "must be from 1 to 365, or null"),
            InvalidInput::DeviceClientName => ("client", "must have 1 to 60 printable characters"),
            InvalidInput::DeviceHostName => ("host", "must have 1 to 64 printable characters"),
            InvalidInput::DeviceTokenLifetime => ("expiresInDays", "must be from 1 to 365"),
            InvalidInput::DeviceAdminScope => ("scopes", "may contain only read and write"),
            InvalidInput::ScopesNotRequested => ("scopes", "must not exceed the requested scopes"),
        };
        Self::invalid_field(field, rule)
    }
}
