//! Texts of an `auth`, each valid since it was parsed.

use kernel::request_headers::is_reserved;
use url::Url;

use crate::{
    host::GateHost,
    invalid_input::{Field, InvalidInput, Reason, check_text},
};

/// Most scopes.
const MAX_SCOPES: usize = 32;

/// The name of a header: 1 to 64 characters of a token (RFC 9110, section 5.6.2), and none that belongs to the protocol or to
/// the gate, except `authorization` and `cookie`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HeaderName {
    written: String,
    lower: String,
}

impl HeaderName {
    pub(crate) fn parse(field: Field, text: &str) -> Result<Self, InvalidInput> {
        let name = check_name(&field, text)?;
        if is_reserved(&name) && !matches!(name.as_str(), "authorization" | "cookie") {
            return Err(InvalidInput::new(field, Reason::ReservedHeader));
        }
        Ok(Self { written: text.to_owned(), lower: name })
    }

    /// Returns the name in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.lower
    }

    /// Returns the name as a person wrote it.
    #[must_use]
    pub fn as_written(&self) -> &str {
        &self.written
    }
}

/// Returns the name of a header in lower case.
pub(crate) fn check_name(field: &Field, text: &str) -> Result<String, InvalidInput> {
    if !(1..=64).contains(&text.len()) {
        return Err(InvalidInput::new(field.clone(), Reason::Length { min: 1, max: 64 }));
    }
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)) {
        return Err(InvalidInput::new(field.clone(), Reason::NotAName));
    }
    Ok(text.to_ascii_lowercase())
}

/// A part of a header's value: printable ASCII, without spaces at its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderText(String);

impl HeaderText {
    pub(crate) fn parse(field: Field, text: &str, max: usize) -> Result<Self, InvalidInput> {
        let text = check_text(field.clone(), text, 1, max)?;
        if !text.is_ascii() {
            return Err(InvalidInput::new(field, Reason::NotHeaderText));
        }
        Ok(Self(text))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A short printable text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortText(String);

impl ShortText {
    pub(crate) fn parse(field: Field, text: &str, min: usize, max: usize) -> Result<Self, InvalidInput> {
        check_text(field, text, min, max).map(Self)
    }

    pub(crate) fn parse_query_name(field: Field, text: &str) -> Result<Self, InvalidInput> {
        let text = check_text(field.clone(), text, 1, 64)?;
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~[]$".contains(&byte)) {
            return Err(InvalidInput::new(field, Reason::NotAName));
        }
        Ok(Self(text))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Scopes of an access token: at most 32, each a scope token (RFC 6749, section 3.3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scopes(Vec<String>);

impl Scopes {
    pub(crate) fn parse(scopes: Vec<String>) -> Result<Self, InvalidInput> {
        if scopes.len() > MAX_SCOPES {
            return Err(InvalidInput::new(Field::AuthScopes, Reason::Count { min: 0, max: MAX_SCOPES }));
        }
        for (index, scope) in scopes.iter().enumerate() {
            if !(1..=256).contains(&scope.len()) {
                return Err(InvalidInput::new(Field::AuthScopes, Reason::Length { min: 1, max: 256 }));
            }
            if !scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\') {
                return Err(InvalidInput::new(
                    Field::AuthScopes,
                    Reason::Form("scopes without spaces or quotes"),
                ));
            }
            if scopes[..index].contains(scope) {
                return Err(InvalidInput::new(Field::AuthScopes, Reason::Repeated));
            }
        }
        Ok(Self(scopes))
    }

    /// Returns the scopes in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        self.0
    }

    /// Returns the scopes as token endpoints expect them: separated by spaces.
    #[must_use]
    pub fn joined(&self) -> String {
        self.0.join(" ")
    }
}

/// An https URL of an external host without credentials and fragment: 9 to 700 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceUrl {
    text: String,
    host: GateHost,
    port: u16,
}

impl ServiceUrl {
    pub(crate) fn parse(field: &Field, text: &str) -> Result<Self, InvalidInput> {
        let refuse = |reason| InvalidInput::new(field.clone(), reason);
        if !(9..=700).contains(&text.chars().count()) {
            return Err(refuse(Reason::Length { min: 9, max: 700 }));
        }
        let mut url = parse_https(text).map_err(refuse)?;
        if url.fragment().is_some() {
            return Err(refuse(Reason::QueryOrFragment));
        }
        let host = GateHost::from_url(&url).map_err(|reason| refuse(reason.into()))?;
        // The normal form has no trailing dot.
        url.set_host(Some(host.as_str())).map_err(|_| refuse(Reason::NotHttps))?;
        let port = url.port_or_known_default().unwrap_or(443);
        Ok(Self { text: url.into(), host, port })
    }

    /// Returns the URL in its normal form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &GateHost {
        &self.host
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// Parses an https URL, after refusing what the parser would silently repair or move: spaces, control characters,
/// backslashes, credentials and percent signs in the host.
pub(crate) fn parse_https(text: &str) -> Result<Url, Reason> {
    if text.contains(|c: char| c.is_control() || c == '\\' || c.is_whitespace()) {
        return Err(Reason::UnsafeCharacter);
    }
    let rest =
        text.get(..8).filter(|scheme| scheme.eq_ignore_ascii_case("https://")).and_then(|_| text.get(8..));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if authority.contains('@') {
        return Err(Reason::Credentials);
    }
    if authority.is_empty() || authority.contains('%') {
        return Err(Reason::NotHttps);
    }
    let url = Url::parse(text).map_err(|_| Reason::NotHttps)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Reason::Credentials);
    }
    if url.scheme() != "https" {
        return Err(Reason::NotHttps);
    }
    Ok(url)
}
