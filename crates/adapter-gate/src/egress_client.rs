//! Sends outbound requests.

use std::{io, net::IpAddr, sync::Arc};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use connections::{
    CredentialSource, EgressPermit, GateHost, OutboundClient, OutboundRequest, OutboundResponse, Refusal,
    RefusalCode,
    egress::check_headers,
    gates::Method,
    outbound::{IssuedToken, TokenError},
    scrub::Scrubber,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use kernel::Timestamp;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::{
    client::ClientCache,
    content_coding::{Coding, decode, unread_coding},
    credential::{Carried, scrub_body},
    error::{refusal, timeout as timed_out, too_large},
    limits::EgressLimits,
    resolve::{Resolve, SystemResolver, resolve_permitted_address},
    token_request,
};

/// HTTP client for the outbound requests of apps.
pub struct EgressClient {
    pub(crate) resolver: Arc<dyn Resolve>,
    clients: ClientCache,
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
        Ok(Self { resolver, clients: ClientCache::new(&limits)?, limits })
    }

    async fn send_following_redirects(
        &self,
        mut permit: EgressPermit,
        headers: HeaderMap,
        body: Bytes,
        mut carried: Carried<'_>,
    ) -> Result<OutboundResponse, Refusal> {
        let mut hops = 0;
        loop {
            let response = self.send_once(&permit, headers.clone(), body.clone(), &mut carried).await?;
            let Some(location) = redirect_location(&permit, &response) else {
                return self.read_response(permit.host(), response, carried.scrubber()).await;
            };
            let location = location?;
            hops += 1;
            if hops > self.limits.max_redirects {
                let message = format!("{} redirects too often", permit.host());
                return Err(Refusal::new(RefusalCode::RedirectDenied, message));
            }
            permit = permit.follow_redirect(&location)?;
        }
    }

    /// Sends one request, without following a redirect.
    #[tracing::instrument(
        level = "debug",
        skip_all,
        fields(host = %permit.host(), method = %permit.method(), status = tracing::field::Empty),
        err(level = "debug")
    )]
    async fn send_once(
        &self,
        permit: &EgressPermit,
        headers: HeaderMap,
        body: Bytes,
        carried: &mut Carried<'_>,
    ) -> Result<reqwest::Response, Refusal> {
        let address = resolve_permitted_address(&*self.resolver, permit).await?;
        // Nothing can refuse the request from here on, so its credential may be opened.
        let (url, headers) = carried.complete(permit, headers).await?;
        let response = self.dispatch(permit, address, url, headers, body).await?;
        tracing::Span::current().record("status", response.status().as_u16());
        Ok(response)
    }

    /// Sends a complete request to a checked address.
    pub(crate) async fn dispatch(
        &self,
        permit: &EgressPermit,
        address: IpAddr,
        url: Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<reqwest::Response, Refusal> {
        let host = permit.host();
        let client = self.clients.get_or_build(permit, address).map_err(|error| refusal(host, &error))?;
        let mut request = client.request(to_http_method(permit.method()), url).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        let first_byte = self.limits.connect_timeout + self.limits.first_byte_timeout;
        match timeout(first_byte, request.send()).await {
            Ok(sent) => sent.map_err(|error| refusal(host, &error)),
            Err(_) => Err(timed_out(host)),
        }
    }

    async fn read_response(
        &self,
        host: &GateHost,
        response: reqwest::Response,
        scrubber: Option<&Scrubber>,
    ) -> Result<OutboundResponse, Refusal> {
        let status = response.status().as_u16();
        let mut headers = response.headers().clone();
        let coding = match scrubber {
            Some(_) => Coding::of(&headers).ok_or_else(|| unread_coding(host))?,
            None => Coding::Identity,
        };
        let body = self.read_body(host, response, self.limits.max_response_body).await?;
        if !(200..=599).contains(&status) {
            let message = format!("{host} answered with the status {status}");
            return Err(Refusal::new(RefusalCode::UpstreamFailed, message));
        }
        let Some(scrubber) = scrubber else {
            return Ok(OutboundResponse { status, headers: to_response_headers(&headers), body });
        };
        let received = body.len();
        let decoded = decode(host, coding, body, self.limits.max_response_body).await?;
        if coding != Coding::Identity {
            headers.remove(header::CONTENT_ENCODING);
        }
        let (scrubbed, was_changed) = scrub_body(host, scrubber, decoded).await?;
        if was_changed || scrubbed.len() != received {
            headers.remove(header::CONTENT_LENGTH);
        }
        Ok(OutboundResponse { status, headers: to_scrubbed_headers(&headers, scrubber), body: scrubbed })
    }

    /// Reads the body of a response, of at most `max_body` bytes, once its headers are found to be short enough.
    pub(crate) async fn read_body(
        &self,
        host: &GateHost,
        mut response: reqwest::Response,
        max_body: usize,
    ) -> Result<Bytes, Refusal> {
        let size: usize =
            response.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if size > self.limits.max_response_headers {
            return Err(too_large(host, "too long headers"));
        }
        let promised = response.content_length().unwrap_or_default();
        if promised > max_body as u64 {
            return Err(too_large(host, "a too long body"));
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| refusal(host, &error))? {
            if body.len() + chunk.len() > max_body {
                return Err(too_large(host, "a too long body"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    /// Checks what the app gave, and returns its headers.
    fn check_request(&self, request: &OutboundRequest, injected: &[&str]) -> Result<HeaderMap, Refusal> {
        check_headers(&request.headers, injected)?;
        if request.body.len() > self.limits.max_request_body {
            let message = format!("the body is longer than {} bytes", self.limits.max_request_body);
            return Err(Refusal::new(RefusalCode::RequestTooLarge, message));
        }
        to_request_headers(&request.headers)
    }

    async fn send_before_deadline(
        &self,
        permit: EgressPermit,
        headers: HeaderMap,
        body: Bytes,
        carried: Carried<'_>,
    ) -> Result<OutboundResponse, Refusal> {
        let host = permit.host().clone();
        let deadline = Instant::now() + self.limits.total_timeout;
        timeout_at(deadline, self.send_following_redirects(permit, headers, body, carried))
            .await
            .unwrap_or_else(|_| Err(timed_out(&host)))
    }
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
        if permit.connection_policy().is_some() {
            // Without the credential it would not be the request that was permitted.
            let message = "a request through a connection needs its credential";
            return Err(Refusal::new(RefusalCode::SecretUnavailable, message));
        }
        let headers = self.check_request(&request, &[])?;
        self.send_before_deadline(permit, headers, request.body, Carried::Nothing).await
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
        let mut headers = self.check_request(&request, &connection.http.injected_headers())?;
        // In a coding, what the service echoes could not be scrubbed.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        self.send_before_deadline(permit, headers, request.body, Carried::Sealed(credentials)).await
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
        secrets: &dyn CredentialSource,
        now: Timestamp,
    ) -> Result<IssuedToken, TokenError> {
        let deadline = Instant::now() + self.limits.total_timeout;
        timeout_at(deadline, token_request::request_token(self, &permit, secrets, now))
            .await
            .unwrap_or_else(|_| Err(timed_out(permit.host()).into()))
    }
}

/// Returns the location of a redirect to follow; `None` for methods other than GET and HEAD, whose response the app
/// gets as it is.
fn redirect_location(permit: &EgressPermit, response: &reqwest::Response) -> Option<Result<String, Refusal>> {
    let follows = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    if !follows || !matches!(permit.method(), Method::Get | Method::Head) {
        return None;
    }
    let location = response.headers().get(header::LOCATION)?;
    Some(location.to_str().map(str::to_owned).map_err(|_| {
        Refusal::new(RefusalCode::RedirectDenied, format!("{} redirects to no proper URL", permit.host()))
    }))
}

fn to_http_method(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
        Method::Options => http::Method::OPTIONS,
    }
}

fn to_request_headers(headers: &[(String, String)]) -> Result<HeaderMap, Refusal> {
    let malformed = || Refusal::new(RefusalCode::HeaderDenied, "a header is malformed");
    let mut map = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| malformed())?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| malformed())?;
        map.try_append(name, value).map_err(|_| malformed())?;
    }
    Ok(map)
}

fn to_response_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    kept_headers(headers).map(|(name, value)| (name.as_str().to_owned(), to_text(value.as_bytes()))).collect()
}

/// Redacts secrets in values. A header whose name has a secret is left out.
fn to_scrubbed_headers(headers: &HeaderMap, scrubber: &Scrubber) -> Vec<(String, String)> {
    kept_headers(headers)
        .filter(|(name, _)| scrubber.scrub_text(name.as_str()) == name.as_str())
        .map(|(name, value)| (name.as_str().to_owned(), to_text(&scrubber.scrub_bytes(value.as_bytes()))))
        .collect()
}

fn kept_headers(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    headers.iter().filter(|(name, _)| !DROPPED_RESPONSE_HEADERS.contains(&name.as_str()))
}

/// Reads values that are not UTF-8 as Latin 1, as browsers do.
fn to_text(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().copied().map(char::from).collect(), str::to_owned)
}
