//! Starting runs and debugging them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use mcpgraph_diagnostics::Source;
use mcpgraph_diagnostics::suggest::did_you_mean;
use mcpgraph_engine::{NotAPath, StepPath};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::{RunId, RunStatus};
use mcpgraph_runtime::{
    Breakpoint, DebugState, Debugger, DurableError, Execution, Move, NotObeyed, Unreached,
};
use mcpgraph_toolkit::{misplaced, reachable_nodes};
use mcpgraph_value::{Map, Value};
use serde::Deserialize;

use crate::api::{self, Shared, run_id};
use crate::begun::{Executed, begin, origin};
use crate::extract::{Path, Query};
use crate::problem::{Problem, json};

/// How many known names a message lists.
const MAX_NAMES: usize = 20;

/// How long it is waited for a run that is joined to stand still.
const SETTLING: Duration = Duration::from_secs(2);

type Answer = Result<Response, Problem>;

/// Starts a run, under a debugger if it is to be paused or has breakpoints.
pub(crate) async fn start(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let body = api::fields(body, &["tool", "arguments", "paused", "breakpoints"]).await?;
    let name = body
        .get("tool")
        .and_then(Value::as_str)
        .ok_or_else(|| Problem::invalid("`tool` must name the tool to run"))?;
    let offer = shared.studio.gateway.offer();
    let tool = offer.graph().tool(name).cloned().ok_or_else(|| no_tool(offer.graph(), name))?;
    let input = arguments(&body)?.unwrap_or_else(|| Value::object(Map::new()));
    let control = Control::read(&body, Some((offer.graph(), &tool)))?;
    let call = Execution {
        origin: origin(&headers, None),
        ..Execution::new(Arc::clone(offer.graph()), tool, input)
    };
    begin(&shared, offer, call, None, control, Map::new())
}

/// A tool that is not there, and the one that may have been meant.
fn no_tool(graph: &Graph, name: &str) -> Problem {
    let names = graph.tools.iter().map(|tool| &*tool.name);
    let hint = did_you_mean(name, names).map(|hint| format!("; {hint}")).unwrap_or_default();
    Problem::not_found(format!("there is no tool `{name}`{hint}"))
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
    pub(crate) pauses: bool,
    pub(crate) breakpoints: Vec<Breakpoint>,
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

/// What a run under way executes, as far as that is known here: it was begun here, or its record
/// says so, and the graph has not been changed since.
async fn executed(shared: &Shared, run: RunId) -> Option<Executed> {
    if let Some(begun) = shared.begun.executed(run) {
        return Some(begun);
    }
    let recorded = shared.read(move |journal| journal.run(run)).await.ok()??;
    let offer = shared.studio.gateway.offer();
    let tool = offer.graph().runnable(&recorded.tool)?;
    let tool = (tool.digest == recorded.digest).then(|| Arc::clone(tool))?;
    Some((offer, tool))
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
    if shared.studio.drain.has_begun() {
        return Err(Problem::draining());
    }
    let debugger = match shared.sessions.join(&shared.studio.live, run, pauses, breakpoints) {
        Ok(debugger) => debugger,
        Err(why) => return Err(unreached(&shared, run, why).await),
    };
    if pauses {
        // What led to the pause is recorded before that is told. However it stands is the answer.
        tokio::time::timeout(SETTLING, debugger.clone().stopped()).await.ok();
    }
    // One that is at its end can still be joined until its record is written.
    if debugger.state() == DebugState::Ended {
        return Err(ended());
    }
    told(run, &debugger)
}

/// Why a run cannot be joined.
async fn unreached(shared: &Shared, run: RunId, why: Unreached) -> Problem {
    let is_durable = match why {
        Unreached::Busy => return Problem::conflict(format!("run {run} {why}")),
        Unreached::Durable => true,
        // Another process may execute it.
        Unreached::Absent => match shared.status(run).await {
            None => return unknown(shared, run),
            Some(RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled) => {
                return ended();
            }
            Some(status @ (RunStatus::Running | RunStatus::Interrupted)) => {
                let goes_on = shared.goes_on(run).await;
                if status == RunStatus::Interrupted && !goes_on {
                    return ended();
                }
                goes_on
            }
        },
    };
    if !is_durable {
        return Problem::conflict(if is_walk(shared, run).await {
            format!(
                "run {run} is the walk of a procedure: it is an agent's, and cannot be debugged"
            )
        } else {
            format!("run {run} {why} in this process: only the one that executes it can debug it")
        });
    }
    let message = format!(
        "run {run} is durable, and durable runs cannot be debugged while they are under way; POST \
         to its /stop to end it. A run that begins with `paused` or `breakpoints` is not durable"
    );
    Problem::new(StatusCode::CONFLICT, "durable", message)
}

/// Whether a run walks a procedure, by its record.
async fn is_walk(shared: &Shared, run: RunId) -> bool {
    let is_walk = shared.read(move |journal| {
        let definition = journal.run(run)?.and_then(|run| run.definition);
        let text = definition.map_or(Ok(None), |digest| journal.definition(digest))?;
        Ok(text.is_some_and(|text| mcpgraph_sop::read(&Source::new("", &*text)).0.is_some()))
    });
    is_walk.await.unwrap_or(false)
}

/// A run that is not under way here, and of which there is no record.
fn unknown(shared: &Shared, run: RunId) -> Problem {
    Problem::not_found(match shared.studio.journal {
        Some(_) => format!("there is no run {run}"),
        None => format!("no run {run} is under way, and those that have ended are not recorded"),
    })
}

/// Ends a run that is under way, and does not wait for its end.
pub(crate) async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Body,
) -> Answer {
    let run = run_id(&id)?;
    api::fields(body, &[]).await?;
    let is_here = match shared.studio.live.stop(run) {
        Ok(()) => return Ok(stopping(run)),
        Err(Unreached::Absent) => false,
        Err(Unreached::Durable | Unreached::Busy) => true,
    };
    let status = if is_here { None } else { shared.status(run).await };
    if matches!(status, Some(RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled)) {
        return Err(ended());
    }
    let offer = shared.studio.gateway.offer();
    if let Some(durable) = offer.runtime().durable() {
        match durable.stop(run).await {
            Ok(true) => return Ok(stopping(run)),
            Ok(false) => return Err(ended()),
            Err(DurableError::Unknown(_)) => {}
            Err(error @ DurableError::Unusable(_)) => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                return Err(Problem::new(status, "unavailable", error.to_string()));
            }
        }
    }
    Err(match status {
        None => Problem::not_found(format!("there is no run {run}")),
        Some(RunStatus::Running) => Problem::conflict(format!(
            "run {run} is not durable, and not executed by this process: only the one that \
             executes it can stop it. The walk of a procedure ends with its conversation"
        )),
        Some(_) => ended(),
    })
}

