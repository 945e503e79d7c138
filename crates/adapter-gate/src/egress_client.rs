//! Sends outbound requests.

use std::{io, sync::Arc};

use async_trait::async_trait;
use connections::{
    CredentialSource, EgressPermit, OutboundClient, OutboundRequest, OutboundResponse, Refusal, RefusalCode,
    app_secrets::headers::SecretHeader,
    egress::check_headers,
    gates::Method,
    oauth_apps::OauthApp,
    outbound::{GrantSource, IssuedToken, RevocableToken, SearchAccount, SecretSource, TokenError},
    scrub::Scrubber,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use kernel::{RedirectMode, Timestamp, byte_string};
use tokio::time::{Instant, timeout_at};

use crate::{
    content_coding::{Coding, unread_coding},
    credential::Carried,
    error::timeout as timed_out,
    limits::EgressLimits,
    representation,
    request_body::RequestBody,
    resolve::{Resolve, SystemResolver},
    response_body::{Arrived, BodyBounds, Passage, PassedBody, pass, read_arrived},
    search::scrub_texts,
    token_request,
    transport::Transport,
};

/// HTTP client for the outbound requests of apps.
pub struct EgressClient {
    transport: Transport,
    limits: EgressLimits,
}

/// Response headers that concern the connection or only a browser, and are withheld from app code.
const DROPPED_RESPONSE_HEADERS: &[&str] =
    &["set-cookie", "alt-svc", "connection", "transfer-encoding", "trailer", "upgrade", "keep-alive"];

impl EgressClient {
    /// Creates a client with the system's resolver.
    ///
    /// # Errors
    /// Fails if TLS cannot be set up.
    pub fn new(limits: EgressLimits) -> io::Result<Self> {
        Self::with_resolver(limits, Arc::new(SystemResolver))
    }

    /// Creates a client with another resolver.
    ///
    /// # Errors
    /// Fails if TLS cannot be set up.
    pub fn with_resolver(limits: EgressLimits, resolver: Arc<dyn Resolve>) -> io::Result<Self> {
        Ok(Self { transport: Transport::new(limits, resolver)?, limits })
    }

    async fn send_following_redirects(
        &self,
        outgoing: &mut Outgoing<'_>,
        deadline: Instant,
    ) -> Result<OutboundResponse, Refusal> {
        let mut hops = 0;
        loop {
            let response = self.send_once(outgoing).await?;
            let location = match outgoing.redirect {
                RedirectMode::Follow => redirect_location(&outgoing.permit, &response),
                RedirectMode::Manual => None,
                RedirectMode::Error if !is_redirect(response.status()) => None,
                RedirectMode::Error => {
                    let message =
                        format!("{} redirects, which the request does not allow", outgoing.permit.host());
                    return Err(Refusal::new(RefusalCode::RedirectDenied, message));
                }
            };
            let Some(location) = location else {
                return self.read_response(outgoing, response, deadline, hops > 0).await;
            };
            let location = location?;
            hops += 1;
            if hops > self.limits.max_redirects {
                let message = format!("{} redirects too often", outgoing.permit.host());
                return Err(Refusal::new(RefusalCode::RedirectDenied, message));
            }
            outgoing.permit = outgoing.permit.follow_redirect(&location)?;
        }
    }

    /// Sends one request, without following a redirect.
    #[tracing::instrument(
        level = "debug",
        skip_all,
        fields(
            host = %outgoing.permit.host(),
            method = %outgoing.permit.method(),
            status = tracing::field::Empty,
        ),
        err(level = "debug")
    )]
    async fn send_once(&self, outgoing: &mut Outgoing<'_>) -> Result<reqwest::Response, Refusal> {
        let Outgoing { permit, headers, body, carried, .. } = outgoing;
        let mut headers = to_request_headers(headers)?;
        if !matches!(carried, Carried::Nothing) {
            // In a coding, what the service echoes could not be scrubbed.
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        if carried.is_secret(permit) {
            representation::remove_choices(&mut headers);
        }
        let address = self.transport.resolve(permit).await?;
        // Nothing can refuse the request from here on, so its credential may be opened.
        let url = carried.complete(permit, &mut headers).await?;
        let response = self.transport.dispatch(permit, address, url, headers, body.take()).await?;
        tracing::Span::current().record("status", response.status().as_u16());
        Ok(response)
    }

    async fn read_response(
        &self,
        outgoing: &mut Outgoing<'_>,
        mut response: reqwest::Response,
        deadline: Instant,
        is_redirected: bool,
    ) -> Result<OutboundResponse, Refusal> {
        let host = outgoing.permit.host();
        let status = response.status().as_u16();
        let max_bytes = self.limits.max_response_body;
        self.transport.check_response(host, &response, max_bytes)?;
        if !(200..=599).contains(&status) {
            let message = format!("{host} answered with the status {status}");
            return Err(Refusal::new(RefusalCode::UpstreamFailed, message));
        }
        if outgoing.carried.is_secret(&outgoing.permit) {
            representation::check(host, response.status(), response.headers())?;
        }
        let mut headers = std::mem::take(response.headers_mut());
        let redirected_to = is_redirected.then(|| outgoing.permit.url().to_string());
        let scrubber = outgoing.carried.take_scrubber();
        let coding = match (Coding::of(&headers), &scrubber) {
            (Some(coding), _) => Some(coding),
            // Other codings reach the code as they are, unless they have to be searched.
            (None, None) => None,
            (None, Some(_)) => return Err(unread_coding(host)),
        };
        let bounds = BodyBounds { max_bytes, deadline };
        let arrived = read_arrived(host, response, bounds).await?;
        let is_empty = matches!(&arrived, Arrived::Complete(body) if body.is_empty());
        // Code is not told the coding, so it is undone as a browser does.
        let account = &outgoing.search;
        let passage = Passage {
            coding: coding.unwrap_or(Coding::Identity),
            scrubber: scrubber.clone(),
            account: account.clone(),
        };
        let PassedBody { body, is_changed } = pass(host, bounds, arrived, passage).await?;
        if coding.is_some_and(|coding| coding != Coding::Identity) && (!is_empty || scrubber.is_some()) {
            headers.remove(header::CONTENT_ENCODING);
        }
        if is_changed {
            headers.remove(header::CONTENT_LENGTH);
        }
        let (headers, redirected_to) = match &scrubber {
            Some(scrubber) => {
                let length: usize =
                    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
                let length = length + redirected_to.as_ref().map_or(0, String::len);
                scrub_texts((host, account), (scrubber, length), move |scrubber| {
                    (
                        to_scrubbed_headers(&headers, scrubber),
                        redirected_to.map(|url| scrubber.scrub_text(&url).into_owned()),
                    )
                })
                .await?
            }
            None => (to_response_headers(&headers), redirected_to),
        };
        Ok(OutboundResponse { status, headers, body, redirected_to })
    }

    /// Puts a request together whose headers were checked.
    fn outgoing<'a>(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
        carried: Carried<'a>,
    ) -> Result<Outgoing<'a>, Refusal> {
        let OutboundRequest { headers, body, redirect, search } = request;
        let body = RequestBody::new(body, self.limits.max_request_body)?;
        Ok(Outgoing { permit, headers, body, carried, redirect, search })
    }

    async fn send_before_deadline(&self, outgoing: &mut Outgoing<'_>) -> Result<OutboundResponse, Refusal> {
        let deadline = Instant::now() + self.limits.total_timeout;
        match timeout_at(deadline, self.send_following_redirects(outgoing, deadline)).await {
            Ok(sent) => sent,
            Err(_) => Err(timed_out(outgoing.permit.host())),
        }
    }
}

