//! Runs under a debugger. They go on between the calls of whoever debugs them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::codes;
use mcpgraph_engine::{Event, NotAPath, StepPath};
use mcpgraph_gateway::{Watch, origin};
use mcpgraph_journal::RunId;
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{
    Breakpoint, Caller, DebugSessions, DebugState, Debugger, Execution, Finished, Move, RunEnded,
};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::breakpoints::{misplaced, reachable_nodes};
use crate::records;
use crate::run::{told, wanted};
use crate::steps::Steps;
use crate::toolkit::Toolkit;

/// What can be asked of a run besides moving it on.
pub(crate) const ACTIONS: [&str; 5] = ["state", "setBreakpoints", "setOutput", "leave", "join"];

/// How long an agent may say nothing before its run is released: models think for a while.
const LEASE: Duration = Duration::from_mins(10);

/// How many debugged runs are remembered at once.
const MAX_RUNS: usize = 32;

/// How long an answer waits for the run to pause or end, if the caller does not say.
const WAIT_MS: u64 = 10_000;

/// How long it may wait.
pub(crate) const MAX_WAIT_MS: u64 = 60_000;

/// How long released runs may take to end when the toolkit does.
const END_GRACE: Duration = Duration::from_secs(5);

/// The runs that are debugged.
pub(crate) struct DebugRuns {
    sessions: Arc<DebugSessions>,
    runs: Mutex<HashMap<RunId, Arc<Attended>>>,
    under_way: TaskTracker,
    closing: CancellationToken,
}

/// A run that was started here, and what is told of it.
struct Attended {
    steps: Steps,
    definitions: Vec<Value>,
    /// The nodes that it may come to.
    nodes: Vec<Arc<str>>,
    finished: watch::Receiver<Option<Finished>>,
}

impl DebugRuns {
    pub(crate) fn new() -> Self {
        Self {
            sessions: DebugSessions::new(LEASE),
            runs: Mutex::default(),
            under_way: TaskTracker::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Lets all runs go on by themselves; those that take too long are cancelled.
    pub(crate) async fn close(&self) {
        self.sessions.clear();
        self.under_way.close();
        if tokio::time::timeout(END_GRACE, self.under_way.wait()).await.is_err() {
            self.closing.cancel();
            // One that does not even end then goes with the process.
            tokio::time::timeout(END_GRACE, self.under_way.wait()).await.ok();
        }
    }

    /// Remembers a run. Of those that have ended one is forgotten where there are too many.
    fn remember(&self, run: RunId, attended: Arc<Attended>) -> Result<(), Failure> {
        let mut runs = self.runs.lock();
        if runs.len() >= MAX_RUNS {
            let ended = runs.iter().filter(|(_, run)| run.finished.borrow().is_some());
            let Some(oldest) = ended.map(|(id, _)| *id).min() else {
                let message = format!("{MAX_RUNS} runs are being debugged, the limit");
                return Err(Failure::new(codes::TOOLKIT_NOT_DEBUGGED, message)
                    .with("suggestion", "end one of them with controlRun: `stop` or `leave`"));
            };
            runs.remove(&oldest);
        }
        runs.insert(run, attended);
        Ok(())
    }

    fn attended(&self, run: RunId) -> Option<Arc<Attended>> {
        self.runs.lock().get(&run).cloned()
    }
}

impl Attended {
    /// How the run ended. What it is asked for comes right before.
    async fn finished(&self) -> Option<Finished> {
        self.finished.clone().wait_for(Option::is_some).await.ok()?.clone()
    }
}

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
    let steps = Steps::default();
    let debugged = &toolkit.debugged;
    let execution = Execution {
        origin: origin(call),
        caller: Arc::new(Watching(steps.watch())),
        cancel: debugged.closing.child_token(),
        debug: Some(session),
        ..runnable.execution(arguments.object("arguments"))
    };
    let run = execution.id;
    let (ending, finished) = watch::channel(None);
    let attended = Attended { steps, definitions: runnable.definitions, nodes, finished };
    debugged.remember(run, Arc::new(attended))?;
    debugged.sessions.add(run, debugger.clone());
    let runtime = Arc::clone(&toolkit.runtime);
    debugged.under_way.spawn(async move {
        let finished = runtime.execute(execution).await;
        ending.send_replace(Some(finished));
    });
    stands(toolkit, run, debugger, arguments, call).await
}

/// `controlRun`.
pub(crate) async fn control(toolkit: &Toolkit, arguments: &Arguments, call: &Call) -> Answer {
    let run = records::parse(arguments.required("runId"))?;
    let sessions = &toolkit.debugged.sessions;
    let attended = toolkit.debugged.attended(run);
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
                let joined = live.and_then(|live| live.join(run, arguments.flag("paused"), points));
                let debugger = joined.ok_or_else(|| not_debugged(run, "is not under way"))?;
                sessions.add(run, debugger.clone());
                debugger
            }
            _ => sessions.get(run).or_else(|| ended_debugger(attended.as_deref())).ok_or_else(
                || not_debugged(run, "is not debugged here: it was released, or never was"),
            )?,
        };
    let over = |_: RunEnded| not_debugged(run, "has ended");
    match (Move::from_name(action), action) {
        (Some(how), _) => debugger.go(how).await.map_err(over)?,
        (None, "setBreakpoints") => {
            let points = breakpoints(arguments, nodes)?;
            debugger.set_breakpoints(points).await.map_err(over)?;
        }
        (None, "setOutput") => {
            let (Some(node), Some(output)) = (arguments.text("node"), arguments.get("output"))
            else {
                let message = "setOutput needs a `node` and its `output`";
                return Err(Failure::new(codes::TOOLKIT_ARGUMENTS, message));
            };
            let changed = debugger.set_output(scope(arguments)?, node.into(), output.clone());
            changed
                .await
                .map_err(|why| Failure::new(codes::TOOLKIT_NOT_DEBUGGED, why.to_string()))?;
        }
        _ => {}
    }
    stands(toolkit, run, debugger, arguments, call).await
}

/// How a run stands, once it pauses or ends, or the caller has waited for long enough.
async fn stands(
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
    let state = tokio::select! {
        biased;
        state = debugger.stopped() => state,
        () = wait => DebugState::Running,
        () = call.cancel.cancelled() => DebugState::Running,
    };
    let mut answer = json!(Value::from(state.to_map()));
    answer["run"] = run.to_string().into();
    let attended = toolkit.debugged.attended(run);
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
    attended.filter(|attended| attended.finished.borrow().is_some())?;
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
