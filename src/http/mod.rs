//! MCP over Streamable HTTP, stateless: the tools of a [`Server`] for many clients at once.
//!
//! A request goes through [`around`] (its name, Host and Origin, the log), then to its route: [`endpoint`] carries a
//! message to the one dispatcher that stdio uses, [`card`] says where the server is, [`operations`] how it is, and
//! [`settings`] is a page for people.

mod around;
mod auth;
mod card;
mod connections;
mod endpoint;
mod guard;
mod metrics;
mod operations;
mod rate;
mod settings;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::mcp::session::Server;
use crate::state::State;
use auth::Door;
use guard::Guard;
use metrics::Metrics;

/// Longest body of a request: a flow document at its limits is a tenth of it.
pub const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// Tool calls that run or wait to run; more are refused as `unavailable`.
const MAX_CALLS: usize = 512;

/// How long after SIGTERM requests in flight may take.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// How the server is reached, and by whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its URL for clients, when it stands behind a proxy.
    pub public_url: Option<String>,
    /// Hosts that requests may name besides loopback's.
    pub hosts: Vec<String>,
    /// Whether the log holds what tools are asked.
    pub log_queries: bool,
    /// Whether `GET /mcp/server-card` answers.
    pub server_card: bool,
}

/// What all requests share.
struct App {
    server: Server,
    options: Options,
    door: Door,
    guard: Guard,
    metrics: Metrics,
    calls: Arc<Semaphore>,
    sessions: settings::Sessions,
    /// The port that was given, when any was asked for.
    address: SocketAddr,
}

/// Serves until the process is asked to end; `announce` is called once with the URL that it
/// listens at and the one for clients, when that is another.
///
/// # Errors
/// The address cannot be listened on.
pub fn serve(
    server: Server,
    options: Options,
    state: Option<Arc<State>>,
    announce: impl FnOnce(&str, Option<&str>),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(async {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let closing = server.context().closing.clone();
        let app = Arc::new(App {
            door: Door::new(state),
            guard: Guard::new(&options, address),
            metrics: Metrics::default(),
            calls: Arc::new(Semaphore::new(MAX_CALLS)),
            sessions: settings::Sessions::default(),
            server,
            options,
            address,
        });
        let public = app.options.public_url.as_ref().map(|_| app.url());
        announce(&app.address_url(), public.as_deref());
        let router = router(Arc::clone(&app));
        connections::serve(listener, router, asked_to_end()).await;
        closing.close();
        Ok(())
    });
    // A tool that still runs is not waited for.
    runtime.shutdown_background();
    done
}

impl App {
    /// The URL of the endpoint, as the operator sees it.
    fn url(&self) -> String {
        match &self.options.public_url {
            Some(url) => format!("{}/mcp", url.trim_end_matches('/')),
            None => self.address_url(),
        }
    }

    /// The URL that the server listens at.
    fn address_url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/mcp", any(endpoint::handle))
        .route("/mcp/server-card", any(card::handle))
        .route("/healthz", get(operations::health))
        .route("/readyz", get(operations::ready))
        .route("/metrics", get(operations::metrics))
        .merge(settings::router())
        .fallback(nowhere)
        .layer(middleware::from_fn_with_state(Arc::clone(&app), around::around))
        .with_state(app)
}

async fn nowhere() -> Response {
    (StatusCode::NOT_FOUND, "there is nothing here: MCP is at /mcp\n").into_response()
}

/// Waits for SIGTERM or Ctrl-C.
async fn asked_to_end() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = interrupt.await;
}
