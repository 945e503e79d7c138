//! Requests to issuers: without redirects, limited in time and size.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response, in bytes. Metadata, keys and tokens are a few kilobytes.
const MAX_BODY: usize = 1 << 20;

/// The error for TLS that cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up TLS")]
pub struct TlsError(#[source] Box<dyn std::error::Error + Send + Sync>);

/// The reason for which a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error(transparent)]
    Failed(#[from] reqwest::Error),
    #[error("the response is too large")]
    TooLarge,
    #[error("the response is {0}")]
    ServerError(http::StatusCode),
    #[error(transparent)]
    Malformed(#[from] http::Error),
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

    // The error is left out: it repeats the URL, whose query may hold a secret.
    #[tracing::instrument(
        name = "issuer_request",
        level = "debug",
        skip_all,
        fields(
            host = request.uri().host(),
            method = request.method().as_str(),
            status = tracing::field::Empty
        )
    )]
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, RequestError> {
        let mut response = self.0.execute(request.try_into()?).await?;
        tracing::Span::current().record("status", response.status().as_u16());
        // Whatever its body says, a server error is not a decision about the person.
        if response.status().is_server_error() {
            return Err(RequestError::ServerError(response.status()));
        }
        let mut builder = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            builder = builder.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(RequestError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(builder.body(body)?)
    }
}

impl<'c> AsyncHttpClient<'c> for IssuerHttpClient {
    type Error = RequestError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, RequestError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}
