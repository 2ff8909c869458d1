//! Debugging runs: where they stop, what can be seen and changed there, and how they go on.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "../support/compile.rs"]
mod compile;
#[path = "../support/scripted.rs"]
mod scripted;
mod stepping;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpgraph_engine::{Event, NotChanged, PauseReason};
use mcpgraph_expr::JsonLogic;
use mcpgraph_graph::Graph;
use mcpgraph_runtime::{
    Breakpoint, Caller, DebugState, Debugger, Execution, Finished, NotObeyed, Runtime, When,
};
use mcpgraph_value::{Map, Value};
use tokio::task::JoinHandle;

use scripted::Scripted;

const GRAPH: &str = r#"
server: { name: debugging, version: "1" }
executionLimits: { maxExecutionTimeMs: 400 }
tools:
  - name: sum_to
    description: Adds the numbers from 1 to n
    inputSchema: { type: object, properties: { n: { type: number } }, required: [n] }
    nodes:
      - { id: entry, type: entry, next: count }
      - id: count
        type: transform
        transform: { expr: "{ 'i': $executionCount('count') + 1, 'sum': ($executionCount('count') = 0 ? 0 : $nodeExecution('count', -1).sum) + $executionCount('count') + 1 }" }
        next: more
      - id: more
        type: switch
        conditions:
          - { rule: { "<": [{ var: count.i }, { var: entry.n }] }, target: count }
          - { target: exit }
      - { id: exit, type: exit }
  - name: tens
    description: Ten times each number
    inputSchema: { type: object, properties: { n: { type: number } } }
    nodes:
      - { id: entry, type: entry, next: each }
      - id: each
        type: foreach
        items: "[1..4]"
        as: x
        maxParallel: 2
        body: [{ id: ten, type: transform, transform: { expr: "$.x * 10" } }]
        next: exit
      - { id: exit, type: exit }
  - name: failing
    description: Fails
    inputSchema: { type: object, properties: { n: { type: number } } }
    nodes:
      - { id: entry, type: entry, next: fails }
      - { id: fails, type: transform, transform: { expr: "$error('no')" }, next: exit }
      - { id: exit, type: exit }
  - name: both
    description: Calls two at once
    inputSchema: { type: object, properties: { n: { type: number } } }
    nodes:
      - { id: entry, type: entry, next: each }
      - id: each
        type: parallel
        branches:
          slow:
            - { id: pause, type: wait, duration: 100ms, next: then }
            - { id: then, type: transform, transform: { expr: "2" } }
          fast:
            - { id: quick, type: transform, transform: { expr: "1" } }
        next: exit
      - { id: exit, type: exit }
  - name: calls
    description: Calls another tool for each number, two at once
    inputSchema: { type: object, properties: { n: { type: number } } }
    nodes:
      - { id: entry, type: entry, next: each }
      - id: each
        type: foreach
        items: "[1..4]"
        as: x
        maxParallel: 2
        body: [{ id: sub, type: graph, tool: sum_to, args: { n: 2 } }]
        next: exit
      - { id: exit, type: exit }
  - name: outer
    description: Calls another tool
    inputSchema: { type: object, properties: { n: { type: number } } }
    nodes:
      - { id: entry, type: entry, next: inner }
      - { id: inner, type: graph, tool: sum_to, args: { n: 2 }, next: last }
      - { id: last, type: transform, transform: { expr: "$.inner.sum * 10" }, next: exit }
      - { id: exit, type: exit }
"#;

const WAITS: &str = r#"{"the time": {"delayMs": 100, "then": {"echo": true}}}"#;

struct World {
    runtime: Arc<Runtime>,
    graph: Arc<Graph>,
    events: Arc<Log>,
}

#[derive(Default)]
struct Log(Mutex<Vec<Event>>);

impl Caller for Log {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl World {
    fn new() -> Self {
        let runtime = Arc::new(Runtime::new(Arc::new(Scripted::new(WAITS).unwrap())));
        let graph = compile::compile(GRAPH).unwrap();
        Self { runtime, graph, events: Arc::default() }
    }

