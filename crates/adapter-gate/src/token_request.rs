//! Requests to token endpoints: codes, client credentials and refresh tokens (RFC 6749, sections 4.1.3, 4.4 and 6), and
//! assertions (RFC 7523); and to revocation endpoints (RFC 7009).

use std::{net::IpAddr, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use connections::{
    EgressPermit, GateHost, Refusal, RefusalCode,
    auth::{Auth, ClientAuthStyle, ShortText, parse_service_account},
    connection::Connection,
    oauth_apps::OauthApp,
    outbound::{GrantSource, IssuedToken, RevocableToken, TokenError, TokenGrant},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use kernel::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use url::form_urlencoded::{Serializer, byte_serialize};

use crate::{
    content_coding::{Coding, decode, unread_coding},
    request_body::RequestBody,
    service_account::{AssertionRequest, sign_assertion},
    transport::Transport,
};

/// Bytes of a response of a token endpoint.
const MAX_RESPONSE: usize = 64 << 10;
/// Bytes of an access token.
const MAX_TOKEN: usize = 16 << 10;
/// A mark that some servers write before JSON (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Asks for a token. The grant is opened when nothing is left that could refuse the request.
pub(crate) async fn request_token(
    transport: &Transport,
    permit: &EgressPermit,
    grants: &dyn GrantSource,
    now: Timestamp,
) -> Result<IssuedToken, TokenError> {
    let host = permit.host();
    let policy = permit.connection_policy().filter(|_| permit.is_token_request());
    let policy = policy.ok_or_else(|| {
        Refusal::new(RefusalCode::NotConnected, "the request does not go to a token endpoint")
    })?;
    let address = transport.resolve(permit).await?;
    let unusable = || unusable_secret(&policy.connection);
    let grant = grants.open_grant(policy).await?;
    let connection = policy.connection.clone();
    // A signature takes milliseconds.
    let form = tokio::task::spawn_blocking(move || form(&connection, &grant, now));
    let Form { authorization, body } = form.await.ok().flatten().ok_or_else(unusable)?;
    let (status, body) = post_form(transport, permit, address, Form { authorization, body }).await?;
    read_response(host, status, &body)
}

/// Revokes a token (RFC 7009, section 2.1).
pub(crate) async fn revoke_token(
    transport: &Transport,
    permit: &EgressPermit,
    app: &OauthApp,
    token: &RevocableToken,
) -> Result<(), Refusal> {
    let host = permit.host();
    if !permit.is_token_request() {
        let message = "the request does not go to a token endpoint";
        return Err(Refusal::new(RefusalCode::NotConnected, message));
    }
    let address = transport.resolve(permit).await?;
    let form = revocation_form(app, token).ok_or_else(|| {
        Refusal::new(RefusalCode::SecretUnavailable, "the credential of the OAuth app fits no header")
    })?;
    let (status, _) = post_form(transport, permit, address, form).await?;
    if status.is_success() {
        return Ok(());
    }
    let message = format!("the revocation endpoint at {host} answered with the status {}", status.as_u16());
    Err(Refusal::new(RefusalCode::UpstreamFailed, message))
}

fn revocation_form(app: &OauthApp, token: &RevocableToken) -> Option<Form> {
    let (token, hint) = match token {
        RevocableToken::Refresh(token) => (token, "refresh_token"),
        RevocableToken::Access(token) => (token, "access_token"),
    };
    let mut form = Serializer::new(String::new());
    form.append_pair("token", token.expose_secret());
    form.append_pair("token_type_hint", hint);
    let authorization = authenticate_app(&mut form, app)?;
    Some(Form { authorization, body: form.finish().into() })
}

/// Sends a form, and returns the status and the decoded body.
async fn post_form(
    transport: &Transport,
    permit: &EgressPermit,
    address: IpAddr,
    Form { authorization, body }: Form,
) -> Result<(StatusCode, Bytes), Refusal> {
    let host = permit.host();
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let form_type = HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert(header::CONTENT_TYPE, form_type);
    if let Some(authorization) = authorization {
        headers.insert(header::AUTHORIZATION, authorization);
    }
    let response = transport
        .dispatch(permit, address, permit.url().clone(), headers, RequestBody::Complete(body))
        .await?;
    let status = response.status();
    let coding = Coding::of(response.headers()).ok_or_else(|| unread_coding(host))?;
    let body = transport.read_body(host, response, MAX_RESPONSE).await?;
    Ok((status, decode(host, coding, body, MAX_RESPONSE).await?))
}

/// The parts of a token request.
struct Form {
    authorization: Option<HeaderValue>,
    body: Bytes,
}

/// Returns none if the grant does not fit.
fn form(connection: &Connection, grant: &TokenGrant, now: Timestamp) -> Option<Form> {
    let auth = &connection.http.auth;
    let mut form = Serializer::new(String::new());
    let authorization = match (grant, auth) {
        (TokenGrant::Secret(secret), Auth::ClientCredentials { client_id, scopes, style, .. }) => {
            auth.check_secret(secret).ok()?;
            form.append_pair("grant_type", "client_credentials");
            if !scopes.as_slice().is_empty() {
                form.append_pair("scope", &scopes.joined());
            }
            authenticate_client(&mut form, client_id.as_str(), secret, *style)?
        }
        (TokenGrant::Secret(secret), Auth::ServiceAccount { token_url, scopes, audience, subject }) => {
            let key = parse_service_account(secret).ok()?;
            let request = AssertionRequest {
                audience: audience.as_ref().map_or(token_url.as_str(), ShortText::as_str),
                scope: &scopes.joined(),
                subject: subject.as_ref().map(ShortText::as_str),
                now,
            };
            let assertion = sign_assertion(&key, &request).ok()?;
            form.append_pair("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
            form.append_pair("assertion", assertion.expose_secret());
            None
        }
        (TokenGrant::Code(app, code), Auth::AuthorizationCode) => {
            form.append_pair("grant_type", "authorization_code");
            form.append_pair("code", code.code.expose_secret());
            form.append_pair("redirect_uri", &code.redirect_uri);
            form.append_pair("code_verifier", code.verifier.expose_secret());
            authenticate_app(&mut form, app)?
        }
        (TokenGrant::RefreshToken(app, token), Auth::AuthorizationCode) => {
            form.append_pair("grant_type", "refresh_token");
            form.append_pair("refresh_token", token.expose_secret());
            authenticate_app(&mut form, app)?
        }
        _ => return None,
    };
    Some(Form { authorization, body: form.finish().into() })
}

/// See [`authenticate_client`].
fn authenticate_app(form: &mut Serializer<'_, String>, app: &OauthApp) -> Option<Option<HeaderValue>> {
    authenticate_client(form, &app.client_id, &app.client_secret, app.style)
}

/// Adds a client's credentials to a form, or returns the header with them (RFC 6749, section 2.3.1); none if they fit no
/// header.
fn authenticate_client(
    form: &mut Serializer<'_, String>,
    client_id: &str,
    secret: &SecretString,
    style: ClientAuthStyle,
) -> Option<Option<HeaderValue>> {
    match style {
        ClientAuthStyle::Basic => {
            let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", encode(client_id), encode(secret.expose_secret()));
            let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair))).ok()?;
            value.set_sensitive(true);
            Some(Some(value))
        }
        ClientAuthStyle::Body => {
            form.append_pair("client_id", client_id);
            form.append_pair("client_secret", secret.expose_secret());
            Some(None)
        }
    }
}

