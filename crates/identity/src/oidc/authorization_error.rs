//! Errors in the redirect of an issuer.

/// Most characters of a code that is logged.
const MAX_CODE_CHARS: usize = 64;

/// Codes of a sign-in that the person cancelled, or that the issuer does not allow them; the second is Apple's.
const CANCELLED: [&str; 2] = ["access_denied", "user_cancelled_authorize"];

/// Codes of the standards (RFC 6749, section 4.1.2.1; OpenID Connect Core 1.0, section 3.1.2.6).
const STANDARD: [&str; 16] = [
    "invalid_request",
    "unauthorized_client",
    "unsupported_response_type",
    "invalid_scope",
    "server_error",
    "temporarily_unavailable",
    "interaction_required",
    "login_required",
    "account_selection_required",
    "consent_required",
    "invalid_request_uri",
    "invalid_request_object",
    "request_not_supported",
    "request_uri_not_supported",
    "registration_not_supported",
    "unmet_authentication_requirements",
];

/// The error of a sign-in that ended at the issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizationError {
    /// The person cancelled the sign-in, or may not sign in.
    Cancelled(&'static str),
    /// An error with a code of the standards.
    Standard(&'static str),
    /// Another error. The code may be logged.
    Other(String),
}

impl AuthorizationError {
    /// Reads the parameter `error`; none if it is empty.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let find = |codes: &[&'static str]| codes.iter().find(|code| **code == text).copied();
        if text.is_empty() {
            None
        } else if let Some(code) = find(&CANCELLED) {
            Some(Self::Cancelled(code))
        } else if let Some(code) = find(&STANDARD) {
            Some(Self::Standard(code))
        } else if text.len() <= MAX_CODE_CHARS && text.bytes().all(is_code_character) {
            Some(Self::Other(text.to_owned()))
        } else {
            Some(Self::Other("malformed".to_owned()))
        }
    }

    /// Returns the code; `malformed` for one that is too long, or has characters that no code has.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Cancelled(code) | Self::Standard(code) => code,
            Self::Other(code) => code,
        }
    }
}

/// Returns `true` for the characters of an error code (RFC 6749, section 4.1.2.1).
fn is_code_character(byte: u8) -> bool {
    matches!(byte, 0x20..=0x21 | 0x23..=0x5b | 0x5d..=0x7e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_known_or_may_be_logged() {
        use AuthorizationError::{Cancelled, Other, Standard};
        let other = |code: &str| Some(Other(code.to_owned()));
        let (longest, long) = ("x".repeat(MAX_CODE_CHARS), "x".repeat(MAX_CODE_CHARS + 1));
        for (text, expected) in [
            ("", None),
            ("access_denied", Some(Cancelled("access_denied"))),
            ("user_cancelled_authorize", Some(Cancelled("user_cancelled_authorize"))),
            ("invalid_scope", Some(Standard("invalid_scope"))),
            ("temporarily_unavailable", Some(Standard("temporarily_unavailable"))),
            ("INVALID_SCOPE", other("INVALID_SCOPE")),
            ("AADSTS65004: declined", other("AADSTS65004: declined")),
            (longest.as_str(), other(&longest)),
            (" ", other(" ")),
            ("a\nb", other("malformed")),
            ("a\"b", other("malformed")),
            ("a\\b", other("malformed")),
            ("a\u{7f}", other("malformed")),
            ("отказ", other("malformed")),
            (long.as_str(), other("malformed")),
        ] {
            assert_eq!(AuthorizationError::parse(text), expected, "{text:?}");
        }
        for code in CANCELLED.iter().chain(&STANDARD) {
            assert_eq!(AuthorizationError::parse(code).unwrap().code(), *code);
        }
    }
}
