//! New runs that go on from recorded ones.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use mcpgraph_engine::{Given, Run};
use mcpgraph_gateway::Offer;
use mcpgraph_graph::{Target, Tool};
use mcpgraph_journal::{JournalError, Parent, Payload, RunId, StoredEvent, compare};
use mcpgraph_runtime::{Execution, Fork, RecallError, Recalled, Recorded};
use mcpgraph_upstream::Upstreams;
use mcpgraph_value::{Map, Value};
use serde_json::json;

use crate::api::{self, Shared, run_id};
use crate::begun::{begin, origin};
use crate::control::{Control, arguments};
use crate::extract::Path;
use crate::problem::{Problem, answer};

/// What a request to go on from a run may say.
const FIELDS: [&str; 5] = ["from", "changes", "arguments", "paused", "breakpoints"];

/// A new run that has not begun.
struct Prepared {
    offer: Arc<Offer>,
    tool: Arc<Tool>,
    parent: Parent,
    beginning: Beginning,
    /// Whether it sees masks in the place of secrets, and what could not be compared.
    said: Map,
}

enum Beginning {
    /// With these arguments, and nothing else.
    Anew(Value),
    /// With what the record says up to a step.
    Recalled(Box<Fork>),
}

/// `POST /api/runs/ID/fork`: `{from, changes, arguments, paused, breakpoints}`; answers
/// `{run, masked, note}`.
pub(crate) async fn fork(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = api::fields(body, &FIELDS).await?;
    let Prepared { offer, tool, parent, beginning, said } = prepare(&shared, &id, &body).await?;
    let control = Control::read(&body, Some((offer.graph(), &tool)))?;
    let origin = origin(&headers, Some(parent));
    let (input, fork) = match beginning {
        Beginning::Anew(input) => (input, None),
        // The arguments are those of the record.
        Beginning::Recalled(fork) => (Value::Null, Some(fork)),
    };
    let call = Execution { origin, ..Execution::new(Arc::clone(offer.graph()), tool, input) };
    begin(&shared, offer, call, fork, control, said)
}

/// `POST /api/runs/ID/fork/effects`: what the same request to `fork` may call and would say, and
/// nothing else.
pub(crate) async fn effects(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let body = api::fields(body, &FIELDS).await?;
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
    let mut told = json!(Value::from(prepared.said));
    told["kept"] = prepared.parent.from.into();
    told["calls"] = calls.into();
    Ok(answer(StatusCode::OK, &told))
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
    let given = arguments(body)?;
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
    let (beginning, is_masked, note) = match given {
        Some(arguments) => (Beginning::Anew(arguments), false, None),
        None if from == 0 && changes.is_empty() => {
            let input = recorded(shared, id).await?;
            let is_masked = compare::is_masked(&input);
            (Beginning::Anew(input), is_masked, None)
        }
        None => {
            let (journal, offer, tool) = (shared.journal()?, Arc::clone(&offer), Arc::clone(&tool));
            let recall = move || {
                let recorded = Recorded {
                    journal: &journal,
                    run: &parent,
                    graph: offer.graph(),
                    tool: &tool,
                    is_recorded: false,
                };
                offer.runtime().recall(&recorded, from, changes)
            };
            let recalled = tokio::task::spawn_blocking(recall).await.map_err(|_| {
                Problem::internal("going on from the record failed by a fault of mcpgraph")
            })?;
            let Recalled { fork, is_masked, note } = recalled.map_err(not_recalled)?;
            (Beginning::Recalled(Box::new(fork)), is_masked, note)
        }
    };
    let mut said = Map::from_iter([("masked", is_masked)]);
    if let Some(note) = note {
        said.insert("note", note);
    }
    Ok(Prepared { offer, tool, parent: Parent { run: id, from }, beginning, said })
}

/// Why the record cannot be gone on from.
fn not_recalled(error: RecallError) -> Problem {
    match error {
        RecallError::Record(JournalError::Missing(missing)) => {
            let way = missing.way_on("in `changes`").map(|way| format!("; {way}"));
            Problem::conflict(missing.to_string() + &way.unwrap_or_default())
        }
        RecallError::Record(error) => error.into(),
        RecallError::Diverged(report) => {
            let place = report.place();
            let message = format!(
                "the tool was changed since: it does something else than the record {place}; go \
                 on from an earlier step"
            );
            Problem::conflict(message).with("divergence", report.to_value())
        }
        error => Problem::conflict(error.to_string()),
    }
}

/// The arguments of a recorded run.
async fn recorded(shared: &Shared, id: RunId) -> Result<Value, Problem> {
    let events = shared.read(move |journal| journal.events(id, 0, 1)).await?;
    match events.into_iter().next() {
        Some((0, StoredEvent::Started { input: Payload::Whole(input), .. })) => Ok(input),
        _ => Err(Problem::conflict("the arguments of that run were not kept whole")),
    }
}
