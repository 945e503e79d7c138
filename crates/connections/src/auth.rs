//! How a connection proves itself to its service. The secret is never a part of it.

mod parts;
mod secret;

use kernel::object_only;
use serde::{Deserialize, Serialize};

use crate::invalid_input::{Field, InvalidInput, Reason};

pub use parts::{HeaderName, HeaderText, Scopes, ServiceUrl, ShortText};
pub(crate) use parts::{check_name as check_header_name, parse_https};
pub(crate) use secret::without_repeated_word;
pub use secret::{
    MAX_SECRET_BYTES, MIN_SECRET_BYTES, ServiceAccountKey, parse_header_secrets, parse_secret_url,
    parse_service_account,
};

/// Most headers of [`Auth::Headers`].
pub const MAX_AUTH_HEADERS: usize = 4;

/// Place of a key in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyPlace {
    /// A header.
    Header,
    /// A parameter of the query.
    Query,
}

kernel::names! {
    KeyPlace {
        Header = "header",
        Query = "query",
    }
}

/// How a client proves itself to a token endpoint (RFC 6749, section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAuthStyle {
    /// With the header `Authorization: Basic`.
    Basic,
    /// With `client_id` and `client_secret` in the body.
    Body,
}

kernel::names! {
    ClientAuthStyle {
        Basic = "basic",
        Body = "body",
    }
}

/// `auth` as it is written on the wire and in stores, not yet validated. [`Auth::parse`] validates it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    remote = "Self",
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
#[expect(missing_docs, reason = "described at the validated type")]
pub enum AuthInput {
    None {},
    Bearer {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prefix: Option<String>,
    },
    Basic {
        username: String,
    },
    ApiKey {
        #[serde(rename = "in")]
        place: KeyPlace,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prefix: Option<String>,
    },
    Headers {
        names: Vec<String>,
    },
    PathToken {},
    ServiceAccount {
        token_url: String,
        scopes: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        audience: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
    },
    #[serde(rename = "oauth2_client_credentials")]
    ClientCredentials {
        token_url: String,
        client_id: String,
        scopes: Vec<String>,
        style: ClientAuthStyle,
    },
    Url {},
    #[serde(rename = "oauth2_code")]
    AuthorizationCode {},
}

object_only!(AuthInput, and written);

/// How a connection proves itself to its service. A value of this type is valid: [`Auth::parse`] is the only way to
/// texts in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "AuthInput", into = "AuthInput")]
pub enum Auth {
    /// Not at all.
    None,
    /// `Authorization: Bearer SECRET`, with another word for `Bearer` if there is a prefix.
    Bearer {
        /// Word before the secret; default: `Bearer`.
        prefix: Option<HeaderText>,
    },
    /// `Authorization: Basic`, with the secret as the password (RFC 7617).
    Basic {
        /// User name; may be empty, but has no colon. With `{secret}` the secret is the user name, and the password `X`.
        username: ShortText,
    },
    /// The secret in one header, after an optional prefix and a space.
    HeaderKey {
        /// Name of the header.
        name: HeaderName,
        /// Word before the secret.
        prefix: Option<HeaderText>,
    },
    /// The secret as one parameter of the query, after an optional prefix.
    QueryKey {
        /// Name of the parameter.
        name: ShortText,
        /// Text before the secret.
        prefix: Option<HeaderText>,
    },
    /// Several headers; the secret is a JSON object with a text for each name.
    Headers {
        /// Names of the headers; 1 to [`MAX_AUTH_HEADERS`], each once.
        names: Vec<HeaderName>,
    },
    /// The secret takes the place of `{secret}` in the path of the base URL.
    PathToken,
    /// Access tokens for an assertion that the key of a service account signs (RFC 7523). The secret is the key as
    /// JSON; its own `token_uri` is ignored.
    ServiceAccount {
        /// Token endpoint.
        token_url: ServiceUrl,
        /// Scopes to ask for.
        scopes: Scopes,
        /// Audience of the assertion; default: the token endpoint.
        audience: Option<ShortText>,
        /// Person for whom the service account acts.
        subject: Option<ShortText>,
    },
    /// Access tokens for the client's own credentials (RFC 6749, section 4.4). The secret is that of the client.
    ClientCredentials {
        /// Token endpoint.
        token_url: ServiceUrl,
        /// Id of the client.
        client_id: ShortText,
        /// Scopes to ask for.
        scopes: Scopes,
        /// How the client proves itself.
        style: ClientAuthStyle,
    },
    /// The whole URL is the secret. Only catalogue entries have it.
    Url,
    /// Access tokens that a person allowed in a browser (RFC 6749, section 4.1). Only catalogue entries have it; the
    /// secret holds the tokens.
    AuthorizationCode,
}

