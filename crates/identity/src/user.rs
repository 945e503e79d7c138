//! A person and their address.

use std::{fmt, str::FromStr};

use kernel::{Timestamp, id::UserId};
use serde::{Deserialize, Serialize};

use crate::IdentityError;

/// An e-mail address as [`kernel::email_address::normalize`] makes it, at most 254 bytes (RFC 5321 §4.5.3.1).
///
/// It is checked for shape only: who owns it is proved by a mail that arrives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

impl Email {
    /// The address.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the `@`.
    #[must_use]
    pub fn local_part(&self) -> &str {
        self.0.split_once('@').map_or(&self.0, |(local, _)| local)
    }
}

impl FromStr for Email {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        // What is folded is not much longer than what came; the rest is not looked at.
        let text = Some(text).filter(|text| text.len() <= 1_000).and_then(kernel::email_address::normalize);
        let text = text.ok_or(IdentityError::InvalidEmail)?;
        let (local, domain) = text.rsplit_once('@').ok_or(IdentityError::InvalidEmail)?;
        let printable = |part: &str| {
            part.chars().all(|c| !c.is_control() && !c.is_whitespace() && !"<>()[],;:\"\\@".contains(c))
        };
        let valid = text.len() <= 254
            && (1..=64).contains(&local.len())
            && printable(local)
            && printable(domain)
            && domain.contains('.')
            && domain.split('.').all(|label| {
                (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
            });
        if valid { Ok(Self(text)) } else { Err(IdentityError::InvalidEmail) }
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The colour of a person's initials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Color {
    #[expect(missing_docs, reason = "a colour says itself")]
    Sky,
    #[expect(missing_docs, reason = "a colour says itself")]
    Pool,
    #[expect(missing_docs, reason = "a colour says itself")]
    Bubblegum,
    #[expect(missing_docs, reason = "a colour says itself")]
    Leaf,
    #[expect(missing_docs, reason = "a colour says itself")]
    Lilac,
    #[expect(missing_docs, reason = "a colour says itself")]
    Sun,
    #[expect(missing_docs, reason = "a colour says itself")]
    Tangerine,
    #[expect(missing_docs, reason = "a colour says itself")]
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
    /// The person's id.
    pub id: UserId,
    /// The name others see, 1 to 120 characters.
    pub name: String,
    /// The address they sign in with.
    pub email: Email,
    /// When they first came.
    pub created_at: Timestamp,
}

impl User {
    /// One to three letters that stand for the name.
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

    /// A colour that stays the same for one person.
    #[must_use]
    pub fn color(&self) -> Color {
        COLORS[(self.id.uuid().as_u128() % 8) as usize]
    }
}

/// The name of a person: as given, else made from the address.
pub(crate) fn resolve_display_name(given: Option<&str>, email: &Email) -> Result<String, IdentityError> {
    let name = given.map_or_else(|| email.local_part(), str::trim);
    if (1..=120).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
        Ok(name.to_owned())
    } else {
        Err(IdentityError::InvalidField { field: "name", what: "must have 1 to 120 printable characters" })
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;

    use super::*;

    #[test]
    fn addresses_are_checked_for_shape() {
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