/// Reads the response of a token endpoint (RFC 6749, sections 5.1 and 5.2). No message repeats any of it.
fn read_response(host: &GateHost, status: StatusCode, body: &[u8]) -> Result<IssuedToken, TokenError> {
    #[derive(Deserialize)]
    struct Issued {
        access_token: String,
        #[serde(default)]
        refresh_token: Option<String>,
        #[serde(default)]
        token_type: Option<String>,
        #[serde(default)]
        expires_in: serde_json::Value,
    }
    let refuse = |code, what: &str| {
        Err(TokenError::Refused(Refusal::new(code, format!("the token endpoint at {host} {what}"))))
    };
    if status.is_redirection() {
        return refuse(RefusalCode::RedirectDenied, "redirects");
    }
    if matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS) {
        return refuse(RefusalCode::UpstreamFailed, "is overloaded");
    }
    if !status.is_success() && !status.is_client_error() {
        return refuse(RefusalCode::UpstreamFailed, &format!("answered with the status {}", status.as_u16()));
    }
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let issued = serde_json::from_slice::<Issued>(body).ok().filter(|_| status.is_success());
    match issued.is_none().then(|| Failure::of(status, body)).flatten() {
        Some(Failure::GrantEnded) => return Err(TokenError::GrantEnded),
        Some(Failure::Rejected) => return refuse(RefusalCode::AuthRejected, "rejected the credential"),
        Some(Failure::Unavailable) => return refuse(RefusalCode::UpstreamFailed, "is not available"),
        None => {}
    }
    let useless = || refuse(RefusalCode::UpstreamFailed, "answered without a bearer token");
    let Some(issued) = issued else { return useless() };
    let token = issued.access_token;
    let is_token = |token: &str| {
        (1..=MAX_TOKEN).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
    };
    // Some endpoints write `BearerToken` or `bearer_token`.
    let is_bearer = |kind: &str| kind.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("bearer"));
    if !is_token(&token) || issued.token_type.is_some_and(|kind| !is_bearer(kind.trim())) {
        return useless();
    }
    // Some endpoints write the number as a text.
    let seconds = match &issued.expires_in {
        serde_json::Value::String(text) => text.trim().parse().ok(),
        // A fraction is cut off.
        number => number
            .as_u64()
            .or_else(|| number.as_f64().filter(|seconds| *seconds > 0.0).map(|seconds| seconds as u64)),
    };
    Ok(IssuedToken {
        access_token: SecretString::from(token),
        refresh_token: issued.refresh_token.filter(|token| is_token(token)).map(SecretString::from),
        lifetime: seconds.map(Duration::from_secs),
    })
}

