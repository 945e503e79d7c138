//! Values that are refused, with the field that holds them.

use std::fmt;

use crate::host::InvalidHost;

/// A refused value of a connection: the field and the reason. As text it is a sentence without a full stop, such as
/// "`auth.username` must have 1 to 256 characters".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {reason}")]
pub struct InvalidInput {
    /// Field as the request names it.
    pub field: Field,
    /// Reason of the refusal.
    pub reason: Reason,
}

impl InvalidInput {
    /// Refuses the value of a field.
    #[must_use]
    pub fn new(field: Field, reason: impl Into<Reason>) -> Self {
        Self { field, reason: reason.into() }
    }
}

/// A field of a request about a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the request")]
pub enum Field {
    DisplayName,
    BaseUrl,
    Auth,
    AuthPrefix,
    AuthUsername,
    AuthName,
    AuthNames,
    AuthTokenUrl,
    AuthScopes,
    AuthClientId,
    AuthAudience,
    AuthSubject,
    Methods,
    PathPrefix,
    Headers,
    /// Name of the header at this position.
    HeaderName(usize),
    /// Value of the header at this position.
    HeaderValue(usize),
    TestPath,
    Preset,
    Secret,
    Values,
    /// Value of the catalogue field with this name.
    Value(String),
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::DisplayName => "displayName",
            Self::BaseUrl => "baseUrl",
            Self::Auth => "auth",
            Self::AuthPrefix => "auth.prefix",
            Self::AuthUsername => "auth.username",
            Self::AuthName => "auth.name",
            Self::AuthNames => "auth.names",
            Self::AuthTokenUrl => "auth.tokenUrl",
            Self::AuthScopes => "auth.scopes",
            Self::AuthClientId => "auth.clientId",
            Self::AuthAudience => "auth.audience",
            Self::AuthSubject => "auth.subject",
            Self::Methods => "methods",
            Self::PathPrefix => "pathPrefix",
            Self::Headers => "headers",
            Self::HeaderName(index) => return write!(f, "headers[{index}].name"),
            Self::HeaderValue(index) => return write!(f, "headers[{index}].value"),
            Self::TestPath => "testPath",
            Self::Preset => "preset",
            Self::Secret => "secret",
            Self::Values => "values",
            Self::Value(name) => return write!(f, "values.{name}"),
        };
        f.write_str(name)
    }
}

/// The reason why a value is refused; the rest of a sentence that begins with the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The text is too short or too long.
    #[error("must have {min} to {max} characters")]
    Length {
        /// Fewest characters.
        min: usize,
        /// Most characters.
        max: usize,
    },
    /// The secret, or a value in it, is too short to be redacted from what the service sends back.
    #[error("must have at least {min} characters, each of its values too, to be redacted from responses")]
    TooShort {
        /// Fewest bytes.
        min: usize,
    },
    /// The list is too short or too long.
    #[error("must have {min} to {max} items")]
    Count {
        /// Fewest items.
        min: usize,
        /// Most items.
        max: usize,
    },
    /// An item is in the list twice.
    #[error("has an item twice")]
    Repeated,
    /// A control character, or a space at the start or the end.
    #[error("has a control character, or a space at its start or end")]
    Unprintable,
    /// A character that cannot be in a header.
    #[error("has a character that a header cannot have; use printable ASCII")]
    NotHeaderText,
    /// The text is not the name of a header or of a query parameter.
    #[error("is not a valid name; use letters, digits and hyphens")]
    NotAName,
    /// The header belongs to the protocol, to the gate, or to `auth`.
    #[error("is a header that the gate sets itself")]
    ReservedHeader,
    /// The text does not parse as a URL.
    #[error("is not a URL that begins with https://")]
    NotHttps,
    /// A space, a tab, another control character or a backslash.
    #[error("has a space, a control character or a backslash")]
    UnsafeCharacter,
    /// The URL has a user name or a password.
    #[error("must not have a user name or a password; the secret has a field of its own")]
    Credentials,
    /// The URL has a query or a fragment.
    #[error("must not have a query or a fragment")]
    QueryOrFragment,
    /// The host is not one of the public internet.
    #[error("has a host that {0}")]
    Host(#[from] InvalidHost),
    /// The path does not begin with a slash.
    #[error("must begin with /")]
    NotAPath,
    /// Programs may read the path in different ways.
    #[error("has a dot segment, or an encoded dot, slash or backslash")]
    AmbiguousPath,
    /// The path is not under the path prefix.
    #[error("must be under the path prefix")]
    OutsidePrefix,
    /// A placeholder is missing, is there twice, or has no meaning here.
    #[error(
        "must have {{secret}} once as part of its path if `auth` is path_token, and no placeholder otherwise"
    )]
    Placeholder,
    /// The method is not one that connections have.
    #[error("may have GET, POST, PUT, PATCH and DELETE")]
    Method,
    /// Only the server makes connections with this kind of `auth`.
    #[error("has a type that only catalogue entries use")]
    ServerOnly,
    /// The secret is required.
    #[error("is required")]
    Required,
    /// The secret is required again: it was given for another host, or for another kind of `auth`.
    #[error("is required again, because {0}")]
    RequiredAgain(SecretNeed),
    /// A connection without authentication has no secret.
    #[error("must be left out, because `auth` has the type none")]
    NotUsed,
    /// The secret is not a JSON object with exactly the names of the headers.
    #[error("must be a JSON object with exactly the names of `auth.names`, and a text for each")]
    NotHeaderMap,
    /// The secret is not the key of a service account.
    #[error("must be the JSON key of a service account, with client_email and private_key")]
    NotServiceAccountKey,
    /// The port is not one that may be called.
    #[error("must have the port 443, or one that the operator allows for its host")]
    Port,
    /// The secret is not an https URL of the expected host.
    #[error("must be the whole https URL that the service gave you")]
    NotSecretUrl,
    /// The secret has a character that cannot be in a path segment.
    #[error("has a character that cannot be part of a path segment")]
    NotPathToken,
    /// The catalogue entry has no such field.
    #[error("is not a field of this connector")]
    UnknownField,
    /// The value does not have the form that the field asks for.
    #[error("must be {0}")]
    Form(&'static str),
}

/// Why an update of a connection needs the secret again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretNeed {
    /// The base URL has another host or port.
    #[error("the host has changed")]
    NewHost,
    /// The token URL has another host or port.
    #[error("the host of the token URL has changed")]
    NewTokenHost,
    /// `auth` has another type, or names other headers.
    #[error("the kind of authentication has changed")]
    NewAuth,
    /// The stored secret does not have the form that `auth` needs, or does not open.
    #[error("the stored one does not suit `auth`, or cannot be opened")]
    Unfit,
    /// No secret is stored.
    #[error("none is stored")]
    NoneStored,
}

/// Returns the text if it has `min` to `max` printable characters, without spaces at its ends.
pub(crate) fn check_text(field: Field, text: &str, min: usize, max: usize) -> Result<String, InvalidInput> {
    if !(min..=max).contains(&text.chars().count()) {
        return Err(InvalidInput::new(field, Reason::Length { min, max }));
    }
    if !kernel::text::is_visible_line(text) || text.trim() != text {
        return Err(InvalidInput::new(field, Reason::Unprintable));
    }
    Ok(text.to_owned())
}
