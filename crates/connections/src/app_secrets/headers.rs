//! Secrets in the headers of an app's requests.
//!
//! The text of a handle, `[secret NAME]`, is all that code has of a secret. It stands for the secret at the end of a header's
//! value, alone or after a prefix such as `Bearer `. It does so only in headers that carry credentials: code may pass on
//! what a visitor typed, and a visitor who types that text must not make the gate send the secret where it is shown.

use kernel::request_headers::is_reserved;

use crate::egress::{MAX_HEADERS_BYTES, Refusal, RefusalCode};

/// Headers that carry credentials have one of these words in their names, or a word that ends with one of
/// [`CREDENTIAL_ENDINGS`]: `X-Api-Key`, `apikey`, `Private-Token`.
const CREDENTIAL_WORDS: &[&str] = &[
    "auth",
    "authentication",
    "authorization",
    "credential",
    "credentials",
    "passwd",
    "password",
    "session",
    "signature",
];
const CREDENTIAL_ENDINGS: &[&str] = &["key", "secret", "token"];
/// Words of names whose key or token is no credential, and may be shown: `Idempotency-Key`, `X-Page-Token`.
const OTHER_WORDS: &[&str] = &[
    "cache",
    "continuation",
    "correlation",
    "cursor",
    "dedup",
    "deduplication",
    "idempotency",
    "idempotent",
    "next",
    "page",
    "partition",
    "request",
    "routing",
    "surrogate",
    "sync",
    "trace",
];
/// Headers with a secret in one request, at most: each is read and opened, and searched for in the response.
pub const MAX_SECRET_HEADERS: usize = 4;
/// Bytes before a secret, at most.
const MAX_PREFIX_BYTES: usize = 256;
/// The one reserved header that may have a secret.
const AUTHORIZATION: &str = "authorization";

/// A header whose value ends with a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretHeader {
    /// Name of the header, in lower case.
    pub header: String,
    /// Text before the secret.
    pub prefix: String,
    /// Name of the secret.
    pub secret: String,
}

/// Takes the headers that have a secret out of a request's headers. `names` are the secrets that the manifest declares.
///
/// # Errors
/// [`RefusalCode::HeaderDenied`] when the text of a handle is not at the end of a value, or after a long prefix, or in a
/// header that carries no credential; when a header is there twice, or more than [`MAX_SECRET_HEADERS`] have a secret; and
/// for headers over [`MAX_HEADERS_BYTES`].
pub fn take_secret_headers<'n>(
    headers: &mut Vec<(String, String)>,
    names: impl IntoIterator<Item = &'n str>,
) -> Result<Vec<SecretHeader>, Refusal> {
    let marks: Vec<(&str, String)> = names.into_iter().map(|name| (name, handle_text(name))).collect();
    if marks.is_empty() {
        return Ok(Vec::new());
    }
    if headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum::<usize>() > MAX_HEADERS_BYTES {
        return Err(denied(format!("the headers are longer than {MAX_HEADERS_BYTES} bytes")));
    }
    let mut found: Vec<SecretHeader> = Vec::new();
    for (name, value) in headers.iter() {
        let Some((secret, mark)) = marks.iter().find(|(_, mark)| value.contains(mark)) else { continue };
        let header = name.to_ascii_lowercase();
        if found.len() == MAX_SECRET_HEADERS {
            return Err(denied(format!("more than {MAX_SECRET_HEADERS} headers have a secret")));
        }
        let prefix = value
            .strip_suffix(mark.as_str())
            .filter(|prefix| prefix.len() <= MAX_PREFIX_BYTES && !prefix.contains("[secret "));
        let Some(prefix) = prefix else {
            return Err(denied(format!("the secret {secret} must be at the end of the header {header}")));
        };
        if !carries_credential(&header) || (is_reserved(&header) && header != AUTHORIZATION) {
            return Err(denied(format!(
                "the header {header} cannot have a secret: it carries no credential"
            )));
        }
        if headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(&header)).count() > 1 {
            return Err(denied(format!("the header {header} has a secret and is there twice")));
        }
        found.push(SecretHeader { header, prefix: prefix.to_owned(), secret: (*secret).to_owned() });
    }
    headers.retain(|(name, _)| !found.iter().any(|taken| taken.header.eq_ignore_ascii_case(name)));
    Ok(found)
}

