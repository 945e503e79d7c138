//! What a connection's credential adds to a request.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    EgressPermit,
    auth::{Auth, parse_header_secrets, parse_secret_url},
    invalid_input::InvalidInput,
};

/// Everything but unreserved characters, and the colon that tokens in paths have (RFC 3986, section 3.3).
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b';')
    .add(b'=')
    .add(b'&')
    .add(b'+')
    .add(b'$')
    .add(b',')
    .add(b'@');
/// Everything but what is plain in a query.
const QUERY: &AsciiSet = &SEGMENT.add(b'\'').add(b':');

/// The opened credential of a connection.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    /// No credential, for [`Auth::None`].
    None,
    /// The secret that a person gave.
    Secret(&'a SecretString),
    /// An access token from a token endpoint.
    AccessToken(&'a SecretString),
}

impl fmt::Debug for Credential<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Secret(_) => "Secret(…)",
            Self::AccessToken(_) => "AccessToken(…)",
        })
    }
}

/// A request's URL and the headers to add, with the credential in them.
#[derive(Clone)]
pub struct Injection {
    /// URL to send the request to, in place of the permit's.
    pub url: SecretString,
    /// Headers to add; the app set none of these names.
    pub headers: Vec<(String, SecretString)>,
}

impl fmt::Debug for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Injection").field("headers", &names).finish_non_exhaustive()
    }
}

/// The reason why a credential cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InjectionError {
    /// The permit is not one of a connection.
    #[error("the request does not go through a connection")]
    NoConnection,
    /// The credential is not of the kind that the connection needs.
    #[error("the credential is of another kind than the connection's")]
    WrongCredential,
    /// The stored secret has not the shape that the connection needs.
    #[error("the stored secret does not fit the connection")]
    Malformed(#[from] InvalidInput),
    /// The secret leads to another host than the connection.
    #[error("the secret is a URL of another host than the connection's")]
    OtherHost,
}

/// Returns the URL and the headers with which a request through a connection is sent, those that the connection adds to
/// every request included.
///
/// # Errors
/// [`InjectionError`] when the credential does not fit the connection. It never repeats the secret.
pub fn inject(permit: &EgressPermit, credential: Credential<'_>) -> Result<Injection, InjectionError> {
    let connection = permit.credential_of().ok_or(InjectionError::NoConnection)?;
    let http = &connection.http;
    let mut url = permit.url().as_str().to_owned();
    let mut headers: Vec<(String, SecretString)> = Vec::new();
    let authorization = |value: String| ("authorization".to_owned(), SecretString::from(value));
    match (&http.auth, credential) {
        (Auth::None, Credential::None) => {}
        (auth, Credential::AccessToken(token)) if auth.uses_access_token() => {
            let token = token.expose_secret();
            let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
            if !is_token {
                return Err(InjectionError::WrongCredential);
            }
            headers.push(authorization(format!("Bearer {token}")));
        }
        (auth, Credential::Secret(secret)) if !auth.uses_access_token() => {
            auth.check_secret(secret)?;
            let text = secret.expose_secret();
            match auth {
                Auth::Bearer { prefix } => {
                    let word = prefix.as_ref().map_or("Bearer", |prefix| prefix.as_str());
                    headers.push(authorization(format!("{word} {text}")));
                }
                // Some services take the key as the user name, and any password.
                Auth::Basic { username } if username.as_str() == "{secret}" => {
                    headers.push(authorization(format!("Basic {}", STANDARD.encode(format!("{text}:X")))));
                }
                Auth::Basic { username } => {
                    let pair = STANDARD.encode(format!("{}:{text}", username.as_str()));
                    headers.push(authorization(format!("Basic {pair}")));
                }
                Auth::HeaderKey { name, prefix } => {
                    let value = prefix
                        .as_ref()
                        .map_or_else(|| text.to_owned(), |prefix| format!("{} {text}", prefix.as_str()));
                    headers.push((name.as_str().to_owned(), SecretString::from(value)));
                }
                Auth::QueryKey { name, prefix } => {
                    let value = format!("{}{text}", prefix.as_ref().map_or("", |prefix| prefix.as_str()));
                    let separator = if url.contains('?') { '&' } else { '?' };
                    let (name, value) = (encode(name.as_str(), QUERY), query_form(&value));
                    url = format!("{url}{separator}{name}={value}");
                }
                Auth::Headers { names } => {
                    let values = parse_header_secrets(names, secret)?;
                    headers.extend(values.into_iter().map(|(name, value)| (name.as_str().to_owned(), value)));
                }
                // The base URL comes first and has the placeholder once; a path of the app has none.
                Auth::PathToken => url = url.replacen("%7Bsecret%7D", &path_form(text), 1),
                Auth::Url => url = place_in_secret_url(secret, permit)?,
                Auth::None
                | Auth::ServiceAccount { .. }
                | Auth::ClientCredentials { .. }
                | Auth::AuthorizationCode => {
                    return Err(InjectionError::WrongCredential);
                }
            }
        }
        _ => return Err(InjectionError::WrongCredential),
    }
    let fixed =
        http.headers.iter().map(|header| (header.name.clone(), SecretString::from(header.value.as_str())));
    headers.extend(fixed);
    Ok(Injection { url: SecretString::from(url), headers })
}

/// Appends the path and the query of a request to a secret URL, of which both are kept.
fn place_in_secret_url(secret: &SecretString, permit: &EgressPermit) -> Result<String, InjectionError> {
    let (host, base) = parse_secret_url(secret)?;
    let port = base.port_or_known_default().unwrap_or(443);
    let connection = permit.credential_of().ok_or(InjectionError::NoConnection)?;
    if host != connection.http.host || port != connection.http.base_url.port() {
        return Err(InjectionError::OtherHost);
    }
    let request = permit.url();
    // The origin of the permit counts: the operator may have put another in place of the service's.
    let origin = request.origin().ascii_serialization();
    let path = if request.path() == "/" {
        base.path().to_owned()
    } else {
        format!("{}{}", base.path().trim_end_matches('/'), request.path())
    };
    let query: Vec<&str> =
        [base.query(), request.query()].into_iter().flatten().filter(|query| !query.is_empty()).collect();
    let separator = if query.is_empty() { "" } else { "?" };
    Ok(format!("{origin}{path}{separator}{}", query.join("&")))
}

/// Returns a text as it stands in the query of a request.
pub(crate) fn query_form(text: &str) -> String {
    encode(text, QUERY)
}

/// Returns a text as it stands in the path of a request.
pub(crate) fn path_form(text: &str) -> String {
    encode(text, SEGMENT)
}

fn encode(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

#[cfg(test)]
mod tests;