/// The kind of an [`Auth`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "described at the values of `Auth`")]
pub enum AuthKind {
    None,
    Bearer,
    Basic,
    ApiKey,
    Headers,
    PathToken,
    ServiceAccount,
    #[serde(rename = "oauth2_client_credentials")]
    ClientCredentials,
    Url,
    #[serde(rename = "oauth2_code")]
    AuthorizationCode,
}

kernel::names! {
    AuthKind {
        None = "none",
        Bearer = "bearer",
        Basic = "basic",
        ApiKey = "api_key",
        Headers = "headers",
        PathToken = "path_token",
        ServiceAccount = "service_account",
        ClientCredentials = "oauth2_client_credentials",
        Url = "url",
        AuthorizationCode = "oauth2_code",
    }
}

impl Auth {
    /// Validates `auth` of a request or a store.
    ///
    /// # Errors
    /// [`InvalidInput`], which names the first invalid field.
    pub fn parse(input: AuthInput) -> Result<Self, InvalidInput> {
        let prefix = |text: Option<String>| {
            text.filter(|text| !text.is_empty())
                .map(|text| HeaderText::parse(Field::AuthPrefix, &text, 64))
                .transpose()
        };
        Ok(match input {
            AuthInput::None {} => Self::None,
            AuthInput::Bearer { prefix: text } => Self::Bearer { prefix: prefix(text)? },
            AuthInput::Basic { username } => {
                if username.contains(':') {
                    return Err(InvalidInput::new(
                        Field::AuthUsername,
                        Reason::Form("a text without a colon"),
                    ));
                }
                Self::Basic { username: ShortText::parse(Field::AuthUsername, &username, 0, 256)? }
            }
            AuthInput::ApiKey { place: KeyPlace::Header, name, prefix: text } => {
                Self::HeaderKey { name: HeaderName::parse(Field::AuthName, &name)?, prefix: prefix(text)? }
            }
            AuthInput::ApiKey { place: KeyPlace::Query, name, prefix: text } => Self::QueryKey {
                name: ShortText::parse_query_name(Field::AuthName, &name)?,
                prefix: prefix(text)?,
            },
            AuthInput::Headers { names } => Self::Headers { names: parse_names(&names)? },
            AuthInput::PathToken {} => Self::PathToken,
            AuthInput::ServiceAccount { token_url, scopes, audience, subject } => {
                let text = |field, text: Option<String>| {
                    text.map(|text| ShortText::parse(field, &text, 1, 512)).transpose()
                };
                Self::ServiceAccount {
                    token_url: ServiceUrl::parse(&Field::AuthTokenUrl, &token_url)?,
                    scopes: Scopes::parse(scopes)?,
                    audience: text(Field::AuthAudience, audience)?,
                    subject: text(Field::AuthSubject, subject)?,
                }
            }
            AuthInput::ClientCredentials { token_url, client_id, scopes, style } => Self::ClientCredentials {
                token_url: ServiceUrl::parse(&Field::AuthTokenUrl, &token_url)?,
                client_id: ShortText::parse(Field::AuthClientId, &client_id, 1, 256)?,
                scopes: Scopes::parse(scopes)?,
                style,
            },
            AuthInput::Url {} => Self::Url,
            AuthInput::AuthorizationCode {} => Self::AuthorizationCode,
        })
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> AuthKind {
        match self {
            Self::None => AuthKind::None,
            Self::Bearer { .. } => AuthKind::Bearer,
            Self::Basic { .. } => AuthKind::Basic,
            Self::HeaderKey { .. } | Self::QueryKey { .. } => AuthKind::ApiKey,
            Self::Headers { .. } => AuthKind::Headers,
            Self::PathToken => AuthKind::PathToken,
            Self::ServiceAccount { .. } => AuthKind::ServiceAccount,
            Self::ClientCredentials { .. } => AuthKind::ClientCredentials,
            Self::Url => AuthKind::Url,
            Self::AuthorizationCode => AuthKind::AuthorizationCode,
        }
    }

    /// Returns `true` if requests need a secret.
    #[must_use]
    pub fn needs_secret(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// Returns `true` if requests carry an access token, which a token endpoint gives out.
    #[must_use]
    pub fn uses_access_token(&self) -> bool {
        matches!(self, Self::ServiceAccount { .. } | Self::ClientCredentials { .. } | Self::AuthorizationCode)
    }

    /// Returns the token endpoint; none for [`Auth::AuthorizationCode`], whose endpoint is in the catalogue.
    #[must_use]
    pub fn token_url(&self) -> Option<&ServiceUrl> {
        match self {
            Self::ServiceAccount { token_url, .. } | Self::ClientCredentials { token_url, .. } => {
                Some(token_url)
            }
            _ => None,
        }
    }

    /// Returns the names of the headers that this adds to requests, in lower case. An app must not set them.
    #[must_use]
    pub fn header_names(&self) -> Vec<&str> {
        match self {
            Self::None | Self::QueryKey { .. } | Self::PathToken | Self::Url => Vec::new(),
            Self::HeaderKey { name, .. } => vec![name.as_str()],
            Self::Headers { names } => names.iter().map(HeaderName::as_str).collect(),
            Self::Bearer { .. }
            | Self::Basic { .. }
            | Self::ServiceAccount { .. }
            | Self::ClientCredentials { .. }
            | Self::AuthorizationCode => vec!["authorization"],
        }
    }

    /// Returns the name of the query parameter that this adds to requests. An app must not set it.
    #[must_use]
    pub fn query_name(&self) -> Option<&str> {
        if let Self::QueryKey { name, .. } = self { Some(name.as_str()) } else { None }
    }
}

fn parse_names(names: &[String]) -> Result<Vec<HeaderName>, InvalidInput> {
    if !(1..=MAX_AUTH_HEADERS).contains(&names.len()) {
        return Err(InvalidInput::new(Field::AuthNames, Reason::Count { min: 1, max: MAX_AUTH_HEADERS }));
    }
    let mut parsed = Vec::with_capacity(names.len());
    for name in names {
        let name = HeaderName::parse(Field::AuthNames, name)?;
        if parsed.iter().any(|before: &HeaderName| before.as_str() == name.as_str()) {
            return Err(InvalidInput::new(Field::AuthNames, Reason::Repeated));
        }
        parsed.push(name);
    }
    Ok(parsed)
}

impl TryFrom<AuthInput> for Auth {
    type Error = InvalidInput;

    fn try_from(input: AuthInput) -> Result<Self, InvalidInput> {
        Self::parse(input)
    }
}

impl From<Auth> for AuthInput {
    fn from(auth: Auth) -> Self {
        let text = |text: Option<HeaderText>| text.map(|text| text.as_str().to_owned());
        let short = |text: &ShortText| text.as_str().to_owned();
        match auth {
            Auth::None => Self::None {},
            Auth::Bearer { prefix } => Self::Bearer { prefix: text(prefix) },
            Auth::Basic { username } => Self::Basic { username: short(&username) },
            Auth::HeaderKey { name, prefix } => Self::ApiKey {
                place: KeyPlace::Header,
                name: name.as_written().to_owned(),
                prefix: text(prefix),
            },
            Auth::QueryKey { name, prefix } => {
                Self::ApiKey { place: KeyPlace::Query, name: short(&name), prefix: text(prefix) }
            }
            Auth::Headers { names } => {
                Self::Headers { names: names.iter().map(|name| name.as_written().to_owned()).collect() }
            }
            Auth::PathToken => Self::PathToken {},
            Auth::ServiceAccount { token_url, scopes, audience, subject } => Self::ServiceAccount {
                token_url: token_url.as_str().to_owned(),
                scopes: scopes.into_vec(),
                audience: audience.as_ref().map(short),
                subject: subject.as_ref().map(short),
            },
            Auth::ClientCredentials { token_url, client_id, scopes, style } => Self::ClientCredentials {
                token_url: token_url.as_str().to_owned(),
                client_id: short(&client_id),
                scopes: scopes.into_vec(),
                style,
            },
            Auth::Url => Self::Url {},
            Auth::AuthorizationCode => Self::AuthorizationCode {},
        }
    }
}

#[cfg(test)]
mod tests;
