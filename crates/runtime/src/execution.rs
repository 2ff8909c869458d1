//! What is to be run: the order that a face gives.

use std::sync::Arc;

use mcpgraph_engine::Given;
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::{Origin, RunId};
use mcpgraph_upstream::Raw;
use mcpgraph_value::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::{Caller, DebugSession, Finished, Silent, Wrapped};

/// What is to be run, for whom.
pub struct Execution {
    /// The run it becomes.
    pub id: RunId,
    /// The graph the tool belongs to; the run keeps it to the end.
    pub graph: Arc<Graph>,
    /// The tool.
    pub tool: Arc<Tool>,
    /// The arguments.
    pub input: Value,
    /// Where the call comes from.
    pub origin: Origin,
    /// Who asks.
    pub caller: Arc<dyn Caller>,
    /// Fires when the caller no longer wants the result.
    pub cancel: CancellationToken,
    /// Entries of `_meta` to send along with every upstream call.
    pub meta: Vec<(String, Raw)>,
    /// The debugger that controls the run.
    pub debug: Option<DebugSession>,
    /// What the run of a workflow is put around.
    pub wrapped: Option<Arc<dyn Wrapped>>,
    /// Told what the run came to before it has ended, where calls that nothing waits for are still
    /// under way then. From there on nobody can cancel it.
    pub answer: Option<oneshot::Sender<Finished>>,
    /// Whether the run is to survive this process though its tool does not ask for it.
    pub durable: bool,
    /// What it is given from outside; the time and something random where there is nothing.
    pub given: Option<Given>,
}

impl Execution {
    /// A call that nobody watches, with nothing special about it.
    pub fn new(graph: Arc<Graph>, tool: Arc<Tool>, input: Value) -> Self {
        Self {
            id: RunId::new(),
            graph,
            tool,
            input,
            origin: Origin::default(),
            caller: Arc::new(Silent),
            cancel: CancellationToken::new(),
            meta: Vec::new(),
            debug: None,
            wrapped: None,
            answer: None,
            durable: false,
            given: None,
        }
    }

    /// Whether it is executed by the engine of durable runs, if there is one. Whoever debugs a run
    /// controls the execution, and a workflow is a part of the request it is put around.
    pub fn is_durable(&self) -> bool {
        (self.durable || self.tool.durable) && self.debug.is_none() && self.wrapped.is_none()
    }
}
