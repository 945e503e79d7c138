//! Taking connections: bounded in number and in how long a caller may take to say what it wants.

mod chunked_body;
mod connection;
mod error_response;
mod request_scanner;

use std::{net::SocketAddr, sync::Arc, time::Duration};

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

use self::{connection::Connection, request_scanner::HeadReport};

/// How many connections are open at most; more wait in the system's queue.
const MAX_CONNECTIONS: usize = 10_000;
/// How long a request's head may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// How large a request's head may be. It may have 100 headers, as the library has it by default: told the same number, it
/// would make a list of them for each request.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Serves until `shutdown`, then lets open requests end for at most `grace`.
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
        let Some((stream, peer, place)) = accepted else { continue };
        // Small answers must not wait for more to send.
        let _without = stream.set_nodelay(true);
        let verdict = Arc::new(HeadReport::default());
        let stream = Connection::new(stream, Arc::clone(&verdict));
        // A layer for each connection would wrap every route again.
        let with_peer_address = move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        };
        let router = TowerToHyperService::new(MapRequest::new(router.clone(), with_peer_address));
        // The library calls it as soon as it has read a head: before it reads on, and not when the response is asked for.
        let service = service_fn(move |request: Request<Incoming>| {
            verdict.report(request.body().size_hint().exact());
            router.call(request)
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = &error as &dyn std::error::Error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still open when the time to stop was over");
    }
}

type AcceptedConnection = (TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit);

async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<AcceptedConnection> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, place)),
        Err(error) => {
            // Out of file descriptors, most likely: let some be given back.
            tracing::warn!(error = &error as &dyn std::error::Error, "a connection could not be taken");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
