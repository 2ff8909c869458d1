//! Several debuggers of one run: the one that joins last controls it, and the others are told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "support/compile.rs"]
mod compile;
#[path = "support/scripted.rs"]
mod scripted;

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_journal::RunId;
use mcpgraph_runtime::{
    DebugSessions, DebugState, Debugger, Execution, Finished, Instruments, LiveRuns, Move,
    NotObeyed, Runtime,
};
use mcpgraph_value::Map;
use tokio::task::{JoinHandle, JoinSet};

use scripted::Scripted;

const GRAPH: &str = r#"
server: { name: joining, version: "1" }
tools:
  - name: sleeps
    description: Waits for a long time
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: sleep }
      - { id: sleep, type: wait, duration: 2h, next: exit }
      - { id: exit, type: exit }
"#;

const LONG: &str = r#"{"the time": {"delayMs": 7200000, "then": {"echo": true}}}"#;

/// How long debuggers come and go.
const TURMOIL: Duration = Duration::from_secs(1);

/// How long an answer may take on a machine that has a lot to do.
const PATIENCE: Duration = Duration::from_secs(20);

/// A run that takes long, among those under way.
fn sleeping() -> (LiveRuns, RunId, JoinHandle<Finished>) {
    let live = LiveRuns::default();
    let instruments = Instruments { live: Some(live.clone()), ..Instruments::default() };
    let runtime = Runtime::new(Arc::new(Scripted::new(LONG).unwrap())).with(instruments);
    let graph = compile::compile(GRAPH).unwrap();
    let tool = Arc::clone(graph.tool("sleeps").unwrap());
    let execution = Execution::new(graph, tool, Map::new().into());
    let run = execution.id;
    (live, run, tokio::spawn(async move { runtime.execute(execution).await }))
}

/// Joins a run as soon as it can be.
async fn joined(live: &LiveRuns, run: RunId) -> Debugger {
    loop {
        if let Ok(debugger) = live.join(run, false, Vec::new()) {
            return debugger;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_debugger_is_told_that_another_took_over() {
    let (live, run, running) = sleeping();
    let mut first = joined(&live, run).await;
    first.pause().await.unwrap();
    let mut second = joined(&live, run).await;
    second.pause().await.unwrap();
    assert_eq!(first.state(), DebugState::Replaced);
    assert_eq!(first.stopped().await, DebugState::Replaced);
    assert_eq!(first.resume().await, Err(NotObeyed::Replaced));
    let change = first.set_output(None, "entry".into(), 1.into()).await;
    assert_eq!(change, Err(NotObeyed::Replaced));
    // Not even when the run is over: that is the other's to know.
    second.stop().await.unwrap();
    assert_eq!(second.stopped().await, DebugState::Ended);
    assert_eq!(second.resume().await, Err(NotObeyed::Ended));
    assert_eq!(first.state(), DebugState::Replaced);
    assert!(running.await.unwrap().outcome.is_err());
}

/// Nobody waits for ever, nobody is told that the run has ended, and in the end the one is held who
/// controls the run.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_command_is_answered_while_debuggers_join() {
    let (live, run, running) = sleeping();
    let sessions = DebugSessions::new(PATIENCE);
    joined(&live, run).await;
    while sessions.join(&live, run, false, Vec::new()).is_err() {
        tokio::task::yield_now().await;
    }
    let until = Instant::now() + TURMOIL;
    let mut clients = JoinSet::new();
    for _ in 0..3 {
        let (live, sessions) = (live.clone(), Arc::clone(&sessions));
        clients.spawn(async move {
            while Instant::now() < until {
                sessions.join(&live, run, false, Vec::new()).ok();
                tokio::task::yield_now().await;
            }
        });
    }
    for how in [Move::Pause, Move::Step, Move::Resume, Move::StepOver, Move::Pause] {
        let sessions = Arc::clone(&sessions);
        clients.spawn(async move {
            while Instant::now() < until {
                let debugger = sessions.get(run).unwrap();
                let obeyed = tokio::time::timeout(PATIENCE, debugger.go(how)).await;
                let obeyed = obeyed.expect("an answer");
                assert!(matches!(obeyed, Ok(()) | Err(NotObeyed::Replaced)), "{obeyed:?}");
                assert_ne!(debugger.state(), DebugState::Ended);
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let last = sessions.get(run).unwrap();
    last.pause().await.unwrap();
    last.stop().await.unwrap();
    assert!(running.await.unwrap().outcome.is_err());
    assert_eq!(last.pause().await, Err(NotObeyed::Ended));
}
