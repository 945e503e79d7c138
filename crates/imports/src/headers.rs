//! Request headers of an export: those that the app may send, those that an admin has to agree to, and those that only the gate
//! sets.

use kernel::request_headers::{CredentialHeader, is_overriding, is_reserved};

/// Treatment of a header that a step sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    /// The app may send it.
    Plain,
    /// The app may send it once an admin agreed; the name in lower case.
    Credential(&'static str),
    /// Only the gate sets it.
    Refused,
}

/// Returns the treatment of a header by its name.
pub(crate) fn kind_of(name: &str) -> HeaderKind {
    let lower = name.trim().to_ascii_lowercase();
    let dashed = lower.replace('_', "-");
    match lower.parse::<CredentialHeader>() {
        Ok(header) => HeaderKind::Credential(header.as_str()),
        Err(_) if is_reserved(&dashed) || is_overriding(&dashed) => HeaderKind::Refused,
        Err(_) => HeaderKind::Plain,
    }
}

/// Returns the headers with credentials that a text names, such as JSON in which expressions stand, or code.
pub(crate) fn credentials_in(text: &str) -> Vec<&'static str> {
    let lower = text.to_ascii_lowercase();
    let is_named = |name: &str| {
        lower.match_indices(name).any(|(at, _)| {
            let is_part = |character: char| character.is_alphanumeric() || "_-".contains(character);
            let before = lower.get(..at).and_then(|text| text.chars().next_back());
            let after = lower.get(at + name.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    };
    CredentialHeader::ALL.into_iter().map(CredentialHeader::as_str).filter(|name| is_named(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_in_any_spelling() {
        for (name, kind) in [
            ("Authorization", HeaderKind::Credential("authorization")),
            (" cookie ", HeaderKind::Credential("cookie")),
            ("Host", HeaderKind::Refused),
            ("Content-Length", HeaderKind::Refused),
            ("x_forwarded_for", HeaderKind::Refused),
            ("X-HTTP-Method-Override", HeaderKind::Refused),
            ("Proxy-Authorization", HeaderKind::Refused),
            ("Content-Type", HeaderKind::Plain),
            ("X-Api-Key", HeaderKind::Plain),
            ("Cookies", HeaderKind::Plain),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
    }

    #[test]
    fn credentials_are_found_in_text_by_their_whole_name() {
        assert_eq!(
            credentials_in(r#"{"Authorization": "Bearer {{ $json.t }}", 'Cookie': 1}"#),
            ["authorization", "cookie"]
        );
        assert_eq!(credentials_in("msg.headers.authorization = t"), ["authorization"]);
        let none: [&str; 0] = [];
        assert_eq!(credentials_in("authorizations, Proxy-Authorization, set_cookie, cookies"), none);
    }
}
