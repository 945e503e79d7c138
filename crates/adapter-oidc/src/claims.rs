//! Claims about a person (OpenID Connect Core 1.0, section 5.1), of an ID token or of the userinfo endpoint.

use identity::oidc::{EmailVerified, OidcError};
use serde_json::{Map, Value};

/// Returns a claim that is a text; another type is as if it were absent, and so is an empty text.
pub(crate) fn text<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c str> {
    claims.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// Returns the claim `email_verified`, a boolean or its text.
///
/// # Errors
/// [`OidcError::Refused`] for any other value: what decides about an address is not guessed.
pub(crate) fn email_verified(claims: &Map<String, Value>) -> Result<EmailVerified, OidcError> {
    match claims.get("email_verified") {
        None | Some(Value::Null) => Ok(EmailVerified::Absent),
        Some(Value::Bool(true)) => Ok(EmailVerified::Yes),
        Some(Value::Bool(false)) => Ok(EmailVerified::No),
        Some(Value::String(text)) if text == "true" => Ok(EmailVerified::Yes),
        Some(Value::String(text)) if text == "false" => Ok(EmailVerified::No),
        Some(_) => Err(OidcError::Refused("`email_verified` is neither true nor false".to_owned())),
    }
}

/// Returns `true` if `email_verified` is malformed and means true all the same.
pub(crate) fn reads_as_verified(claims: &Map<String, Value>) -> bool {
    match claims.get("email_verified") {
        Some(Value::Number(number)) => number.as_f64() == Some(1.0),
        Some(Value::String(text)) => {
            ["true", "yes", "1"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
        }
        _ => false,
    }
}

/// Returns the claim `sub`, which is never empty, since it is the person's identity (section 2).
///
/// # Errors
/// [`OidcError::Refused`] if it is missing, empty, or no text of at most 255 characters.
pub(crate) fn subject(claims: &Map<String, Value>) -> Result<&str, OidcError> {
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    let is_valid = !subject.trim().is_empty()
        && subject.chars().count() <= 255
        && !subject.chars().any(char::is_control);
    if is_valid { Ok(subject) } else { Err(OidcError::Refused("`sub` names nobody".to_owned())) }
}
