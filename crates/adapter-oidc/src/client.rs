//! Requests to issuers: without redirects, limited in time and size.

use std::{sync::Arc, time::Duration};

use http::{HeaderValue, StatusCode, header};
use identity::oidc::OidcError;
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use serde_json::{Map, Value};
use url::Url;

const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response, in bytes. Metadata, keys and tokens are a few kilobytes.
const MAX_BODY: usize = 1 << 20;

/// The error for TLS that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up TLS")]
pub struct TlsError(#[source] Box<dyn std::error::Error + Send + Sync>);

/// The reason for which a request failed.
#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error(transparent)]
    Failed(#[from] reqwest::Error),
    #[error("the response is too large")]
    TooLarge,
    #[error("the response is {0}")]
    ServerError(StatusCode),
    #[error("the response has the content coding {0}, although none was asked for")]
    Encoded(String),
}

/// A response of an issuer.
#[derive(Debug)]
pub(crate) struct IssuerResponse {
    pub(crate) status: StatusCode,
    body: Vec<u8>,
}

impl IssuerResponse {
    /// Returns the body as a JSON object; `None` if it is none.
    pub(crate) fn object(&self) -> Option<Map<String, Value>> {
        // A parser may ignore a byte order mark (RFC 8259, section 8.1).
        let body = self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body);
        serde_json::from_slice(body).ok()
    }
}

pub(crate) struct IssuerHttpClient(reqwest::Client);

impl IssuerHttpClient {
    pub(crate) fn new() -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        let native = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(native.certs);
        if added == 0 {
            tracing::info!("no certificate authorities on this machine; using Mozilla's");
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError(error.into()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            // An issuer's metadata says where its endpoints are; a redirect could lead anywhere.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(TIMEOUT)
            .build()
            .map_err(|error| TlsError(error.into()))?;
        Ok(Self(client))
    }

    /// Requests a document.
    pub(crate) async fn get(
        &self,
        url: &Url,
        authorization: Option<HeaderValue>,
    ) -> Result<IssuerResponse, OidcError> {
        let request = self.0.get(url.clone());
        let request = match authorization {
            Some(value) => request.header(header::AUTHORIZATION, value),
            None => request,
        };
        self.send(request).await.map_err(|error| unreachable(&error))
    }

    /// Sends a form.
    pub(crate) async fn post_form(
        &self,
        url: &Url,
        authorization: Option<HeaderValue>,
        form: String,
    ) -> Result<IssuerResponse, OidcError> {
        let request = self.0.post(url.clone()).body(form);
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = match authorization {
            Some(value) => request.header(header::AUTHORIZATION, value),
            None => request,
        };
        self.send(request).await.map_err(|error| unreachable(&error))
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<IssuerResponse, RequestError> {
        let request = request.header(header::ACCEPT, "application/json");
        self.execute(request.header(header::ACCEPT_ENCODING, "identity").build()?).await
    }

    // The error is left out: it repeats the URL, whose query may hold a secret.
    #[tracing::instrument(
        name = "issuer_request",
        level = "debug",
        skip_all,
        fields(
            host = request.url().host_str(),
            method = request.method().as_str(),
            status = tracing::field::Empty
        )
    )]
    async fn execute(&self, request: reqwest::Request) -> Result<IssuerResponse, RequestError> {
        let mut response = self.0.execute(request).await?;
        let status = response.status();
        tracing::Span::current().record("status", status.as_u16());
        // Whatever its body says, a server error is not a decision about the person.
        if status.is_server_error() {
            return Err(RequestError::ServerError(status));
        }
        let coding = response.headers().get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        if let Some(coding) = coding.filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
            return Err(RequestError::Encoded(coding.to_owned()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(RequestError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(IssuerResponse { status, body })
    }
}

fn unreachable(error: &RequestError) -> OidcError {
    OidcError::Unreachable(error_chain(error))
}

/// Joins an error and its causes, without which the library's messages say little.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