fn stopping(run: RunId) -> Response {
    let mut answer = json(&Map::from_iter([("run", run.to_string())]).into());
    *answer.status_mut() = StatusCode::ACCEPTED;
    answer
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
    match shared.sessions.get(run) {
        // Whoever took over meanwhile is held by now, and knows how it stands.
        Some(debugger) if debugger.state() == DebugState::Replaced => {
            let debugger = shared.sessions.get(run).ok_or_else(|| nobody(run))?;
            told(run, &debugger)
        }
        Some(debugger) => told(run, &debugger),
        // Debuggers of runs that have ended are soon forgotten.
        None if has_ended(&shared, run).await => Ok(json(&state_of(run, &DebugState::Ended))),
        None => Err(nobody(run)),
    }
}

/// Pauses, goes on, steps or stops.
pub(crate) async fn go(
    State(shared): State<Arc<Shared>>,
    Path((id, how)): Path<(String, String)>,
    body: Body,
) -> Answer {
    let run = run_id(&id)?;
    api::fields(body, &[]).await?;
    let how = Move::from_name(&how).ok_or_else(|| {
        let known = Move::NAMES.map(|(name, _)| name).join(", ");
        Problem::not_found(format!("`{how}` is not known; a run can be told to {known}"))
    })?;
    let debugger = held(&shared, run).await?;
    debugger.go(how).await.map_err(|why| not_obeyed(run, &why))?;
    told(run, &debugger)
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
    let debugger = held(&shared, run).await?;
    let of = executed(&shared, run).await;
    let of = of.as_ref().map(|(offer, tool)| (&**offer.graph(), &**tool));
    let points = breakpoints(&body, of)?;
    debugger.set_breakpoints(points).await.map_err(|why| not_obeyed(run, &why))?;
    told(run, &debugger)
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
    let context = held(&shared, run).await?.context(scope).await;
    context
        .map_err(|why| not_obeyed(run, &why))?
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
    let debugger = held(&shared, run).await?;
    debugger.set_output(scope, node.into(), output).await.map_err(|why| not_obeyed(run, &why))?;
    told(run, &debugger)
}

async fn held(shared: &Shared, run: RunId) -> Result<Debugger, Problem> {
    match shared.sessions.get(run) {
        Some(debugger) => Ok(debugger),
        None if has_ended(shared, run).await => Err(ended()),
        None => Err(nobody(run)),
    }
}

/// Whether a run has ended, by the record.
async fn has_ended(shared: &Shared, run: RunId) -> bool {
    !shared.studio.live.contains(run)
        && match shared.status(run).await {
            None | Some(RunStatus::Running) => false,
            Some(RunStatus::Interrupted) => !shared.goes_on(run).await,
            Some(RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled) => true,
        }
}

fn nobody(run: RunId) -> Problem {
    Problem::not_found(format!("run {run} is not debugged here; POST to its /debug to begin"))
}

fn ended() -> Problem {
    Problem::conflict(NotObeyed::Ended.to_string())
}

/// Why a debugger was not obeyed. One that was replaced says so by its code: the run goes on.
fn not_obeyed(run: RunId, why: &NotObeyed) -> Problem {
    match why {
        NotObeyed::Replaced => replaced(run),
        NotObeyed::Ended | NotObeyed::Output(_) => Problem::conflict(why.to_string()),
    }
}

fn replaced(run: RunId) -> Problem {
    let message = format!(
        "somebody else took over run {run} meanwhile; ask again to control it together, or POST \
         to its /debug to take it back"
    );
    Problem::new(StatusCode::CONFLICT, "replaced", message)
}

/// A path such as `3.2`; nothing is the tool that was called.
fn scope(text: &str) -> Result<StepPath, Problem> {
    text.parse().map_err(|error: NotAPath| Problem::invalid(error.to_string()))
}

/// How a debugged run stands.
fn told(run: RunId, debugger: &Debugger) -> Answer {
    match debugger.state() {
        DebugState::Replaced => Err(replaced(run)),
        state => Ok(json(&state_of(run, &state))),
    }
}

fn state_of(run: RunId, state: &DebugState) -> Value {
    let mut map = state.to_map();
    map.insert("run", run.to_string());
    map.into()
}
