//! Requests to issuers: without redirects, limited in time and size.

use std::{
    fmt::{self, Display},
    sync::Arc,
    time::Duration,
};

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

/// Most characters of a text of an issuer that messages repeat.
const MAX_SHOWN: usize = 200;

/// A document or an endpoint of an issuer, as messages name it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'d> {
    /// Name of the document, such as "key set".
    pub(crate) name: &'static str,
    pub(crate) url: &'d Url,
}

impl Document<'_> {
    /// Returns the error for a response that is not as it must be. The text of the reason may be shown.
    pub(crate) fn invalid(&self, reason: impl Display) -> OidcError {
        OidcError::InvalidResponse(format!("{reason} ({self})"))
    }

    fn unreachable(&self, reason: impl Display) -> OidcError {
        OidcError::Unreachable(format!("{reason} ({self})"))
    }
}

impl Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the query and the password, which may be secrets.
        let address = format!("{}{}", self.url.origin().ascii_serialization(), self.url.path());
        write!(f, "{} at {}", self.name, shorten(&address))
    }
}

/// Cuts a text that an issuer made, so that it fits into a message.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A response of an issuer.
#[derive(Debug)]
pub(crate) struct IssuerResponse<'d> {
    pub(crate) document: Document<'d>,
    pub(crate) status: StatusCode,
    body: Vec<u8>,
}

impl IssuerResponse<'_> {
    /// Returns the body as a JSON object.
    ///
    /// # Errors
    /// [`OidcError::InvalidResponse`] if it is none.
    pub(crate) fn object(&self) -> Result<Map<String, Value>, OidcError> {
        // A parser may ignore a byte order mark (RFC 8259, section 8.1).
        let body = self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body);
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(members),
            Ok(_) => Err(self.document.invalid("the body is not a JSON object")),
            Err(_) => Err(self.document.invalid("the body is not JSON")),
        }
    }

    /// Checks that the status is one of success.
    ///
    /// # Errors
    /// [`OidcError::Unreachable`] for one that passes, [`OidcError::InvalidResponse`] for any other.
    pub(crate) fn check_status(&self) -> Result<(), OidcError> {
        let reason = format!("the status is {}", self.status);
        match self.status {
            status if status.is_success() => Ok(()),
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
                Err(self.document.unreachable(reason))
            }
            _ => Err(self.document.invalid(reason)),
        }
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
    pub(crate) async fn get<'d>(
        &self,
        document: Document<'d>,
        authorization: Option<HeaderValue>,
    ) -> Result<IssuerResponse<'d>, OidcError> {
        let request = self.0.get(document.url.clone());
        let request = match authorization {
            Some(value) => request.header(header::AUTHORIZATION, value),
            None => request,
        };
        self.send(document, request).await
    }

    /// Sends a form.
    pub(crate) async fn post_form<'d>(
        &self,
        document: Document<'d>,
        authorization: Option<HeaderValue>,
        form: String,
    ) -> Result<IssuerResponse<'d>, OidcError> {
        let request = self.0.post(document.url.clone()).body(form);
        let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = match authorization {
            Some(value) => request.header(header::AUTHORIZATION, value),
            None => request,
        };
        self.send(document, request).await
    }

    async fn send<'d>(
        &self,
        document: Document<'d>,
        request: reqwest::RequestBuilder,
    ) -> Result<IssuerResponse<'d>, OidcError> {
        let request = request.header(header::ACCEPT, "application/json");
        let request = request.header(header::ACCEPT_ENCODING, "identity").build();
        let response = match request {
            Ok(request) => self.execute(request).await,
            Err(error) => Err(error.into()),
        };
        match response {
            Ok((status, body)) => Ok(IssuerResponse { document, status, body }),
            Err(error @ (RequestError::TooLarge | RequestError::Encoded(_))) => Err(document.invalid(error)),
            // Without the URL, for the same reason.
            Err(RequestError::Failed(error)) => Err(document.unreachable(error_chain(&error.without_url()))),
            Err(error) => Err(document.unreachable(error)),
        }
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
    async fn execute(&self, request: reqwest::Request) -> Result<(StatusCode, Vec<u8>), RequestError> {
        let mut response = self.0.execute(request).await?;
        let status = response.status();
        tracing::Span::current().record("status", status.as_u16());
        // Whatever its body says, a server error is not a decision about the person.
        if status.is_server_error() {
            return Err(RequestError::ServerError(status));
        }
        let coding = response.headers().get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        if let Some(coding) = coding.filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
            return Err(RequestError::Encoded(shorten(coding)));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(RequestError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok((status, body))
    }
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
