//! Runs under a debugger. They go on between the calls of whoever debugs them.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::codes;
use mcpgraph_engine::{Event, NotAPath, StepPath};
use mcpgraph_gateway::{Watch, origin};
use mcpgraph_journal::RunId;
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{
    Breakpoint, Caller, DebugState, Debugger, Execution, Move, NotObeyed, Unreached,
};
use mcpgraph_value::Value;
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::asking::{asked, pending};
use crate::attended::Attended;
use crate::breakpoints::{misplaced, reachable_nodes};
use crate::records;
use crate::run::{told, wanted};
use crate::steps::Steps;
use crate::toolkit::Toolkit;

/// What can be asked of a run besides moving it on.
pub(crate) const ACTIONS: [&str; 5] = ["state", "setBreakpoints", "setOutput", "leave", "join"];

/// How long an answer waits for the run to pause or end, if the caller does not say.
const WAIT_MS: u64 = 10_000;

/// How long it may wait.
pub(crate) const MAX_WAIT_MS: u64 = 60_000;

/// What became of a run whose debugger was replaced, read on from its name.
const REPLACED: &str = "is debugged by another client, which joined it meanwhile; ask again";

/// Sees what happens in a debugged run. Its agent is not there to be asked anything.
struct Watching(Watch);

impl Caller for Watching {
    fn event(&self, event: &Event) {
        (self.0)(event);
    }
}

/// `debugGraphTool`.
pub(crate) async fn start(toolkit: &Toolkit, arguments: &Arguments, call: &Call) -> Answer {
    let runnable = wanted(toolkit, arguments).await?;
    let nodes = reachable_nodes(&runnable.graph, &runnable.tool);
    let points = breakpoints(arguments, Some(&nodes))?;
    let pauses = arguments.get("paused").and_then(Value::as_bool).unwrap_or(points.is_empty());
    let (debugger, session) = Debugger::new(pauses, points);
    let (steps, cancel) = (Steps::default(), toolkit.attended.closing.child_token());
    let execution = Execution {
        origin: origin(call),
        caller: Arc::new(Watching(steps.watch())),
        cancel: cancel.clone(),
        debug: Some(session),
        ..runnable.execution(arguments.object("arguments"))
    };
    let (run, runtime) = (execution.id, Arc::clone(&toolkit.runtime));
    let attended = Attended::new(&runtime, &runnable, steps, cancel);
    let running = async move { runtime.execute(execution).await };
    toolkit.attended.begin(run, attended, running)?;
    toolkit.attended.sessions.add(run, debugger.clone());
    stands(toolkit, run, debugger, arguments, call).await
}

/// `controlRun`.
pub(crate) async fn control(toolkit: &Toolkit, arguments: &Arguments, call: &Call) -> Answer {
    let run = records::parse(arguments.required("runId"))?;
    let sessions = &toolkit.attended.sessions;
    let attended = toolkit.attended.get(run);
    let nodes = attended.as_ref().map(|attended| &*attended.nodes);
    let action = arguments.required("action");
    let debugger =
        match action {
            "leave" if sessions.remove(run) => {
                return Ok(json!({ "run": run.to_string(), "state": "released" }));
            }
            "join" => {
                let points = breakpoints(arguments, nodes)?;
                let live = toolkit.instruments.live.as_ref();
                live.ok_or(Unreached::Absent)
                    .and_then(|live| sessions.join(live, run, arguments.flag("paused"), points))
                    .map_err(|why| not_debugged(run, &why.to_string()))?
            }
            _ => sessions.get(run).or_else(|| ended_debugger(attended.as_deref())).ok_or_else(
                || not_debugged(run, "is not debugged here: it was released, or never was"),
            )?,
        };
    let obeyed = obeyed(run, &debugger, arguments, nodes);
    tokio::select! {
        biased;
        obeyed = obeyed => obeyed?,
        () = call.cancel.cancelled() => {
            return Err(Failure::new(codes::RUN_CANCELLED, "the call was taken back"));
        }
    }
    stands(toolkit, run, debugger, arguments, call).await
}

