//! What those who start and stop processes ask: whether this one lives, and whether it should be
//! sent requests.

use std::sync::{Arc, Weak};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use mcpgraph_journal::Journal;
use mcpgraph_runtime::Drain;
use serde_json::json;

/// What the answers are found from.
#[derive(Clone)]
struct Health {
    drain: Drain,
    /// The store, if there is one. Whoever looks at it must not keep it open.
    store: Option<Weak<Journal>>,
}

/// `/healthz` and `/readyz`. They ask for no token and take any `Host`: probes have neither, and the
/// answers say nothing of what is served.
pub(super) fn router(drain: Drain, store: Option<&Arc<Journal>>) -> Router {
    let state = Health { drain, store: store.map(Arc::downgrade) };
    Router::new()
        .route("/healthz", get(async || answer(StatusCode::OK, &json!({ "status": "alive" }))))
        .route("/readyz", get(readiness))
        .with_state(state)
}

/// Files are loaded before anybody listens, so that what is left to ask is whether this is about to
/// end. Calls go on while the store is away: that is told, and is no reason to send them elsewhere,
/// where it is away too.
async fn readiness(State(health): State<Health>) -> Response {
    let store = match health.store.map(|store| store.upgrade()) {
        None => "none",
        Some(Some(store)) if store.status().last_error.is_none() => "reachable",
        Some(_) => "unreachable",
    };
    let (status, word) = if health.drain.has_begun() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if store == "unreachable" {
        (StatusCode::OK, "degraded")
    } else {
        (StatusCode::OK, "ready")
    };
    answer(status, &json!({ "status": word, "store": store }))
}

fn answer(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
