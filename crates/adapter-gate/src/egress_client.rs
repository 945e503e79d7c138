//! Sends outbound requests.

use std::{io, sync::Arc};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use connections::{
    EgressPermit, GateHost, OutboundClient, OutboundRequest, OutboundResponse, Refusal, RefusalCode,
    egress::check_headers, gates::Method,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    client::ClientCache,
    error::{refusal, timeout as timed_out},
    limits::EgressLimits,
    resolve::{Resolve, SystemResolver, resolve_permitted_address},
};

/// HTTP client for the outbound requests of apps.
pub struct EgressClient {
    resolver: Arc<dyn Resolve>,
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
    ) -> Result<OutboundResponse, Refusal> {
        let mut hops = 0;
        loop {
            let response = self.send_once(&permit, headers.clone(), body.clone()).await?;
            let Some(location) = redirect_location(&permit, &response) else {
                return self.read_response(permit.host(), response).await;
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
    ) -> Result<reqwest::Response, Refusal> {
        let host = permit.host();
        let address = resolve_permitted_address(&*self.resolver, permit).await?;
        let client = self.clients.get_or_build(permit, address).map_err(|error| refusal(host, &error))?;
        let mut request =
            client.request(to_http_method(permit.method()), permit.url().clone()).headers(headers);
        if !body.is_empty() {
            request = request.body(body);
        }
        let first_byte = self.limits.connect_timeout + self.limits.first_byte_timeout;
        let response = match timeout(first_byte, request.send()).await {
            Ok(sent) => sent.map_err(|error| refusal(host, &error))?,
            Err(_) => return Err(timed_out(host)),
        };
        tracing::Span::current().record("status", response.status().as_u16());
        Ok(response)
    }

    async fn read_response(
        &self,
        host: &GateHost,
        mut response: reqwest::Response,
    ) -> Result<OutboundResponse, Refusal> {
        let too_large =
            |what: &str| Refusal::new(RefusalCode::ResponseTooLarge, format!("{host} answered with {what}"));
        let size: usize =
            response.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if size > self.limits.max_response_headers {
            return Err(too_large("too long headers"));
        }
        let promised = response.content_length().unwrap_or_default();
        if promised > self.limits.max_response_body as u64 {
            return Err(too_large("a too long body"));
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| refusal(host, &error))? {
            if body.len() + chunk.len() > self.limits.max_response_body {
                return Err(too_large("a too long body"));
            }
            body.extend_from_slice(&chunk);
        }
        let status = response.status().as_u16();
        if !(200..=599).contains(&status) {
            let message = format!("{host} answered with the status {status}");
            return Err(Refusal::new(RefusalCode::UpstreamFailed, message));
        }
        Ok(OutboundResponse { status, headers: to_response_headers(response.headers()), body: body.freeze() })
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
        check_headers(&request.headers, &[])?;
        if request.body.len() > self.limits.max_request_body {
            let message = format!("the body is longer than {} bytes", self.limits.max_request_body);
            return Err(Refusal::new(RefusalCode::RequestTooLarge, message));
        }
        let headers = to_request_headers(&request.headers)?;
        let host = permit.host().clone();
        let deadline = Instant::now() + self.limits.total_timeout;
        timeout_at(deadline, self.send_following_redirects(permit, headers, request.body))
            .await
            .unwrap_or_else(|_| Err(timed_out(&host)))
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

/// Reads values that are not UTF-8 as Latin 1, as browsers do.
fn to_response_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .filter(|(name, _)| !DROPPED_RESPONSE_HEADERS.contains(&name.as_str()))
        .map(|(name, value)| {
            let bytes = value.as_bytes();
            let text = std::str::from_utf8(bytes)
                .map_or_else(|_| bytes.iter().copied().map(char::from).collect(), str::to_owned);
            (name.as_str().to_owned(), text)
        })
        .collect()
}
