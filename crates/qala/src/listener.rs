//! Accepts connections and bounds their number, the time for a request's head, and the head's size.

mod chunked_body;
mod connection;
mod error_response;
mod request_scanner;
mod unread_body;

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo, http::Request};
use hyper::{
    body::{Body as _, Incoming},
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;
use tower::util::MapRequest;

use self::{connection::Connection, request_scanner::HeadReport, unread_body::WatchedBody};

/// Maximum number of open connections; more wait in the system's queue.
const MAX_CONNECTIONS: usize = 10_000;
/// Time limit for the arrival of a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a request's head, in bytes. The limit of 100 headers is hyper's default and is not set: with
/// `max_headers`, even of the same number, hyper allocates a list of them for each request.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Serves until `shutdown`, then gives open requests at most `grace` to end.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
    grace: Duration,
) {
    let graceful = GracefulShutdown::new();
    let connection_permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = accept(&listener, &connection_permits) => accepted,
        };
        let Some((stream, peer, permit)) = accepted else { continue };
        // Small responses must not wait for more data.
        let _without = stream.set_nodelay(true);
        let head_report = Arc::new(HeadReport::default());
        let stream = Connection::new(stream, Arc::clone(&head_report));
        // A layer for each connection would wrap every route again.
        let with_peer_address = move |mut request: Request<WatchedBody<Incoming>>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        };
        let router = TowerToHyperService::new(MapRequest::new(router.clone(), with_peer_address));
        // Hyper calls the service as soon as it has parsed a head: before it reads on, and before it polls the
        // response.
        let service = service_fn(move |request: Request<Incoming>| {
            head_report.report(request.body().size_hint().exact());
            let (request, unread) = unread_body::watch(request);
            let response = router.call(request);
            async move {
                let mut response = response.await?;
                if let Some(unread) = unread {
                    unread.settle(&mut response).await;
                }
                Ok::<_, Infallible>(response)
            }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = &error as &dyn std::error::Error, "connection ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still open at the end of the grace period");
    }
}

type AcceptedConnection = (TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit);

async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> Option<AcceptedConnection> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, permit)),
        Err(error) => {
            // Probably out of file descriptors: wait for some to be released.
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot accept a connection");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
