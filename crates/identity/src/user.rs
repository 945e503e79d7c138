//! A person and their e-mail address.

use std::{fmt, str::FromStr};

use kernel::{Timestamp, id::UserId};
use serde::{Deserialize, Serialize};

use crate::{IdentityError, InvalidInput, text::validate_label};

/// Most characters of a person's name.
pub(crate) const MAX_NAME_CHARS: usize = 120;

/// E-mail address as [`kernel::email_address::normalize`] writes it, at most 254 bytes (RFC 5321, section 4.5.3.1).
///
/// Only its form is checked; that it belongs to somebody is proved by an e-mail they receive.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

impl Email {
    /// Returns the address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part before the `@`.
    #[must_use]
    pub fn local_part(&self) -> &str {
        self.0.split_once('@').map_or(&self.0, |(local, _)| local)
    }
}

impl FromStr for Email {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        // Normalizing changes the length little: a longer text is no address, and is not worth the work.
        let text = Some(text).filter(|text| text.len() <= 1_000).and_then(kernel::email_address::normalize);
        let text = text.ok_or(IdentityError::InvalidEmail)?;
        let (local, domain) = text.rsplit_once('@').ok_or(IdentityError::InvalidEmail)?;
        let is_printable = |part: &str| {
            part.chars().all(|c| !c.is_control() && !c.is_whitespace() && !"<>()[],;:\"\\@".contains(c))
        };
        let is_valid = text.len() <= 254
            && (1..=64).contains(&local.len())
            && is_printable(local)
            && is_printable(domain)
            && domain.contains('.')
            && domain.split('.').all(|label| {
                (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
            });
        if is_valid { Ok(Self(text)) } else { Err(IdentityError::InvalidEmail) }
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Colour behind a person's initials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each variant is the name of its colour")]
pub enum Color {
    Sky,
    Pool,
    Bubblegum,
    Leaf,
    Lilac,
    Sun,
    Tangerine,
    Tomato,
}

const COLORS: [Color; 8] = [
    Color::Sky,
    Color::Pool,
    Color::Bubblegum,
    Color::Leaf,
    Color::Lilac,
    Color::Sun,
    Color::Tangerine,
    Color::Tomato,
];

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Id of the person.
    pub id: UserId,
    /// Display name, 1 to 120 characters.
    pub name: String,
    /// Address they sign in with.
    pub email: Email,
    /// Time of the first sign-in.
    pub created_at: Timestamp,
}

impl User {
    /// Returns one to three letters: the initials of the name, else of the address, else `?`.
    #[must_use]
    pub fn initials(&self) -> String {
        let letters = |text: &str| -> String {
            text.split(|c: char| !c.is_alphanumeric())
                .filter_map(|word| word.chars().next())
                .take(2)
                .flat_map(char::to_uppercase)
                .take(3)
                .collect()
        };
        [self.name.as_str(), self.email.as_str()]
            .into_iter()
            .map(letters)
            .find(|letters| !letters.is_empty())
            .unwrap_or_else(|| "?".to_owned())
    }

    /// Returns a colour that depends on the id alone.
    #[must_use]
    pub fn color(&self) -> Color {
        COLORS[(self.id.uuid().as_u128() % 8) as usize]
    }
}

/// Returns the given name, trimmed, or the local part of the address if no name is given; 1 to 120 characters.
pub(crate) fn resolve_display_name(given: Option<&str>, email: &Email) -> Result<String, InvalidInput> {
    validate_label(given.unwrap_or(email.local_part()), MAX_NAME_CHARS, InvalidInput::PersonName)
}

#[cfg(test)]
mod tests {
    use kernel::Id;

    use super::*;

    #[test]
    fn addresses_are_checked_for_their_form() {
        assert_eq!(" Aru@Example.COM ".parse::<Email>().unwrap().as_str(), "aru@example.com");
        for text in [
            "",
            "aru",
            "@example.com",
            "aru@",
            "aru@example",
            "aru@-a.com",
            "aru@a..com",
            "a b@example.com",
            "a@b@example.com",
            "<a@example.com>",
            "a\r\nBcc: b@example.com",
            "a\u{200b}ru@example.com",
            "aru@exam\u{200b}ple.com",
            "\u{feff}aru@example.com",
            "aru@example.com\u{200d}",
            "a\u{202e}ru@example.com",
            "a\u{ad}ru@example.com",
            "aru@example\u{2060}.com",
            "aru@example.com\u{e0041}",
            "\u{3164}@example.com",
            "a\u{fe0f}@example.com",
        ] {
            assert!(text.parse::<Email>().is_err(), "{text:?}");
        }
        assert!(format!("{}@example.com", "a".repeat(65)).parse::<Email>().is_err());
        assert!(format!("a@{}.com", "b.".repeat(130)).parse::<Email>().is_err());
    }

    #[test]
    fn initials_come_from_the_name_or_the_address() {
        let initials = |name: &str| {
            User {
                id: Id::from_uuid(Default::default()),
                name: name.to_owned(),
                email: "zed@example.com".parse().unwrap(),
                created_at: Timestamp::UNIX_EPOCH,
            }
            .initials()
        };
        assert_eq!(initials("Aru Bek Olzhas"), "AB");
        assert_eq!(initials("айгүл"), "А");
        assert_eq!(initials("ßtraße"), "SS");
        assert_eq!(initials("--"), "ZE");
    }
}
