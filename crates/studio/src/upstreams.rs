//! The servers that graphs call.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use mcpgraph_upstream::ServerStatus;
use serde_json::json;

use crate::api::Shared;
use crate::extract::Path;
use crate::problem::{Problem, answer};

/// How long a server may take to start and tell its tools.
const LIMIT: Duration = Duration::from_secs(20);

/// `GET /api/upstreams`: how the servers stand. None is started for that.
pub(crate) async fn list(State(shared): State<Arc<Shared>>) -> Result<Response, Problem> {
    let servers = shared.workshop()?.upstreams.status();
    let servers: Vec<_> = servers.iter().map(shown).collect();
    Ok(answer(StatusCode::OK, &json!({ "servers": servers })))
}

fn shown(server: &ServerStatus) -> serde_json::Value {
    json!({
        "name": server.name,
        "state": server.state.name(),
        "failure": server.failure,
        "stderr": server.stderr,
    })
}

/// `GET /api/upstreams/SERVER/tools`: its tools; it is started if it does not run.
pub(crate) async fn tools(
    State(shared): State<Arc<Shared>>,
    Path(server): Path<String>,
) -> Result<Response, Problem> {
    let upstreams = &shared.workshop()?.upstreams;
    if !upstreams.names().contains(&server) {
        return Err(Problem::not_found(format!("there is no server `{server}`")));
    }
    let listed = tokio::time::timeout(LIMIT, upstreams.list_tools(&server)).await;
    let message = match listed {
        Ok(Ok(tools)) => {
            let tools: Vec<_> = tools.iter().map(|tool| &tool.value).collect();
            return Ok(answer(StatusCode::OK, &json!({ "tools": tools })));
        }
        Ok(Err(error)) => format!("{error}; {}", error.hint()),
        Err(_) => format!("no answer within {} seconds", LIMIT.as_secs()),
    };
    Err(Problem::conflict(message))
}
