//! Names of secrets.

use std::{fmt, str::FromStr};

/// Most characters of a name.
const MAX_CHARS: usize = 40;

/// The name of a secret: an identifier of JavaScript with 1 to 40 ASCII letters, digits and `_`. It does not begin with a
/// digit or `__`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppSecretName(String);

/// Error of a text that is not the name of a secret; the rest of a sentence that begins with the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {MAX_CHARS} ASCII letters, digits and `_`, without a leading digit or `__`")]
pub struct InvalidName;

impl AppSecretName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AppSecretName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_valid = text.len() <= MAX_CHARS
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && text.bytes().next().is_some_and(|first| !first.is_ascii_digit())
            && !text.starts_with("__");
        if is_valid { Ok(Self(text.to_owned())) } else { Err(InvalidName) }
    }
}

impl fmt::Display for AppSecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers() {
        let long = "a".repeat(40);
        for valid in ["A", "_a", "STRIPE_KEY", "k2", &long] {
            assert!(valid.parse::<AppSecretName>().is_ok(), "{valid}");
        }
        for invalid in ["", "2k", "a-b", "a b", "__proto__", "é", "a]", &format!("{long}a"), "a\n"] {
            assert!(invalid.parse::<AppSecretName>().is_err(), "{invalid}");
        }
    }
}
