//! The exchange of a code for tokens (RFC 6749, section 4.1.3).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderValue;
use identity::oidc::{AuthRequestState, CallbackParams, OidcError};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::{
    client::{Document, IssuerHttpClient, shorten},
    metadata::{ClientAuthMethod, Metadata},
    registration::Registration,
};

/// The tokens of a person.
pub(crate) struct Tokens {
    pub(crate) id_token: String,
    /// Token for the userinfo endpoint; none if it is of a type that is not understood.
    pub(crate) access_token: Option<SecretString>,
}

/// Exchanges a code.
///
/// # Errors
/// [`OidcError::Refused`] if the issuer refuses it, whatever status it gives to that, or sends no ID token;
/// [`OidcError::Unreachable`] if it does not respond, [`OidcError::InvalidResponse`] if the response is none of a token
/// endpoint.
pub(crate) async fn exchange_code(
    http: &IssuerHttpClient,
    registration: &Registration,
    metadata: &Metadata,
    redirect_uri: &str,
    returned: &CallbackParams,
    ties: &AuthRequestState,
) -> Result<Tokens, OidcError> {
    let (authorization, form) = request_of(registration, metadata, redirect_uri, returned, ties)?;
    let document = Document { name: "token endpoint", url: &metadata.token_endpoint };
    let response = http.post_form(document, authorization, form).await?;
    let members = response.object();
    let error = members.as_ref().ok().and_then(|members| members.get("error"));
    if let Some(error) = error.filter(|error| !error.is_null()) {
        let code = shorten(error.as_str().unwrap_or("an error that is not a text"));
        let status = response.status;
        return Err(OidcError::Refused(format!("the token endpoint responded {status} with {code:?}")));
    }
    response.check_status()?;
    let members = members?;
    let text = |name: &str| members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let Some(id_token) = text("id_token") else {
        return Err(match members.contains_key("access_token") || members.contains_key("id_token") {
            true => OidcError::Refused("there is no ID token".to_owned()),
            false => document.invalid("the body has no tokens"),
        });
    };
    // `Bearer` in any case, also as the beginning of a longer word, as some issuers have it.
    let is_bearer = text("token_type")
        .is_none_or(|kind| kind.get(..6).is_some_and(|beginning| beginning.eq_ignore_ascii_case("bearer")));
    let access_token = text("access_token").filter(|_| is_bearer).map(SecretString::from);
    Ok(Tokens { id_token: id_token.to_owned(), access_token })
}

/// Returns the header and the form of a request.
fn request_of(
    registration: &Registration,
    metadata: &Metadata,
    redirect_uri: &str,
    returned: &CallbackParams,
    ties: &AuthRequestState,
) -> Result<(Option<HeaderValue>, String), OidcError> {
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "authorization_code")
        .append_pair("code", returned.code.expose_secret())
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("code_verifier", ties.verifier.expose_secret());
    let mut authorization = None;
    match (&registration.client_secret, metadata.auth_method) {
        (None, _) => {
            form.append_pair("client_id", &registration.client_id);
        }
        (Some(secret), ClientAuthMethod::Post) => {
            form.append_pair("client_id", &registration.client_id)
                .append_pair("client_secret", secret.expose_secret());
        }
        (Some(secret), ClientAuthMethod::Basic) => {
            authorization = Some(basic(&registration.client_id, secret)?);
        }
    }
    Ok((authorization, form.finish()))
}

/// Returns the header of a client that authenticates by Basic (RFC 6749, section 2.3.1).
fn basic(client_id: &str, secret: &SecretString) -> Result<HeaderValue, OidcError> {
    let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encode(client_id), encode(secret.expose_secret()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)))
        .map_err(|_| OidcError::Refused("the client cannot be authenticated".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}
