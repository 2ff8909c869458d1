//! A call of a graph tool: one run, with its progress told to the client.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use mcpgraph_engine::{Call as NodeCall, Event};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::{Face, Origin, TraceContext};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::{Call, CallPeer, meta_key};
use mcpgraph_mcp::version::Era;
use mcpgraph_runtime::{Caller, Execution, Runtime};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::around::{Outer, inside};
use crate::relay::{self, CLIENT_PATIENCE};
use crate::requests::Trail;
use crate::{requests, result};

/// How many progress messages wait for a slow client; more are left out, as the protocol allows.
const PENDING_PROGRESS: usize = 32;

/// Runs a tool for a client; `outer` is the run of the workflow that it is inside of.
pub(crate) async fn run(
    runtime: &Runtime,
    graph: Arc<Graph>,
    tool: Arc<Tool>,
    input: Value,
    call: &Call,
    outer: Option<&Outer>,
) -> Result<Raw, RpcError> {
    let mut execution = Execution::new(graph, Arc::clone(&tool), input);
    execution.origin = inside(execution.origin, outer);
    let mut caller = GraphCaller::new(call, None);
    // Hooks of a workflow are told of the result before the client is, and steps are told of once
    // they are in the record, but before the answer.
    caller.keeps_back = outer.is_none() && !caller.listens();
    let finished = attend_as(caller, call, execution, |execution| runtime.execute(execution)).await;
    result::answer(&finished, (&*tool).into(), call.version())
}

/// Somebody else who sees the events of a run. It must not wait for anything.
pub type Watch = Arc<dyn Fn(&Event) + Send + Sync>;

/// Executes a run for a client: it hears of progress and is asked what upstream tools ask, its
/// leaving cancels the run, and the record names it. `run` executes what it is given.
pub async fn attend<R: Future>(
    call: &Call,
    execution: Execution,
    watch: Option<Watch>,
    run: impl FnOnce(Execution) -> R,
) -> R::Output {
    attend_as(GraphCaller::new(call, watch), call, execution, run).await
}

async fn attend_as<R: Future>(
    mut caller: GraphCaller,
    call: &Call,
    execution: Execution,
    run: impl FnOnce(Execution) -> R,
) -> R::Output {
    requests::becomes(call, execution.id);
    let told = caller.progress.told.take();
    let caller = Arc::new(caller);
    let Origin { parent, around, trace, .. } = execution.origin;
    let own = origin(call);
    let execution = Execution {
        origin: Origin { parent, around, trace: trace.or(own.trace), ..own },
        caller,
        cancel: call.cancel.clone(),
        meta: node_meta(call),
        ..execution
    };
    // A run that goes on by itself keeps the sender, and tells nobody from then on.
    let mut told = told;
    let mut running = std::pin::pin!(run(execution));
    loop {
        tokio::select! {
            biased;
            Some(params) = next(&mut told) => call.peer.progress(&params).await,
            finished = &mut running => {
                while let Some(Ok(params)) = told.as_mut().map(mpsc::Receiver::try_recv) {
                    call.peer.progress(&params).await;
                }
                return finished;
            }
        }
    }
}

/// Who asks for a run, as it is kept in the record.
pub fn origin(call: &Call) -> Origin {
    let text = |key: &str| -> Option<Arc<str>> {
        serde_json::from_str::<String>(call.meta.get(key)?.get()).ok().map(Arc::from)
    };
    let trace = text("traceparent")
        .map(|traceparent| TraceContext { traceparent, tracestate: text("tracestate") });
    Origin {
        face: Face::Mcp,
        client: call.client.info.as_ref().map(|info| info.get().into()),
        protocol: Some(call.version().as_str().into()),
        principal: call.client.principal.clone(),
        trace,
        parent: None,
        around: None,
    }
}

/// What goes along with the calls of a run's nodes.
fn node_meta(call: &Call) -> Vec<(String, Raw)> {
    let mut meta = relay::meta(call);
    if call.version().era() == Era::Modern {
        // Such a client answers questions in its next request, which a run cannot wait for.
        meta.retain(|(key, _)| key != meta_key::CLIENT_CAPABILITIES);
    }
    meta
}

