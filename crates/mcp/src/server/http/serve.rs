//! Listens for HTTP connections and serves them, in bounds.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::server::dispatch::Server;

/// How long to wait when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until the server shuts down; then what is under way gets a while to end.
///
/// At the limit of connections, new ones wait until one is closed.
pub async fn serve_http(server: &Server, listener: TcpListener, router: Router) -> io::Result<()> {
    let limits = server.limits();
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.read_timeout)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(u32::try_from(limits.max_in_flight).unwrap_or(u32::MAX))
        .keep_alive_interval(limits.read_timeout);
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            () = server.shutdown().cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let (stream, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of descriptors, or the client left before it was accepted: neither is a
                // reason to end.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error, "a connection ended");
            }
            drop(place);
        });
    }
    drop(listener);
    // Calls end within their grace, or are cancelled and end within that of cancelling.
    let enough = limits.shutdown_grace + limits.cancel_grace;
    drop(tokio::time::timeout(enough, graceful.shutdown()).await);
    Ok(())
}

async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Without this, small messages wait some 40 ms for the acknowledgement of the one before.
    stream.set_nodelay(true)?;
    Ok((stream, place))
}
