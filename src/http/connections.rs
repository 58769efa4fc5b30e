//! Connections: how many, how long they may idle, and how they end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use super::SHUTDOWN_GRACE;

/// Connections at once; the next one waits until one ends. Idle ones cost a few kilobytes each.
const MAX_CONNECTIONS: usize = 4_096;

/// How long a request's head may take, and how long a connection may wait for its next one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest head of a request; more is answered with 431.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// Most header fields of a request.
const MAX_HEADERS: usize = 100;

/// A listener that cannot accept (no more descriptors) is asked again after this.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until `closing` is over, then gives those in flight their time.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    closing: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS);
    let mut closing = std::pin::pin!(closing);
    loop {
        let slot = tokio::select! {
            () = &mut closing => break,
            slot = Arc::clone(&slots).acquire_owned() => slot.expect("it is never closed"),
        };
        let (stream, peer) = tokio::select! {
            () = &mut closing => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
        };
        // An answer is one write: waiting to fill a packet would only delay it.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request: Request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            let router = router.clone();
            router.oneshot(request)
        });
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _slot = slot;
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, graceful.shutdown()).await;
}
