//! New runs that go on from recorded ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use mcpgraph_engine::{Event, Given, Run};
use mcpgraph_gateway::Offer;
use mcpgraph_graph::{Target, Tool};
use mcpgraph_journal::{Face, Origin, Parent, Payload, RunId, StoredEvent};
use mcpgraph_runtime::{Execution, Fork, ForkError, Record};
use mcpgraph_upstream::Upstreams;
use mcpgraph_value::Value;
use serde_json::json;

use crate::api::{self, Shared, run_id};
use crate::control::{Control, begin};
use crate::extract::Path;
use crate::problem::{Problem, answer};

/// A new run that has not begun.
struct Prepared {
    offer: Arc<Offer>,
    tool: Arc<Tool>,
    parent: Parent,
    beginning: Beginning,
}

enum Beginning {
    /// With these arguments, and nothing else.
    Anew(Value),
    /// With what the record says up to a step.
    Recalled(Box<Fork>),
}

/// `POST /api/runs/ID/fork`: `{from, changes, arguments, paused, breakpoints}`; answers `{run}`.
pub(crate) async fn fork(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let body = api::body(body).await?;
    let Prepared { offer, tool, parent, beginning } = prepare(&shared, &id, &body).await?;
    let control = Control::read(&body, Some((offer.graph(), &tool)))?;
    let origin = Origin { face: Face::Http, parent: Some(parent), ..Origin::default() };
    let (input, fork) = match beginning {
        Beginning::Anew(input) => (input, None),
        // The arguments are those of the record.
        Beginning::Recalled(fork) => (Value::Null, Some(fork)),
    };
    let call = Execution { origin, ..Execution::new(Arc::clone(offer.graph()), tool, input) };
    Ok(begin(&shared, offer, call, fork, control))
}

/// `POST /api/runs/ID/fork/effects`: what the same request to `fork` may call, and nothing else.
pub(crate) async fn effects(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let body = api::body(body).await?;
    let prepared = prepare(&shared, &id, &body).await?;
    let effects = match &prepared.beginning {
        Beginning::Anew(input) => {
            let graph = Arc::clone(prepared.offer.graph());
            Run::start(graph, &prepared.tool, input.clone(), Given::default()).effects_ahead()
        }
        Beginning::Recalled(fork) => fork.effects_ahead(),
    };
    let upstreams = shared.studio.workshop.as_ref().map(|workshop| &workshop.upstreams);
    let calls = described(&effects, upstreams).await;
    Ok(answer(StatusCode::OK, &json!({ "kept": prepared.parent.from, "calls": calls })))
}

/// What may be called; of tools, with what their servers say of them as far as they run.
async fn described(
    effects: &BTreeSet<Target>,
    upstreams: Option<&Arc<Upstreams>>,
) -> Vec<serde_json::Value> {
    let mut calls = Vec::new();
    let running: Vec<Arc<str>> = upstreams
        .map(|upstreams| upstreams.status())
        .unwrap_or_default()
        .into_iter()
        .filter(|server| server.state == mcpgraph_upstream::ServerState::Ready)
        .map(|server| server.name)
        .collect();
    for target in effects {
        let Target::Tool { server, tool } = target else {
            calls.push(json!({ "effect": target.to_string(), "readOnly": null }));
            continue;
        };
        let known = match upstreams.filter(|_| running.contains(server)) {
            Some(upstreams) => upstreams.list_tools(server).await.ok(),
            None => None,
        };
        let info = known.as_ref().and_then(|all| all.iter().find(|info| info.name == *tool));
        let reads = info.and_then(|info| info.hint("readOnlyHint"));
        calls.push(json!({ "server": server, "tool": tool, "readOnly": reads }));
    }
    calls
}

async fn prepare(shared: &Shared, id: &str, body: &Value) -> Result<Prepared, Problem> {
    let id = run_id(id)?;
    let from = match body.get("from") {
        None | Some(Value::Null) => 0,
        Some(from) => from
            .as_i64()
            .and_then(|from| u64::try_from(from).ok())
            .ok_or_else(|| Problem::invalid("`from` is the number of a step"))?,
    };
    let changes: Vec<(Arc<str>, Value)> = match body.get("changes") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(changes)) => {
            changes.iter().map(|(node, output)| (Arc::clone(node), output.clone())).collect()
        }
        Some(_) => return Err(Problem::invalid("`changes` must be {node: output}")),
    };
    let given = body.get("arguments").filter(|given| !matches!(given, Value::Null)).cloned();
    if given.is_some() && (from > 0 || !changes.is_empty()) {
        let message = "other `arguments` begin the run anew: leave out `from` and `changes`";
        return Err(Problem::invalid(message));
    }
    let parent = shared.read(move |journal| journal.run(id)).await?;
    let parent = parent.ok_or_else(|| Problem::not_found(format!("there is no run {id}")))?;
    let offer = shared.studio.gateway.offer();
    let tool = offer.graph().tool(&parent.tool).cloned().ok_or_else(|| {
        Problem::conflict(format!("the graph has no tool `{}` any more", parent.tool))
    })?;
    let beginning = match given {
        Some(arguments) => Beginning::Anew(arguments),
        None if from == 0 && changes.is_empty() => Beginning::Anew(recorded(shared, id).await?),
        None => {
            let digest = tool.digest;
            let events = shared.read(move |journal| journal.whole_events(id, digest)).await?;
            let (forked, recalled) = (Arc::clone(&offer), Arc::clone(&tool));
            let work = move || recall(&forked, recalled, &events, from, changes);
            let fork = tokio::task::spawn_blocking(work).await.map_err(|_| {
                Problem::internal("going on from the record failed by a fault of mcpgraph")
            })?;
            Beginning::Recalled(Box::new(fork?))
        }
    };
    Ok(Prepared { offer, tool, parent: Parent { run: id, from }, beginning })
}

/// Follows the record up to a step; its expressions are evaluated again.
fn recall(
    offer: &Offer,
    tool: Arc<Tool>,
    events: &[Event],
    from: u64,
    changes: Vec<(Arc<str>, Value)>,
) -> Result<Fork, Problem> {
    let record = Record {
        graph: Arc::clone(offer.graph()),
        tool,
        events,
        is_same: &Event::tells_the_same_as,
    };
    offer.runtime().fork(&record, from, changes).map_err(|error| match error {
        ForkError::Diverged(_) => Problem::conflict(
            "the tool was changed since, or the record has masked values; go on from an earlier \
             step",
        ),
        error => Problem::conflict(error.to_string()),
    })
}

/// The arguments of a recorded run.
async fn recorded(shared: &Shared, id: RunId) -> Result<Value, Problem> {
    let events = shared.read(move |journal| journal.events(id, 0, 1)).await?;
    match events.into_iter().next() {
        Some((0, StoredEvent::Started { input: Payload::Whole(input), .. })) => Ok(input),
        _ => Err(Problem::conflict("the arguments of that run were not kept whole")),
    }
}