/// A request on its way. The futures of its steps borrow it, since each would otherwise hold a copy.
struct Outgoing<'a> {
    permit: EgressPermit,
    headers: Vec<(String, String)>,
    body: RequestBody,
    carried: Carried<'a>,
    redirect: RedirectMode,
    search: SearchAccount,
}

#[async_trait]
impl OutboundClient for EgressClient {
    // A message of a refusal names the host, and no path, query or secret.
    #[tracing::instrument(
        name = "egress",
        level = "debug",
        skip_all,
        fields(host = %permit.host(), method = %permit.method()),
        err(level = "debug")
    )]
    async fn send(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
    ) -> Result<OutboundResponse, Refusal> {
        refuse_connection(&permit)?;
        check_headers(&request.headers, &[], permit.credential_headers())?;
        let mut outgoing = self.outgoing(request, permit, Carried::Nothing)?;
        self.send_before_deadline(&mut outgoing).await
    }

    #[tracing::instrument(
        name = "egress",
        level = "debug",
        skip_all,
        fields(host = %permit.host(), method = %permit.method()),
        err(level = "debug")
    )]
    async fn send_with_secrets(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
        secret_headers: &[SecretHeader],
        secrets: &dyn SecretSource,
    ) -> Result<OutboundResponse, Refusal> {
        refuse_connection(&permit)?;
        let injected: Vec<_> = secret_headers.iter().map(|header| header.header.as_str()).collect();
        let carried = Carried::SealedHeaders(secret_headers, secrets);
        check_headers(&request.headers, &injected, permit.credential_headers())?;
        let mut outgoing = self.outgoing(request, permit, carried)?;
        self.send_before_deadline(&mut outgoing).await
    }

    #[tracing::instrument(
        name = "egress",
        level = "debug",
        skip_all,
        fields(host = %permit.host(), method = %permit.method()),
        err(level = "debug")
    )]
    async fn send_through_connection(
        &self,
        request: OutboundRequest,
        permit: EgressPermit,
        credentials: &dyn CredentialSource,
    ) -> Result<OutboundResponse, Refusal> {
        let Some(connection) = permit.credential_of() else {
            let message = "the request does not go through a connection";
            return Err(Refusal::new(RefusalCode::NotConnected, message));
        };
        check_headers(&request.headers, &connection.http.injected_headers(), &[])?;
        let mut outgoing = self.outgoing(request, permit, Carried::Sealed(credentials))?;
        self.send_before_deadline(&mut outgoing).await
    }

    #[tracing::instrument(
        name = "token_request",
        level = "debug",
        skip_all,
        fields(host = %permit.host()),
        err(level = "debug")
    )]
    async fn request_token(
        &self,
        permit: EgressPermit,
        grants: &dyn GrantSource,
        now: Timestamp,
    ) -> Result<IssuedToken, TokenError> {
        let deadline = Instant::now() + self.limits.total_timeout;
        timeout_at(deadline, token_request::request_token(&self.transport, &permit, grants, now))
            .await
            .unwrap_or_else(|_| Err(timed_out(permit.host()).into()))
    }

    #[tracing::instrument(
        name = "token_revocation",
        level = "debug",
        skip_all,
        fields(host = %permit.host()),
        err(level = "debug")
    )]
    async fn revoke_token(
        &self,
        permit: EgressPermit,
        app: OauthApp,
        token: RevocableToken,
    ) -> Result<(), Refusal> {
        let deadline = Instant::now() + self.limits.total_timeout;
        timeout_at(deadline, token_request::revoke_token(&self.transport, &permit, &app, &token))
            .await
            .unwrap_or_else(|_| Err(timed_out(permit.host())))
    }
}

