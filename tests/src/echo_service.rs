//! A service that sends back all that it gets, over TLS with a certificate authority of its own and in plain.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io::Write as _,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::{FutureExt as _, StreamExt as _};
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Collected, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, KeyPair};
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::Notify,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

/// Name of the service; only `--allowed-hosts` leads to it.
pub const ECHO_HOST: &str = "echo.example.com";
/// Access token that its token endpoint gives out.
pub const ECHO_TOKEN: &str = "at-0123456789-of-the-echo-service";

/// A running service. It ends with the runtime of the test.
///
/// The response is the request as text: its line, its headers and its body. `form=base64`, `form=gzip` and
/// `form=headers` anywhere in the URL ask for another form of it, and `form=zeros` for ten kilobytes that are 9.9 MB of zeros once
/// they are decoded. `/token` is a token endpoint, `/hold` responds once
/// [`EchoService::release`] is called, and `/events` sends the request as one event in small pieces, and a second event after
/// that call.
#[derive(Debug)]
pub struct EchoService {
    tls_port: u16,
    plain_port: u16,
    authority: PathBuf,
    state: Arc<State>,
    _folder: TempDir,
}

#[derive(Debug, Default)]
struct State {
    received: Mutex<Vec<String>>,
    /// Status and body of what [`EchoService::respond_with`] was given, by path.
    responses: Mutex<BTreeMap<String, (StatusCode, String)>>,
    held: Notify,
    released: Notify,
}

impl EchoService {
    /// Starts the service on free ports.
    pub async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(vec![ECHO_HOST.to_owned()])?.self_signed(&key)?;
        let authority = folder.path().join("authority.pem");
        std::fs::write(&authority, certificate.pem())?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let state = Arc::new(State::default());
        let (secure, plain) =
            (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
        let (tls_port, plain_port) = (secure.local_addr()?.port(), plain.local_addr()?.port());
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = secure.accept().await {
                let (acceptor, state) = (acceptor.clone(), Arc::clone(&shared));
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve(stream, state).await;
                    }
                });
            }
        });
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = plain.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Ok(Self { tls_port, plain_port, authority, state, _folder: folder })
    }

    /// Returns the base URL over TLS.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://{ECHO_HOST}:{}", self.tls_port)
    }

    /// Returns the port of requests over TLS, on loopback.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.tls_port
    }

    /// Returns the URL in plain, on loopback.
    #[must_use]
    pub fn plain_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.plain_port)
    }

    /// Returns the hosts that a server under test may reach, for `--allowed-hosts`.
    #[must_use]
    pub fn allowed_hosts(&self) -> String {
        format!("{ECHO_HOST}:{}=127.0.0.1", self.tls_port)
    }

    /// Returns the file of the certificate authority, for `SSL_CERT_FILE`.
    pub fn authority(&self) -> Result<&str> {
        self.authority.to_str().context("no plain path")
    }

    /// Takes the requests that came by now, as text.
    #[must_use]
    pub fn take_received(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.received.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Responds to requests to this path with this status and body from now on.
    pub fn respond_with(&self, path: &str, status: StatusCode, body: &str) {
        let mut responses = self.state.responses.lock().unwrap_or_else(PoisonError::into_inner);
        responses.insert(path.to_owned(), (status, body.to_owned()));
    }

    /// Waits until a request to `/hold` has come.
    pub async fn wait_for_hold(&self) {
        self.state.held.notified().await;
    }

    /// Responds to a request to `/hold`.
    pub fn release(&self) {
        self.state.released.notify_one();
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, state: Arc<State>) {
    let service = service_fn(move |request| {
        let state = Arc::clone(&state);
        async move {
            let is_feed = request.uri().path().ends_with("/events");
            let response = respond(request, &state).await;
            Ok::<_, Infallible>(if is_feed {
                feed(response, state)
            } else {
                response.map(BodyExt::boxed_unsync)
            })
        }
    });
    // The client may close the connection early.
    let _ended =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// Returns the text of a response as an event in small pieces, and an event once the service is told to go on.
fn feed(response: Response<Full<Bytes>>, state: Arc<State>) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
    let body = async move {
        let text = response.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
        let event = [b"data: ", &text[..], b"\n\n"].concat();
        let pieces: Vec<_> = event.chunks(7).map(Bytes::copy_from_slice).collect();
        futures::stream::iter(pieces)
    };
    let first = body.flatten_stream().then(async |piece| {
        // Each piece is sent by itself.
        tokio::task::yield_now().await;
        piece
    });
    let second = async move {
        state.released.notified().await;
        Bytes::from_static(b"data: end\n\n")
    };
    let frames = first.chain(second.into_stream()).map(|piece| Ok(Frame::data(piece)));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

async fn respond(request: Request<Incoming>, state: &State) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
    let headers: String = headers.collect();
    let text = format!("{} {}\n{headers}\n{}", head.method, head.uri, String::from_utf8_lossy(&body));
    state.received.lock().unwrap_or_else(PoisonError::into_inner).push(text.clone());
    let path = head.uri.path();
    let scripted = state.responses.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
    if let Some((status, body)) = scripted {
        let mut response = Response::new(Full::from(body));
        *response.status_mut() = status;
        return response;
    }
    if path.ends_with("/token") {
        let token =
            format!(r#"{{"access_token": "{ECHO_TOKEN}", "token_type": "Bearer", "expires_in": 3600}}"#);
        let mut response = Response::new(Full::from(token));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return response;
    }
    if path.ends_with("/hold") {
        state.held.notify_one();
        state.released.notified().await;
    }
    let query = head.uri.query().unwrap_or_default();
    if query.contains("form=base64") {
        Response::new(Full::from(STANDARD.encode(&text)))
    } else if query.contains("form=gzip") {
        compressed(compress(text.as_bytes()))
    } else if query.contains("form=zeros") {
        static ZEROS: LazyLock<Bytes> = LazyLock::new(|| compress(&vec![0; 9_900_000]));
        compressed(ZEROS.clone())
    } else if query.contains("form=headers") {
        let mut response = Response::new(Full::default());
        for value in head.headers.values() {
            response.headers_mut().append("x-echo", value.clone());
        }
        if let Ok(uri) = HeaderValue::from_str(&head.uri.to_string()) {
            response.headers_mut().append("x-echo", uri);
        }
        response
    } else {
        Response::new(Full::from(text))
    }
}

fn compress(body: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).and_then(|()| encoder.finish()).unwrap_or_default().into()
}

fn compressed(body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
}