/// The meaning of an error of a token endpoint.
enum Failure {
    /// Somebody has to connect again.
    GrantEnded,
    Rejected,
    /// It may pass.
    Unavailable,
}

/// Errors in the body of a success that mean a rejected client, code or token: those of RFC 6749, section 5.2, of GitHub and of
/// Slack.
const REJECTIONS: &[&str] = &[
    "invalid_client",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_request",
    "access_denied",
    "bad_verification_code",
    "incorrect_client_credentials",
    "redirect_uri_mismatch",
    "invalid_client_id",
    "bad_client_secret",
    "invalid_code",
    "code_already_used",
    "bad_redirect_uri",
    "invalid_auth",
    "account_inactive",
];

impl Failure {
    /// Returns the failure that a response reports: by its status, or by an error in the body of a success, as GitHub and Slack
    /// have it.
    fn of(status: StatusCode, body: &[u8]) -> Option<Self> {
        #[derive(Default, Deserialize)]
        struct Body {
            #[serde(default)]
            error: Option<String>,
        }
        let error = serde_json::from_slice::<Body>(body).unwrap_or_default().error;
        match error.as_deref() {
            // RFC 6749, section 5.2; the others are GitHub's and Slack's words for it.
            Some("invalid_grant" | "bad_refresh_token" | "invalid_refresh_token" | "token_revoked") => {
                Some(Self::GrantEnded)
            }
            _ if status.is_client_error() => Some(Self::Rejected),
            Some(error) if REJECTIONS.contains(&error) => Some(Self::Rejected),
            // It may be any reason, such as too many requests.
            Some(error) if !error.is_empty() => Some(Self::Unavailable),
            _ => None,
        }
    }
}

fn unusable_secret(connection: &Connection) -> Refusal {
    let message = format!("the credential of the connection {} cannot be used", connection.display_name);
    Refusal::new(RefusalCode::SecretUnavailable, message)
}
