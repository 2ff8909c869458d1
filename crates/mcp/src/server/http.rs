//! The streamable HTTP transport: one endpoint for both eras.
//!
//! A modern request is answered on its own response, and closing that response cancels it. A
//! legacy client opens a session with `initialize`, may come back to a stream that broke, and
//! hears of changes on a stream it opens with GET.

mod check;
mod config;
mod cors;
mod events;
mod guard;
mod legacy;
mod modern;
mod respond;
mod serve;
mod sessions;
mod shared;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::any;
use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use config::HttpConfig;
pub use cors::open_to_pages;
pub use guard::Guard;
pub use serve::serve_http;

use super::client::Meta;
use super::dispatch::Server;
use super::in_flight;
use crate::message::{Id, Message, RpcError, code};
use respond::{Refused, empty, invalid, refuse};
use sessions::Sessions;

/// Who a request was found to be from, by whoever let it in: an extension of the request.
#[derive(Clone, Debug)]
pub struct Principal(pub Arc<str>);

fn principal(parts: &Parts) -> Option<Arc<str>> {
    parts.extensions.get::<Principal>().map(|principal| Arc::clone(&principal.0))
}

/// How often idle sessions are looked for, as a share of the time they may be idle.
const SWEEPS_PER_IDLE: u32 = 10;

/// What the requests of one endpoint share.
struct Http {
    server: Server,
    config: HttpConfig,
    guard: Guard,
    sessions: Sessions,
    /// Places for requests under way, of all clients together.
    free: Arc<Semaphore>,
    /// Tells the events of this process from those of others that serve the same sessions; empty
    /// where there are none.
    instance: Arc<str>,
    /// Fires some time after the server began to shut down: what is under way then is cancelled.
    stop: CancellationToken,
}

/// A router with the endpoint of a server. It must be called inside a runtime.
pub fn http_router(server: &Server, config: HttpConfig) -> Router {
    let limits = server.limits();
    let path = config.path.clone();
    let http = Arc::new(Http {
        server: server.clone(),
        guard: Guard::new(&config),
        instance: if config.sessions.is_some() { instance() } else { "".into() },
        config,
        sessions: Sessions::new(limits),
        free: Arc::new(Semaphore::new(limits.max_http_in_flight)),
        stop: CancellationToken::new(),
    });
    tokio::spawn(sweep(Arc::downgrade(&http), server.clone()));
    if let Some(store) = http.config.sessions.clone() {
        tokio::spawn(shared::hear(Arc::downgrade(&http), store));
    }
    Router::new().route(&path, any(handle)).with_state(http)
}

/// Closes sessions that are idle, and all of them at the end.
async fn sweep(http: std::sync::Weak<Http>, server: Server) {
    let limits = server.limits();
    let pause = limits.session_idle / SWEEPS_PER_IDLE;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {
                // The endpoint is gone when its router is.
                let Some(http) = http.upgrade() else { return };
                for session in http.sessions.remove_idle() {
                    http.let_go(&session).await;
                }
                if let Some(store) = &http.config.sessions {
                    http.sweep_shared(store).await;
                }
            }
            () = server.shutdown().cancelled() => break,
        }
    }
    tokio::time::sleep(limits.shutdown_grace).await;
    let Some(http) = http.upgrade() else { return };
    http.stop.cancel();
    for session in http.sessions.remove_all() {
        http.let_go(&session).await;
    }
}

/// A name for this process that no other has.
fn instance() -> Arc<str> {
    let mut bytes = [0; 8];
    // Without random numbers there are no sessions either.
    getrandom::fill(&mut bytes).unwrap_or_default();
    format!("{:016x}", u64::from_be_bytes(bytes)).into()
}

async fn handle(State(http): State<Arc<Http>>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    if let Err(why) = http.guard.check(&parts.uri, &parts.headers) {
        return invalid(StatusCode::FORBIDDEN, why).into_response();
    }
    let outcome = match parts.method {
        Method::POST => post(&http, &parts, body).await,
        Method::GET => legacy::get(&http, &parts).await,
        Method::DELETE => legacy::delete(&http, &parts).await,
        _ => Err(not_allowed("GET, POST, DELETE")),
    };
    outcome.unwrap_or_else(Refused::into_response)
}

fn not_allowed(methods: &'static str) -> Refused {
    let why = format!("this endpoint takes {methods} from such a client");
    invalid(StatusCode::METHOD_NOT_ALLOWED, why).allowing(methods)
}

async fn post(http: &Arc<Http>, parts: &Parts, body: Body) -> Result<Response<Body>, Refused> {
    check::accepts(&parts.headers, &[respond::JSON, crate::sse::CONTENT_TYPE])?;
    check::is_json(&parts.headers)?;
    let body = read(http, body).await?;
    if body.trim_ascii_start().starts_with(b"[") {
        return legacy::batch(http, parts, &body).await;
    }
    let message = Message::from_json(&body)
        .map_err(|error| refuse(StatusCode::BAD_REQUEST, Id::of_message(&body), error))?;
    match message {
        Message::Request(request) => {
            let meta = Meta::of(request.params.as_deref()).or_traced_by(&parts.headers);
            if check::is_modern(&parts.headers, &request, &meta) {
                modern::request(http, parts, request, meta).await
            } else {
                legacy::request(http, parts, request, meta).await
            }
        }
        // The modern era has one notification from clients, `notifications/cancelled`, and on HTTP
        // the end of the response takes its place.
        Message::Notification(_) if check::names_modern(&parts.headers) => {
            Ok(empty(StatusCode::ACCEPTED))
        }
        Message::Notification(notification) => {
            legacy::notification(http, parts, notification).await
        }
        Message::Response(response) => legacy::response(http, parts, response).await,
    }
}

/// Reads a body that is neither too long nor too slow.
async fn read(http: &Http, body: Body) -> Result<Bytes, Refused> {
    let limits = http.server.limits();
    let limit = limits.max_body_bytes;
    let reading = Limited::new(body, limit).collect();
    match tokio::time::timeout(limits.read_timeout, reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(invalid(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is longer than the limit of {limit} bytes"),
        )),
        Ok(Err(error)) => {
            Err(invalid(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}")))
        }
        Err(_) => Err(invalid(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body took longer than the limit of {:?}", limits.read_timeout),
        )),
    }
}

impl Http {
    /// A place for one more request under way.
    fn take_place(&self, id: &Id) -> Result<tokio::sync::OwnedSemaphorePermit, Refused> {
        self.free.clone().try_acquire_owned().map_err(|_| {
            let error = in_flight::too_many(self.server.limits().max_http_in_flight);
            refuse(StatusCode::SERVICE_UNAVAILABLE, Some(id.clone()), error)
        })
    }
}

/// The refusal of a request that came without a session.
fn no_session(id: Option<Id>) -> Refused {
    refuse(
        StatusCode::BAD_REQUEST,
        id,
        RpcError::new(
            code::INVALID_REQUEST,
            "the request has neither the modern `_meta` nor an `Mcp-Session-Id`: send `initialize` \
             first",
        ),
    )
}