/// Has a run do what a call of `controlRun` wants besides being told how it stands.
async fn obeyed(
    run: RunId,
    debugger: &Debugger,
    arguments: &Arguments,
    nodes: Option<&[Arc<str>]>,
) -> Result<(), Failure> {
    let action = arguments.required("action");
    let obeyed = match (Move::from_name(action), action) {
        (Some(how), _) => debugger.go(how).await,
        // Nothing is a list of none only where it is said: this takes all breakpoints away.
        (None, "setBreakpoints") if arguments.get("breakpoints").is_none() => {
            let message = "setBreakpoints needs the list of all `breakpoints`; [] takes them away";
            return Err(Failure::new(codes::TOOLKIT_ARGUMENTS, message));
        }
        (None, "setBreakpoints") => {
            let points = breakpoints(arguments, nodes)?;
            debugger.set_breakpoints(points).await
        }
        (None, "setOutput") => {
            let (Some(node), Some(output)) = (arguments.text("node"), arguments.get("output"))
            else {
                let message = "setOutput needs a `node` and its `output`";
                return Err(Failure::new(codes::TOOLKIT_ARGUMENTS, message));
            };
            debugger.set_output(scope(arguments)?, node.into(), output.clone()).await
        }
        _ => Ok(()),
    };
    obeyed.map_err(|why| match why {
        NotObeyed::Ended => not_debugged(run, "has ended"),
        NotObeyed::Replaced => not_debugged(run, REPLACED),
        NotObeyed::Output(why) => Failure::new(codes::TOOLKIT_NOT_DEBUGGED, why.to_string()),
    })
}

/// How a run stands, once it pauses, asks or ends, or the caller has waited for long enough.
pub(crate) async fn stands(
    toolkit: &Toolkit,
    run: RunId,
    mut debugger: Debugger,
    arguments: &Arguments,
    call: &Call,
) -> Answer {
    let wait = match (arguments.number("waitMs"), arguments.text("action")) {
        (Some(wait), _) => wait.min(MAX_WAIT_MS),
        (None, Some("state" | "setBreakpoints")) => 0,
        _ => WAIT_MS,
    };
    let wait = tokio::time::sleep(Duration::from_millis(wait));
    let attended = toolkit.attended.get(run);
    let state = tokio::select! {
        biased;
        state = debugger.stopped() => state,
        () = asked(attended.as_deref(), run) => DebugState::Running,
        () = wait => DebugState::Running,
        () = call.cancel.cancelled() => DebugState::Running,
    };
    if state == DebugState::Replaced {
        return Err(not_debugged(run, REPLACED));
    }
    let mut answer = json!(Value::from(state.to_map()));
    answer["run"] = run.to_string().into();
    match (&state, &attended) {
        (DebugState::Paused { .. }, _) => {
            // It may have ended since, and then nothing is seen any more.
            if let Ok(Some(context)) = debugger.context(scope(arguments)?).await {
                answer["context"] = json!(context);
            }
        }
        (DebugState::Ended, Some(attended)) => {
            if let Some(finished) = attended.finished().await {
                let Attended { steps, definitions, .. } = &**attended;
                match told(&finished, steps, definitions, false) {
                    Ok(ran) => answer["result"] = ran["result"].clone(),
                    Err(failure) => answer["failure"] = failure.into_facts(),
                }
            }
        }
        _ => {}
    }
    if state != DebugState::Ended
        && let Some(question) = pending(attended.as_deref(), run).await
    {
        answer["question"] = json!(question.to_value());
    }
    if let (true, Some(attended)) = (arguments.flag("logging"), &attended) {
        answer["steps"] = attended.steps.to_json(&attended.definitions).into();
        answer["stepsLeftOut"] = attended.steps.left_out().into();
    }
    Ok(answer)
}

/// The breakpoints of a call, at nodes that the run may come to where those are known.
fn breakpoints(
    arguments: &Arguments,
    nodes: Option<&[Arc<str>]>,
) -> Result<Vec<Breakpoint>, Failure> {
    let points = Breakpoint::read_all(arguments.get("breakpoints"))
        .map_err(|unclear| Failure::new(codes::TOOLKIT_ARGUMENTS, unclear.to_string()))?;
    let nodes = nodes.map(|nodes| (misplaced(&points, nodes), nodes));
    if let Some((Some(point), nodes)) = nodes {
        return Err(Failure::unknown("node", &point.node, nodes.iter().map(|node| &**node)));
    }
    Ok(points)
}

/// The body a call is about.
fn scope(arguments: &Arguments) -> Result<Option<StepPath>, Failure> {
    let parsed = arguments.text("scope").map(str::parse).transpose();
    parsed.map_err(|why: NotAPath| Failure::new(codes::TOOLKIT_ARGUMENTS, why.to_string()))
}

/// A debugger of a run that has ended, so that its end can be told again.
fn ended_debugger(attended: Option<&Attended>) -> Option<Debugger> {
    attended.filter(|attended| attended.has_ended())?;
    let (debugger, session) = Debugger::new(false, Vec::new());
    drop(session);
    Some(debugger)
}

fn not_debugged(run: RunId, why: &str) -> Failure {
    Failure::new(codes::TOOLKIT_NOT_DEBUGGED, format!("run {run} {why}")).with(
        "suggestion",
        "debugGraphTool starts a run under a debugger, `join` takes over one under way, getRun \
         reads one that was recorded",
    )
}
