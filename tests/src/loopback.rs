//! A loopback redirect listener, as command lines and desktop agents have (RFC 8252, section 7.3).

use std::convert::Infallible;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    sync::mpsc,
    time::{Duration, timeout},
};

/// Generous, because a browser is slow on a loaded machine.
const REDIRECT_TIMEOUT: Duration = Duration::from_secs(15);

/// A listener on a free port. It ends with the runtime of the test.
#[derive(Debug)]
pub struct LoopbackListener {
    base_url: String,
    redirects: mpsc::UnboundedReceiver<String>,
}

impl LoopbackListener {
    /// Starts a listener that responds to every request with a page whose body is `html`.
    pub async fn start(html: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let page = Bytes::from(format!("<!DOCTYPE html><title>Back</title>{html}"));
        let (sender, redirects) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (sender, page) = (sender.clone(), page.clone());
                tokio::spawn(async move {
                    let service = service_fn(move |request: Request<Incoming>| {
                        // Browsers request the icon by themselves.
                        if request.uri().path() != "/favicon.ico" {
                            let _sent = sender.send(request.uri().to_string());
                        }
                        let mut response = Response::new(Full::new(page.clone()));
                        let kind = header::HeaderValue::from_static("text/html");
                        response.headers_mut().insert(header::CONTENT_TYPE, kind);
                        async move { Ok::<_, Infallible>(response) }
                    });
                    let _ended = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Ok(Self { base_url, redirects })
    }

    /// The base URL, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Waits for the next request and returns its URL.
    pub async fn next_redirect(&mut self) -> Result<String> {
        let path = timeout(REDIRECT_TIMEOUT, self.redirects.recv()).await.context("no request arrived")?;
        Ok(format!("{}{}", self.base_url, path.context("the listener ended")?))
    }
}
