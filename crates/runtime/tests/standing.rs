//! A run around one that stands still, and who controls which of the two.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "support/compile.rs"]
mod compile;
#[path = "support/scripted.rs"]
mod scripted;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_engine::{PauseReason, RunError};
use mcpgraph_graph::Graph;
use mcpgraph_journal::{Origin, RunId, TraceContext};
use mcpgraph_runtime::{
    DebugSession, DebugState, Debugger, Execution, Finished, Instruments, LiveRuns, Runtime,
    Wrapped,
};
use mcpgraph_value::{Map, Value};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use scripted::Scripted;

const GRAPH: &str = "
server: {name: t, version: '1'}
tools:
- name: inner
  inputSchema: {type: object}
  nodes: [{id: entry, type: entry, next: exit}, {id: exit, type: exit}]
workflows:
- name: w
  workflowType: tools/call
  executionLimits: {maxExecutionTimeMs: 300}
  nodes:
  - {id: start, type: start, next: call}
  - {id: call, type: mcp-call, next: end}
  - {id: end, type: end}
";

/// Longer than the run around may take.
const LONG: Duration = Duration::from_millis(500);

/// The call of the workflow, as a run of its own that a debugger stops at its beginning.
struct Inside {
    runtime: Runtime,
    around: RunId,
    graph: Arc<Graph>,
    session: Mutex<Option<DebugSession>>,
}

#[async_trait]
impl Wrapped for Inside {
    async fn call(
        &self,
        _: Value,
        _: Option<TraceContext>,
        cancel: CancellationToken,
    ) -> Result<Value, RunError> {
        let tool = Arc::clone(self.graph.tool("inner").unwrap());
        let execution = Execution {
            origin: Origin { around: Some(self.around), ..Origin::default() },
            debug: self.session.lock().unwrap().take(),
            cancel,
            ..Execution::new(Arc::clone(&self.graph), tool, Map::new().into())
        };
        self.runtime.execute(execution).await.outcome
    }
}

/// A run of the workflow, and the debuggers of both runs. The one inside stands still.
struct Nested {
    outer: Debugger,
    inner: Debugger,
    running: JoinHandle<Finished>,
}

impl Nested {
    async fn new(pauses: bool) -> Self {
        let graph = compile::compile(GRAPH).unwrap();
        let tool = Arc::clone(graph.runnable("workflow:w").unwrap());
        let live = LiveRuns::default();
        let instruments = Instruments { live: Some(live.clone()), ..Instruments::default() };
        let runtime = Runtime::new(Arc::new(Scripted::new("{}").unwrap())).with(instruments);
        let input = r#"{"request":{"method":"tools/call","params":{"name":"x"}},"metadata":{}}"#;
        let input = Value::from_json(input).unwrap();
        let execution = Execution::new(Arc::clone(&graph), tool, input);
        let (mut inner, session) = Debugger::new(true, Vec::new());
        let (around, session) = (execution.id, Mutex::new(Some(session)));
        let wrapped = Inside { runtime: runtime.clone(), around, graph, session };
        let execution = Execution { wrapped: Some(Arc::new(wrapped)), ..execution };
        let running = tokio::spawn(async move { runtime.execute(execution).await });
        inner.stopped().await;
        let mut outer = live.join(around, pauses, Vec::new()).unwrap();
        assert!(matches!(outer.stopped().await, DebugState::Paused { .. }));
        Self { outer, inner, running }
    }

    /// The time of neither run passes: the one inside goes on, and ends.
    async fn inner_ends(&mut self) {
        tokio::time::sleep(LONG).await;
        assert!(matches!(self.inner.state(), DebugState::Paused { .. }), "it was cancelled");
        self.inner.resume().await.unwrap();
        assert_eq!(self.inner.stopped().await, DebugState::Ended);
    }

    async fn succeeds(self) {
        assert_eq!(self.running.await.unwrap().outcome, Ok(Map::new().into()));
    }
}

#[tokio::test]
async fn who_joins_a_run_around_one_that_stands_still_does_not_release_it() {
    let mut nested = Nested::new(false).await;
    nested.inner_ends().await;
    nested.succeeds().await;
}

#[tokio::test]
async fn who_leaves_a_run_around_one_that_stands_still_does_not_release_it() {
    let Nested { outer, inner, running } = Nested::new(false).await;
    drop(outer);
    let (outer, _) = Debugger::new(false, Vec::new());
    let mut nested = Nested { outer, inner, running };
    nested.inner_ends().await;
    nested.succeeds().await;
}

#[tokio::test]
async fn what_is_asked_of_a_run_around_one_that_stands_still_is_done_afterwards() {
    let mut nested = Nested::new(true).await;
    nested.outer.resume().await.unwrap();
    nested.outer.step().await.unwrap();
    nested.inner_ends().await;
    let stepped = |state: &DebugState| {
        matches!(state, DebugState::Paused { why: PauseReason::Stepped, next: Some(next), .. }
            if &*next.node == "end")
    };
    let mut state = nested.outer.state();
    while !stepped(&state) {
        assert_ne!(state, DebugState::Ended);
        nested.outer.changed_from(&state).await;
        state = nested.outer.state();
    }
    nested.outer.resume().await.unwrap();
    nested.succeeds().await;
}

#[tokio::test]
async fn a_run_that_somebody_paused_stays_so_when_the_one_inside_goes_on() {
    for asks_first in [true, false] {
        let mut nested = Nested::new(asks_first).await;
        nested.outer.pause().await.unwrap();
        nested.inner_ends().await;
        tokio::time::sleep(LONG).await;
        assert!(matches!(nested.outer.state(), DebugState::Paused { .. }), "{asks_first}");
        nested.outer.resume().await.unwrap();
        nested.succeeds().await;
    }
}

#[tokio::test]
async fn who_stops_a_run_around_stops_the_one_inside() {
    let Nested { outer, inner, running } = Nested::new(false).await;
    outer.stop().await.unwrap();
    let error = running.await.unwrap().outcome.unwrap_err();
    assert_eq!(error.message, "stopped by the debugger");
    while inner.state() != DebugState::Ended {
        inner.changed_from(&inner.state()).await;
    }
}