fn carries_credential(header: &str) -> bool {
    let words = || header.split(['-', '_']);
    !words().any(|word| OTHER_WORDS.contains(&word))
        && words().any(|word| {
            CREDENTIAL_WORDS.contains(&word) || CREDENTIAL_ENDINGS.iter().any(|ending| word.ends_with(ending))
        })
}

/// Returns the text that code has in place of a secret.
#[must_use]
pub fn handle_text(name: &str) -> String {
    format!("[secret {name}]")
}

fn denied(message: String) -> Refusal {
    Refusal::new(RefusalCode::HeaderDenied, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(headers: &[(&str, &str)]) -> Result<(Vec<SecretHeader>, Vec<String>), Refusal> {
        let mut headers: Vec<_> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let taken = take_secret_headers(&mut headers, ["KEY", "KEY_2"])?;
        Ok((taken, headers.into_iter().map(|(name, _)| name).collect()))
    }

    #[test]
    fn a_secret_ends_a_header_that_carries_credentials() {
        for (name, value, prefix, secret) in [
            ("Authorization", "Bearer [secret KEY]", "Bearer ", "KEY"),
            ("x-api-key", "[secret KEY_2]", "", "KEY_2"),
            ("PRIVATE-TOKEN", "[secret KEY]", "", "KEY"),
            ("authorization", "Key id=1, [secret KEY]", "Key id=1, ", "KEY"),
        ] {
            let (taken, rest) = take(&[("accept", "*/*"), (name, value)]).unwrap();
            let header = name.to_ascii_lowercase();
            let expected = SecretHeader { header, prefix: prefix.to_owned(), secret: secret.to_owned() };
            assert_eq!((taken, rest), (vec![expected], vec!["accept".to_owned()]));
        }
        let (taken, rest) =
            take(&[("dd-api-key", "[secret KEY]"), ("dd-app-key", "[secret KEY_2]")]).unwrap();
        assert_eq!((taken.len(), rest.len()), (2, 0));
    }

    #[test]
    fn a_text_elsewhere_is_refused_or_is_only_a_text() {
        for (name, value) in [
            ("x-note", "[secret KEY]"),
            ("user-agent", "[secret KEY]"),
            ("x-author", "[secret KEY]"),
            ("x-keyword", "[secret KEY]"),
            ("idempotency-key", "[secret KEY]"),
            ("X-Page-Token", "[secret KEY]"),
            ("cache_key", "[secret KEY]"),
            ("authorization", &format!("{}[secret KEY]", "x".repeat(257))),
            ("cookie", "[secret KEY]"),
            ("proxy-authorization", "[secret KEY]"),
            ("sec-token", "[secret KEY]"),
            ("authorization", "[secret KEY] "),
            ("authorization", "[secret KEY][secret KEY]"),
            ("authorization", "[secret KEY_2][secret KEY]"),
        ] {
            assert_eq!(
                take(&[(name, value)]).unwrap_err().code,
                RefusalCode::HeaderDenied,
                "{name}: {value}"
            );
        }
        let long = "x".repeat(MAX_HEADERS_BYTES);
        assert_eq!(take(&[("x-long", &long)]).unwrap_err().code, RefusalCode::HeaderDenied);
        let named: Vec<String> = (0..=MAX_SECRET_HEADERS).map(|number| format!("x{number}-key")).collect();
        let many: Vec<_> = named.iter().map(|name| (name.as_str(), "[secret KEY]")).collect();
        assert_eq!(take(&many).unwrap_err().code, RefusalCode::HeaderDenied);
        assert_eq!(take(&many[1..]).unwrap().0.len(), MAX_SECRET_HEADERS);
        let twice = take(&[("authorization", "Bearer [secret KEY]"), ("Authorization", "Bearer x")]);
        assert_eq!(twice.unwrap_err().code, RefusalCode::HeaderDenied);
        for value in ["[secret OTHER]", "[secret]", "[Secret KEY]", "[secret  KEY]", "secret KEY"] {
            assert_eq!(take(&[("authorization", value)]).unwrap().0, []);
        }
    }
}
