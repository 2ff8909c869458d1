//! The runs that requests began and do not wait for.

use std::collections::HashMap;
use std::sync::Arc;

use axum::response::Response;
use http::{HeaderMap, StatusCode};
use mcpgraph_gateway::Offer;
use mcpgraph_graph::Tool;
use mcpgraph_journal::{Face, Origin, Parent, RunId, TraceContext};
use mcpgraph_mcp::trace;
use mcpgraph_runtime::{Debugger, Execution, Fork};
use mcpgraph_value::Map;
use parking_lot::Mutex;

use crate::api::Shared;
use crate::control::Control;
use crate::problem::{Problem, json};

/// What the runs under way that requests began execute: a run need not be recorded.
#[derive(Clone, Default)]
pub(crate) struct Begun(Arc<Mutex<HashMap<RunId, Executed>>>);

/// What a run executes, and what it belongs to.
pub(crate) type Executed = (Arc<Offer>, Arc<Tool>);

impl Begun {
    /// What a run executes that was begun here.
    pub(crate) fn executed(&self, run: RunId) -> Option<Executed> {
        self.0.lock().get(&run).cloned()
    }
}

/// Where a run comes from that a request begins: the trace is that of its headers.
pub(crate) fn origin(headers: &HeaderMap, parent: Option<Parent>) -> Origin {
    let trace = trace::TraceContext::of_headers(headers).map(|context| TraceContext {
        traceparent: context.parent.into(),
        tracestate: context.state.map(Into::into),
    });
    Origin { face: Face::Http, trace, parent, ..Origin::default() }
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
) -> Result<Response, Problem> {
    let drain = &shared.studio.drain;
    let under_way = drain.enter();
    if drain.has_begun() {
        return Err(Problem::draining());
    }
    let run = call.id;
    let Control { pauses, breakpoints } = control;
    if pauses || !breakpoints.is_empty() {
        let (debugger, session) = Debugger::new(pauses, breakpoints);
        call.debug = Some(session);
        shared.sessions.add(run, debugger);
    }
    call.cancel = drain.cancel();
    // A durable run goes on without this process, which need not wait for it then.
    let lasts = fork.is_none()
        && call.is_durable()
        && offer.runtime().durable().is_some_and(|durable| durable.engine().is_lasting());
    let under_way = (!lasts).then_some(under_way);
    // Whoever reads the answer may ask for the run before it has had its turn.
    shared.studio.live.announce(run);
    let begun = shared.begun.clone();
    begun.0.lock().insert(run, (Arc::clone(&offer), Arc::clone(&call.tool)));
    tokio::spawn(async move {
        // How it ends is in the record.
        match fork {
            Some(fork) => offer.runtime().execute_fork(*fork, call).await,
            None => offer.runtime().execute(call).await,
        };
        begun.0.lock().remove(&run);
        drop(under_way);
    });
    said.insert("run", run.to_string());
    let mut answer = json(&said.into());
    *answer.status_mut() = StatusCode::CREATED;
    Ok(answer)
}