    /// Begins a run under a debugger.
    fn debug(
        &self,
        tool: &str,
        n: i64,
        starts_paused: bool,
        breakpoints: Vec<Breakpoint>,
    ) -> (Debugger, JoinHandle<Finished>) {
        let (debugger, session) = Debugger::new(starts_paused, breakpoints);
        let tool = Arc::clone(self.graph.tool(tool).unwrap());
        let input = Value::object(Map::from_iter([("n", n)]));
        let execution = Execution {
            debug: Some(session),
            caller: Arc::clone(&self.events) as _,
            ..Execution::new(Arc::clone(&self.graph), tool, input)
        };
        let runtime = Arc::clone(&self.runtime);
        (debugger, tokio::spawn(async move { runtime.execute(execution).await }))
    }
}

fn before(node: &str) -> Breakpoint {
    Breakpoint { node: node.into(), when: When::Before, condition: None, hits: 1 }
}

fn after(node: &str) -> Breakpoint {
    Breakpoint { when: When::After, ..before(node) }
}

/// Waits until the run stands still; why it does, and before which node.
async fn stopped(debugger: &mut Debugger) -> (PauseReason, String) {
    match debugger.stopped().await {
        DebugState::Paused { why, next, .. } => {
            (why, next.map(|next| next.node.to_string()).unwrap_or_default())
        }
        other => panic!("{other:?}"),
    }
}

async fn result(run: JoinHandle<Finished>) -> Value {
    run.await.unwrap().outcome.unwrap()
}

fn json(text: &str) -> Value {
    Value::from_json(text).unwrap()
}

#[tokio::test]
async fn a_breakpoint_waits_for_its_condition_and_its_turn() {
    let world = World::new();
    let condition = JsonLogic::compile(&json(r#"{">=": [{"var": "count.i"}, 3]}"#)).unwrap();
    let point = Breakpoint { condition: Some(Arc::new(condition)), hits: 2, ..before("more") };
    let (mut debugger, run) = world.debug("sum_to", 9, false, vec![point]);
    assert_eq!(
        stopped(&mut debugger).await,
        (PauseReason::Before("more".into()), "more".to_owned())
    );
    let context = debugger.context(None).await.unwrap().unwrap();
    assert_eq!(context.get("count").unwrap().get("i"), Some(&Value::from(4)));
    debugger.set_breakpoints(Vec::new()).await.unwrap();
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await.get("sum"), Some(&Value::from(45)));
}

/// A condition may look at much, and knows the time; what it cannot decide is told.
#[tokio::test]
async fn a_condition_that_fails_stops_the_run_and_says_why() {
    let world = World::new();
    let at = |rule: &str| {
        let condition = JsonLogic::compile(&json(rule)).unwrap();
        Breakpoint { condition: Some(Arc::new(condition)), ..before("more") }
    };
    let long = r#"{"==": [{"var": "$sum([1..20000])"}, 1]}"#;
    let early = r#"{"<": [{"var": "$millis()"}, 1500000000000]}"#;
    let (_debugger, run) = world.debug("sum_to", 2, false, vec![at(long), at(early)]);
    assert_eq!(result(run).await.get("sum"), Some(&Value::from(3)));

    let fails = at(r#"{"var": "$error('cannot say')"}"#);
    let (mut debugger, run) = world.debug("sum_to", 1, false, vec![fails]);
    let DebugState::Paused { problem: Some(problem), .. } = debugger.stopped().await else {
        panic!("{:?}", debugger.state());
    };
    assert!(problem.contains("`more`") && problem.contains("cannot say"), "{problem}");
    debugger.set_breakpoints(Vec::new()).await.unwrap();
    debugger.resume().await.unwrap();
    result(run).await;
}

#[tokio::test]
async fn a_stop_after_a_node_that_fails_tells_its_error() {
    let world = World::new();
    let (mut debugger, run) = world.debug("failing", 0, false, vec![after("fails")]);
    let DebugState::Paused { error: Some(error), .. } = debugger.stopped().await else {
        panic!("{:?}", debugger.state());
    };
    assert!(error.message.starts_with("no (") && error.kind.code() == "MG0401", "{error:?}");
    debugger.resume().await.unwrap();
    assert!(run.await.unwrap().outcome.is_err());
}

#[tokio::test]
async fn a_breakpoint_after_a_node_sees_its_output() {
    let world = World::new();
    let (mut debugger, run) = world.debug("sum_to", 1, false, vec![after("count")]);
    assert_eq!(
        stopped(&mut debugger).await,
        (PauseReason::After("count".into()), "more".to_owned())
    );
    let context = debugger.context(None).await.unwrap().unwrap();
    assert_eq!(context.get("count"), Some(&json(r#"{"i":1,"sum":1}"#)));
    debugger.resume().await.unwrap();
    result(run).await;
}

/// A stop after a node is one in its own body, which is still there.
#[tokio::test]
async fn a_breakpoint_after_the_last_node_of_a_body_sees_that_body() {
    let world = World::new();
    let condition = JsonLogic::compile(&json(r#"{"==": [{"var": "ten"}, 30]}"#)).unwrap();
    let point = Breakpoint { condition: Some(Arc::new(condition)), ..after("ten") };
    let (mut debugger, run) = world.debug("tens", 0, false, vec![point]);
    assert_eq!(stopped(&mut debugger).await.0, PauseReason::After("ten".into()));
    let context = debugger.context(None).await.unwrap().unwrap();
    assert_eq!(context.get("x"), Some(&Value::from(3)));
    assert_eq!(context.get("ten"), Some(&Value::from(30)));
    debugger.set_output(None, "ten".into(), "changed".into()).await.unwrap();
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await, json(r#"[10,20,"changed",40]"#));
}

#[tokio::test]
async fn a_run_stops_after_its_last_node_and_after_one_that_fails() {
    let world = World::new();
    let (mut debugger, run) = world.debug("sum_to", 1, false, vec![after("exit")]);
    assert_eq!(stopped(&mut debugger).await, (PauseReason::After("exit".into()), String::new()));
    debugger.set_output(None, "exit".into(), 7.into()).await.unwrap();
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await, Value::from(7));

    let (mut debugger, run) = world.debug("failing", 0, false, vec![after("fails")]);
    assert_eq!(stopped(&mut debugger).await, (PauseReason::After("fails".into()), String::new()));
    assert!(debugger.context(None).await.unwrap().unwrap().get("entry").is_some());
    debugger.resume().await.unwrap();
    assert_eq!(run.await.unwrap().outcome.unwrap_err().node.as_deref(), Some("fails"));
}

#[tokio::test]
async fn breakpoints_after_a_node_hold_nothing_once_they_are_gone() {
    let world = World::new();
    let (mut debugger, run) = world.debug("tens", 0, false, vec![after("ten")]);
    stopped(&mut debugger).await;
    debugger.set_breakpoints(Vec::new()).await.unwrap();
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await, json("[10,20,30,40]"));

    let (mut debugger, run) = world.debug("tens", 0, false, vec![after("ten")]);
    stopped(&mut debugger).await;
    drop(debugger);
    assert_eq!(result(run).await, json("[10,20,30,40]"));
}

#[tokio::test]
async fn a_changed_output_is_what_the_run_goes_on_with() {
    let world = World::new();
    let (mut debugger, run) = world.debug("sum_to", 5, false, vec![before("more")]);
    stopped(&mut debugger).await;
    let refused = debugger.set_output(None, "nobody".into(), Value::Null).await;
    assert_eq!(refused, Err(NotObeyed::Output(NotChanged::NoOutput("nobody".into()))));
    debugger.set_output(None, "count".into(), json(r#"{"i":5,"sum":-1}"#)).await.unwrap();
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await, json(r#"{"i":5,"sum":-1}"#));
    let events = world.events.0.lock().unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::OutputChanged { .. })));
}

#[tokio::test]
async fn a_paused_run_has_all_the_time() {
    let world = World::new();
    let (mut debugger, run) = world.debug("sum_to", 2, false, vec![before("more")]);
    stopped(&mut debugger).await;
    // Longer than the run may take.
    tokio::time::sleep(Duration::from_millis(600)).await;
    debugger.set_breakpoints(Vec::new()).await.unwrap();
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await.get("sum"), Some(&Value::from(3)));
    let events = world.events.0.lock().unwrap();
    let waited = events.iter().find_map(|event| match event {
        Event::Resumed { waited, .. } => Some(*waited),
        _ => None,
    });
    assert!(waited.unwrap() >= Duration::from_millis(600));
}

#[tokio::test]
async fn a_debugger_that_goes_away_releases_the_run() {
    let world = World::new();
    let (mut debugger, run) = world.debug("sum_to", 3, false, vec![before("more")]);
    stopped(&mut debugger).await;
    drop(debugger);
    assert_eq!(result(run).await.get("sum"), Some(&Value::from(6)));
}

#[tokio::test]
async fn a_stopped_run_is_cancelled() {
    let world = World::new();
    let (mut debugger, run) = world.debug("sum_to", 3, true, Vec::new());
    stopped(&mut debugger).await;
    debugger.stop().await.unwrap();
    let error = run.await.unwrap().outcome.unwrap_err();
    assert_eq!(error.message, "stopped by the debugger");
}

/// What was under way goes on while the run stands still, and something else comes next.
#[tokio::test]
async fn what_comes_next_is_told_when_it_changes() {
    let world = World::new();
    let (mut debugger, run) = world.debug("both", 0, false, vec![after("quick")]);
    let stands = stopped(&mut debugger).await;
    assert_eq!(stands, (PauseReason::After("quick".into()), String::new()));
    let before = debugger.state();
    let news = debugger.changed_from(&before);
    tokio::time::timeout(Duration::from_secs(20), news).await.unwrap();
    let stands = stopped(&mut debugger).await;
    assert_eq!(stands, (PauseReason::After("quick".into()), "then".to_owned()));
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await, json(r#"{"slow":2,"fast":1}"#));
}
