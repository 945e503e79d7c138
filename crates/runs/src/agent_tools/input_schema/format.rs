//! Formats of texts (JSON Schema Validation, section 7.3).

use std::str::FromStr as _;

use chrono::{DateTime, NaiveDate};

/// Format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// RFC 3339, `full-date`.
    Date,
    /// RFC 3339, `date-time`.
    DateTime,
    /// An address with one `@`, without spaces.
    Email,
    /// RFC 3986, with a scheme.
    Uri,
    /// RFC 9562, with hyphens.
    Uuid,
}

kernel::names! {
    Format {
        Date = "date",
        DateTime = "date-time",
        Email = "email",
        Uri = "uri",
        Uuid = "uuid",
    }
}

impl Format {
    /// Returns true if the text has this format.
    pub(super) fn matches(self, text: &str) -> bool {
        match self {
            // The length, since the parser takes years of other lengths too.
            Self::Date => text.len() == 10 && NaiveDate::from_str(text).is_ok(),
            Self::DateTime => DateTime::parse_from_rfc3339(text).is_ok(),
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Uuid => is_uuid(text),
        }
    }
}

fn is_email(text: &str) -> bool {
    let has_forbidden = text.chars().any(|c| c.is_whitespace() || c.is_control());
    let parts = text.split_once('@').filter(|(_, domain)| !domain.contains('@'));
    let is_domain = |domain: &str| {
        !domain.is_empty() && !domain.starts_with('.') && !domain.ends_with('.') && !domain.contains("..")
    };
    text.len() <= 254
        && !has_forbidden
        && parts.is_some_and(|(local, domain)| !local.is_empty() && local.len() <= 64 && is_domain(domain))
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    // Reserved and unreserved characters; `%` only before two digits.
    let bytes = rest.as_bytes();
    let is_rest = bytes.iter().enumerate().all(|(index, byte)| match byte {
        b'%' => {
            bytes.get(index + 1..index + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }
        byte => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(byte),
    });
    is_scheme && !rest.is_empty() && is_rest
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_texts_apart() {
        for (format, matching, other) in [
            (
                Format::Date,
                &["2026-02-28", "2024-02-29"][..],
                &["2026-02-29", "2026-2-1", "20260201", ""][..],
            ),
            (
                Format::DateTime,
                &["2026-02-28T12:00:00Z", "2026-02-28T12:00:00.5+05:00"],
                &["2026-02-28", "2026-02-28T12:00:00", "2026-02-28T25:00:00Z"],
            ),
            (
                Format::Email,
                &["a@b.example", "a.b+c@localhost", "қ@b.example"],
                &["a", "@b", "a@", "a@b@c", "a b@c", "a@.b", "a@b..c"],
            ),
            (
                Format::Uri,
                &["https://a.example/?q=%20#x", "mailto:a@b.example", "urn:isbn:1"],
                &["a.example", "//a.example", "1a:b", "a:", "http://a b", "http://a/%2", "http://a/\u{e9}"],
            ),
            (
                Format::Uuid,
                &["01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-774B-BCCE-B302099A8057"],
                &["01890a5dac96774bbcceb302099a8057", "01890a5d-ac96-774b-bcce-b302099a805g", "----"],
            ),
        ] {
            for text in matching {
                assert!(format.matches(text), "{format:?}: {text}");
            }
            for text in other {
                assert!(!format.matches(text), "{format:?}: {text}");
            }
        }
    }
}