/// Refuses a permit of a connection: without the credential it would not be the request that was permitted.
fn refuse_connection(permit: &EgressPermit) -> Result<(), Refusal> {
    if permit.connection_policy().is_some() {
        let message = "a request through a connection needs its credential";
        return Err(Refusal::new(RefusalCode::SecretUnavailable, message));
    }
    Ok(())
}

/// Returns the location of a redirect to follow; `None` for methods other than GET and HEAD, whose response the app
/// gets as it is.
fn redirect_location(permit: &EgressPermit, response: &reqwest::Response) -> Option<Result<String, Refusal>> {
    if !is_redirect(response.status()) || !matches!(permit.method(), Method::Get | Method::Head) {
        return None;
    }
    let location = response.headers().get(header::LOCATION)?;
    Some(location.to_str().map(str::to_owned).map_err(|_| {
        Refusal::new(RefusalCode::RedirectDenied, format!("{} redirects to no proper URL", permit.host()))
    }))
}

/// True for a redirect status (Fetch, section 2.2.3).
fn is_redirect(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

fn to_request_headers(headers: &[(String, String)]) -> Result<HeaderMap, Refusal> {
    let malformed = || Refusal::new(RefusalCode::HeaderDenied, "a header is malformed");
    let mut map = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| malformed())?;
        let value = byte_string::encode(value).ok_or_else(malformed)?;
        let value = HeaderValue::from_bytes(&value).map_err(|_| malformed())?;
        map.try_append(name, value).map_err(|_| malformed())?;
    }
    Ok(map)
}

fn to_response_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    kept_headers(headers)
        .map(|(name, value)| (name.as_str().to_owned(), byte_string::decode(value.as_bytes())))
        .collect()
}

/// Redacts secrets in values. A header whose name has a secret is left out.
fn to_scrubbed_headers(headers: &HeaderMap, scrubber: &Scrubber) -> Vec<(String, String)> {
    kept_headers(headers)
        .filter(|(name, _)| scrubber.scrub_text(name.as_str()) == name.as_str())
        .map(|(name, value)| {
            (name.as_str().to_owned(), byte_string::decode(&scrubber.scrub_bytes(value.as_bytes())))
        })
        .collect()
}

fn kept_headers(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    headers.iter().filter(|(name, _)| !DROPPED_RESPONSE_HEADERS.contains(&name.as_str()))
}
