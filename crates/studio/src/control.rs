//! Starting runs and debugging them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use mcpgraph_diagnostics::suggest::did_you_mean;
use mcpgraph_engine::{NotAPath, StepPath};
use mcpgraph_gateway::Offer;
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::{Face, Origin, RunId};
use mcpgraph_runtime::{Breakpoint, Debugger, Execution, Fork, Move, RunEnded};
use mcpgraph_toolkit::{misplaced, reachable_nodes};
use mcpgraph_value::{Map, Value};
use serde::Deserialize;

use crate::api::{self, Shared, run_id};
use crate::extract::{Path, Query};
use crate::problem::{Problem, json};

/// How many known names a message lists.
const MAX_NAMES: usize = 20;

type Answer = Result<Response, Problem>;

/// Starts a run, under a debugger if it is to be paused or has breakpoints.
pub(crate) async fn start(State(shared): State<Arc<Shared>>, body: Body) -> Answer {
    let body = api::fields(body, &["tool", "arguments", "paused", "breakpoints"]).await?;
    let name = body
        .get("tool")
        .and_then(Value::as_str)
        .ok_or_else(|| Problem::invalid("`tool` must name the tool to run"))?;
    let offer = shared.studio.gateway.offer();
    let tool = offer
        .graph()
        .tool(name)
        .cloned()
        .ok_or_else(|| Problem::not_found(format!("there is no tool `{name}`")))?;
    let input = arguments(&body)?.unwrap_or_else(|| Value::object(Map::new()));
    let control = Control::read(&body, Some((offer.graph(), &tool)))?;
    let call = Execution {
        origin: Origin { face: Face::Http, ..Origin::default() },
        ..Execution::new(Arc::clone(offer.graph()), tool, input)
    };
    Ok(begin(&shared, offer, call, None, control, Map::new()))
}

/// The arguments that a request gives to a run.
pub(crate) fn arguments(body: &Value) -> Result<Option<Value>, Problem> {
    match body.get("arguments") {
        None | Some(Value::Null) => Ok(None),
        Some(arguments @ Value::Object(_)) => Ok(Some(arguments.clone())),
        Some(_) => Err(Problem::invalid("`arguments` must be an object")),
    }
}

/// How a run is to be controlled from its beginning.
pub(crate) struct Control {
    pauses: bool,
    breakpoints: Vec<Breakpoint>,
}

impl Control {
    /// What `paused` and `breakpoints` of a request say about a run of a tool, where that is known.
    pub(crate) fn read(body: &Value, of: Option<(&Graph, &Tool)>) -> Result<Self, Problem> {
        let breakpoints = breakpoints(body, of)?;
        Ok(Self { pauses: is_true(body, "paused")?, breakpoints })
    }
}

/// The breakpoints of a request. One at a node that the run cannot come to is refused.
fn breakpoints(body: &Value, of: Option<(&Graph, &Tool)>) -> Result<Vec<Breakpoint>, Problem> {
    let points = Breakpoint::read_all(body.get("breakpoints"))?;
    let Some((graph, tool)) = of else { return Ok(points) };
    let nodes = reachable_nodes(graph, tool);
    let Some(Breakpoint { node, .. }) = misplaced(&points, &nodes) else { return Ok(points) };
    let names = || nodes.iter().map(|name| &**name);
    let hint = did_you_mean(node, names()).unwrap_or_else(|| {
        let some: Vec<&str> = names().take(MAX_NAMES).collect();
        let more = if nodes.len() > MAX_NAMES { ", …" } else { "" };
        format!("there are {}{more}", some.join(", "))
    });
    let message = format!("no run of `{}` comes to a node `{node}`; {hint}", tool.name);
    Err(Problem::invalid(message).with("breakpoint", Value::from(&**node)))
}

/// What a run under way executes, as far as that is known here: its record says so, and the graph
/// has not been changed since.
async fn executed(shared: &Shared, run: RunId) -> Option<(Arc<Offer>, Arc<Tool>)> {
    let recorded = shared.read(move |journal| journal.run(run)).await.ok()??;
    let offer = shared.studio.gateway.offer();
    let tool = offer.graph().runnable(&recorded.tool)?;
    let tool = (tool.digest == recorded.digest).then(|| Arc::clone(tool))?;
    Some((offer, tool))
}

/// Begins a run that nobody waits for, under a debugger if it is to be paused or has breakpoints.
/// Answers with its id and what else there is to say.
pub(crate) fn begin(
    shared: &Shared,
    offer: Arc<Offer>,
    mut call: Execution,
    fork: Option<Box<Fork>>,
    control: Control,
    mut said: Map,
) -> Response {
    let run = call.id;
    let Control { pauses, breakpoints } = control;
    if pauses || !breakpoints.is_empty() {
        let (debugger, session) = Debugger::new(pauses, breakpoints);
        call.debug = Some(session);
        shared.sessions.add(run, debugger);
    }
    // Whoever reads the answer may ask for the run before it has had its turn.
    shared.studio.live.announce(run);
    tokio::spawn(async move {
        // How it ends is in the record.
        match fork {
            Some(fork) => offer.runtime().execute_fork(*fork, call).await,
            None => offer.runtime().execute(call).await,
        }
    });
    said.insert("run", run.to_string());
    let mut answer = json(&said.into());
    *answer.status_mut() = StatusCode::CREATED;
    answer
}