/// The next that is to be told; none once there will be no more.
async fn next(told: &mut Option<mpsc::Receiver<Raw>>) -> Option<Raw> {
    told.as_mut()?.recv().await
}

/// The client behind a run.
struct GraphCaller {
    peer: CallPeer,
    progress: Progress,
    watch: Option<Watch>,
    /// What is found out about the request.
    trail: Option<Arc<Trail>>,
    /// What the run comes to is the client's answer and nothing else, and waits for the record.
    keeps_back: bool,
}

impl GraphCaller {
    fn new(call: &Call, watch: Option<Watch>) -> Self {
        let progress = Progress::new(call.peer.progress_token().is_some());
        let trail = requests::trail(call).cloned();
        Self { peer: call.peer.clone(), progress, watch, trail, keeps_back: false }
    }
}

#[async_trait]
impl Caller for GraphCaller {
    fn listens(&self) -> bool {
        self.progress.out.is_some() || self.watch.is_some()
    }

    fn event(&self, event: &Event) {
        if let Some(watch) = &self.watch {
            watch(event);
        }
        match event {
            Event::StepStarted { node, .. } => self.progress.started(node),
            Event::StepFinished { .. } | Event::StepFailed { .. } => self.progress.finished(),
            _ => {}
        }
    }

    fn traced(&self, trace: &TraceContext) {
        if let Some(trail) = &self.trail {
            trail.belongs_to(trace);
        }
    }

    fn keeps_back(&self) -> bool {
        self.keeps_back
    }

    fn keep_back(&self, committing: BoxFuture<'static, ()>) {
        self.peer.answer_after(committing);
    }

    async fn progress(&self, call: &NodeCall, params: Raw) {
        self.progress.inside(call, &params);
    }

    async fn log(&self, _: &NodeCall, params: Raw) {
        self.peer.notify("notifications/message", Some(params)).await;
    }

    async fn request(&self, method: &str, params: Option<Raw>) -> Result<Raw, RpcError> {
        self.peer.request(method, params, CLIENT_PATIENCE).await
    }
}

/// Progress of a run: how many steps are done, and how far the current one is.
///
/// The protocol wants it to grow with every message, whatever several nodes at once report.
struct Progress {
    /// None where the client did not ask.
    out: Option<mpsc::Sender<Raw>>,
    /// Where it comes out, until somebody takes it.
    told: Option<mpsc::Receiver<Raw>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    finished: u64,
    last: f64,
}

/// What an upstream tool reports.
#[derive(Deserialize)]
struct Reported {
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Progress {
    fn new(is_wanted: bool) -> Self {
        let (out, told) = is_wanted.then(|| mpsc::channel(PENDING_PROGRESS)).unzip();
        Self { out, told, state: Mutex::default() }
    }

    fn started(&self, node: &str) {
        // A little, so that the first message is greater than nothing.
        self.say(0.01, node);
    }

    fn finished(&self) {
        self.state.lock().finished += 1;
    }

    fn inside(&self, call: &NodeCall, params: &Raw) {
        let Ok(reported) = serde_json::from_str::<Reported>(params.get()) else { return };
        let share = match reported.total {
            Some(total) if total > 0.0 => reported.progress / total,
            // Without a total the share can only be guessed; it approaches a whole step.
            _ => reported.progress / (reported.progress + 1.0),
        };
        let message = match reported.message {
            Some(message) => format!("{}: {message}", call.node),
            None => call.node.to_string(),
        };
        self.say(share.clamp(0.02, 0.99), &message);
    }

    fn say(&self, share: f64, message: &str) {
        let Some(out) = &self.out else { return };
        let progress = {
            let mut state = self.state.lock();
            let progress = state.finished as f64 + share;
            if progress <= state.last {
                return;
            }
            state.last = progress;
            progress
        };
        let params = raw(&serde_json::json!({ "progress": progress, "message": message }));
        // A client that does not keep up misses some; the next one says more anyway.
        drop(out.try_send(params));
    }
}
