//! The log of requests.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use mcpgraph_journal::{RequestFilter, RequestStatus};
use serde::Deserialize;

use crate::api::Shared;
use crate::extract::Query;
use crate::problem::{Problem, json};
use crate::runs::{MAX_LISTED, moment, word};

/// Which requests are wanted. Times are milliseconds, moments since 1970.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Wanted {
    token: Option<String>,
    method: Option<String>,
    tool: Option<String>,
    server: Option<String>,
    status: Option<String>,
    since: Option<u64>,
    until: Option<u64>,
    slower_than: Option<u64>,
    limit: Option<usize>,
    before: Option<u64>,
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let statuses = RequestStatus::ALL.map(|status| (status.name(), status));
    let filter = RequestFilter {
        token: wanted.token,
        method: wanted.method,
        name: wanted.tool,
        server: wanted.server,
        status: wanted.status.map(|status| word(&status, &statuses)).transpose()?,
        since: wanted.since.and_then(moment),
        until: wanted.until.and_then(moment),
        slower_than: wanted.slower_than.map(Duration::from_millis),
        limit: wanted.limit.unwrap_or(100).clamp(1, MAX_LISTED),
        before: wanted.before,
    };
    Ok(json(&shared.read(move |journal| journal.requests(&filter)).await?.to_value()))
}