fn is_true(body: &Value, key: &str) -> Result<bool, Problem> {
    match body.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(yes)) => Ok(*yes),
        Some(_) => Err(Problem::invalid(format!("`{key}` must be true or false"))),
    }
}

/// Takes control of a run that is under way.
pub(crate) async fn join(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Body,
) -> Answer {
    let run = run_id(&id)?;
    let body = api::fields(body, &["paused", "breakpoints"]).await?;
    let of = executed(&shared, run).await;
    let of = of.as_ref().map(|(offer, tool)| (&**offer.graph(), &**tool));
    let Control { pauses, breakpoints } = Control::read(&body, of)?;
    let debugger = shared
        .studio
        .live
        .join(run, pauses, breakpoints)
        .ok_or_else(|| Problem::not_found(format!("run {run} is not under way")))?;
    shared.sessions.add(run, debugger.clone());
    Ok(json(&told(run, &debugger)))
}

/// Lets a run go on by itself.
pub(crate) async fn leave(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Answer {
    let run = run_id(&id)?;
    if shared.sessions.remove(run) {
        Ok(json(&Map::from_iter([("run", run.to_string())]).into()))
    } else {
        Err(nobody(run))
    }
}

pub(crate) async fn state(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Answer {
    let run = run_id(&id)?;
    Ok(json(&told(run, &held(&shared, run)?)))
}

/// Pauses, goes on, steps or stops.
pub(crate) async fn go(
    State(shared): State<Arc<Shared>>,
    Path((id, how)): Path<(String, String)>,
    body: Body,
) -> Answer {
    let run = run_id(&id)?;
    api::fields(body, &[]).await?;
    let debugger = held(&shared, run)?;
    let how = Move::from_name(&how).ok_or_else(|| {
        let known = Move::NAMES.map(|(name, _)| name).join(", ");
        Problem::not_found(format!("`{how}` is not known; a run can be told to {known}"))
    })?;
    debugger.go(how).await.map_err(ended)?;
    Ok(json(&told(run, &debugger)))
}

pub(crate) async fn set_breakpoints(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Body,
) -> Answer {
    let run = run_id(&id)?;
    let body = api::fields(body, &["breakpoints"]).await?;
    // Nothing is a list of none only where it is said: this takes all breakpoints away.
    if !matches!(body.get("breakpoints"), Some(Value::Array(_))) {
        return Err(Problem::invalid("`breakpoints` must be the list of all breakpoints"));
    }
    let debugger = held(&shared, run)?;
    let of = executed(&shared, run).await;
    let of = of.as_ref().map(|(offer, tool)| (&**offer.graph(), &**tool));
    let points = breakpoints(&body, of)?;
    debugger.set_breakpoints(points).await.map_err(ended)?;
    Ok(json(&told(run, &debugger)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// The body that is meant: the path of its steps without their own position.
    scope: Option<String>,
}

/// What the nodes of a body see now.
pub(crate) async fn context(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Query(place): Query<Place>,
) -> Answer {
    let run = run_id(&id)?;
    let scope = place.scope.as_deref().map(scope).transpose()?;
    let context = held(&shared, run)?.context(scope).await.map_err(ended)?;
    context
        .map(|context| json(&context))
        .ok_or_else(|| Problem::not_found("nothing is under way there"))
}

/// Puts another value in the place of a node's latest output.
pub(crate) async fn set_output(
    State(shared): State<Arc<Shared>>,
    Path((id, node)): Path<(String, String)>,
    body: Body,
) -> Answer {
    let run = run_id(&id)?;
    let body = api::fields(body, &["output", "scope"]).await?;
    let output = body
        .get("output")
        .cloned()
        .ok_or_else(|| Problem::invalid("`output` must be the value to put there"))?;
    let scope = match body.get("scope") {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) => Some(scope(path)?),
        Some(_) => return Err(Problem::invalid("`scope` must be a path such as \"3.2\"")),
    };
    let debugger = held(&shared, run)?;
    debugger
        .set_output(scope, node.into(), output)
        .await
        .map_err(|error| Problem::conflict(error.to_string()))?;
    Ok(json(&told(run, &debugger)))
}

fn held(shared: &Shared, run: RunId) -> Result<Debugger, Problem> {
    shared.sessions.get(run).ok_or_else(|| nobody(run))
}

fn nobody(run: RunId) -> Problem {
    Problem::not_found(format!("run {run} is not debugged here; POST to its /debug to begin"))
}

fn ended(_: RunEnded) -> Problem {
    Problem::conflict("the run has ended")
}

/// A path such as `3.2`; nothing is the tool that was called.
fn scope(text: &str) -> Result<StepPath, Problem> {
    text.parse().map_err(|error: NotAPath| Problem::invalid(error.to_string()))
}

/// How a debugged run stands.
fn told(run: RunId, debugger: &Debugger) -> Value {
    let mut map = debugger.state().to_map();
    map.insert("run", run.to_string());
    map.into()
}
