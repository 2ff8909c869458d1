//! Runs beside each other, and runs that nobody wants any more.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "support/compile.rs"]
mod compile;

use std::sync::Arc;

use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_graph::Graph;
use mcpgraph_runtime::{EffectCall, Effects, Execution, Finished, Runtime};
use mcpgraph_value::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const GRAPH: &str = r#"
server: { name: concurrency, version: "1" }
mcpServers: { s: { command: scripted } }
executionLimits: { maxNodeExecutions: 10000 }
tools:
  - name: sum_to
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: add }
      - id: add
        type: transform
        transform: { expr: '($n := $executionCount("add"); { "n": $n, "sum": ($n = 0 ? 0 : $.add.sum) + $n })' }
        next: more
      - id: more
        type: switch
        conditions:
          - rule: { "<": [{ var: add.n }, { var: entry.n }] }
            target: add
          - target: sum
      - { id: sum, type: transform, transform: { expr: $.add.sum }, next: exit }
      - { id: exit, type: exit }
  - name: hostile
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: spin }
      - { id: spin, type: transform, transform: { expr: '($f := function($n) { $f($n + 1) }; $f(0))' }, next: exit }
      - { id: exit, type: exit }
  - name: wait
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: each }
      - { id: each, type: foreach, items: "[1, 2]", maxParallel: 2, body: [{ id: call, type: mcp, server: s, tool: wait }], next: exit }
      - { id: exit, type: exit }
  - name: give_up
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: call }
      - { id: call, type: mcp, server: s, tool: wait, timeoutMs: 500, next: exit }
      - { id: exit, type: exit }
"#;

/// A tool that never answers. It says when it was called and when its call was cancelled.
struct Waiting(mpsc::Sender<&'static str>);

#[async_trait::async_trait]
impl Effects for Waiting {
    async fn call(&self, call: EffectCall) -> Result<Value, RunError> {
        let said = self.0.clone();
        said.send("called").await.unwrap();
        tokio::spawn(async move {
            call.cancel.cancelled().await;
            said.send("cancelled").await.unwrap();
        });
        std::future::pending().await
    }
}

struct World {
    runtime: Runtime,
    graph: Arc<Graph>,
}

type Said = mpsc::Receiver<&'static str>;

impl World {
    /// A world, and what its tool says.
    fn new() -> (Self, Said) {
        let (sender, said) = mpsc::channel(16);
        let runtime = Runtime::new(Arc::new(Waiting(sender)));
        (Self { runtime, graph: compile::compile(GRAPH).unwrap() }, said)
    }

    fn execution(&self, tool: &str, n: i64, cancel: &CancellationToken) -> Execution {
        let tool = Arc::clone(self.graph.tool(tool).unwrap());
        let input = Value::object(Map::from_iter([("n", n)]));
        let cancel = cancel.clone();
        Execution { cancel, ..Execution::new(Arc::clone(&self.graph), tool, input) }
    }

    async fn run(&self, tool: &str, n: i64, cancel: &CancellationToken) -> Finished {
        self.runtime.execute(self.execution(tool, n, cancel)).await
    }
}

fn kind(finished: &Finished) -> Option<ErrorKind> {
    finished.outcome.as_ref().err().map(|error| error.kind)
}

#[tokio::test]
async fn runs_at_once_share_nothing() {
    let (world, _said) = World::new();
    let never = CancellationToken::new();
    let runs = (0..200).map(|n| world.run("sum_to", n, &never));
    let finished = futures_util::future::join_all(runs).await;
    for (n, finished) in (0_i64..).zip(&finished) {
        assert_eq!(finished.outcome, Ok(Value::from(n * (n + 1) / 2)));
    }
    let mut ids: Vec<_> = finished.iter().map(|finished| finished.run).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 200);
}

/// There are more hostile runs than threads for slow expressions, on one thread for everything else.
#[tokio::test]
async fn endless_expressions_do_not_hold_up_other_runs() {
    let (world, _said) = World::new();
    let never = CancellationToken::new();
    let stop = CancellationToken::new();
    let hostile = futures_util::future::join_all((0..20).map(|_| world.run("hostile", 0, &stop)));
    let others = async {
        for n in 0..10 {
            let finished = world.run("sum_to", n, &never).await;
            assert_eq!(finished.outcome, Ok(Value::from(n * (n + 1) / 2)));
        }
        stop.cancel();
    };
    let (hostile, ()) = tokio::join!(hostile, others);
    // Those that had a thread may have used up their time meanwhile; the others were waiting.
    let cancelled = hostile.iter().filter(|one| kind(one) == Some(ErrorKind::Cancelled)).count();
    assert!(cancelled > 0);
    assert!(hostile.iter().all(|one| one.outcome.is_err()));
}

#[tokio::test]
async fn cancelling_reaches_every_call_under_way() {
    let (world, mut said) = World::new();
    let cancel = CancellationToken::new();
    let canceller = async {
        assert_eq!(said.recv().await, Some("called"));
        assert_eq!(said.recv().await, Some("called"));
        cancel.cancel();
    };
    let (finished, ()) = tokio::join!(world.run("wait", 0, &cancel), canceller);
    assert_eq!(kind(&finished), Some(ErrorKind::Cancelled));
    assert_eq!(said.recv().await, Some("cancelled"));
    assert_eq!(said.recv().await, Some("cancelled"));
}

#[tokio::test]
async fn a_node_that_took_too_long_cancels_its_call() {
    let (world, mut said) = World::new();
    let never = CancellationToken::new();
    let finished = world.run("give_up", 0, &never).await;
    assert_eq!(kind(&finished), Some(ErrorKind::Timeout));
    assert_eq!(said.recv().await, Some("called"));
    assert_eq!(said.recv().await, Some("cancelled"));
}

#[tokio::test]
async fn dropping_a_run_cancels_its_calls() {
    let (world, mut said) = World::new();
    let never = CancellationToken::new();
    tokio::select! {
        _ = world.run("wait", 0, &never) => panic!("it waits for ever"),
        () = async { said.recv().await; said.recv().await; } => {}
    }
    assert_eq!(said.recv().await, Some("cancelled"));
    assert_eq!(said.recv().await, Some("cancelled"));
}

#[tokio::test]
async fn a_run_cancelled_before_it_began_does_nothing() {
    let (world, mut said) = World::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let finished = world.run("wait", 0, &cancel).await;
    assert_eq!(kind(&finished), Some(ErrorKind::Cancelled));
    said.close();
    assert_eq!(said.recv().await, None, "a call was made");
}
